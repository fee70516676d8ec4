/** Desks: presence as a lease, focus, the preferences of the human at a seat, and claims on questions. */
import { DESK_HEARTBEAT_MS, type Desk, leaseFrom, userOfSeat } from '../domain/humans.ts';
import {
  type PreferenceChanges,
  type Preferences,
  preferencesFrom,
  type QuietTimes,
  quietTimes,
} from '../domain/preferences.ts';
import { claimPrompt, type Prompt, promptEvent, releasePrompt } from '../domain/prompts.ts';
import { beside } from './background.ts';
import { writeDue } from './expiry.ts';
import { recordHuman } from './humans.ts';
import type { Store, WriteTx } from './ports.ts';
import { findCurrent, findPrompt } from './prompts.ts';
import { preferencesAt, type Setter, storePreferences } from './settings.ts';
import type { Ids, Logger } from './world.ts';

/** A desk that this process keeps open. */
export interface OpenDesk {
  readonly desk_id: string;
  setFocused(focused: boolean): Promise<void>;
  close(): Promise<void>;
}

export function createDesks(store: Store, ids: Ids, log: Logger) {
  return {
    /** Opens a desk and keeps its lease until `close` is called. `human`: their name; default: their login name. */
    async open({
      seat,
      pid,
      client,
      human = userOfSeat(seat),
    }: Pick<Desk, 'seat' | 'pid' | 'client'> & { human?: string | undefined }): Promise<OpenDesk> {
      const desk_id = ids.make('desk');
      let focused = false;
      const opened = ({ now }: WriteTx): Desk => {
        const lease = { focused, opened_at: now, lease_until: leaseFrom(now) };
        return { desk_id, seat, pid, client, human, ...lease };
      };
      await store.write(async (tx) => {
        await tx.desks.removeLapsed(tx.now);
        await tx.desks.put(opened(tx));
        await recordHuman(tx, { human, seat });
        const data = { change: 'opened', seat, client, human };
        await tx.events.append({ type: 'desk/changed', subject: desk_id, data });
      });
      const heartbeat = setInterval(
        () => void beside(log, 'The lease of this desk could not be renewed.', renew),
        DESK_HEARTBEAT_MS,
      );

      async function renew(): Promise<void> {
        await store.write(async (tx) => {
          const desk = await tx.desks.get(desk_id);
          if (desk !== undefined) return tx.desks.renew(desk_id, leaseFrom(tx.now));
          // Another desk removed the lease while this machine slept: take a new one.
          return tx.desks.put(opened(tx));
        });
      }

      return {
        desk_id,
        async setFocused(now_focused) {
          focused = now_focused;
          await store.write(async (tx) => {
            const desk = await tx.desks.get(desk_id);
            if (desk !== undefined) await tx.desks.put({ ...desk, focused, lease_until: leaseFrom(tx.now) });
          });
        },
        async close() {
          clearInterval(heartbeat);
          await store.write(async (tx) => {
            await tx.desks.remove(desk_id);
            await releaseAll(tx, await tx.claims.ofDesk(desk_id), 'desk_closed');
            await recordHuman(tx, { human, seat });
            const data = { change: 'closed', seat };
            await tx.events.append({ type: 'desk/changed', subject: desk_id, data });
          });
        },
      };
    },

    online: (): Promise<Desk[]> => store.read((tx) => tx.desks.online(tx.now)),

    preferences: (seat: string): Promise<Preferences> => store.read((tx) => preferencesAt(tx, seat)),

    /** The current or next quiet hours of a seat, by the store's clock; null if it has none. */
    quietTimes: (seat: string): Promise<QuietTimes | null> =>
      store.read(async (tx) => {
        const { quiet_hours } = await preferencesAt(tx, seat);
        return quiet_hours === null ? null : quietTimes(quiet_hours, tx.now);
      }),

    /** Merges changes from Emacs into the stored preferences; null goes back to the default. Returns the result. */
    setPreferences: (seat: string, changes: PreferenceChanges, setter?: Setter): Promise<Preferences> =>
      store.write(async (tx) => preferencesFrom(await storePreferences(tx, seat, changes, 'emacs', setter))),
  };
}

// ---- Claims ----
// A claim names the human who has begun to answer a prompt, and their desk. It lasts as long as the desk, and never blocks an
// answer (domain/prompts.ts).

export function createClaims(store: Store) {
  return {
    /**
     * `accepted` is false if another human's open desk holds the claim, or the prompt is settled. @throws HiveError
     * `prompt_not_found`.
     */
    claim: (ask_id: string, { by, desk_id }: { by: string; desk_id: string }) =>
      store.write(async (tx) => {
        const prompt = await findCurrent(tx, ask_id);
        const holder = await tx.claims.holder(ask_id, tx.now);
        const claimed = claimPrompt(prompt, by, holder, tx.now);
        if (claimed !== prompt) {
          await tx.prompts.update(claimed);
          await tx.events.append(promptEvent('prompt/claimed', claimed, { by, desk_id }));
        }
        const accepted = claimed.status === 'pending' && claimed.claimed_by === by;
        // The same human may take the claim to another desk.
        if (accepted && holder !== desk_id) await tx.claims.put(ask_id, desk_id);
        return { accepted, prompt: claimed };
      }),

    /** Releases this desk's claim; false if it has none. @throws HiveError `prompt_not_found`. */
    release: (ask_id: string, desk_id: string) =>
      store.write(async (tx) => {
        const prompt = await findPrompt(tx, ask_id);
        if (!(await tx.claims.ofDesk(desk_id)).includes(ask_id)) return { released: false, prompt };
        return { released: true, prompt: await recordRelease(tx, prompt, 'released') };
      }),

    /** Releases the claims of desks that are gone; returns how many. */
    releaseLapsed: () =>
      writeDue(
        store,
        (tx) => tx.claims.lapses,
        (tx, ask_ids) => releaseAll(tx, ask_ids, 'desk_gone'),
      ),
  };
}

/** Why a claim ended without an answer. */
type ReleaseReason = 'released' | 'desk_closed' | 'desk_gone';

/** Releases claims inside the caller's transaction; the caller has found that the desk no longer holds them. */
async function releaseAll(tx: WriteTx, ask_ids: readonly string[], reason: ReleaseReason): Promise<void> {
  for (const ask_id of ask_ids) {
    const prompt = await tx.prompts.intact(ask_id);
    if (prompt === undefined) await tx.claims.remove(ask_id);
    else await recordRelease(tx, prompt, reason);
  }
}

async function recordRelease(tx: WriteTx, prompt: Prompt, reason: ReleaseReason): Promise<Prompt> {
  await tx.claims.remove(prompt.ask_id);
  const released = releasePrompt(prompt);
  if (released === prompt) return prompt;
  await tx.prompts.update(released);
  await tx.events.append(promptEvent('prompt/released', released, { by: prompt.claimed_by, reason }));
  return released;
}
