import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.hive-stamp');
const nodeBinary = join(modules, 'node/bin/node');

/** For less than everything: the packages that Hive itself needs, and these. The first level is part of the second. */
const SMALL = { 'to build': ['esbuild'], 'to run': ['esbuild', 'node'] };

/**
 * Makes node_modules match the lock file; does nothing if it already does. If nothing is installed yet, or not everything,
 * `to build` and `to run` install only what they need, which takes npm a third of the time.
 */
export function setUpModules(level) {
  const all = stampOf();
  const found = readIfThere(stampFile);
  const enough = [all, `${all} to run`, ...(level === 'to build' ? [`${all} to build`] : [])];
  const isThere = level === undefined ? found === all : enough.includes(found);
  if (isThere && (level === 'to build' || existsSync(nodeBinary))) return;
  const isNew = !existsSync(modules) || / to (?:build|run)$/.test(found);
  if (level !== undefined && isNew) install(`${all} ${level}`, SMALL[level]);
  else install(all);
}

function install(stamp, names) {
  const started = Date.now();
  console.log(`Installing node_modules (about ${names === undefined ? 20 : 10} s) …`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  // In the versions of the lock file; --save-prod, because --omit=dev would leave these packages out.
  if (names === undefined) npm('ci', ...quiet);
  else npm('install', '--no-save', '--save-prod', '--omit=dev', ...quiet, ...names.map(withVersion));
  if (names?.includes('node') !== false) needProjectNode();
  writeFileSync(stampFile, stamp);
  console.log(`node_modules is ready (${Math.round((Date.now() - started) / 1000)} s).`);
}

function needProjectNode() {
  // The package "node" fetches its binary in an install script, which `ignore-scripts=true` skips.
  if (!hasProjectNode()) npm('rebuild', 'node', '--ignore-scripts=false', '--loglevel=error');
  if (hasProjectNode()) return;
  throw new Error(
    `npm installed no Node 24 at ${nodeBinary}: run "npm rebuild node --ignore-scripts=false".`,
  );
}

function withVersion(name) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return `${name}@${name === 'node' ? binaryOfNode() : ''}${devDependencies[name]}`;
}

// The package that the install script of "node" would fetch with a second npm.
function binaryOfNode() {
  const { platform, arch } = process;
  return `npm:${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}@`;
}

// Only what determines what npm installs: a new entry in "scripts" must not cause a reinstall.
function stampOf() {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { dependencies, devDependencies, optionalDependencies, overrides, allowScripts } = manifest;
  const hash = createHash('sha256');
  hash.update(JSON.stringify([process.platform, process.arch]));
  hash.update(JSON.stringify([dependencies, devDependencies, optionalDependencies, overrides, allowScripts]));
  hash.update(readIfThere(join(root, 'package-lock.json')));
  // npm's messages about itself do not affect that.
  hash.update(readIfThere(join(root, '.npmrc')).replace(/^(?:#|update-notifier).*\n/gm, ''));
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
  if (status !== 0) throw new Error(`"npm ${args.join(' ')}" failed; its output is above.`);
}

// An outer `npm run` leaves variables that an inner npm would apply to itself. And npm must not run on the
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
