/** The one table from domain errors to the wire. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { RPC_CODES, toWireError } from '../../src/adapters/errors.ts';
import { HiveError } from '../../src/domain/errors.ts';

describe('an error on the wire', () => {
  test('begins with its code, because Emacs drops the data', () => {
    const { message, data } = toWireError(
      new HiveError('prompt_not_found', 'There is none.', { ask_id: 'ask-1' }),
    );
    expect(message).toBe('prompt_not_found: There is none.');
    expect(data).toEqual({ code: 'prompt_not_found', ask_id: 'ask-1' });
  });

  test.each([
    ['store_busy', RPC_CODES.transient],
    ['store_full', RPC_CODES.transient],
    ['store_unavailable', RPC_CODES.transient],
    ['invalid_answer', RPC_CODES.definite],
    ['wrong_store', RPC_CODES.definite],
    ['not_allowed', RPC_CODES.definite],
    ['invalid_input', RPC_CODES.invalidParams],
  ] as const)('%s has the code %i: only what can get better is tried again', (code, rpc) => {
    expect(toWireError(new HiveError(code, 'x')).code).toBe(rpc);
  });

  test('of a wrong shape names the field in one line', () => {
    const { error } = z.object({ limit: z.number() }).safeParse({ limit: 'x' });
    const { code, message } = toWireError(error);
    expect(code).toBe(RPC_CODES.invalidParams);
    expect(message).toMatch(/^invalid_input: .*limit/);
    expect(message).not.toContain('\n');
  });

  test('that is unexpected reveals no details', () => {
    expect(toWireError(new Error('secret /path')).message).not.toMatch(/secret|path/);
  });
});
