/** The parts of the page that need no browser. */
import { toChildArray, type VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { expirePrompt, isUncollected, type Prompt, respondPrompt } from '../../src/domain/prompts.ts';
import { answerOf, barOf } from '../../src/extensions/inbox/page/answering.ts';
import type { State } from '../../src/extensions/inbox/page/model.ts';
import {
  type ListedPrompt,
  queuedAnswers,
  readPages,
  sortWaiting,
  unread,
} from '../../src/extensions/inbox/page/order.ts';
import { SessionsScreen } from '../../src/extensions/inbox/page/screens.tsx';
import { readEvent } from '../../src/extensions/inbox/page/server.ts';
import type { Fate, OutboxEntry } from '../../src/extensions/inbox/page/storage.ts';
import { WaitingScreen } from '../../src/extensions/inbox/page/waiting.tsx';
import { duration, WORDS } from '../../src/extensions/inbox/page/words.ts';
import { newPrompt } from '../support/new-prompt.ts';

const NOW = '2026-01-11T18:00:00.000Z';
const ASKER = {
  session_id: 'session-1',
  agent: 'Claude-1',
  agent_title: 'demo',
  source: 'main' as const,
  project: 'demo',
  project_dir: '/demo',
  turn_id: null,
};
const prompt = (changes: Partial<Parameters<typeof newPrompt>[0]> = {}): Prompt =>
  newPrompt({ question: 'Go?', options: ['Yes', 'No'], ...changes }, ASKER, 'ask-1', NOW);
const listed = (ask_id: string, order_key: string, changes: Partial<ListedPrompt> = {}): ListedPrompt => ({
  ...prompt(),
  ask_id,
  order_key,
  mine: true,
  ...changes,
});
/** The notes that are part of this screen itself. */
const notesOf = ({ props }: VNode): unknown[] =>
  toChildArray(props.children).flatMap((child) =>
    typeof child === 'object' && child.type === 'p' && 'role' in child.props && child.props.role === 'note'
      ? [child.props.children]
      : [],
  );
const idsOf = (prompts: ListedPrompt[]): string[] => prompts.map(({ ask_id }) => ask_id);

test('what waits is in the order of the server; what is snoozed or for others is apart', () => {
  const lists = sortWaiting(
    [
      listed('second', 'b'),
      listed('other', 'a', { mine: false }),
      listed('first', 'a'),
      listed('of one that has ended', 'a', { orphaned: true }),
      listed('snoozed', 'a', { snoozed_until: '2026-01-11T18:00:01.000Z' }),
      listed('awake again', 'c', { snoozed_until: NOW }),
    ],
    NOW,
  );
  expect(idsOf(lists.mine)).toEqual(['first', 'second', 'awake again']);
  expect(idsOf(lists.others)).toEqual(['other']);
  expect(idsOf(lists.snoozed)).toEqual(['snoozed']);
  expect(idsOf(lists.ended)).toEqual(['of one that has ended']);
});

test('agents are in the sections of Emacs; what has ended is folded', () => {
  const shown = (section: string, order_key: string): object => ({
    ...{ session_id: order_key, section, order_key, title: 'demo', state: 'idle', turn: null },
    ...{ last_seen_at: NOW, ended_at: NOW, source: 'main', project: 'demo', handle: 'Claude-1' },
  });
  const inbox = {
    sessions: [shown('idle', 'c'), shown('working', 'b'), shown('working', 'a')],
    ended: [shown('ended', 'd')],
    prompts: null,
  };
  const headingsOf = (node: VNode): unknown[] =>
    toChildArray(node.props.children).flatMap((child) => {
      if (typeof child !== 'object') return [];
      return child.type === 'h2' || child.type === 'summary'
        ? [[node.type, child.props.children]]
        : headingsOf(child);
    });
  expect(headingsOf(SessionsScreen({ inbox: inbox as unknown as State }))).toEqual([
    ['section', 'Working (2)'],
    ['section', 'Idle and done (1)'],
    ['details', 'Ended (1)'],
  ]);
});

test.each([
  [3, 0],
  [5_000, 0],
  [5_001, 1],
  [12_345, 7_345],
])('of %d that wait, the page says that it does not show %d', async (total, more) => {
  const read = await readPages(async (cursor) => {
    const at = Number(cursor ?? 0);
    const prompts = Array.from({ length: Math.min(500, total - at) }, (_, n) => listed(`ask-${at + n}`, 'a'));
    return { prompts, total, next_cursor: at + 500 < total ? String(at + 500) : null };
  });
  expect([read.more, read.prompts.size]).toEqual([more, total - more]);
  const sentences: Record<number, string[]> = {
    1: ['One more is pending, but not on this page. It is loaded once some of these are answered.'],
    7_345: ['7345 more are pending, but not on this page. They are loaded once some of these are answered.'],
  };
  expect(
    notesOf(
      WaitingScreen({
        inbox: { ...read, outbox: [], loops: [], muted: [], mentions: [] } as unknown as State,
      }),
    ),
  ).toEqual(sentences[more] ?? []);
});

describe('an event of the stream', () => {
  test('has a name and data', () =>
    expect(readEvent('event: hello\ndata: {"now":1}')).toEqual({ name: 'hello', data: { now: 1 } }));
  test('is none where it is a comment, or has no data', () => {
    expect(readEvent(': ')).toBeNull();
    expect(readEvent('event: hello')).toBeNull();
  });
});

test.each([
  [-5_000, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [59.4 * 60_000, '59 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [48 * 3_600_000, '2 d'],
])('%d ms are %s', (ms, text) => expect(duration(ms)).toBe(text));

describe('an answer', () => {
  const free = { mayAllowHere: true, isRead: true };
  const PERMISSION = prompt({ kind: 'permission', options: ['Allow', { label: 'Deny', refuses: true }] });

  test('to a question is never barred', () =>
    expect(barOf(prompt(), ['Yes'], { mayAllowHere: false, isRead: false })).toBeNull());
  test('that refuses is never barred', () =>
    expect(barOf(PERMISSION, ['Deny'], { mayAllowHere: false, isRead: false })).toBeNull());
  test('that allows needs a device that may, and a text that was read', () => {
    expect(barOf(PERMISSION, ['Allow'], free)).toBeNull();
    expect(barOf(PERMISSION, ['Allow'], { ...free, isRead: false })).toBe(WORDS.readToEnd);
    expect(barOf(PERMISSION, ['Allow'], { mayAllowHere: false, isRead: false })).toBe(WORDS.mayNotAllow);
  });
  test('to a dialog that its hook has left to its terminal is barred, whatever it says', () => {
    const left = { ...PERMISSION, dialog: true, terminal_since: NOW };
    for (const selected of [['Allow'], ['Deny'], []])
      expect(barOf(left, selected, free)).toBe(WORDS.inTerminal);
  });
  test('in own words may allow, where an agent asks by itself', () =>
    expect(barOf(PERMISSION, [], { ...free, mayAllowHere: false })).toBe(WORDS.mayNotAllow));

  const stamp = { response_id: 'response-1', responded_at: NOW, displayed_digest: 'digest' };
  test('is queued as the server resolves it', () => {
    expect(
      answerOf(prompt({ multi_select: true }), { selected: ['No', 'Yes'], comment: ' why ' }, stamp),
    ).toMatchObject({ ask_id: 'ask-1', question: 'Go?', selected: ['Yes', 'No'], ...stamp });
  });
  test('that no server would take is refused before it is queued', () =>
    expect(() => answerOf(prompt(), { selected: ['Perhaps'], comment: null }, stamp)).toThrow(/Perhaps/));
});

test.each([
  ['a question of the agent', 'question', false, true],
  ['a permission that the agent asks for itself', 'permission', false, true],
  ['a question of its client', 'question', true, true],
  ['a permission of its client', 'permission', true, false],
] as const)(
  'of a late answer to %s, the page says rightly whether the agent gets it',
  (_, kind, dialog, gets) => {
    expect([WORDS.expired, WORDS.late]).toEqual([
      'It expired without an answer. You can still answer; it reaches the agent late, unless its client asked for a permission.',
      'It came late: the question had been closed. The agent still gets it, unless its client asked for a permission.',
    ]);
    const expired = expirePrompt({ ...prompt({ kind }), dialog }, NOW);
    const answer = { decision: 'Yes', selected: ['Yes'], comment: null, by: 'ada', via: 'inbox' as const };
    const stamp = { attested: true, response_id: 'response-1', responded_at: NOW };
    const late = respondPrompt(expired, { ...answer, ...stamp });
    expect([late.outcome, isUncollected(late.prompt)]).toEqual(['late', gets]);
  },
);

test('its human is told of answers that did not simply count', () => {
  const entry = (ask_id: string, fate: Fate): OutboxEntry => ({
    store_id: 'store-1',
    queued: {
      ...answerOf(
        { ...prompt(), ask_id },
        { selected: ['Yes'], comment: null },
        { response_id: 'r', responded_at: NOW, displayed_digest: '' },
      ),
    },
    fate,
  });
  const outbox = [
    entry('queued', { state: 'queued' }),
    entry('accepted', { state: 'done', reply: { accepted: true } }),
    entry('lost', { state: 'done', reply: { accepted: false } }),
    entry('late', { state: 'done', reply: { accepted: false, late: true } }),
    entry('delayed', { state: 'delayed', message: '' }),
    entry('stuck', { state: 'stuck', message: '' }),
    entry('refused', { state: 'refused', code: 'x', message: '' }),
  ];
  const ids = (areListed: boolean): string[] =>
    unread(outbox, areListed).map(({ queued }) => (queued.kind === 'answer' ? queued.ask_id : ''));
  expect(ids(true)).toEqual(['lost', 'late', 'delayed', 'stuck', 'refused']);
  expect(ids(false)).toEqual(['queued', ...ids(true)]);
  expect([...queuedAnswers(outbox)]).toEqual(['queued']);
});
