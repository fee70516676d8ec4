/** What tests of outreach ask of a hive again and again. */
import type { Hive } from '../../src/application/hive.ts';
import { HiveError } from '../../src/domain/errors.ts';
import type { HiveEvent } from '../../src/domain/events.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { Source } from '../../src/domain/sources.ts';
import { introduction } from './hive.ts';

/** A session of a source, in the project of all the others. */
export function agent(
  hive: Hive,
  session_id: string,
  source: Source = 'bg',
  parent: string | null = null,
): Promise<Session> {
  return hive.sessions.introduce(introduction({ session_id, source, parent_session_id: parent }));
}

/** The refusal of what is refused. */
export async function refusalOf(work: Promise<unknown>): Promise<HiveError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HiveError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

/** Every event of these types, in order. */
export async function eventsOf(hive: Hive, ...types: HiveEvent['type'][]): Promise<HiveEvent[]> {
  const events = await hive.store.read((tx) => tx.events.after(0, 10_000));
  return events.filter(({ type }) => types.includes(type));
}

/** What the human was told of agents that got away. */
export async function noticesOf(hive: Hive): Promise<string[]> {
  return (await eventsOf(hive, 'desk/notice')).map(({ data }) => String(data['text']));
}

/** The tokens that are left; null while nobody has taken any. */
export async function tokensOf(hive: Hive, name = '*'): Promise<number | null> {
  return (await hive.store.read((tx) => tx.outreach.bucket(name)))?.tokens ?? null;
}
