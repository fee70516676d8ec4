/**
 * The statements of popups: what a seat has claimed lately, and its storm. Things that are only announced have
 * their claims in the same table; they are no prompts, and no part of a storm of these.
 */
import type { PopupOutcome, PopupRecords } from '../../application/ports.ts';
import { type Sql, statement } from './sql.ts';

const STORM = statement(
  `SELECT claimed_by AS held_by, claimed_at AS at, storm AS since FROM popups
   WHERE seat = $1 AND storm IS NOT NULL ORDER BY claimed_at DESC LIMIT 1`,
);
const WAITING = `FROM popups JOIN prompts ON prompts.ask_id = popups.ask_id
   WHERE popups.seat = $1 AND popups.claimed_at >= $2 AND popups.claimed_at <= $3
     AND popups.outcome <> 'suppressed' AND prompts.status = 'pending'`;
const IN_STORM = statement(
  `SELECT popups.ask_id AS ask_id, popups.outcome AS outcome ${WAITING} ORDER BY popups.claimed_at`,
);
const STORM_WAITS = statement(`SELECT 1 ${WAITING} LIMIT 1`);
const RECENT = statement(
  `SELECT COUNT(*) AS count, MIN(popups.claimed_at) AS first FROM popups JOIN prompts ON prompts.ask_id = popups.ask_id
   WHERE popups.seat = $1 AND popups.claimed_at > $2 AND popups.outcome <> 'suppressed'`,
);
const OUTCOME = statement('SELECT outcome FROM popups WHERE ask_id = $1 AND seat = $2');
const TAKE_OVER = statement(
  `UPDATE popups SET claimed_by = $3, claimed_at = $4, storm = NULL
   WHERE ask_id = $1 AND seat = $2 AND outcome = 'claimed' AND claimed_at < $5`,
);
const JOIN_STORM = statement('UPDATE popups SET storm = $3 WHERE ask_id = $1 AND seat = $2');

export function popupStatements(sql: Sql): PopupRecords {
  return {
    async storm(seat) {
      const [row] = await sql.all(STORM, [seat]);
      if (row === undefined) return null;
      return { held_by: String(row['held_by']), since: String(row['since']), at: String(row['at']) };
    },
    async inStorm(seat, { since, at }) {
      const rows = await sql.all(IN_STORM, [seat, since, at]);
      return rows.map((row) => ({
        ask_id: String(row['ask_id']),
        outcome: row['outcome'] as PopupOutcome,
      }));
    },
    async stormWaits(seat, { since, at }) {
      return (await sql.all(STORM_WAITS, [seat, since, at])).length > 0;
    },
    async recent(seat, after) {
      const [row] = await sql.all(RECENT, [seat, after]);
      const first = row?.['first'] ?? null;
      return { count: Number(row?.['count'] ?? 0), first: first === null ? null : String(first) };
    },
    async outcome(ask_id, seat) {
      const [row] = await sql.all(OUTCOME, [ask_id, seat]);
      return row === undefined ? undefined : (row['outcome'] as PopupOutcome);
    },
    async takeOver(ask_id, seat, claimed_by, now, before) {
      return (await sql.run(TAKE_OVER, [ask_id, seat, claimed_by, now, before])) === 1;
    },
    async joinStorm(ask_id, seat, since) {
      await sql.run(JOIN_STORM, [ask_id, seat, since]);
    },
  };
}
