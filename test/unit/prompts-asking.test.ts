/** Bounds and defaults of a question, and a clear sentence for what does not fit. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import { type AskRequest, PROMPT_LIMITS } from '../../src/domain/prompts.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { ASKER, at, prompt } from './prompt-arbitraries.ts';

function refusal(request: Partial<AskRequest>): HiveError {
  try {
    prompt(request);
  } catch (error) {
    if (error instanceof HiveError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('an ask', () => {
  test('by default has no time limit, takes free text and has normal urgency', () => {
    expect(prompt()).toMatchObject({
      status: 'pending',
      kind: 'question',
      urgency: 'normal',
      expires_at: null,
      allow_free_text: true,
      multi_select: false,
      options: [],
      created_at: at(0),
    });
  });

  test('takes options as strings or with a description', () => {
    expect(prompt({ options: ['yes', { label: 'no', description: 'stop here' }] }).options).toEqual([
      { label: 'yes', description: null },
      { label: 'no', description: 'stop here' },
    ]);
  });

  test('for a permission without options offers to allow and to deny it', () => {
    expect(prompt({ kind: 'permission' }).options).toMatchObject([
      { label: 'Allow' },
      { label: 'Deny', refuses: true },
    ]);
  });

  test('counts its time limit from the ask', () => {
    expect(prompt({ timeout_ms: 1_500 }).expires_at).toBe(at(1_500));
  });

  test('counts characters as people do: 8,000 emoji fit, one more does not', () => {
    expect(prompt({ question: '🐝'.repeat(8_000) }).question).toHaveLength(16_000);
    expect(refusal({ question: '🐝'.repeat(8_001) }).message).toMatch(/at most 8,000 characters/);
  });

  test.each<[string, Partial<AskRequest>, RegExp]>([
    ['an empty question', { question: '' }, /question is empty/],
    ['a question of white space', { question: ' \n\t ' }, /question is empty/],
    ['a question that nobody can see', { question: '\u200b\u2060\ufeff' }, /question is empty/],
    ['a question of 10 MB', { question: 'x'.repeat(10_000_000) }, /question is too long/],
    ['a header too long', { header: 'x'.repeat(201) }, /header is too long/],
    ['a context over 64 KB', { context: 'é'.repeat(32_769) }, /context is too long/],
    ['21 options', { options: Array.from({ length: 21 }, (_, n) => `${n}`) }, /21 options: at most 20/],
    ['the same option twice', { options: ['yes', 'yes '] }, /"yes" is given twice/],
    ['an option without a text', { options: ['yes', ' '] }, /empty label/],
    ['an option that nobody can see', { options: ['yes', '\u200b'] }, /empty label/],
    ['no way to answer', { options: [], allow_free_text: false }, /nobody could answer/],
    ['a negative time', { timeout_ms: -1 }, /must be between 1000 \(1 s\)/],
    ['no time at all', { timeout_ms: 0 }, /must be between/],
    ['a huge time', { timeout_ms: 1e300 }, /2592000000 \(30 days\)/],
    ['a time that is no number', { timeout_ms: Number.NaN }, /must be between/],
    ['a key too long', { idempotency_key: 'k'.repeat(201) }, /idempotency_key is too long/],
  ])('is refused with %s', (_what, request, sentence) => {
    const { code, message } = refusal(request);
    expect(code).toBe('invalid_input');
    expect(message).toMatch(sentence);
    expect(message.length).toBeLessThan(1_000);
  });

  test('keeps right-to-left and zero-width text inside a question as it is', () => {
    const question = 'שלום \u202eabc\u202c a\u200db?';
    expect(prompt({ question }).question).toBe(question);
  });

  test('holds no NUL and no lone surrogate, whatever came in', () => {
    const anything = fc.string({
      unit: fc.constantFrom('a', '\0', '\ud800', '\udfff', '🐝', ' '),
      minLength: 1,
    });
    fc.assert(
      fc.property(anything, anything, (question, text) => {
        const request = {
          question: `?${question}`,
          header: text,
          context: text,
          label: text,
          group_id: text,
        };
        const asked = newPrompt({ ...request, options: [`o${text}`] }, ASKER, 'ask-1', at(0));
        const stored = JSON.stringify(asked);
        expect(stored).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      }),
    );
  });
});

describe('the fingerprint under an idempotency key', () => {
  const of = (request: Partial<AskRequest>): string =>
    prompt({ idempotency_key: 'key', ...request }).fingerprint;

  test('is the same for the same question', () => {
    expect(of({ options: ['a', { label: 'b' }] })).toBe(of({ options: [{ label: 'a' }, 'b'] }));
  });

  test.each<[string, Partial<AskRequest>]>([
    ['question', { question: 'Stop?' }],
    ['options', { options: ['a'] }],
    ['kind', { kind: 'permission' }],
    ['context', { context: 'more' }],
  ])('differs with another %s', (_field, change) => {
    expect(of(change)).not.toBe(of({}));
  });

  test('is not stored without a key', () => {
    expect(prompt({ context: 'long' }).fingerprint).toBe('');
  });
});

test('the limits are those that the tools state', () => {
  expect(PROMPT_LIMITS).toMatchObject({ question: 8_000, contextBytes: 65_536, options: 20 });
});
