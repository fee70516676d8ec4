/** The parts of a message: its body, its place, and how a block in a buffer is recognized. */
import { describe, expect, test } from 'vitest';
import {
  type Author,
  createMessage,
  humanAuthor,
  isBlockOf,
  type Message,
  type MessageStamp,
  messageBody,
  normalizeBody,
  type PostRequest,
} from '../../src/domain/messages.ts';

const AGENT: Author = {
  kind: 'agent',
  session_id: 'session-1',
  handle: 'Claude-abc12',
  title: 'demo',
  project: 'demo',
  project_dir: '/demo/.git',
  via: 'mcp',
};
const STAMP: MessageStamp = {
  message_id: 'msg-1',
  seq: 1,
  now: '2026-01-11T18:00:00.123Z',
  parent: null,
  hops: 0,
  by: 'Ada',
  under: null,
};

function message(
  request: Partial<PostRequest> = {},
  author: Author = AGENT,
  stamp: Partial<MessageStamp> = {},
): Message {
  return createMessage({ body: 'Hello', ...request }, author, { ...STAMP, ...stamp });
}

describe('a body', () => {
  test.each([
    ['\r\nline\r\nends\rof all\n', 'line\nends\nof all'],
    ['\n  \n  indented\n\n', '  indented'],
    ['NUL \u0000 and \ud800 alone', 'NUL \ufffd and \ufffd alone'],
  ])('%j is stored as %j', (given, stored) => {
    expect(normalizeBody(given)).toBe(stored);
    expect(normalizeBody(stored)).toBe(stored);
  });

  test('that is empty is refused', () => {
    expect(() => messageBody(' \n\t')).toThrow('The message is empty');
  });

  test('has at most 32 KB, in bytes', () => {
    expect(messageBody('x'.repeat(32 * 1024))).toHaveLength(32 * 1024);
    expect(() => messageBody('あ'.repeat(11 * 1024))).toThrow('at most 32 KB');
  });
});

describe('a reply', () => {
  const parent = message({}, AGENT, { message_id: 'msg-parent' });

  test('is in the thread of what it answers, which is named after the first message', () => {
    const reply = message({}, AGENT, { parent, message_id: 'msg-2' });
    expect(reply).toMatchObject({ reply_to: 'msg-parent', thread: 'msg-parent' });
    expect(message({}, AGENT, { parent: reply }).thread).toBe('msg-parent');
    expect(message({ thread: 'other' }, AGENT, { parent: reply }).thread).toBe('other');
  });

  test('of a human without a project is in the project of what it answers', () => {
    expect(message({}, humanAuthor('emacs', null), { parent })).toMatchObject({
      project: 'demo',
      project_dir: '/demo/.git',
      scope: 'project',
    });
  });
});

test('a message without a project is for everyone', () => {
  expect(message({ scope: 'project' }, humanAuthor('emacs', null))).toMatchObject({
    author: 'human',
    session_id: null,
    from_handle: 'Human',
    scope: 'all',
  });
});

test("a block under another's heading keeps its author", () => {
  const under = { handle: 'Claude-xyz', stamp: '2026-01-11 18:00:00' };
  expect(message({}, humanAuthor('emacs', null), { under })).toMatchObject({
    author: 'human',
    from_handle: 'Human',
    as_handle: 'Claude-xyz',
    as_stamp: '2026-01-11 18:00:00',
  });
});

describe('a block in a buffer is a stored message', () => {
  const stored = message();
  const block = { stamp: '2026-01-11 18:00:00', handle: 'Claude-abc12', body: 'Hello' };

  test.each([
    ['the same', {}, true],
    ['shown in another zone', { stamp: '2026-01-12 03:00:00' }, true],
    ['shown in a zone with an odd offset', { stamp: '2026-01-11 23:45:00' }, true],
    ['a second later', { stamp: '2026-01-11 18:00:01' }, false],
    ['two days later', { stamp: '2026-01-13 18:00:00' }, false],
    ['with another body', { body: 'Hello!' }, false],
    ['under another name', { handle: 'Claude-def34' }, false],
    ['at no time at all', { stamp: 'nonsense' }, false],
  ])('%s: %j', (_name, changes, same) => {
    expect(isBlockOf(stored, { ...block, ...changes })).toBe(same);
  });

  test('under the heading that it was typed with, as well as under its own', () => {
    const under = { handle: 'Claude-xyz', stamp: '2001-01-01 00:00:00' };
    const typed = message({}, humanAuthor('emacs', null), { under });
    expect(isBlockOf(typed, { ...block, ...under })).toBe(true);
    expect(isBlockOf(typed, { ...block, handle: 'Human' })).toBe(true);
    expect(isBlockOf(typed, { ...block, handle: 'Claude-abc12' })).toBe(false);
  });
});
