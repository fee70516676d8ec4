/** `hive status`: the pending prompts, the sessions, the desks and the humans. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { age, doneAsJson, type Format, print, printRows } from './output.ts';
import { perform } from './program.ts';
import { counted } from './sentences.ts';

const seenAgo = (age: string): string => `seen ${age} ago`;

export function defineStatus(command: Command): void {
  perform(command, status);
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
  if (json === true)
    return doneAsJson({
      store_id: hive.store_id,
      pending: { total, ...counts },
      unseen,
      sessions,
      desks,
      humans,
      teams,
    });
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  const detail = kinds.map(([urgency, count]) => `${count} ${urgency}`).join(', ');
  print(`${total} pending${total === 0 ? '' : ` (${detail})`}`);
  if (unseen > 0)
    print(
      `${counted(unseen, 'unseen message')} from agents; run hive outreach to read ${unseen === 1 ? 'it' : 'them'}`,
    );
  print(`${counted(sessions.length, 'session')}, ${counted(desks.length, 'desk')} online`);
  printRows(
    [
      ...sessions.map((session) => [
        'session',
        session.title,
        session.handle,
        session.project,
        session.source,
        seenAgo(age(session.last_seen_at)),
      ]),
      ...desks.map((desk) => [
        'desk',
        desk.human,
        desk.seat,
        desk.client,
        desk.focused ? 'focused' : '',
        `open for ${age(desk.opened_at)}`,
      ]),
      ...humans
        .filter(({ online }) => !online)
        .map(({ name, seen_at }) => ['human', name, 'away', '', seenAgo(age(seen_at))]),
      ...teams.map(({ name, members }) => ['team', name, members.join(', ')]),
    ],
    '  ',
  );
  return EXIT.done;
}
