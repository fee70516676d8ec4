/** Posts as one agent, `COUNT` messages that mention `@All`, and says the id of each once it is acknowledged. */
import { hostname } from 'node:os';
import { agentAuthor } from '../../../src/domain/messages.ts';
import { openHive } from '../../../src/open-hive.ts';
import { introduction } from '../../support/introduction.ts';

const [session_id = '', count = '1'] = process.argv.slice(2);
// Many at once on a busy machine: a long wait of one of them is not a failure.
const hive = await openHive({ busy_ms: 30_000 });
const session = await hive.sessions.introduce(introduction({ session_id, machine: hostname() }));
const author = agentAuthor(session, 'library');
for (let n = 0; n < Number(count); n += 1) {
  const { message } = await hive.messages.post({ author, body: `${session_id} ${n} @All` });
  process.stdout.write(`${message.message_id}\n`);
}
await hive.close();
