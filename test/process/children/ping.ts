/** Pings as one background session, together with others; says whether it was sent. */
import { hostname } from 'node:os';
import { HiveError } from '../../../src/domain/errors.ts';
import { openHive } from '../../../src/open-hive.ts';
import { introduction } from '../../support/introduction.ts';
import { waitForOthers } from '../../support/wait-for-others.ts';

const [session_id = ''] = process.argv.slice(2);
// Many processes on a busy machine wait for each other longer than a person would: speed is not tested here.
const hive = await openHive({ busy_ms: 60_000 });
const session = await hive.sessions.introduce(
  introduction({ session_id, source: 'bg', machine: hostname() }),
);
await waitForOthers();
try {
  await hive.outreach.ping({ message: 'Me!' }, session);
  process.stdout.write('sent');
} catch (error) {
  if (!(error instanceof HiveError)) throw error;
  process.stdout.write(String(error.details['rule']));
}
await hive.close();
