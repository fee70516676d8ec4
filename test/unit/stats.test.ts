/** The statistics, from prompts as they are stored. */
import { describe, expect, test } from 'vitest';
import type { PromptAnswer } from '../../src/domain/prompts.ts';
import { type CountedPrompt, statsOf } from '../../src/domain/stats.ts';

const PERIOD = {
  since: '2026-11-20T12:00:00.000Z',
  until: '2026-11-23T12:00:00.000Z',
  dayOf: (time: string) => time.slice(0, 10),
};
const MINUTE = 60_000;

let count = 0;

/** A prompt that was asked on this day at noon and, unless the changes say otherwise, answered in Emacs after `minutes`. */
function prompt(day: number, minutes: number, changes: Partial<CountedPrompt> = {}): CountedPrompt {
  count += 1;
  const asked = Date.parse(`2026-11-${day}T12:00:00.000Z`);
  return {
    ask_id: `ask-${count}`,
    created_at: new Date(asked).toISOString(),
    agent: 'Claude-abc12',
    project: 'demo',
    kind: 'question',
    question: `Question ${count}?`,
    status: 'responded',
    settled_at: new Date(asked + minutes * MINUTE).toISOString(),
    by: 'ada',
    via: 'emacs',
    cancel_reason: null,
    late_response: null,
    blocked_since: null,
    ...changes,
  };
}
const OPEN = { status: 'pending', settled_at: null, by: null, via: null } as const;
const LATE = { via: 'notification' } as PromptAnswer;

describe('how long agents waited', () => {
  test('is the median and the worst of what was answered in time', () => {
    const { total } = statsOf([prompt(21, 1), prompt(21, 9), prompt(22, 3), prompt(22, 120)], PERIOD);
    expect(total).toMatchObject({ asked: 4, answered: 4, median_ms: 6 * MINUTE, worst_ms: 120 * MINUTE });
    expect(statsOf([prompt(21, 1), prompt(21, 9), prompt(22, 3)], PERIOD).total.median_ms).toBe(3 * MINUTE);
    expect(statsOf([prompt(21, 0, OPEN)], PERIOD).total).toMatchObject({
      asked: 1,
      answered: 0,
      median_ms: null,
    });
  });

  test('is counted by kind, project and agent, those with the most questions first', () => {
    const stats = statsOf(
      [
        prompt(21, 1),
        prompt(21, 2, { kind: 'permission', agent: 'reviewer' }),
        prompt(21, 4, { kind: 'permission', agent: 'reviewer', project: 'shop' }),
      ],
      PERIOD,
    );
    expect(stats.kinds.map(({ name, median_ms }) => [name, median_ms])).toEqual([
      ['permission', 3 * MINUTE],
      ['question', MINUTE],
    ]);
    expect(stats.projects.map(({ name, asked }) => [name, asked])).toEqual([
      ['demo', 2],
      ['shop', 1],
    ]);
    expect(stats.agents.map(({ name }) => name)).toEqual(['reviewer', 'Claude-abc12']);
  });

  test('says for how long they were blocked, until now if they still are', () => {
    const blocked = prompt(21, 5, { blocked_since: '2026-11-21T12:02:00.000Z' });
    const still = prompt(23, 0, {
      ...OPEN,
      created_at: '2026-11-23T11:00:00.000Z',
      blocked_since: '2026-11-23T11:50:00.000Z',
    });
    const stats = statsOf([blocked, still, prompt(21, 60)], PERIOD);
    expect(stats.total.blocked_ms).toBe((3 + 10) * MINUTE);
    expect(stats).toMatchObject({ pending: 1, pending_since: '2026-11-23T11:00:00.000Z' });
  });
});

test('each day of the period is listed, even without a question', () => {
  const stats = statsOf([prompt(21, 1), prompt(21, 1), prompt(23, 1, { via: 'rule' })], PERIOD);
  expect(stats.days).toEqual([
    { day: '2026-11-20', asked: 0, answered_by_rules: 0 },
    { day: '2026-11-21', asked: 2, answered_by_rules: 0 },
    { day: '2026-11-22', asked: 0, answered_by_rules: 0 },
    { day: '2026-11-23', asked: 0, answered_by_rules: 1 },
  ]);
});

test('the day on which summer time begins, and has 23 hours, is listed too', () => {
  const berlin = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', dateStyle: 'short' });
  const stats = statsOf([], {
    since: '2026-03-28T22:30:00.000Z',
    until: '2026-03-30T22:30:00.000Z',
    dayOf: (time) => berlin.format(new Date(time)),
  });
  expect(stats.days.map(({ day }) => day)).toEqual(['2026-03-28', '2026-03-29', '2026-03-30', '2026-03-31']);
});

test('counts where questions were answered: in time, late, or in the terminal of the agent', () => {
  const cancelled = { status: 'cancelled', via: 'terminal', cancel_reason: 'answered_elsewhere' } as const;
  const stats = statsOf(
    [
      prompt(21, 1),
      prompt(21, 1),
      prompt(21, 1, cancelled),
      prompt(21, 1, { status: 'expired', via: 'clock', late_response: LATE }),
      prompt(21, 1, { status: 'cancelled', via: 'mcp', cancel_reason: 'withdrawn' }),
    ],
    PERIOD,
  );
  expect(stats.answered_via).toEqual([
    { name: 'emacs', count: 2 },
    { name: 'notification', count: 1 },
    { name: 'terminal', count: 1 },
  ]);
  expect(stats).toMatchObject({ late: 1, expired: 1, cancelled: 1, pending: 0 });
});

test('the most frequent questions are those asked more than once', () => {
  const often = Array.from({ length: 3 }, () => prompt(21, 1, { question: 'Run npm test?' }));
  expect(statsOf([...often, prompt(21, 1)], PERIOD).most_asked).toEqual([
    { name: 'Run npm test?', count: 3 },
  ]);
});

test('rules are counted separately, and save the median wait of a permission', () => {
  const ruled = { kind: 'permission', via: 'rule', by: 'tests' } as const;
  const stats = statsOf(
    [prompt(21, 4, { kind: 'permission' }), prompt(21, 0, ruled), prompt(22, 0, ruled)],
    PERIOD,
  );
  expect(stats.total).toMatchObject({ asked: 1, median_ms: 4 * MINUTE });
  expect(stats.rules).toEqual([{ name: 'tests', count: 2 }]);
  expect(stats.saved_ms).toBe(8 * MINUTE);
  expect(statsOf([prompt(21, 0, ruled)], PERIOD).saved_ms).toBeNull();
});
