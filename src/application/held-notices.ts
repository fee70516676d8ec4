/**
 * Notifies the human of a seat that a mention holds an agent, after the time in `notify_held`. The gate's records have the held
 * agents and the notified seats, so a desk that opens later finds them too.
 */
import { type GateRecord, type HeldAgent, heldNoticeAt, heldSentence } from '../domain/mention-gate.ts';
import { disturbance, momentOf, mutedBy, type Preferences, preferencesFrom } from '../domain/preferences.ts';
import type { Session } from '../domain/sessions.ts';
import { clockOf, timeAfter } from '../domain/times.ts';
import type { Expiring } from './expiry.ts';
import { titledAuthor } from './mentions.ts';
import { giveNotice } from './notices.ts';
import type { ReadTx, Store } from './ports.ts';

/** A held agent, and when to notify this seat of it. */
interface Held {
  record: GateRecord;
  session: Session;
  notice_at: string;
}

/** Agents that are held soon after one another share the next notice. */
const GATHER_MS = 10_000;

export function heldNotices(store: Store, seat: string): Expiring {
  /** When the next notice may be given. */
  let gathered_at = '';

  async function planned(tx: ReadTx): Promise<Held[]> {
    const held = await heldFor(tx, seat);
    return held.map((one) => (one.notice_at < gathered_at ? { ...one, notice_at: gathered_at } : one));
  }
  const due = async (tx: ReadTx): Promise<Held[]> =>
    (await planned(tx)).filter(({ notice_at }) => notice_at <= tx.now);

  return {
    async next(tx) {
      const times = (await planned(tx)).map(({ notice_at }) => notice_at);
      return times.sort()[0] ?? null;
    },

    expireDue: () =>
      store.write(async (tx) => {
        const agents: HeldAgent[] = [];
        for (const { record, session } of await due(tx)) {
          const [mention] = await tx.mentions.unprocessedOf(session.session_id, 1);
          if (mention === undefined) continue;
          const { session_id, handle, title, source, project } = session;
          const { mention_id } = mention;
          const from = await titledAuthor(tx, mention);
          const since = record.held_since ?? tx.now;
          agents.push({ session_id, handle, title, source, project, mention_id, from, since });
          await tx.gates.put({ ...record, held_notified: [...record.held_notified, seat] });
        }
        if (agents.length === 0) return 0;
        gathered_at = timeAfter(tx.now, GATHER_MS);
        await giveNotice(tx, {
          severity: 'info',
          text: heldSentence(agents, (time) => clockOf(new Date(time))),
          session_id: agents.length === 1 ? (agents[0]?.session_id ?? null) : null,
          data: { notice: 'agents_held', seat, held: agents },
        });
        return agents.length;
      }),
  };
}

/** Held agents of which this seat was not notified yet; empty while the human must not be disturbed. */
async function heldFor(tx: ReadTx, seat: string): Promise<Held[]> {
  const records = await tx.gates.held();
  if (records.length === 0) return [];
  const preferences = preferencesFrom(await tx.desks.preferences(seat));
  if (disturbance(preferences, momentOf(tx.now)) !== null) return [];
  const held: Held[] = [];
  for (const record of records) {
    const notice_at = heldNoticeAt(record, seat, preferences.notify_held);
    const session = notice_at === null ? undefined : await heldSession(tx, record, preferences);
    if (notice_at !== null && session !== undefined) held.push({ record, session, notice_at });
  }
  return held;
}

/** The session, if it is really held: it has a turn in progress and a mention that gates. */
async function heldSession(
  tx: ReadTx,
  { session_id }: GateRecord,
  preferences: Preferences,
): Promise<Session | undefined> {
  const session = await tx.sessions.get(session_id);
  if (session === undefined || session.state === 'ended') return undefined;
  if (mutedBy(preferences, { ...session, agent: session.handle }) !== null) return undefined;
  if ((await tx.turns.current(session_id)) === undefined) return undefined;
  return (await tx.mentions.countUnprocessed(session_id)).gating === 0 ? undefined : session;
}
