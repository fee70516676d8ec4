/**
 * `hive-token-for-directory`, with real keys: an agent in a container that TRAMP reaches asks the human of this Emacs. The
 * container is a mount namespace with a home of its own.
 * @module-tag emacs
 * @module-tag http
 * @module-tag mounts
 */
import { execFileSync, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { type EmacsTerminal, type EmptyHome, lisp, openEmptyHome } from '../support/emacs.ts';
import { beforeFile, whenFinished } from '../support/lifetime.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { freePort } from '../support/postgres.ts';
import { eventually } from '../support/wait.ts';

/** A container whose home is a file system of its own; `run` runs a line of shell in it. */
interface Container {
  pid: number;
  enter: readonly string[];
  run(line: string): string;
}

const READY = 'mount -t tmpfs -o mode=0755 tmpfs "$0" && echo ready && read -r end';

/** Only root makes a mount namespace without one of users, and a chroot allows none of these. */
const UNSHARED = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];
const OWN_USERS = process.getuid?.() === 0 ? [] : ['--user'];
/** The options that enter it: its mounts, and its root, which may be that of a chroot. */
const enterOptions = (pid: number | string): string[] => [
  ...['--target', String(pid)],
  ...[...OWN_USERS, '--mount', '--root', '--'],
];

async function openContainer(home: string): Promise<Container> {
  const child = spawn('unshare', [...UNSHARED, '/bin/sh', '-c', READY, home], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  whenFinished(async () => {
    child.stdin.end();
    await ended;
  });
  const ready = new Promise((resolve) => child.stdout.once('data', () => resolve(true)));
  if ((await Promise.race([ready, ended])) !== true) throw new Error('The container did not start.');
  const pid = child.pid ?? 0;
  const enter = ['nsenter', ...enterOptions(pid)];
  const [program = '', ...words] = enter;
  return {
    pid,
    enter,
    run: (line) => execFileSync(program, [...words, '/bin/sh', '-c', line], { encoding: 'utf8' }),
  };
}

/** A method of TRAMP for it, `/hivetest:PID:`: since TRAMP 2.7 the name of a method has letters and digits only. */
const method = (far: string): string => `(with-eval-after-load 'tramp (add-to-list 'tramp-methods
  '("hivetest" (tramp-login-program "nsenter")
    (tramp-login-args (${enterOptions('%h')
      .map((word) => `(${lisp(word)})`)
      .join(' ')} ("env" "HOME=${far}") ("/bin/sh")))
    (tramp-remote-shell "/bin/sh") (tramp-remote-shell-args ("-c")))))`;

let home: EmptyHome;
let emacs: EmacsTerminal;
let container: Container;
let port: number;
let file: string;

beforeFile(async () => {
  home = await openEmptyHome();
  port = await freePort();
  const far = join(home.folder, 'far');
  execFileSync('mkdir', [far]);
  container = await openContainer(far);
  file = join(far, '.config/hive/token');
  const setup = `(progn (setq hive-serve ${port} tramp-verbose 1 tramp-persistency-file-name nil) ${method(far)})`;
  emacs = await home.emacs(setup);
});

async function command(name: string): Promise<void> {
  // While Emacs still works for the command before, it drops keys.
  await emacs.keys('C-x', '1');
  await emacs.command('hive-token-for-directory');
  await emacs.press(/Let agents ask from/, 'C-a', 'C-k');
  await emacs.enter(`/hivetest:${container.pid}:/`);
  await emacs.press(/Name of the token: \d+/, 'C-a', 'C-k');
  await emacs.enter(name);
  await emacs.press(new RegExp(`Address of hive serve.*http://127.0.0.1:${port}`), 'Enter');
}

/** The names of all tokens, and whether each is revoked. */
async function tokens(): Promise<Map<string, boolean>> {
  const { out } = await shell(home.store).hive('token', 'list', '--json');
  const listed = (JSON.parse(out) as { tokens: { name: string; revoked_at: string | null }[] }).tokens;
  return new Map(listed.map(({ name, revoked_at }) => [name, revoked_at !== null]));
}

test('an agent there asks with the token that was made and written there, and gets the answer', async () => {
  await command('box');
  await emacs.until(/Token box is in /);
  const shown = (await emacs.until(new RegExp(`--url http://127\\.0\\.0\\.1:${port}`))).join('\n');
  // Only there, and only for its owner.
  expect(container.run(`stat -c %a ${file} $(dirname ${file})`)).toBe('600\n700\n');
  const secret = container.run(`cat ${file}`).trim();
  expect(secret).not.toBe('');
  expect(shown).not.toContain(secret);

  const [program = '', ...enter] = container.enter;
  const agent = await connectMcp({
    store: '/nowhere/hive.db',
    args: ['--url', `http://127.0.0.1:${port}`, '--token-file', file],
    env: {},
    wrap: (node, args) => ({ program, args: [...enter, node, ...args] }),
  });
  const asked = await agent.call('hivemind_ask_async', {
    question: 'Rebuild the image?',
    options: ['yes', 'no'],
  });
  await emacs.until(/hive 1\b/);
  await emacs.command('hive-respond');
  await emacs.reply(/box.*Rebuild the image\?/, 'yes');
  await emacs.said(/Answered/);
  expect(await agent.call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 20_000 })).toMatchObject({
    status: 'responded',
    decision: 'yes',
    via: 'emacs',
  });
});

test('a token of that name gets a new secret only if the human says so', async () => {
  const before = container.run(`cat ${file}`);
  await command('box');
  await emacs.reply(/Token box already exists/, 'no');
  await emacs.until(/was not changed/);
  expect(container.run(`cat ${file}`)).toBe(before);
  await command('box');
  await emacs.reply(/Token box already exists/, 'yes');
  await eventually(() => container.run(`cat ${file}`) !== before, 20_000, 'the new secret');
  expect(container.run(`ls -A $(dirname ${file})`)).toBe('token\n');
});

test('if its file cannot be written, no token is left', async () => {
  container.run(`mount -o remount,ro ${dirname(dirname(dirname(file)))}`);
  await command('full');
  await eventually(async () => (await tokens()).get('full') !== undefined, 30_000, 'the token');
  await eventually(async () => (await tokens()).get('full') === true, 30_000, 'the end of the token');
});
