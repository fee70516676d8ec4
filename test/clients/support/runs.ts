/** Runs of the real Claude Code under `hive run`, and what happens to them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookWay } from '../../../src/domain/installation.ts';
import { permissionDigest } from '../../../src/domain/permissions.ts';
import type { Prompt } from '../../../src/domain/prompts.ts';
import type { Run } from '../../../src/domain/runs.ts';
import { runsOf } from '../../../src/extensions/runs/service.ts';
import type { OpenedHive } from '../../../src/open-hive.ts';
import { type Child, outputOf, spawnHive } from '../../support/children.ts';
import { HUMAN } from '../../support/hive.ts';
import { eventually } from '../../support/wait.ts';
import { bash, type ModelRequest, type Reply, type Script, startModel, type ToolUse } from './anthropic.ts';
import { type ClaudeRun, claudeArguments, claudeEnvironment, HOOK_WAY } from './claude.ts';
import { openWorld } from './world.ts';

/** The processes that look after runs: a desk's sidecar, a server, and the command that does nothing else. */
export const KEEPERS = [['sidecar'], ['serve', '--port', '0'], ['run', '--watch']];

export const LINE = 'echo one >> effects.txt';

/** One call, and the end once its result is there. */
function untilDone({ messages }: ModelRequest): Reply {
  const results = JSON.stringify(messages).match(/"type":"tool_result"/g) ?? [];
  return results.length === 0 ? { calls: [bash(LINE)] } : { text: 'all done' };
}

/** These calls in one step, and the end once their results are there. */
export const thenDone =
  (...calls: readonly ToolUse[]): Script =>
  ({ messages }) =>
    JSON.stringify(messages).includes('"type":"tool_result"') ? { text: 'all done' } : { calls };

export interface Started {
  hive: OpenedHive;
  folder: string;
  run: ClaudeRun;
  model: Awaited<ReturnType<typeof startModel>>;
  child: Child;
  output: () => string;
}

interface StartOptions {
  script?: Script;
  /** Null: the default. */
  patience?: string | null;
  /** More options of `claude`. */
  more?: readonly string[];
  /** More options of `hive run`. */
  flags?: readonly string[];
  /** More variables, for the first start only. */
  env?: Record<string, string>;
  /** How its hooks reach Hive. */
  way?: HookWay;
}

export async function start({
  script = untilDone,
  way = HOOK_WAY,
  ...rest
}: StartOptions = {}): Promise<Started> {
  const world = await openWorld();
  const model = await startModel(script);
  const { hive, ...place } = world;
  const run: ClaudeRun = { ...place, model, allowed: null, way };
  return { hive, folder: world.folder, run, model, ...(await startAgain(run, rest)) };
}

/** One more run in the same place. */
export async function startAgain(
  run: ClaudeRun,
  { patience = '1s', more = [], flags = [], env = {} }: Omit<StartOptions, 'script' | 'way'> = {},
): Promise<Pick<Started, 'child' | 'output'>> {
  const options = ['--output-format', 'json', ...more, ...(await claudeArguments(run))];
  const command = [run.clients.claude, '-p', 'go', ...options];
  const own = [...flags, ...(patience === null ? [] : ['--patience', patience])];
  const child = spawnHive(['run', ...own, '--', ...command], { ...claudeEnvironment(run), ...env });
  let said = '';
  child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { child, output: () => said };
}

/** The output of `hive runs`. */
export const listed = ({ run }: Started, ...options: string[]): Promise<string> =>
  outputOf(spawnHive(['runs', ...options], claudeEnvironment(run)));

export const watching = ({ run }: Started): Child => spawnHive(['run', '--watch'], claudeEnvironment(run));

export async function runOf(hive: OpenedHive): Promise<Run> {
  const [run] = await runsOf(hive).list({ all: true });
  if (run === undefined) throw new Error('There is no run.');
  return run;
}

export async function pending(hive: OpenedHive): Promise<Prompt> {
  let found: Prompt | undefined;
  await eventually(async () => {
    [found] = (await hive.prompts.list({ status: 'pending', limit: 10 })).items;
    return found !== undefined;
  }, 20_000);
  return found as Prompt;
}

export const answer = (hive: OpenedHive, prompt: Prompt, decision: string) =>
  hive.prompts.respond({
    ask_id: prompt.ask_id,
    decision,
    displayed_digest: permissionDigest(prompt),
    actor: HUMAN,
  });

export const ended = (hive: OpenedHive): Promise<void> =>
  eventually(async () => (await runOf(hive)).status === 'ended', 240_000);

export const effects = (folder: string): string =>
  existsSync(join(folder, 'effects.txt')) ? readFileSync(join(folder, 'effects.txt'), 'utf8') : '';

/** The first line that the conversation does not show as written or refused. */
export function nextLine({ messages }: ModelRequest, lines: readonly string[]): Reply {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []) as Part[]);
  const isSettled = (line: string): boolean =>
    parts.some(
      ({ type, id, input }) =>
        type === 'tool_use' &&
        JSON.stringify(input).includes(line) &&
        parts.some(
          (result) =>
            result.type === 'tool_result' &&
            result.tool_use_id === id &&
            (result.is_error !== true || JSON.stringify(result.content).includes('ada denied')),
        ),
    );
  const next = lines.find((line) => !isSettled(line));
  return next === undefined ? { text: 'all done' } : { calls: [bash(`echo ${next} >> effects.txt`)] };
}

interface Part {
  type?: string;
  id?: string;
  input?: unknown;
  tool_use_id?: string;
  is_error?: boolean;
  content?: unknown;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
