/** The checksum of a row matches what was written, and nothing that differs in one character. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checksumOf, coveredColumns, verifyChecksum } from '../../src/infrastructure/store/checksums.ts';

describe('a checksum', () => {
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

  test('distinguishes a null, a number and their texts, and where one value ends', () => {
    const all = [[null], ['null'], ['-'], [1], ['1'], ['a', 'b'], ['ab', ''], ['', 'ab'], []];
    expect(new Set(all.map(checksumOf)).size).toBe(all.length);
  });

  test('that does not match, or is missing, refuses its row', () => {
    const checksum = checksumOf(['yes']);
    expect(() => verifyChecksum(checksum, ['yes'], 'the prompt')).not.toThrow();
    for (const gone of [null, undefined])
      expect(() => verifyChecksum(gone, ['yes'], 'the prompt')).toThrow(/is damaged/);
    expect(() => verifyChecksum(checksum, ['no'], 'the prompt ask-1')).toThrow(
      expect.objectContaining({
        code: 'store_foreign',
        message: expect.stringMatching(/the prompt ask-1 does not read as it was written.*restore a backup/),
      }),
    );
  });

  test('covers every column except those that are excluded, in any order', () => {
    expect(coveredColumns(['c', 'a', 'b'], { b: 'for a reason' })).toEqual(['a', 'c']);
    expect(coveredColumns(['a', 'c', 'b'], { b: 'for a reason' })).toEqual(['a', 'c']);
  });
});
