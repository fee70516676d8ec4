/** The statements of deliveries, and of the hooks that are about to print some of them. */
import type { DeliveryRecords, HookOutput, HookOutputRecords } from '../../application/ports.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { columns, many, type Sql, statement, type Table, table } from './sql.ts';

export const deliveries: Table<Delivery> = table<Delivery>(
  'deliveries',
  columns({
    plain: 'subject kind recipient handed_at collected_at carrier',
    boolean: 'repeated',
  }),
);

/** The deliveries of a kind that a session, `$1`, has yet to read. */
export const openOf = (kind: Delivery['kind']): string =>
  `deliveries.recipient = $1 AND deliveries.kind = '${kind}' AND deliveries.collected_at IS NULL`;

const CARRIED = statement(
  () => `${deliveries.select} WHERE carrier = $1 AND collected_at IS NULL AND handed_at <= $2`,
);
const OPEN = statement(
  () => `${deliveries.select} WHERE recipient = $1 AND kind = $2 AND collected_at IS NULL LIMIT $3`,
);
const LOST = statement('UPDATE deliveries SET carrier = NULL WHERE carrier = $1 AND collected_at IS NULL');
const MOVE = statement(
  `UPDATE deliveries SET recipient = $2, carrier = CASE WHEN carrier = $3 THEN NULL ELSE carrier END
   WHERE recipient = $1 AND kind IN ('prompt', 'report', 'expiry') AND collected_at IS NULL`,
);

export function deliveryStatements(sql: Sql): DeliveryRecords {
  return {
    get: (subject) => deliveries.get(sql, subject),
    carriedBy: (carrier, handed_until) => many(sql, CARRIED, [carrier, handed_until], deliveries.decode),
    openOf: (recipient, kind, limit) => many(sql, OPEN, [recipient, kind, limit], deliveries.decode),
    put: (delivery) => deliveries.put(sql, delivery),
    markLost: (carrier) => sql.change(LOST, [carrier]),
    move: (from, to, carrier) => sql.change(MOVE, [from, to, carrier]),
  };
}

// ---- Hooks that are about to print ----

const outputs = table<HookOutput>('hook_outputs', columns({ plain: 'output_id session_id at' }));

const OF = statement(() => `${outputs.select} WHERE session_id = $1`);
const REMOVE = statement(
  'DELETE FROM hook_outputs WHERE output_id = $1 AND substr(session_id, 1, length($2)) = $2',
);

export function hookOutputStatements(sql: Sql): HookOutputRecords {
  return {
    of: (session_id) => many(sql, OF, [session_id], outputs.decode),
    insert: (output) => outputs.add(sql, output),
    remove: (output_id, ids = '') => sql.change(REMOVE, [output_id, ids]),
  };
}
