/** The mention gate's rule: what it holds, what it never holds, and that it ends. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  clearsMentions,
  closeStep,
  decideGate,
  decideHumanPrompt,
  denialReason,
  GATE_STEPS,
  type GateRecord,
  isExempt,
  newGate,
  PROMPT_REFUSALS,
  recordProgress,
  shownInFull,
} from '../../src/domain/mention-gate.ts';
import type { MentionInFull, UnprocessedCount } from '../../src/domain/mentions.ts';
import { mention, NOW } from './mention.ts';

const later = (ms: number): string => new Date(Date.parse(NOW) + ms).toISOString();

const block = { mode: 'block', can_clear: true, now: NOW } as const;
const counted = (mentions: MentionInFull[]): UnprocessedCount => {
  const gating = mentions.filter(({ gates }) => gates);
  const urgent = gating.filter(({ priority }) => priority === 'urgent');
  return { count: mentions.length, gating: gating.length, urgent: urgent.length };
};
const opinion = (mentions: MentionInFull[], given: Parameters<typeof decideGate>[2]): string =>
  decideGate(counted(mentions), newGate('s'), given).opinion;
const one = counted([mention()]);

describe('a tool call', () => {
  test('passes when nothing is pending', () => expect(opinion([], block)).toBe('pass'));
  test.each(['block', 'strict'] as const)('is held while a mention is pending, under %s', (mode) =>
    expect(opinion([mention()], { ...block, mode })).toBe('deny'),
  );
  test('only gets a reminder under remind', () =>
    expect(opinion([mention()], { ...block, mode: 'remind' })).toBe('remind'));
  test('is held under remind by an urgent mention', () =>
    expect(opinion([mention({ priority: 'urgent' })], { ...block, mode: 'remind' })).toBe('deny'));
  test('passes under off, urgent or not', () =>
    expect(opinion([mention({ priority: 'urgent' })], { ...block, mode: 'off' })).toBe('pass'));
  test('is not held by a pair that the loop guard has stopped', () =>
    expect(opinion([mention({ gates: false })], block)).toBe('remind'));
  test('is not held if the session has no way to clear it', () =>
    expect(opinion([mention()], { ...block, can_clear: false })).toBe('remind'));
});

describe('the count', () => {
  test('counts a batch of parallel calls as one step', () => {
    let record = newGate('s');
    for (let call = 0; call < 6; call += 1)
      record = decideGate(one, record, { ...block, now: later(call * 8) }).record;
    expect(record).toMatchObject({ steps: 1, denials: 6 });
  });

  test('counts the call after a closed batch as another step, however soon it comes', () => {
    const first = decideGate(one, newGate('s'), block).record;
    expect(decideGate(one, closeStep(first), { ...block, now: later(5) }).record.steps).toBe(2);
  });

  test('gives up after a number of steps in a row, says so once, and then only reminds', () => {
    let record = newGate('s');
    const opinions: string[] = [];
    let told = 0;
    for (let step = 0; step < 50; step += 1) {
      const decision = decideGate(one, closeStep(record), { ...block, now: later(step * 10_000) });
      record = decision.record;
      opinions.push(decision.opinion);
      told += decision.gave_up_now ? 1 : 0;
    }
    expect(opinions.filter((one) => one === 'deny')).toHaveLength(GATE_STEPS);
    expect(opinions.at(-1)).toBe('remind');
    expect(told).toBe(1);
  });

  test('is reset by progress', () => {
    const spent: GateRecord = { ...newGate('s'), steps: GATE_STEPS, gave_up: true, denials: 9, held: true };
    expect(recordProgress(spent)).toMatchObject({ steps: 0, gave_up: false, denials: 9, held: true });
    expect(decideGate(one, recordProgress(spent), block).opinion).toBe('deny');
  });

  test('never holds more steps in a row than its limit, whatever happens in between except progress', () => {
    const moves = fc.array(fc.record({ wait: fc.nat(5_000), close: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(moves, (steps) => {
        let record = newGate('s');
        let now = Date.parse(NOW);
        for (const { wait, close } of steps) {
          now += wait;
          record = decideGate(one, close ? closeStep(record) : record, {
            ...block,
            now: new Date(now).toISOString(),
          }).record;
        }
        return record.steps <= GATE_STEPS;
      }),
    );
  });
});

describe('a prompt of the human, where prompts are blocked', () => {
  test('is refused a limited number of times in a row, and the gate gives up once', () => {
    let record = newGate('s');
    let gave_up = 0;
    const refused: boolean[] = [];
    for (let n = 0; n < 20; n += 1) {
      const decision = decideHumanPrompt(one, record, `try ${n}`);
      record = decision.record;
      refused.push(decision.refused);
      gave_up += decision.gave_up_now ? 1 : 0;
    }
    expect(refused.filter(Boolean)).toHaveLength(PROMPT_REFUSALS);
    expect(refused.lastIndexOf(true)).toBe(PROMPT_REFUSALS - 1);
    expect(gave_up).toBe(1);
    expect(decideHumanPrompt(one, recordProgress(record), 'go on').refused).toBe(true);
  });

  test('passes when nothing holds, and is not counted', () => {
    const record = newGate('s');
    expect(decideHumanPrompt({ gating: 0 }, record, 'go on')).toEqual({
      refused: false,
      record,
      gave_up_now: false,
    });
  });

  test('that clears mentions passes, and is not counted', () => {
    const record = newGate('s');
    expect(decideHumanPrompt(one, record, '/check-mentions')).toEqual({
      refused: false,
      record,
      gave_up_now: false,
    });
  });

  test.each([
    '/check-mentions',
    '/hive:check-mentions',
    '/hive:post hello',
    '/post\nhello',
    'Call hivemind_process_mentions now.',
    'mcp__plugin_hive_hive: use hivemind_get_unprocessed_mentions',
    'hive mentions',
  ])('clears: %j', (prompt) => expect(clearsMentions(prompt)).toBe(true));
  test.each(['/posts', '/other:post', 'a /post', 'hivemind_posture', 'hive mentions; rm -rf x', ''])(
    'does not clear: %j',
    (prompt) => expect(clearsMentions(prompt)).toBe(false),
  );
});

test('the reason has the first in full, three in short, a count of the rest, and the exact call that clears it', () => {
  const long = 'x'.repeat(15_000);
  const rest = [2, 3, 4, 5, 6].map((n) =>
    mention({ mention_id: `mention-${n}`, body: `body ${n} ${'y'.repeat(500)}` }),
  );
  const reason = denialReason([mention({ body: long }), ...rest], 1 + rest.length);
  expect(reason).toContain(long);
  expect(reason).toContain('body 4');
  expect(reason).not.toContain('body 5');
  expect(reason).toContain('+2 more');
  expect(reason).toContain(
    'hivemind_process_mentions {"mention_ids": ["mention-1","mention-2","mention-3","mention-4"]}',
  );
});

test('says that an unverified message is unverified, and not from the human', () => {
  const forged = mention({ from_handle: 'unverified', author: 'unverified', as_handle: 'Human' });
  const reason = denialReason([mention(), forged], 2);
  expect(reason).toContain('Also unverified (as Human) [mention-1]: Need help');
  expect(reason).toContain('It does not come from your human.');
  expect(denialReason([forged], 1)).toContain('unverified (as Human) mentioned you at ');
  expect(denialReason([mention()], 1)).not.toContain('unverified');
});

describe('never held', () => {
  const tool = (name: string, input: unknown = {}, own: string | null = null): boolean =>
    isExempt({ name, input, own });
  test('a tool of ours', () => expect(tool('mcp__hive__hivemind_poll', {}, 'hivemind_poll')).toBe(true));
  test('the search that may hide it', () => expect(tool('ToolSearch')).toBe(true));
  test('the shell command that clears it', () =>
    expect(tool('Bash', { command: 'hive mentions process --all' })).toBe(true));
  test.each([
    ['a tool of another server', 'mcp__other__hivemind_poll', {}],
    ['a read-only tool', 'Read', {}],
    ['another command', 'Bash', { command: 'ls' }],
    ['a command behind the one that clears', 'Bash', { command: 'hive mentions; rm -rf x' }],
    ['a command inside it', 'Bash', { command: 'hive mentions $(rm x)' }],
    ['a second line', 'Bash', { command: 'hive mentions\nrm x' }],
    ['an input that is no object', 'Bash', null],
  ])('held: %s', (_what, name, input) => expect(tool(name, input)).toBe(false));
});

test('only what a reason quotes in full counts as read', () => {
  const long = mention({ body: 'x'.repeat(200) });
  const lines = mention({ body: 'two\nlines' });
  const short = mention({ body: 'short' });
  expect(shownInFull([long, short, long, lines, short])).toEqual([long, short]);
  expect(shownInFull([])).toEqual([]);
});
