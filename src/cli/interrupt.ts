/** `hive interrupt`: stops an agent and waits until its turn is over. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { type HiveError, invalidInput } from '../domain/errors.ts';
import { type InterruptOutcome, outcomeSentence } from '../domain/interrupts.ts';
import { labelled } from '../domain/sources.ts';
import { type ActorOptions, BY, findActor } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, parseDuration, print, printJson, remark } from './output.ts';
import { withHive } from './program.ts';
import { ACTION, INTERRUPT } from './sentences.ts';

interface InterruptOptions extends Format, ActorOptions {
  all?: boolean;
  turn?: string;
  note?: string;
  timeout?: string;
  cancel?: boolean;
}

export function defineInterrupt(command: Command): void {
  command
    .argument('[agent]', 'the title or the handle of the agent, as `hive sessions` shows it')
    .option('--all', 'every agent that has a turn in progress')
    .option('--turn <id>', 'only this turn; default: the current one')
    .option('--note <text>', 'the reason; the agent and the agents that work with it read it')
    .option('--timeout <duration>', 'how long to wait (default 10m); the interrupt stays in force')
    .option('--cancel', 'withdraw an interrupt that has not reached its turn yet')
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .action((agent: string | undefined, options: InterruptOptions) =>
      withHive(options, (hive) => interrupt(hive, agent, options)),
    );
}

async function interrupt(
  hive: Hive,
  agent: string | undefined,
  options: InterruptOptions,
): Promise<ExitCode> {
  if ((agent === undefined) === (options.all !== true)) throw invalidInput(INTERRUPT.oneOrAll);
  if (agent === undefined && options.cancel === true) throw invalidInput(INTERRUPT.cancelNeedsAgent);
  if (agent === undefined && options.turn !== undefined) throw invalidInput(INTERRUPT.turnNeedsAgent);
  const actor = await findActor(hive, { action: ACTION.interrupt }, options);
  const timeout_ms = options.timeout === undefined ? undefined : parseDuration(options.timeout);
  const request = { actor, timeout_ms, note: options.note };
  if (agent === undefined) return all(hive, request, options);
  const session = await hive.sessions.resolve(agent);
  const { session_id } = session;
  const called = labelled(session);
  if (options.cancel === true) {
    const withdrawn = await hive.interrupts.cancel({ session: session_id, turn_id: options.turn, actor });
    if (options.json === true) printJson({ withdrawn: withdrawn.map(({ interrupt_id }) => interrupt_id) });
    else if (withdrawn.length > 0) print(INTERRUPT.withdrawn(called));
    else remark(INTERRUPT.noneOpen(called));
    return withdrawn.length > 0 ? EXIT.done : EXIT.notAccepted;
  }
  const [newest] = await hive.turns.newestOf([session_id]);
  if (options.json !== true && newest?.turn.state === 'in_progress') remark(INTERRUPT.waiting(called));
  const outcome = await hive.interrupts.interrupt({ ...request, session: session_id, turn_id: options.turn });
  if (options.json === true) printJson(interrupted(outcome));
  else print(INTERRUPT.outcome(called, outcomeSentence(outcome)));
  return exitOf([outcome]);
}

async function all(
  hive: Hive,
  request: Parameters<Hive['interrupts']['interruptAll']>[0],
  { json }: InterruptOptions,
): Promise<ExitCode> {
  const outcomes = await hive.interrupts.interruptAll(request);
  if (json === true) {
    printJson({ outcomes: outcomes.map((one) => ('error' in one ? failed(one) : interrupted(one))) });
  } else {
    for (const one of outcomes)
      print(INTERRUPT.outcome(one.called, 'error' in one ? one.error.message : outcomeSentence(one)));
    if (outcomes.length === 0) remark(INTERRUPT.nobodyBusy);
  }
  const errors = outcomes.filter((one) => 'error' in one);
  const answered = outcomes.filter((one) => !('error' in one));
  return errors.length > 0 ? EXIT.error : exitOf(answered as InterruptOutcome[]);
}

function interrupted<Outcome extends InterruptOutcome>(outcome: Outcome): object {
  return { ...outcome, sentence: outcomeSentence(outcome) };
}

function failed({ error, ...one }: { error: HiveError }): object {
  return { ...one, error: { code: error.code, message: error.message } };
}

function exitOf(outcomes: readonly InterruptOutcome[]): ExitCode {
  return outcomes.some(({ outcome }) => outcome === 'unconfirmed') ? EXIT.pending : EXIT.done;
}
