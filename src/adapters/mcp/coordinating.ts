/** The tools with which a coordinator finds the questions of other agents and answers them. */
import { z } from 'zod';
import { type AgentActor, refusalToAnswer } from '../../domain/actors.ts';
import { invalidInput } from '../../domain/errors.ts';
import { countThatFits } from '../../domain/limits.ts';
import type { Prompt } from '../../domain/prompts.ts';
import { askId, respondShape } from '../../schemas/prompts.ts';
import { questionView } from './prompts.ts';
import { keepingAlive, RESULT_BYTES, sentences, type Tool, type ToolCall, tool } from './tool.ts';

const DEFAULT_WAIT_MS = 60_000;
const MOST_WAIT_MS = 3_600_000;
const MOST_SHOWN = 20;
/** How many prompts are read at once. */
const PAGE = 100;
/** How many characters of a context are shown when not all contexts fit. */
const CONTEXT_SHOWN = 1_000;

const awaitAsk = tool({
  name: 'hivemind_await_ask',
  title: 'Wait for a question',
  description:
    'Coordinator: wait until another agent has a question open that you may answer, and get it. Waits up to timeout_ms (default 60000), or as long as your client allows; next says how to go on. Permissions are for the human alone and are never among them. With ask_id: that question, whole, without waiting.',
  example: { timeout_ms: DEFAULT_WAIT_MS },
  input: {
    timeout_ms: z
      .number()
      .int()
      .min(0)
      .max(MOST_WAIT_MS)
      .optional()
      .describe(`Wait at most this many ms. Default ${DEFAULT_WAIT_MS}.`),
    ask_id: askId.optional().describe('Only this question, with its whole context.'),
  },
  // Being read only, it lets Claude Code run the other calls of the same message while it waits.
  effect: 'none',
  async handle({ timeout_ms = DEFAULT_WAIT_MS, ask_id }, call) {
    const began = performance.now();
    const wait_ms = Math.min(timeout_ms, call.longest_wait_ms);
    const { signal } = call;
    const { actor, left_ms } = await admitted(call, wait_ms);
    if (ask_id !== undefined) return oneQuestion(ask_id, actor, call);
    const caller: Answerer = { actor, met: new Set() };
    const found = await keepingAlive(call, 'No agent has asked anything yet.', () =>
      call.hive.feed.until(
        async () => {
          const prompts = await answerable(caller, call);
          return prompts.length > 0 ? prompts : undefined;
        },
        { wait_ms: left_ms, signal },
      ),
    );
    if (found !== undefined) return questions(found);
    const waited_ms = signal.aborted ? Math.round(performance.now() - began) : wait_ms;
    return noQuestions(waited_ms, timeout_ms);
  },
  waiting: {
    async begin({ timeout_ms, ask_id }, { hive, session }) {
      const { coordinates } = await hive.sessions.actor(session, 'mcp');
      const waits = ask_id === undefined && timeout_ms !== 0 && coordinates !== undefined;
      return waits ? `await-${Math.round(performance.now())}` : null;
    },
    async look(id, { hive, session }) {
      const [, begun] = /^await-(\d{1,12})$/.exec(id) ?? [];
      if (begun === undefined) return undefined;
      const began = new Date(performance.timeOrigin + Number(begun)).toISOString();
      const actor = await hive.sessions.actor(session, 'mcp');
      const found = await answerable({ actor, met: new Set() }, { hive, session });
      return { created_at: began, updated_at: began, next: found.length > 0 ? ASKED : null };
    },
  },
});

const ASKED = 'Another agent asks something: call hivemind_await_ask {"timeout_ms": 0}.';

/** The caller as a coordinator, and how much of its time is left. Its human may have to be asked first. */
async function admitted(call: ToolCall, wait_ms: number): Promise<{ actor: AgentActor; left_ms: number }> {
  const { hive, session, signal } = call;
  const actor = await hive.sessions.actor(session, 'mcp');
  if (actor.coordinates !== undefined) return { actor, left_ms: wait_ms };
  const began = performance.now();
  const now = await keepingAlive(call, 'Your human was asked whether you may be a coordinator.', () =>
    hive.coordinators.admit(session, 'mcp', { wait_ms, signal }),
  );
  return { actor: now, left_ms: Math.max(0, wait_ms - Math.round(performance.now() - began)) };
}

/** `timed_out` only when the whole time has passed. */
function noQuestions(waited_ms: number, timeout_ms: number): Record<string, unknown> {
  const left_ms = Math.max(0, timeout_ms - waited_ms);
  const next =
    left_ms > 0
      ? `Nothing asked yet, and this call could not wait longer. Call again with timeout_ms ${left_ms} to go on waiting.`
      : 'Nothing was asked in that time. Call again to keep waiting.';
  return { prompts: [], timed_out: left_ms === 0, waited_ms, next };
}

/** The caller, which may wait for a long time; whose questions it may answer is checked again when another session asks. */
interface Answerer {
  actor: AgentActor;
  /** The sessions that have asked so far. */
  met: Set<string>;
}

