/** The statements of the loop guard's memory: when a human last had a say, and which pairs it has stopped. */
import type { LoopRecords } from '../../application/ports.ts';
import type { Loop } from '../../domain/loop-guard.ts';
import { type Sql, statement, table } from './sql.ts';

const loops = table<Loop>('loops', {
  first_session_id: 'plain',
  second_session_id: 'plain',
  state: 'plain',
  at: 'plain',
  seq: 'plain',
  reason: 'plain',
});

const GET = statement(
  () => `SELECT ${loops.list} FROM loops WHERE first_session_id = $1 AND second_session_id = $2`,
);
const LIST = statement(() => `SELECT ${loops.list} FROM loops ORDER BY at DESC`);
const PUT = statement(
  () =>
    `${loops.insert()} ON CONFLICT (first_session_id, second_session_id) DO UPDATE SET state = $3, at = $4, seq = $5, reason = $6`,
);
const REMOVE = statement('DELETE FROM loops WHERE first_session_id = $1 AND second_session_id = $2');
const SIGN = statement('SELECT seq FROM human_signs WHERE subject = $1');
const LAST_MESSAGE = statement(`SELECT value FROM counters WHERE name = 'message'`);
const SPOKE = statement(
  'INSERT INTO human_signs (subject, seq) VALUES ($1, $2) ON CONFLICT (subject) DO UPDATE SET seq = $2',
);

export function loopStatements(sql: Sql): LoopRecords {
  return {
    async humanSpokeAt(subjects) {
      let latest = 0;
      for (const subject of subjects) {
        const [row] = await sql.all(SIGN, [subject]);
        latest = Math.max(latest, Number(row?.['seq'] ?? 0));
      }
      return latest;
    },
    async get({ first_session_id, second_session_id }) {
      const [row] = await sql.all(GET, [first_session_id, second_session_id]);
      return row === undefined ? undefined : loops.decode(row);
    },
    list: async () => (await sql.all(LIST, [])).map(loops.decode),
    async humanSpoke(subject) {
      const [row] = await sql.all(LAST_MESSAGE, []);
      await sql.run(SPOKE, [subject, Number(row?.['value'] ?? 0)]);
    },
    async put(loop) {
      await sql.run(PUT, loops.encode(loop));
    },
    async remove({ first_session_id, second_session_id }) {
      await sql.run(REMOVE, [first_session_id, second_session_id]);
    },
  };
}
