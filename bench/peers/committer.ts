/** Asks on the store in HIVE_STORE for so many milliseconds, and prints how long each took. Started by rows/engines.ts. */
import { openHive } from '../../src/open-hive.ts';

const hive = await openHive();
const session = await hive.sessions.introduce({
  session_id: `committer-${process.pid}`,
  client: 'bench',
  source: 'main',
  project: 'bench',
  project_dir: '/bench',
  branch: null,
  parent_session_id: null,
  machine: 'bench',
  pid: null,
});
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const until = performance.now() + Number(process.argv[2]);
const took: number[] = [];
while (performance.now() < until) {
  const started = performance.now();
  await hive.prompts.ask({ question: 'Drop the old sessions table after the migration?' }, session);
  took.push(performance.now() - started);
}
process.stdout.write(`${JSON.stringify(took)}\n`);
await hive.close();
process.exit(0);
