/**
 * A hook over the connection is answered before it is recorded where it certainly has nothing to say. Whatever happens
 * in between, it says what a hook without that memory would have said, and records the same turn.
 */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHooks } from '../../src/application/hooks.ts';
import type { ReadTx, Store } from '../../src/application/ports.ts';
import type { Turn } from '../../src/domain/turns.ts';
import { randomIds } from '../../src/infrastructure/platform/ids.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ENDED } from '../support/ended-process.ts';
import { GATED_SESSION, gatedBash, gatedEvent, gatedWorld } from '../support/gate.ts';
import { ask, eventsOf, HUMAN } from '../support/hive.ts';
import { fire } from '../support/hooks.ts';
import { agent } from '../support/outreach.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

afterEach(() => {
  vi.useRealTimers();
});

const FIRST = { surroundings: { answers_first: true } };

/** Resolves when the hooks have done everything that they do after their answer. */
async function settled(hive: OpenedHive): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await hive.store.write(async () => undefined);
  }
}

// ---- What a hook without memory would do ----

const UNDO = Symbol('everything is undone');

/** The output of this event, the events that it appends and the turn that it leaves; the store stays as it is. */
async function rehearse(hive: OpenedHive, raw: Record<string, unknown>, session_id: string) {
  const { store, prompts, feed, log } = hive;
  const left: (Turn | undefined)[] = [];
  const appended: string[] = [];
  const undone: Store = {
    ...store,
    async writeUnflushed(work) {
      let result: { done: Awaited<ReturnType<typeof work>> } | null = null;
      const rounds = store.write(async (tx) => {
        const head = await tx.events.head();
        result = { done: await work(tx) };
        if (left.length === 0) appended.push(...(await typesAfter(tx, head)));
        left.push(await tx.turns.current(session_id));
        throw UNDO;
      });
      await rounds.catch((error: unknown) => {
        if (error !== UNDO) throw error;
      });
      return (result as unknown as { done: Awaited<ReturnType<typeof work>> }).done;
    },
  };
  const waiting = async () => ({ feed, prompts });
  const hooks = createHooks({ store: undone, ids: randomIds, processes, log, runHandler: null, waiting });
  return { said: await fire({ ...hive, hooks }, raw), turn: turnAsTold(left[0]), appended };
}

async function typesAfter(tx: ReadTx, head: number): Promise<string[]> {
  return (await tx.events.after(head, 100)).map(({ type }) => type);
}

/** A turn without its times and its random id. */
function turnAsTold(turn: Turn | undefined): unknown {
  if (turn === undefined) return null;
  const { client_turn_id, state, steps, batches, last_tool, open_tools } = turn;
  return {
    ...{ client_turn_id, state, steps, batches, last_tool },
    open: open_tools.map(({ use_id, name }) => `${use_id} ${name}`),
  };
}

// ---- A random world ----

const TOOLS = ['Read', 'Bash', 'Bash', 'Grep', 'mcp__hive__hivemind_poll', 'AskUserQuestion'];
const AGENTS = ['', '', '', 'a1'];

type Move = { kind: 'pre' | 'post'; tool: number; agent: number } | { kind: string; n: number };

const calls = fc.record({
  kind: fc.constantFrom('pre' as const, 'pre' as const, 'post' as const),
  tool: fc.nat({ max: TOOLS.length - 1 }),
  agent: fc.nat({ max: AGENTS.length - 1 }),
});
const others = fc.record({
  kind: fc.constantFrom(
    ...['prompt', 'stop', 'ask', 'answer', 'mention', 'urgent', 'process', 'report', 'interrupt', 'poll'],
    ...['lost', 'later', 'later', 'gone', 'expiring', 'subagent'],
  ),
  n: fc.nat({ max: 3 }),
});
const move: fc.Arbitrary<Move> = fc.oneof({ weight: 5, arbitrary: calls }, { weight: 2, arbitrary: others });

