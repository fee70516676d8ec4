/** The statements of turns and of the interrupts that were requested for them. */
import type { TurnRecords } from '../../application/ports.ts';
import type { Interrupt } from '../../domain/interrupts.ts';
import type { Turn } from '../../domain/turns.ts';
import { deliveries, openOf } from './deliveries.ts';
import { columns, many, one, type Sql, type SqlValue, type Statement, statement, table } from './sql.ts';

const turns = table<Turn>(
  'turns',
  columns({
    plain: `turn_id number session_id client_turn_id continues chain_id state abort_reason by via note
      started_at ended_at transcript_path steps batches last_tool last_tool_at stopped_at stops
      batch_at batch_closed_at`,
    json: 'cancelled_prompts open_tools',
  }),
);

const interrupts = table<Interrupt>(
  'interrupts',
  columns({
    plain: `interrupt_id session_id turn_id by via note asked_at state outcome settled_at withdrawn_by
      unconfirmed_at pushed_at`,
  }),
);

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
    get: (turn_id) => turns.get(sql, turn_id),
    current: (session_id) => found(CURRENT, [session_id]),
    last: (session_id) => found(LAST, [session_id]),
    byClientTurn: (session_id, client_turn_id) => found(BY_CLIENT, [session_id, client_turn_id]),
    damaged: (after) => turns.damaged(sql, after),
    running: (limit) => many(sql, RUNNING, [limit], turns.decode),
    unreadAborts: (session_id, limit) =>
      many(sql, UNTOLD, [session_id, limit], (row) => ({
        turn: turns.decode(row),
        delivery: deliveries.decode(row),
      })),
    interrupt: (interrupt_id) => interrupts.get(sql, interrupt_id),
    interruptsOf: (turn_id) => many(sql, INTERRUPTS_OF, [turn_id], interrupts.decode),
    pendingInterrupts: (turn_id) => many(sql, PENDING, [turn_id], interrupts.decode),
    insert: (turn) => turns.add(sql, turn),
    update: (turn) => turns.update(sql, turn),
    insertInterrupt: (interrupt) => interrupts.add(sql, interrupt),
    updateInterrupt: (interrupt) => interrupts.update(sql, interrupt),
  };
}
