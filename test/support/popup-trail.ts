/** What the events of a prompt say about its popups. */
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
