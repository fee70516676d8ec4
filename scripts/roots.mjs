// Installations of Debian below a folder, for suites that need another Debian release than this machine's: made with debootstrap,
// and entered in namespaces of their own. Nothing is mounted outside of these. Needs root, debootstrap and Debian's archive.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @throws Error that names what is missing: only root can make a root or enter one. */
export function refuseWithoutMeans() {
  if (process.getuid() !== 0) throw new Error('This makes a root of Debian and enters it: run it as root.');
  if (hasDebootstrap()) return;
  spawnSync('apt-get', ['update', '-qq']);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'debootstrap']);
  if (!hasDebootstrap())
    throw new Error(
      'This makes a root of Debian, but debootstrap is missing and apt-get could not install it: install debootstrap.',
    );
}

const hasDebootstrap = () => spawnSync('debootstrap', ['--version']).error === undefined;

/**
 * Makes a root with a suite of Debian (`trixie`), its essential packages and these. The root trusts the same additional
 * certificates as this machine. @throws Error with debootstrap's message, for example that the archive is out of reach.
 */
export function makeRoot(suite, folder, packages = []) {
  mkdirSync(folder, { recursive: true });
  const include = ['ca-certificates', ...packages].join(',');
  run('debootstrap', '--variant=minbase', `--include=${include}`, suite, folder);
  for (const file of certificates()) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    copyFileSync(file, join(folder, file));
  }
}

function certificates() {
  const given = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].map((name) => process.env[name]);
  return [...new Set(given.filter((file) => file !== undefined && existsSync(file)))];
}

/**
 * Runs a line of shell in a root as one of its users, with its own processes and /dev/shm; mounts and processes that are left
 * there end with it. `layers`: folders `{ of, at }` of this machine that the root shows at a place. With layers, everything
 * that is written there and in the root goes into memory, so that both stay unchanged. Returns what `spawnSync` returns.
 */
export function enter(folder, { line, cwd = '/', user = 'root', env = {}, layers, stdio = 'pipe' }) {
  const mounts =
    layers === undefined ? ['root="$1"', 'mount --bind "$root" "$root"'] : layered(folder, layers);
  const script = [
    'set -e',
    ...mounts,
    'mount -t proc proc "$root/proc"',
    'mount --rbind /dev "$root/dev"',
    'mount -t tmpfs tmpfs "$root/dev/shm"',
    // Not only chroot: inside one, nobody may create namespaces.
    'cd "$root"',
    'pivot_root . .',
    'umount -l .',
    'exec chroot . setpriv --reuid="$2" --regid="$2" --init-groups /bin/sh -c "cd $3 && $4"',
  ].join('\n');
  const kept = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].filter((name) => process.env[name] !== undefined);
  // With control groups of its own it is a container that only root starts: in any other container, nobody counts as a person.
  const args = ['--mount', '--pid', '--cgroup', '--fork', '--kill-child', '/bin/sh', '-c', script];
  return spawnSync('unshare', [...args, 'sh', folder, user, cwd, line], {
    env: {
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      HOME: user === 'root' ? '/root' : `/home/${user}`,
      USER: user,
      PATH: '/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin',
      ...Object.fromEntries(kept.map((name) => [name, process.env[name]])),
      ...env,
    },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio,
  });
}

// The memory is mounted on the folder itself: outside of the namespace, the folder looks unchanged.
function layered(folder, layers) {
  const over = (of, name, at) => [
    `mkdir -p "$memory/${name}" "$memory/${name}-work" "${at}"`,
    `mount -t overlay overlay -o "lowerdir=${of},upperdir=$memory/${name},workdir=$memory/${name}-work" "${at}"`,
  ];
  return [
    'memory="$1/mnt"',
    'mount -t tmpfs tmpfs "$memory"',
    'root="$memory/root"',
    ...over(folder, 'own', '$root'),
    ...layers.flatMap(({ of, at }, n) => over(of, `layer-${n}`, `$root${at}`)),
  ];
}

/** Installs packages of the root's own Debian. */
export function apt(folder, ...packages) {
  const line = `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages.join(' ')}`;
  const { status, stdout, stderr } = enter(folder, { line, env: { DEBIAN_FRONTEND: 'noninteractive' } });
  if (status !== 0) throw new Error(`apt-get did not install ${packages.join(' ')}:\n${stdout}${stderr}`);
}

/** Runs a program of this machine and returns what it prints. @throws Error with its complaint. */
export function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0)
    throw new Error(`"${program} ${args.join(' ')}" failed: ${error?.message ?? `${stdout}${stderr}`}`);
  return stdout;
}
