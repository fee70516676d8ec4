/**
 * Last words: what an agent said last, read from the end of its client's transcript.
 *
 * @module-tag untrusted
 */
import { describe, expect, test } from 'vitest';
import { LONGEST_WORDS, lastWordsIn } from '../../src/domain/transcripts.ts';

const lines = (...entries: readonly object[]): string =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
const prompt = (promptId: string): object => ({
  type: 'user',
  promptId,
  message: { role: 'user', content: 'Go on' },
});
const said = (text: string, more: object = {}): object => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
  ...more,
});
const call: object = {
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
};
const result: object = {
  type: 'user',
  promptId: 'p2',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] },
};

describe('in a transcript of Claude Code', () => {
  test('are the text before the call that asks, whatever results came between', () => {
    expect(lastWordsIn(lines(prompt('p2'), said('I will remove the cache.'), call, result, call), 'p2')).toBe(
      'I will remove the cache.',
    );
  });

  test('are those of this turn: what was said in the one before is not why it asks', () => {
    expect(lastWordsIn(lines(prompt('p1'), said('Done.'), prompt('p2'), call), 'p2')).toBeNull();
  });

  test('are not those of the turn before either while the client has not yet written the prompt of this one', () => {
    expect(lastWordsIn(lines(prompt('p1'), said('Done.')), 'p2')).toBeNull();
    expect(lastWordsIn(lines(prompt('p1'), said('Done.')), 'p1')).toBe('Done.');
  });

  test('are never those of a subagent', () => {
    expect(
      lastWordsIn(lines(prompt('p2'), said('Mine.'), said('Not mine.', { isSidechain: true })), 'p2'),
    ).toBe('Mine.');
  });

  test('are never an error of the API, which the client writes in its name', () => {
    const content = [{ type: 'text', text: 'API Error: 400 Error: bad thing' }];
    const message = { role: 'assistant', model: '<synthetic>', content };
    const failed = { type: 'assistant', message, error: 'unknown', isApiErrorMessage: true };
    expect(lastWordsIn(lines(prompt('p2'), said('Mine.'), call, result, failed), 'p2')).toBe('Mine.');
    expect(lastWordsIn(lines(prompt('p1'), said('Done.'), prompt('p2'), failed), 'p2')).toBeNull();
  });

  test('are read although the tail begins within a line and the last line is still being written', () => {
    const tail = lines(prompt('p2'), said('First.'), said('Second.'));
    expect(lastWordsIn(`${tail.slice(30)}{"type":"assistant","mess`, 'p2')).toBe('Second.');
  });

  test('are cut at their beginning, and clean of what cannot be stored', () => {
    const long = `${'a'.repeat(3 * LONGEST_WORDS)}\u0000 so I ask.`;
    const found = lastWordsIn(lines(said(long)), null) ?? '';
    expect(found).toHaveLength(LONGEST_WORDS);
    expect(found).toMatch(/^…a+.* so I ask\.$/);
    expect(found).not.toContain('\u0000');
  });
});

test('are whole characters where they are cut', () => {
  const found = lastWordsIn(lines(said('😀'.repeat(LONGEST_WORDS))), null) ?? '';
  expect(found).toHaveLength(LONGEST_WORDS);
  expect(found.isWellFormed()).toBe(true);
});

test('in a rollout of Codex they are the last message of the agent since the task began', () => {
  const message = (role: string, text: string): object => ({
    type: 'response_item',
    payload: {
      type: 'message',
      role,
      content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
    },
  });
  const began: object = { type: 'event_msg', payload: { type: 'task_started', turn_id: 't1' } };
  expect(lastWordsIn(lines(began, message('assistant', 'Plan.'), message('user', 'ok')), 't1')).toBe('Plan.');
  expect(lastWordsIn(lines(message('assistant', 'Old.'), began, message('user', 'ok')), 't1')).toBeNull();
});

test('what is no transcript has none', () => {
  for (const text of [
    '',
    'root:x:0:0:root',
    '"type":"assistant"',
    '[{"type":"assistant"}]',
    '{"type":"user"',
  ])
    expect(lastWordsIn(text, 'p')).toBeNull();
});
