/** `hive outreach`: the pings, cards and reports of agents. Unseen ones count as seen once a person has listed them. */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import { cardText, type Outreach, type OutreachKind } from '../domain/outreach.ts';
import { headedBy, sourceLabel } from '../domain/sources.ts';
import { findCaller } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { wholeNumber } from './list.ts';
import { age, type Format, printJson, remark, say } from './output.ts';
import { perform } from './program.ts';
import { more } from './sentences.ts';

export function defineOutreach(command: Command): void {
  perform(command, outreach)
    .addOption(new Option('--kind <kind>', 'only this kind').choices(['ping', 'card', 'report']))
    .option('--limit <n>', 'the largest number to list', wholeNumber, 20);
}

async function outreach(
  hive: Hive,
  { kind, limit, json }: Format & { kind?: OutreachKind; limit: number },
): Promise<ExitCode> {
  const { items, next_cursor } = await hive.outreach.list({ kind, limit });
  if (json === true) printJson({ outreach: items, more: next_cursor !== null });
  else if (items.length === 0)
    remark(`There are no ${kind === undefined ? 'pings, cards or reports' : `${kind}s`}.`);
  else for (const item of items) say(`${inWords(item)}\n`);
  if (next_cursor !== null) remark(more(limit));
  // Only a person's look counts: an agent may list them too.
  if ((await findCaller(hive)).agent_because === null)
    for (const { outreach_id, status } of items)
      if (status === 'unseen') await hive.outreach.settle(outreach_id, { status: 'shown', shown_via: 'cli' });
  return EXIT.done;
}

function inWords(item: Outreach): string {
  const { kind, color, source, created_at, status, reason, title, message, ask_id, actions } = item;
  const state = status === 'suppressed' || status === 'unseen' ? `${status} (${reason})` : status;
  const head = [
    headedBy(item),
    color === null ? kind : `${color} ${kind}`,
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
          ask_id === null ? '' : `${buttons} Answer with: hive respond ${ask_id} LABEL`,
          sourceLabel(source),
        ]
      : [message];
  const body = lines.filter((line) => line !== null && line !== '').join('\n');
  return `${head}\n${body.replace(/^(?=.)/gm, '  ')}`;
}
