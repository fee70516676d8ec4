/** The statements of who waits to wake which session. */
import type { WakerRecords } from '../../application/ports.ts';
import type { Waker } from '../../domain/wakes.ts';
import { type Sql, statement, table } from './sql.ts';

const wakers = table<Waker>('wakers', {
  session_id: 'plain',
  waker_id: 'plain',
  until: 'plain',
  told: 'json',
  wakes: 'plain',
  human_seq: 'plain',
});

const GET = statement(() => `SELECT ${wakers.list} FROM wakers WHERE session_id = $1`);
const PUT = statement(
  () => `${wakers.insert()} ON CONFLICT (session_id) DO UPDATE SET ${wakers.assignments}`,
);

export function wakerStatements(sql: Sql): WakerRecords {
  return {
    async get(session_id) {
      const [row] = await sql.all(GET, [session_id]);
      return row === undefined ? undefined : wakers.decode(row);
    },
    async put(waker) {
      await sql.run(PUT, wakers.encode(waker));
    },
  };
}
