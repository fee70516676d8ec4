/** Several humans on an engine: names and teams, claims that lapse, questions that are escalated to everybody. */
import { expect, onTestFinished, test } from 'vitest';
import type { OpenDesk } from '../../src/application/desks.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { beginTurn, INTERRUPTED } from '../support/interrupts.ts';
import { clockReaches, eventually } from '../support/wait.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

async function sit(hive: OpenedHive, human: string): Promise<OpenDesk> {
  const desk = await hive.desks.open({ seat: `${human}@home`, human, pid: process.pid, client: 'test' });
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await desk.close();
    open = false;
  };
  onTestFinished(close);
  return { ...desk, close };
}

async function typesOf(hive: OpenedHive, ask_id: string): Promise<string[]> {
  return (await hive.store.read((tx) => tx.events.of(ask_id, 100))).map((event) => event.type);
}

/** As if the desk's process had been killed long ago. */
function letLapse(hive: OpenedHive, { desk_id }: OpenDesk): Promise<void> {
  return hive.store.write((tx) => tx.desks.renew(desk_id, '2020-01-01T00:00:00.000Z'));
}

export function humansContract(engine: StoreEngine): void {
  test('only a human who has used a desk can be asked by name', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const desk = await sit(hive, 'Ada');
    await desk.close();
    expect(await ask(hive, { to: 'ADA' })).toMatchObject({ to: 'Ada', recipients: ['ada'] });
    await expect(ask(hive, { to: 'adda' })).rejects.toMatchObject({
      code: 'human_not_found',
      message: expect.stringContaining('"Ada"'),
    });
    await expect(ask(hive, { escalate_after_ms: 1_000 })).rejects.toMatchObject({ code: 'invalid_input' });
    expect((await hive.prompts.list({ limit: 9 })).items).toHaveLength(1);
  });

  test('a team is replaced and removed; what it was asked stays with its former members', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await hive.humans.setTeam({ name: 'Ops', members: ['ada'] });
    const { ask_id } = await ask(hive, { to: 'ops' });
    await hive.humans.setTeam({ name: 'OPS', members: ['bob'], escalate_after_ms: 5_000 });
    expect(await hive.humans.teams()).toMatchObject([
      { name: 'OPS', members: ['bob'], escalate_after_ms: 5_000 },
    ]);
    expect((await ask(hive, { to: 'ops', question: 'Later?' })).recipients).toEqual(['ops', 'bob']);
    await hive.humans.removeTeam('ops');
    await expect(hive.humans.removeTeam('ops')).rejects.toMatchObject({ code: 'human_not_found' });
    expect((await hive.prompts.get(ask_id)).recipients).toEqual(['ops', 'ada']);
  });

  test('a list shows what one human or team was asked', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await hive.humans.setTeam({ name: 'Ops', members: ['ada', 'b%b'] });
    await ask(hive, { question: 'All?' });
    await ask(hive, { question: 'Team?', to: 'ops' });
    await ask(hive, { question: 'One?', to: 'ada' });
    const shown = async (to: string): Promise<string[]> =>
      (await hive.prompts.list({ to, limit: 9 })).items.map(({ question }) => question).sort();
    expect(await shown('ADA')).toEqual(['One?', 'Team?']);
    expect(await shown('ops')).toEqual(['Team?']);
    expect(await shown('b%b')).toEqual(['Team?']);
    expect([await shown('%'), await shown('a')]).toEqual([[], []]);
  });

  test('the asker is told how many desks a question concerns', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await sit(hive, 'ada');
    await sit(hive, 'bob');
    const { session_id } = await ask(hive);
    const session = await hive.sessions.resolve(session_id);
    const online = async (to?: string): Promise<number> =>
      (await hive.prompts.ask({ question: 'Go on?', to }, session)).desks_online;
    expect([await online(), await online('bob')]).toEqual([2, 1]);
  });

  test('everybody is listed once, as here or away, with their teams', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await hive.humans.setTeam({ name: 'Ops', members: ['bob'] });
    const ada = await sit(hive, 'Ada Lovelace');
    await (await sit(hive, 'Bob')).close();
    await ada.setFocused(true);
    expect(await hive.humans.presence()).toMatchObject([
      { name: 'Ada Lovelace', online: true, focused: true, teams: [] },
      { name: 'Bob', online: false, focused: false, teams: ['Ops'] },
    ]);
  });

  test('of many who claim a prompt at once one gets it, and the others see who', async () => {
    const [one, other] = await openTwo(engine);
    const { ask_id } = await ask(one);
    const names = ['ada', 'bob', 'cid', 'dan', 'eve', 'fay'];
    const desks = await Promise.all(names.map((name, n) => sit(n % 2 === 0 ? one : other, name)));
    const claims = await Promise.all(
      desks.map(({ desk_id }, n) =>
        (n % 2 === 0 ? one : other).claims.claim(ask_id, { by: names[n] ?? '', desk_id }),
      ),
    );
    expect(claims.filter(({ accepted }) => accepted)).toHaveLength(1);
    const winner = names[claims.findIndex(({ accepted }) => accepted)];
    expect(new Set(claims.map(({ prompt }) => prompt.claimed_by))).toEqual(new Set([winner]));
    expect((await typesOf(one, ask_id)).filter((type) => type === 'prompt/claimed')).toHaveLength(1);
  });

  test('a claim prevents nobody from answering, and ends with the answer', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const ada = await sit(hive, 'ada');
    const { ask_id } = await ask(hive);
    await hive.claims.claim(ask_id, { by: 'ada', desk_id: ada.desk_id });
    const { outcome } = await hive.prompts.respond({
      ask_id,
      decision: 'yes',
      actor: { ...HUMAN, by: 'bob' },
    });
    expect(outcome).toBe('accepted');
    expect(await hive.store.read((tx) => tx.claims.ofDesk(ada.desk_id))).toEqual([]);
    expect(await hive.claims.claim(ask_id, { by: 'ada', desk_id: ada.desk_id })).toMatchObject({
      accepted: false,
    });
    expect(await hive.store.read((tx) => tx.claims.lapses.next())).toBeNull();
  });

  test('a claim ends when its prompt is cancelled with its turn, and is not released later', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const ada = await sit(hive, 'ada');
    const turn = await beginTurn(hive);
    const { ask_id } = await ask(hive);
    await hive.claims.claim(ask_id, { by: 'ada', desk_id: ada.desk_id });
    await hive.turns.end(turn.turn_id, INTERRUPTED);
    expect(await hive.store.read((tx) => tx.claims.ofDesk(ada.desk_id))).toEqual([]);
    expect(await hive.store.read((tx) => tx.claims.lapses.next())).toBeNull();
    await ada.close();
    expect(await hive.claims.releaseLapsed()).toBe(0);
    expect(await typesOf(hive, ask_id)).toEqual(['prompt/created', 'prompt/claimed', 'prompt/cancelled']);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', claimed_by: 'ada' });
  });

  test('a claim is released by its owner, and by a desk that closes', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [ada, bob] = [await sit(hive, 'ada'), await sit(hive, 'bob')];
    const { ask_id } = await ask(hive);
    await hive.claims.claim(ask_id, { by: 'ada', desk_id: ada.desk_id });
    expect((await hive.claims.release(ask_id, bob.desk_id)).released).toBe(false);
    expect((await hive.claims.release(ask_id, ada.desk_id)).released).toBe(true);
    expect((await hive.claims.claim(ask_id, { by: 'bob', desk_id: bob.desk_id })).accepted).toBe(true);
    await bob.close();
    expect(await hive.prompts.get(ask_id)).toMatchObject({ claimed_by: null, claimed_at: null });
  });

  test('one human moves a claim to another desk of theirs', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [home, work] = [await sit(hive, 'ada'), await sit(hive, 'ada')];
    const { ask_id } = await ask(hive);
    for (const { desk_id } of [home, work])
      expect((await hive.claims.claim(ask_id, { by: 'ada', desk_id })).accepted).toBe(true);
    await home.close();
    expect((await hive.prompts.get(ask_id)).claimed_by).toBe('ada');
  });

  test('the claim of a desk that is gone lapses: any live process records it', async () => {
    const [one, other] = await openTwo(engine);
    const ada = await sit(one, 'ada');
    const [held, next] = [await ask(one), await ask(one)];
    for (const { ask_id } of [held, next])
      await one.claims.claim(ask_id, { by: 'ada', desk_id: ada.desk_id });
    await letLapse(one, ada);
    const bob = await sit(other, 'bob');
    // Another desk can claim it before that is recorded.
    expect(await other.claims.claim(next.ask_id, { by: 'bob', desk_id: bob.desk_id })).toMatchObject({
      accepted: true,
    });
    other.startExpiry();
    await eventually(async () => (await one.prompts.get(held.ask_id)).claimed_by === null);
    expect((await one.prompts.get(next.ask_id)).claimed_by).toBe('bob');
    expect(await typesOf(one, held.ask_id)).toEqual(['prompt/created', 'prompt/claimed', 'prompt/released']);
  });

  test('a question is escalated to everybody at its time, once, while any process lives', async () => {
    const [one, other] = await openTwo(engine);
    await sit(one, 'ada');
    for (const hive of [one, other]) hive.startExpiry();
    const { ask_id, escalates_at } = await ask(one, { to: 'ada', escalate_after_ms: 1_000 });
    // Read from the store itself: a read through the service would record it.
    const stored = async (): Promise<string | null> =>
      (await one.store.read((tx) => tx.prompts.get(ask_id)))?.escalated_at ?? null;
    await eventually(async () => (await stored()) !== null);
    expect(String(await stored()) >= String(escalates_at)).toBe(true);
    await Promise.all([one.prompts.escalateDue(), other.prompts.escalateDue()]);
    expect((await typesOf(one, ask_id)).filter((type) => type === 'prompt/escalated')).toHaveLength(1);
  });

  test('a question that is due to be escalated is escalated as soon as anybody reads it', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await sit(hive, 'ada');
    const { ask_id, escalates_at } = await ask(hive, { to: 'ada', escalate_after_ms: 1_000 });
    expect((await hive.prompts.get(ask_id)).escalated_at).toBeNull();
    await clockReaches(escalates_at);
    expect((await hive.prompts.get(ask_id)).escalated_at).toEqual(expect.any(String));
  });

  test('a question that is answered in time is not escalated', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await sit(hive, 'ada');
    const { ask_id, escalates_at } = await ask(hive, { to: 'ada', escalate_after_ms: 1_000 });
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect(await hive.store.read((tx) => tx.prompts.escalations.next())).toBeNull();
    await clockReaches(escalates_at);
    expect(await hive.prompts.escalateDue()).toBe(0);
    expect((await hive.prompts.get(ask_id)).escalated_at).toBeNull();
  });
}
