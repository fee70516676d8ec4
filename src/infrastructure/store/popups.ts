/** The statements of popups: their leases and outcomes, and the storms of a seat. */
import type { PopupLease, PopupOutcome, PopupRecords } from '../../application/ports.ts';
import type { PopupKind } from '../../domain/popups.ts';
import { type Sql, type Statement, statement } from './sql.ts';

const LEASE = statement(
  `INSERT INTO popups (subject, kind, seat, held_by, leased_at, outcome) VALUES ($1, $2, $3, $4, $5, 'leased')
   ON CONFLICT (subject, seat) DO NOTHING`,
);
const TAKE_OVER = statement(
  `UPDATE popups SET held_by = $4, leased_at = $5, storm = NULL
   WHERE subject = $1 AND kind = $2 AND seat = $3 AND outcome = 'leased' AND (leased_at < $6 OR leased_at > $5)`,
);
const SETTLE = statement(
  `UPDATE popups SET outcome = $3, reason = $4 WHERE subject = $1 AND seat = $2 AND outcome = 'leased'`,
);
const OUTCOME = statement('SELECT outcome FROM popups WHERE subject = $1 AND seat = $2');
const JOIN_STORM = statement('UPDATE popups SET storm = $3 WHERE subject = $1 AND seat = $2');
// A lease in the future was taken before the clock was set back: it holds nothing up.
const STORM = statement(
  `SELECT held_by, leased_at AS at, storm AS since FROM popups
   WHERE seat = $1 AND kind = $2 AND storm IS NOT NULL AND leased_at <= $3 ORDER BY leased_at DESC LIMIT 1`,
);
const RECENT = statement(
  `SELECT COUNT(*) AS count, MIN(leased_at) AS first FROM popups
   WHERE seat = $1 AND kind = $2 AND leased_at > $3 AND leased_at <= $4 AND outcome <> 'suppressed'`,
);

/** The condition that the subject of a popup is not settled, per kind. A ping is never settled. */
const UNSETTLED: Readonly<Record<PopupKind, string>> = {
  prompt: `JOIN prompts ON prompts.ask_id = popups.subject AND prompts.status = 'pending'`,
  outreach: 'JOIN outreach ON outreach.outreach_id = popups.subject',
  mention: `JOIN mentions ON mentions.mention_id = popups.subject AND mentions.status = 'unprocessed'`,
};
const unsettled = (kind: PopupKind): string =>
  `FROM popups ${UNSETTLED[kind]} WHERE popups.seat = $1 AND popups.kind = $2
   AND popups.leased_at >= $3 AND popups.leased_at <= $4 AND popups.outcome <> 'suppressed'`;

/** A statement over the unsettled popups of each kind. */
function perKind(text: (unsettled: string) => string): Readonly<Record<PopupKind, Statement>> {
  const of = (kind: PopupKind): Statement => statement(() => text(unsettled(kind)));
  return { prompt: of('prompt'), outreach: of('outreach'), mention: of('mention') };
}
const IN_STORM = perKind(
  (popups) => `SELECT popups.subject, popups.outcome ${popups} ORDER BY popups.leased_at`,
);
const OPEN_STORM = perKind((popups) => `SELECT 1 ${popups} LIMIT 1`);

export function popupStatements(sql: Sql, now: string): PopupRecords {
  return {
    async outcome(subject, seat) {
      const [row] = await sql.all(OUTCOME, [subject, seat]);
      return row === undefined ? undefined : (row['outcome'] as PopupOutcome);
    },
    async storm({ seat, kind }) {
      const [row] = await sql.all(STORM, [seat, kind, now]);
      if (row === undefined) return null;
      return { held_by: String(row['held_by']), since: String(row['since']), at: String(row['at']) };
    },
    async inStorm({ seat, kind }, { since, at }) {
      const rows = await sql.all(IN_STORM[kind], [seat, kind, since, at]);
      return rows.map((row) => ({
        subject: String(row['subject']),
        outcome: row['outcome'] as PopupOutcome,
      }));
    },
    async isStormOpen({ seat, kind }, { since, at }) {
      return (await sql.all(OPEN_STORM[kind], [seat, kind, since, at])).length > 0;
    },
    async recent({ seat, kind }, after) {
      const [row] = await sql.all(RECENT, [seat, kind, after, now]);
      const first = row?.['first'] ?? null;
      return { count: Number(row?.['count'] ?? 0), first: first === null ? null : String(first) };
    },
    async lease(lease, at) {
      return (await sql.run(LEASE, [...keysOf(lease), at])) === 1;
    },
    async takeOver(lease, at, before) {
      return (await sql.run(TAKE_OVER, [...keysOf(lease), at, before])) === 1;
    },
    joinStorm: (subject, seat, since) => sql.change(JOIN_STORM, [subject, seat, since]),
    async settle(subject, seat, outcome, reason) {
      return (await sql.run(SETTLE, [subject, seat, outcome, reason])) === 1;
    },
  };
}

function keysOf({ subject, kind, seat, held_by }: PopupLease): [string, string, string, string] {
  return [subject, kind, seat, held_by];
}
