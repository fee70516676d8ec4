import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { revealed } from '../../src/domain/display.ts';
import { plainBody, plainLabel, plainTitle } from '../../src/infrastructure/desktop/notify-send.ts';

describe("agents' text on its way to a notification server", () => {
  it('never starts with a dash', () => {
    expect(plainTitle('--urgency=critical')).toBe(' --urgency=critical');
    expect(plainBody('\n-x', true)).toBe(' -x');
  });

  it('escapes markup in the body, once and not in the title', () => {
    expect(plainBody('<b>a</b> & b', true)).toBe('&lt;b&gt;a&lt;/b&gt; &amp; b');
    expect(plainBody('<b>', false)).toBe('<b>');
    expect(plainTitle('<b>')).toBe('<b>');
  });

  it('shows control characters, and those that reorder or hide text, by their codes', () => {
    expect(plainTitle('a\u0000b\u001b[1mc\nd')).toBe('a^@b^[[1mc d');
    expect(plainBody('a\u202eb\u200bc\u3164\td\ne\u0007', false)).toBe('a<U+202E>b<U+200B>c<U+3164> d\ne^G');
    expect(plainBody('\u{e0041}', true)).toBe('&lt;U+E0041&gt;');
    expect(plainLabel('Allow\u202e')).toBe('Allow<U+202E>');
  });

  it('keeps right-to-left text and emoji as they are', () => {
    expect(plainBody('שלום 👧🏽 مرحبا', true)).toBe('שלום 👧🏽 مرحبا');
  });

  it('is never empty: node-notifier takes that for an error', () => {
    for (const text of ['', ' ', '\n']) expect(plainBody(text, true)).toBe(' ');
    expect(plainLabel('\n')).toBe('…');
  });

  it('fits, well-formed, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (given) => {
        const title = plainTitle(given);
        expect(Buffer.byteLength(title)).toBeLessThanOrEqual(1_025);
        expect(title.isWellFormed()).toBe(true);
        expect(title).toBe(revealed(title));
        expect(title).not.toMatch(/[\t\n]/);
        expect(title.startsWith('-')).toBe(false);
        expect(Buffer.byteLength(plainLabel(given))).toBeLessThanOrEqual(64);
      }),
      { numRuns: 50, examples: [['é'.repeat(130_000)]] },
    );
  });
});
