/** The ACP proxy: what it adds to a round trip, and how soon a permission of an agent is at the desks. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openHive } from '../../src/open-hive.ts';
import { environment, HIVE, start, storeIn, tempFolder } from '../children.ts';
import type { Family } from '../harness.ts';

const AGENT = join(import.meta.dirname, '../peers/acp-agent.mjs');
/** How long a permission may take to appear before the measurement fails. */
const LIMIT_MS = 10_000;

interface Editor {
  request(method: string, params: object): Promise<void>;
  /** Answers the next request of the agent. */
  refuse(): void;
  close(): void;
}

function editorOf(child: ChildProcess): Editor {
  const waiting = new Map<unknown, () => void>();
  let asked: unknown = null;
  let ids = 0;
  const send = (message: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  if (child.stdout === null) throw new Error('The agent has no output.');
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method } = JSON.parse(line) as { id?: unknown; method?: string };
    if (method === 'session/request_permission') asked = id;
    else if (method === undefined) waiting.get(id)?.();
  });
  return {
    request: (method, params) =>
      new Promise((resolve) => {
        ids += 1;
        waiting.set(ids, resolve);
        send({ id: ids, method, params });
      }),
    refuse: () => send({ id: asked, result: { outcome: { outcome: 'selected', optionId: 'no' } } }),
    close: () => child.stdin?.end(),
  };
}

export const acp: Family = {
  name: 'acp',
  rows: ['ACP round trip through hive acp', 'ACP permission → at the desks'],
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
        target: { of: 'p50', at_most: 15 } as const,
      },
    ];
  },
};
