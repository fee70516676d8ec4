/**
 * Headless agents whose process ends while their human thinks: `hive run`, for a program. The agent is a separate process
 * of Claude Code, so that any process of the person can resume it; a `query` of the SDK lives in its program.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { agentVariable, agentVariableAbove } from '../../../application/identity.ts';
import { HiveError, invalidInput } from '../../../domain/errors.ts';
import { hookTable, SERVER_NAME, toolRules } from '../../../domain/installation.ts';
import type { Run } from '../../../domain/runs.ts';
import { processes } from '../../../infrastructure/platform/processes.ts';
import { environmentToKeep } from '../files.ts';
import { askingOptions, PATIENCE_MS, readCommand } from '../run.ts';
import { resumeRuns, runsOf } from '../service.ts';
import { type AgentHive, hiveServer, program } from './agent-hive.ts';

/** An agent to run. The names are those of the SDK's options, if it has the same option. */
export interface HeadlessRequest {
  /** The task of the agent. */
  prompt: string;
  /** The directory in which the agent works; default: this program's. */
  cwd?: string;
  /** The program of Claude Code, whose name must be `claude`; default: the one on the PATH. */
  pathToClaudeCodeExecutable?: string;
  /** The tools that the agent may use unasked, in the client's notation; Hive's own are added. */
  allowedTools?: readonly string[];
  /** The client's permission mode; default: the human is asked. */
  permissionMode?: string;
  /** The model. */
  model?: string;
  /** More MCP servers, by name. */
  mcpServers?: Readonly<Record<string, object>>;
  /** More options of `claude`, as on its command line. */
  args?: readonly string[];
  /** The agent's environment; default: this program's. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Variables to store for later starts, although their names look like secrets. */
  keepEnv?: readonly string[];
  /** How long a call waits for its human before the agent ends, in ms: 0 to 540,000 (9 minutes), 60,000 by default. */
  patience_ms?: number;
  /** Stops the agent and ends the run. */
  signal?: AbortSignal;
}

/** A run, as it is now. */
export interface HeadlessRun {
  /** Made by Hive; `untilEnded` needs it. */
  run_id: string;
  /** The conversation. */
  session_id: string;
  /** `sleeping`: its process has ended, and it is started again when `waits_for` is answered. */
  status: 'working' | 'sleeping' | 'ended';
  /** The questions that it waits for. */
  waits_for: string[];
  /** How the agent ended; null while the run lasts, or if nobody saw the end. */
  exit_code: number | null;
  /** Why a run ended although it could have continued; null otherwise. */
  problem: string | null;
  /** The last message of the agent, once the run has ended; null if there is none. */
  result: string | null;
}

const PATIENCE_DEFAULT_MS = 60_000;

/**
 * Starts Claude Code headless and resolves when it has ended, or sleeps until its human answers. A sidecar, `hive serve`,
 * `hive run --watch` or `untilEnded` resumes a sleeping run. Hive's hooks and tools are passed along, and the settings of
 * the user and the project are not read, so nothing needs to be installed.
 * @throws HiveError `invalid_input`; `not_allowed` in a process that an agent started.
 */
export async function runHeadless(hive: AgentHive, request: HeadlessRequest): Promise<HeadlessRun> {
  const { prompt, cwd = '.', env = process.env, keepEnv = [], patience_ms = PATIENCE_DEFAULT_MS } = request;
  await refuseAgents(hive, env);
  if (!(patience_ms >= 0 && patience_ms <= PATIENCE_MS))
    throw invalidInput(`patience_ms is ${patience_ms}: it must be between 0 and ${PATIENCE_MS}.`);
  const claude = request.pathToClaudeCodeExecutable ?? 'claude';
  const given = readCommand([claude, '-p', prompt, ...(request.args ?? [])]);
  const serve = [process.execPath, program(), 'mcp', '--deny'];
  const command = {
    ...given,
    options: [...optionsOf(request), ...given.options, ...askingOptions(given, serve)],
  };
  const run = await runsOf(hive.hive).begin({
    command,
    dir: resolve(cwd),
    ...environmentToKeep(hive.store === undefined ? env : { ...env, HIVE_STORE: hive.store }, keepEnv),
    patience_ms,
    ...(request.signal === undefined ? {} : { stop: request.signal }),
  });
  return shown(hive, run);
}

