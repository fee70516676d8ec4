/**
 * Prompts over MCP: asking, polling for the answer, taking a question back, and the asker's view of a prompt.
 * When `handle` of a `tool` runs, its arguments are checked and its caller is known (server.ts).
 */
import type { Delivered } from '../../application/delivery.ts';
import type { Asked } from '../../application/prompts.ts';
import { HiveError } from '../../domain/errors.ts';
import { countThatFits, LONGEST_WAIT_MS } from '../../domain/limits.ts';
import {
  type AskRequest,
  againstNotes,
  BLOCKING_DEFAULT_MS,
  type Prompt,
  unattestedText,
} from '../../domain/prompts.ts';
import { excerpt } from '../../domain/text.ts';
import { wakeSentence } from '../../domain/wakes.ts';
import { askId, askShape, blockingAskShape, noteShape, pollShape } from '../../schemas/prompts.ts';
import { keepingAlive, RESULT_BYTES, sentences, type Tool, type ToolCall, tool } from './tool.ts';

// ---- The asker's view ----
// A prompt's status, the answer if there is one, and what to do next.

/** When to poll again, in ms: soon after a recent question, later after an old one. */
function retryAfterMs(prompt: Prompt): number {
  const age = Date.now() - Date.parse(prompt.created_at);
  return age < 60_000 ? 5_000 : age < 10 * 60_000 ? 15_000 : 60_000;
}

const always = (): boolean => true;
const pending = ({ status }: Prompt): boolean => status === 'pending';
const settled = ({ status }: Prompt): boolean => status !== 'pending';
const responded = ({ status }: Prompt): boolean => status === 'responded';
const noted = ({ notes }: Prompt): boolean => notes.length > 0;
const addressed = ({ to }: Prompt): boolean => to !== null;

/** Whether there were no options, or the decision names exactly the chosen ones. */
const saidByDecision = ({ options, selected, decision }: Prompt): boolean =>
  options.length === 0 || (selected?.length === 1 && selected[0] === decision);

/** The fields of a prompt that are shown unchanged, each with when. All others are for people, for desks, or internal. */
type View = Readonly<Partial<Record<keyof Prompt, (prompt: Prompt) => boolean>>>;

/** The view of the asker, which begins with the id, the status and the question, cut short. It wrote most other fields itself. */
const TO_ASKER: View = {
  decision: responded,
  selected: (prompt) => responded(prompt) && !saidByDecision(prompt),
  comment: responded,
  amended: ({ amended }) => amended,
  // A signed answer needs no comment.
  attested: (prompt) => responded(prompt) && !prompt.attested,
  expires_at: pending,
  by: settled,
  via: settled,
  cancel_reason: ({ status }) => status === 'cancelled',
  notes: noted,
  to: addressed,
  escalates_at: addressed,
  escalated_at: addressed,
  claimed_by: (prompt) => pending(prompt) && prompt.claimed_by !== null,
  late_response: always,
  // Whether somebody has opened it helps to decide when to poll again; the other receipts are for people.
  seen_at: pending,
  responded_at: always,
};

/** The view of a coordinator who may answer it. */
const TO_ANSWERER: View = {
  // A coordinator answers first what holds an agent up.
  blocked_since: ({ blocked_since }) => blocked_since !== null,
  ask_id: always,
  agent: always,
  project: always,
  kind: always,
  urgency: always,
  header: always,
  question: always,
  context: always,
  options: always,
  notes: noted,
  multi_select: always,
  allow_free_text: always,
  created_at: always,
  to: addressed,
};

function shown(view: View, prompt: Prompt): Partial<Prompt> {
  const fields = Object.entries(view).filter(([, isShown]) => isShown(prompt));
  return Object.fromEntries(fields.map(([field]) => [field, prompt[field as keyof Prompt]]));
}

/** A question as seen by a coordinator who may answer it. */
export function questionView(prompt: Prompt): Record<string, unknown> {
  return shown(TO_ANSWERER, prompt);
}

/** In characters: enough for the asker to recognize its question. */
const LONGEST_QUESTION = 100;

/** The fields that describe a prompt's state to its asker. */
export function promptView({ prompt, repeated }: Delivered): Record<string, unknown> {
  const { ask_id, status } = prompt;
  const question = excerpt(prompt.question, LONGEST_QUESTION);
  return {
    ask_id,
    status,
    question,
    ...(pending(prompt) ? { retry_after_ms: retryAfterMs(prompt) } : {}),
    ...shown(TO_ASKER, prompt),
    ...(repeated ? { repeated } : {}),
    next: nextStep(prompt),
  };
}

