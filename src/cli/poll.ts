/** `hive poll`: look whether the human has answered. Looking changes nothing and may be repeated. */
import type { Command } from 'commander';
import { fittingCount } from '../adapters/fitting.ts';
import type { Hive } from '../application/hive.ts';
import type { Open } from '../application/prompts.ts';
import type { Prompt } from '../domain/prompts.ts';
import { type Caller, carrierOf, findCaller, isForCaller } from './caller.ts';
import { type ExitCode, exitCodeOfPrompts } from './exit-codes.ts';
import { type Format, printJson, remark } from './output.ts';
import { promptJson, showPrompt } from './prompt-text.ts';
import { withHive } from './run.ts';

export function definePoll(command: Command): void {
  command
    .argument('[ids...]', 'the questions; without one: everything of yours that is open')
    .option('--json', 'print JSON')
    .action((ids: string[], options: Format) => withHive(options, (hive) => poll(hive, ids, options)));
}

async function poll(hive: Hive, ids: string[], options: Format): Promise<ExitCode> {
  const caller = await findCaller(hive);
  const carrier = await carrierOf(hive, caller);
  if (ids.length === 0) {
    const open = await hive.prompts.waitForOpen(caller.session_id, { wait_ms: 0 });
    return report(hive, open.prompts, { caller, carrier, single: false, open, ...options });
  }
  const prompts = await Promise.all(ids.map((ask_id) => hive.prompts.get(ask_id)));
  return report(hive, prompts, { caller, carrier, single: ids.length === 1, ...options });
}

/** What an agent's shell passes on to its model whole: Claude Code cuts what a command prints at 30,000 characters. */
const SHELL_BYTES = 28 * 1024;

export interface ReportOptions extends Format {
  caller: Caller;
  carrier: string;
  /** One was named: JSON is that prompt, else a list. */
  single: boolean;
  /** These are the first of what is open: say how many more there are. */
  open?: Open;
}

/** Hands over what is the caller's, prints all, and says by the exit code where they stand. */
export async function report(
  hive: Hive,
  given: readonly Prompt[],
  { caller, carrier, single, open, json }: ReportOptions,
): Promise<ExitCode> {
  // What is handed over counts as read with the next command: no more than an agent gets to see. What it names it wants whole.
  const isCut = open !== undefined && caller.agent_because !== null;
  const prompts = isCut ? given.slice(0, fittingCount(given.map(promptJson), SHELL_BYTES)) : given;
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
    if (shown.length === 0) remark('You have no open question.');
    if (more !== null && more.settled > 0)
      remark(`${more.settled} more are settled: call hive poll again, which shows the next.`);
    if (more !== null && more.pending > 0)
      remark(`${more.pending} more are pending: hive list shows them, and hive poll ID one of them.`);
  }
  return exitCodeOfPrompts(shown.map(({ prompt }) => prompt));
}

/** What is open besides what is listed; null when that is nothing. */
function beyond({
  prompts,
  settled,
  pending,
}: Omit<Open, 'prompts'> & { prompts: readonly Prompt[] }): { settled: number; pending: number } | null {
  const listed = prompts.filter(({ status }) => status === 'pending').length;
  const more = { settled: settled - (prompts.length - listed), pending: pending - listed };
  return more.settled + more.pending === 0 ? null : more;
}
