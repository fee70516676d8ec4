/** `hive respond`: answers from a terminal; with --amend it corrects an answer until the agent has it. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { AnswerCommand } from '../application/prompts.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { permissionDigest } from '../domain/permissions.ts';
import type { Prompt } from '../domain/prompts.ts';
import { seatSecret } from '../infrastructure/platform/seat-file.ts';
import { confirmActor, findActor, isAtTerminal } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { ID, promptNamed } from './named.ts';
import { currentAnswer, type Format, mark, print, printJson, readAnswer, remark } from './output.ts';
import { perform } from './program.ts';
import { SOMEBODY } from './sentences.ts';

const giveAnswer = (ask_id: string): string => `Give the answer: hive respond ${ask_id} DECISION`;

const NAME_IT =
  'Name the question: hive respond ID DECISION. Only at a terminal, where you see the question before you confirm, the most urgent one is taken.';

interface AnswerOptions extends Format {
  comment?: string;
  amend?: boolean;
}

export function defineRespond(command: Command): void {
  perform(command, respond)
    .argument('[id]', 'the ask_id of the question, or how it begins; without one, the most urgent question')
    .argument('[decision]', 'the label of an option, or free text; without one, you are asked for it')
    .option('--comment <text>', 'a comment on the decision')
    .option('--amend', 'correct your answer, until the agent has it');
}

// ---- Which question ----

/** How many questions are searched for the most urgent one. */
const MOST = 1_000;

/** One word that is no id is the answer to the most urgent question: `hive respond yes`. */
function wordsOf(
  id: string | undefined,
  decision: string | undefined,
): { id: string | undefined; decision: string | undefined } {
  if (id === undefined || decision !== undefined || ID.test(id)) return { id, decision };
  return { id: undefined, decision: id };
}

/** The question that a desk would show first; one whose session has ended only if there is no other. */
async function mostUrgent(hive: Hive): Promise<Prompt> {
  if (!isAtTerminal()) throw invalidInput(NAME_IT);
  const { items } = await hive.prompts.list({ status: 'waiting', limit: MOST });
  const prompt = items.find(({ orphaned }) => !orphaned) ?? items[0];
  if (prompt === undefined) throw new HiveError('prompt_not_found', 'No question is waiting for an answer.');
  return prompt;
}

// ---- Its answer ----

interface Answering {
  prompt: Prompt;
  /** Null for a prompt that somebody has answered already, when nothing was asked at this terminal. */
  command: AnswerCommand | null;
}

async function answering(
  hive: Hive,
  given: { id: string | undefined; decision: string | undefined },
  options: AnswerOptions,
  isAmendment: boolean,
): Promise<Answering> {
  const { comment } = options;
  const { id, decision: word } = wordsOf(given.id, given.decision);
  const isMissing = word === undefined;
  if (isMissing && id !== undefined && !isAtTerminal()) throw invalidInput(giveAnswer(id));
  if (id === undefined && isAmendment) throw invalidInput(NAME_IT);
  const found = await findActor(hive, { action: 'answer', coordinates: true });
  const prompt =
    id === undefined
      ? await mostUrgent(hive)
      : await promptNamed(hive, id, isAmendment ? {} : { status: 'pending' });
  const { ask_id } = prompt;
  // A script's answer is kept next to the one that counts; a person at a terminal would first be asked to confirm it.
  const wouldAsk = isMissing || isAtTerminal() || prompt.kind === 'permission';
  if (prompt.status === 'responded' && !isAmendment && wouldAsk) return { prompt, command: null };
  const answer = isMissing ? readAnswer(prompt) : word;
  const decision = optionNamed(prompt, answer.trim()) ?? answer;
  if (decision === '') throw invalidInput(giveAnswer(ask_id));
  const selected = severalOf(prompt, decision);
  // A permission is displayed in full, and a yes is typed.
  const actor = confirmActor(hive, found, prompt, { decision, selected }, isMissing);
  const displayed_digest = prompt.kind === 'permission' ? permissionDigest(prompt) : null;
  // If the person's file lets terminals allow, the answer typed here is signed as in Emacs.
  const { terminal_may_allow, ssh_agent_key } = hive.trust.file();
  if (terminal_may_allow && actor.kind === 'human' && actor.confirmed) {
    if (ssh_agent_key === null) hive.seats.useKey(seatSecret(process.env));
    const seat = await hive.seats.register({ pid: process.pid, via: 'cli' });
    if (seat.text !== null) remark(seat.text);
  }
  return { prompt, command: { ask_id, decision, selected, comment, actor, displayed_digest } };
}

/** The option that a text names: the one with this label, else the only one that has it in another case. */
function optionNamed({ options }: Pick<Prompt, 'options'>, text: string): string | undefined {
  const labels = options.map(({ label }) => label);
  const alike = labels.filter((label) => label.toLowerCase() === text.toLowerCase());
  return alike.includes(text) ? text : alike.length === 1 ? alike[0] : undefined;
}

/** The options in a decision that names several of them, in any case, as in `ham, cheese`; a list without a label is free text. */
function severalOf(prompt: Prompt, decision: string): string[] | undefined {
  if (!prompt.multi_select || optionNamed(prompt, decision.trim()) !== undefined) return undefined;
  // A label may contain commas, and begin like another one.
  const read = (text: string): string[] | undefined => {
    for (const { label } of prompt.options) {
      if (optionNamed(prompt, text.slice(0, label.length)) !== label) continue;
      const rest = text.slice(label.length).trimStart();
      if (rest === '') return [label];
      const others = rest.startsWith(',') ? read(rest.slice(1).trimStart()) : undefined;
      if (others !== undefined) return [label, ...others];
    }
    return undefined;
  };
  return read(decision.trim());
}

async function respond(
  hive: Hive,
  id: string | undefined,
  decision: string | undefined,
  options: AnswerOptions,
): Promise<ExitCode> {
  if (options.amend === true) return amend(hive, id, decision, options);
  const { command, prompt: before } = await answering(hive, { id, decision }, options, false);
  const { outcome, prompt } =
    command === null ? { outcome: 'lost' as const, prompt: before } : await hive.prompts.respond(command);
  const { ask_id } = prompt;
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
    });
  } else if (accepted) {
    print(`Answered ${ask_id}${mark(answer)}: ${answer?.decision}`);
  } else if (outcome === 'late') {
    remark(
      `Kept as a late answer: ${ask_id} had already ${prompt.status === 'expired' ? 'expired' : 'been cancelled'}.`,
    );
  } else {
    remark(
      `Not accepted: ${answer?.by ?? SOMEBODY} had already answered ${ask_id}${mark(answer)}: ${answer?.decision}`,
    );
    if (prompt.handed_at === null) remark('If that answer is yours, --amend corrects it.');
  }
  return accepted ? EXIT.done : EXIT.notAccepted;
}

async function amend(
  hive: Hive,
  id: string | undefined,
  decision: string | undefined,
  options: AnswerOptions,
): Promise<ExitCode> {
  const { command } = await answering(hive, { id, decision }, options, true);
  if (command === null) return EXIT.notAccepted;
  const prompt = await hive.prompts.amend(command);
  const { ask_id } = prompt;
  const answer = currentAnswer(prompt);
  if (options.json === true) {
    const { status, amended } = prompt;
    const { decision: now, by, attested } = answer ?? {};
    printJson({ ask_id, accepted: true, status, amended, decision: now, by, attested });
  } else print(`Corrected ${ask_id}${mark(answer)}: ${answer?.decision}`);
  return EXIT.done;
}
