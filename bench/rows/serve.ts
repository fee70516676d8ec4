/**
 * `hive serve` with 500 sessions that each wait in a poll: how soon one of them has its answer while the others
 * wait on, and what a session costs in memory.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { environment, HIVE, residentMemory, start, storeIn, tempFolder } from '../children.ts';
import type { Family } from '../harness.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
/** How many sessions share a token, which may make 50 requests a second. */
const SESSIONS_A_TOKEN = 25;
const WAIT_MS = 25_000;
/** Long enough for the polls to be asleep, and for the work after an answer to be over. */
const ASLEEP_MS = 60;
const MIB = 'MiB';

const BESIDE = 'hive serve, a call beside others of 1 MB';

export const serve: Family = {
  name: 'serve',
  rows: ['hive serve, wake of 1 in 500 polls', 'hive serve, memory a session', BESIDE],
  async measure(effort) {
    const sessions = effort === 'full' ? 500 : 100;
    const folder = tempFolder();
    const hive = await openHive({ store: storeIn(folder), env: {} });
    const child = start(process.execPath, [HIVE, 'serve', '--port', '0'], {
      env: environment(folder),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const agents: Agent[] = [];
    try {
      if (child.stdout === null || child.pid === undefined) throw new Error('hive serve did not start.');
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      const url = new URL(/https?:\S+/.exec(line)?.[0] ?? '');
      // The first sessions make the server compile its code and grow its heap: that is no cost of a session.
      agents.push(...(await connectAll(hive, url, SESSIONS_A_TOKEN)));
      const before = residentMemory(child.pid);
      const others = await connectAll(hive, url, sessions - SESSIONS_A_TOKEN);
      agents.push(...others);
      const waits: number[] = [];
      const rounds = effort === 'full' ? 200 : 20;
      for (const agent of agents) agent.poll();
      await pause(1_000);
      const each = (residentMemory(child.pid) - before) / others.length;
      for (let round = 0; round < rounds; round += 1)
        waits.push(await wake(hive, agents[(round * 7) % sessions]));
      await Promise.all(agents.map((agent) => agent.close()));
      agents.length = 0;
      const beside = await callsBeside(hive, url, effort === 'full' ? 60 : 10);
      return [
        {
          name: BESIDE,
          unit: 'ms',
          samples: beside.crowded,
          floor: beside.alone,
          target: { of: 'p50', at_most: 60 },
        },
        {
          name: 'hive serve, wake of 1 in 500 polls',
          unit: 'ms',
          samples: waits,
          floor: null,
          target: { of: 'p99', at_most: 50 },
        },
        {
          name: 'hive serve, memory a session',
          unit: MIB,
          samples: [each],
          floor: null,
          target: { of: 'p50', at_most: 1 },
        },
      ];
    } finally {
      // After an error too: otherwise a poll that ends with the server would be reported instead of it.
      await Promise.allSettled(agents.map((agent) => agent.close()));
      child.kill('SIGTERM');
      await hive.close();
    }
  },
};

interface Agent {
  /** Waits for the answer to its question, again and again, until `close`. */
  poll(): void;
  /** The question it waits for. */
  ask_id: string;
  /** Resolves with its next answer. */
  answered(): Promise<void>;
  /** Asks another question and waits for its answer. */
  askAnew(): Promise<void>;
  /** Asks for the state of its question, without waiting. */
  look(): Promise<void>;
  close(): Promise<void>;
}

async function connectAll(hive: OpenedHive, url: URL, sessions: number): Promise<Agent[]> {
  const tokens: string[] = [];
  for (let n = 0; n < sessions / SESSIONS_A_TOKEN; n += 1)
    tokens.push((await tokensOf(hive).make({ name: `bench-${sessions}-${n}` })).secret);
  const agents: Agent[] = [];
  // One session a token at a time, so that none goes beyond its rate.
  for (let n = 0; n < sessions; n += tokens.length) {
    const batch = tokens.slice(0, sessions - n).map((token) => connect(url, token));
    agents.push(...(await Promise.all(batch)));
    await pause(100);
  }
  return agents;
}

async function connect(url: URL, token: string): Promise<Agent> {
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  let closed = false;
  let heard = (): void => undefined;
  const call = async (name: string, args: object): Promise<Record<string, unknown>> => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: { ...args } });
    if (isError === true) throw new Error(`${name}: ${JSON.stringify(content)}`);
    return (structuredContent ?? {}) as Record<string, unknown>;
  };
  const agent: Agent = {
    ask_id: '',
    poll() {
      const { ask_id } = agent;
      call('hivemind_poll', { ask_id, wait_ms: WAIT_MS }).then(
        ({ status }) => {
          if (status !== 'pending') heard();
          else if (!closed && ask_id === agent.ask_id) agent.poll();
        },
        (error: unknown) => {
          if (!closed) throw error;
        },
      );
    },
    answered: () =>
      new Promise((resolve) => {
        heard = resolve;
      }),
    async askAnew() {
      const { ask_id } = await call('hivemind_ask_async', { question: 'Go on?', urgency: 'low' });
      agent.ask_id = String(ask_id);
    },
    async look() {
      await call('hivemind_poll', { ask_id: agent.ask_id });
    },
    async close() {
      closed = true;
      // The server has as many sessions as there are agents here, and keeps one that only goes away.
      await transport.terminateSession();
      await client.close();
    },
  };
  await agent.askAnew();
  return agent;
}

async function wake(hive: OpenedHive, agent: Agent | undefined): Promise<number> {
  if (agent === undefined) throw new Error('There is no such agent.');
  const answered = agent.answered();
  const started = performance.now();
  await hive.prompts.respond({ ask_id: agent.ask_id, decision: 'yes', actor: HUMAN });
  await answered;
  const elapsed = performance.now() - started;
  await agent.askAnew();
  agent.poll();
  await pause(ASLEEP_MS);
  return elapsed;
}

/** Calls of an agent, alone and while another token has the server busy. */
async function callsBeside(
  hive: OpenedHive,
  url: URL,
  rounds: number,
): Promise<Record<'alone' | 'crowded', number[]>> {
  const [own, other] = [
    await tokensOf(hive).make({ name: 'own' }),
    await tokensOf(hive).make({ name: 'other' }),
  ];
  const agent = await connect(url, own.secret);
  const body = JSON.stringify({
    client: 'claude-code',
    event: {
      session_id: 'other',
      cwd: '/shop',
      hook_event_name: 'PermissionRequest',
      tool_name: 'Bash',
      tool_input: { command: '\u0430'.repeat(480_000) },
    },
  });
  const headers = { Authorization: `Bearer ${other.secret}`, 'Content-Type': 'application/json' };
  const send = async (): Promise<void> => {
    const reply = await fetch(new URL('/hook', url), { method: 'POST', headers, body });
    await reply.arrayBuffer();
    // Beyond its rate it is refused, and tries again.
    if (!reply.ok) await pause(20);
  };
  const timed = async (): Promise<number> => {
    const started = performance.now();
    await agent.look();
    await pause(0);
    return performance.now() - started;
  };
  const samples = { alone: [] as number[], crowded: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    samples.alone.push(await timed());
    const sent = send();
    samples.crowded.push(await timed());
    await sent;
  }
  await agent.close();
  return samples;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
