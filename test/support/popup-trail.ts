/** The trail of popups in the events of a prompt. */
import { expect } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { eventually } from './wait.ts';

export interface Trail {
  outcome: string;
  reason: string | null;
  claimed_by: string;
  count?: number;
}

/** The outcomes of the popups of a prompt. */
export async function trail(hive: OpenedHive, ask_id: string): Promise<Trail[]> {
  const events = await hive.store.read((tx) => tx.events.of(ask_id, 100));
  return events
    .filter((event) => event.type === 'prompt/popup')
    .map((event) => event.data as unknown as Trail);
}

/** The only popup event of the prompt, once it exists. */
export async function recorded(hive: OpenedHive, ask_id: string): Promise<Trail> {
  await eventually(async () => (await trail(hive, ask_id)).length > 0, 12_000, 'the popup on the trail');
  const [line, ...more] = await trail(hive, ask_id);
  expect(more).toEqual([]);
  return line as Trail;
}

/** Until a process of the seat has begun to show this. */
export async function leased(hive: OpenedHive, subject: string, seat: string): Promise<void> {
  const outcome = () => hive.store.read((tx) => tx.popups.outcome(subject, seat));
  await eventually(async () => (await outcome()) !== undefined, 12_000, `the lease of ${subject}`);
}

/** Until what became of the popup of this is known. */
export async function outcomeIs(
  wanted: string,
  hive: OpenedHive,
  subject: string,
  seat: string,
): Promise<void> {
  const outcome = () => hive.store.read((tx) => tx.popups.outcome(subject, seat));
  await eventually(async () => (await outcome()) === wanted, 12_000, `${subject} to be ${wanted}`);
}
