// `npm run fuzz`: runs each property of test/fuzz for some time, and prints how many inputs it tried. Then it compares the
// display of 10,000 edits of each real client with what the client does (test/clients/edits.test.ts).
//   --minutes N    for each property; 10 by default
//   --target TEXT  only properties whose name contains this
//   --seed N, --path P    from the output of a failure: tries the same input again
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    target: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
  },
});
if (!(Number(values.minutes) > 0)) {
  console.error(`--minutes takes a number above 0, not "${values.minutes}".`);
  process.exit(2);
}

const env = { ...process.env, HIVE_TEST_FUZZ_MINUTES: values.minutes };
if (values.seed !== undefined) env.HIVE_TEST_FUZZ_SEED = values.seed;
if (values.path !== undefined) env.HIVE_TEST_FUZZ_PATH = values.path;

const root = join(import.meta.dirname, '..');
const only = values.target === undefined ? [] : ['-t', values.target.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')];
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const runs = [
  ['--project', 'documents', '--project', 'extensions', 'test/fuzz'],
  ['--project', 'clients', 'test/clients/edits.test.ts'],
];
for (const run of runs) {
  const args = [vitest, 'run', ...run, ...only];
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
