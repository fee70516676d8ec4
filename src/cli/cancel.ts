/** `hive cancel`: cancels a question, which then carries no decision. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { type Caller, findActor } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { promptNamed } from './named.ts';
import { type Format, hasState, print, printJson, remark } from './output.ts';
import { perform } from './program.ts';

export function defineCancel(command: Command): void {
  perform(command, cancel)
    .argument('<id>', 'the ask_id of the question, or how it begins')
    .option('--as-agent', "an agent cancels another session's question, which is recorded");
}

async function cancel(
  hive: Hive,
  id: string,
  { asAgent, json }: Format & { asAgent?: boolean },
): Promise<ExitCode> {
  const found = await promptNamed(hive, id, { status: 'pending' });
  const { ask_id } = found;
  const action = {
    action: "cancel another session's question",
    isOwn: ({ session_id }: Caller) => session_id === found.session_id,
    asAgent,
  };
  const actor = await findActor(hive, action);
  const { accepted, prompt } = await hive.prompts.cancel(
    ask_id,
    actor,
    actor.kind === 'agent' ? 'withdrawn' : 'human',
  );
  const { status, by, via } = prompt;
  if (json === true) printJson({ ask_id, accepted, status, by, via });
  else if (accepted) print(`Cancelled ${ask_id}.`);
  else remark(`Nothing to cancel: ${ask_id} ${hasState(prompt)}.`);
  return accepted ? EXIT.done : EXIT.notAccepted;
}
