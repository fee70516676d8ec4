// From a clone to one's own first answered question, as a new user gets there: three commands in an empty home, and one
// answer in Emacs. Prints what each took. Plain JavaScript for any Node ≥ 20, which is what the new user has; needs git,
// Emacs and tmux.
//   node scripts/first-question.mjs [--json]
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openEmacs } from './demo-terminal.mjs';

const TARGET_S = 90;
const root = join(import.meta.dirname, '..');
const home = mkdtempSync(join(tmpdir(), 'hive-first-'));
const inProject = (folder) => folder.endsWith(join('node_modules', '.bin'));
const env = {
  // Where npm fetches from and which certificates it trusts is the machine's affair; nothing else is.
  ...pick(/^npm_config_(?:registry|cache|userconfig)$|_proxy$|^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i),
  HOME: home,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  TMPDIR: tmpdir(),
  PATH: [
    join(home, '.local/bin'),
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => !inProject(folder)),
  ].join(delimiter),
};
const rows = [];
const clone = join(home, 'hive');
const question = 'Does Hive work here?';
let emacs;
let asking;

try {
  mkdirSync(join(home, 'tmux'));
  step('git clone', () => run(home, 'git', 'clone', '--quiet', root, clone));
  step('npm run install-hive', () => run(clone, 'npm', 'run', '--silent', 'install-hive', '--', '--yes'));
  emacs = openEmacs({ folder: join(home, 'tmux'), env });
  const began = performance.now();
  // Below a shell, as a person's command is.
  const command = `HIVE_AGENT=builder hive ask '${question}' --option yes --option no --wait; exit $?`;
  const stdio = ['ignore', 'pipe', 'inherit'];
  asking = spawn('/bin/sh', ['-c', command], { cwd: home, env, stdio, detached: true });
  const answer = output(asking);
  // It waits for the answer, so it is shown as blocked.
  await emacs.shows(/hive 1‖/, 60);
  emacs.press('M-x');
  emacs.type('hive-respond');
  emacs.press('Enter');
  await emacs.shows(/Does Hive work here/, 60);
  emacs.type('yes');
  await emacs.shows(/own words\) yes/, 60);
  emacs.press('Enter');
  const decision = (await answer).trim();
  if (decision !== 'yes') throw new Error(`The question was answered with "${decision}".\n${emacs.screen()}`);
  rows.push({ command: 'hive ask … --wait, answered in Emacs', seconds: since(began) });
  report();
} catch (error) {
  process.exitCode = 1;
  console.error(error.message);
} finally {
  // The shell and what it has started.
  if (asking?.exitCode === null) process.kill(-asking.pid);
  emacs?.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function report() {
  const total = rows.reduce((sum, { seconds }) => sum + seconds, 0);
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ rows, seconds: total, target_s: TARGET_S }));
    return;
  }
  for (const { command, seconds } of rows) console.log(`${seconds.toFixed(1).padStart(6)} s  ${command}`);
  console.log(
    `${total.toFixed(1).padStart(6)} s  in all, with ${rows.length} commands (at most ${TARGET_S} s and 3)`,
  );
}

function step(command, work) {
  const began = performance.now();
  work();
  rows.push({ command, seconds: since(began) });
}

function since(began) {
  return (performance.now() - began) / 1000;
}

function run(cwd, program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`"${program} ${args.join(' ')}" failed: ${error?.message ?? stdout + stderr}`);
}

function output(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', () => resolve(text));
  });
}

function pick(pattern) {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => pattern.test(name)));
}
