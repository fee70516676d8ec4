/** Four processes on one store: one runs turns and is killed in between, three ask for interrupts all the while. */
import { expect, test } from 'vitest';
import { CANCELS } from '../../src/domain/turns.ts';
import { type Child, childEnvironment, outputOf, spawnScript } from '../support/children.ts';
import { openTestHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { claude } from '../support/turns.ts';
import { sleep } from '../support/wait.ts';

const PLAYER = 'test/process/children/interrupt-player.ts';
const STEPS = 40;

interface Answer {
  n: number;
  asked: string | null;
  timeout_ms: number;
  error?: string;
  turn_id?: string;
  outcome?: 'aborted' | 'completed' | 'unconfirmed';
  abort_reason?: string | null;
  by?: string | null;
}

test('each request is answered once, by its own turn; questions stand as the table says; kill -9 changes nothing of that', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const play = (role: string, seed: number): Child =>
    spawnScript(PLAYER, [role, String(seed), String(STEPS)], childEnvironment(store));
  for (const session_id of ['one', 'two']) await claude(hive, { session_id }).start();

  const askers = [1, 2, 3].map((seed) => outputOf(play('asker', seed)));
  const first = play('agent', 4);
  await sleep(900);
  await first.kill('SIGKILL');
  expect((await play('agent', 5).exited).code).toBe(0);
  // Who still waits is answered when the sessions end.
  for (let ended = false; !ended; ) {
    for (const session_id of ['one', 'two']) await claude(hive, { session_id }).end(undefined);
    ended = await Promise.race([Promise.all(askers).then(() => true), sleep(200).then(() => false)]);
  }

  for (const said of await Promise.all(askers)) {
    const answers = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer);
    expect(answers.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: STEPS }, (_, n) => n),
    );
    for (const answer of answers) {
      if (answer.error !== undefined) {
        expect(['no_turn', 'turn_not_current']).toContain(answer.error);
        continue;
      }
      if (answer.asked !== null) expect(answer.turn_id).toBe(answer.asked);
      if (answer.outcome === 'unconfirmed') {
        expect(answer.timeout_ms).toBeLessThan(60_000);
        continue;
      }
      const { state, abort_reason, by } = await hive.turns.get(answer.turn_id ?? '');
      expect({ state, abort_reason, by }).toEqual({
        state: answer.outcome,
        abort_reason: answer.abort_reason,
        by: answer.by,
      });
    }
  }

  const { items } = await hive.prompts.list({ limit: 500 });
  expect(items.length).toBeGreaterThan(0);
  for (const prompt of items) {
    const turn = prompt.turn_id === null ? null : await hive.turns.get(prompt.turn_id);
    const kind = turn === null || turn.state === 'in_progress' ? null : (turn.abort_reason ?? 'completed');
    const falls = kind !== null && CANCELS[kind](prompt);
    expect([prompt.status, prompt.cancel_reason]).toEqual(falls ? ['cancelled', kind] : ['pending', null]);
  }
}, 60_000);
