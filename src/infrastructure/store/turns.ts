/** The statements of turns and of the interrupts that were requested for them. */
import type { TurnRecords } from '../../application/ports.ts';
import type { Interrupt } from '../../domain/interrupts.ts';
import type { Turn } from '../../domain/turns.ts';
import { damagedRows } from './checksums.ts';
import { deliveries, openOf } from './deliveries.ts';
import { pruneTurns } from './prune.ts';
import { decodeIntact, one, type Sql, type SqlValue, type Statement, statement, table } from './sql.ts';

const turns = table<Turn>('turns', {
  turn_id: 'plain',
  number: 'plain',
  session_id: 'plain',
  client_turn_id: 'plain',
  continues: 'plain',
  chain_id: 'plain',
  state: 'plain',
  abort_reason: 'plain',
  by: 'plain',
  via: 'plain',
  note: 'plain',
  started_at: 'plain',
  ended_at: 'plain',
  cancelled_prompts: 'json',
  transcript_path: 'plain',
  steps: 'plain',
  batches: 'plain',
  last_tool: 'plain',
  last_tool_at: 'plain',
  open_tools: 'json',
  stopped_at: 'plain',
  stops: 'plain',
  batch_at: 'plain',
  batch_closed_at: 'plain',
});
const damagedIn = damagedRows(turns, 'turns');

const interrupts = table<Interrupt>('interrupts', {
  interrupt_id: 'plain',
  session_id: 'plain',
  turn_id: 'plain',
  by: 'plain',
  via: 'plain',
  note: 'plain',
  asked_at: 'plain',
  state: 'plain',
  outcome: 'plain',
  settled_at: 'plain',
  withdrawn_by: 'plain',
  unconfirmed_at: 'plain',
  pushed_at: 'plain',
});

const CURRENT = statement(() => `${turns.select} WHERE session_id = $1 AND state = 'in_progress'`);
const LAST = statement(() => `${turns.select} WHERE session_id = $1 ORDER BY number DESC LIMIT 1`);
const BY_CLIENT = statement(
  () => `${turns.select} WHERE session_id = $1 AND client_turn_id = $2 ORDER BY number DESC LIMIT 1`,
);
const RUNNING = statement(() => `${turns.select} WHERE state = 'in_progress' ORDER BY number LIMIT $1`);
const UNTOLD = statement(
  () => `SELECT ${turns.list}, ${deliveries.list} FROM deliveries JOIN turns ON turns.turn_id = deliveries.subject
   WHERE ${openOf('interrupt')} ORDER BY number LIMIT $2`,
);

const INTERRUPTS_OF = statement(
  () => `${interrupts.select} WHERE turn_id = $1 ORDER BY asked_at, interrupt_id`,
);
const PENDING = statement(
  () => `${interrupts.select} WHERE turn_id = $1 AND state = 'pending' ORDER BY asked_at, interrupt_id`,
);

export function turnStatements(sql: Sql): TurnRecords {
  const found = (query: Statement, params: SqlValue[]): Promise<Turn | undefined> =>
    one(sql, query, params, turns.decode);

  return {
    ...pruneTurns(sql),
    get: (turn_id) => turns.get(sql, turn_id),
    current: (session_id) => found(CURRENT, [session_id]),
    last: (session_id) => found(LAST, [session_id]),
    byClientTurn: (session_id, client_turn_id) => found(BY_CLIENT, [session_id, client_turn_id]),
    damaged: (after) => damagedIn(sql, after),
    running: async (limit) => decodeIntact(await sql.all(RUNNING, [limit]), turns.decode),
    unreadAborts: async (session_id, limit) =>
      decodeIntact(await sql.all(UNTOLD, [session_id, limit]), (row) => ({
        turn: turns.decode(row),
        delivery: deliveries.decode(row),
      })),
    interrupt: (interrupt_id) => interrupts.get(sql, interrupt_id),
    interruptsOf: async (turn_id) => decodeIntact(await sql.all(INTERRUPTS_OF, [turn_id]), interrupts.decode),
    pendingInterrupts: async (turn_id) => decodeIntact(await sql.all(PENDING, [turn_id]), interrupts.decode),
    insert: (turn) => turns.add(sql, turn),
    update: (turn) => turns.update(sql, turn),
    insertInterrupt: (interrupt) => interrupts.add(sql, interrupt),
    updateInterrupt: (interrupt) => interrupts.update(sql, interrupt),
  };
}
