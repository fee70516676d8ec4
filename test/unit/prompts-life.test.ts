/** The states of a prompt as properties: every event in every state, in every order. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amendPrompt,
  cancelPrompt,
  expirePrompt,
  isExpired,
  leavePromptToHuman,
  type Prompt,
  respondPrompt,
} from '../../src/domain/prompts.ts';
import { answer, at, type Happening, history, prompt, statesOf } from './prompt-arbitraries.ts';

const asked = fc.constantFrom(prompt(), prompt({ timeout_ms: 3_000 }));

/** Checks every pair of neighbouring states in every history. */
function always(check: (before: Prompt, after: Prompt, event: Happening | undefined) => void): void {
  fc.assert(
    fc.property(asked, history, (first, events) => {
      const states = statesOf(first, events);
      for (const [index, event] of events.entries()) {
        const [before, after] = [states[index], states[index + 1]];
        if (before !== undefined && after !== undefined) check(before, after, event);
      }
    }),
    { numRuns: 500 },
  );
}

describe('a prompt', () => {
  test('leaves pending at most once: a settled status, its time and its reason never change', () => {
    always((before, after) => {
      if (before.status === 'pending') return;
      const settled = ({ status, settled_at, cancel_reason }: Prompt): unknown => [
        status,
        settled_at,
        cancel_reason,
      ];
      expect(settled(after)).toEqual(settled(before));
    });
  });

  test('changes its decision after it was answered only by an amendment', () => {
    always((before, after, event) => {
      if (before.status !== 'responded' || event?.what === 'amend') return;
      expect([after.decision, after.by, after.response_id]).toEqual([
        before.decision,
        before.by,
        before.response_id,
      ]);
    });
  });

  test('carries no decision when it expired or was cancelled', () => {
    always((_before, after) => {
      if (after.status === 'responded') return;
      expect([after.decision, after.selected, after.responded_at]).toEqual([null, [], null]);
    });
  });

  test('has a time of settlement exactly if it is settled', () => {
    always((_before, after) => expect(after.settled_at === null).toBe(after.status === 'pending'));
  });

  test('says who answered, through what and when, exactly if it was answered', () => {
    always((_before, { status, by, via, response_id, responded_at }) => {
      if (status === 'responded') {
        expect([by, via, response_id, responded_at]).not.toContain(null);
      } else {
        expect([response_id, responded_at]).toEqual([null, null]);
      }
    });
  });

  test('keeps what was asked whatever happens', () => {
    always((before, after) => {
      const ask = ({ ask_id, question, options, created_at, expires_at, session_id }: Prompt): unknown => [
        ask_id,
        question,
        options,
        created_at,
        expires_at,
        session_id,
      ];
      expect(ask(after)).toEqual(ask(before));
    });
  });

  test('keeps a late answer, and only one', () => {
    always((before, after, event) => {
      if (before.late_response === null || event?.what === 'amend') return;
      expect(after.late_response).toEqual(before.late_response);
    });
  });

  test('never has an answer and a late answer at once', () => {
    always((_before, after) => {
      if (after.status === 'responded') expect(after.late_response).toBeNull();
    });
  });

  test('is not amended once its answer has been handed over', () => {
    always((before, after, event) => {
      if (event?.what === 'amend' && before.handed_at !== null) expect(after).toEqual(before);
    });
  });

  test('is amended only by who answered it', () => {
    always((before, after, event) => {
      if (event?.what !== 'amend' || after === before) return;
      expect((before.status === 'responded' ? before : before.late_response)?.by).toBe(event.answer.by);
    });
  });

  test('is handed over before it counts as read', () => {
    always((_before, after) => {
      if (after.collected_at !== null) expect(after.handed_at).not.toBeNull();
    });
  });
});

