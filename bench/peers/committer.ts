/**
 * Asks on the store in HIVE_STORE for as many milliseconds as each line on stdin says, and prints how long each
 * question took, in milliseconds. Started by rows/processes.ts.
 */
import { openHive } from '../../src/open-hive.ts';
import { introduceBench } from '../session.ts';
import { commitAtEachLine } from './commit-at-each-line.ts';

const hive = await openHive();
const session = await introduceBench(hive, `committer-${process.pid}`);
await commitAtEachLine(() =>
  hive.prompts.ask({ question: 'Drop the old sessions table after the migration?' }, session),
);
await hive.close();