class World {
  readonly #hive: OpenedHive;
  readonly #mention: (body: string, more?: object) => Promise<void>;
  #prompt = 1;
  #call = 0;
  #carriers = 0;
  /** The next hook is killed before it reports that it has printed. */
  #isNextLost = false;

  constructor({ hive, mention }: Awaited<ReturnType<typeof gatedWorld>>) {
    this.#hive = hive;
    this.#mention = mention;
  }

  async take(move: Move): Promise<void> {
    if ('tool' in move) return this.#tool(move.kind, TOOLS[move.tool] ?? '', AGENTS[move.agent] ?? '');
    const hive = this.#hive;
    const { kind, n } = move;
    switch (kind) {
      case 'prompt':
        this.#prompt += 1;
        return this.#event('UserPromptSubmit', { prompt: 'go on' });
      case 'stop':
        return this.#event('Stop', { stop_hook_active: n > 0, background_tasks: [] });
      case 'subagent':
        return this.#event(n > 1 ? 'SubagentStart' : 'SubagentStop', { agent_id: 'a1' });
      case 'ask':
        await ask(hive, { question: `Which of ${this.#call}?` }, GATED_SESSION);
        return;
      case 'expiring':
        await ask(hive, { question: `Soon ${this.#call}?`, timeout_ms: 5_000 }, GATED_SESSION);
        return;
      case 'answer': {
        const { items } = await hive.prompts.list({ status: 'pending', limit: 1 });
        for (const { ask_id } of items)
          await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN }).catch(() => undefined);
        return;
      }
      case 'mention':
        return this.#mention('look, @me');
      case 'urgent':
        return this.#mention('stop, @me', { priority: 'urgent' });
      case 'process':
        await hive.mentions.process({ session_id: GATED_SESSION, all: true, actor: HUMAN });
        return;
      case 'report':
        await hive.outreach.report({ message: 'Done.' }, await agent(hive, `bg-${n}`, 'bg', GATED_SESSION));
        return;
      case 'interrupt':
        await hive.interrupts
          .interrupt({ session: GATED_SESSION, timeout_ms: 0, actor: HUMAN })
          .catch(() => undefined);
        return;
      case 'poll': {
        // A poll returns answers over a connection that may close at any time.
        const ids = (await hive.prompts.list({ limit: 20 })).items.map(({ ask_id }) => ask_id);
        this.#carriers += 1;
        const connection_id = `connection-p${this.#carriers}`;
        if (n > 0)
          await hive.callers.openConnection({
            ...{ connection_id, machine: 'test', pid: process.pid, parent_pid: ENDED },
          });
        await hive.delivery.hand(ids, `mcp:${connection_id}`, GATED_SESSION);
        return;
      }
      case 'gone':
        // Without an event, as when its process dies.
        for (let carrier = 1; carrier <= this.#carriers; carrier += 1)
          await hive.store.write((tx) => tx.sessions.closeConnection(`connection-p${carrier}`));
        return;
      case 'lost':
        this.#isNextLost = true;
        return;
      default:
        vi.setSystemTime(Date.now() + 10 ** (n + 3));
        await hive.prompts.expireDue();
        await hive.mentions.expireDue();
    }
  }

  #tool(kind: string, tool_name: string, agent_id: string): Promise<void> {
    if (kind === 'pre') this.#call += 1;
    const fields = { tool_use_id: `toolu_${this.#call}`, tool_name, tool_input: {}, agent_id };
    return this.#event(kind === 'pre' ? 'PreToolUse' : 'PostToolUse', {
      ...fields,
      ...(kind === 'pre' ? {} : { tool_response: {} }),
    });
  }

  async #event(name: string, fields: Record<string, unknown>): Promise<void> {
    const hive = this.#hive;
    // Without a transcript nothing waits for the client to write it: the clock of this test does not move.
    const raw = gatedEvent(name, { transcript_path: '', prompt_id: `prompt-${this.#prompt}`, ...fields });
    const { agent_id = '' } = fields;
    const own = agent_id === '' ? GATED_SESSION : `${GATED_SESSION}:${String(agent_id)}`;
    const expected = await rehearse(hive, raw, own);
    const head = await hive.store.read((tx) => tx.events.head());
    const { handle } = hive.hooks;
    const killed = { ...hive, hooks: { handle, printed: async () => undefined } };
    const said = await fire(this.#isNextLost ? killed : hive, raw, FIRST);
    this.#isNextLost = false;
    await settled(hive);
    const turn = turnAsTold(await hive.turns.current(own));
    const appended = await hive.store.read((tx) => typesAfter(tx, head));
    expect({ said, turn, appended }).toEqual(expected);
  }
}

