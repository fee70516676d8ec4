/** What a transcript of Claude Code says about the end of a turn: recorded ones, and ones that only look so. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { saysInterrupted } from '../../src/domain/turns.ts';
import { ROOT } from '../support/children.ts';

const recorded = (name: string): string =>
  readFileSync(join(ROOT, 'test/wire/fixtures/claude-code/transcripts', `${name}.jsonl`), 'utf8');
const prompt = (n: number) => ({
  client_turn_id: `9a0e9700-0000-4000-8000-00000000000${n}`,
  continues: null,
  started_at: '2026-01-01T00:00:00.000Z',
});

describe('recorded transcripts', () => {
  test.each([
    ['esc-tool-stream-early-mcp', [1, 3, 7]],
    ['esc-early', []],
    ['esc-stop-hook', [1]],
    ['esc-pretooluse-hook', [1]],
    ['permission-hook-interrupt', [1]],
    ['permission-terminal-no', [1]],
    ['sdk-interrupt', [1]],
    ['sigint-headless', [1]],
    ['steering', []],
    ['hook-stop-pretooluse', []],
    ['hook-stop-posttooluse', []],
    ['hook-stop-posttoolbatch', []],
  ])('%s: the turns %j', (name, interrupted) => {
    const found = [1, 2, 3, 4, 5, 6, 7, 8].filter((n) => saysInterrupted(recorded(name), prompt(n)));
    expect(found).toEqual(interrupted);
  });

  test('a tail that begins in the middle of a line still tells', () => {
    const text = recorded('esc-pretooluse-hook');
    expect(saysInterrupted(text.slice(700), prompt(1))).toBe(true);
  });
});

describe('what only looks so', () => {
  const entry = (changes: object): string =>
    JSON.stringify({
      type: 'user',
      promptId: prompt(1).client_turn_id,
      message: { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user]' }] },
      timestamp: '2026-01-01T00:00:01.000Z',
      ...changes,
    });

  test('the client’s own entry counts', () => expect(saysInterrupted(entry({}), prompt(1))).toBe(true));

  test.each([
    [
      'a person types the very words',
      { message: { content: '[Request interrupted by user]' }, origin: { kind: 'human' } },
    ],
    ['with a picture beside them', { origin: { kind: 'human' } }],
    ['a model quotes them', { type: 'assistant' }],
    [
      'a tool returns them',
      { message: { content: [{ type: 'tool_result', content: '[Request interrupted by user]' }] } },
    ],
    [
      'another text holds them',
      { message: { content: [{ type: 'text', text: 'see [Request interrupted by user] there' }] } },
    ],
  ])('%s', (_name, changes) => expect(saysInterrupted(entry(changes), prompt(1))).toBe(false));

  test('without ids the time tells', () => {
    const turn = { ...prompt(1), client_turn_id: null };
    expect(saysInterrupted(entry({}), turn)).toBe(true);
    expect(saysInterrupted(entry({}), { ...turn, started_at: '2026-01-01T00:00:02.000Z' })).toBe(false);
  });

  test('a turn that goes on under an id that was interrupted before is not interrupted by that', () => {
    const turn = { ...prompt(1), continues: 'turn-0', started_at: '2026-01-01T00:00:02.000Z' };
    expect(saysInterrupted(entry({}), turn)).toBe(false);
  });

  test('no text whatever makes it throw', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (lines) => {
        saysInterrupted([...lines, '{"a":"[Request interrupted by user"', 'null'].join('\n'), prompt(1));
      }),
    );
  });
});
