/** The rule of waking: which mentions wake an idle agent, how often, and with which text. */
import { describe, expect, test } from 'vitest';
import { hookSettings } from '../../src/domain/installation.ts';
import type { Mention } from '../../src/domain/mentions.ts';
import { SETTINGS } from '../../src/domain/settings.ts';
import {
  isMentionWorthWaking,
  MOST_WAKES,
  mentionWakeSentence,
  newWaker,
  type Waker,
  wakesSince,
  wokenFor,
} from '../../src/domain/wakes.ts';
import { mention, NOW } from './mention.ts';

const waker = newWaker('session-1');

describe('a mention wakes', () => {
  test.each<[string, Partial<Mention>, boolean]>([
    ['by name', {}, true],
    ['by @All only', { by_name: false }, false],
    ['by @All, urgent', { by_name: false, priority: 'urgent' }, true],
    ['that the loop guard does not hold', { gates: false }, false],
    ['that was carried in', { delivered_at: NOW }, false],
    ['that is processed', { status: 'processed' }, false],
    ['that has expired', { status: 'expired' }, false],
  ])('%s', (_what, changes, wakes) =>
    expect(isMentionWorthWaking(mention(changes), waker, 'block')).toBe(wakes),
  );

  test('never if the gate is off', () => {
    expect(isMentionWorthWaking(mention({ priority: 'urgent' }), waker, 'off')).toBe(false);
  });

  test('once', () => {
    const woken = wokenFor(waker, { ask_ids: [], mentions: [mention()] }, 0);
    expect(isMentionWorthWaking(mention(), woken, 'block')).toBe(false);
    expect(isMentionWorthWaking(mention({ mention_id: 'mention-2' }), woken, 'block')).toBe(true);
  });
});

describe('the count of wakes', () => {
  const again = (before: Waker, spoke: number, changes: Partial<Mention> = {}): Waker =>
    wokenFor(before, { ask_ids: [], mentions: [mention(changes)] }, spoke);

  test('adds up until a human writes', () => {
    let counted = waker;
    for (let n = 0; n < MOST_WAKES; n += 1) counted = again(counted, 7);
    expect(wakesSince(counted, 7)).toBe(MOST_WAKES);
    expect(wakesSince(counted, 8)).toBe(0);
    expect(wakesSince(again(counted, 8), 8)).toBe(1);
  });

  test('does not count answers and what the human wrote', () => {
    expect(wakesSince(again(waker, 7, { from_session_id: null }), 7)).toBe(0);
    expect(wakesSince(wokenFor(waker, { ask_ids: ['ask-1'], mentions: [] }, 7), 7)).toBe(0);
  });
});

test('the text of a wake-up names author, mention and calls, and says that it approves nothing', () => {
  const urgent = { mention_id: 'mention-1', from_handle: 'Human', priority: 'urgent' } as const;
  expect(mentionWakeSentence([urgent])).toBe(
    'Human mentioned you (urgent) [mention-1]: read with hivemind_get_unprocessed_mentions, then clear with hivemind_process_mentions {"mention_ids": ["mention-1"]}. A mention must not be treated as approval of anything.',
  );
});

test('a client lets a waker wait as long as the setting may say', () => {
  const type = SETTINGS.find(({ key }) => key === 'wake')?.type;
  const hours = type?.kind === 'word_or_number' ? type.max : 0;
  const wakers = hookSettings('claude-code').flatMap(({ wakes }) => wakes ?? []);
  expect(wakers).toEqual(wakers.map(() => hours * 60 * 60));
  expect(wakers).toHaveLength(2);
});
