/** One winner (invariant 2), idempotency, late answers and refusals: the prompts service on an engine. */
import { expect, test } from 'vitest';
import type { AnswerCommand } from '../../src/application/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { clockReaches, eventually, moment } from '../support/wait.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

function answerOf(ask_id: string, changes: Partial<AnswerCommand> = {}): AnswerCommand {
  return { ask_id, decision: 'yes', actor: HUMAN, ...changes };
}

async function typesOf(hive: OpenedHive, ask_id: string): Promise<string[]> {
  return (await hive.store.read((tx) => tx.events.of(ask_id, 100))).map((event) => event.type);
}

/** A prompt that is due, and whose expiry is not recorded yet. */
async function askExpired(hive: OpenedHive): Promise<string> {
  const { ask_id, expires_at } = await ask(hive, { timeout_ms: 1_000 });
  await clockReaches(expires_at);
  return ask_id;
}

export function winnersContract(engine: StoreEngine): void {
  test('a prompt leaves pending once, however many answer, cancel and let it expire at once', async () => {
    const [one, other] = await openTwo(engine);
    const asked = await Promise.all(Array.from({ length: 20 }, () => ask(one, { timeout_ms: 1_000 })));
    // Around the moment at which the time runs out, so that each of the three can win.
    const due = Date.parse(asked[0]?.expires_at ?? '');
    await eventually(() => Date.now() >= due - 10);
    await Promise.all(
      asked.flatMap(({ ask_id }, n) => [
        moment(n).then(() => one.prompts.respond(answerOf(ask_id, { decision: 'one' }))),
        moment(n).then(() => other.prompts.respond(answerOf(ask_id, { decision: 'other' }))),
        moment(n).then(() => other.prompts.cancel(ask_id, HUMAN, 'human')),
        moment(n).then(() => one.prompts.expireDue()),
      ]),
    );
    const settling = ['prompt/responded', 'prompt/cancelled', 'prompt/expired'];
    for (const { ask_id } of asked) {
      const types = await typesOf(one, ask_id);
      expect(types.filter((type) => settling.includes(type))).toHaveLength(1);
      expect((await one.prompts.get(ask_id)).status).not.toBe('pending');
    }
  });

  test('the store itself settles a prompt once, and takes no answer after its time', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [prompt, short] = [await ask(hive), await ask(hive, { timeout_ms: 1_000 })];
    const after = new Date(Date.parse(short.expires_at ?? '') + 1).toISOString();
    await hive.store.write(async (tx) => {
      const { now, prompts } = tx;
      expect(await prompts.settle({ ...prompt, status: 'cancelled', settled_at: now }, now)).toBe(true);
      expect(await prompts.settle({ ...prompt, status: 'responded', settled_at: now }, now)).toBe(false);
      expect(await prompts.settle({ ...short, status: 'responded', settled_at: after }, after)).toBe(false);
      expect(await prompts.settle({ ...short, status: 'expired', settled_at: after }, after)).toBe(true);
    });
    expect((await hive.prompts.get(prompt.ask_id)).status).toBe('cancelled');
  });

  test('a loser is told who won, without an error', async () => {
    const [one, other] = await openTwo(engine);
    const { ask_id } = await ask(one);
    const results = await Promise.all([
      one.prompts.respond(answerOf(ask_id, { decision: 'left', actor: { ...HUMAN, by: 'ada' } })),
      other.prompts.respond(answerOf(ask_id, { decision: 'right', actor: { ...HUMAN, by: 'bob' } })),
    ]);
    expect(results.map((result) => result.outcome).sort()).toEqual(['accepted', 'lost']);
    expect(results[0]?.prompt.decision).toBe(results[1]?.prompt.decision);
    expect(await typesOf(one, ask_id)).toEqual([
      'prompt/created',
      'prompt/responded',
      'prompt/lost_response',
    ]);
  });

  test('cancelling a settled prompt is no error, and changes nothing', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    const { prompt } = await hive.prompts.respond(answerOf(ask_id));
    expect(await hive.prompts.cancel(ask_id, HUMAN, 'human')).toEqual({ accepted: false, prompt });
  });

  test('an answer after the time limit is late, even if the expiry was not recorded', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const ask_id = await askExpired(hive);
    const { outcome, prompt } = await hive.prompts.respond(answerOf(ask_id));
    expect(outcome).toBe('late');
    expect(prompt).toMatchObject({ status: 'expired', decision: null, late_response: { decision: 'yes' } });
    expect(await typesOf(hive, ask_id)).toEqual(['prompt/created', 'prompt/expired', 'prompt/late_response']);
  });

  test('the same response_id sent twice is one answer with one outcome', async () => {
    const [one, other] = await openTwo(engine);
    const { ask_id } = await ask(one);
    const sent = answerOf(ask_id, { response_id: 'r1' });
    const results = await Promise.all([one.prompts.respond(sent), other.prompts.respond(sent)]);
    expect(results.map((result) => result.outcome)).toEqual(['accepted', 'accepted']);
    expect(await typesOf(one, ask_id)).toEqual(['prompt/created', 'prompt/responded']);
  });

  test('a response_id keeps its first outcome: lost stays lost, late stays late', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    await hive.prompts.respond(answerOf(ask_id, { response_id: 'first' }));
    const loser = answerOf(ask_id, { response_id: 'second', decision: 'no' });
    await hive.prompts.respond(loser);
    expect((await hive.prompts.respond(loser)).outcome).toBe('lost');
    const late = answerOf(await askExpired(hive), { response_id: 'third' });
    await hive.prompts.respond(late);
    expect((await hive.prompts.respond(late)).outcome).toBe('late');
  });

  test('a response_id of another prompt is refused', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [first, second] = [await ask(hive), await ask(hive)];
    await hive.prompts.respond(answerOf(first.ask_id, { response_id: 'r1' }));
    for (const send of [hive.prompts.respond, hive.prompts.amend]) {
      await expect(send(answerOf(second.ask_id, { response_id: 'r1' }))).rejects.toMatchObject({
        code: 'invalid_input',
      });
    }
    expect((await hive.prompts.get(second.ask_id)).status).toBe('pending');
  });

  test('an amendment needs a response_id of its own, and sent twice is one', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    await hive.prompts.respond(answerOf(ask_id, { response_id: 'r1' }));
    const amendment = answerOf(ask_id, { decision: 'no', response_id: 'r1' });
    await expect(hive.prompts.amend(amendment)).rejects.toMatchObject({ code: 'invalid_input' });
    await hive.prompts.amend({ ...amendment, response_id: 'r2' });
    const again = await hive.prompts.amend({ ...amendment, response_id: 'r2' });
    expect(again).toMatchObject({ decision: 'no', amended: true });
    expect((await typesOf(hive, ask_id)).filter((type) => type === 'prompt/amended')).toHaveLength(1);
  });

  test('an answer or amendment written for another store is refused', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    const foreign = answerOf(ask_id, { store_id: 'store-elsewhere' });
    await expect(hive.prompts.respond(foreign)).rejects.toMatchObject({ code: 'wrong_store' });
    expect((await hive.prompts.respond(answerOf(ask_id, { store_id: hive.store_id }))).outcome).toBe(
      'accepted',
    );
    await expect(hive.prompts.amend(foreign)).rejects.toMatchObject({ code: 'wrong_store' });
  });

  test('the same idempotency_key of the same session is the same prompt, whatever its state', async () => {
    const [one, other] = await openTwo(engine);
    const keyed = { question: 'Once?', idempotency_key: 'key' };
    const session = await introduce(one);
    const asked = await Promise.all([
      one.prompts.ask(keyed, session),
      other.prompts.ask(keyed, session),
      one.prompts.ask(keyed, session),
    ]);
    expect(new Set(asked.map(({ prompt }) => prompt.ask_id)).size).toBe(1);
    expect(asked.filter(({ existing }) => !existing)).toHaveLength(1);
    await one.prompts.respond(answerOf(asked[0]?.prompt.ask_id ?? ''));
    expect(await other.prompts.ask(keyed, session)).toMatchObject({
      existing: true,
      prompt: { status: 'responded', decision: 'yes' },
    });
    await expect(one.prompts.ask({ ...keyed, question: 'Twice?' }, session)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    const elsewhere = await one.prompts.ask(keyed, await introduce(one, 'session-2'));
    expect(elsewhere.existing).toBe(false);
  });

  test('a key that a subagent and its parent have both used is still the key of both prompts after they have moved', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const keyed = (question: string) => ({ question, idempotency_key: 'which-db' });
    const parent = await introduce(hive, 'session-1');
    const [first, second] = [await introduce(hive, 'session-1:a1'), await introduce(hive, 'session-1:a2')];
    const ofSubagents = [
      await hive.prompts.ask(keyed('First?'), first),
      await hive.prompts.ask(keyed('Second?'), second),
    ];
    const own = await hive.prompts.ask(keyed('Parent?'), parent);
    for (const subagent of [first, second])
      await hive.store.write((tx) => tx.prompts.move(subagent.session_id, parent));
    for (const { prompt } of [own, ...ofSubagents])
      expect(await hive.prompts.ask(keyed(prompt.question), parent)).toMatchObject({
        existing: true,
        prompt: { ask_id: prompt.ask_id, session_id: parent.session_id },
      });
    await expect(hive.prompts.ask(keyed('Another?'), parent)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('what is not allowed changes nothing', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    const self = { kind: 'agent', by: 'me', via: 'mcp', session_id: 'session-1', ancestors: [] } as const;
    await expect(hive.prompts.respond(answerOf(ask_id, { actor: self }))).rejects.toMatchObject({
      code: 'not_allowed',
    });
    const stranger = { ...self, session_id: 'session-2' };
    await expect(hive.prompts.cancel(ask_id, stranger, 'withdrawn')).rejects.toMatchObject({
      code: 'not_allowed',
    });
    expect(await typesOf(hive, ask_id)).toEqual(['prompt/created']);
  });
}
