/** What `hive mcp` itself costs an agent: its start, up to the first result of a tool, and its memory. */
import {
  connect,
  connectHive,
  ECHO,
  environment,
  residentMemory,
  type Server,
  tempFolder,
} from '../children.ts';
import { type Family, interleave } from '../harness.ts';

const question = 'Drop the old sessions table after the migration?';
/** Memory is measured when what was needed only for the start has been freed. */
const SETTLE_MS = 300;

export const server: Family = {
  name: 'server',
  rows: ['hive mcp, start to first result', 'hive mcp, resident memory'],
  async measure(effort) {
    const folder = tempFolder();
    const memory: { hive: number[]; echo: number[] } = { hive: [], echo: [] };

    async function run(begin: () => Promise<Server>, tool: string, resident: number[]): Promise<number> {
      const started = performance.now();
      const child = await begin();
      await child.call(tool, { question });
      const elapsed = performance.now() - started;
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      resident.push(residentMemory(child.pid));
      await child.close();
      return elapsed;
    }

    const starts = await interleave(effort === 'full' ? 15 : 3, {
      hive: () => run(() => connectHive(folder), 'hivemind_ask_async', memory.hive),
      echo: () => run(() => connect([ECHO], environment(folder)), 'echo', memory.echo),
    });
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
    ];
  },
};