/**
 * The first pending prompts that the caller may answer (invariant 9) and has not left to the human, most urgent first. Others do
 * not count towards the limit.
 */
async function answerable(
  caller: Answerer,
  { hive, session }: Pick<ToolCall, 'hive' | 'session'>,
): Promise<Prompt[]> {
  const found: Prompt[] = [];
  let cursor: string | null = null;
  do {
    const page = await hive.prompts.list({ status: 'waiting', limit: PAGE, cursor });
    const others = page.items.map(({ session_id }) => session_id).filter((id) => !caller.met.has(id));
    if (others.some((id) => caller.actor.coordinates?.includes(id) !== true))
      caller.actor = await hive.sessions.actor(session, 'mcp');
    for (const id of others) caller.met.add(id);
    const { actor } = caller;
    found.push(
      ...page.items.filter(
        (prompt) => refusalToAnswer(actor, prompt) === null && !prompt.left_by.includes(actor.session_id),
      ),
    );
    cursor = page.next_cursor;
  } while (cursor !== null && found.length < MOST_SHOWN);
  return found.slice(0, MOST_SHOWN);
}

async function oneQuestion(
  ask_id: string,
  actor: AgentActor,
  { hive }: ToolCall,
): Promise<Record<string, unknown>> {
  const prompt = await hive.prompts.get(ask_id);
  const refusal = refusalToAnswer(actor, prompt);
  if (prompt.status !== 'pending') return { prompts: [], next: `${ask_id} is ${prompt.status} already.` };
  if (refusal !== null) return { prompts: [], next: refusal };
  return { prompts: [questionView(prompt)], next: ANSWER };
}

const ANSWER =
  'Answer with hivemind_respond, or leave a question to the human: hivemind_respond {"ask_id": "ask-…", "leave": true}. Permissions are for the human alone.';

/** As many prompts as a client passes on in full; if not all fit, their contexts are cut first. */
function questions(found: readonly Prompt[]): Record<string, unknown> {
  const whole = found.map(questionView);
  const fits = countThatFits(whole, RESULT_BYTES) === whole.length && sizeOf(whole) <= RESULT_BYTES;
  const shown = fits ? whole : found.map(shortened);
  const prompts = shown.slice(0, countThatFits(shown, RESULT_BYTES));
  const cut = prompts.find((prompt) => 'context_cut' in prompt);
  return {
    prompts,
    next: sentences(
      ANSWER,
      cut === undefined
        ? null
        : `Where context_cut is true, get the whole question with hivemind_await_ask {"ask_id": "${String(cut['ask_id'])}"}.`,
      prompts.length === found.length
        ? null
        : `${found.length - prompts.length} more are pending: you get them when these are answered.`,
    ),
  };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function shortened(prompt: Prompt): Record<string, unknown> {
  const characters = Array.from(prompt.context ?? '');
  if (characters.length <= CONTEXT_SHOWN) return questionView(prompt);
  const context = `${characters.slice(0, CONTEXT_SHOWN).join('')}…`;
  return { ...questionView(prompt), context, context_cut: true };
}

const respond = tool({
  name: 'hivemind_respond',
  title: "Answer another agent's question",
  description:
    'Coordinator: answer a question of another agent, or leave it to the human. Never a permission, never your own, never one of a session you descend from.',
  example: { ask_id: 'ask-…', decision: 'yes' },
  input: respondShape,
  effect: 'decides',
  async handle({ ask_id, leave = false, ...answer }, call) {
    if (leave && Object.keys(answer).length > 0)
      throw invalidInput(
        `Answer the question, or leave it to the human, not both: call hivemind_respond {"ask_id": "${ask_id}", "leave": true}.`,
      );
    const { decision, selected = [] } = answer;
    if (decision !== undefined && selected.length > 0 && decision.trim() !== selected.join(', '))
      throw invalidInput(
        'Give decision or selected, not both: an option in selected, and what you add to it as comment. Nothing was stored.',
        { argument: 'decision' },
      );
    const actor = await call.hive.coordinators.admit(call.session, 'mcp', { wait_ms: 0 });
    if (leave) {
      const { status } = await call.hive.prompts.leave(ask_id, actor);
      const left = status === 'pending' ? 'Left to the human.' : `It is ${status} already.`;
      return { ask_id, status, next: `${left} Wait for others: hivemind_await_ask {}.` };
    }
    const { outcome, prompt } = await call.hive.prompts.respond({ ask_id, ...answer, actor });
    const next =
      outcome === 'accepted'
        ? 'Stored; the asker gets it.'
        : outcome === 'late'
          ? 'Kept as a late answer.'
          : `${prompt.by} was first; your answer is kept in the event log.`;
    return {
      ask_id,
      accepted: outcome === 'accepted',
      late: outcome === 'late',
      status: prompt.status,
      decision: prompt.decision,
      by: prompt.by,
      via: prompt.via,
      next,
    };
  },
});

export const coordinatorPromptTools: readonly Tool[] = [awaitAsk, respond];
