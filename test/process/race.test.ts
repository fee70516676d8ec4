/**
 * One winner (invariant 2) among real processes.
 *
 * @module-tag one-winner
 * @module-tag library
 */
import { expect, test } from 'vitest';
import { childEnvironment, outputOf, spawnScript, startTogether } from '../support/children.ts';
import { introduce, openTestHive, withoutQuotas } from '../support/hive.ts';
import { race, SHORT } from '../support/race.ts';
import { tempStore } from '../support/temp.ts';

const PROMPTS = 100;
const RACERS = ['ada', 'bob', 'cleo', 'dan'];

test(`${RACERS.length} processes race to answer the same ${PROMPTS} prompts: each has exactly one winner`, {
  tags: ['sqlite'],
}, async () => {
  const store = tempStore();
  const hive = await withoutQuotas(await openTestHive(store));
  const session = await introduce(hive);
  for (let n = 0; n < PROMPTS; n += 1) await hive.prompts.ask({ question: `Question ${n}?` }, session);
  const racers = RACERS.map((name) =>
    spawnScript('test/process/children/answer-all.ts', [name], childEnvironment(store)),
  );
  const racing = racers.map(outputOf);
  await startTogether(racers);
  const outcomes = (await Promise.all(racing)).map((text) => JSON.parse(text) as Record<string, string>);

  const { items } = await hive.store.read((tx) => tx.prompts.list({ status: 'responded', limit: 1_000 }));
  expect(items).toHaveLength(PROMPTS);
  for (const { ask_id, decision, by } of items) {
    const told = RACERS.filter((_, racer) => outcomes[racer]?.[ask_id] === 'accepted');
    expect([ask_id, told]).toEqual([ask_id, [by]]);
    expect(decision).toBe(by);
    const trail = await hive.store.read((tx) => tx.events.of(ask_id, 20));
    const types = trail
      .map((event) => event.type)
      .filter((type) => type.endsWith('response') || type.endsWith('responded'));
    expect(types).toEqual([
      'prompt/responded',
      ...Array.from({ length: RACERS.length - 1 }, () => 'prompt/lost_response'),
    ]);
  }
  const winners = outcomes.map((of) => Object.values(of).filter((outcome) => outcome === 'accepted').length);
  expect(winners.reduce((sum, count) => sum + count, 0)).toBe(PROMPTS);
  // Each process must have won at least once.
  expect(winners.filter((count) => count > 0).length).toBeGreaterThan(1);
});

test(`${SHORT.processes} processes ask and answer at once over SQLite: each of ${SHORT.asks} questions is answered once, none is lost`, {
  tags: ['sqlite'],
}, async () => {
  await race(tempStore(), SHORT);
});
