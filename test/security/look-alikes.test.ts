/** Look-alikes: text that is not what it seems, where somebody chooses by what they see. */
import { describe, expect, test } from 'vitest';
import { dialogOf, promptsOf } from '../../src/domain/dialogs.ts';
import type { HookEvent } from '../../src/domain/hooks.ts';
import { isBlank, revealed } from '../../src/domain/text.ts';
import { ask, openTestHive } from '../support/hive.ts';

const INVISIBLE = [
  0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x17b5, 0x180b, 0x180f, 0x200b, 0x200d, 0x202e, 0x2060, 0x2800, 0x3164,
  0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0x1bca0, 0x1d173, 0xe0001, 0xe0100, 0xe01ef,
].map((code) => String.fromCodePoint(code));

test('what nobody sees is spelled out, and is no text by itself', () => {
  for (const character of INVISIBLE) {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    expect(revealed(`a${character}b`)).toBe(`a<U+${code}>b`);
    expect(isBlank(` ${character}`)).toBe(true);
  }
  expect(revealed('Zoë, naïve, 東京, ∑ x²')).toBe('Zoë, naïve, 東京, ∑ x²');
});

describe('options', () => {
  const alike: [string, string][] = [
    ...INVISIBLE.map((character): [string, string] => ['Deny', `De${character}ny`]),
    ['Deny', 'D\u0435ny'],
    ['Allow', '\u0410llow'],
    ['scope', '\u0455\u0441\u043e\u0440\u0435'],
    ['file', '\ufb01le'],
    ['one', '\uff4fne'],
    ['a b', 'a\u00a0 b'],
    ['Il', 'lI'],
  ];

  test.each(alike)('%j and %j are refused when they are asked', async (one, other) => {
    const hive = await openTestHive();
    await expect(ask(hive, { options: [one, other] })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('look alike'),
    });
    expect((await hive.prompts.list({ limit: 1 })).items).toEqual([]);
  });

  test('that a person can tell apart are asked', async () => {
    const hive = await openTestHive();
    const options = ['yes', 'Yes', 'no', 'да', 'нет', '1', '10', 'l0', 'rest', 'Rest!'];
    expect((await ask(hive, { options })).options.map(({ label }) => label)).toEqual(options);
  });

  test('of a client are left to its own dialog', () => {
    const questions = [{ question: 'Go?', options: [{ label: 'Deny' }, { label: 'D\u0435ny' }] }];
    const event = {
      name: 'PermissionRequest',
      client: 'claude-code',
      tool: { name: 'AskUserQuestion', input: { questions } },
      raw: {},
    } as unknown as HookEvent;
    const dialog = dialogOf(event);
    expect(dialog?.kind).toBe('questions');
    expect(dialog === null ? null : promptsOf(dialog, event)).toEqual([]);
  });
});
