/**
 * Claims of popups: in one transaction a process of a seat gets what it is to show, at most once a prompt and
 * seat, and learns whether that is a storm. All of it follows from the claims in the store, so that it does not matter
 * how many processes serve the seat, nor which of them dies.
 */
import { concerns, namesOf } from '../domain/humans.ts';
import { decide, holderUntil, isStormy, STORM, type Storm, type SuppressReason } from '../domain/popups.ts';
import { momentOf, preferencesFrom } from '../domain/preferences.ts';
import { isExpired, type Prompt } from '../domain/prompts.ts';
import { humanOf, type PopupParty } from './popups.ts';
import type { WriteTx } from './ports.ts';

/** A claim of which nothing was heard for so long is that of a process that died over it. */
export const LOST_CLAIM_MS = 10_000;

/** What one look at the store gave this process. */
export interface Claims {
  /** Claimed now, to be shown. */
  shown: readonly Prompt[];
  /** Not to be had yet, and when to look again (milliseconds since the epoch). */
  again: ReadonlyMap<string, number>;
  /** Whether what is shown belongs to a storm, which this process then holds. */
  storm: boolean;
}

export const NOTHING: Claims = { shown: [], again: new Map(), storm: false };

/** Claims the popups of these prompts; `suppress` puts on the trail what is claimed and not wanted. */
export async function claimPopups(
  tx: WriteTx,
  ids: readonly string[],
  party: PopupParty,
  suppress: (tx: WriteTx, prompt: Prompt, outcome: 'suppressed', reason: SuppressReason) => Promise<unknown>,
): Promise<Claims> {
  const { seat, name } = party;
  const names = namesOf({ seat, human: humanOf(party) });
  const standing = await tx.popups.storm(seat);
  const clock = Date.parse(tx.now);
  const again = new Map<string, number>();
  if (standing !== null && standing.held_by !== name && clock < holderUntil(standing)) {
    for (const ask_id of ids) again.set(ask_id, Date.now() + holderUntil(standing) - clock);
    return { ...NOTHING, again };
  }
  const preferences = preferencesFrom(await tx.desks.preferences(seat));
  const desks = await tx.desks.online(tx.now);
  const focused = desks.some((desk) => desk.seat === seat && desk.focused);
  const shown: Prompt[] = [];
  for (const ask_id of ids) {
    const prompt = await tx.prompts.get(ask_id);
    if (prompt === undefined || prompt.status !== 'pending' || isExpired(prompt, tx.now)) continue;
    // Another's question pops up there; here once it is escalated.
    if (!concerns(prompt, names, tx.now)) continue;
    if (!(await claimOne(tx, ask_id, party))) {
      // Whoever has it may die before it is on the screen.
      if ((await tx.popups.outcome(ask_id, seat)) === 'claimed')
        again.set(ask_id, Date.now() + LOST_CLAIM_MS);
      continue;
    }
    const verdict = decide(prompt, preferences, { focused }, momentOf(new Date()));
    if (verdict.show) shown.push(prompt);
    else await suppress(tx, prompt, 'suppressed', verdict.reason);
  }
  return { shown, again, storm: await joinStorm(tx, seat, standing, shown) };
}

async function claimOne(tx: WriteTx, ask_id: string, { seat, name }: PopupParty): Promise<boolean> {
  if (await tx.prompts.claimPopup(ask_id, seat, name, tx.now)) return true;
  return tx.popups.takeOver(ask_id, seat, name, tx.now, before(tx, LOST_CLAIM_MS));
}

/** Whether these new claims belong to a storm, and notes so on them. */
async function joinStorm(
  tx: WriteTx,
  seat: string,
  standing: Storm | null,
  claimed: readonly Prompt[],
): Promise<boolean> {
  const latest = claimed
    .map(({ created_at }) => created_at)
    .toSorted()
    .at(-1);
  if (latest === undefined) return false;
  const { count, first } = await tx.popups.recent(seat, before(tx, STORM.window_ms));
  if (!isStormy(standing, count, latest, tx.now)) return false;
  // One that is over stands on the screen as long as something of it waits: it grows into the new one.
  const grows = standing !== null && (await tx.popups.stormWaits(seat, standing));
  const since = grows ? standing.since : (first ?? tx.now);
  for (const { ask_id } of claimed) await tx.popups.joinStorm(ask_id, seat, since);
  return true;
}

function before(tx: WriteTx, ms: number): string {
  return new Date(Date.parse(tx.now) - ms).toISOString();
}
