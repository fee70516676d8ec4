/**
 * `hive ask`: asks the human from a shell. Prints the ask_id, or with --wait only the decision. With --note-to it adds a note
 * to an earlier question.
 */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import { invalidInput } from '../domain/errors.ts';
import {
  type AskRequest,
  PROMPT_KINDS,
  type Prompt,
  type PromptKind,
  URGENCIES,
  type Urgency,
} from '../domain/prompts.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import { carrierOf, findCaller, registerCaller } from './actor.ts';
import { EXIT, type ExitCode, exitCodeOfPrompts } from './exit-codes.ts';
import {
  currentAnswer,
  hasState,
  parseDuration,
  parsePeriod,
  print,
  printJson,
  promptJson,
  remark,
} from './output.ts';
import { perform, readInput } from './program.ts';

interface AskOptions {
  option?: string[];
  multi?: boolean;
  freeText: boolean;
  header?: string;
  contextFile?: string;
  kind?: PromptKind;
  urgency?: Urgency;
  timeout?: string;
  key?: string;
  to?: string;
  escalateAfter?: string;
  wait?: true | string;
  noteTo?: string;
  json?: boolean;
}

export function defineAsk(command: Command): void {
  perform(command, ask)
    .argument('<question>', 'your question; with --note-to, what to add')
    .option('--option <label>', 'an option to choose; repeat it for each one', collect)
    .option('--multi', 'several options may be chosen')
    .option('--no-free-text', 'only the options may be chosen')
    .option('--header <text>', 'the topic in a few words')
    .option('--context-file <file>', 'Markdown that helps the human decide; - reads stdin')
    .addOption(new Option('--kind <kind>', 'the kind of question').choices(PROMPT_KINDS))
    .addOption(new Option('--urgency <urgency>', 'how urgent').choices(URGENCIES))
    .option('--timeout <duration>', 'let the question expire after this time (1s to 30d); default: never')
    .option('--to <name>', 'the human or team to ask; default: everybody')
    .option('--escalate-after <duration>', 'ask everybody if there is no answer after this time')
    .option('--key <key>', 'asking again with the same key returns the same question')
    .option('--wait [duration]', 'wait for the answer and print only the decision')
    .addOption(
      new Option('--note-to <id>', 'add the text to this pending question of yours').conflicts(
        FOR_A_NEW_QUESTION,
      ),
    );
}

/** The options that apply only to a new question. */
const FOR_A_NEW_QUESTION = [
  'option',
  'multi',
  'freeText',
  'header',
  'contextFile',
  'kind',
  'urgency',
  'timeout',
  'to',
  'escalateAfter',
  'key',
  'wait',
];

function collect(label: string, before: string[] = []): string[] {
  return [...before, label];
}

async function ask(hive: Hive, question: string, options: AskOptions): Promise<ExitCode> {
  if (options.noteTo !== undefined) return note(hive, options.noteTo, question, options);
  if (options.escalateAfter !== undefined && options.to === undefined)
    throw invalidInput('--escalate-after needs --to: a question without --to goes to everybody already.');
  if (!options.freeText && options.option === undefined)
    throw invalidInput('--no-free-text needs --option, or nobody could answer. Nothing was asked.');
  if (options.key === '') throw invalidInput('--key is empty: give a text. Nothing was asked.');
  const request: AskRequest = {
    question,
    options: options.option ?? [],
    multi_select: options.multi,
    allow_free_text: options.freeText,
    header: options.header,
    context:
      options.contextFile === undefined ? undefined : readInput(options.contextFile, 'Nothing was asked.'),
    kind: options.kind,
    urgency: options.urgency,
    timeout_ms: parsePeriod('--timeout', options.timeout, 'asked'),
    idempotency_key: options.key,
    to: options.to,
    escalate_after_ms: parsePeriod('--escalate-after', options.escalateAfter, 'asked'),
  };
  const wait_ms = typeof options.wait === 'string' ? parseDuration(options.wait) : Number.POSITIVE_INFINITY;
  const caller = await findCaller(hive);
  const carrier = await carrierOf(hive, caller);
  const session = await registerCaller(hive, caller);
  // A session may work in several projects; a question belongs to the one it is asked in.
  const { project, project_dir } = findProject(process.cwd());
  const asked = await hive.prompts.ask(request, { ...session, project, project_dir });
  if (options.wait !== undefined) return printDecision(hive, asked.prompt, carrier, { ...options, wait_ms });

  const { ask_id, status, created_at, expires_at, agent, to, escalates_at } = asked.prompt;
  const { existing, desks_online } = asked;
  if (options.json === true) {
    printJson({ ask_id, status, created_at, expires_at, to, escalates_at, desks_online, agent, existing });
    return EXIT.done;
  }
  print(ask_id);
  if (existing)
    remark(`You asked this before, and it stays as it was asked then. It ${hasState(asked.prompt)}.`);
  else if (desks_online === 0)
    remark(
      `${to === null ? 'No desk is online' : `No desk of "${to}" is online`}; the question is stored and stays pending.`,
    );
  return EXIT.done;
}

/** Adds to a question that the caller has asked before. */
async function note(hive: Hive, ask_id: string, text: string, { json }: AskOptions): Promise<ExitCode> {
  const caller = await findCaller(hive);
  await carrierOf(hive, caller);
  const { accepted, prompt } = await hive.prompts.note(ask_id, text, await registerCaller(hive, caller));
  if (json === true) printJson({ ask_id, accepted, status: prompt.status, notes: prompt.notes });
  else if (accepted) print(`Added to ${ask_id}.`);
  else remark(`Not added: ${ask_id} ${hasState(prompt)}.`);
  return accepted ? EXIT.done : EXIT.notAccepted;
}

async function printDecision(
  hive: Hive,
  { ask_id, session_id }: Prompt,
  carrier: string,
  { wait_ms, json }: AskOptions & { wait_ms: number },
): Promise<ExitCode> {
  hive.startExpiry();
  const [waited] = await hive.prompts.wait([ask_id], { wait_ms, waiter: session_id });
  const settled = waited !== undefined && waited.status !== 'pending';
  const [delivered] = settled ? await hive.delivery.hand([ask_id], carrier) : [];
  const prompt = delivered?.prompt ?? (await hive.prompts.get(ask_id));
  const answer = currentAnswer(prompt);
  if (json === true) printJson(promptJson(prompt));
  else if (answer !== null) print(answer.decision);
  if (prompt.status === 'pending')
    remark(`${ask_id} has no answer yet. Check again with: hive poll ${ask_id}`);
  else if (prompt.status !== 'responded') remark(`${ask_id} ${hasState(prompt)}.`);
  return exitCodeOfPrompts([prompt]);
}