/**
 * Waits until a run has ended, however often it sleeps. Until then this program resumes this person's runs, as a sidecar
 * does: at most `jobs` agents at a time, 4 by default. When `signal` fires, it stops waiting and resolves to the current run.
 * @throws HiveError `run_not_found`.
 */
export async function untilEnded(
  hive: AgentHive,
  run_id: string,
  { jobs, signal = hive.closing }: { jobs?: number; signal?: AbortSignal } = {},
): Promise<HeadlessRun> {
  const { feed } = hive.hive;
  const runs = runsOf(hive.hive);
  const find = async (): Promise<Run> => {
    const found = (await runs.list({ all: true })).find((run) => run.run_id === run_id);
    if (found === undefined) throw new HiveError('run_not_found', `There is no run ${run_id} of yours.`);
    return found;
  };
  await find();
  resumeRuns(hive.hive, jobs);
  let ended: Run | undefined;
  while (ended === undefined && !signal.aborted) {
    ended = await feed.until(
      async () => {
        const run = await find();
        return run.status === 'ended' ? run : undefined;
      },
      { wait_ms: LOOK_MS, signal },
    );
  }
  return shown(hive, ended ?? (await find()));
}

/** In ms. A change of a run alone wakes nobody. */
const LOOK_MS = 1_000;

/** The command of a run is started outside of any sandbox, even later, so no agent may choose it. */
async function refuseAgents(
  { hive }: AgentHive,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { pid } = process;
  const [above] = await hive.sessions.above({ machine: hostname(), pid });
  // The environment for the agent may reveal less about this program than the program's own.
  const variable = agentVariable(env) ?? agentVariable(process.env) ?? agentVariableAbove(processes, pid);
  if (above === undefined && variable === null) return;
  const because = above === undefined ? `${variable} is set` : `it runs below ${above.handle}`;
  throw new HiveError(
    'not_allowed',
    `Only a human starts headless runs, and this process belongs to an agent (${because}).`,
  );
}

/** The command line of Claude Code, with what `hive init` would install. */
function optionsOf(request: HeadlessRequest): string[] {
  const { allowedTools = [], permissionMode, model, mcpServers = {} } = request;
  const hooks = hookTable('claude-code', { program: [process.execPath, program()] });
  // The store is in the environment of the agent, where a password is not seen.
  const servers = { ...mcpServers, [SERVER_NAME]: hiveServer({ store: undefined }) };
  return [
    ...['--output-format', 'json', '--setting-sources', '', '--settings', JSON.stringify({ hooks })],
    ...['--mcp-config', JSON.stringify({ mcpServers: servers })],
    ...['--allowedTools', [...toolRules(SERVER_NAME), ...allowedTools].join(',')],
    ...(permissionMode === undefined ? [] : ['--permission-mode', permissionMode]),
    ...(model === undefined ? [] : ['--model', model]),
  ];
}

function shown({ hive }: AgentHive, run: Run): HeadlessRun {
  const { run_id, session_id, status, exit_code, problem } = run;
  const waits_for = run.calls.map(({ ask_id }) => ask_id);
  const result = status === 'ended' ? lastWords(runsOf(hive).output(run_id)) : null;
  return { run_id, session_id, status, waits_for, exit_code, problem, result };
}

/** The result in the last line: each start of the agent has printed one line. */
function lastWords(path: string): string | null {
  try {
    const line = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '';
    const { result } = JSON.parse(line) as { result?: unknown };
    return typeof result === 'string' ? result : null;
  } catch {
    // The agent died before or while printing its line.
    return null;
  }
}
