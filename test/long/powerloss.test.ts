/** `npm run powerloss` finds what it is made for: each planted fault, which no kill of a process shows. */
import { expect, test } from 'vitest';
import { PLANTED, PLANTED_NAMES, type Planted } from '../powerloss/planted.ts';
import { record } from '../powerloss/run.ts';
import { SCENARIOS } from '../powerloss/scenarios.ts';

async function problems(name: string, fault: Planted | null): Promise<string[]> {
  const scenario = SCENARIOS.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`There is no scenario ${name}.`);
  const recording = await record(scenario, fault);
  try {
    const outcome = await recording.open({ states: 400, seed: 18 });
    return outcome.problems.flatMap(({ texts }) => texts);
  } finally {
    recording.remove();
  }
}

test.for(PLANTED_NAMES)('%s is found, and nothing without it', { timeout: 240_000 }, async (fault) => {
  const planted = PLANTED[fault];
  expect(await problems(planted.scenario, planted)).not.toEqual([]);
  expect(await problems(planted.scenario, null)).toEqual([]);
});
