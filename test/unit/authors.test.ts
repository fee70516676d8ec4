/** Whose a block under a heading is: a heading is a claim, which only its owner or a key of the human proves. */
import { expect, test } from 'vitest';
import {
  type Author,
  authorKey,
  authorName,
  authorOfBlock,
  type BlockOrigin,
  humanAuthor,
} from '../../src/domain/messages.ts';
import { startSession } from '../../src/domain/sessions.ts';
import { introduction } from '../support/hive.ts';

const DEMO = { project: 'demo', project_dir: '/demo/.git' };
const HUMAN = humanAuthor('emacs', DEMO);
const AGENT: Author = { ...HUMAN, kind: 'agent', session_id: 'abc12-session', handle: 'Claude-abc12' };
const NOBODY: Author = { ...HUMAN, kind: 'unverified', handle: 'unverified' };

test.each<[string, Author, string, BlockOrigin | undefined, Author]>([
  ['a key of the human posts it, under any name', HUMAN, 'Claude-abc12', 'typed', HUMAN],
  ['nothing is said of how it came', HUMAN, 'Claude-abc12', undefined, HUMAN],
  ['the human yanks it under their own heading', HUMAN, 'human', 'inserted', HUMAN],
  ['the human yanks it under their own name', HUMAN, 'Ada', 'inserted', HUMAN],
  ["the human yanks it under an agent's heading", HUMAN, 'Claude-abc12', 'inserted', NOBODY],
  ["a program writes it under an agent's heading", HUMAN, 'Claude-abc12', 'program', NOBODY],
  ["a program writes it under the human's heading", HUMAN, 'Human', 'program', NOBODY],
  ['an agent posts it under its own heading', AGENT, 'claude-ABC12', 'inserted', AGENT],
  ["an agent posts it under another's heading", AGENT, 'Claude-def34', 'inserted', NOBODY],
  ["an agent posts it under the human's heading", AGENT, 'Human', 'inserted', NOBODY],
])('the author of a block: where %s', (_name, writer, handle, origin, author) => {
  const by = writer.kind === 'human' ? 'ada' : writer.handle;
  expect(authorOfBlock(writer, { handle, origin }, by)).toEqual(author);
});

test('is named with the claimed heading, in one short line', () => {
  expect(authorName({ from_handle: 'Claude-abc12', as_handle: null })).toBe('Claude-abc12');
  expect(authorName({ from_handle: 'unverified', as_handle: 'Claude-1' })).toBe('unverified (as Claude-1)');
  expect(authorName({ from_handle: 'unverified', as_handle: 'x'.repeat(200) }).length).toBeLessThan(80);
});

test('mentions and loops use one key for everything unverified', () => {
  expect(authorKey({ author: 'agent', session_id: 'abc12-session' })).toBe('abc12-session');
  expect(authorKey({ author: 'human', session_id: null })).toBeNull();
  expect(authorKey({ author: 'unverified', session_id: null })).toBe('unverified');
});

test.each(['unverified', 'Unverified'])('no session may be called %s', (session_id) => {
  expect(() => startSession(introduction({ session_id }), 'Agent-x', '2026-01-11T18:00:00.000Z')).toThrow(
    'No session may be called "unverified"',
  );
});
