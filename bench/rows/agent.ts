/**
 * A step of a real agent: Claude Code with a scripted model that reads one small file a step. What `hive init claude --hooks`
 * writes is compared with the same server and no hooks, so the difference is what the hooks cost. The same hooks with a
 * server that does nothing show how much of that is the client's own part.
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HookWay, hookTable, type ServerSetting, serverSetting } from '../../src/domain/installation.ts';
import { installClients } from '../../test/clients/support/install.ts';
import { MESSAGES_API, type ModelRequest, type Reply } from '../../test/clients/support/messages-api.ts';
import { serveModel } from '../../test/clients/support/model-server.ts';
import { environment, HIVE, ROOT, start, tempFolder } from '../children.ts';
import { type Family, interleave, percentile } from '../harness.ts';

/** They fill two processors by themselves; half as many do as well. */
const AT_ONCE = { full: 8, smoke: 4 } as const;
const program = [process.execPath, HIVE];
const HIVES = serverSetting('claude-code', program);
const INSTANT: ServerSetting = {
  command: process.execPath,
  args: [join(ROOT, 'bench/peers/instant-server.mjs')],
};

/** The client's configuration. */
interface Setup {
  server?: ServerSetting;
  /** Null: no hooks. */
  way: HookWay | null;
}

export const agent: Family = {
  name: 'agent',
  rows: [
    'agent step, hooks over the connection',
    'agent step, a server that does nothing',
    "agent step, Hive's own part",
    'agent step, a process for each hook',
    `agent step, ${AT_ONCE.full} agents`,
  ],
  async measure(effort) {
    const clients = installClients();
    const steps = effort === 'full' ? 40 : 12;
    const run =
      (setup: Setup, count = steps) =>
      (): Promise<number> =>
        stepTime(clients.claude, setup, count);
    // So many share the processors, so their sessions are short.
    const count = AT_ONCE[effort];
    const crowd = (setup: Setup) => async (): Promise<number> => {
      const each = await Promise.all(Array.from({ length: count }, run(setup, steps / 2)));
      return percentile(each, 50);
    };
    const rounds = effort === 'full' ? 8 : 1;
    // A session is the median of its steps; in a short bench the first one is no warm-up.
    const warmup = effort === 'full' ? 1 : 0;
    const alone = await interleave(
      rounds,
      {
        none: run({ way: null }),
        connection: run({ way: 'connection' }),
        instant: run({ way: 'connection', server: INSTANT }),
        process: run({ way: 'process' }),
      },
      warmup,
    );
    const many = await interleave(
      Math.ceil(rounds / 2),
      { none: crowd({ way: null }), connection: crowd({ way: 'connection' }) },
      warmup,
    );
    return [
      {
        name: 'agent step, hooks over the connection',
        unit: 'ms',
        samples: alone.connection,
        floor: alone.none,
        target: { of: 'ratio', at_most: 1.15 },
      },
      {
        name: 'agent step, a server that does nothing',
        unit: 'ms',
        samples: alone.instant,
        floor: alone.none,
        target: null,
      },
      {
        name: "agent step, Hive's own part",
        unit: 'ms',
        samples: alone.connection,
        floor: alone.instant,
        target: { of: 'ratio', at_most: 1.05 },
      },
      {
        name: 'agent step, a process for each hook',
        unit: 'ms',
        samples: alone.process,
        floor: alone.none,
        target: null,
      },
      {
        name: `agent step, ${count} agents`,
        unit: 'ms',
        samples: many.connection,
        floor: many.none,
        target: { of: 'ratio', at_most: 1.15 },
      },
    ];
  },
};

/** Runs one session of `steps` steps and resolves to the median time of a step, in milliseconds. */
async function stepTime(claude: string, { server = HIVES, way }: Setup, steps: number): Promise<number> {
  const folder = tempFolder();
  const file = join(folder, 'small.txt');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, 'a line\n');
  const arrived: number[] = [];
  const model = await serveModel<ModelRequest, Reply>(MESSAGES_API, (_request, step) => {
    arrived.push(performance.now());
    const read = { name: 'Read', input: { file_path: file } };
    return step <= steps ? { calls: [read] } : { text: 'done' };
  });
  try {
    const mcp = join(folder, 'mcp.json');
    const settings = join(folder, 'settings.json');
    writeFileSync(mcp, JSON.stringify({ mcpServers: { hive: server } }));
    writeFileSync(
      settings,
      JSON.stringify(way === null ? {} : { hooks: hookTable('claude-code', { program, way }) }),
    );
    const env = environment(folder, {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'fake',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      HTTP_PROXY: 'http://127.0.0.1:9',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
    });
    const args = ['-p', 'read it', '--mcp-config', mcp, '--strict-mcp-config', '--settings', settings];
    const child = start(claude, [...args, '--allowedTools', 'Read'], { env, cwd: folder, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0 || arrived.length !== steps + 1)
      throw new Error(`Claude Code ended with ${code} after ${arrived.length} of ${steps + 1} requests.`);
  } finally {
    model.close();
  }
  const times = arrived.slice(1).map((time, n) => time - (arrived[n] ?? time));
  return percentile(times, 50);
}
