/** The matrix of source, kind, rule and critical: each refusal names its rule, when it ends, and what else is possible. */
import { describe, expect, test } from 'vitest';
import {
  applyOutreachChanges,
  BUDGET,
  DEFAULT_OUTREACH_SETTINGS,
  decideByRules,
  type OutreachRule,
  outreachSettings,
  type RuleState,
  refusalBySource,
  unseenSentence,
} from '../../src/domain/outreach.ts';
import { fullBucket } from '../../src/domain/rates.ts';
import { SOURCES, type Source } from '../../src/domain/sources.ts';

const NOW = '2026-03-01T12:00:00.000Z';
const KINDS = ['ping', 'card'] as const;
const full = fullBucket('*', BUDGET, NOW);

function state(changes: Partial<RuleState> = {}): RuleState {
  return {
    kind: 'ping',
    source: 'bg',
    critical: false,
    settings: DEFAULT_OUTREACH_SETTINGS,
    bucket: full,
    absence: null,
    unseen: 0,
    now: NOW,
    ...changes,
  };
}

/** A state in which each rule says no, in the order in which they are asked. */
const OFFENCES: readonly (readonly [OutreachRule, Partial<RuleState>])[] = [
  ['allow_ping', { settings: { ...DEFAULT_OUTREACH_SETTINGS, allow_ping: false } }],
  ['budget', { bucket: { ...full, credits: 0 } }],
];

const ruleOf = (given: RuleState): OutreachRule | null => decideByRules(given).refusal?.rule ?? null;

describe('source × kind', () => {
  test.each<[Source, 'ping' | 'card' | 'report', boolean]>([
    ['main', 'ping', false],
    ['main', 'card', true],
    ['main', 'report', false],
    ['bg', 'ping', true],
    ['bg', 'card', true],
    ['bg', 'report', true],
    ['fork', 'ping', false],
    ['fork', 'card', true],
    ['fork', 'report', true],
  ])('%s sends a %s: %s', (source, kind, possible) => {
    expect(refusalBySource(kind, source) === null).toBe(possible);
  });

  test('a ping from main or a fork is told where pings belong and what to use instead', () => {
    for (const source of ['main', 'fork'] as const) {
      const sentence = refusalBySource('ping', source);
      expect(sentence).toContain('only available in background sessions');
      expect(sentence).toContain('hivemind_send_card');
      expect(sentence).toContain('hivemind_ask_async');
    }
  });
});

const cases = SOURCES.flatMap((source) =>
  KINDS.flatMap((kind) =>
    OFFENCES.flatMap(([rule, offence]) =>
      [false, true].map((critical) => ({ source, kind, rule, offence, critical })),
    ),
  ),
);
test.each(cases)(
  'source × kind × rule × critical: $source $kind against $rule, critical $critical',
  ({ source, kind, rule, offence, critical }) => {
    const held = source === 'bg' && (!critical || rule === 'allow_ping');
    expect(ruleOf(state({ source, kind, critical, ...offence }))).toBe(held ? rule : null);
  },
);

test('of all rules that refuse, the first one is named', () => {
  const merged: Partial<RuleState> = {};
  for (const [rule, offence] of OFFENCES.toReversed()) {
    Object.assign(merged, offence);
    expect(ruleOf(state(merged))).toBe(rule);
  }
});

test('what it costs: one token; nothing from main or a fork, and nothing if it is critical', () => {
  expect(decideByRules(state())).toMatchObject({ bucket: { credits: full.credits - 1 } });
  const free = { refusal: null, bucket: null };
  expect(decideByRules(state({ source: 'fork', kind: 'card' }))).toEqual(free);
  expect(decideByRules(state({ critical: true }))).toEqual(free);
  expect(decideByRules(state({ critical: true, bucket: { ...full, credits: 0 } }))).toEqual(free);
});

describe('with nobody there', () => {
  const away = { absence: 'nobody_there' } as const;

  test('it costs nothing, even with an empty bucket', () => {
    for (const credits of [full.credits, 0])
      expect(decideByRules(state({ ...away, bucket: { ...full, credits } }))).toEqual({
        refusal: null,
        bucket: null,
      });
  });

  test('only as much is stored as the bucket holds, so a loop that nobody sees ends too', () => {
    expect(ruleOf(state({ ...away, unseen: full.credits - 1 }))).toBeNull();
    const refused = decideByRules(state({ ...away, unseen: full.credits })).refusal;
    expect(refused).toMatchObject({ rule: 'budget', passes_at: null });
    expect(refused?.sentence).toContain(`${full.credits} pings and cards are kept for your human already`);
    expect(ruleOf(state({ ...away, unseen: full.credits, critical: true }))).toBeNull();
  });

  test.each([
    ['nobody_there', 'no Emacs is open and no desktop can be reached'],
    ['quiet_hours', 'these are quiet hours'],
  ])('the reply says why (%s), that it is kept, and that nothing is owed', (reason, words) => {
    const sentence = unseenSentence({ kind: 'ping', source: 'bg', reason });
    expect(sentence).toContain(`Nobody is there to see this ping: no Emacs is open`);
    expect(sentence).toContain(words);
    expect(sentence).toContain('It is kept, and your human will see it when they are back.');
    expect(sentence).toContain('you need not report it');
    expect(unseenSentence({ kind: 'card', source: 'main', reason })).not.toContain('report');
  });
});

describe('a refusal', () => {
  const sentenceOf = (changes: Partial<RuleState>): string =>
    decideByRules(state(changes)).refusal?.sentence ?? '';

  test.each(OFFENCES)('by %s names the rule and that a report is always possible', (rule, offence) => {
    expect(sentenceOf(offence)).toContain(`(rule ${rule})`);
    expect(sentenceOf(offence)).toContain('hivemind_report_updates {"message"');
  });

  test('says when it will pass', () => {
    const empty = decideByRules(state({ bucket: { ...full, credits: 0 } }));
    expect(empty.refusal).toMatchObject({ rule: 'budget', passes_at: '2026-03-01T12:01:00.000Z' });
    expect(empty.refusal?.sentence).toContain('You can send it at 2026-03-01T12:01:00.000Z.');
  });

  test('promises no report to a session that may send none', () => {
    const settings = { ...DEFAULT_OUTREACH_SETTINGS, report_policy: 'blocked' as const };
    expect(sentenceOf({ settings, bucket: { ...full, credits: 0 } })).toContain('Go on without it.');
    expect(sentenceOf({ settings, bucket: { ...full, credits: 0 } })).not.toContain(
      'hivemind_report_updates',
    );
  });
});

describe('settings', () => {
  test('a session follows the global setting unless it has its own', () => {
    const everywhere = { allow_ping: false, report_policy: 'always' } as const;
    expect(outreachSettings(everywhere, { allow_ping: true })).toEqual({
      allow_ping: true,
      report_policy: 'always',
    });
  });

  test('null resets, omitted settings stay, unknown ones are dropped', () => {
    const stands = { allow_ping: false, report_policy: 'always' } as const;
    expect(applyOutreachChanges(stands, { allow_ping: null, report_policy: undefined })).toEqual({
      report_policy: 'always',
    });
    expect(applyOutreachChanges({}, { evil: 1 } as never)).toEqual({});
  });
});
