/** An open hive on a temporary store, and common queries of tests. */

import { vi } from 'vitest';
import type { Logger } from '../../src/application/world.ts';
import type { HumanActor } from '../../src/domain/actors.ts';
import type { HiveEvent } from '../../src/domain/events.ts';
import { EVERY_SEAT } from '../../src/domain/humans.ts';
import type { AskRequest, Prompt } from '../../src/domain/prompts.ts';
import { type Seat, seatKeyFrom } from '../../src/domain/seats.ts';
import type { Session } from '../../src/domain/sessions.ts';
import { settingNamed } from '../../src/domain/settings.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { trusting } from './human-file.ts';
import { introduction } from './introduction.ts';
import { closedAtEnd } from './lifetime.ts';
import { copyNewStore } from './new-store.ts';
import { tempStore } from './temp.ts';
import { eventually } from './wait.ts';

export { introduction };

/** The human at a desk. */
export const HUMAN: HumanActor = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true };

/** The key of the human's desk. */
export const SEAT_SECRET = '5e'.repeat(32);
/** The same as it is registered in the human's file. */
export const SEAT: Seat = { name: 'ada@test', key: seatKeyFrom(SEAT_SECRET).key };

export interface RecordedLog extends Logger {
  readonly lines: string[];
}

export function recordingLog(): RecordedLog {
  const lines: string[] = [];
  const add = (message: string, fields?: Record<string, unknown>): void => {
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  return { lines, info: () => undefined, warn: add, error: add };
}

/** Opens a hive, on its own store unless one is given; it is closed after the test. */
export async function openTestHive(
  store: string = tempStore(),
  log: Logger = recordingLog(),
  trust: object = {},
): Promise<OpenedHive> {
  await copyNewStore(store);
  const hive = closedAtEnd(await openHive({ store, env: trusting({ seats: [SEAT], ...trust }), log }));
  hive.seats.useKey(SEAT_SECRET);
  return hive;
}

/** The same on a new store, with the path of that. */
export async function newHive(): Promise<{ store: string; hive: OpenedHive }> {
  const store = tempStore();
  return { store, hive: await openTestHive(store) };
}

/** The same, for a human whose file has these permission rules. */
export const openRuledHive = (...permission_rules: object[]): Promise<OpenedHive> =>
  openTestHive(undefined, undefined, { permission_rules });

/** Sets the human's preferences at their seat of these tests and at the one that a program of this machine has. */
export async function prefer(hive: OpenedHive, settings: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [key, value] of Object.entries(settings))
    for (const seat of [SEAT.name, thisSeat()])
      await hive.settings.set(settingNamed(key), value, seat, 'cli');
}

/** Lets the agents of a hive ask as much as a test needs at once. */
export function withoutQuotas(hive: OpenedHive): Promise<OpenedHive> {
  return setQuotas(hive, false);
}

/** Turns quotas off, or on again. It appends no event. */
export async function setQuotas(hive: OpenedHive, quotas: boolean): Promise<OpenedHive> {
  await hive.store.write(async (tx) =>
    tx.desks.setPreferences(EVERY_SEAT, { ...(await tx.desks.preferences(EVERY_SEAT)), quotas }),
  );
  return hive;
}

export function introduce(hive: OpenedHive, session_id = 'session-1'): Promise<Session> {
  return hive.sessions.introduce(introduction({ session_id }));
}

/** Asks, as `session-1` by default. */
export async function ask(
  hive: OpenedHive,
  request: Partial<AskRequest> = {},
  session_id?: string,
): Promise<Prompt> {
  const { prompt } = await hive.prompts.ask(
    { question: 'Go on?', ...request },
    await introduce(hive, session_id),
  );
  return prompt;
}

/** The pending questions, as the desks list them. */
export async function pendingOf({ prompts }: Pick<OpenedHive, 'prompts'>): Promise<Prompt[]> {
  return (await prompts.list({ status: 'pending', limit: 50 })).items;
}

/** The pending questions, once there are so many. */
export async function untilPending(hive: Pick<OpenedHive, 'prompts'>, count = 1): Promise<Prompt[]> {
  let prompts: Prompt[] = [];
  await eventually(async () => {
    prompts = await pendingOf(hive);
    return prompts.length === count;
  });
  return prompts;
}

/**
 * Resolves when a wait of this hive that has just begun sleeps: it has armed its bell, looked once more and found nothing.
 * Anything that is stored from now on reaches it only if something wakes it.
 */
export async function whenWaiting(hive: OpenedHive): Promise<void> {
  const watch = vi.spyOn(hive.store, 'watch');
  const read = vi.spyOn(hive.store, 'read');
  const hasLooked = (): boolean => {
    const [armed = Number.POSITIVE_INFINITY] = watch.mock.invocationCallOrder;
    return read.mock.settledResults.some(
      ({ type }, n) => type === 'fulfilled' && (read.mock.invocationCallOrder[n] ?? 0) > armed,
    );
  };
  try {
    await eventually(hasLooked, 30_000, 'a wait that sleeps');
  } finally {
    watch.mockRestore();
    read.mockRestore();
  }
}

/** Every event of these types, in order; of all types if none is named. */
export async function eventsOf(hive: OpenedHive, ...types: HiveEvent['type'][]): Promise<HiveEvent[]> {
  const events = await hive.store.read((tx) => tx.events.after(0, 100_000));
  return types.length === 0 ? events : events.filter(({ type }) => types.includes(type));
}

/** The notices sent to every desk, in order. */
export async function noticesOf(hive: OpenedHive): Promise<string[]> {
  return (await eventsOf(hive, 'desk/notice')).map(({ data }) => String(data['text']));
}
