/**
 * Answers as they arrive, by request or by notification. One that cannot be accepted is kept (unread-answers.ts),
 * because its sender may learn of that too late or, for a notification, never.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRetries } from '../../application/retries.ts';
import { isTransient } from '../../domain/errors.ts';
import { toWireError } from '../errors.ts';
import { type DeskConnection, ignoredIn } from './desk-connection.ts';
import { originOf, promptMethods } from './prompts.ts';

/** Takes an answer sent as a request. A refused one is kept as well, unless the sender can try again. */
export async function takeAnswer(params: unknown, connection: DeskConnection): Promise<object | null> {
  try {
    return await promptMethods['hivemind-response'](params, connection);
  } catch (error) {
    // When it cannot be kept either, the sender still gets the first error.
    if (!isTransient(error))
      await keepAnswer(params, connection, { error, sender_told: true }).catch(logged(connection));
    throw error;
  }
}

/** Takes an answer sent as a notification. Its sender does not retry, so this does, until `ended`. */
export async function hearAnswer(
  params: unknown,
  connection: DeskConnection,
  ended: AbortSignal,
): Promise<void> {
  await untilStored(connection, ended, async () => {
    try {
      const ignored = ignoredIn(await promptMethods['hivemind-response'](params, connection));
      if (ignored.length > 0) await keepPart(params, connection, ignored);
    } catch (error) {
      if (isTransient(error)) throw error;
      await keepAnswer(params, connection, { error, sender_told: false });
    }
  });
}

/** Keeps an answer that is not even a valid message. */
export async function keepMalformed(
  params: unknown,
  connection: DeskConnection,
  { reason, sender_told, ended }: { reason: string; sender_told: boolean; ended: AbortSignal },
): Promise<void> {
  const answer = { from: originOf(connection), params, reason, sender_told };
  await untilStored(connection, ended, () => connection.hive.unreadAnswers.keep(answer));
}

function keepAnswer(
  params: unknown,
  connection: DeskConnection,
  { error, sender_told }: { error: unknown; sender_told: boolean },
): Promise<void> {
  const reason = sentenceOf(toWireError(error).message);
  return connection.hive.unreadAnswers.keep({ from: originOf(connection), params, reason, sender_told });
}

function keepPart(params: unknown, connection: DeskConnection, ignored: readonly string[]): Promise<void> {
  const names = ignored.map((name) => `"${name}"`).join(', ');
  return connection.hive.unreadAnswers.keep({
    from: originOf(connection),
    params,
    reason: `Hive does not know what ${names} means in an answer.`,
    taken: true,
    sender_told: false,
  });
}

/** One of our errors without its leading code, and without repeating that an answer was not accepted. */
export function sentenceOf(message: string): string {
  const why = message.replace(/^\w+: /, '').replace(/^The answer to \S+ was not accepted: /, '');
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
  return (error) => hive.log.error('An answer could be neither stored nor kept.', { error: String(error) });
}
