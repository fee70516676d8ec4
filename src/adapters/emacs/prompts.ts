/**
 * Prompts over JSON-RPC: listing them, taking the human's answers, by request or by notification, and notifying Emacs of what
 * has changed. `takes` checks the parameters of a method with their schema, and `acts` also refuses agents (method.ts). In Emacs,
 * elisp/hive-model.el receives the notifications, and elisp/hive-outbox.el sends the answers.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { createRetries } from '../../application/background.ts';
import type { DeviceSignature } from '../../application/prompts.ts';
import { HiveError, isTransient } from '../../domain/errors.ts';
import { concerns, isFor, namesOf } from '../../domain/humans.ts';
import { NO_BUS } from '../../domain/popups.ts';
import { PROMPT_LIMITS, type Prompt } from '../../domain/prompts.ts';
import {
  actParams,
  amendParams,
  listParams,
  promptRef,
  responseParams,
  snoozeParams,
} from '../../schemas/prompts.ts';
import { toWireError } from '../errors.ts';
import { FRAME_BYTES, fitFrame, fitPage, fitted, listed } from './frames.ts';
import {
  acts,
  type DeskConnection,
  described,
  type EventNotifier,
  humanAt,
  ignoredIn,
  type Methods,
  subjectsOf,
  takes,
} from './method.ts';

const DEFAULT_PAGE = 200;
const TRAIL = 200;
const TRAIL_BYTES = 64 * 1024;

/** The id of an answer without one, made from its origin and content: sent again, it is the same answer. */
function responseIdOf(
  answer: Omit<z.infer<typeof responseParams>, 'by'>,
  by: string,
  connection: DeskConnection,
): string {
  const { ask_id, decision, selected, comment } = answer;
  const said = [originOf(connection), ask_id, decision ?? null, selected ?? null, comment ?? null, by];
  const digest = createHash('sha256').update(JSON.stringify(said)).digest('hex');
  return `response-${digest.slice(0, 32)}`;
}

/** The origin of an answer: the desk, or machine, user and process before the handshake. */
function originOf({ desk, seat, pid }: DeskConnection): string {
  return desk === null ? `${seat} ${pid}` : desk.desk_id;
}

/** `mine`: whether the prompt concerns the human of this desk. */
function mineAt(connection: Pick<DeskConnection, 'human' | 'seat'>, prompt: Prompt): { mine: boolean } {
  return { mine: isFor(prompt, namesOf(connection)) };
}

/** Settles a prompt with an answer, which was sent as a request or as a notification. */
const respond = acts(
  responseParams,
  `Answers a question. \`selected\` wins over \`decision\`, which has at most ${PROMPT_LIMITS.decision} characters; one of them is required. A second answer gets \`accepted: false\` and the winner. A frame sent again under its \`response_id\` is the same answer. Without a \`response_id\` the sidecar makes one from this desk and the content, so a repeated frame is one answer too. \`by\` defaults to the human of this desk. Accepted as a notification too. An answer that cannot be accepted is refused, kept, and announced by \`desk/notice\` with \`notice: "unread_answer"\` and what was \`sent\`.`,
  async ({ by: given, responded_at, signature, ...answer }, connection) => {
    const by = given ?? connection.human;
    const response_id = answer.response_id ?? responseIdOf(answer, by, connection);
    const signed = signedBy(connection, { responded_at, signature });
    const command = { ...answer, response_id, actor: humanAt(connection, by), ...signed };
    const { outcome, prompt } = await connection.hive.prompts.respond(command);
    const current = prompt.status === 'responded' ? prompt : prompt.late_response;
    return {
      ask_id: prompt.ask_id,
      accepted: outcome === 'accepted',
      late: outcome === 'late',
      status: prompt.status,
      agent: prompt.agent,
      agent_title: prompt.agent_title,
      decision: current?.decision ?? null,
      by: current?.by ?? null,
      via: current?.via ?? null,
      attested: current?.attested ?? null,
      responded_at: current?.responded_at ?? null,
    };
  },
);

