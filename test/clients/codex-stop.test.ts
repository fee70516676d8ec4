/** The Stop guard against the real Codex: it holds, a report clears it, and it ends. */
import { describe, expect, test } from 'vitest';
import { noticesOf } from '../support/hive.ts';
import { runCodex } from './support/codex.ts';
import { hive as call, type Reply, startResponses } from './support/responses.ts';
import { openWorldWithDesk } from './support/world.ts';

const PING = { message: 'Deployed.' };
const REPORT = { message: 'All is up.' };
const HELD = /have not reported it, so the session that you report to knows nothing about it/g;

describe('Codex in the background', () => {
  const done: Reply = { text: 'done' };
  const env = { HIVE_SOURCE: 'bg' };

  test('is held for what it showed, reports, and stops', async () => {
    const world = await openWorldWithDesk();
    const model = await startResponses(({ input }, step) => {
      if (step === 1) return { calls: [call('hivemind_ping_user', PING)] };
      const held = JSON.stringify(input.at(-1)).includes('have not reported it');
      return held ? { calls: [call('hivemind_report_updates', REPORT)] } : done;
    });
    await runCodex({ ...world, model, env }, 'go');
    expect(model.everything().match(HELD)).toHaveLength(1);
    expect(await noticesOf(world.hive)).toEqual([]);
  });

  test('that ignores it may stop after three holds: Codex has no limit of its own', async () => {
    const world = await openWorldWithDesk();
    const model = await startResponses((_request, step) =>
      step === 1 ? { calls: [call('hivemind_ping_user', PING)] } : done,
    );
    await runCodex({ ...world, model, env }, 'go');
    expect(model.everything().match(HELD)).toHaveLength(3);
    expect(await noticesOf(world.hive)).toHaveLength(1);
  });
});
