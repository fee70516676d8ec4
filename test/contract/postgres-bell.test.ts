/**
 * The doorbell of PostgreSQL: its heartbeat.
 *
 * @module-tag state-not-events
 * @module-tag postgres
 */
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { beforeFile } from '../support/lifetime.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { eventually } from '../support/wait.ts';

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
});

test('the heartbeat sends nothing while its last one is unanswered, as the library asks', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const driver = openPostgresAt(await server.freshStore(), {});
  onTestFinished(async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    await driver.close();
  });
  let woken = 0;
  driver.watch(() => {
    woken += 1;
  });
  // It listens.
  await eventually(() => woken > 0);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const beats = (): number => query.mock.calls.filter(([text]) => String(text) === 'SELECT 1').length;
  vi.advanceTimersByTime(60_000);
  expect(beats()).toBe(1);
  await eventually(() => {
    vi.advanceTimersByTime(5_000);
    return beats() > 1;
  });
});