/** The signature of a device. Emacs sends none: its sidecar signs. */
function signedBy(
  { device, hive }: DeskConnection,
  { responded_at, signature }: Pick<z.infer<typeof responseParams>, 'responded_at' | 'signature'>,
): { signed?: DeviceSignature } {
  if (device === null) return {};
  if (responded_at === undefined || signature === undefined)
    throw new HiveError('not_allowed', 'A device signs its answers: responded_at and signature are missing.');
  const { key } = device;
  return { signed: { key, may_allow: hive.seats.counts(key), responded_at, signature } };
}

/**
 * Takes an answer sent as a request. A refused one is kept as well, unless the sender can try again. A device keeps and shows
 * its own refused answers, so a forged one cannot fill the human's list.
 */
async function handleResponse(params: unknown, connection: DeskConnection): Promise<object | null> {
  try {
    return await respond(params, connection);
  } catch (error) {
    // When it cannot be kept either, the sender still gets the first error.
    if (connection.device === null && !isTransient(error))
      await keepAnswer(params, connection, { error, sender_told: true }).catch(logged(connection));
    throw error;
  }
}

export const promptMethods = {
  'hivemind-response': described(respond.params, respond.says, handleResponse),

  'prompt/list': takes(
    listParams,
    'Returns prompts, 200 per page by default (`limit`), and their total number. `mine` says whether a prompt concerns the human of this desk. A long context is cut; `prompt/get` returns it in full.',
    async ({ limit = DEFAULT_PAGE, cursor, ...filter }, connection) => {
      const { hive } = connection;
      const page = await fitPage(
        (size, from) => hive.prompts.list({ ...filter, limit: size, cursor: from }),
        (prompt) => ({ ...listed(prompt), ...mineAt(connection, prompt) }),
        limit,
        cursor,
      );
      const total = await hive.prompts.count(filter);
      return { prompts: page.items, next_cursor: page.next_cursor, total };
    },
  ),

  'prompt/get': takes(
    promptRef,
    'Returns one prompt in full, with at most 200 of its events. `changed_files` has the files on this machine that a pending permission shows as diffs and that were written since.',
    async ({ ask_id }, connection) => {
      const { hive } = connection;
      const prompt = await hive.prompts.get(ask_id);
      // In a terminal without a desktop, every question would otherwise list the popup that could not be shown.
      const events = (await hive.history.eventsOf(ask_id, TRAIL)).filter(
        ({ data }) => data['reason'] !== NO_BUS,
      );
      const trail = fitted(
        events.map(({ seq, at, type, data }) => ({ seq, at, type, data })),
        TRAIL_BYTES,
      );
      const shown = {
        ...fitFrame(prompt, FRAME_BYTES - TRAIL_BYTES),
        ...mineAt(connection, prompt),
        // A device computes the digest of what it displays itself, so it need not trust the server.
        ...(connection.device !== null && { fingerprint: prompt.fingerprint }),
      };
      const changed_files = await hive.edits.changedSince(prompt);
      return { prompt: shown, events: trail, changed_files };
    },
  ),

  'prompt/cancel': acts(
    actParams,
    'Cancels a question. It then carries no decision.',
    async ({ ask_id, by }, connection) => {
      const actor = humanAt(connection, by);
      const { accepted, prompt } = await connection.hive.prompts.cancel(ask_id, actor, 'human');
      return { accepted, prompt: { ...fitFrame(prompt), ...mineAt(connection, prompt) } };
    },
  ),

  'prompt/amend': acts(
    amendParams,
    'Corrects an answer of this human until it is handed to the agent. Each correction has its own `response_id`.',
    async ({ by, responded_at, signature, ...answer }, connection) => {
      const actor = humanAt(connection, by);
      const signed = signedBy(connection, { responded_at, signature });
      const prompt = await connection.hive.prompts.amend({ ...answer, actor, ...signed });
      return { accepted: true, prompt: { ...fitFrame(prompt), ...mineAt(connection, prompt) } };
    },
  ),

  'prompt/seen': takes(
    promptRef,
    'Records that the human has opened the question.',
    async (params, { hive }) => {
      const { seen_at } = await hive.prompts.mark(params.ask_id, 'seen');
      return { seen_at };
    },
  ),

  'prompt/snooze': takes(
    snoozeParams,
    'Snoozes the question until the given time; null ends the snooze.',
    async ({ ask_id, until }, connection) => {
      const prompt = await connection.hive.prompts.snooze(ask_id, until);
      return { prompt: { ...fitFrame(prompt), ...mineAt(connection, prompt) } };
    },
  ),

  'prompt/claim': takes(
    actParams,
    'Claims the question for this desk. The claim lasts as long as the desk.',
    async ({ ask_id, by }, { hive, desk }) => {
      const { accepted, prompt } = await hive.claims.claim(ask_id, { by, desk_id: deskIdOf(desk) });
      return { accepted, claimed_by: prompt.claimed_by, claimed_at: prompt.claimed_at };
    },
  ),

  'prompt/release': takes(promptRef, 'Releases a claim of this desk.', async (params, { hive, desk }) => {
    const { released, prompt } = await hive.claims.release(params.ask_id, deskIdOf(desk));
    return { released, claimed_by: prompt.claimed_by, claimed_at: prompt.claimed_at };
  }),
} satisfies Methods;

