/** `hive outreach`: the pings, cards and reports of agents. What nobody had seen is seen when a person lists it. */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import { cardText, type Outreach, type OutreachKind } from '../domain/outreach.ts';
import { sourceLabel, sourcePrefix } from '../domain/sources.ts';
import { findCaller } from './actor.ts';
import { wholeNumber } from './list.ts';
import { age, type Format, print, printJson, remark } from './output.ts';
import { EXIT, type ExitCode, withHive } from './program.ts';

interface OutreachOptions extends Format {
  kind?: OutreachKind;
  limit: number;
  cursor?: string;
}

export function defineOutreach(command: Command): void {
  command
    .addOption(new Option('--kind <kind>', 'only these').choices(['ping', 'card', 'report']))
    .option('--limit <n>', 'at most so many', wholeNumber, 20)
    .option('--cursor <cursor>', 'go on where the last list ended (its next_cursor)')
    .option('--json', 'print JSON')
    .action((options: OutreachOptions) => withHive(options, (hive) => outreach(hive, options)));
}

async function outreach(hive: Hive, { kind, limit, cursor, json }: OutreachOptions): Promise<ExitCode> {
  const { items, next_cursor } = await hive.outreach.list({ kind, limit, cursor });
  if (json === true) printJson({ outreach: items, next_cursor });
  else if (items.length === 0) remark('Agents have sent nothing unasked.');
  else for (const item of items) print(`${inWords(item)}\n`);
  if (next_cursor !== null) remark(`There are more: --limit ${limit * 2}, or --cursor ${next_cursor}`);
  // An agent that looks is not the human having seen it.
  if ((await findCaller(hive)).agent_because === null)
    for (const { outreach_id, status } of items)
      if (status === 'unseen') await hive.outreach.settle(outreach_id, { status: 'shown', shown_via: 'cli' });
  return EXIT.done;
}

function inWords(item: Outreach): string {
  const { kind, agent, source, project, created_at, status, reason, title, message, ask_id, actions } = item;
  const state = status === 'suppressed' || status === 'unseen' ? `${status} (${reason})` : status;
  const head = [
    `${sourcePrefix(source)}${agent}`,
    project,
    kind,
    `${age(created_at)} ago`,
    state,
    ...(item.critical ? ['critical'] : []),
  ].join(' · ');
  const buttons = actions.map(({ label }) => `[${label}]`).join(' ');
  const lines =
    kind === 'card'
      ? [
          title,
          cardText(item),
          ask_id === null ? '' : `${buttons} answered with: hive respond ${ask_id} LABEL`,
          sourceLabel(source),
        ]
      : [message];
  const body = lines.filter((line) => line !== null && line !== '').join('\n');
  return `${head}\n${body.replace(/^(?=.)/gm, '  ')}`;
}