function nextStep(prompt: Prompt): string {
  const { late_response } = prompt;
  if (late_response !== null) {
    const late = `The question had ${prompt.status === 'expired' ? 'expired' : 'been cancelled'}; ${late_response.by} answered late: see late_response.`;
    return prompt.kind === 'permission' && !late_response.attested
      ? `${late} ${unattestedText(prompt.kind)}`
      : `${late} Act on it if it is still useful.`;
  }
  switch (prompt.status) {
    case 'responded':
      return `${prompt.by} answered.${actOn(prompt)}${againstNotes(prompt)}`;
    case 'expired':
      return 'Nobody answered in time. That is no decision: choose the safe way, or ask again.';
    case 'cancelled':
      return 'The question was taken back. That is no decision, and no refusal.';
    default:
      return `No answer yet${prompt.claimed_by === null ? '' : `, but ${prompt.claimed_by} is answering it`}. Go on with other work and poll again later; with wait_ms ${LONGEST_WAIT_MS} if you can do nothing else.`;
  }
}

function actOn({ kind, attested }: Prompt): string {
  if (attested) return ' Act on it.';
  return ` ${unattestedText(kind)}${kind === 'permission' ? '' : ' Act on it.'}`;
}

// ---- Polling ----
// An answer that was handed over counts as read at the next call, so a poll hands over only what a client passes to its model.

type Result = Record<string, unknown>;

const poll = tool({
  name: 'hivemind_poll',
  title: 'Check for answers',
  description:
    'Check for the answer to one question, to several, or, without an id, to all that are open. wait_ms waits up to 25 s. Polling changes nothing.',
  example: {},
  always: true,
  input: pollShape,
  narrowing: ['ask_id', 'ask_ids'],
  effect: 'none',
  async handle({ ask_id, ask_ids, wait_ms = 0 }, call) {
    if (ask_id !== undefined && ask_ids !== undefined) {
      const all = JSON.stringify({ ask_ids: [...new Set([ask_id, ...ask_ids])] });
      throw new HiveError('invalid_input', `Give ask_id or ask_ids, not both: call hivemind_poll ${all}.`);
    }
    if (ask_id !== undefined) {
      const [view] = await handedViews(await call.hive.prompts.wait([ask_id], waiting(wait_ms, call)), call);
      return { ...view };
    }
    return ask_ids === undefined ? pollOpen(wait_ms, call) : pollNamed(ask_ids, wait_ms, call);
  },
});

/** The calling agent does nothing else until the call returns. */
const waiting = (wait_ms: number, { session, signal, owned_ms, waits }: ToolCall) => ({
  wait_ms: Math.min(wait_ms, owned_ms),
  signal,
  waiter: session.session_id,
  onWait: waits,
});

async function pollNamed(ask_ids: readonly string[], wait_ms: number, call: ToolCall): Promise<Result> {
  const ids = [...new Set(ask_ids)];
  const found = await call.hive.prompts.wait(ids, waiting(wait_ms, call));
  const fitting = thatFit(found);
  const prompts = await handedViews(fitting, call);
  const left_out = found.slice(fitting.length).map(({ ask_id }) => ask_id);
  const rest =
    left_out.length === 0
      ? null
      : `The others do not fit into one result; none is lost: poll them with {"ask_ids": ${JSON.stringify(left_out.slice(0, 3))}}${left_out.length > 3 ? ', and so on through left_out' : ''}.`;
  return {
    prompts,
    ...(left_out.length === 0 ? {} : { left_out }),
    next: sentences(tally(countOf(found)), rest, call.advice),
  };
}

async function pollOpen(wait_ms: number, call: ToolCall): Promise<Result> {
  const { session_id } = call.session;
  const open = await call.hive.prompts.waitForOpen(session_id, waiting(wait_ms, call));
  const fitting = thatFit(open.prompts);
  const shown = countOf(fitting);
  const more = { settled: open.settled - shown.settled, pending: open.pending - shown.pending };
  const prompts = await handedViews(fitting, call);
  return {
    prompts,
    ...(more.settled + more.pending === 0 ? {} : { more }),
    next: sentences(
      open.prompts.length === 0 ? 'You have no open question.' : tally(open),
      more.settled === 0
        ? null
        : `${more.settled} more settled, which did not fit into one result: when you have read these, call hivemind_poll again for the next.`,
      more.pending === 0 ? null : `${more.pending} of the pending are only counted: poll one by its ask_id.`,
      call.advice,
    ),
  };
}

interface Count {
  settled: number;
  pending: number;
}

