/** `hive status`: what waits, who is here, which desks are open. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { age, type Format, print, printJson, printRows } from './output.ts';
import { EXIT, type ExitCode, withHive } from './program.ts';

export function defineStatus(command: Command): void {
  command
    .option('--json', 'print JSON')
    .action((options: Format) => withHive(options, (hive) => status(hive, options)));
}

/** Counting ends here. */
const MAX_UNSEEN = 1_000;

async function status(hive: Hive, { json }: Format): Promise<ExitCode> {
  await hive.prompts.expireDue();
  const [counts, unseen, sessions, desks, humans, teams] = await Promise.all([
    hive.prompts.countPending(),
    hive.outreach.unseen(MAX_UNSEEN).then(({ length }) => length),
    hive.sessions.list({ state: 'alive' }),
    hive.desks.online(),
    hive.humans.presence(),
    hive.humans.teams(),
  ]);
  const total = counts.critical + counts.normal + counts.low;
  if (json === true) {
    printJson({
      store_id: hive.store_id,
      pending: { total, ...counts },
      unseen,
      sessions,
      desks,
      humans,
      teams,
    });
    return EXIT.done;
  }
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  const detail = kinds.map(([urgency, count]) => `${count} ${urgency}`).join(', ');
  print(`${total} pending${total === 0 ? '' : ` (${detail})`}`);
  if (unseen > 0)
    print(`${count(unseen, 'message')} from agents that nobody has seen: hive outreach shows them`);
  print(`${count(sessions.length, 'session')}, ${count(desks.length, 'desk')} online`);
  printRows(
    [
      ...sessions.map((session) => [
        'session',
        session.handle,
        session.project,
        session.source,
        `seen ${age(session.last_seen_at)} ago`,
      ]),
      ...desks.map((desk) => [
        'desk',
        desk.human,
        desk.seat,
        desk.client,
        desk.focused ? 'focused' : '',
        `open ${age(desk.opened_at)}`,
      ]),
      ...humans
        .filter(({ online }) => !online)
        .map(({ name, seen_at }) => ['human', name, 'away', '', `seen ${age(seen_at)} ago`]),
      ...teams.map(({ name, members }) => ['team', name, members.join(', ')]),
    ],
    '  ',
  );
  return EXIT.done;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
