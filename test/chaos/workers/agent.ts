/** An agent over MCP: asks, polls, takes back, posts, deals with its mentions; a coordinator answers and interrupts too. */
import { attempt, sleep } from '../failures.ts';
import type { Host } from '../installation.ts';
import { deskOf, remember, untilDone, type Worker, type World } from '../world.ts';
import { type McpLine, mcpLine, type Result } from './mcp.ts';

export interface AgentOptions {
  name: string;
  /** Its session. */
  env: Readonly<Record<string, string>>;
  coordinator?: boolean;
  /** More words after `hive mcp`. */
  args?: readonly string[];
  /** The process above its `hive mcp`; one for each connection by default. */
  host?: Host;
}

/** The abilities of one that asks over MCP, shared with the agent that has hooks. */
export interface Asker {
  readonly line: McpLine;
  /** Questions that it does not know to be settled. */
  readonly open: Set<string>;
  /** It has learned the status of this one. */
  read(ask_id: string, status: string, decision: string | null, text: string, via: 'poll' | 'hook'): void;
  knows(ask_id: string): boolean;
  ask(): Promise<void>;
  poll(wait_ms: number): Promise<void>;
  cancel(): Promise<void>;
  post(): Promise<void>;
  process(): Promise<void>;
  settle(): Promise<void>;
  finish(): Promise<void>;
  end(): Promise<void>;
}

/** How many questions may be open before the oldest is withdrawn. */
const MOST_OPEN = 8;
/** How many are polled in one call. */
const AT_ONCE = 50;

export function createAsker(
  world: World,
  { name, env, coordinator = false, args = [], host = 'own' }: AgentOptions,
): Asker & ReturnType<typeof deskOf> {
  const desk = deskOf(world, name);
  const { log, random, unique } = desk;
  const line = mcpLine(
    world.installation,
    name,
    [...(coordinator ? ['--role', 'coordinator'] : []), ...args],
    env,
    undefined,
    host,
  );
  const open = new Set<string>();
  /** Ended without an answer: a late one may come, so they are looked at again at the end. */
  const ended = new Set<string>();
  /** Asked, and not known to be stored: key → arguments. */
  const unsure = new Map<string, Record<string, unknown>>();

  function questionOf(key: string): Record<string, unknown> {
    return {
      question: `${key}?`,
      idempotency_key: key,
      urgency: 'low',
      ...(random.chance(0.3) ? { timeout_ms: random.between(1_000, 3_000) } : {}),
      ...(random.chance(0.15) ? { kind: 'permission' } : {}),
    };
  }

  /** Whether it may end without anybody. */
  const expires = (key: string): boolean => unsure.get(key)?.['timeout_ms'] !== undefined;

  async function send(key: string): Promise<void> {
    const question = unsure.get(key) ?? {};
    const { ask_id, agent } = await line.call('hivemind_ask_async', question);
    // Sometimes it forgets that it was told.
    if (!random.chance(0.15)) unsure.delete(key);
    log.add({ did: 'asked', key, ask_id: String(ask_id) });
    open.add(String(ask_id));
    world.handles.add(String(agent));
    remember(world, String(ask_id));
  }

  const read: Asker['read'] = (ask_id, status, decision, text, via) => {
    log.add({ did: 'told', ask_id, status, decision, text, via });
    open.delete(ask_id);
    if (status !== 'responded') ended.add(ask_id);
  };

  async function look(ids: readonly string[], wait_ms: number): Promise<void> {
    if (ids.length === 0) return;
    const { prompts } = await line.call('hivemind_poll', { ask_ids: ids, wait_ms });
    for (const view of prompts as Record<string, unknown>[]) {
      const { ask_id, status, decision = null, late_response } = view;
      if (status === 'pending') {
        log.add({ did: 'unsettled', ask_id: String(ask_id) });
        continue;
      }
      const text = JSON.stringify({ decision, late_response });
      read(String(ask_id), String(status), decision === null ? null : String(decision), text, 'poll');
    }
  }

  async function cancel(): Promise<void> {
    const [ask_id] = open;
    if (ask_id === undefined) return;
    const act = async (): Promise<void> => {
      const { accepted, status } = await line.call('hivemind_cancel', { ask_id });
      log.add({ did: 'cancelled', ask_id, accepted: accepted === true, status: String(status) });
    };
    await attempt(log, 'cancel', act, { ask_id });
  }

  return {
    ...desk,
    read,
    knows: (ask_id) => open.has(ask_id) || ended.has(ask_id),
    line,
    open,
    async ask() {
      if (open.size >= MOST_OPEN) return cancel();
      const [again] = unsure.keys();
      const key = again ?? unique('question');
      if (again === undefined) {
        unsure.set(key, questionOf(key));
        log.add({ did: 'tried', what: 'ask', text: key });
      }
      await attempt(log, 'ask', () => send(key), { key, expires: expires(key) });
    },
    async poll(wait_ms) {
      await attempt(log, 'poll', () => look([...open], wait_ms), { ask_ids: [...open] });
    },
    cancel,
    async post() {
      const whom = world.handles.size > 0 && random.chance(0.7) ? ` @${random.pick([...world.handles])}` : '';
      const body = `${unique('message')}${whom}`;
      log.add({ did: 'tried', what: 'post', text: body });
      const act = async (): Promise<void> => {
        const { message_id } = await line.call('hivemind_post', { body });
        log.add({ did: 'posted', message_id: String(message_id), body });
      };
      await attempt(log, 'post', act, { body });
    },
    async process() {
      await attempt(log, 'process', async () => {
        const { mentions } = await line.call('hivemind_get_unprocessed_mentions');
        const ids = (mentions as Result[]).map(({ mention_id }) => String(mention_id));
        if (ids.length === 0) return;
        const { processed } = await line.call('hivemind_process_mentions', { mention_ids: ids });
        log.add({ did: 'processed', mention_ids: processed as string[] });
      });
    },
    async settle() {
      for (const key of [...unsure.keys()])
        await untilDone(log, 'ask', () => send(key), { key, expires: expires(key) });
    },
    async finish() {
      const ids = [...open, ...ended];
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const ask_ids = ids.slice(at, at + AT_ONCE);
        await untilDone(log, 'poll', () => look(ask_ids, 0), { ask_ids });
      }
      await line.end();
    },
    end: async () => log.close(),
  };
}

