/**
 * Asks on the store in HIVE_STORE for as many milliseconds as each line on stdin says, and prints how long each
 * question took, in milliseconds. Started by rows/processes.ts.
 */
import { openHive } from '../../src/open-hive.ts';
import { commitAtEachLine } from './commit-at-each-line.ts';

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
await commitAtEachLine(() =>
  hive.prompts.ask({ question: 'Drop the old sessions table after the migration?' }, session),
);
await hive.close();
