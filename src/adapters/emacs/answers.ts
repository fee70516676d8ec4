/**
 * Answers as they come in, by request or by notification. One that cannot be taken is kept (unread-answers.ts): its
 * sender may hear of it too late, or, of a notification, never.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRetries } from '../../application/retries.ts';
import { isTransient } from '../../domain/errors.ts';
import { toWireError } from '../errors.ts';
import { type DeskConnection, ignoredIn } from './desk-connection.ts';
import { placeOf, promptMethods } from './prompts.ts';

/** Sent as a request: whatever is refused is kept as well, save where the sender can try again. */
export async function takeAnswer(params: unknown, seat: DeskConnection): Promise<object | null> {
  try {
    return await promptMethods['hivemind-response'](params, seat);
  } catch (error) {
    // What cannot be kept either must not change what the sender is told.
    if (!isTransient(error)) await keepAnswer(params, seat, { error, sender_told: true }).catch(logged(seat));
    throw error;
  }
}

/** Sent as a notification: its sender tries nothing again, so that is done here, until `ended`. */
export async function hearAnswer(params: unknown, seat: DeskConnection, ended: AbortSignal): Promise<void> {
  await untilStored(seat, ended, async () => {
    try {
      const ignored = ignoredIn(await promptMethods['hivemind-response'](params, seat));
      if (ignored.length > 0) await keepPart(params, seat, ignored);
    } catch (error) {
      if (isTransient(error)) throw error;
      await keepAnswer(params, seat, { error, sender_told: false });
    }
  });
}

/** What claims to be an answer and is not even a message. */
export async function keepMalformed(
  params: unknown,
  seat: DeskConnection,
  { reason, sender_told, ended }: { reason: string; sender_told: boolean; ended: AbortSignal },
): Promise<void> {
  const answer = { from: placeOf(seat), params, reason, sender_told };
  await untilStored(seat, ended, () => seat.hive.unreadAnswers.keep(answer));
}

function keepAnswer(
  params: unknown,
  seat: DeskConnection,
  { error, sender_told }: { error: unknown; sender_told: boolean },
): Promise<void> {
  const reason = sentenceOf(toWireError(error).message);
  return seat.hive.unreadAnswers.keep({ from: placeOf(seat), params, reason, sender_told });
}

function keepPart(params: unknown, seat: DeskConnection, ignored: readonly string[]): Promise<void> {
  const names = ignored.map((name) => `"${name}"`).join(', ');
  return seat.hive.unreadAnswers.keep({
    from: placeOf(seat),
    params,
    reason: `Hive does not know what ${names} means in an answer.`,
    taken: true,
    sender_told: false,
  });
}

/** A message of ours without the code that it begins with, and without saying again that an answer was not taken. */
export function sentenceOf(message: string): string {
  const why = message.replace(/^\w+: /, '').replace(/^The answer to \S+ was not taken: /, '');
  const sentence = `${why.charAt(0).toUpperCase()}${why.slice(1)}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

async function untilStored(
  { hive }: DeskConnection,
  ended: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const retries = createRetries(hive.log, {
    fails: 'An answer that came as a notification cannot be stored and will be tried again.',
    works: 'The answer that came as a notification is stored.',
  });
  for (;;) {
    try {
      await work();
      retries.worked();
      return;
    } catch (error) {
      if (!isTransient(error) || ended.aborted) return logged({ hive })(error);
      await sleep(retries.failed(error), undefined, { signal: ended }).catch(() => undefined);
    }
  }
}

function logged({ hive }: Pick<DeskConnection, 'hive'>): (error: unknown) => void {
  return (error) => hive.log.error('An answer could be neither taken nor kept.', { error: String(error) });
}
