/** Agents in an editor: what the ACP proxy adds to a round trip, and how soon a permission of an agent is at the desks. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { openHive } from '../../src/open-hive.ts';
import { environment, HIVE, ROOT, start, storeIn, tempFolder } from '../children.ts';
import type { Family } from '../harness.ts';

const AGENT = join(import.meta.dirname, '../peers/acp-agent.mjs');
/** How long a permission may take to appear before the measurement fails. */
const LIMIT_MS = 10_000;

interface Editor {
  request(method: string, params: object): Promise<void>;
  /** Refuses the next request of the agent, as soon as it is here: the desks may have it first. */
  refuse(): void;
  close(): void;
}

function editorOf(child: ChildProcess): Editor {
  const waiting = new Map<unknown, () => void>();
  const asked: unknown[] = [];
  let refusals = 0;
  let ids = 0;
  const send = (message: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const refuse = (): void => {
    for (; refusals > 0 && asked.length > 0; refusals -= 1)
      send({ id: asked.shift(), result: { outcome: { outcome: 'selected', optionId: 'no' } } });
  };
  if (child.stdout === null) throw new Error('The agent has no output.');
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method } = JSON.parse(line) as { id?: unknown; method?: string };
    if (method === 'session/request_permission') {
      asked.push(id);
      refuse();
    }
    if (method === undefined) waiting.get(id)?.();
  });
  return {
    request: (method, params) =>
      new Promise((resolve) => {
        ids += 1;
        waiting.set(ids, resolve);
        send({ id: ids, method, params });
      }),
    refuse: () => {
      refusals += 1;
      refuse();
    },
    close: () => child.stdin?.end(),
  };
}

export const acp: Family = {
  name: 'acp',
  rows: [
    'ACP round trip through hive acp',
    'ACP permission → at the desks',
    'ACP permission → row in the list of Emacs',
    'agent-shell permission → row in the list of Emacs',
  ],
  async measure(effort) {
    const folder = tempFolder();
    const env = environment(folder);
    const stdio = ['pipe', 'pipe', 'ignore'] as const;
    const direct = editorOf(start(process.execPath, [AGENT], { env, stdio: [...stdio] }));
    const proxied = editorOf(
      start(process.execPath, [HIVE, 'acp', '--', process.execPath, AGENT], { env, stdio: [...stdio] }),
    );
    for (const editor of [direct, proxied]) {
      await editor.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
      await editor.request('session/new', { cwd: folder, mcpServers: [] });
    }
    const [through, floor]: [number[], number[]] = [[], []];
    for (let n = 0; n < (effort === 'full' ? 1_000 : 100); n += 1) {
      for (const [editor, samples] of [[direct, floor] as const, [proxied, through] as const]) {
        const began = performance.now();
        await editor.request('echo', { n });
        samples.push(performance.now() - began);
      }
    }
    const added = through.map((ms, n) => ms - (floor[n] ?? 0));

    const hive = await openHive({ store: storeIn(folder), env: {} });
    const shown: number[] = [];
    for (let n = 0; n < (effort === 'full' ? 60 : 10); n += 1) {
      const began = performance.now();
      const turn = proxied.request('session/prompt', { sessionId: 's', prompt: [] });
      const isThere = async (): Promise<true | undefined> =>
        (await hive.prompts.countPending()).normal > 0 ? true : undefined;
      if ((await hive.feed.until(isThere, { wait_ms: LIMIT_MS })) === undefined)
        throw new Error('A permission did not come to the desks.');
      shown.push(performance.now() - began);
      proxied.refuse();
      await turn;
    }
    await hive.close();
    const rows = await untilInList(folder, proxied, effort === 'full' ? 60 : 10);
    for (const editor of [direct, proxied]) editor.close();
    return [
      {
        name: 'ACP round trip through hive acp',
        unit: 'ms',
        samples: added,
        floor: null,
        target: { of: 'p50', at_most: 2 } as const,
      },
      {
        name: 'ACP permission → at the desks',
        unit: 'ms',
        samples: shown,
        floor: null,
        target: { of: 'p50', at_most: 40 } as const,
      },
      {
        name: 'ACP permission → row in the list of Emacs',
        unit: 'ms',
        samples: rows,
        floor: null,
        target: { of: 'p50', at_most: 50 } as const,
      },
      {
        name: 'agent-shell permission → row in the list of Emacs',
        unit: 'ms',
        samples: await fromBuffer(effort === 'full' ? 60 : 10),
        floor: null,
        target: { of: 'p50', at_most: 50 } as const,
      },
    ];
  },
};

/** How long it takes until the list of a real Emacs has the row of a permission, on its own clock. */
async function untilInList(folder: string, editor: Editor, rounds: number): Promise<number[]> {
  const emacs = openList(folder);
  await emacs.said('bench-ready');
  const samples: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const [row, gone] = [emacs.said('bench-row'), emacs.said('bench-gone')];
    const began = performance.timeOrigin + performance.now();
    const turn = editor.request('session/prompt', { sessionId: 's', prompt: [] });
    samples.push(Number(await row) - began);
    editor.refuse();
    await turn;
    await gone;
  }
  emacs.end();
  return samples;
}

/** The same for an agent in a buffer of this Emacs: from its request in the buffer. */
async function fromBuffer(rounds: number): Promise<number[]> {
  const emacs = openList(tempFolder(), { BENCH_ROUNDS: `${rounds}` });
  const late = setTimeout(() => emacs.end(), rounds * LIMIT_MS);
  const samples: number[] = [];
  for await (const line of emacs.lines) {
    const took = /^bench-took (.+)/.exec(line)?.[1];
    if (took !== undefined) samples.push(Number(took));
    if (samples.length === rounds) break;
  }
  clearTimeout(late);
  emacs.end();
  if (samples.length < rounds) throw new Error('Emacs did not show the row of a permission.');
  return samples;
}

interface ListingEmacs {
  lines: Interface;
  /** The text that Emacs prints after this word, once it does. */
  said(word: string): Promise<string>;
  end(): void;
}

/** A real Emacs with a desk and its list in a window. */
function openList(folder: string, env: Record<string, string> = {}): ListingEmacs {
  const script = join(import.meta.dirname, '../emacs/row.el');
  const folders = ['elisp', 'test/emacs/editors'].flatMap((one) => ['-L', join(ROOT, one)]);
  const emacs = start('emacs', ['-Q', '--batch', ...folders, '-l', script], {
    env: environment(folder, {
      BENCH_NODE: process.execPath,
      BENCH_HIVE: HIVE,
      BENCH_PARENT: `${process.pid}`,
      ...env,
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (emacs.stderr === null) throw new Error('Emacs has no stderr.');
  const lines = createInterface({ input: emacs.stderr });
  return {
    lines,
    said: (word) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`Emacs did not say "${word}".`)), 2 * LIMIT_MS);
        lines.on('line', function look(line: string) {
          if (!line.startsWith(word)) return;
          clearTimeout(late);
          lines.off('line', look);
          resolve(line.slice(word.length).trim());
        });
      }),
    end: () => emacs.kill('SIGTERM'),
  };
}
