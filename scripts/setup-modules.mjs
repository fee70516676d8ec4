import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const stampFile = join(root, 'node_modules/.hive-stamp');
const nodeBinary = join(root, 'node_modules/node/bin/node');

/** What builds the program and runs it, beside the packages that it needs itself. */
const TO_RUN = ['node', 'esbuild'];

/**
 * Makes node_modules match the lock file; does nothing when it already does. `toRun`: where nothing is installed yet, only what
 * builds and runs the program. That takes npm a third of the time.
 */
export function setUpModules({ toRun = false } = {}) {
  const all = stampOf();
  const small = `${all} to run`;
  const found = readIfThere(stampFile);
  if (existsSync(nodeBinary) && (found === all || (toRun && found === small))) return;
  const isNew = !existsSync(join(root, 'node_modules')) || found.endsWith(' to run');
  install(toRun && isNew ? small : all, toRun && isNew);
}

function install(stamp, small) {
  const started = Date.now();
  console.log(`Installing node_modules (about ${small ? 10 : 20} s) …`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  // Of the versions in the lock file; --save-prod, because --omit=dev would leave these two out.
  if (small) npm('install', '--no-save', '--save-prod', '--omit=dev', ...quiet, ...toRunWithVersions());
  else npm('ci', ...quiet);
  // The package "node" fetches its binary in an install script, which `ignore-scripts=true` skips.
  if (!hasProjectNode()) npm('rebuild', 'node', '--ignore-scripts=false', '--loglevel=error');
  if (!hasProjectNode()) {
    throw new Error(
      `npm installed no Node 24 at ${nodeBinary}: run "npm rebuild node --ignore-scripts=false".`,
    );
  }
  writeFileSync(stampFile, stamp);
  console.log(`node_modules is ready (${Math.round((Date.now() - started) / 1000)} s).`);
}

function toRunWithVersions() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return TO_RUN.map((name) => `${name}@${devDependencies[name]}`);
}

// Only what determines what npm installs: a new entry in "scripts" must not cause a reinstall.
function stampOf() {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { dependencies, devDependencies, optionalDependencies, overrides, allowScripts } = manifest;
  const hash = createHash('sha256');
  hash.update(JSON.stringify([process.platform, process.arch]));
  hash.update(JSON.stringify([dependencies, devDependencies, optionalDependencies, overrides, allowScripts]));
  hash.update(readIfThere(join(root, 'package-lock.json')));
  hash.update(readIfThere(join(root, '.npmrc')));
  return hash.digest('hex');
}

function npm(...args) {
  const { status, error } = spawnSync('npm', args, {
    cwd: root,
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (error)
    throw new Error(`npm could not be started (${error.message}); it comes with Node, is it on PATH?`);
  if (status !== 0) throw new Error(`"npm ${args.join(' ')}" failed; what npm said stands above.`);
}

// An outer `npm run` leaves variables that an inner npm takes for its own. And npm must not run on the
// Node inside the node_modules it is about to delete, so that folder leaves PATH.
function cleanEnvironment() {
  const outer = /^npm_(lifecycle|package|command)/;
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
  const ours = join(root, 'node_modules/.bin');
  environment.PATH = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== ours)
    .join(delimiter);
  return environment;
}

function hasProjectNode() {
  const { stdout } = spawnSync(nodeBinary, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)/.exec(stdout ?? '')?.[1]) >= 24;
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
