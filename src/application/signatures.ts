/** Signatures: whether a seat of the human gave an answer. Checked before an allowing answer is sent to an agent. */
import { mayAllow, permissionDigest } from '../domain/permissions.ts';
import type { Prompt } from '../domain/prompts.ts';
import { countsIn, type Seat, seatThatSigned } from '../domain/seats.ts';
import type { ReadTx, Store } from './ports.ts';

interface Against {
  store: Pick<Store, 'store_id' | 'name'>;
  /** The digest of the call that is about to be allowed. */
  displayed_digest: string;
  seats: readonly Seat[];
}

/** The registered seat that signed the answer of a prompt, exactly as it is stored; null if there is none. */
export async function seatThatAnswered(
  tx: ReadTx,
  prompt: Prompt,
  { store: { store_id, name }, displayed_digest, seats }: Against,
): Promise<Seat | null> {
  const { ask_id, decision, selected, comment, by, via, attested, response_id, responded_at } = prompt;
  if (decision === null || by === null || via === null || response_id === null || responded_at === null)
    return null;
  const stored = await tx.prompts.response(response_id);
  const answer = { decision, selected, comment, by, via, attested, response_id, responded_at };
  const counting = seats.filter((seat) => countsIn(seat, name));
  return seatThatSigned(counting, { store_id, ask_id, displayed_digest, answer }, stored?.signature ?? null);
}

/**
 * A prompt as an agent may read it. A question is returned as it is. In a permission, an answer that may allow something is
 * attested only if a registered seat signed it, whatever its row contains, because anybody may write a row.
 */
export async function asSigned(
  tx: ReadTx,
  prompt: Prompt,
  { store, seats }: { store: Against['store']; seats: () => readonly Seat[] },
): Promise<Prompt> {
  const { late_response: late } = prompt;
  const isSigned = async (answered: Prompt): Promise<boolean> => {
    const against = { store, displayed_digest: permissionDigest(prompt), seats: seats() };
    return (await seatThatAnswered(tx, answered, against)) !== null;
  };
  if (late !== null && mayAllow(prompt, late) && !(await isSigned({ ...prompt, ...late })))
    return { ...prompt, late_response: { ...late, attested: false } };
  if (prompt.status !== 'responded' || !mayAllow(prompt, prompt) || (await isSigned(prompt))) return prompt;
  return { ...prompt, attested: false };
}