function countOf(prompts: readonly Prompt[]): Count {
  const pending = prompts.filter(({ status }) => status === 'pending').length;
  return { settled: prompts.length - pending, pending };
}

function tally({ settled, pending }: Count): string {
  return `${settled} settled, ${pending} pending.`;
}

/** The first of these that a client passes on whole, with the fields they will have once handed over; at least one. */
function thatFit(prompts: readonly Prompt[]): readonly Prompt[] {
  const views = prompts.map((prompt) =>
    promptView({ prompt: { ...prompt, handed_at: prompt.created_at }, repeated: true }),
  );
  return prompts.slice(0, countThatFits(views, RESULT_BYTES));
}

/** Hands over the settled ones. One that was pending when it was read is returned as pending: its size was measured as such. */
async function handedViews(prompts: readonly Prompt[], { hand }: ToolCall): Promise<Result[]> {
  const settled = prompts.filter(({ status }) => status !== 'pending').map(({ ask_id }) => ask_id);
  const handed = settled.length === 0 ? [] : await hand(settled);
  const delivered = new Map(handed.map((one) => [one.prompt.ask_id, one]));
  return prompts.map((prompt) => deliveredView(delivered.get(prompt.ask_id) ?? { prompt, repeated: false }));
}

/** A whole prompt for its asker. An answer that some client may cut comes after a note on how else to read it. */
function deliveredView(delivered: Delivered): Result {
  const view = promptView(delivered);
  const bytes = Buffer.byteLength(JSON.stringify(view));
  if (bytes <= RESULT_BYTES) return view;
  const { next, ...rest } = view;
  const long = `This answer is long (${Math.ceil(bytes / 1024)} KB). If your client shows it cut, read it in a shell: hive poll ${delivered.prompt.ask_id} --json > FILE.`;
  return { next: `${long} ${String(next)}`, ...rest };
}

const askAsync = tool({
  name: 'hivemind_ask_async',
  title: 'Ask the human',
  description:
    'Ask your human. Returns an ask_id at once: continue with other work and check with hivemind_poll.',
  example: { question: 'Which one?', options: ['this', 'that'] },
  always: true,
  input: askShape,
  claim: 'context',
  effect: 'speaks',
  async handle({ wait_ms = 0, ...request }, call) {
    // No longer than the client lets a call run; the agent can poll for the rest of the time.
    if (wait_ms > 0) return askAndWait(request, wait_ms, call.longest_wait_ms, call);
    const asked = await call.hive.prompts.ask(request, call.session, call.turn_id);
    const { prompt, existing, desks_online } = asked;
    const { ask_id, status, expires_at, agent, to, escalates_at } = prompt;
    return {
      ask_id,
      status,
      expires_at,
      desks_online,
      agent,
      ...(to === null ? {} : { to, escalates_at }),
      ...(existing ? { existing } : {}),
      next: afterAsking(asked, call),
    };
  },
});

/** Asks and waits. In a run (hive run) the hook before this call may have asked already, and had an answer. */
async function askAndWait(
  request: AskRequest,
  wait_ms: number,
  most_ms: number,
  call: ToolCall,
): Promise<Result> {
  const run = await call.ofRun();
  const wait = { wait_ms, most_ms };
  if (run !== null && run.ask_id !== null) return waitForAnswer(run.ask_id, wait, call);
  const { prompt } = await call.hive.prompts.ask(request, call.session, call.turn_id);
  if (run === null || wait_ms <= run.patience_ms) return waitForAnswer(prompt.ask_id, wait, call);
  // This call could not be deferred, but the run continues an agent that ends its turn.
  const patience_ms = Math.min(run.patience_ms, call.longest_wait_ms);
  return waitForAnswer(prompt.ask_id, { wait_ms: patience_ms, most_ms }, call, END_YOUR_TURN);
}

const END_YOUR_TURN =
  'Do what does not depend on it, then end your turn: you are started again when there is an answer. Do not wait or poll for it.';

/**
 * The answer, if it comes in time. The time limit applies only to the waiting: the question itself stays open (invariant 3).
 * The call waits for `most_ms` at most. `without` is the sentence for a wait without an answer.
 */
