/** Claims: who has taken a prompt up to answer it. A claim never stands in an answer's way (domain/claims.ts). */
import { claimPrompt, releasePrompt } from '../domain/claims.ts';
import type { Prompt } from '../domain/prompts.ts';
import type { Store, WriteTx } from './ports.ts';
import { appendPrompt, findCurrent, findPrompt } from './prompt-records.ts';

export interface ClaimService {
  /** `accepted` is false when another's living desk holds it, or it is settled. @throws HiveError `prompt_not_found`. */
  claim(
    ask_id: string,
    claimer: { by: string; desk_id: string },
  ): Promise<{ accepted: boolean; prompt: Prompt }>;
  /** Lets go what this desk holds; false when it does not hold it. @throws HiveError `prompt_not_found`. */
  release(ask_id: string, desk_id: string): Promise<{ released: boolean; prompt: Prompt }>;
  /** Lets go what desks held that are gone; returns how many. */
  releaseLapsed(): Promise<number>;
}

const BATCH = 200;

export function createClaims(store: Store): ClaimService {
  return {
    claim: (ask_id, { by, desk_id }) =>
      store.write(async (tx) => {
        const prompt = await findCurrent(tx, ask_id);
        const holder = await tx.claims.holder(ask_id, tx.now);
        const claimed = claimPrompt(prompt, by, holder, tx.now);
        if (claimed !== prompt) {
          await tx.prompts.update(claimed);
          await appendPrompt(tx, 'prompt/claimed', claimed, { by, desk_id });
        }
        const accepted = claimed.status === 'pending' && claimed.claimed_by === by;
        // The same human at another desk of theirs takes it along.
        if (accepted && holder !== desk_id) await tx.claims.put(ask_id, desk_id);
        return { accepted, prompt: claimed };
      }),

    release: (ask_id, desk_id) =>
      store.write(async (tx) => {
        const prompt = await findPrompt(tx, ask_id);
        if (!(await tx.claims.ofDesk(desk_id)).includes(ask_id)) return { released: false, prompt };
        return { released: true, prompt: await recordRelease(tx, prompt, 'let_go') };
      }),

    async releaseLapsed() {
      let released = 0;
      while ((await store.read((tx) => tx.claims.lapsed(tx.now, 1))).length > 0) {
        const count = await store.write(async (tx) => {
          const ids = await tx.claims.lapsed(tx.now, BATCH);
          await releaseAll(tx, ids, 'desk_gone');
          return ids.length;
        });
        // Somebody else was first.
        if (count === 0) break;
        released += count;
      }
      return released;
    },
  };
}

/** Why a claim ended without an answer. */
type ReleaseReason = 'let_go' | 'desk_closed' | 'desk_gone';

/** Lets go prompts inside a transaction of the caller, who has found that their desk holds them no longer. */
export async function releaseAll(
  tx: WriteTx,
  ask_ids: readonly string[],
  reason: ReleaseReason,
): Promise<void> {
  for (const ask_id of ask_ids) {
    const prompt = await tx.prompts.get(ask_id);
    if (prompt === undefined) await tx.claims.remove(ask_id);
    else await recordRelease(tx, prompt, reason);
  }
}

async function recordRelease(tx: WriteTx, prompt: Prompt, reason: ReleaseReason): Promise<Prompt> {
  await tx.claims.remove(prompt.ask_id);
  const released = releasePrompt(prompt);
  if (released === prompt) return prompt;
  await tx.prompts.update(released);
  await appendPrompt(tx, 'prompt/released', released, { by: prompt.claimed_by, reason });
  return released;
}
