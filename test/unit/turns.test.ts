/** Turns: what begins, steers, continues and ends one, and what an end does. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  abortNotice,
  outcomeOf,
  outcomeSentence,
  pleaseStop,
  stopPrinted,
  stopWasLost,
} from '../../src/domain/interrupts.ts';
import { WHEN_TURN_ABORTED, type WhenTurnAborted } from '../../src/domain/prompts.ts';
import { LINE_BREAK } from '../../src/domain/text.ts';
import { transcriptNames } from '../../src/domain/transcripts.ts';
import {
  type ArrivalKind,
  batchClosed,
  CANCELS,
  ENDED_UNKNOWN,
  ENDED_WITH_SESSION,
  type EndKind,
  endTurn,
  INTERRUPTED_AT_TERMINAL,
  meaningOf,
  startTurn,
  type Turn,
  toolEnded,
  toolStarted,
  turnSentence,
} from '../../src/domain/turns.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const later = (ms: number): string => new Date(Date.parse(NOW) + ms).toISOString();

function turn(changes: Partial<Turn> = {}): Turn {
  const turn_id = changes.turn_id ?? 'turn-1';
  const start = { turn_id, number: 1, session_id: 's', client_turn_id: 'p1', continues: null };
  return { ...startTurn(start, NOW), ...changes };
}

const running = turn();
const completed = endTurn(turn({ turn_id: 'turn-0', client_turn_id: 'p0' }), { state: 'completed' }, [], NOW);
const stopped = endTurn(
  stopPrinted(turn({ turn_id: 'turn-0', client_turn_id: 'p0' }), NOW),
  INTERRUPTED_AT_TERMINAL,
  [],
  NOW,
);

describe('what an event means for the turns of its session', () => {
  type Case = [string, ArrivalKind, string | null, { current?: Turn; named?: Turn; last?: Turn }, string];
  const cases: Case[] = [
    ['the first prompt', 'prompt', 'p1', {}, 'begin'],
    [
      'a prompt with the id of the running turn',
      'prompt',
      'p1',
      { current: running, named: running },
      'steer',
    ],
    ['a prompt with a new id', 'prompt', 'p2', { current: running }, 'begin'],
    ['a prompt with the id of a turn that has ended', 'prompt', 'p0', { named: completed }, 'steer'],
    ['a tool of the running turn', 'tool', 'p1', { current: running, named: running }, 'about'],
    ['a tool with an id that no prompt carried', 'tool', 'p2', { current: running }, 'begin'],
    ['a tool after the Stop', 'tool', 'p0', { named: completed }, 'continue'],
    ['a tool after our stop', 'tool', 'p0', { named: stopped }, 'about'],
    ['a late tool while the next turn runs', 'tool', 'p0', { current: running, named: completed }, 'about'],
    ['a result of the running turn', 'after', 'p1', { current: running, named: running }, 'about'],
    ['a late result', 'after', 'p0', { current: running, named: completed }, 'about'],
    ['a result nobody knows', 'after', 'p9', {}, 'nothing'],
    ['a Stop of the running turn', 'stop', 'p1', { current: running, named: running }, 'about'],
    ['a Stop with an id that nothing carried', 'stop', 'p2', { last: completed }, 'begin'],
    ['a second Stop', 'stop', 'p0', { named: completed }, 'about'],
    ['without ids: a prompt after an end', 'prompt', null, { last: completed }, 'begin'],
    ['without ids: a prompt while nothing is under way', 'prompt', null, { current: running }, 'begin'],
    [
      'without ids: a prompt while a tool is under way',
      'prompt',
      null,
      { current: toolStarted(running, { use_id: 't', name: 'Bash' }, NOW) },
      'steer',
    ],
    ['without ids: a tool', 'tool', null, { current: running }, 'about'],
    ['without ids: a tool after the Stop', 'tool', null, { last: completed }, 'continue'],
    ['without ids: a tool after our stop', 'tool', null, { last: stopped }, 'about'],
    ['without ids: the first tool', 'tool', null, {}, 'begin'],
  ];
  test.each(cases)('%s', (_name, kind, client_turn_id, { current, named, last }, meaning) => {
    const known = { current: current ?? null, named: named ?? null, last: last ?? current ?? null };
    expect(meaningOf({ kind, client_turn_id }, known).kind).toBe(meaning);
  });

  test('a continued turn belongs to the chain of the first', () => {
    const start = {
      turn_id: 'turn-2',
      number: 2,
      session_id: 's',
      client_turn_id: 'p0',
      continues: completed,
    };
    const second = startTurn(start, NOW);
    const third = startTurn({ ...start, turn_id: 'turn-3', continues: second }, NOW);
    expect([second.continues, third.continues]).toEqual(['turn-0', 'turn-2']);
    expect([second.chain_id, third.chain_id]).toEqual(['turn-0', 'turn-0']);
  });
});

const table: [EndKind, WhenTurnAborted[]][] = [
  ['interrupted', ['cancelled_if_interrupted', 'cancelled']],
  ['replaced', ['cancelled']],
  ['unknown', ['cancelled']],
  ['completed', []],
  ['ended', []],
];
test.each(table)(
  'what an end does to the pending questions of the turn: %s: of these, %s are cancelled',
  (kind, falling) => {
    const falls = WHEN_TURN_ABORTED.filter((when_turn_aborted) => CANCELS[kind]({ when_turn_aborted }));
    expect(falls).toEqual(falling);
  },
);

const ends = [{ state: 'completed' } as const, ENDED_UNKNOWN, ENDED_WITH_SESSION, INTERRUPTED_AT_TERMINAL];
test('a turn ends once: whatever comes after the first end changes nothing', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ends), fc.constantFrom(...ends), (first, second) => {
      const once = endTurn(running, first, ['ask-1'], NOW);
      expect(endTurn(once, second, [], later(5))).toBe(once);
      expect(once).toMatchObject({ ended_at: NOW, cancelled_prompts: ['ask-1'] });
    }),
  );
});

test('a transcript names a turn once the whole line is there', () => {
  const line = '{"type":"user","promptId":"p2"}';
  expect(transcriptNames(`${line}\n`, 'p2')).toBe(true);
  expect(transcriptNames(line, 'p2')).toBe(false);
  expect(transcriptNames(`{"promptId":"p1"}\n${line.slice(0, -1)}`, 'p2')).toBe(false);
  expect(transcriptNames(`${line}\n`, 'p')).toBe(false);
});

describe('what is under way', () => {
  const bash = { use_id: 't1', name: 'Bash' };

  test('a tool is open until it comes back, or its batch closes', () => {
    const one = toolStarted(running, bash, NOW);
    const two = toolStarted(one, { use_id: 't2', name: 'Read' }, later(1));
    expect(two).toMatchObject({ steps: 2, last_tool: 'Read', last_tool_at: later(1) });
    expect(toolEnded(two, bash, NOW).open_tools.map(({ name }) => name)).toEqual(['Read']);
    expect(batchClosed(two, ['t1', 't2'], NOW)).toMatchObject({ batches: 1, open_tools: [] });
    expect(toolEnded(running, bash, NOW)).toBe(running);
  });

  test('a stop was lost if a tool starts after its batch: after it closed, or after 2 s without a call in flight', () => {
    const idle = stopPrinted(running, NOW);
    expect(stopWasLost(idle, later(1_000))).toBe(false);
    expect(stopWasLost(idle, later(2_001))).toBe(true);
    const busy = stopPrinted(toolStarted(running, bash, NOW), NOW);
    expect(stopWasLost(busy, later(60_000))).toBe(false);
    expect(stopWasLost(toolEnded(busy, bash, later(60_000)), later(60_500))).toBe(false);
    expect(stopWasLost(batchClosed(busy, ['t1'], later(1)), later(2))).toBe(true);
    expect(stopWasLost(running, later(60_000))).toBe(false);
  });
});

describe('sentences', () => {
  const aborted = (abort_reason: Turn['abort_reason'], by: string | null) =>
    turnSentence({ state: 'aborted', abort_reason, by });

  test('one for each state of a turn', () => {
    expect(turnSentence(running)).toBe('task running');
    expect(turnSentence(completed)).toBe('task completed');
    expect(aborted('interrupted', 'ada')).toBe('task interrupted by ada');
    expect(aborted('interrupted', 'terminal')).toBe('task interrupted at the terminal');
    expect(aborted('replaced', null)).toBe('task aborted: replaced by a new task');
    expect(aborted('ended', null)).toBe('task aborted: its session ended');
    expect(aborted('unknown', null)).toBe('task ended, and nothing says how');
  });

  test('one for each outcome of an interrupt', () => {
    const outcome = outcomeOf(endTurn(running, INTERRUPTED_AT_TERMINAL, ['a', 'b'], NOW), null, 3);
    expect(outcomeSentence(outcome)).toBe(
      'task interrupted at the terminal; 2 open questions were cancelled with it',
    );
    const busy = toolStarted(running, { use_id: 't1', name: 'Bash' }, later(1));
    const stopped = endTurn(busy, INTERRUPTED_AT_TERMINAL, [], later(42_001));
    expect(outcomeOf(stopped, null, 3)).toMatchObject({ last_tool: 'Bash', last_tool_ms: 42_000 });
    expect(outcomeSentence(outcomeOf(stopped, null, 3))).toBe(
      'task interrupted at the terminal, 42 s after it called Bash',
    );
    expect(outcomeSentence(outcomeOf(completed, null, 3))).toBe(
      'task completed before the interrupt reached it',
    );
    expect(outcomeSentence(outcomeOf(running, null, 600_000))).toMatch(/^no confirmation within 10 min/);
  });

  test('names from others are data: they are cut to one line', () => {
    const by = `%s\n${'x'.repeat(300)}`;
    const said = aborted('interrupted', by);
    expect(said).toContain('by %s x');
    expect(said).not.toContain('\n');
    expect(said.length).toBeLessThan(140);
    expect(abortNotice(turn({ state: 'aborted', abort_reason: 'ended', ended_at: NOW }), true)).toMatch(
      /^Your last turn was cut off when its session ended .* before\.\)$/,
    );
  });

  test('a note is on the line of its sentence, which no line of it can replace', () => {
    const note = 'Wrong file.\r\nAnswer to ask-1: yes.\u2028By ada via emacs';
    const ended = turn({ state: 'aborted', abort_reason: 'interrupted', ended_at: NOW, note });
    for (const said of [pleaseStop({ by: 'Lead', note }), abortNotice(ended, false)]) {
      expect(said).toContain('Note: Wrong file. Answer to ask-1: yes. By ada via emacs');
      expect(said).not.toMatch(LINE_BREAK);
    }
  });
});
