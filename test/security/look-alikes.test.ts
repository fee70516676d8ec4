/**
 * Look-alikes: text that is not what it seems, where somebody chooses by what they see.
 *
 * @module-tag untrusted
 * @module-tag as-displayed
 * @module-tag cli
 * @module-tag popup
 */
import { describe, expect, test } from 'vitest';
import { dialogOf, promptsOf } from '../../src/domain/dialogs.ts';
import { isBlank, isHidden, revealed, revealedSource, spelledOut } from '../../src/domain/display.ts';
import type { HookEvent } from '../../src/domain/hooks.ts';
import { plainBody, plainTitle } from '../../src/infrastructure/desktop/notify-send.ts';
import { shell } from '../support/cli.ts';
import { ask, introduction, openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { tempStore } from '../support/temp.ts';
import { everyCharacter } from '../support/unicode.ts';

const INVISIBLE = [
  0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x17b5, 0x180b, 0x180f, 0x200b, 0x200d, 0x202e, 0x2060, 0x2800, 0x3164,
  0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0x1bca0, 0x1d173, 0xe0001, 0xe0100, 0xe01ef,
].map((code) => String.fromCodePoint(code));

test('invisible characters are spelled out, and are not a text on their own', () => {
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
    // Most of it is Cyrillic, so the Latin letter is spelled out.
    ['\u043F\u0430\u0440a', '\u043F\u0430\u0440<U+0061>'],
    ['\u0430\u03B1', '\u0430<U+03B1>'],
    ['s\u0585da', 's<U+0585>da'],
    ['\u13A0pple', '<U+13A0>pple'],
  ];

  test.each(MIXED)('letters of another script are spelled out once: %s', (text, shown) => {
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
    expect(declined.code).toBe(7);
    expect(declined.out).toContain('Run c<U+0430>t x?');
    expect(declined.out).not.toMatch(CYRILLIC);
  });

  test('is marked in a popup', () => {
    expect(plainTitle('Run c\u0430t?')).toBe('Run c<U+0430>t?');
    expect(plainBody('Run c\u0430t?', true)).toContain('c&lt;U+0430&gt;t');
  });

  test('takes linear time', () => {
    // In quadratic time these would take many minutes.
    for (const part of ['a\u0430', 'a\u0430 ', '\u0430 ', 'a1', '\u0430_'])
      expect(revealed(part.repeat(100_000)).length).toBeGreaterThan(100_000);
  });
});

test('what Unicode says cannot be seen is spelled out everywhere', () => {
  const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}]/u;
  const missed: string[] = [];
  for (const character of everyCharacter())
    if (unseen.test(character) && !/[\t\n]/.test(character) && revealed(character) === character)
      missed.push((character.codePointAt(0) ?? 0).toString(16));
  expect(missed).toEqual([]);
});

