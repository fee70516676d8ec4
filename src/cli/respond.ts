/** `hive respond`: answers from a terminal; with --amend it corrects an answer until the agent has it. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { AnswerCommand } from '../application/prompts.ts';
import { invalidInput } from '../domain/errors.ts';
import { permissionDigest } from '../domain/permissions.ts';
import { seatSecret } from '../infrastructure/platform/seat-file.ts';
import { type ActorOptions, answeringActor, BY } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { currentAnswer, type Format, mark, print, printJson, remark } from './output.ts';
import { withHive } from './program.ts';
import { RESPOND } from './sentences.ts';

interface AnswerOptions extends Format, ActorOptions {
  select?: string[];
  comment?: string;
}

export function defineRespond(command: Command): void {
  defineAnswer(command)
    .option('--amend', 'correct your answer, until the agent has it')
    .action((id: string, decision: string | undefined, options: AnswerOptions & { amend?: boolean }) =>
      withHive(options, (hive) => (options.amend === true ? amend : respond)(hive, id, decision, options)),
    );
}

/** `hive amend`, the old spelling of `respond --amend`. */
export function defineAmend(command: Command): void {
  defineAnswer(command).action((id: string, decision: string | undefined, options: AnswerOptions) =>
    withHive(options, (hive) => amend(hive, id, decision, options)),
  );
}

function defineAnswer(command: Command): Command {
  return command
    .argument('<id>', 'the ask_id of the question')
    .argument('[decision]', 'the label of an option, or free text')
    .option('--select <label...>', 'the options chosen, by label')
    .option('--comment <text>', 'a comment on the decision')
    .option('--by <name>', BY)
    .option('--as-agent', 'an agent answers in its own name, which is recorded')
    .option('--json', 'print JSON');
}

async function answerCommand(
  hive: Hive,
  ask_id: string,
  decision: string | undefined,
  options: AnswerOptions,
): Promise<AnswerCommand> {
  const { select, comment } = options;
  if (decision === undefined && select === undefined) throw invalidInput(RESPOND.noAnswer(ask_id));
  if (decision !== undefined && select !== undefined) throw invalidInput(RESPOND.twoAnswers);
  const prompt = await hive.prompts.get(ask_id);
  // Where this is a permission, the actor is found by displaying all of it and asking for a typed yes.
  const actor = await answeringActor(hive, prompt, { decision, selected: select }, options);
  const displayed_digest = prompt.kind === 'permission' ? permissionDigest(prompt) : null;
  // What is typed here may allow something, so it is signed as in Emacs.
  if (prompt.kind === 'permission' && actor.kind === 'human') {
    if (hive.trust.file().ssh_agent_key === null) hive.seats.useKey(seatSecret(process.env));
    const seat = await hive.seats.register({ pid: process.pid, via: 'cli' });
    if (seat.text !== null) remark(seat.text);
  }
  return { ask_id, decision, selected: select, comment, actor, displayed_digest };
}

async function respond(
  hive: Hive,
  ask_id: string,
  decision: string | undefined,
  options: AnswerOptions,
): Promise<ExitCode> {
  const command = await answerCommand(hive, ask_id, decision, options);
  const { outcome, prompt } = await hive.prompts.respond(command);
  const accepted = outcome === 'accepted';
  const answer = currentAnswer(prompt);
  if (options.json === true) {
    printJson({
      ask_id,
      accepted,
      late: outcome === 'late',
      status: prompt.status,
      decision: answer?.decision ?? null,
      by: answer?.by ?? null,
      via: answer?.via ?? null,
      attested: answer?.attested ?? null,
      as: command.actor.kind,
    });
  } else if (accepted) {
    const agent = command.actor.kind === 'agent' ? command.actor.by : null;
    print(RESPOND.answered(ask_id, agent, mark(answer), answer?.decision));
  } else if (outcome === 'late') {
    remark(RESPOND.late(ask_id, prompt.status));
  } else {
    remark(RESPOND.notAccepted(ask_id, answer?.by, mark(answer), answer?.decision));
  }
  return accepted ? EXIT.done : EXIT.notAccepted;
}

async function amend(
  hive: Hive,
  ask_id: string,
  decision: string | undefined,
  options: AnswerOptions,
): Promise<ExitCode> {
  const command = await answerCommand(hive, ask_id, decision, options);
  const prompt = await hive.prompts.amend(command);
  const answer = currentAnswer(prompt);
  if (options.json === true) {
    const { status, amended } = prompt;
    const { decision: now, by, attested } = answer ?? {};
    printJson({ ask_id, accepted: true, status, amended, decision: now, by, attested });
  } else print(RESPOND.amended(ask_id, mark(answer), answer?.decision));
  return EXIT.done;
}
