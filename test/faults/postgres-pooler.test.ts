/**
 * Through a transaction pooler: everything works; without a direct line for LISTEN by polling.
 *
 * @module-tag state-not-events
 * @module-tag one-winner
 * @module-tag postgres
 * @module-tag library
 */
import { describe, expect, test } from 'vitest';
import { openHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive, recordingLog, whenWaiting } from '../support/hive.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { race } from '../support/race.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { FOR_EVER_MS } from '../support/wait.ts';

describe('behind PgBouncer', () => {
  let server: SharedPostgres;
  beforeFile(async () => {
    server = await sharedPostgres();
  });
  const through = async (schema: string): Promise<string> =>
    `postgres://hive@127.0.0.1:${await startPgbouncer(server)}/postgres?schema=${schema}&prepare=off`;

  test('a waiting poll gets its answer, although LISTEN does not work', async () => {
    const address = await through('pooled');
    const [agent, desk] = [await openTestHive(address), await openTestHive(address)];
    for (let round = 0; round < 3; round += 1) {
      const { ask_id } = await ask(agent);
      const waiting = agent.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS });
      await whenWaiting(agent);
      await desk.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
      expect((await waiting)[0]?.status).toBe('responded');
    }
  });

  test('a direct connection for LISTEN wakes at once', async () => {
    const store = await through('direct');
    const env = { HIVE_LISTEN_URL: server.address('direct') };
    const agent = closedAtEnd(await openHive({ store, env, log: recordingLog() }));
    const desk = await openTestHive(store);
    const { ask_id } = await ask(agent);
    const waiting = agent.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS });
    await whenWaiting(agent);
    await desk.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect((await waiting)[0]?.status).toBe('responded');
  });

  test('four processes ask and answer at once: each question is answered once and none is lost', async () => {
    await race(await through('raced'), { processes: 4, asks: 100 });
  });
});
