/** `hive poll`: look whether the human has answered. Looking changes nothing and may be repeated. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
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
  const prompts =
    ids.length === 0
      ? await hive.prompts.openOf(caller.session_id)
      : await Promise.all(ids.map((ask_id) => hive.prompts.get(ask_id)));
  return report(hive, prompts, { caller, carrier, single: ids.length === 1, ...options });
}

/** Hands over what is the caller's, prints all, and says by the exit code where they stand. */
export async function report(
  hive: Hive,
  prompts: readonly Prompt[],
  { caller, carrier, single, json }: { caller: Caller; carrier: string; single: boolean } & Format,
): Promise<ExitCode> {
  const own = prompts.filter((prompt) => prompt.status !== 'pending' && isForCaller(prompt, caller));
  const handed = await hive.delivery.hand(
    own.map((prompt) => prompt.ask_id),
    carrier,
    caller.session_id,
  );
  const delivered = new Map(handed.map((delivery) => [delivery.prompt.ask_id, delivery]));
  const shown = prompts.map((prompt) => delivered.get(prompt.ask_id) ?? { prompt, repeated: false });
  if (json === true) {
    const views = shown.map(({ prompt, repeated }) => ({
      ...promptJson(prompt),
      ...(repeated ? { repeated } : {}),
    }));
    printJson(single ? views[0] : { prompts: views });
  } else {
    for (const { prompt } of shown) showPrompt(prompt);
    if (shown.length === 0) remark('You have no open question.');
  }
  return exitCodeOfPrompts(shown.map(({ prompt }) => prompt));
}
