/** The cost of `hive mcp` itself for an agent: its start, up to the first result of a tool, and its memory. */
import {
  allowLoops,
  connect,
  ECHO,
  environment,
  HIVE,
  residentMemory,
  type Server,
  tempFolder,
} from '../children.ts';
import { type Family, interleave } from '../harness.ts';

const question = 'Drop the old sessions table after the migration?';
/** Memory is measured when what was needed only for the start has been freed. */
const SETTLE_MS = 300;
/** After some seconds without work, V8 collects what the start has left. */
const REST_MS = { full: 15_000, smoke: 3_000 } as const;

export const server: Family = {
  name: 'server',
  rows: ['hive mcp, start to first result', 'hive mcp, resident memory', 'hive mcp, resident memory at rest'],
  async measure(effort) {
    const folder = tempFolder();
    // Not in the time that is measured: the echo server has no such preparation.
    await allowLoops(folder);
    const memory: { hive: number[]; echo: number[] } = { hive: [], echo: [] };

    async function run(
      begin: () => Promise<Server>,
      tool: string,
      resident: number[],
      settle_ms = SETTLE_MS,
    ): Promise<number> {
      const started = performance.now();
      const child = await begin();
      await child.call(tool, { question });
      const elapsed = performance.now() - started;
      await new Promise((resolve) => setTimeout(resolve, settle_ms));
      resident.push(residentMemory(child.pid));
      await child.close();
      return elapsed;
    }

    const hive = (resident: number[], settle_ms?: number) =>
      run(
        () => connect([HIVE, 'mcp'], environment(folder, { HIVE_AGENT: 'bench' })),
        'hivemind_ask_async',
        resident,
        settle_ms,
      );
    const echo = (resident: number[], settle_ms?: number) =>
      run(() => connect([ECHO], environment(folder)), 'echo', resident, settle_ms);
    const starts = await interleave(effort === 'full' ? 15 : 3, {
      hive: () => hive(memory.hive),
      echo: () => echo(memory.echo),
    });
    const rest: { hive: number[]; echo: number[] } = { hive: [], echo: [] };
    // They do nothing, so they do not disturb each other.
    const pairs = Array.from({ length: effort === 'full' ? 3 : 1 });
    const rest_ms = REST_MS[effort];
    await Promise.all(pairs.flatMap(() => [hive(rest.hive, rest_ms), echo(rest.echo, rest_ms)]));
    return [
      {
        name: 'hive mcp, start to first result',
        unit: 'ms',
        samples: starts.hive,
        floor: starts.echo,
        target: { of: 'ratio', at_most: 0.7 },
      },
      {
        name: 'hive mcp, resident memory',
        unit: 'MiB',
        samples: memory.hive,
        floor: memory.echo,
        target: { of: 'ratio', at_most: 1.1 },
      },
      {
        name: 'hive mcp, resident memory at rest',
        unit: 'MiB',
        samples: rest.hive,
        floor: rest.echo,
        target: { of: 'ratio', at_most: 1.1 },
      },
    ];
  },
};
