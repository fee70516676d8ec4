/** Asks on the store in HIVE_STORE for so many milliseconds, and says how often it was done. Started by rows/engines.ts. */
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
let done = 0;
while (performance.now() < until) {
  await hive.prompts.ask({ question: 'Drop the old sessions table after the migration?' }, session);
  done += 1;
}
process.stdout.write(`${done}\n`);
await hive.close();
process.exit(0);