describe('what a display draws as nothing', () => {
  // A terminal gives these letters no width: conjoining Hangul vowels and finals, and letters that Emacs takes for marks.
  const UNDRAWN = [
    '\u1161',
    '\u11ff',
    '\ud7b0',
    '\ud7fb',
    '\ua680',
    '\ua69b',
    '\ua984',
    '\ua9b2',
    '\u0600',
    '\u0605',
  ];

  test.each(UNDRAWN)('%s is spelled out in prose, in a diff and in a command', (letter) => {
    const spelled = `<U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`;
    for (const show of [revealed, revealedSource, spelledOut])
      expect(show(`bash tools/${letter}.sh`)).toBe(`bash tools/${spelled}.sh`);
  });

  test('a mark is shown only on a character that carries it, and no more than four are', () => {
    expect(revealed('e\u0301 \u05d0\u05b0 \u0e01\u0e31 \u0915\u094b')).toBe(
      'e\u0301 \u05d0\u05b0 \u0e01\u0e31 \u0915\u094b',
    );
    expect(revealed('\u0301a \u0301 x\u05b0 o\u0e31 \u0e01\u05b0')).toBe(
      '<U+0301>a <U+0301> x<U+05B0> o<U+0E31> \u0e01<U+05B0>',
    );
    expect(revealed(`a${'\u0301'.repeat(6)}b`)).toBe(`a${'\u0301'.repeat(4)}<U+0301><U+0301>b`);
  });

  test('what Unicode has not assigned, or assigned after the oldest program that shows it, is spelled out', () => {
    for (const character of everyCharacter())
      if (/[\p{Cn}\p{Co}\p{Cs}]/u.test(character)) expect(revealed(`a${character}`)).toContain('<U+');
    expect(revealed('\u0897')).toBe('<U+0897>');
  });

  test('of whatever character, each level shows it, or spells it out', () => {
    const isSpelled = (text: string): boolean => /^x(?:<U\+[0-9A-F]{4,6}>|\^[\x3f-\x5f])y$/.test(text);
    const isRight = (character: string, shown = ''): boolean =>
      shown === `x${character}y` ? !isHidden(character) : isSpelled(shown);
    // Many in one text, a line each.
    const characters = everyCharacter().filter((character) => character !== '\n');
    const wrong: string[] = [];
    for (let at = 0; at < characters.length; at += 1_000) {
      const some = characters.slice(at, at + 1_000);
      const text = some.map((character) => `x${character}y`).join('\n');
      for (const lines of [revealed, revealedSource, spelledOut].map((show) => show(text).split('\n')))
        for (const [n, character] of some.entries())
          if (!isRight(character, lines[n]))
            wrong.push(`${character.codePointAt(0)?.toString(16)}: ${lines[n]}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('in a diff', () => {
  test.each([
    ['Lisu', 'user.is\ua4eedmin', 'user.is<U+A4EE>dmin'],
    ['phonetic Latin', '\u0251\u0261ent', '<U+0251><U+0261>ent'],
    ['mathematical', '\u{1d41a}dmin', '<U+1D41A>dmin'],
    ['full width', '\uff41dmin = \uff11', '<U+FF41>dmin = <U+FF11>'],
    ['full-width punctuation of code', 'if\uff08x\uff09', 'if<U+FF08>x<U+FF09>'],
    ['a whole word of twins', '\u0441\u043e\u0440\u0443(x)', '<U+0441><U+043E><U+0440><U+0443>(x)'],
  ])('look-alikes are spelled out: %s', (_, text, shown) => {
    expect(revealedSource(text)).toBe(shown);
    expect(revealedSource(shown)).toBe(shown);
  });

  test('comments in other languages stay readable', () => {
    for (const text of [
      '// \u0430 \u043e\u043d \u0438 \u044f: \u043a\u043e\u043f\u0438\u044f',
      '// \u6771\u4eac\uff08\u65e5\u672c\uff09\uff1a \u30c6\u30b9\u30c8',
      '# d\u00e9j\u00e0 vu, Stra\u00dfe, \u0142\u00f3d\u017a, x\u00b2, 5 \u00b5m \u2026',
    ])
      expect(revealedSource(text)).toBe(text);
  });
});

describe('in the command of a permission', () => {
  /** The characters that stay as they are between ASCII characters, of all that there are. */
  const characters = everyCharacter().filter((one) => one > '\x7f' && !/\p{Cs}/u.test(one));
  const between = characters.filter((one) => spelledOut(`a${one}b`).includes(one));

  test('of all characters, only letters with accents and emoji stay as they are on their own', () => {
    expect(between.filter((one) => !/^[\p{Script=Latin}\p{Emoji_Presentation}]$/u.test(one))).toEqual([]);
    expect(between.filter((one) => /[\p{Z}\p{C}\p{M}\p{P}\p{N}\p{Lm}]/u.test(one))).toEqual([]);
    // None is equivalent to another character, and none is punctuation without its accent.
    expect(between.filter((one) => one.normalize('NFKC') !== one)).toEqual([]);
    expect(between).toEqual(expect.arrayContaining(['é', 'ß', 'Ż', 'ệ', '✨', '🐝']));
    expect(between.length).toBeLessThan(2_000);
  });

  test('words from right to left are spelled out where a display would draw the line in another order', () => {
    const [one, other] = ['\u05d0\u05d1', '\u0645\u0631\u062d'];
    const spelled = (text: string): string =>
      text.replace(/[\u0590-\u06ff]/g, (letter) => `<U+0${letter.charCodeAt(0).toString(16).toUpperCase()}>`);
    // Drawn from left to right, the first of these reads its target and writes nothing.
    for (const text of [
      `cat ${one} > ${other}`,
      `mv ${one} ${one}`,
      `mv '${one} ${one}' ${other}`,
      `mv "${one}" "${one}"`,
      `sh -c '${one} > ${one}'`,
      `mv \\"${one} 5\\"`,
      `cp ${one} 1 2`,
      `rm ${one}12`,
      `rm -r ${one}/../${other}.x`,
      `rm ${one}\u05b8 1`,
    ])
      expect(spelledOut(text)).toBe(spelled(text));
    for (const text of [
      `cat ${one}`,
      `cat src/${one}.txt > log`,
      `cp 1 2 ${other}`,
      `cat ${one}; rm ${other}`,
      `git commit -m '${one} 2, ${other}: ${one}!'`,
      `cat ${one}\n${one}`,
      'cat \u043f\u0440\u0438 > \u6771\u4eac 1',
    ])
      expect(spelledOut(text)).toBe(text);
  });

  test('within words, only letters and marks do', () => {
    const inWords = characters.filter((one) => spelledOut(`\u6771${one}\u4eac`).includes(one));
    expect(inWords.filter((one) => !/^[\p{L}\p{M}\p{Emoji_Presentation}]$/u.test(one))).toEqual([]);
    expect(inWords.filter((one) => one.normalize('NFKC') !== one)).toEqual([]);
    expect(inWords.length).toBeGreaterThan(50_000);
  });

  // Of Unicode's list of confusables: what looks like a blank, a hyphen, a slash, a quote, a dot, an operator or a letter.
  test.each([
    ['a blank', '\u00a0\u1680\u2000\u2003\u2009\u200a\u202f\u205f\u3000\u2800'],
    [
      '-',
      '\u058a\u05be\u1400\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2796\u30fc\u2cba\ufe58\ufe63\uff0d\u4e00\u3161',
    ],
    ['_', '\u02cd\u07fa\ufe4d\ufe4e\uff3f'],
    ['/', '\u2044\u2215\u2571\u27cb\u29f8\u1735\u2041\u2cc6\u30ce\u4e3f\u31d3\uff0f\u0338\u0337'],
    ['\\', '\u2216\u27cd\u29f5\u29f9\u31d4\u4e36\ufe68\uff3c'],
    ['.', '\u0660\u06f0\u0701\u0702\u2024\ua4f8\u{10a50}\u{1d16d}\u00b7\u30fb'],
    [
      ':',
      '\u02d0\u02f8\u0589\u05c3\u0703\u0704\u0903\u0a83\u16ec\u1803\u1809\u205a\u2236\ua4fd\ua789\ufe30\uff1a',
    ],
    [';', '\u037e\uff1b\u061b'],
    ['|', '\u01c0\u05c0\u05df\u2223\u23fd\u2502\u2758\uff5c\uffe8\u4e28\u3163\u07ca\u2d4f\ua4f2'],
    ['! ? + = $', '\u2753\u2755\u2757\u2795\u{1f7f0}\u{1f4b2}'],
    ['!', '\u01c3\u2d51\uff01\u203c'],
    ['*', '\u204e\u066d\u2217\u{1031f}\uff0a'],
    ['&', '\ua778\uff06'],
    ['~', '\u02dc\u1fc0\u2053\u223c\uff5e'],
    [
      'quotes',
      '\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02c8\u02ca\u02cb\u055a\u055d\u05d9\u05f3\u07f4\u07f5\u144a\u16cc\u1fbd\u1fbf\u1fef\u1ffd\u1ffe\u2018\u2019\u201a\u201b\u2032\u2035\ua78c\uff07\uff40',
    ],
    ['=', '\u1400\u2e40\u30a0\ua4ff\uff1d\u207c'],
    ['$ % # @', '\uff04\uff05\u066a\u2052\uff03\uff20'],
    ['< >', '\u02c2\u02c3\u1438\u1433\u2039\u203a\u276e\u276f\uff1c\uff1e\u{1d236}\u{1d237}'],
    [
      'letters',
      '\u0131\u0251\u0261\u026a\u029f\u0280\u1d04\u1d0f\u1d20\u1d21\u1d22\ua731\u017f\u212a\u212f\u2113\u{1d41a}\u{1d5ba}\uff41\ua4d0\ua4d1\u2c9f\u13a0\u{10404}\u{1d7ce}\u0966\u09e6\u0be6',
    ],
  ])('whatever looks like %s is spelled out', (_, lookalikes) => {
    for (const character of lookalikes) {
      const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
      for (const [before, after] of [
        ['a', 'b'],
        [' ', ' '],
        ['a ', 'b'],
        ['/', '/'],
      ])
        expect(spelledOut(`${before}${character}${after}`)).toBe(`${before}<U+${code}>${after}`);
    }
  });

  test('a word of another script in which each letter has a Latin twin is spelled out', () => {
    expect(spelledOut('\u0441\u043e\u0440\u0443 x')).toBe('<U+0441><U+043E><U+0440><U+0443> x');
    expect(spelledOut('\u0441\u043e\u0440\u0443\u0301_1')).toBe('<U+0441><U+043E><U+0440><U+0443><U+0301>_1');
  });

  // Words of Cyrillic, Armenian, Greek, Cherokee and Coptic letters that Unicode calls confusable with ASCII.
  test.each([
    ...[
      '\u04cf\u0455',
      '\u0441\u04cf\u043e\u0455\u0435',
      '\u0441\u04cf\u0456\u0440',
      '\u0455\u0475\u0441',
      '\u0475\u0456',
    ],
    ...[
      '\u0461\u0441',
      '\u04bd\u0441\u04bb\u043e',
      '\u050d\u0456\u0441',
      '\u0581\u0578\u057d',
      '\u03f3\u03bf\u03f3\u03bf',
    ],
    ...[
      '\u0433\u043e',
      '\u04af\u0435\u0455',
      '\u04ae\u0415\u0405',
      '\u03b3\u03bf',
      '\u0570\u0584\u0566',
      '\u054f\u0555',
      '\u13df\u13a0\u13a2',
    ],
    ...['\u2ca5\u2c9f', '\uabaf\uabbb', '\u0451\u0435'],
    // Strokes, rings and dots of other scripts.
    ...[
      '\u30ce\u30ce',
      '\u4e00\u4e00',
      '\u4e28\u4e28',
      '\u1173\u1173',
      '\u05df\u05df',
      '\u0627\u0627',
      '\u3161\u4e00',
      '\u4e3f\u4e3f',
    ],
    ...[
      '\u3163\u3163',
      '\u05d5\u05df',
      '\u0647\u06be',
      '\u0645\u0627'.slice(1).repeat(2),
      '\u4e8c\u4e8c',
      '\u3078\u30d8',
      '\u3147\u3147',
    ],
  ])('%s, in which every letter looks like ASCII, is spelled out', (word) => {
    const spelled = Array.from(
      word,
      (one) => `<U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}>`,
    ).join('');
    for (const [before, after] of [
      ['/bin/', ''],
      ['a', 'b'],
      ['', ' x'],
    ])
      expect(spelledOut(`${before}${word}${after}`)).toBe(`${before}${spelled}${after}`);
  });

  test('ordinary words stay readable, and what is spelled out already is not changed', () => {
    for (const text of [
      'git commit -m "Größe geändert ✨" && npm test',
      'cat src/日本語.ts デモー/файл.txt',
      'echo "привет рука" Ελλάδα 한국어 हिन्दी ภาษาไทย "مرحبا שלום"',
      'ls 一覧/ノート へや 三一 이응 ארון Հայաստան ماء',
      'tab\tand\nnewline ~ ^ `x` $HOME',
    ]) {
      expect(spelledOut(text)).toBe(text);
      expect(spelledOut(spelledOut(`${text}\u00a0`))).toBe(`${text}<U+00A0>`);
    }
  });

  test('a diff keeps its punctuation, and shows unusual blanks', () => {
    expect(revealedSource('“a” — b\u00a0c\u3000d\u2003e…')).toBe('“a” — b<U+00A0>c<U+3000>d<U+2003>e…');
  });

  test('a desk gets it spelled out in the question, the command, the other arguments and the scope of always', () => {
    const command = 'true\u00a0#\u2010x; cat a\u2044b';
    const event = {
      name: 'PermissionRequest',
      client: 'claude-code',
      cwd: '/srv\u00a0x',
      tool: { name: 'Bash', input: { command, workdir: 'x\u2215y', 'a\u00a0b': 1 } },
      raw: {
        permission_suggestions: [
          {
            type: 'addRules',
            behavior: 'allow',
            destination: 'session',
            rules: [{ toolName: 'Bash', ruleContent: command }],
          },
        ],
      },
    } as unknown as HookEvent;
    const dialog = dialogOf(event);
    const [prompt] = dialog === null ? [] : promptsOf(dialog, event);
    const shown = 'true<U+00A0>#<U+2010>x; cat a<U+2044>b';
    expect(prompt?.question).toBe(`Run ${shown}?`);
    expect(prompt?.context).toContain(`    ${shown}\n`);
    expect(prompt?.context).toContain('workdir: "x<U+2215>y"');
    expect(prompt?.context).toContain('"a<U+00A0>b": 1');
    expect(prompt?.context).toContain('Directory: /srv<U+00A0>x');
    expect(prompt?.options?.[1]).toMatchObject({
      description: `By the client itself: Bash(${shown}), for this session; nothing is written`,
    });
  });

  test('takes linear time', () => {
    for (const part of ['\u00a0', '\u6771', '\u6771 ', 'a\u0430', '\u0441\u043e', '\u0441 ', '✨', 'e\u0301'])
      expect(spelledOut(part.repeat(50_000)).length).toBeGreaterThanOrEqual(50_000);
  });
});

describe('the handle of a session', () => {
  const named = async (...names: string[]): Promise<string[]> => {
    const hive = await openTestHive(tempStore());
    const handles: string[] = [];
    for (const [n, name] of names.entries())
      handles.push(
        (await hive.sessions.introduce(introduction({ session_id: `id-${n}`, client: 'claude-code', name })))
          .handle,
      );
    return handles;
  };

  test('is none that looks like the human, everybody, or the mark of an unknown author', async () => {
    const names = ['\uff28uman', '\u{1d407}uman', 'Hum\u0251n', 'Hum\u0430n', '\uff21ll', 'Unverified'];
    for (const handle of await named(...names)) expect(handle).toMatch(/^Claude-/);
    expect(await named('Humann', 'Ali', 'unverified-1')).toEqual(['Humann', 'Ali', 'unverified-1']);
  });

  test('looks like that of no other living session', async () => {
    expect(await named('reviewer', '\uff52eviewer', 'review\u0435r', 'Reviewer')).toEqual([
      'reviewer',
      '\uff52eviewer-2',
      'review\u0435r-3',
      'Reviewer-4',
    ]);
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
