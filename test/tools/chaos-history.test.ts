/** The checker of histories: it accepts what one order explains, and nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lost } from '../chaos/failures.ts';
import { openHistory } from '../chaos/history.ts';
import { checkHistory } from '../chaos/linearizable.ts';
import { openLog } from '../chaos/log.ts';
import { tempFolder } from '../support/temp.ts';

type Lines = Parameters<typeof checkHistory>[0];

/** A line in short: `who` does `f`; `got` completes it, `null` begins it, `'info'` and `'fail'` end it. */
type Short = readonly [who: number, f: string, value: object, got: object[] | 'info' | 'fail' | null];

function linesOf(...shorts: Short[]): Lines {
  return shorts.map(([process, f, value, got], index) => ({
    index,
    process,
    f,
    type: got === null ? 'invoke' : typeof got === 'string' ? got : 'ok',
    value: { ...value, ...(Array.isArray(got) ? { got } : {}) },
  }));
}

const KEY = { key: 'question 1', expires: false };
const ID = { ask_id: 'ask-1' };
const asked: Short[] = [
  [0, 'ask', KEY, null],
  [0, 'ask', KEY, [{ did: 'asked', key: 'question 1', ...ID }]],
];
const answer = (n: number): object => ({ ...ID, decision: `answer ${n}` });
const accepted = (n: number): object[] => [
  { did: 'answered', accepted: true, late: false, standing: `answer ${n}` },
];
const lostTo = (n: number): object[] => [
  { did: 'answered', accepted: false, late: false, standing: `answer ${n}` },
];
const pending = [{ did: 'unsettled', ...ID }];
const told = (n: number): object[] => [
  { did: 'told', ...ID, status: 'responded', text: JSON.stringify({ decision: `answer ${n}` }), via: 'poll' },
];
const ended = (status: string): object[] => [
  { did: 'told', ...ID, status, text: JSON.stringify({ decision: null }), via: 'poll' },
];

const right: readonly (readonly [string, Short[]])[] = [
  [
    'an answer while somebody reads: before it or after it',
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [2, 'poll', {}, null],
      [1, 'answer', answer(1), accepted(1)],
      [2, 'poll', {}, pending],
      [2, 'poll', {}, null],
      [2, 'poll', {}, told(1)],
    ],
  ],
  [
    'an answer that nobody was told of has happened, perhaps later',
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [1, 'answer', answer(1), 'info'],
      [2, 'poll', {}, null],
      [2, 'poll', {}, pending],
      [2, 'poll', {}, null],
      [2, 'poll', {}, told(1)],
    ],
  ],
  ['or has not', [...asked, [1, 'answer', answer(1), null], [2, 'poll', {}, null], [2, 'poll', {}, pending]]],
  [
    'the same answer sent again',
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [1, 'answer', answer(1), 'info'],
      [3, 'answer', answer(2), null],
      [3, 'answer', answer(2), lostTo(1)],
      [4, 'answer', answer(1), null],
      [4, 'answer', answer(1), accepted(1)],
    ],
  ],
  [
    'a question that expired, and its late answer',
    [
      [0, 'ask', { ...KEY, expires: true }, null],
      [0, 'ask', KEY, [{ did: 'asked', key: 'question 1', ...ID }]],
      [2, 'poll', {}, null],
      [2, 'poll', {}, ended('expired')],
      [1, 'answer', answer(1), null],
      [1, 'answer', answer(1), [{ did: 'answered', accepted: false, late: true, standing: null }]],
    ],
  ],
];

test.each(right)('accepted: %s', (_, lines) => {
  const found = checkHistory(linesOf(...lines));
  expect(found.violations).toEqual([]);
  expect(found.looked_at).toBeGreaterThan(1);
});

const wrong: readonly (readonly [string, RegExp, Short[]])[] = [
  [
    'a read of the past',
    /it was responded with "answer 1", and then somebody read: pending \(line 4\)/,
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [1, 'answer', answer(1), accepted(1)],
      [2, 'poll', {}, null],
      [2, 'poll', {}, pending],
    ],
  ],
  [
    'an answer that is gone',
    /read: pending/,
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [2, 'poll', {}, null],
      [2, 'poll', {}, told(1)],
      [2, 'poll', {}, null],
      [2, 'poll', {}, pending],
    ],
  ],
  [
    'two winners',
    /answered "answer [12]", and told: accepted/,
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [2, 'answer', answer(2), null],
      [1, 'answer', answer(1), accepted(1)],
      [2, 'answer', answer(2), accepted(2)],
    ],
  ],
  [
    'a decision that nobody gave',
    /read: responded/,
    [...asked, [2, 'poll', {}, null], [2, 'poll', {}, told(1)]],
  ],
  [
    'a question without a time limit that expired',
    /read: expired/,
    [...asked, [2, 'poll', {}, null], [2, 'poll', {}, ended('expired')]],
  ],
  [
    'a refused answer that stands',
    /read: responded/,
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [1, 'answer', answer(1), 'fail'],
      [2, 'poll', {}, null],
      [2, 'poll', {}, told(1)],
    ],
  ],
  [
    'a loser who was shown what did not stand',
    /"answer 3" stands/,
    [
      ...asked,
      [1, 'answer', answer(1), null],
      [1, 'answer', answer(1), accepted(1)],
      [2, 'answer', answer(2), null],
      [2, 'answer', answer(2), lostTo(3)],
    ],
  ],
  [
    'a question that is lost at the end',
    /the store does not have it/,
    [...asked, [9, 'read all', {}, null], [9, 'read all', {}, []]],
  ],
  [
    'one key for two questions',
    /"question 1" was said to be ask-1, and later to be ask-2/,
    [
      ...asked,
      [0, 'ask', KEY, null],
      [0, 'ask', KEY, [{ did: 'asked', key: 'question 1', ask_id: 'ask-2' }]],
    ],
  ],
];

