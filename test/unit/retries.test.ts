/** Retries while a store refuses: with growing delays up to a limit, and two lines in the log, however long it takes. */
import { expect, test } from 'vitest';
import { createRetries } from '../../src/application/background.ts';
import { recordingLog } from '../support/hive.ts';

const SAID = { fails: 'It fails.', works: 'It works again.' };

test('the delays grow up to a few seconds and no further', () => {
  const retries = createRetries(recordingLog(), SAID);
  const waits = Array.from({ length: 2_000 }, () => retries.failed(new Error('no store')));
  expect(waits[0]).toBeLessThan(400);
  expect(Math.min(...waits.slice(5))).toBeGreaterThanOrEqual(2_500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(7_500);
});

test('a success resets the delay', () => {
  const retries = createRetries(recordingLog(), SAID);
  for (let n = 0; n < 10; n += 1) retries.failed(new Error('no store'));
  retries.worked();
  expect(retries.failed(new Error('no store'))).toBeLessThan(400);
});

test('the log records the beginning and the end', () => {
  const log = recordingLog();
  const retries = createRetries(log, SAID);
  retries.worked();
  expect(log.lines).toEqual([]);
  for (let n = 0; n < 3; n += 1) retries.failed(new Error('no store'));
  retries.worked();
  retries.worked();
  expect(log.lines).toEqual(['It fails. {"error":"Error: no store"}', 'It works again. {"failures":3}']);
});
