import { describe, expect, test } from 'vitest';
import { newOutreach, type Outreach, REPORT_POLICIES, type ReportPolicy } from '../../src/domain/outreach.ts';
import { expirePrompt, type Prompt, respondPrompt } from '../../src/domain/prompts.ts';
import { SOURCES, type Source } from '../../src/domain/sources.ts';
import {
  answersReason,
  decideStop,
  inChain,
  mentionsReason,
  newStopGuard,
  type Owed,
  owesReport,
  reportReason,
  STOP_BLOCKS,
  unreportedNotice,
} from '../../src/domain/stop-guard.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { ASKER, answer } from './prompt-arbitraries.ts';

const NOW = '2026-03-01T12:00:00.000Z';
const SENDER = {
  session_id: 's',
  agent: 'Claude-abc12',
  agent_title: null,
  source: 'bg' as const,
  project: 'shop',
  project_dir: '/shop/.git',
  turn_id: null,
};
const ping = (message = 'look', n = 1): Outreach =>
  newOutreach('ping', { message }, SENDER, { outreach_id: `ping-${n}`, number: n }, NOW);
const OWED: Owed[] = [{ hold: 'report', text: 'owed', undone: 'It did not report.' }];

describe('who owes a report', () => {
  const owing = (
    source: Source,
    report_policy: ReportPolicy,
    unreported: Outreach[],
    reported_in_turn = false,
  ) => owesReport(source, { report_policy }, unreported, { reported_in_turn });

  test('main sessions and forks never do, whatever the policy', () => {
    for (const source of SOURCES.filter((one) => one !== 'bg'))
      for (const policy of REPORT_POLICIES) expect(owing(source, policy, [ping()])).toBe(false);
  });

  test.each<[ReportPolicy, boolean, boolean]>([
    ['on_ping', true, false],
    ['always', true, true],
    ['freely', false, false],
    ['remind', false, false],
    ['blocked', false, false],
  ])('in the background under %s: with output %s, without %s', (policy, withOutput, without) => {
    expect(owing('bg', policy, [ping()])).toBe(withOutput);
    expect(owing('bg', policy, [])).toBe(without);
  });

  test('under always a report of this turn clears it, and a later ping needs another', () => {
    expect(owing('bg', 'always', [], true)).toBe(false);
    expect(owing('bg', 'always', [ping()], true)).toBe(true);
  });
});

describe('it ends', () => {
  test('a model that ignores it fifty times is held three times, and the human is notified once', () => {
    let record = newStopGuard('s');
    const opinions = Array.from({ length: 50 }, () => {
      const decision = decideStop(OWED, inChain(record, 'turn-1'), NOW);
      record = decision.record;
      return decision.opinion;
    });
    expect(opinions.slice(0, 4)).toEqual(['block', 'block', 'block', 'let_go']);
    expect(new Set(opinions.slice(4))).toEqual(new Set(['pass']));
    expect(record).toMatchObject({ blocks: STOP_BLOCKS, let_go_at: NOW });
  });

  test('another chain of turns restarts the count; the total continues', () => {
    let record = newStopGuard('s');
    for (const chain of ['a', 'a', 'a', 'b']) record = decideStop(OWED, inChain(record, chain), NOW).record;
    expect(record).toMatchObject({ chain: 'b', blocks: 1 });
  });

  test('a session that owes nothing passes and is not counted', () => {
    expect(decideStop([], newStopGuard('s'), NOW)).toEqual({ opinion: 'pass', record: newStopGuard('s') });
  });
});

describe('each hold says what is owed and the exact call', () => {
  test('a report', () => {
    expect(reportReason([ping('Deploy failed')])).toBe(
      'You showed your human ping "Deploy failed" and have not reported it, so the session that you report to knows nothing about it. Before you stop, call hivemind_report_updates {"message": "what you found and did, and what is still open"}. Then stop.',
    );
    expect(reportReason([])).toContain('asks for a report each turn. Call hivemind_report_updates {');
  });

  test('urgent mentions', () => {
    expect(mentionsReason('Human mentioned you', ['men-1'])).toContain(
      'call hivemind_process_mentions {"mention_ids": ["men-1"]}. Then stop.',
    );
  });

  test('answers, without a word of them', () => {
    const asked = (ask_id: string): Prompt => newPrompt({ question: 'Which?' }, ASKER, ask_id, NOW);
    const respond = (prompt: Prompt): Prompt => respondPrompt(prompt, answer({ decision: 'blue' })).prompt;
    const answered = respond(asked('ask-1'));
    const late = respond(expirePrompt(asked('ask-2'), NOW));
    const expired = expirePrompt(asked('ask-3'), NOW);
    const fetch = 'call hivemind_poll {"ask_id": "ask-1"}. Act on the result, then stop.';
    expect(answersReason([answered])).toBe(`An answer is waiting: ${fetch}`);
    expect(answersReason([late])).toContain('An answer is waiting: call hivemind_poll {"ask_id": "ask-2"}');
    expect(answersReason([expired])).toContain(
      'settled without an answer: call hivemind_poll {"ask_id": "ask-3"}',
    );
    expect(answersReason([answered, expired])).toBe(
      'Answers are waiting: call hivemind_poll {}. Act on the result, then stop.',
    );
  });

  test('several in one block', () => {
    const both: Owed[] = [
      { hold: 'answers', text: 'An answer.', undone: '' },
      { hold: 'report', text: 'A report.', undone: '' },
    ];
    expect(decideStop(both, newStopGuard('s'), NOW)).toMatchObject({ reason: 'An answer.\n\nA report.' });
  });
});

describe('the notice', () => {
  const who = { handle: 'Claude-abc12', title: 'Claude-abc12', source: 'bg' as const, project: 'shop' };

  test('names the session and what was not reported', () => {
    expect(unreportedNotice(who, [ping('one'), ping('two', 2)], 'stopped')).toBe(
      '[bg] Claude-abc12 (shop) stopped with unreported output although it was held 3 times: ping "one" and ping "two".',
    );
    expect(unreportedNotice(who, [ping('one')], 'ended')).toBe(
      '[bg] Claude-abc12 (shop) ended with unreported output: ping "one".',
    );
    expect(unreportedNotice(who, [], 'stopped')).toContain('without the required report');
  });

  test('names five at most', () => {
    const items = Array.from({ length: 8 }, (_, n) => ping(`p${n}`, n));
    expect(unreportedNotice(who, items, 'ended')).toContain('ping "p4" and 3 more');
  });
});
