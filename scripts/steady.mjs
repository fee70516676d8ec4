// `npm run test:steady`: shows whether the suite is reliable on a busy and on a small machine. It runs the suite five times
// next to a program that keeps every processor busy, and once on one processor, prints a table, and fails on any failure.
//   --rounds N    how often next to the busy programs; 5 by default
//   Other arguments go to vitest: `npm run test:steady -- --rounds 1 test/contract`, `-- --project clients`
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { openRuns } from './run-leftovers.mjs';

/** Computes until its parent changes: then nobody is left to end it. */
const BUSY = 'const parent = process.ppid; while (process.ppid === parent);';
/** Everything except tests that need other systems, real clients or long runs. */
const SUITE = ['quick', 'documents', 'extensions'];
const root = join(import.meta.dirname, '..');
const { rounds, args } = readArguments(process.argv.slice(2));
const { folder, run: runProgram } = openRuns('hive-steady-');

const results = [];
for (let round = 1; round <= rounds; round += 1) results.push(await beside());
results.push(await run('one processor', ['taskset', '-c', '0']));

const columns = ['round', 'under', 'seconds', 'passed', 'failed', 'not run', 'files failed'];
const rows = results.map((result, n) => [
  n + 1,
  result.under,
  result.seconds,
  result.passed,
  result.failed.length,
  result.notRun,
  result.filesFailed,
]);
console.log(`\n${table([columns, ...rows])}`);
for (const [n, { failed }] of results.entries())
  for (const name of failed) console.log(`round ${n + 1}: ${name}`);
const holds = results.every(({ code, failed, notRun }) => code === 0 && failed.length === 0 && notRun === 0);
console.log(holds ? '\nNo failure.' : '\nThe suite does not hold.');
process.exitCode = holds ? 0 : 1;

function readArguments(given) {
  const at = given.indexOf('--rounds');
  if (at === -1) return { rounds: 5, args: given };
  const rounds = Number(given[at + 1]);
  if (!(Number.isInteger(rounds) && rounds >= 0)) {
    console.error(`--rounds takes a whole number, not "${given[at + 1]}".`);
    process.exit(2);
  }
  return { rounds, args: given.toSpliced(at, 2) };
}

async function beside() {
  const count = availableParallelism();
  const busy = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', BUSY], { cwd: root, stdio: 'ignore' }),
  );
  try {
    return await run(`${count} busy programs`, []);
  } finally {
    for (const child of busy) child.kill('SIGKILL');
  }
}

/** Runs the suite; `prefix` is the command that starts it. */
async function run(under, prefix) {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const projects = args.includes('--project') ? [] : SUITE.flatMap((name) => ['--project', name]);
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...projects, ...reporters, ...args];
  const [program, ...rest] = [...prefix, process.execPath, ...vitest];
  console.log(`\n== ${under}`);
  const began = Date.now();
  const code = await runProgram(program, rest, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  return { under, seconds: Math.round((Date.now() - began) / 1000), code, ...read(report) };
}

/** The report of vitest; empty if vitest did not get that far. */
function read(report) {
  let found;
  try {
    found = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { passed: 0, failed: ['no report'], notRun: 0, filesFailed: 0 };
  }
  const files = found.testResults;
  const tests = files.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({
      name: `${name.replace(`${root}/`, '')} > ${fullName}`,
      status,
    })),
  );
  const broken = files.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: [
      ...tests.filter(({ status }) => status === 'failed').map(({ name }) => name),
      ...broken.map(({ name }) => name.replace(`${root}/`, '')),
    ],
    notRun: tests.filter(({ status }) => status !== 'passed' && status !== 'failed').length,
    filesFailed: files.filter(({ status }) => status === 'failed').length,
  };
}

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  return rows
    .map((row) => row.map((cell, column) => String(cell).padEnd(widths[column])).join('  '))
    .join('\n');
}
