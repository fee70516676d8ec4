/** `hive list`: the prompts of all agents, the most urgent first. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { PromptFilter } from '../application/ports.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { doneAsJson, type Format, promptJson, remark, showPrompts } from './output.ts';
import { perform } from './program.ts';
import { more } from './sentences.ts';

/** The questions that `hive list --status` lists, as they follow "There are no". */
const QUESTIONS = {
  pending: 'pending questions',
  waiting: 'questions waiting for an answer',
  responded: 'answered questions',
  late: 'questions with a late answer',
  expired: 'expired questions',
  cancelled: 'cancelled questions',
} as Readonly<Record<string, string>>;

interface ListOptions extends Format {
  status: NonNullable<PromptFilter['status']> | 'all';
  project?: string;
  agent?: string;
  to?: string;
  limit: number;
}

export function defineList(command: Command): void {
  perform(command, list)
    .addOption(
      new Option('--status <status>', 'the state to list; waiting leaves out snoozed questions')
        .choices(['pending', 'waiting', 'responded', 'late', 'expired', 'cancelled', 'all'])
        .default('pending'),
    )
    .option('--project <name>', 'only of this project')
    .option('--agent <handle>', 'only of this agent')
    .option('--to <name>', 'only questions for this human or team')
    .option('--limit <n>', 'the largest number to list', wholeNumber, 50);
}

async function list(hive: Hive, { status, project, agent, to, limit, json }: ListOptions): Promise<ExitCode> {
  const filter = { status: status === 'all' ? undefined : status, project, agent, to };
  const { items, next_cursor } = await hive.prompts.list({ ...filter, limit });
  if (json === true) return doneAsJson({ prompts: items.map(promptJson), more: next_cursor !== null });
  if (items.length === 0) remark(nothing(status, { project, agent, to }));
  else showPrompts(items);
  if (next_cursor !== null) remark(more(limit));
  return EXIT.done;
}

/** Names the filters, so that an empty list does not read as if nobody had asked anything. */
function nothing(status: string, filter: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const which = given.map(([name, value]) => ` --${name} ${value}`).join('');
  return `There are no ${QUESTIONS[status] ?? 'questions'}${which === '' ? '' : ` with${which}`}.`;
}

/** For commander: a whole number above zero. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return number;
}
