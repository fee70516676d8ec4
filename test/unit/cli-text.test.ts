/** Texts, times and outcomes on the command line. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EXIT, exitCodeOfError, exitCodeOfPrompts } from '../../src/cli/exit-codes.ts';
import { age, line, parseDuration, table, visibleJson } from '../../src/cli/output.ts';
import { fitted, width } from '../../src/cli/sentences.ts';
import { revealed } from '../../src/domain/display.ts';
import { HiveError } from '../../src/domain/errors.ts';

describe('text from agents', () => {
  it('shows characters that a terminal would obey, hide, or reorder by', () => {
    expect(revealed('a\u001b[2Jb\u0007\r\u009b')).toBe('a^[[2Jb^G^M<U+009B>');
    expect(revealed('\u202eevil\u200b\u{e0041}')).toBe('<U+202E>evil<U+200B><U+E0041>');
    expect(revealed('tab\tand\nnewline, ünïcode 漢字 🐝')).toBe('tab\tand\nnewline, ünïcode 漢字 🐝');
  });

  it('stays the same JSON', () => {
    const value = { text: 'a\u001b\u202e\u{e0041}\n\t"漢' };
    expect(visibleJson(value, 0)).not.toMatch(/[\u001b\u202e\u{e0041}]/u);
    expect(JSON.parse(visibleJson(value, 0))).toEqual(value);
    expect(JSON.parse(visibleJson(value, 2))).toEqual(value);
  });

  it('counts columns, not characters', () => {
    expect([width('abc'), width('漢字'), width('e\u0301'), width('🐝')]).toEqual([3, 4, 1, 2]);
    expect([width('⏳✅'), width('①½'), width('한글')]).toEqual([4, 2, 4]);
    expect(line('a long\n line', 7)).toBe('a long…');
    expect(line('漢字漢字', 5)).toBe('漢字…');
  });

  it('aligns rows, and cuts only the width that is given', () => {
    expect(
      table(
        [
          ['漢', 'x'],
          ['abc', 'a long end, which goes on'],
        ],
        25,
      ),
    ).toEqual(['漢   x', 'abc  a long end, which g…']);
    // Of a path the end is kept.
    expect(table([['abc', 'Change src/application/services/delivery.ts?']], 40)).toEqual([
      'abc  Change …ation/services/delivery.ts?',
    ]);
    expect(table([['abc', 'x'.repeat(500)]], Number.POSITIVE_INFINITY)).toEqual([`abc  ${'x'.repeat(500)}`]);
  });

  it('puts the last column on a line of its own where there is little room for it', () => {
    const rows = [
      ['ASK', 'AGENT', 'QUESTION'],
      ['ask-c1eaxqjf1j29jgvc', 'frontend', 'Deploy the new version to production?'],
      ['ask-dqfre1xbzve5rpej', 'backend', ''],
    ];
    expect(table(rows, 40)).toEqual([
      'ASK                   AGENT',
      '  QUESTION',
      'ask-c1eaxqjf1j29jgvc  frontend',
      '  Deploy the new version to production?',
      'ask-dqfre1xbzve5rpej  backend',
    ]);
    expect(table(rows, 30, true).slice(3, 5)).toEqual(['  Deploy the new version to', '  production?']);
    // Where lines continue, nothing is cut.
    const path = `/home/ada/${'x'.repeat(40)}`;
    expect(table([['decision', path]], 40, true)).toEqual([`decision  ${path}`]);
    // Not where everything fits.
    expect(table([['ask-c1eaxqjf1j29jgvc', 'frontend', 'yes']], 40)).toEqual([
      'ask-c1eaxqjf1j29jgvc  frontend  yes',
    ]);
  });
});

describe('sentences on a terminal', () => {
  const terminal = { isTTY: true, columns: 30 };
  beforeEach(() => vi.stubEnv('TERM', 'xterm'));
  afterEach(() => vi.unstubAllEnvs());

  it('break between words, and continue below their text', () => {
    const lines = (text: string): string[] => fitted(text, terminal).split('\n');
    expect(lines('Hive uses its own Node, because yours is older.')).toEqual([
      'Hive uses its own Node,',
      'because yours is older.',
    ]);
    expect(lines('  - 2 use the connection: PreToolUse\n\nDone.')).toEqual([
      '  - 2 use the connection:',
      '    PreToolUse',
      '',
      'Done.',
    ]);
    expect(lines('ok    Node  installed by hive install')).toEqual([
      'ok    Node  installed by hive',
      '            install',
    ]);
    // A path is not broken, so that it can be copied.
    expect(lines(`In /home/ada/${'x'.repeat(40)} is one.`)[1]).toBe(`/home/ada/${'x'.repeat(40)}`);
    expect(lines(`${'漢'.repeat(10)} ${'漢'.repeat(10)}`)).toHaveLength(2);
    // The cursor stays behind a question.
    expect(fitted('Set this up? [Y/n] ', terminal)).toBe('Set this up? [Y/n] ');
  });

  it('stay whole in a pipe, and in a buffer of Emacs', () => {
    const text = 'Hive uses its own Node, because yours is older.';
    expect(fitted(text, { columns: 30 })).toBe(text);
    vi.stubEnv('TERM', 'dumb');
    expect(fitted(text, terminal)).toBe(text);
  });
});

describe('durations', () => {
  it('are a number with a unit', () => {
    const typed = ['500ms', '90s', '10m', '1.5h', '30d'];
    expect(typed.map(parseDuration)).toEqual([500, 90_000, 600_000, 5_400_000, 2_592_000_000]);
    for (const wrong of ['', '10', 'm', '-5s', '5 minutes', '1e3s', 'Deploy?'])
      expect(() => parseDuration(wrong), wrong).toThrow('write 90s, 10m, 2h or 1d');
    expect(parseDuration('36500d')).toBe(36_500 * 86_400_000);
    for (const long of ['36501d', '9999999999999999h'])
      expect(() => parseDuration(long), long).toThrow('is too long: at most 36500d.');
  });

  it('are printed in short form', () => {
    const now = Date.parse('2026-01-10T00:00:00.000Z');
    const ages = [3, 65, 7_300, 200_000, -5].map((s) => age(new Date(now - s * 1_000).toISOString(), now));
    expect(ages).toEqual(['3 s', '1 min', '2 h', '2 d', '0 s']);
  });
});

describe('exit codes', () => {
  it('of several prompts: the first of pending, expired, cancelled', () => {
    const code = (...statuses: ('pending' | 'responded' | 'expired' | 'cancelled')[]): number =>
      exitCodeOfPrompts(statuses.map((status) => ({ status })));
    expect(code()).toBe(EXIT.done);
    expect(code('responded')).toBe(EXIT.done);
    expect(code('cancelled', 'responded')).toBe(EXIT.cancelled);
    expect(code('cancelled', 'expired')).toBe(EXIT.expired);
    expect(code('cancelled', 'expired', 'pending')).toBe(EXIT.pending);
  });

  it('of errors: usage, not allowed, or an error', () => {
    expect(exitCodeOfError(new HiveError('invalid_input', ''))).toBe(EXIT.usage);
    expect(exitCodeOfError(new HiveError('not_allowed', ''))).toBe(EXIT.notAllowed);
    expect(exitCodeOfError(new HiveError('store_busy', ''))).toBe(EXIT.error);
  });
});
