/** How an answer comes back: hivemind_poll. What is handed over counts as read with the next call, so no more is handed than a client passes on. */
import type { Delivered } from '../../application/delivery.ts';
import { HiveError } from '../../domain/errors.ts';
import type { Prompt } from '../../domain/prompts.ts';
import { pollShape } from '../../schemas/prompts.ts';
import { fittingCount } from '../fitting.ts';
import { promptView } from './prompt-view.ts';
import { RESULT_BYTES, sentences } from './result.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';

type View = Record<string, unknown>;

const poll = tool({
  name: 'hivemind_poll',
  title: 'Look for answers',
  description:
    'Look whether your human has answered: one question (ask_id), several (ask_ids), or without an id everything of yours that is open, what is settled first. wait_ms waits up to 25 s for an answer. Polling changes nothing and may be repeated.',
  input: pollShape,
  narrowing: ['ask_id', 'ask_ids'],
  readOnly: true,
  async handle({ ask_id, ask_ids, wait_ms = 0 }, call) {
    if (ask_id !== undefined && ask_ids !== undefined) {
      throw new HiveError('invalid_input', 'Give ask_id or ask_ids, not both.');
    }
    if (ask_id !== undefined) return pollOne(ask_id, wait_ms, call);
    return ask_ids === undefined ? pollOpen(wait_ms, call) : pollNamed(ask_ids, wait_ms, call);
  },
});

async function pollOne(ask_id: string, wait_ms: number, call: ToolCall): Promise<View> {
  const prompts = await call.hive.prompts.wait([ask_id], { wait_ms, signal: call.signal });
  const [view] = await handedViews(prompts, call);
  return { ...view };
}

async function pollNamed(ask_ids: readonly string[], wait_ms: number, call: ToolCall): Promise<View> {
  const ids = [...new Set(ask_ids)];
  const found = await call.hive.prompts.wait(ids, { wait_ms, signal: call.signal });
  const fitting = thatFit(found);
  const prompts = await handedViews(fitting, call);
  const left_out = found.slice(fitting.length).map(({ ask_id }) => ask_id);
  const rest =
    left_out.length === 0
      ? null
      : `The others do not fit into one result; nothing of them is lost: poll them with {"ask_ids": ${JSON.stringify(left_out.slice(0, 3))}}${left_out.length > 3 ? ', and so on through left_out' : ''}.`;
  return {
    prompts,
    ...(left_out.length === 0 ? {} : { left_out }),
    next: sentences(tally(countOf(found)), rest, call.advice),
  };
}

async function pollOpen(wait_ms: number, call: ToolCall): Promise<View> {
  const { session, signal } = call;
  const open = await call.hive.prompts.waitForOpen(session.session_id, { wait_ms, signal });
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
  return `${settled} settled, ${pending} pending; each says what to do next.`;
}

/** The first of these that a client passes on to its model whole, measured as they will stand once they are handed over; at least one. */
function thatFit(prompts: readonly Prompt[]): readonly Prompt[] {
  const views = prompts.map((prompt) =>
    promptView({ prompt: { ...prompt, handed_at: prompt.created_at }, repeated: true }),
  );
  return prompts.slice(0, fittingCount(views, RESULT_BYTES));
}

/** Hands over what is settled among them. What was pending when it was looked at stays so: it was measured so. */
async function handedViews(prompts: readonly Prompt[], { hand }: ToolCall): Promise<View[]> {
  const settled = prompts.filter(({ status }) => status !== 'pending').map(({ ask_id }) => ask_id);
  const handed = settled.length === 0 ? [] : await hand(settled);
  const delivered = new Map(handed.map((one) => [one.prompt.ask_id, one]));
  return prompts.map((prompt) => deliveredView(delivered.get(prompt.ask_id) ?? { prompt, repeated: false }));
}

/** A prompt for its asker, whole: an answer that some client may cut says first how it is read otherwise. */
export function deliveredView(delivered: Delivered): View {
  const view = promptView(delivered);
  const bytes = Buffer.byteLength(JSON.stringify(view));
  if (bytes <= RESULT_BYTES) return view;
  const { next, ...rest } = view;
  const long = `This answer is long (${Math.ceil(bytes / 1024)} KB). If your client shows it cut, read it in a shell: hive poll ${delivered.prompt.ask_id} --json > FILE.`;
  return { next: `${long} ${String(next)}`, ...rest };
}

export const pollTools: readonly Tool[] = [poll];