test('whatever happens in between, a hook says and records what one without memory would', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 10, maxLength: 40 }), async (moves) => {
      const world = new World(await gatedWorld());
      for (const one of moves) await world.take(one);
    }),
    { numRuns: 20 },
  );
});

describe('what changes without an event is not missed', () => {
  const read = (n: number): Record<string, unknown> =>
    gatedEvent('PreToolUse', {
      ...{ tool_use_id: `t-${n}`, tool_name: 'Read', tool_input: {}, transcript_path: '' },
    });

  /** Some hooks that say nothing, as many as it takes to remember that. */
  async function quiet(hive: OpenedHive): Promise<void> {
    for (const n of [1, 2, 3]) {
      expect(await fire(hive, read(n), FIRST)).toBe('');
      await settled(hive);
    }
  }

  test('an answer is handed over again when the connection that had it is gone', async () => {
    const { hive } = await gatedWorld();
    const { ask_id } = await ask(hive, {}, GATED_SESSION);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await hive.delivery.hand([ask_id], 'mcp:connection-1', GATED_SESSION);
    await quiet(hive);
    await hive.store.write((tx) => tx.sessions.closeConnection('connection-1'));
    expect(await fire(hive, read(4), FIRST)).toContain('blue');
  });

  test('a mention holds the agent once it can call Hive', async () => {
    const { hive, mention } = await gatedWorld();
    await hive.store.write((tx) => tx.sessions.closeConnection('connection-1'));
    await mention('look, @me');
    // Nobody can clear the gate yet, so the agent is only reminded.
    expect(await fire(hive, read(0), FIRST)).not.toContain('deny');
    await quiet(hive);
    await hive.callers.openConnection({
      ...{ connection_id: 'connection-2', machine: 'test', pid: process.pid, parent_pid: ENDED },
    });
    expect(await fire(hive, read(4), FIRST)).toContain('deny');
  });

  test('a report is proved read', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { hive } = await gatedWorld();
    await hive.outreach.report({ message: 'Done.' }, await agent(hive, 'bg-1', 'bg', GATED_SESSION));
    expect(await fire(hive, read(0), FIRST)).toContain('Done.');
    await quiet(hive);
    vi.setSystemTime(Date.now() + 10_000);
    await fire(hive, read(4), FIRST);
    expect(await eventsOf(hive, 'outreach/delivered')).toHaveLength(1);
  });
});

test('a hook with nothing to say does not wait for another process that writes', async () => {
  const path = tempStore();
  const { hive } = await gatedWorld(path);
  const read = (use_id: string): Promise<string> =>
    fire(hive, gatedBash('ls', { tool_use_id: use_id }), FIRST);
  const running = async (): Promise<unknown> =>
    (await hive.turns.current(GATED_SESSION))?.open_tools.map(({ use_id }) => use_id);
  for (const use_id of ['t-1', 't-2', 't-3']) {
    await read(use_id);
    await settled(hive);
  }
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  expect(await read('t-4')).toBe('');
  expect(await running()).toEqual(['t-1', 't-2', 't-3']);
  other.exec('ROLLBACK');
  other.close();
  await eventually(async () => (await running())?.toString() === 't-1,t-2,t-3,t-4');
});
