/** The checker of `npm run chaos`: it accepts a correct history, and each check finds the error it looks for. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkAll, idle } from '../chaos/checker.ts';
import type { Evidence, Fact, StoredRow } from '../chaos/facts.ts';
import { lost } from '../chaos/failures.ts';
import { openHistory } from '../chaos/history.ts';
import type { Installation } from '../chaos/installation.ts';
import { follower } from '../chaos/workers/follower.ts';
import type { World } from '../chaos/world.ts';
import { tempFolder } from '../support/temp.ts';
import { story } from './chaos-story.ts';

type Story = ReturnType<typeof story>;

/** The verdict of the checks on a changed history: the names of those that it breaks, with the reasons. */
function broken(spoil: (told: Story) => void = () => undefined): Map<string, string[]> {
  const told = story();
  spoil(told);
  const logs = Object.entries(told.facts).map(([worker, facts]) => ({ worker, facts }));
  const checked = checkAll({ logs, store: told.store as Evidence['store'] });
  return new Map(checked.filter((one) => one.violations.length > 0).map((one) => [one.name, one.violations]));
}

function row(rows: readonly StoredRow[], index: number): Record<string, unknown> {
  return rows[index] as Record<string, unknown>;
}

/** The facts of one kind that a worker knows, to be changed. */
function known<Did extends Fact['did']>(facts: Fact[] | undefined, did: Did): Extract<Fact, { did: Did }>[] {
  return (facts ?? []).filter((fact): fact is Extract<Fact, { did: Did }> => fact.did === did);
}

function drop<T>(from: T[] | undefined, which: (one: T) => boolean): void {
  from?.splice(from.findIndex(which), 1);
}

test('a correct run breaks nothing, and every check except that of failures has compared something', () => {
  expect([...broken()]).toEqual([]);
  const told = story();
  const logs = Object.entries(told.facts).map(([worker, facts]) => ({ worker, facts }));
  const unused = checkAll({ logs, store: told.store as Evidence['store'] }).filter(
    (one) => one.looked_at === 0,
  );
  expect(unused.map(({ name }) => name)).toEqual(['no self-approval', 'failures']);
});

test('a worker that could not finish is named beside what was lost', () => {
  const told = story();
  const logs = Object.entries(told.facts).map(([worker, facts]) => ({ worker, facts }));
  const [key] = known(told.facts['agent'], 'asked').map((fact) => fact.key);
  drop(told.store.prompts as StoredRow[], (prompt) => prompt['idempotency_key'] === key);
  const stuck = ['agent could not finish: The prompt ask-1 is damaged.'];
  const [{ violations } = { violations: [] }] = checkAll({
    logs,
    store: told.store as Evidence['store'],
    stuck,
  });
  expect(violations).toContain(stuck[0]);
  expect(violations.join()).toContain(`"${key}" was acknowledged as`);
});

describe('a check that had nothing to check is named', () => {
  const unchecked = (spoil: (told: Story) => void, without?: readonly string[]): string[] => {
    const told = story();
    spoil(told);
    const logs = Object.entries(told.facts).map(([worker, facts]) => ({ worker, facts }));
    return idle(checkAll({ logs, store: told.store as Evidence['store'] }), without);
  };
  const noHooks = ({ facts }: Story): void => drop(facts['agent'], (fact) => fact.did === 'hooked');

  test('where no tool call was held', () => {
    expect(unchecked(noHooks)).toEqual(['no self-approval', 'guards']);
  });

  test('but not where another leg of the run had something', () => {
    const told = story();
    const logs = Object.entries(told.facts).map(([worker, facts]) => ({ worker, facts }));
    const store = told.store as Evidence['store'];
    expect(idle([...checkAll({ logs: [], store }), ...checkAll({ logs, store })])).toEqual([
      'no self-approval',
    ]);
  });

  test('but not where the run has no worker for it, and not that of failures', () => {
    expect(unchecked(noHooks, ['guards'])).toEqual(['no self-approval']);
  });
});

test('a follower of a run that was ended by an error leaves no error of its own behind', async () => {
  const folder = tempFolder();
  let starts = 0;
  const installation = {
    logs: folder,
    async start() {
      starts += 1;
      throw lost('the run is over');
    },
  } as unknown as Installation;
  const history = openHistory(join(folder, 'history.jsonl'));
  const world: World = { installation, seed: 1, history, handles: new Set(), asks: [], working: false };
  // Vitest fails a file with an unhandled rejection.
  await follower(world, 'follower').work();
  expect(starts).toBe(1);
});

