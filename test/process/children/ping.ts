/** Pings as one background session, once the file GO is there; says whether it was sent. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { HiveError } from '../../../src/domain/errors.ts';
import { openHive } from '../../../src/open-hive.ts';
import { eventually } from '../../support/wait.ts';

const [session_id = '', go = ''] = process.argv.slice(2);
// Many processes on a busy machine wait for each other longer than a person would: speed is not tested here.
const hive = await openHive({ busy_ms: 60_000 });
const session = await hive.sessions.introduce({
  session_id,
  client: 'claude-code',
  source: 'bg',
  project: 'demo',
  project_dir: '/demo/.git',
  branch: null,
  parent_session_id: null,
  machine: hostname(),
  pid: null,
});
process.stdout.write('ready\n');
await eventually(() => existsSync(go));
try {
  await hive.outreach.ping({ message: 'Me!' }, session);
  process.stdout.write('sent\n');
} catch (error) {
  if (!(error instanceof HiveError)) throw error;
  process.stdout.write(`${String(error.details['rule'])}\n`);
}
await hive.close();
