/** Several humans: whom a prompt concerns, when it concerns everybody, and who has claimed it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import {
  addressOf,
  concerns,
  createTeam,
  escalatePrompt,
  foldName,
  isEscalationDue,
  namesOf,
  nobodyCalled,
  type Team,
} from '../../src/domain/humans.ts';
import {
  cancelPrompt,
  claimPrompt,
  type Prompt,
  releasePrompt,
  respondPrompt,
} from '../../src/domain/prompts.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { ASKER, answer, at } from './prompt-arbitraries.ts';

const OPS: Team = createTeam({ name: 'Ops', members: ['Bob', 'eve'], escalate_after_ms: 60_000 }, at(0));
const NOBODY = { human: undefined, team: undefined };

function addressed(
  to: string,
  escalate_after_ms?: number,
  known: Parameters<typeof addressOf>[2] = NOBODY,
): Prompt {
  const request = { question: 'Go on?', to };
  return newPrompt(request, ASKER, 'ask-1', at(0), addressOf(to, escalate_after_ms, known, at(0)));
}
const everybodys = newPrompt({ question: 'Go on?' }, ASKER, 'ask-1', at(0));
const desk = (human: string, login = human): string[] => namesOf({ human, seat: `${login}@box` });

const name = fc.constantFrom('ada', 'Ada', 'BOB', 'bob ', 'Eve', 'Zoë', 'Zoë'.normalize('NFD'), 'straße');

describe('a name', () => {
  test('is the same whatever its case, its composition and the space in it', () => {
    expect(foldName(' Zoë  Müller'.normalize('NFD'))).toBe(foldName('zoë müller'));
  });

  test('reaches a human by their name and by their login name', () => {
    const ada = desk('Ada Lovelace', 'ada');
    for (const to of ['ada', 'ADA LOVELACE']) expect(concerns(addressed(to), ada, at(0)), to).toBe(true);
    expect(concerns(addressed('lovelace'), ada, at(0))).toBe(false);
  });

  test('that nobody has is refused with similar ones', () => {
    const refusal = nobodyCalled('adda', ['ada', 'bob']);
    expect(refusal).toBeInstanceOf(HiveError);
    expect(refusal.code).toBe('human_not_found');
    expect(refusal.message).toMatch(/Did you mean "ada"\?/);
    expect(nobodyCalled('someone', ['ada', 'bob']).message).toMatch(/There are "ada", "bob"/);
  });
});

describe('a prompt', () => {
  test('without an address concerns everybody', () => {
    fc.assert(fc.property(name, (human) => concerns(everybodys, desk(human), at(0))));
  });

  test('for one human concerns them and nobody else, until it is escalated', () => {
    fc.assert(
      fc.property(name, name, fc.nat(120_000), (to, human, when) => {
        const prompt = addressed(to, 60_000);
        const reaches = foldName(to) === foldName(human);
        expect(concerns(prompt, desk(human), at(when))).toBe(reaches || when >= 60_000);
      }),
    );
  });

  test('for a team concerns its members', () => {
    const prompt = addressed('OPS', undefined, { human: undefined, team: OPS });
    expect(prompt.to).toBe('Ops');
    expect(['bob', 'Eve', 'ada'].map((human) => concerns(prompt, desk(human), at(0)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('for a name that is a human and a team reaches both', () => {
    const human = { folded: 'ops', name: 'ops', seen_at: at(0) };
    const prompt = addressed('ops', undefined, { human, team: OPS });
    for (const one of ['ops', 'bob']) expect(concerns(prompt, desk(one), at(0)), one).toBe(true);
  });

  test("is escalated at the asker's time, else at the team's, else never", () => {
    const known = { human: undefined, team: OPS };
    expect(addressed('ops', 5_000, known).escalates_at).toBe(at(5_000));
    expect(addressed('ops', undefined, known).escalates_at).toBe(at(60_000));
    expect(addressed('ada').escalates_at).toBeNull();
  });

  test.each([[0], [999], [31 * 24 * 3_600_000], [Number.NaN]])(
    'is not escalated after %s ms',
    (escalate_after_ms) => {
      expect(() => addressed('ada', escalate_after_ms)).toThrow(/escalate_after_ms/);
      expect(() => createTeam({ name: 'x', members: ['y'], escalate_after_ms }, at(0))).toThrow(
        /escalate_after_ms/,
      );
    },
  );
});

describe('escalation', () => {
  test('happens once, at its time, to what is still pending', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.nat(3_000), (first, second) => {
        const prompt = addressed('ada', 1_000);
        const once = escalatePrompt(prompt, at(first));
        expect(once.escalated_at).toBe(first >= 1_000 ? at(first) : null);
        const twice = escalatePrompt(once, at(first + second));
        if (once.escalated_at !== null) expect(twice).toBe(once);
      }),
    );
  });

  test('does not change a settled prompt', () => {
    const prompt = addressed('ada', 1_000);
    const cancelled = cancelPrompt(prompt, { by: 'ada', via: 'emacs', reason: 'human' }, at(1));
    for (const settled of [respondPrompt(prompt, answer()).prompt, cancelled]) {
      expect(isEscalationDue(settled, at(2_000))).toBe(false);
      expect(escalatePrompt(settled, at(2_000))).toBe(settled);
    }
  });

  test('changes neither the status nor what was asked', () => {
    const prompt = addressed('ada', 1_000);
    expect({ ...escalatePrompt(prompt, at(1_000)), escalated_at: null }).toEqual(prompt);
  });
});

describe('a claim', () => {
  const claimer = fc.constantFrom('ada', 'bob', 'eve');
  const holder = fc.constantFrom(null, 'desk-1');

  test('belongs to the first one as long as their desk lives', () => {
    fc.assert(
      fc.property(claimer, claimer, holder, (first, second, living) => {
        const claimed = claimPrompt(everybodys, first, null, at(1));
        expect(claimed.claimed_by).toBe(first);
        const after = claimPrompt(claimed, second, living, at(2));
        expect(after.claimed_by).toBe(living === null ? second : first);
      }),
    );
  });

  test('is made again only for a note that was added since', () => {
    const claimed = claimPrompt(everybodys, 'ada', null, at(1));
    expect(claimPrompt(claimed, 'ada', 'desk-1', at(3))).toBe(claimed);
    const noted = { ...claimed, notes: [{ text: 'Cheaper.', at: at(2) }] };
    const again = claimPrompt(noted, 'ada', 'desk-1', at(3));
    expect(again.claimed_at).toBe(at(3));
    expect(claimPrompt(again, 'ada', 'desk-1', at(4))).toBe(again);
    expect(claimPrompt(noted, 'bob', 'desk-1', at(3))).toBe(noted);
  });

  test('never prevents an answer from settling the prompt', () => {
    fc.assert(
      fc.property(claimer, claimer, (by, answers) => {
        const claimed = claimPrompt(everybodys, by, null, at(1));
        const { outcome, prompt } = respondPrompt(claimed, answer({ by: answers }));
        expect([outcome, prompt.by]).toEqual(['accepted', answers]);
      }),
    );
  });

  test('that is released leaves the prompt as it was', () => {
    expect(releasePrompt(claimPrompt(everybodys, 'ada', null, at(1)))).toEqual(everybodys);
    expect(releasePrompt(everybodys)).toBe(everybodys);
  });

  test('of a settled prompt changes nothing', () => {
    const settled = respondPrompt(claimPrompt(everybodys, 'ada', null, at(1)), answer()).prompt;
    expect(claimPrompt(settled, 'bob', null, at(2))).toBe(settled);
    expect(releasePrompt(settled)).toBe(settled);
  });
});

describe('a team', () => {
  test('has each member once', () => {
    expect(createTeam({ name: 'x', members: ['Ada', 'ada ', 'bob'] }, at(0)).members).toHaveLength(2);
  });

  test.each([
    ['no member', { name: 'x', members: [] }, /no member/],
    ['no name', { name: ' ', members: ['ada'] }, /name of the team is empty/],
    ['a member without a name', { name: 'x', members: ['​'] }, /name of a member is empty/],
    ['a name that is too long', { name: 'x'.repeat(101), members: ['ada'] }, /too long/],
    ['a name with an escape sequence', { name: '\u001b[2J', members: ['ada'] }, /control characters/],
  ])('with %s is refused', (_what, team, sentence) => {
    expect(() => createTeam(team, at(0))).toThrow(sentence);
  });
});