test.each(wrong)('refused: %s', (_, sentence, lines) => {
  expect(checkHistory(linesOf(...lines)).violations.join('\n')).toMatch(sentence);
});

test('a worker writes one line when it begins and one when it knows the outcome, and takes a new process number after an unknown outcome', () => {
  const folder = tempFolder();
  const file = join(folder, 'history.jsonl');
  const log = openLog(folder, 'agent-1', openHistory(file));
  const end = log.begin('ask', { key: 'question 1' });
  log.add({ did: 'heard', method: 'message/posted', id: 'msg-1', status: null });
  log.add({ did: 'asked', key: 'question 1', ask_id: 'ask-1' });
  end(null);
  log.begin('poll', { ask_ids: ['ask-1'] })(lost('hive mcp went away'));
  log.begin('poll', { ask_ids: ['ask-1'] })(null);
  log.close();
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(read.map(({ process, type }) => [process, type])).toEqual([
    [0, 'invoke'],
    [0, 'ok'],
    [0, 'invoke'],
    [0, 'info'],
    [1, 'invoke'],
    [1, 'ok'],
  ]);
  expect(read[1]).toMatchObject({
    index: 1,
    f: 'ask',
    worker: 'agent-1',
    value: { key: 'question 1', got: [{ did: 'asked', ask_id: 'ask-1' }] },
  });
  expect(read[3]).toMatchObject({ error: ['lost', 'hive mcp went away'] });
});

/** Nobody was told of eight answers, and then somebody read one that nobody gave. */
function unexplainable(n: number): Short[] {
  const id = { ask_id: `ask-${n}` };
  const key = { key: `question ${n}`, expires: false };
  const answers = Array.from({ length: 8 }, (_, i): Short[] => [
    [10 + i, 'answer', { ...id, decision: `answer ${i}` }, null],
    [10 + i, 'answer', { ...id, decision: `answer ${i}` }, 'info'],
  ]);
  return [
    [0, 'ask', key, null],
    [0, 'ask', key, [{ did: 'asked', ...key, ...id }]],
    ...answers.flat(),
    [2, 'poll', {}, null],
    [2, 'poll', {}, told(99).map((row) => ({ ...row, ...id }))],
  ];
}

test('a crowd of operations that nobody knows the end of is no crowd of orders to search', () => {
  const rounds = Array.from({ length: 30 }, (_, i): Short[] => [
    [100 + i, 'cancel', { ask_id: 'ask-1' }, null],
    [100 + i, 'cancel', { ask_id: 'ask-1' }, 'info'],
    [10 + i, 'answer', answer(i), null],
    [10 + i, 'answer', answer(i), 'info'],
    // The same answer again, and a reader in between.
    [50 + i, 'answer', answer(i), null],
    [2, 'poll', {}, null],
    [2, 'poll', {}, told(29)],
    [50 + i, 'answer', answer(i), i === 29 ? accepted(29) : lostTo(29)],
  ]);
  const explained = linesOf(...asked, ...rounds.toReversed().flat());
  expect(checkHistory(explained, 200).violations).toEqual([]);
  const last: Short[] = [
    [2, 'poll', {}, null],
    [2, 'poll', {}, told(28)],
  ];
  const unexplained = linesOf(...asked, ...rounds.toReversed().flat(), ...last);
  expect(checkHistory(unexplained, 200).violations).toEqual([
    expect.stringMatching(
      /^No order explains ask-1: [\s\S]*Everything that was done to it:\n +line 0 to 1: asked\n/,
    ),
  ]);
});

test('a search that is given up is undecided, which is a violation', () => {
  const history = linesOf(...unexplainable(1));
  expect(checkHistory(history).violations).toEqual([expect.stringMatching(/^No order explains ask-1: /)]);
  expect(checkHistory(history, 10).violations).toEqual([
    expect.stringMatching(/^Undecided after 10 steps for ask-1: /),
  ]);
});

test('a history in which hardly anything can be explained is not searched to its end', () => {
  const history = linesOf(...Array.from({ length: 25 }, (_, n) => unexplainable(n)).flat());
  const { violations } = checkHistory(history, 10);
  expect(violations).toHaveLength(21);
  expect(violations.at(-1)).toBe('5 more prompts were not searched.');
});