describe('a prompt that coordinators leave to the human', () => {
  test('has each of them once', () => {
    const left = leavePromptToHuman(leavePromptToHuman(prompt(), 'one'), 'two');
    expect(left).toMatchObject({ status: 'pending', left_by: ['one', 'two'] });
    expect(leavePromptToHuman(left, 'one')).toBe(left);
  });

  test('does not change once it is settled', () => {
    const settled = respondPrompt(prompt(), answer()).prompt;
    expect(leavePromptToHuman(settled, 'one')).toBe(settled);
  });
});

describe('an answer', () => {
  test('to a pending prompt settles it', () => {
    const { outcome, prompt: after } = respondPrompt(prompt(), answer({ decision: 'no' }));
    expect(outcome).toBe('accepted');
    expect(after).toMatchObject({ status: 'responded', decision: 'no', by: 'ada', via: 'emacs' });
    expect(after.settled_at).toBe(after.responded_at);
  });

  test('to an answered prompt loses, and changes nothing', () => {
    const first = respondPrompt(prompt(), answer()).prompt;
    expect(respondPrompt(first, answer({ decision: 'no', by: 'bob' }))).toEqual({
      outcome: 'lost',
      prompt: first,
    });
  });

  test.each([
    ['expired', expirePrompt(prompt(), at(500))],
    ['cancelled', cancelPrompt(prompt(), { by: 'ada', via: 'emacs', reason: 'human' }, at(500))],
  ])('to an %s prompt is late: it is kept beside it, and delivered', (status, settled) => {
    const collected = { ...settled, handed_at: at(600), collected_at: at(700), carrier: 'mcp:1' };
    const { outcome, prompt: after } = respondPrompt(collected, answer({ decision: 'no' }));
    expect(outcome).toBe('late');
    expect(after).toMatchObject({ status, decision: null, late_response: { decision: 'no' } });
    expect([after.handed_at, after.collected_at, after.carrier]).toEqual([null, null, null]);
  });

  test('that comes late a second time loses', () => {
    const late = respondPrompt(expirePrompt(prompt(), at(500)), answer()).prompt;
    expect(respondPrompt(late, answer({ decision: 'no' }))).toEqual({ outcome: 'lost', prompt: late });
  });
});

describe('an amendment', () => {
  const answered = respondPrompt(prompt(), answer()).prompt;

  test('replaces the answer and says that it did', () => {
    const after = amendPrompt(answered, answer({ decision: 'no', response_id: 'response-2' }));
    expect(after).toMatchObject({ status: 'responded', decision: 'no', amended: true });
    expect(after.settled_at).toBe(answered.settled_at);
  });

  test('of a late answer leaves the status as it is', () => {
    const late = respondPrompt(expirePrompt(prompt(), at(500)), answer()).prompt;
    const after = amendPrompt(late, answer({ decision: 'no' }));
    expect(after).toMatchObject({ status: 'expired', decision: null, late_response: { decision: 'no' } });
  });

  test.each([
    ['nobody answered', prompt(), /is pending, not answered/],
    ['it was handed over', { ...answered, handed_at: at(2_000) }, /was handed to Claude-abc12/],
    ['another person answered', { ...answered, by: 'bob' }, /is bob's/],
  ])('is refused where %s, with the reason', (_why, before, sentence) => {
    expect(() => amendPrompt(before, answer())).toThrow(sentence);
  });
});

describe('time', () => {
  test('runs out at expires_at, not before', () => {
    const short = prompt({ timeout_ms: 1_000 });
    expect([isExpired(short, at(999)), isExpired(short, at(1_000))]).toEqual([false, true]);
  });

  test('never runs out without a limit', () => {
    expect(isExpired(prompt(), at(1e12))).toBe(false);
  });

  test('of a settled prompt means nothing', () => {
    const answered = respondPrompt(prompt({ timeout_ms: 1_000 }), answer()).prompt;
    expect(isExpired(answered, at(1e12))).toBe(false);
    expect(expirePrompt(answered, at(1e12))).toBe(answered);
  });
});
