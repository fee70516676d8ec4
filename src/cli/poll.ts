/**
 * `hive poll`: checks whether the human has answered, or with --wait waits until then. It changes nothing and may be
 * repeated.
 */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { Open } from '../application/prompts.ts';
import { invalidInput } from '../domain/errors.ts';
import { countThatFits } from '../domain/limits.ts';
import { isUncollected, type Prompt } from '../domain/prompts.ts';
import { type Caller, carrierOf, findCaller, isForCaller } from './actor.ts';
import { EXIT, type ExitCode, exitCodeOfPrompts } from './exit-codes.ts';
import { type Format, parseDuration, printJson, promptJson, remark, showPrompt } from './output.ts';
import { perform } from './program.ts';
import { counted } from './sentences.ts';

const timeIsUp = (pending: number): string =>
  `The time is up. ${counted(pending, 'question')} ${pending === 1 ? 'is' : 'are'} still pending.`;

interface PollOptions extends Format {
  wait?: boolean;
  timeout?: string;
}

export function definePoll(command: Command): void {
  perform(command, poll)
    .argument('[ids...]', 'the questions; default: all open ones of yours')
    .option('--wait', 'wait until one of them is settled')
    .option('--timeout <duration>', 'with --wait: how long to wait; the questions stay open');
}

async function poll(hive: Hive, ids: string[], options: PollOptions): Promise<ExitCode> {
  if (options.wait === true) return wait(hive, ids, options);
  if (options.timeout !== undefined)
    throw invalidInput('--timeout needs --wait, for example: hive poll --wait --timeout 10m');
  const caller = await findCaller(hive);
  const carrier = await carrierOf(hive, caller);
  if (ids.length === 0) {
    const open = await hive.prompts.waitForOpen(caller.session_id, { wait_ms: 0 });
    return report(hive, open.prompts, { caller, carrier, single: false, open, ...options });
  }
  const prompts = await Promise.all(ids.map((ask_id) => hive.prompts.get(ask_id)));
  return report(hive, prompts, { caller, carrier, single: ids.length === 1, ...options });
}

/** How much output an agent's shell passes on to its model: Claude Code cuts the output of a command at 30,000 characters. */
const SHELL_BYTES = 28 * 1024;

interface ReportOptions extends Format {
  caller: Caller;
  carrier: string;
  /** One prompt was named, so the JSON is that prompt and not a list. */
  single: boolean;
  /** Set if these are the first of all open prompts; then the rest is counted. */
  open?: Open;
}

/** Hands over the caller's own prompts, prints all, and returns the exit code for their states. */
async function report(
  hive: Hive,
  given: readonly Prompt[],
  { caller, carrier, single, open, json }: ReportOptions,
): Promise<ExitCode> {
  // The next command proves that the agent has read these, so hand over only what its shell shows. Named prompts are never cut.
  const isCut = open !== undefined && caller.agent_because !== null;
  const prompts = isCut ? given.slice(0, countThatFits(given.map(promptJson), SHELL_BYTES)) : given;
  const own = prompts.filter((prompt) => prompt.status !== 'pending' && isForCaller(prompt, caller));
  const handed = await hive.delivery.hand(
    own.map((prompt) => prompt.ask_id),
    carrier,
    caller.session_id,
  );
  const delivered = new Map(handed.map((delivery) => [delivery.prompt.ask_id, delivery]));
  const more = open === undefined ? null : beyond({ ...open, prompts });
  const shown = prompts.map((prompt) => delivered.get(prompt.ask_id) ?? { prompt, repeated: false });
  if (json === true) {
    const views = shown.map(({ prompt, repeated }) => ({
      ...promptJson(prompt),
      ...(repeated ? { repeated } : {}),
    }));
    printJson(single ? views[0] : { prompts: views, ...(more === null ? {} : { more }) });
  } else {
    for (const { prompt } of shown) showPrompt(prompt);
    if (shown.length === 0) remark('You have no pending questions and no unread answers.');
    if (more !== null && more.settled > 0)
      remark(
        `${more.settled} more ${more.settled === 1 ? 'is' : 'are'} settled. Run hive poll again to see them.`,
      );
    if (more !== null && more.pending > 0)
      remark(
        `${more.pending} more ${more.pending === 1 ? 'is' : 'are'} pending. hive list shows all of them, hive poll ID shows one.`,
      );
  }
  return exitCodeOfPrompts(shown.map(({ prompt }) => prompt));
}

/** How many open prompts are not listed; null if there are none. */
function beyond({
  prompts,
  settled,
  pending,
}: Omit<Open, 'prompts'> & { prompts: readonly Prompt[] }): { settled: number; pending: number } | null {
  const listed = prompts.filter(({ status }) => status === 'pending').length;
  const more = { settled: settled - (prompts.length - listed), pending: pending - listed };
  return more.settled + more.pending === 0 ? null : more;
}

// ---- hive poll --wait ----

async function wait(hive: Hive, ids: string[], options: PollOptions): Promise<ExitCode> {
  const wait_ms = options.timeout === undefined ? Number.POSITIVE_INFINITY : parseDuration(options.timeout);
  const caller = await findCaller(hive);
  const carrier = await carrierOf(hive, caller);
  const waiting = { wait_ms, waiter: caller.session_id };
  hive.startExpiry();
  if (ids.length === 0) {
    const open = await hive.prompts.waitForOpen(caller.session_id, waiting);
    if (open.prompts.length === 0) {
      if (options.json === true) printJson({ prompts: [] });
      remark('You have no pending questions and no unread answers, so there is nothing to wait for.');
      return EXIT.pending;
    }
    const done = open.settled > 0;
    if (!done) remark(timeIsUp(open.pending));
    const shown = done ? open.prompts.filter(({ status }) => status !== 'pending') : open.prompts;
    // The caller waited for settled prompts, so the pending ones are not counted.
    const counted = done ? { ...open, prompts: shown, pending: 0 } : open;
    return report(hive, shown, { caller, carrier, single: false, open: counted, ...options });
  }
  const prompts = await hive.prompts.wait(ids, waiting);
  const settled = prompts.filter(({ status }) => status !== 'pending');
  const fresh = settled.filter(isUncollected);
  if (settled.length === 0) remark(timeIsUp(prompts.length));
  const shown = [fresh, settled, prompts].find(({ length }) => length > 0) ?? [];
  return report(hive, shown, { caller, carrier, single: ids.length === 1, ...options });
}