async function waitForAnswer(
  ask_id: string,
  { wait_ms: asked_ms, most_ms }: { wait_ms: number; most_ms: number },
  call: ToolCall,
  without?: string,
): Promise<Result> {
  const { hive, signal } = call;
  const wait_ms = Math.min(asked_ms, most_ms);
  const [waited] = await keepingAlive(call, `${ask_id} is still waiting for an answer.`, () =>
    hive.prompts.wait([ask_id], waiting(wait_ms, call)),
  );
  if (waited === undefined || waited.status === 'pending') {
    const timed_out = !signal.aborted && wait_ms === asked_ms;
    const ended = timed_out
      ? `No answer within ${wait_ms} ms`
      : signal.aborted
        ? 'The wait was cut short'
        : `No answer within ${wait_ms} ms, and this call could not wait longer`;
    const check = timed_out
      ? `check with hivemind_poll {"ask_id": "${ask_id}"}.`
      : `go on waiting with hivemind_poll {"ask_id": "${ask_id}", "wait_ms": ${LONGEST_WAIT_MS}}.`;
    const next = `${ended}. The question stays open${without === undefined ? `: ${check}` : `. ${without}`}`;
    return { ask_id, status: 'pending', timed_out, next };
  }
  const [delivered] = await call.hand([ask_id]);
  return delivered === undefined ? {} : deliveredView(delivered);
}

function afterAsking({ prompt, existing, desks_online }: Asked, { advice }: ToolCall): string {
  const asked = existing
    ? `This was asked before and stays as it was asked then; its status is ${prompt.status}.`
    : desks_online > 0
      ? 'Asked.'
      : prompt.to === null
        ? 'Asked; no desk is online, so the question waits in the store.'
        : `Asked; nobody reached by "${prompt.to}" is at a desk, so the question waits in the store${prompt.escalates_at === null ? '' : `, and goes to everybody at ${prompt.escalates_at}`}.`;
  return sentences(asked, 'Continue with other work; check with hivemind_poll.', advice);
}

const note = tool({
  name: 'hivemind_note',
  title: 'Add a note to a question',
  description:
    'Add what you have learned since to a pending question of yours, such as what makes one option cheaper. Your human sees it below the question.',
  example: { ask_id: 'ask-…', note: 'The tests are green now.' },
  input: noteShape,
  effect: 'speaks',
  async handle({ ask_id, note }, { hive, session }) {
    const { accepted, prompt } = await hive.prompts.note(ask_id, note, session);
    const next = accepted
      ? 'Added; your human sees it below the question. Go on.'
      : `Not added: the question is ${prompt.status}. See hivemind_poll.`;
    return { ask_id, accepted, status: prompt.status, next };
  },
});

const cancel = tool({
  name: 'hivemind_cancel',
  title: 'Take a question back',
  description: 'Take back a question of yours that no longer matters, so that your human need not answer it.',
  example: { ask_id: 'ask-…' },
  input: { ask_id: askId },
  effect: 'speaks',
  async handle({ ask_id }, { hive, session }) {
    const actor = await hive.sessions.actor(session, 'mcp');
    const { accepted, prompt } = await hive.prompts.cancel(ask_id, actor, 'withdrawn');
    const next = accepted
      ? 'Taken back. Go on.'
      : `Nothing to take back: it is ${prompt.status}. See hivemind_poll.`;
    return { ask_id, accepted, status: prompt.status, next };
  },
});

const ask = tool({
  name: 'hivemind_ask',
  title: 'Ask the human and wait',
  description:
    'Ask your human and wait for the answer. You can do nothing else until then: hivemind_ask_async asks without waiting, and has all arguments, which work here too. If the call dies, the question stays open: poll its ask_id.',
  example: { question: 'Which one?', options: ['this', 'that'] },
  input: blockingAskShape,
  claim: 'context',
  // The other arguments have their schema in hivemind_ask_async.
  shown: { question: blockingAskShape.question, timeout_ms: blockingAskShape.timeout_ms },
  effect: 'speaks',
  async handle({ timeout_ms = BLOCKING_DEFAULT_MS, ...request }, call) {
    return askAndWait(request, timeout_ms, call.owned_ms, call);
  },
  waiting: {
    async begin({ timeout_ms: _, ...request }, { hive, session, turn_id }) {
      return (await hive.prompts.ask(request, session, turn_id)).prompt.ask_id;
    },
    async look(id, { hive }) {
      if (!id.startsWith('ask-')) return undefined;
      const { status, created_at, settled_at } = await hive.prompts.get(id);
      const times = { created_at, updated_at: settled_at ?? created_at };
      if (status === 'pending') return { ...times, next: null };
      const next = `${id} is ${status}: call hivemind_poll {"ask_id": "${id}"}.`;
      return { ...times, next: status === 'responded' ? wakeSentence([id]) : next };
    },
  },
});

export const promptTools: readonly Tool[] = [askAsync, poll, note, cancel, ask];
