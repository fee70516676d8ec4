/** How an agent asks, and how a question is taken back; how the answer comes back, polling.ts says. */
import type { Asked } from '../../application/prompts.ts';
import { BLOCKING_DEFAULT_MS } from '../../domain/prompt-limits.ts';
import { askId, askShape, blockingAskShape } from '../../schemas/prompts.ts';
import { agentActor } from './agent.ts';
import { deliveredView, pollTools } from './polling.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';
import { keepingAlive } from './waiting.ts';

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
  description: `DEPRECATED: blocks you until the answer comes or timeout_ms (default ${BLOCKING_DEFAULT_MS}) has passed; the question itself stays open. Use hivemind_ask_async and hivemind_poll. If the call dies the question lives on: poll its ask_id.`,
  input: blockingAskShape,
  readOnly: false,
  async handle({ timeout_ms = BLOCKING_DEFAULT_MS, ...request }, call) {
    const { hive, session, signal } = call;
    // The time limit is of the waiting only: the question itself stays (invariant 3).
    const { prompt } = await hive.prompts.ask(request, session, call.turn_id);
    const { ask_id } = prompt;
    const [waited] = await keepingAlive(call, `${ask_id} is still waiting for an answer.`, () =>
      hive.prompts.wait([ask_id], { wait_ms: timeout_ms, signal }),
    );
    const deprecated = 'hivemind_ask is deprecated: it blocks you. Use hivemind_ask_async and hivemind_poll.';
    if (waited === undefined || waited.status === 'pending') {
      const ended = signal.aborted ? 'The wait was cut short' : `No answer within ${timeout_ms} ms`;
      const next = `${ended}. The question stays open: look with hivemind_poll {"ask_id": "${ask_id}"}. ${deprecated}`;
      return { ask_id, status: 'pending', timed_out: !signal.aborted, next };
    }
    const [delivered] = await call.hand([ask_id]);
    return { ...(delivered === undefined ? {} : deliveredView(delivered)), deprecated };
  },
});

export const promptTools: readonly Tool[] = [askAsync, ...pollTools, cancel, ask];
