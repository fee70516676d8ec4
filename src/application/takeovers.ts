/** Questions, answers and mentions of a session that goes on under another id, or of an ended subagent, pass to the next one. */
import { pairOf } from '../domain/loops.ts';
import type { Session } from '../domain/sessions.ts';
import { hookCarrier } from './delivery.ts';
import type { WriteTx } from './ports.ts';

/** Moves open prompts, uncollected answers and unprocessed mentions to the session that continues. */
export async function takeOver(
  tx: WriteTx,
  from: Pick<Session, 'session_id'>,
  to: Pick<Session, 'session_id' | 'handle'>,
): Promise<void> {
  await recordMoves(tx, 'prompt/moved', await tx.prompts.move(from.session_id, to), from, to);
  await moveMentions(tx, from, to);
  await tx.outreach.moveReader(from.session_id, to.session_id);
  await tx.deliveries.move(from.session_id, to.session_id, hookCarrier(from.session_id));
}

/** Moves a session's unprocessed mentions, and the pairs it is muted in, to the session that continues it. */
async function moveMentions(
  tx: WriteTx,
  from: Pick<Session, 'session_id'>,
  to: Pick<Session, 'session_id' | 'handle'>,
): Promise<void> {
  await recordMoves(tx, 'mention/moved', await tx.mentions.move(from.session_id, to), from, to);
  for (const loop of await tx.loops.list()) {
    const { first_session_id: first, second_session_id: second } = loop;
    if (first !== from.session_id && second !== from.session_id) continue;
    const other = first === from.session_id ? second : first;
    await tx.loops.remove(loop);
    if (other === to.session_id) continue;
    const pair = pairOf(to.session_id, other);
    // A pair keeps its own state, unless the other one is muted.
    if (loop.state === 'muted' || (await tx.loops.get(pair)) === undefined)
      await tx.loops.put({ ...loop, ...pair });
  }
}

async function recordMoves(
  tx: WriteTx,
  type: 'prompt/moved' | 'mention/moved',
  subjects: readonly string[],
  from: Pick<Session, 'session_id'>,
  to: Pick<Session, 'session_id'>,
): Promise<void> {
  const data = { from: from.session_id, to: to.session_id };
  for (const subject of subjects) await tx.events.append({ type, session_id: to.session_id, subject, data });
}
