/** What a call of a connection proves to have been read. */
import { expect, test } from 'vitest';
import { createCallsUnderWay } from '../../src/adapters/mcp/under-way.ts';

function calls(): ReturnType<typeof createCallsUnderWay> {
  let time = 0;
  return createCallsUnderWay(() => {
    time += 1;
    return `t${time}`;
  });
}

test('a call alone proves what was handed before it came', () => {
  const underWay = calls();
  underWay.begin().end();
  expect(underWay.begin().proves_until).toBe('t2');
});

test('a call beside others proves nothing of what those hand over', () => {
  const underWay = calls();
  const first = underWay.begin();
  const second = underWay.begin();
  expect(second.proves_until).toBe('t1');
  first.end();
  expect(underWay.begin().proves_until).toBe('t2');
  second.end();
});
