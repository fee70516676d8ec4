/** Look-alikes: text that is not what it seems, where somebody chooses by what they see. */
import { describe, expect, test } from 'vitest';
import { dialogOf, promptsOf } from '../../src/domain/dialogs.ts';
import type { HookEvent } from '../../src/domain/hooks.ts';
import { isBlank, revealed } from '../../src/domain/text.ts';
import { plainBody, plainTitle } from '../../src/infrastructure/desktop/notify-send.ts';
import { shell } from '../support/cli.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { tempStore } from '../support/temp.ts';

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

const CYRILLIC = /[\u0400-\u052f]/;

describe('a word of mixed scripts', () => {
  const MIXED: [string, string][] = [
    ['D\u0435ny', 'D<U+0435>ny'],
    ['curl https://g\u043E\u043Egle.com', 'curl https://g<U+043E><U+043E>gle.com'],
    ['p\u03B1ypal', 'p<U+03B1>ypal'],
    ['rm_\u0430', 'rm_<U+0430>'],
    // Most of it is Cyrillic: the Latin letter is the stranger.
    ['\u043F\u0430\u0440a', '\u043F\u0430\u0440<U+0061>'],
    ['\u0430\u03B1', '<U+0430>\u03B1'],
    ['s\u0585da', 's<U+0585>da'],
    ['\u13A0pple', '<U+13A0>pple'],
  ];

  test.each(MIXED)('%s has its strangers spelled out, once', (text, shown) => {
    expect(revealed(text)).toBe(shown);
    expect(revealed(shown)).toBe(shown);
  });

  test('honest text stays as it is', () => {
    for (const text of [
      'git commit -m "x" && rm -rf ./a_1',
      '\u0434\u0430 ja \u03BD\u03B1\u03B9',
      'git-\u043E\u043C',
      '東京abc デモtest 한글ok',
      'nai\u0308ve \u00B5m',
    ])
      expect(revealed(text)).toBe(text);
  });

  test('is marked at a terminal, also where a permission is confirmed', async () => {
    const person = shell(tempStore(), trusting({ terminal_may_allow: true }));
    await person.hive('ask', 'Is the sc\u043epe right?', '--option', 'D\u0435ploy', '--option', 'Stop');
    const { out } = await person.hive('list');
    expect(out).toContain('sc<U+043E>pe');
    expect(out).not.toMatch(CYRILLIC);
    const ask_id = (await person.hive('ask', 'Run c\u0430t x?', '--kind', 'permission')).out.trim();
    const declined = await person.terminal(['respond', ask_id, 'yes'], 'Type yes', 'no');
    expect(declined.out).toContain('Run c<U+0430>t x?');
    expect(declined.out).not.toMatch(CYRILLIC);
  });

  test('is marked in a popup', () => {
    expect(plainTitle('Run c\u0430t?')).toBe('Run c<U+0430>t?');
    expect(plainBody('Run c\u0430t?', true)).toContain('c&lt;U+0430&gt;t');
  });

  test('takes linear time', () => {
    const hostile = ['a\u0430', 'a\u0430 ', '\u0430 ', 'a1', '\u0430_'].map((part) => part.repeat(32_000));
    for (const text of hostile) {
      const started = performance.now();
      revealed(text);
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });
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
