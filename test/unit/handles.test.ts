/** Handles: what people type to name a session. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HUMAN_HANDLE, handleCandidates, startSession } from '../../src/domain/sessions.ts';
import { introduction } from '../support/hive.ts';

/** Letters of one and of two code units, digits, and what a handle leaves out. */
const text = fc.string({ unit: fc.constantFrom(...'aZ9é𝒜漢-: \0\ud800🐝', 'connection-') });

function firstOf(count: number, client: string, session_id: string): string[] {
  const handles: string[] = [];
  for (const handle of handleCandidates(client, session_id)) {
    if (handles.length === count) break;
    handles.push(handle);
  }
  return handles;
}

describe('a handle', () => {
  test.each([
    ['claude-code', 'abc12def-0000', 'Claude-abc12'],
    ['codex', '0199a1b2-c3d4', 'Codex-0199a'],
    ['codex-mcp-client', '0199a1b2', 'Codex-0199a'],
    ['cursor', 'xyz98765', 'Agent-xyz98'],
    ['', 'xyz98765', 'Agent-xyz98'],
  ])('of %j with id %s is %s', (client, session_id, handle) => {
    expect(firstOf(1, client, session_id)).toEqual([handle]);
  });

  test('grows by one character at a time until it is free, then counts', () => {
    expect(firstOf(5, 'codex', 'abcdefg')).toEqual([
      'Codex-abcde',
      'Codex-abcdef',
      'Codex-abcdefg',
      'Codex-abcdefg-2',
      'Codex-abcdefg-3',
    ]);
  });

  test("of a subagent comes from the agent's part of its id", () => {
    expect(firstOf(1, 'claude-code', 'session:agent77')).toEqual(['Claude-agent']);
  });

  test('of a caller without identity comes from its connection', () => {
    expect(firstOf(1, 'cursor', 'connection-q7w8e9')).toEqual(['Agent-q7w8e']);
  });

  test('exists for every id, is one word, never repeats, and is never the human', () => {
    fc.assert(
      fc.property(text, text, (client, id) => {
        const handles = firstOf(20, client, id);
        expect(new Set(handles).size).toBe(20);
        for (const handle of handles) {
          expect(handle).toMatch(/^(Claude|Codex|Agent)-[\p{L}\p{N}-]+$/u);
          expect(handle.isWellFormed()).toBe(true);
          expect(handle).not.toBe(HUMAN_HANDLE);
        }
      }),
    );
  });
});

test('no session may take the name under which the human is mentioned', () => {
  const human = introduction({ session_id: 'human' });
  expect(() => startSession(human, 'Agent-human', '2026-01-11T18:00:00.000Z')).toThrow('that is the human');
});
