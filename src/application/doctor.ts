/** The doctor: checks the installation and the store, and tells how to fix each problem. */
import { HiveError } from '../domain/errors.ts';
import { allPages } from './background.ts';
import type { Parts } from './parts.ts';
import type { Store } from './ports.ts';
import type { SeatService } from './seats.ts';
import { examineSettings } from './settings.ts';
import { examineTrust } from './trust.ts';
import { checkUnreadAnswers } from './unread-answers.ts';
import { type Check, checkBroken, checkOk, type Examination, type Logger } from './world.ts';

type DoctorParts = Pick<Parts, 'store' | 'examinations' | 'trust' | 'seat' | 'log'> & { seats: SeatService };

export function createDoctor({ store, examinations, trust, seats, seat, log }: DoctorParts) {
  return {
    async run(): Promise<Check[]> {
      const all = [
        ...(await examinations()),
        { name: 'Hive', examine: async () => [await describeHive(store)] },
        { name: 'Records', examine: () => examineRecords(store) },
        { name: 'Trust', examine: async () => [...examineTrust(trust()), ...seats.examine()] },
        { name: 'Settings', examine: async () => [await examineSettings(store, seat)] },
        { name: 'Answer', examine: () => checkUnreadAnswers(store) },
      ];
      return runExaminations(all, log);
    },
  };
}

/** Runs all examinations in parallel. One that throws becomes a failed check and does not hide the others. */
export async function runExaminations(all: readonly Examination[], log: Logger): Promise<Check[]> {
  const found = await Promise.all(
    all.map(async ({ name, examine }): Promise<Check[]> => {
      try {
        return await examine();
      } catch (error) {
        if (error instanceof HiveError) return [checkBroken(name, error.message, null)];
        log.warn('The doctor could not check something.', { name, error: String(error) });
        return [checkBroken(name, `could not be checked: ${String(error)}`, null)];
      }
    }),
  );
  return found.flat();
}

/** How many damaged records are named. */
const MOST_NAMED = 10;

const READS = [
  'prompts',
  'messages',
  'sessions',
  'events',
  'turns',
  'gates',
  'outreach',
  'humans',
  'tokens',
  'devices',
  'runs',
] as const;

/** The names of damaged records. */
export async function damagedRecords(store: Pick<Store, 'read'>): Promise<string[]> {
  const found: string[] = [];
  for (const kind of READS)
    found.push(...(await allPages('', (after) => store.read((tx) => tx[kind].damaged(after)))));
  return found;
}

async function examineRecords(store: Store): Promise<Check[]> {
  const damaged = await damagedRecords(store);
  if (damaged.length === 0) return [];
  const named = damaged.slice(0, MOST_NAMED).join(', ');
  return [
    checkBroken(
      'Records',
      `${damaged.length} damaged, which are left out of all lists (an event is shown without its details, a session with the default settings): ${named}${damaged.length > MOST_NAMED ? ' and more' : ''}`,
      'restore a backup of the store; everything else in it still works',
    ),
  ];
}

async function describeHive(store: Store): Promise<Check> {
  const { counts, desks, sessions, head } = await store.read(async (tx) => ({
    counts: await tx.prompts.countByUrgency(),
    desks: await tx.desks.online(tx.now),
    sessions: await tx.sessions.list({ state: 'alive', limit: 1_000 }),
    head: await tx.events.head(),
  }));
  const pending = counts.critical + counts.normal + counts.low;
  const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  const text = `${counted(pending, 'question')} pending, ${counted(sessions.length, 'session')}, ${counted(desks.length, 'desk')} online, ${counted(head, 'event')}`;
  return checkOk('Hive', text);
}