const cases: readonly (readonly [check: string, what: string, spoil: (told: Story) => void])[] = [
  ['acknowledged', 'a question is lost', ({ store }) => store.prompts.shift()],
  [
    'acknowledged',
    'a question is there twice',
    ({ store }) => store.prompts.push({ ...row(store.prompts, 1), ask_id: 'ask-3', idempotency_key: null }),
  ],
  ['acknowledged', 'an answer is lost', ({ store }) => store.responses.pop()],
  ['acknowledged', 'a message is lost', ({ store }) => store.messages.pop()],
  [
    'acknowledged',
    'a message is there twice',
    ({ store }) => store.messages.push({ ...row(store.messages, 0), message_id: 'msg-2' }),
  ],
  [
    'acknowledged',
    'a mention is unprocessed again',
    ({ store }) => Object.assign(row(store.mentions, 0), { status: 'unprocessed' }),
  ],
  [
    'acknowledged',
    'a stopped turn runs',
    ({ facts }) =>
      facts['desk']?.push({
        did: 'interrupted',
        turn_id: 'turn-1',
        outcome: 'aborted',
        abort_reason: 'interrupted',
      }),
  ],
  [
    'acknowledged',
    'an answer that nobody gave is stored',
    ({ facts }) => drop(facts['desk'], (fact) => fact.did === 'tried'),
  ],
  [
    'acknowledged',
    'the file is damaged',
    ({ store }) => Object.assign(store, { integrity: 'row 3 missing from index' }),
  ],
  [
    'one winner',
    'two were told that they won',
    ({ facts }) => Object.assign(known(facts['desk'], 'answered')[1] ?? {}, { accepted: true }),
  ],
  [
    'one winner',
    'two answers are accepted',
    ({ store }) => Object.assign(row(store.responses, 1), { outcome: 'accepted' }),
  ],
  [
    'one winner',
    'a prompt is settled twice',
    ({ store }) => Object.assign(row(store.events, 3), { type: 'prompt/responded' }),
  ],
  [
    'one winner',
    "the loser's answer stands",
    ({ store }) => Object.assign(row(store.prompts, 0), { decision: 'answer 2' }),
  ],
  [
    'silence',
    'what expired is decided',
    ({ store }) => Object.assign(row(store.prompts, 1), { decision: 'yes' }),
  ],
  [
    'silence',
    'the asker was told a decision of what expired',
    ({ facts }) => Object.assign(known(facts['agent'], 'told')[1] ?? {}, { decision: 'yes' }),
  ],
  [
    'late answers',
    'a late answer is gone',
    ({ store }) => Object.assign(row(store.prompts, 1), { late_response: null }),
  ],
  ['receipts', 'an answer was read before it was handed', ({ store }) => swapTypes(store.events, 4, 5)],
  [
    'receipts',
    'a receipt has another time than its event',
    ({ store }) => Object.assign(row(store.prompts, 0), { handed_at: '2026-01-11T09:00:00.000Z' }),
  ],
  [
    'receipts',
    'an answer is amended after it was handed',
    ({ store }) => Object.assign(row(store.events, 5), { type: 'prompt/amended' }),
  ],
  [
    'delivery',
    'the asker never heard of the answer',
    ({ facts }) => drop(facts['agent'], (fact) => fact.did === 'told'),
  ],
  [
    'delivery',
    'the asker was told another answer',
    ({ facts }) => Object.assign(known(facts['agent'], 'told')[0] ?? {}, { text: 'answer 2' }),
  ],
  [
    'delivery',
    'the asker never heard of the late answer',
    ({ facts }) => Object.assign(known(facts['agent'], 'told')[1] ?? {}, { text: '' }),
  ],
  ['provenance', 'nobody answered', ({ store }) => Object.assign(row(store.prompts, 0), { by: null })],
  [
    'provenance',
    'an answer came from nowhere',
    ({ store }) => Object.assign(row(store.responses, 0), { via: null }),
  ],
  [
    'no self-approval',
    'an agent answered itself',
    ({ store }) => Object.assign(row(store.responses, 0), { via: 'mcp', by: 'Agent-first' }),
  ],
  [
    'no self-approval',
    'an agent answered a permission',
    ({ store }) => {
      Object.assign(row(store.responses, 0), { via: 'mcp', by: 'Agent-other' });
      Object.assign(row(store.prompts, 0), { kind: 'permission' });
    },
  ],
  [
    'feeds',
    'a follower missed an event',
    ({ facts }) => drop(facts['follower'], (fact) => fact.did === 'saw' && fact.seq === 4),
  ],
  [
    'feeds',
    'a follower saw an event twice',
    ({ facts }) => facts['follower']?.splice(3, 0, { did: 'saw', seq: 2 }),
  ],
  [
    'feeds',
    'the last event never came',
    ({ facts }) =>
      facts['follower']?.push({ did: 'failed', what: 'The event 9', code: 'unseen', message: 'Never.' }),
  ],
  ['feeds', 'a follower missed the last event', ({ facts }) => facts['follower']?.pop()],
  ['feeds', 'a desk was not told of a message', ({ facts }) => facts['desk']?.pop()],
  [
    'feeds',
    'a desk was told of a message twice',
    ({ facts }) => facts['desk']?.push({ did: 'heard', method: 'message/posted', id: 'msg-1', status: null }),
  ],
  [
    'feeds',
    'a desk was not told of a question',
    ({ facts }) => drop(facts['desk'], (fact) => fact.did === 'heard' && fact.id === 'ask-2'),
  ],
  [
    'guards',
    'the call that clears the gate was held',
    ({ facts }) =>
      Object.assign(known(facts['agent'], 'hooked')[0] ?? {}, {
        tool: 'mcp__hive__hivemind_process_mentions',
      }),
  ],
  [
    'guards',
    'a held call was not told why',
    ({ facts }) => Object.assign(known(facts['agent'], 'hooked')[0] ?? {}, { reason: 'No.' }),
  ],
  [
    'failures',
    'a call failed inside',
    ({ facts }) =>
      facts['agent']?.push({ did: 'failed', what: 'ask', code: 'internal', message: 'internal: …' }),
  ],
];

test.each(cases)('each check finds its own violation: %s: %s', (check, _what, spoil) => {
  const found = broken(spoil);
  expect([...found.keys()]).toContain(check);
  expect(found.get(check)?.[0]).toMatch(/\w/);
});

test('a desk that was killed is checked only up to that time; the next one begins again', () => {
  const found = broken(({ facts }) => {
    facts['desk']?.unshift({ did: 'opened', head_seq: 0 });
  });
  expect([...found]).toEqual([]);
});

function swapTypes(events: readonly StoredRow[], one: number, other: number): void {
  const [first, second] = [row(events, one), row(events, other)];
  [first['type'], second['type']] = [second['type'], first['type']];
}
