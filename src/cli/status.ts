/** `hive status`: the pending prompts, the sessions, the desks and the humans. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { age, type Format, print, printJson, printRows } from './output.ts';
import { withHive } from './program.ts';
import { STATUS } from './sentences.ts';

export function defineStatus(command: Command): void {
  command
    .option('--json', 'print JSON')
    .action((options: Format) => withHive(options, (hive) => status(hive, options)));
}

/** Counting stops here. */
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
  print(STATUS.pending(total, detail));
  if (unseen > 0) print(STATUS.unseen(unseen));
  print(STATUS.online(sessions.length, desks.length));
  printRows(
    [
      ...sessions.map((session) => [
        STATUS.session,
        session.title,
        session.handle,
        session.project,
        session.source,
        STATUS.seen(age(session.last_seen_at)),
      ]),
      ...desks.map((desk) => [
        STATUS.desk,
        desk.human,
        desk.seat,
        desk.client,
        desk.focused ? STATUS.focused : '',
        STATUS.open(age(desk.opened_at)),
      ]),
      ...humans
        .filter(({ online }) => !online)
        .map(({ name, seen_at }) => [STATUS.human, name, STATUS.away, '', STATUS.seen(age(seen_at))]),
      ...teams.map(({ name, members }) => [STATUS.team, name, members.join(', ')]),
    ],
    '  ',
  );
  return EXIT.done;
}
