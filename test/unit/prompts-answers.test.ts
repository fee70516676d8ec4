/** Answers to a prompt: which count, and how they are stored. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import { type AnswerRequest, type AskRequest, resolveAnswer } from '../../src/domain/prompts.ts';
import { answer, prompt } from './prompt-arbitraries.ts';

const { by, via, attested, response_id, responded_at } = answer();
const stamp = { by, via, attested, response_id, responded_at };

function resolve(asked: Partial<AskRequest>, given: AnswerRequest): [string, string[]] {
  const { decision, selected } = resolveAnswer(prompt(asked), given, stamp);
  return [decision, selected];
}

function refusal(asked: Partial<AskRequest>, given: AnswerRequest): HiveError {
  try {
    resolve(asked, given);
  } catch (error) {
    if (error instanceof HiveError) return error;
  }
  throw new Error('It was not refused.');
}

const colours = { options: ['red', 'green', 'blue'] };

describe('an answer', () => {
  test('by a label is that option', () => {
    expect(resolve(colours, { decision: 'green' })).toEqual(['green', ['green']]);
  });

  test('by selection is that option', () => {
    expect(resolve(colours, { selected: ['green'] })).toEqual(['green', ['green']]);
  });

  test('of several options joins their labels in the order they were offered', () => {
    expect(resolve({ ...colours, multi_select: true }, { selected: ['blue', 'red'] })).toEqual([
      'red, blue',
      ['red', 'blue'],
    ]);
  });

  test('that names an option twice names it once', () => {
    expect(resolve(colours, { selected: ['red', 'red'] })).toEqual(['red', ['red']]);
  });

  test('may be free text if that is allowed', () => {
    expect(resolve(colours, { decision: 'mauve' })).toEqual(['mauve', []]);
  });

  test.each([
    ['where free text is on', true],
    ['where it is off', false],
  ])('with white space around a label is that option, %s', (_where, allow_free_text) => {
    for (const decision of ['green ', ' green', '\tgreen\n'])
      expect(resolve({ ...colours, allow_free_text }, { decision })).toEqual(['green', ['green']]);
    expect(resolve({ ...colours, allow_free_text }, { selected: ['green '] })).toEqual(['green', ['green']]);
  });

  test('by selection with and without white space names an option once', () => {
    const several = { ...colours, multi_select: true };
    expect(resolve(several, { selected: ['red', ' red', 'blue '] })).toEqual(['red, blue', ['red', 'blue']]);
  });

  test('in free text stays as it was typed', () => {
    expect(resolve(colours, { decision: '  light green ' })).toEqual(['  light green ', []]);
  });

  test('prefers the selection to the text', () => {
    expect(resolve(colours, { selected: ['red'], decision: 'blue' })).toEqual(['red', ['red']]);
  });

  test('carries its comment', () => {
    const given = { decision: 'red', comment: 'the dark one' };
    expect(resolveAnswer(prompt(colours), given, stamp).comment).toBe('the dark one');
  });

  test.each<[string, Partial<AskRequest>, AnswerRequest, RegExp]>([
    ['nothing', {}, {}, /answer is empty/],
    ['white space', {}, { decision: '  ' }, /answer is empty/],
    ['an unknown option', colours, { selected: ['mauve'] }, /"mauve" is none of the options/],
    [
      'free text where it is off',
      { ...colours, allow_free_text: false },
      { decision: 'mauve' },
      /free text is off.*Offered: "red", "green", "blue"/,
    ],
    ['two options where one is asked', colours, { selected: ['red', 'blue'] }, /only one option/],
  ])('is refused when it says %s', (_what, asked, given, sentence) => {
    const { code, message } = refusal(asked, given);
    expect(code).toBe('invalid_answer');
    expect(message).toMatch(sentence);
  });

  test('that is too long is refused', () => {
    expect(refusal({}, { decision: 'x'.repeat(65_537) })).toMatchObject({ code: 'invalid_input' });
    expect(refusal({}, { decision: 'x', comment: 'x'.repeat(65_537) })).toMatchObject({
      code: 'invalid_input',
    });
  });

  test('that is refused is not repeated at full length', () => {
    const { message } = refusal({ ...colours, allow_free_text: false }, { decision: 'x'.repeat(60_000) });
    expect(message.length).toBeLessThan(500);
    expect(refusal(colours, { selected: ['x'.repeat(60_000)] }).message.length).toBeLessThan(500);
  });

  test('selects only what was offered, each once, and its decision is their labels', () => {
    const labels = fc.uniqueArray(
      fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom(...'abc,"') }),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(labels, fc.nat(), (options, seed) => {
        const chosen = options.filter((_, index) => ((seed >> index) & 1) === 1);
        fc.pre(chosen.length > 0);
        const [decision, selected] = resolve(
          { options, multi_select: true },
          { selected: chosen.toReversed() },
        );
        expect(selected).toEqual(chosen);
        expect(decision).toBe(chosen.join(', '));
      }),
    );
  });
});
