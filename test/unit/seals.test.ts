/** The seal of a row: it fits what was written, and nothing that differs in one character. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checksumOf, verifyChecksum } from '../../src/infrastructure/store/checksums.ts';

describe('a seal', () => {
  test('is a signed 32-bit integer, which both engines keep', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))), (values) => {
        expect(checksumOf(values)).toBe(checksumOf(values) | 0);
      }),
    );
  });

  test('changes with any one character', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(), fc.nat(15), (text, at, bit) => {
        const place = at % text.length;
        const other = String.fromCharCode(text.charCodeAt(place) ^ (1 << bit));
        const flipped = text.slice(0, place) + other + text.slice(place + 1);
        expect(checksumOf([flipped, 'yes'])).not.toBe(checksumOf([text, 'yes']));
      }),
    );
  });

  test('tells a null, a number and their texts apart, and where one value ends', () => {
    const all = [[null], ['null'], ['-'], [1], ['1'], ['a', 'b'], ['ab', ''], ['', 'ab'], []];
    expect(new Set(all.map(checksumOf)).size).toBe(all.length);
  });

  test('that does not fit, or is gone, refuses its row', () => {
    const row = { decision: 'yes', seal: checksumOf(['yes']) };
    expect(() => verifyChecksum(row, ['decision'], 'the prompt')).not.toThrow();
    expect(() => verifyChecksum({ ...row, seal: null }, ['decision'], 'the prompt')).toThrow(/is damaged/);
    expect(() => verifyChecksum({ ...row, decision: 'no' }, ['decision'], 'the prompt ask-1')).toThrow(
      expect.objectContaining({
        code: 'store_foreign',
        message: expect.stringMatching(/the prompt ask-1 does not read as it was written.*restore a backup/),
      }),
    );
  });
});
