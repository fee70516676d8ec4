/** Prompts, answers and events for property tests: small, and with the odd characters that break parsers. */
import fc from 'fast-check';
import { handOver, receiptsOf } from '../../src/domain/delivery.ts';
import {
  type Asker,
  type AskRequest,
  amendPrompt,
  cancelPrompt,
  deliveryOf,
  expirePrompt,
  isExpired,
  type Prompt,
  type PromptAnswer,
  respondPrompt,
} from '../../src/domain/prompts.ts';
import { newPrompt } from '../support/new-prompt.ts';

export const ASKER: Asker = {
  session_id: 'session-1',
  agent: 'Claude-abc12',
  agent_title: null,
  source: 'main',
  project: 'demo',
  project_dir: '/demo/.git',
  turn_id: null,
};

/** The instant `ms` milliseconds after the tests' beginning of time. */
export function at(ms: number): string {
  return new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
}

export function prompt(request: Partial<AskRequest> = {}): Prompt {
  return newPrompt({ question: 'Go on?', ...request }, ASKER, 'ask-1', at(0));
}

export function answer(changes: Partial<PromptAnswer> = {}): PromptAnswer {
  return {
    decision: 'yes',
    selected: [],
    comment: null,
    by: 'ada',
    via: 'emacs',
    attested: true,
    response_id: 'response-1',
    responded_at: at(1_000),
    ...changes,
  };
}

/** Anything that can happen to a prompt, as data. */
export type Happening =
  | { what: 'respond'; answer: PromptAnswer }
  | { what: 'expire' }
  | { what: 'cancel'; by: string }
  | { what: 'amend'; answer: PromptAnswer }
  | { what: 'hand'; carrier: string }
  | { what: 'collect' };

const person = fc.constantFrom('ada', 'bob');
const given: fc.Arbitrary<PromptAnswer> = fc
  .record({ decision: fc.string({ minLength: 1 }), by: person, n: fc.nat(1_000_000) })
  .map(({ decision, by, n }) => answer({ decision, by, response_id: `response-${n}` }));

export const happening: fc.Arbitrary<Happening> = fc.oneof(
  given.map((value) => ({ what: 'respond' as const, answer: value })),
  fc.constant({ what: 'expire' as const }),
  person.map((by) => ({ what: 'cancel' as const, by })),
  given.map((value) => ({ what: 'amend' as const, answer: value })),
  fc.constantFrom('mcp:1', 'mcp:2').map((carrier) => ({ what: 'hand' as const, carrier })),
  fc.constant({ what: 'collect' as const }),
);

export const history: fc.Arbitrary<Happening[]> = fc.array(happening, { maxLength: 12 });

/** Lets one thing happen as the services do it: an amendment that is refused changes nothing. */
export function apply(before: Prompt, event: Happening, now: string): Prompt {
  switch (event.what) {
    case 'respond':
      return respondPrompt(before, { ...event.answer, responded_at: now }).prompt;
    case 'expire':
      return isExpired(before, now) ? expirePrompt(before, now) : before;
    case 'cancel':
      return cancelPrompt(before, { by: event.by, via: 'emacs', reason: 'human' }, now);
    case 'hand':
      return before.status === 'pending' || before.collected_at !== null
        ? before
        : { ...before, ...receiptsOf(handOver(deliveryOf(before), event.carrier, now)) };
    case 'collect':
      return before.handed_at === null ? before : { ...before, collected_at: before.collected_at ?? now };
    case 'amend':
      try {
        return amendPrompt(before, { ...event.answer, responded_at: now });
      } catch {
        return before;
      }
  }
}

/** Every state on the way through a history, the first included; one second passes with each event. */
export function statesOf(first: Prompt, events: readonly Happening[]): Prompt[] {
  const states = [first];
  for (const event of events) states.push(apply(states.at(-1) ?? first, event, at(states.length * 1_000)));
  return states;
}