export function agent(world: World, options: AgentOptions): Worker {
  const asker = createAsker(world, options);
  const { random, log, unique, line } = asker;

  /** Answers what others ask, and sometimes its own question, which must be refused. */
  async function answer(): Promise<void> {
    const own = random.chance(0.2) ? [...asker.open] : [];
    const ask_id = own[0] ?? (world.asks.length > 0 ? random.pick(world.asks) : undefined);
    if (ask_id === undefined) return;
    const decision = unique('answer');
    log.add({ did: 'tried', what: 'answer', text: decision });
    const act = async (): Promise<void> => {
      const {
        accepted,
        late,
        status,
        decision: standing,
      } = await line.call('hivemind_respond', { ask_id, decision });
      log.add({
        did: 'answered',
        ask_id,
        decision,
        accepted: accepted === true,
        late: late === true,
        status: String(status),
        standing: typeof standing === 'string' ? standing : null,
      });
    };
    await attempt(log, 'answer', act, { ask_id, decision });
  }

  async function interrupt(): Promise<void> {
    if (world.handles.size === 0) return;
    await attempt(log, 'interrupt', async () => {
      const session = random.pick([...world.handles]);
      const { turn_id, outcome, abort_reason } = await line.call('hivemind_interrupt', {
        session,
        wait_ms: 1_000,
      });
      log.add({
        did: 'interrupted',
        turn_id: String(turn_id),
        outcome: String(outcome),
        abort_reason: typeof abort_reason === 'string' ? abort_reason : null,
      });
    });
  }

  const acts = [asker.ask, asker.ask, () => asker.poll(0), () => asker.poll(500), asker.post, asker.process];
  if (options.coordinator === true) acts.push(answer, answer, interrupt);
  else acts.push(asker.cancel);

  return {
    name: options.name,
    async work() {
      while (world.working) {
        await random.pick(acts)();
        await sleep(random.between(20, 200));
      }
    },
    settle: asker.settle,
    finish: asker.finish,
    end: asker.end,
  };
}
