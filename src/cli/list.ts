/** `hive list`: the prompts of everybody, what waits first. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { PromptFilter } from '../application/ports.ts';
import { type Format, printJson, promptJson, remark, showPrompts } from './output.ts';
import { EXIT, type ExitCode, withHive } from './program.ts';

interface ListOptions extends Format {
  status: NonNullable<PromptFilter['status']> | 'all';
  project?: string;
  agent?: string;
  to?: string;
  limit: number;
  cursor?: string;
}

export function defineList(command: Command): void {
  command
    .addOption(
      new Option('--status <status>', 'which; waiting leaves out what is snoozed')
        .choices(['pending', 'waiting', 'responded', 'late', 'expired', 'cancelled', 'all'])
        .default('pending'),
    )
    .option('--project <name>', 'only of this project')
    .option('--agent <handle>', 'only of this agent')
    .option('--to <name>', 'only what this human or team is asked')
    .option('--limit <n>', 'at most so many', wholeNumber, 50)
    .option('--cursor <cursor>', 'go on where the last list ended (its next_cursor)')
    .option('--json', 'print JSON')
    .action((options: ListOptions) => withHive(options, (hive) => list(hive, options)));
}

async function list(
  hive: Hive,
  { status, project, agent, to, limit, cursor, json }: ListOptions,
): Promise<ExitCode> {
  const filter = { status: status === 'all' ? undefined : status, project, agent, to };
  const { items, next_cursor } = await hive.prompts.list({ ...filter, limit, cursor });
  if (json === true) {
    printJson({ prompts: items.map(promptJson), next_cursor });
    return EXIT.done;
  }
  if (items.length === 0) remark(nothing(status, { project, agent, to }));
  else showPrompts(items);
  if (next_cursor !== null) remark(`There are more: --limit ${limit * 2}, or --cursor ${next_cursor}`);
  return EXIT.done;
}

/** A filter that lets nothing through must not read as if nobody asked. */
function nothing(status: string, filter: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const which = given.map(([name, value]) => ` --${name} ${value}`).join('');
  const what = `prompt${status === 'all' ? '' : ` that is ${status}`}`;
  return which === '' ? `There is no ${what}.` : `There is no ${what} with${which}.`;
}

/** For commander: a whole number above zero. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a whole number above 0.');
  return number;
}
