/** Trying again while a store refuses: ever more seldom up to a bound, and two lines in the log, however long it takes. */
import { expect, test } from 'vitest';
import { createRetries } from '../../src/application/retries.ts';
import { recordingLog } from '../support/hive.ts';

const SAID = { fails: 'It fails.', works: 'It works again.' };

test('the waits grow up to a few seconds and no further', () => {
  const retries = createRetries(recordingLog(), SAID);
  const waits = Array.from({ length: 2_000 }, () => retries.failed(new Error('no store')));
  expect(waits[0]).toBeLessThan(400);
  expect(Math.min(...waits.slice(5))).toBeGreaterThanOrEqual(2_500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(7_500);
});

test('what has worked begins anew', () => {
  const retries = createRetries(recordingLog(), SAID);
  for (let n = 0; n < 10; n += 1) retries.failed(new Error('no store'));
  retries.worked();
  expect(retries.failed(new Error('no store'))).toBeLessThan(400);
});

test('the log hears when it begins and when it is over', () => {
  const log = recordingLog();
  const retries = createRetries(log, SAID);
  retries.worked();
  expect(log.lines).toEqual([]);
  for (let n = 0; n < 3; n += 1) retries.failed(new Error('no store'));
  retries.worked();
  retries.worked();
  expect(log.lines).toEqual(['It fails. {"error":"Error: no store"}', 'It works again. {"failures":3}']);
});
