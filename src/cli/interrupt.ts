/** `hive interrupt`: stops an agent and waits until its turn is over. */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import { type HiveError, invalidInput } from '../domain/errors.ts';
import { type InterruptOutcome, outcomeSentence } from '../domain/interrupts.ts';
import { labelled } from '../domain/sources.ts';
import { findActor } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, parseDuration, printJson, remark, say } from './output.ts';
import { perform } from './program.ts';

interface InterruptOptions extends Format {
  all?: boolean;
  turn?: string;
  note?: string;
  timeout?: string;
  cancel?: boolean;
}

export function defineInterrupt(command: Command): void {
  perform(command, interrupt)
    .argument('[agent]', 'the title or the handle of the agent, as `hive sessions` shows it')
    .addOption(new Option('--all', 'every agent that has a turn in progress').conflicts(['cancel', 'turn']))
    .option('--turn <id>', 'only this turn; default: the current one')
    .option('--note <text>', 'the reason; the agent and the agents that work with it read it')
    .option('--timeout <duration>', 'how long to wait (default 10m); the interrupt stays in force')
    .addOption(
      new Option('--cancel', 'withdraw an interrupt that has not reached its turn yet').conflicts([
        'note',
        'timeout',
      ]),
    );
}

async function interrupt(
  hive: Hive,
  agent: string | undefined,
  options: InterruptOptions,
): Promise<ExitCode> {
  if ((agent === undefined) === (options.all !== true))
    throw invalidInput('Name one agent, or use --all. Nobody was interrupted.');
  const actor = await findActor(hive, { action: 'interrupt other agents', coordinates: true });
  const timeout_ms = options.timeout === undefined ? undefined : parseDuration(options.timeout);
  const request = { actor, timeout_ms, note: options.note };
  if (agent === undefined) return all(hive, request, options);
  const session = await hive.sessions.resolve(agent);
  const { session_id } = session;
  const called = labelled(session);
  if (options.cancel === true) {
    const withdrawn = await hive.interrupts.cancel({ session: session_id, turn_id: options.turn, actor });
    if (options.json === true) printJson({ withdrawn: withdrawn.map(({ interrupt_id }) => interrupt_id) });
    else if (withdrawn.length > 0) say(`Interrupt withdrawn. ${called} continues.`);
    else remark(`There is no pending interrupt for ${called}.`);
    return withdrawn.length > 0 ? EXIT.done : EXIT.notAccepted;
  }
  const [newest] = await hive.turns.newestOf([session_id]);
  if (options.json !== true && newest?.turn.state === 'in_progress')
    remark(`Asked ${called} to stop. Waiting for its turn to end.`);
  const outcome = await hive.interrupts.interrupt({ ...request, session: session_id, turn_id: options.turn });
  if (options.json === true) printJson(interrupted(outcome));
  else say(`${called}: ${outcomeSentence(outcome)}`);
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
      say(`${one.called}: ${'error' in one ? one.error.message : outcomeSentence(one)}`);
    if (outcomes.length === 0) remark('No agent is running.');
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
