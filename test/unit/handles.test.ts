/** Handles: what people type to name a session. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMentions } from '../../src/domain/mention-parser.ts';
import { explainHandle, givenHandle, handleCandidates, isNamed } from '../../src/domain/names.ts';
import { HUMAN_HANDLE, startSession } from '../../src/domain/sessions.ts';
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

  test('exists for every id, is one word, is unique, and is never the human', () => {
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

describe('a given name', () => {
  test.each([
    ['frontend-tests', 'frontend-tests'],
    ['agent_1', 'agent_1'],
    ['prüfer', 'prüfer'],
    ['代理', '代理'],
    ['my agent!', 'my-agent'],
    ['  @build / deploy  ', 'build-deploy'],
    ['ci 🐝 bot', 'ci-bot'],
    ['-_-x-_-', 'x'],
    ['a'.repeat(41), 'a'.repeat(40)],
    ['🐝', null],
    ['@', null],
    ['', null],
  ])('%j is %j', (name, handle) => {
    expect(givenHandle(name)).toBe(handle);
  });

  test('makes a handle that a mention spells whole, and that is its own handle', () => {
    const name = fc.string({ unit: fc.constantFrom(...'aZ9é𝒜漢-_ @.\u0301\ud800🐝') });
    fc.assert(
      fc.property(name, (given) => {
        const handle = givenHandle(given);
        if (handle === null) return;
        expect(parseMentions(`@${handle}`)).toEqual([handle]);
        expect(givenHandle(handle)).toBe(handle);
        expect(Array.from(handle).length).toBeLessThanOrEqual(40);
      }),
    );
  });

  test('is distinguished from another by whole words', () => {
    expect(isNamed('builder-2', 'Builder')).toBe(true);
    expect(isNamed('builder-two', 'builder')).toBe(false);
    expect(isNamed('builders', 'builder')).toBe(false);
  });

  test.each([
    ['builder', 'builder', null],
    ['builder', 'builder-2', 'another live session has that name: the handle is builder-2.'],
    ['my agent', 'my-agent', 'the handle is my-agent, because a handle has letters'],
    ['🐝', 'Agent-x', 'no letter or digit: the handle is Agent-x.'],
    ['Human', 'Claude-abc12', '@Human is reserved: the handle is Claude-abc12.'],
    ['boss', 'Claude-abc12', 'the name belongs to the session that started this one'],
  ])('%j that became %j is explained', (name, handle, said) => {
    const sentence = explainHandle(name, handle);
    if (said === null) expect(sentence).toBeNull();
    else expect(sentence).toContain(said);
  });
});
