/** `hive run` and `hive runs`: headless agents that end while their human thinks. Only a human starts one. */
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Hive } from '../../application/hive.ts';
import { refuseAgents } from '../../cli/actor.ts';
import { EXIT, type ExitCode } from '../../cli/exit-codes.ts';
import { type Format, moment, parseDuration, printJson, printRows, remark } from '../../cli/output.ts';
import { perform, thisFile, untilSignalled, withHive } from '../../cli/program.ts';
import { invalidInput } from '../../domain/errors.ts';
import type { Run } from '../../domain/runs.ts';
import { environmentToKeep } from './files.ts';
import { askingOptions, PATIENCE_MS, readCommand } from './run.ts';
import { JOBS, resumeRuns, runsOf } from './service.ts';

const sleeps = (run_id: string, asks: string): string =>
  asks === ''
    ? `The agent of ${run_id} died. It is restarted by a sidecar, hive serve or hive run --watch. Start one if none is running.`
    : `${run_id} sleeps until you answer ${asks}. Then a sidecar, hive serve or hive run --watch resumes it. Start one if none is running.`;

const stateOf = ({
  status,
  exit_code,
  problem,
}: {
  status: string;
  exit_code: number | null;
  problem: string | null;
}): string =>
  status !== 'ended'
    ? status
    : (problem ?? (exit_code === null ? 'ended' : `ended with exit code ${exit_code}`));

interface RunOptions extends Format {
  dir?: string;
  patience: string;
  keepEnv?: string[];
  watch?: boolean;
  jobs?: string;
}

export function defineRun(command: Command): void {
  command
    .argument('[command...]', 'claude -p "…" or codex exec "…" and its options, after --')
    .option('--dir <directory>', 'where the agent works; default: here')
    .option('--patience <duration>', 'how long a call waits for you before the agent ends', '60s')
    .option('--keep-env <name...>', 'variables to keep for later starts, although they look like secrets')
    .option('--watch', 'start no agent, but resume those whose human has answered, until interrupted')
    .option('--jobs <n>', `with --watch: at most this many agents at a time; default: ${JOBS}`)
    .option('--json', 'print the run as JSON instead of the output of the agent')
    .action((words: string[], options: RunOptions, self: Command) =>
      withHive(options, (hive) => {
        refuseUseless(self, options.watch === true);
        return options.watch === true ? watch(hive, words, options) : start(hive, words, options);
      }),
    );
}

/** @throws HiveError `invalid_input` for an option that would have no effect. */
function refuseUseless(command: Command, isWatching: boolean): void {
  const useless = isWatching ? ['dir', 'patience', 'keepEnv', 'json'] : ['jobs'];
  for (const option of command.options) {
    const name = option.attributeName();
    if (!useless.includes(name) || command.getOptionValueSource(name) !== 'cli') continue;
    throw invalidInput(
      isWatching
        ? `--watch does not start a new agent: leave ${option.long} out.`
        : `${option.long} is for --watch: leave it out.`,
    );
  }
}

async function start(hive: Hive, words: string[], options: RunOptions): Promise<ExitCode> {
  await refuseAgents(hive, 'start or stop runs');
  const given = readCommand(words);
  const added = askingOptions(given, [process.execPath, thisFile(), 'mcp', '--deny']);
  const command = { ...given, options: [...given.options, ...added] };
  const named = options.keepEnv ?? [];
  const { env, left_out } = environmentToKeep(process.env, named);
  const missing = named.find((name) => process.env[name] === undefined);
  if (missing !== undefined)
    throw invalidInput(
      `--keep-env names ${missing}, which is not set here. Set it, or leave it out of --keep-env.`,
    );
  const patience_ms = parseDuration(options.patience);
  if (patience_ms > PATIENCE_MS)
    throw invalidInput(
      `--patience is ${options.patience}: give 9m or less, because no client lets a hook wait longer. A question stays pending as long as needed, even after the agent has ended.`,
    );
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  hive.startExpiry();
  const dir = resolve(options.dir ?? '.');
  const run = await runsOf(hive).begin({ command, dir, env, left_out, patience_ms, stop: stop.signal });
  if (options.json === true) printJson({ run: shown(hive, run) });
  else if (run.status === 'ended') {
    await copyFile(runsOf(hive).output(run.run_id, 'out'), process.stdout);
    await copyFile(runsOf(hive).output(run.run_id, 'err'), process.stderr);
  }
  if (run.problem !== null) remark(`${run.run_id} has ended: ${run.problem}`);
  if (run.status === 'sleeping') remark(sleeps(run.run_id, run.calls.map(({ ask_id }) => ask_id).join(', ')));
  if (run.status !== 'ended') return EXIT.pending;
  return run.exit_code === 0 && run.problem === null ? EXIT.done : EXIT.error;
}

/** An agent that was never started has printed nothing. */
async function copyFile(path: string, output: NodeJS.WritableStream): Promise<void> {
  if (!existsSync(path)) return;
  await pipeline(createReadStream(path), output, { end: false });
}

async function watch(hive: Hive, words: string[], { jobs: given }: RunOptions): Promise<ExitCode> {
  const jobs = given === undefined ? JOBS : Number(given);
  if (words.length > 0) throw invalidInput('--watch does not start a new agent: leave the command out.');
  if (!Number.isInteger(jobs) || jobs < 1)
    throw invalidInput(`--jobs is "${given}". It must be a whole number, 1 or more.`);
  await refuseAgents(hive, 'start or stop runs');
  const stop = untilSignalled();
  hive.startExpiry();
  resumeRuns(hive, jobs);
  remark('Resuming runs as their questions are answered. Press Ctrl-C to stop.');
  await new Promise<void>((done) => stop.addEventListener('abort', () => done(), { once: true }));
  return EXIT.done;
}

// ---- hive runs ----

interface ListOptions extends Format {
  all?: boolean;
  stop?: string;
}

export function defineRuns(command: Command): void {
  perform(command, list)
    .option('--all', 'those that have ended, too')
    .option('--stop <run>', 'end this run: its agent is stopped and not started again');
}

async function list(hive: Hive, { all = false, stop, json }: ListOptions): Promise<ExitCode> {
  if (stop !== undefined) {
    await refuseAgents(hive, 'start or stop runs');
    const { run, killed } = await runsOf(hive).stop(stop);
    const how = killed ? ' Its agent ignored the interrupt and was killed.' : '';
    if (json !== true) remark(`${stop}: ${stateOf(run)}${how}`);
  }
  const runs = await runsOf(hive).list({ all });
  if (json === true) printJson({ runs: runs.map((run) => shown(hive, run)) });
  else if (runs.length === 0 && stop === undefined)
    remark('There are no active or sleeping runs. Start one with: hive run -- claude -p "…"');
  else
    printRows(
      runs.map((run) => [
        run.run_id,
        stateOf(run),
        run.calls.map(({ ask_id }) => ask_id).join(' '),
        moment(run.changed_at),
      ]),
    );
  return EXIT.done;
}

/** The run without the fields that concern only the processes that look after it. */
function shown(hive: Hive, { keeper: _, agent: _agent, digest: _digest, ...run }: Run): object {
  return { ...run, output: runsOf(hive).output(run.run_id) };
}
