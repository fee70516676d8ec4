/** How an agent asks, and how the answer comes back: the tools of prompts. */
import { z } from 'zod';
import type { Asked } from '../../application/prompts.ts';
import { HiveError } from '../../domain/errors.ts';
import { LONGEST_WAIT_MS } from '../../domain/prompt-limits.ts';
import { askId, askShape, pollShape, respondShape } from '../../schemas/prompts.ts';
import { agentActor } from './agent.ts';
import { promptView } from './prompt-view.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';

/** A blocking ask lives this long unless told otherwise, as the tool it replaces did. */
const BLOCKING_DEFAULT_MS = 300_000;
/** Clients count a call dead that shows no sign of life for a minute or so. */
const PROGRESS_MS = 15_000;

const askAsync = tool({
  name: 'hivemind_ask_async',
  title: 'Ask the human',
  description:
    'Ask your human a question without stopping. Returns an ask_id at once; the human answers when it suits them. Go on with other work, and look for the answer with hivemind_poll.',
  input: askShape,
  readOnly: false,
  async handle(args, call) {
    const { prompt, existing, desks_online } = await call.hive.prompts.ask(args, call.session, call.turn_id);
    const { ask_id, status, created_at, expires_at, agent, to, escalates_at } = prompt;
    return {
      ask_id,
      status,
      created_at,
      expires_at,
      desks_online,
      agent,
      ...(to === null ? {} : { to, escalates_at }),
      ...(existing ? { existing } : {}),
      next: afterAsking({ prompt, existing, desks_online }, call),
    };
  },
});

function afterAsking({ prompt, existing, desks_online }: Asked, { advice }: ToolCall): string {
  const asked = existing
    ? `This was asked before and is ${prompt.status}.`
    : desks_online > 0
      ? 'Asked.'
      : prompt.to === null
        ? 'Asked; no desk is online, so the question waits in the store.'
        : `Asked; nobody whom "${prompt.to}" reaches is at a desk, so the question waits in the store${prompt.escalates_at === null ? '' : `, and goes to everybody at ${prompt.escalates_at}`}.`;
  return [asked, `Go on with other work; look with hivemind_poll {"ask_id": "${prompt.ask_id}"}.`, advice]
    .filter((part) => part !== null)
    .join(' ');
}

const poll = tool({
  name: 'hivemind_poll',
  title: 'Look for answers',
  description:
    'Look whether your human has answered: one question (ask_id), several (ask_ids), or without an id everything of yours that is open. wait_ms waits up to 25 s for an answer. Polling changes nothing and may be repeated.',
  input: pollShape,
  readOnly: true,
  async handle({ ask_id, ask_ids, wait_ms = 0 }, call) {
    if (ask_id !== undefined && ask_ids !== undefined) {
      throw new HiveError('invalid_input', 'Give ask_id or ask_ids, not both.');
    }
    if (ask_id !== undefined) {
      const [view] = await pollIds([ask_id], wait_ms, call);
      return { ...view };
    }
    const ids =
      ask_ids ?? (await call.hive.prompts.openOf(call.session.session_id)).map((prompt) => prompt.ask_id);
    const prompts = ids.length === 0 ? [] : await pollIds(ids, wait_ms, call);
    const open = prompts.filter((view) => view['status'] === 'pending').length;
    const next =
      prompts.length === 0
        ? 'You have no open question.'
        : `${prompts.length - open} settled, ${open} pending; each says what to do next.`;
    return { prompts, next: [next, call.advice].filter((part) => part !== null).join(' ') };
  },
});

async function pollIds(
  ids: readonly string[],
  wait_ms: number,
  { hive, hand, signal }: ToolCall,
): Promise<Record<string, unknown>[]> {
  const prompts = await hive.prompts.wait(ids, { wait_ms: Math.min(wait_ms, LONGEST_WAIT_MS), signal });
  if (prompts.every((prompt) => prompt.status === 'pending'))
    return prompts.map((prompt) => promptView({ prompt, repeated: false }));
  return (await hand(ids)).map((delivered) => promptView(delivered));
}

const cancel = tool({
  name: 'hivemind_cancel',
  title: 'Take a question back',
  description: 'Take back a question of yours that no longer matters, so that your human need not answer it.',
  input: { ask_id: askId },
  readOnly: false,
  async handle({ ask_id }, { hive, session }) {
    const { accepted, prompt } = await hive.prompts.cancel(ask_id, agentActor(session), 'withdrawn');
    const next = accepted
      ? 'Taken back. Go on.'
      : `Nothing to take back: it is ${prompt.status}. See hivemind_poll.`;
    return { ask_id, accepted, status: prompt.status, next };
  },
});

