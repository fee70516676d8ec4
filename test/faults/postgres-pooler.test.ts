/**
 * Through a transaction pooler: everything works; without a direct line for LISTEN by polling.
 *
 * @module-tag state-not-events
 * @module-tag one-winner
 * @module-tag postgres
 * @module-tag library
 */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive, recordingLog, whenWaiting } from '../support/hive.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { race } from '../support/race.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';

/** A wait that ended by itself would look once more and find the answer without having been woken. */
const FOR_EVER_MS = 3_600_000;

describe('behind PgBouncer', () => {
  let server: SharedPostgres;
  beforeAll(async () => {
    server = await sharedPostgres();
    return () => server.stop();
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
    const agent = await openHive({ store, env, log: recordingLog() });
    onTestFinished(() => agent.close());
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
