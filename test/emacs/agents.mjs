/**
 * Agents for the tests of the Emacs side, over the store HIVE_STORE: each line of input is a request as JSON,
 * {do, …}, and is answered with a line of JSON. The host of a run has them (host.mjs).
 */
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { agentAuthor } from '../../src/domain/messages.ts';
import { checksumOf } from '../../src/infrastructure/store/checksums.ts';
import { messageChecksums } from '../../src/infrastructure/store/messages.ts';
import { openHive } from '../../src/open-hive.ts';

/** How many messages are made before others have their turn. */
const FILL_AT_ONCE = 1_000;

/** Serves requests until the input ends; then calls `end`. */
export async function serveAgents({ env, input, output, end }) {
  const hive = await openHive({ store: env.HIVE_STORE, env: {} });

  const does = {
    join: ({ session_id, ...changes }) =>
      hive.sessions.introduce({
        session_id,
        client: 'claude-code',
        source: 'main',
        project: 'demo',
        project_dir: env.HIVE_TEST_PROJECT,
        branch: null,
        parent_session_id: null,
        machine: 'elsewhere',
        pid: null,
        ...changes,
      }),
    post: async ({ from, ...request }) => {
      const author = agentAuthor(await hive.sessions.resolve(from), 'mcp');
      const { message, unresolved } = await hive.messages.post({ ...request, author });
      return { message, unresolved };
    },
    /** Many messages at once, without mentions and events: what a long life would have left. */
    fill: async ({ from, count }) => {
      const { message } = await does.post({ from, body: 'the first of many' });
      const database = new DatabaseSync(env.HIVE_STORE, { timeout: 10_000 });
      const made = { seq: '$seq + n.i', message_id: "'msg-fill-' || n.i", body: "'filler ' || n.i" };
      database.function('checksum_of', { varargs: true }, (...values) => checksumOf(values));
      made.checksum = `checksum_of(${messageChecksums.covered.map((name) => made[name] ?? `m."${name}"`).join(', ')})`;
      const columns = database.prepare('PRAGMA table_info(messages)').all();
      const values = columns.map(({ name }) => made[name] ?? `m."${name}"`);
      const insert = database.prepare(
        `WITH RECURSIVE n(i) AS (SELECT CAST($first AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $end)
         INSERT INTO messages SELECT ${values} FROM messages m, n WHERE m.message_id = $from`,
      );
      // The sidecars of the tests are in this process, too: while it does not return, they answer nothing, and after 15 s an
      // Emacs that has asked them something restarts its own.
      for (let first = 0; first < count; first += FILL_AT_ONCE) {
        const end = Math.min(first + FILL_AT_ONCE, count);
        insert.run({ first, end, seq: message.seq + 1, from: message.message_id });
        await setImmediate();
      }
      database
        .prepare("UPDATE counters SET value = $seq WHERE name = 'message'")
        .run({ seq: message.seq + count });
      database.close();
      return { count };
    },
    messages: async (filter) => (await hive.messages.read({ limit: 500, ...filter })).items,
    mentions: async ({ session }) => {
      const { session_id } =
        session === undefined ? { session_id: 'human' } : await hive.sessions.resolve(session);
      return (await hive.mentions.history({ session_id, limit: 500 })).items;
    },
    sessions: () => hive.sessions.list({}),
    ask: async ({ from, ...request }) =>
      (await hive.prompts.ask(request, await hive.sessions.resolve(from))).prompt,
    work: async ({ from }) =>
      hive.turns.start({ session_id: (await hive.sessions.resolve(from)).session_id }),
    rest: ({ turn_id }) => hive.turns.end(turn_id),
    end: async ({ from }) => {
      const { session_id } = await hive.sessions.resolve(from);
      await hive.sessions.end(session_id);
      return {};
    },
  };

  for await (const line of createInterface({ input: input })) {
    const { do: what, ...request } = JSON.parse(line);
    let answer;
    try {
      answer = { result: (await does[what](request)) ?? null };
    } catch (error) {
      answer = { error: String(error) };
    }
    output.write(`${JSON.stringify(answer)}\n`);
  }
  await hive.close();
  end();
}