/** The desk that will own a claim: the claim lasts as long as the desk. */
function deskIdOf(desk: DeskConnection['desk']): string {
  if (desk === null) throw new HiveError('invalid_input', 'Send initialize first: there is no desk yet.');
  return desk.desk_id;
}

/** Receipts that Emacs itself caused, or that no list shows. */
const NOT_SENT: ReadonlySet<string> = new Set(['prompt/offered', 'prompt/popup']);

/** A new prompt that is still pending is `hivemind-ask`; everything else about a prompt is `prompt/changed`. */
export const notifyPrompts: EventNotifier = async (events, { hive, desk, ...identity }, notify) => {
  const created = new Set(subjectsOf(events, (type) => type === 'prompt/created'));
  const escalated = new Set(subjectsOf(events, (type) => type === 'prompt/escalated'));
  for (const ask_id of subjectsOf(events, (type) => type.startsWith('prompt/') && !NOT_SENT.has(type))) {
    const found = await hive.prompts.find(ask_id);
    if (found === undefined) continue;
    const { prompt, now } = found;
    const isNew = created.has(ask_id) && prompt.status === 'pending';
    // Prompts for somebody else are sent too, so that this human can help, but they do not count as offered here.
    const offers =
      (isNew || escalated.has(ask_id)) && desk !== null && concerns(prompt, namesOf(identity), now);
    notify(
      isNew ? 'hivemind-ask' : 'prompt/changed',
      { ...listed(prompt), ...mineAt(identity, prompt) },
      offers ? () => hive.prompts.mark(ask_id, 'offered') : undefined,
    );
  }
};

// ---- Answers as notifications, and answers that cannot be accepted ----
// An answer that cannot be accepted is kept (unread-answers.ts): its sender may notice too late or, after a notification, never.

/** Takes an answer sent as a notification. Its sender does not retry, so this does, until `ended`. */
export async function receiveResponse(
  params: unknown,
  connection: DeskConnection,
  ended: AbortSignal,
): Promise<void> {
  await untilStored(connection, ended, async () => {
    try {
      const ignored = ignoredIn(await respond(params, connection));
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

async function keepAnswer(
  params: unknown,
  connection: DeskConnection,
  { error, sender_told }: { error: unknown; sender_told: boolean },
): Promise<void> {
  const reason = sentenceOf(toWireError(error).message);
  await connection.hive.unreadAnswers.keep({ from: originOf(connection), params, reason, sender_told });
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

/** The sentence of one of our errors, without its leading code and without repeating that an answer was not accepted. */
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
