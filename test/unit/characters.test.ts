/** Input is bounded in characters, as the domain counts them: the schema refuses nothing that the domain accepts. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { INTERRUPT_LIMITS } from '../../src/domain/interrupts.ts';
import { NOTE_LIMIT } from '../../src/domain/mentions.ts';
import { MESSAGE_LIMITS } from '../../src/domain/messages.ts';
import { PROMPT_LIMITS } from '../../src/domain/prompts.ts';
import { processShape } from '../../src/schemas/mentions.ts';
import { postShape } from '../../src/schemas/messages.ts';
import { askShape, respondShape } from '../../src/schemas/prompts.ts';
import { interruptShape } from '../../src/schemas/turns.ts';
import { prompt } from './prompt-arbitraries.ts';

const BEE = '🐝';
const ask = z.object(askShape);
const { header, optionLabel, optionDescription, key, comment } = PROMPT_LIMITS;

test.each<[string, number, (text: string) => Record<string, unknown>]>([
  ['header', header, (text) => ({ header: text })],
  ['option', optionLabel, (text) => ({ options: [text] })],
  ['label of an option', optionLabel, (text) => ({ options: [{ label: text }] })],
  [
    'description of an option',
    optionDescription,
    (text) => ({ options: [{ label: 'a', description: text }] }),
  ],
  ['label', key, (text) => ({ label: text })],
  ['group_id', key, (text) => ({ group_id: text })],
  ['idempotency_key', key, (text) => ({ idempotency_key: text })],
])(
  'asking takes as many emoji as characters are allowed, in the schema and in the domain: %s',
  (_field, limit, fields) => {
    const full = { question: 'Go on?', ...fields(BEE.repeat(limit)) };
    expect(ask.safeParse(full).success).toBe(true);
    expect(() => prompt(full)).not.toThrow();
    const over = { question: 'Go on?', ...fields(BEE.repeat(limit + 1)) };
    expect(ask.safeParse(over).success).toBe(false);
    expect(() => prompt(over)).toThrow(/too long/);
  },
);

test.each<[string, number, z.ZodType]>([
  ['the remark beside an answer', comment, respondShape.comment],
  ['the note on a mention', NOTE_LIMIT, processShape.note],
  ['the note of an interrupt', INTERRUPT_LIMITS.note, interruptShape.note],
  ['the name of a thread', MESSAGE_LIMITS.thread, postShape.thread],
])('%s is counted in characters', (_field, limit, schema) => {
  expect(schema.safeParse(BEE.repeat(limit)).success).toBe(true);
  expect(schema.safeParse(BEE.repeat(limit + 1)).error?.issues[0]?.message).toMatch(
    /at most [\d,]+ characters/,
  );
});

test('a client sees the limit, which a JSON schema also counts in characters', () => {
  expect(z.toJSONSchema(ask).properties).toMatchObject({
    header: { type: 'string', maxLength: header, description: expect.any(String) },
    idempotency_key: { minLength: 1, maxLength: key },
  });
});
