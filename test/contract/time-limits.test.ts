/**
 * Questions with a time limit: the human is warned once before one expires, and learns of what expired or was withdrawn.
 *
 * @module-tag silence
 * @module-tag library
 */
import { beforeEach, expect, test } from 'vitest';
import { createFeed } from '../../src/application/feed.ts';
import { createPrompts, type PromptService } from '../../src/application/prompts.ts';
import { randomIds } from '../../src/infrastructure/platform/ids.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openWithClock } from '../support/clock.ts';
import { ask, HUMAN, noticesOf, openTestHive, recordingLog } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';

const MINUTE_MS = 60_000;

let path: string;
let hive: OpenedHive;
beforeEach(async () => {
  path = tempStore();
  hive = await openTestHive(path);
});

/** The prompts as a process sees them this many minutes from now. */
async function in_(minutes: number): Promise<PromptService> {
  const store = await openWithClock(path, minutes * MINUTE_MS);
  return createPrompts(store, createFeed(store, recordingLog()), randomIds);
}

/** A question that a desk has shown. */
async function shown(question: string, minutes: number | null = 10): Promise<string> {
  const { ask_id } = await ask(hive, { question, timeout_ms: minutes === null ? null : minutes * MINUTE_MS });
  await hive.prompts.mark(ask_id, 'offered');
  return ask_id;
}

test('the human is warned once, when four fifths of the time have passed', async () => {
  await shown('Which way?');
  expect(await (await in_(7.9)).warnDue()).toBe(0);
  const later = await in_(8.1);
  expect([await later.warnDue(), await later.warnDue()]).toEqual([1, 0]);
  expect(await noticesOf(hive)).toEqual(['A question of demo expires in 2 min: "Which way?"']);
});

test('nobody is warned of a question that has no time limit, a short one, or is answered', async () => {
  await shown('For ever?', null);
  await shown('Quick?', 0.9);
  const ask_id = await shown('Answered?');
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  expect(await (await in_(8.1)).warnDue()).toBe(0);
  expect(await noticesOf(hive)).toEqual([]);
});

test('the time of the next warning can be read', async () => {
  const ask_id = await shown('Which way?');
  const { warns_at, created_at } = await hive.prompts.get(ask_id);
  expect(Date.parse(warns_at ?? '') - Date.parse(created_at)).toBe(8 * MINUTE_MS);
  expect(await hive.store.read((tx) => tx.prompts.warnings.next())).toBe(warns_at);
});

test('an expired question is reported once, and not at all if nobody was shown it', async () => {
  await shown('Which way?');
  await ask(hive, { question: 'Unseen?', timeout_ms: 10 * MINUTE_MS });
  const later = await in_(11);
  expect([await later.expireDue(), await later.expireDue()]).toEqual([2, 0]);
  expect(await noticesOf(hive)).toEqual(['A question of demo expired without an answer: "Which way?"']);
});

test('of many that expire together, one notice gives the number', async () => {
  for (const n of [1, 2, 3, 4]) await shown(`Question ${n}?`);
  expect(await (await in_(11)).expireDue()).toBe(4);
  expect(await noticesOf(hive)).toEqual(['4 questions expired without an answer.']);
});

test('a question that its asker withdraws is reported; one that the human cancels is not', async () => {
  const [own, other] = [await shown('Mine?', null), await shown('Yours?', null)];
  const actor = await hive.sessions.actor({ session_id: 'session-1', handle: 'Claude-sessi' }, 'mcp');
  await hive.prompts.cancel(own, actor, 'withdrawn');
  await hive.prompts.cancel(other, HUMAN, 'human');
  expect(await noticesOf(hive)).toEqual(['A question of demo was withdrawn: "Mine?"']);
});
