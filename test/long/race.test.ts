/** Sixteen processes at once. On both engines, 10,000 questions are answered once each, and none is lost. */
import { onTestFinished, test } from 'vitest';
import { incrementTogether, postTogether, raceForCredit } from '../support/many-processes.ts';
import { startPostgres } from '../support/postgres.ts';
import { race } from '../support/race.ts';
import { tempStore } from '../support/temp.ts';

const RACE = { processes: 16, asks: 10_000 };
const LIMIT_MS = 60 * 60_000;

test('over SQLite', () => race(tempStore(), RACE), LIMIT_MS);

test(
  'over PostgreSQL',
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    await race(server.address('race'), RACE);
  },
  LIMIT_MS,
);

test('read, modify and write', () => incrementTogether(tempStore(), RACE.processes));

test('post at once', () => postTogether(tempStore(), RACE.processes));

test('want the last credit', () => raceForCredit(tempStore(), RACE.processes));