const ask = tool({
  name: 'hivemind_ask',
  title: 'Ask the human and wait (deprecated)',
  description:
    'DEPRECATED: blocks you until the answer comes or timeout_ms (default 300000) has passed. Use hivemind_ask_async and hivemind_poll. If the call dies the question lives on: poll its ask_id.',
  input: askShape,
  readOnly: false,
  async handle({ timeout_ms = BLOCKING_DEFAULT_MS, ...request }, call) {
    const { hive, session, signal } = call;
    // The time limit is of the waiting only: the question itself stays (invariant 3).
    const { prompt } = await hive.prompts.ask(request, session, call.turn_id);
    const { ask_id } = prompt;
    const alive = setInterval(() => {
      call
        .progress(`${ask_id} is still waiting for an answer.`)
        .catch((error: unknown) => hive.log.warn('Progress could not be sent.', { error: String(error) }));
    }, PROGRESS_MS);
    const [waited] = await hive.prompts
      .wait([ask_id], { wait_ms: timeout_ms, signal })
      .finally(() => clearInterval(alive));
    const deprecated = 'hivemind_ask is deprecated: it blocks you. Use hivemind_ask_async and hivemind_poll.';
    if (waited === undefined || waited.status === 'pending') {
      const next = `No answer within ${timeout_ms} ms. The question stays open: look with hivemind_poll {"ask_id": "${ask_id}"}. ${deprecated}`;
      return { ask_id, status: 'pending', timed_out: true, next };
    }
    const [delivered] = await call.hand([ask_id]);
    return { ...(delivered === undefined ? {} : promptView(delivered)), deprecated };
  },
});

export const promptTools: readonly Tool[] = [askAsync, poll, cancel, ask];

const awaitAsk = tool({
  name: 'hivemind_await_ask',
  title: 'Wait for a question',
  description:
    'Coordinator: wait until another agent has a question open, and get it. Waits up to timeout_ms (default 60000), at most 25 s a call.',
  input: { timeout_ms: z.number().int().min(0).max(3_600_000).optional() },
  readOnly: true,
  async handle({ timeout_ms = 60_000 }, { hive, session, signal }) {
    const prompts = await hive.feed.until(
      async () => {
        const { items } = await hive.prompts.list({ status: 'waiting', limit: 20 });
        const others = items.filter((prompt) => prompt.session_id !== session.session_id);
        return others.length > 0 ? others : undefined;
      },
      { wait_ms: Math.min(timeout_ms, LONGEST_WAIT_MS), signal },
    );
    const left = Math.max(0, timeout_ms - LONGEST_WAIT_MS);
    if (prompts === undefined) {
      const next =
        left > 0
          ? `Nothing asked yet. Call again with timeout_ms ${left} to go on waiting.`
          : 'Nothing was asked in that time. Call again to wait on.';
      return { prompts: [], timed_out: true, next };
    }
    const shown = prompts.map(
      ({
        ask_id,
        agent,
        project,
        kind,
        urgency,
        header,
        question,
        context,
        options,
        multi_select,
        allow_free_text,
        created_at,
        to,
      }) => {
        return {
          ask_id,
          agent,
          project,
          kind,
          urgency,
          header,
          question,
          context,
          options,
          multi_select,
          allow_free_text,
          created_at,
          ...(to === null ? {} : { to }),
        };
      },
    );
    return { prompts: shown, next: 'Answer with hivemind_respond. Permissions are for the human alone.' };
  },
});

const respond = tool({
  name: 'hivemind_respond',
  title: "Answer another agent's question",
  description:
    'Coordinator: answer a question of another agent. Never a permission, never your own, never one of a session you descend from.',
  input: respondShape,
  readOnly: false,
  async handle({ ask_id, ...answer }, { hive, session }) {
    const ancestors = await hive.sessions.ancestors(session.session_id);
    const { outcome, prompt } = await hive.prompts.respond({
      ask_id,
      ...answer,
      actor: { ...agentActor(session), ancestors },
    });
    const next =
      outcome === 'accepted'
        ? 'Stored; the asker gets it.'
        : outcome === 'late'
          ? 'Kept as a late answer.'
          : `${prompt.by} was first; your answer is on the trail.`;
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
