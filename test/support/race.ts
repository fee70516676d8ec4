/** Many processes ask and answer on one store at once; afterwards every question has exactly one answer. */
import { expect } from 'vitest';
import type { Page } from '../../src/application/ports.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import type { Played } from '../process/children/race-player.ts';
import { childEnvironment, outputOf, spawnScript, startTogether } from './children.ts';
import { openTestHive, withoutQuotas } from './hive.ts';

export interface Race {
  processes: number;
  /** The total number of questions; a multiple of `processes`. */
  asks: number;
}

/** The long version is in test/long/race.test.ts. */
export const SHORT: Race = { processes: 4, asks: 100 };

export async function race(address: string, { processes, asks }: Race): Promise<void> {
  const hive = await withoutQuotas(await openTestHive(address));
  const names = Array.from({ length: processes }, (_, n) => `player-${n}`);
  const children = names.map((name) =>
    spawnScript(
      'test/process/children/race-player.ts',
      [name, String(asks / processes), String(asks)],
      childEnvironment(address),
    ),
  );
  const playing = children.map(outputOf);
  await startTogether(children);
  const played = (await Promise.all(playing)).map((text) => JSON.parse(text) as Played);
  const stored = await decisions(hive);

  // Nothing lost or invented: the store has exactly the questions that were asked, and each asker received the stored answer.
  const told = new Map(played.flatMap((one) => Object.entries(one.told)));
  expect(told.size).toBe(asks);
  expect([...stored].filter(([ask_id, decision]) => told.get(ask_id) !== decision)).toEqual([]);
  expect(stored.size).toBe(asks);
  // Answered once: exactly one answer was accepted, and it is the stored one.
  const winners = new Map<string, string[]>();
  for (const [n, { won }] of played.entries())
    for (const ask_id of won) winners.set(ask_id, [...(winners.get(ask_id) ?? []), names[n] ?? '']);
  expect([...stored].filter(([ask_id, by]) => String(winners.get(ask_id)) !== by)).toEqual([]);
  const settled = await settlements(hive);
  expect([...stored.keys()].filter((ask_id) => settled.get(ask_id) !== 1)).toEqual([]);
}

/** Every question with its decision. */
async function decisions(hive: OpenedHive): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  let cursor: string | null = null;
  do {
    const from: string | null = cursor;
    const page: Page<Prompt> = await hive.store.read((tx) => tx.prompts.list({ limit: 500, cursor: from }));
    for (const { ask_id, decision } of page.items) found.set(ask_id, decision);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}

/** How often the log records that a question was settled. */
async function settlements(hive: OpenedHive): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let seq = 0;
  for (;;) {
    const after = seq;
    const events = await hive.store.read((tx) => tx.events.after(after, 1_000));
    if (events.length === 0) return found;
    for (const { type, subject } of events) {
      if (subject !== null && ['prompt/responded', 'prompt/expired', 'prompt/cancelled'].includes(type))
        found.set(subject, (found.get(subject) ?? 0) + 1);
    }
    seq = events.at(-1)?.seq ?? seq;
  }
}
