/**
 * Several humans over real processes: each at a desk of their own, questions for one of them, and their claims.
 *
 * @module-tag provenance
 * @module-tag cli
 */
import { expect, test } from 'vitest';
import { startPopups } from '../../src/application/popups.ts';
import type { Notifier } from '../../src/application/world.ts';
import { userName } from '../../src/infrastructure/platform/paths.ts';
import { shell } from '../support/cli.ts';
import { ask, introduce, newHive, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { INITIALIZE, type Sidecar, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

async function sit(store: string, human: string): Promise<Sidecar> {
  const sidecar = await startSidecar(store, { handshake: false });
  sidecar.hello = await sidecar.request('initialize', { ...INITIALIZE, human });
  sidecar.notify('initialized', {});
  return sidecar;
}

test('the name of a desk is the one from Emacs, else HIVE_USER, else the login name', async () => {
  const store = tempStore();
  const { human: _, ...silent } = INITIALIZE;
  const names: string[] = [];
  for (const [env, hello] of [
    [{ HIVE_USER: 'Eve' }, INITIALIZE],
    [{ HIVE_USER: 'Eve' }, silent],
    [{}, silent],
  ] as const) {
    const sidecar = await startSidecar(store, { env, handshake: false });
    names.push((await sidecar.request('initialize', hello)).human);
    await sidecar.end();
  }
  expect(names).toEqual(['Ada', 'Eve', userName()]);
});

test('an agent asks one of two humans; the other sees it, is not offered it, and may still answer', async () => {
  const { store, hive } = await newHive();
  const [ada, bob] = [await sit(store, 'Ada'), await sit(store, 'Bob')];
  const agent = await connectMcp({ store });
  const status = await agent.call('hivemind_status', {});
  expect(status['humans']).toMatchObject([{ online: true }, { online: true }]);
  const asked = await agent.call('hivemind_ask_async', { question: 'Deploy?', to: 'bob', urgency: 'low' });
  expect(asked).toMatchObject({ to: 'Bob', desks_online: 1 });
  expect(asked).not.toHaveProperty('escalates_at');
  const ask_id = String(asked['ask_id']);
  for (const desk of [ada, bob])
    await desk.seen(({ method, params }) => method === 'hivemind-ask' && params.to === 'Bob');
  await eventually(async () => (await hive.prompts.get(ask_id)).offered_at !== null);

  expect(await bob.request('prompt/claim', { ask_id, by: 'Bob' })).toMatchObject({ accepted: true });
  await ada.seen(({ method, params }) => method === 'prompt/changed' && params.claimed_by === 'Bob');
  expect(await ada.request('prompt/claim', { ask_id, by: 'Ada' })).toMatchObject({
    accepted: false,
    claimed_by: 'Bob',
  });
  expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({
    status: 'pending',
    claimed_by: 'Bob',
    next: expect.stringContaining('Bob is answering it'),
  });

  // Bob's machine is gone; his desk closes with its process.
  await bob.child.kill('SIGTERM');
  await ada.seen(
    ({ method, params }) =>
      method === 'prompt/changed' && params.ask_id === ask_id && params.claimed_by === null,
  );
  const answer = { ask_id, decision: 'yes', by: 'Ada', response_id: 'response-1' };
  expect(await ada.request('hivemind-response', answer)).toMatchObject({ accepted: true });
});

test('a popup appears only at the desks of those it concerns, and everywhere once it is escalated', async () => {
  const hive = await openTestHive();
  hive.startExpiry();
  await introduce(hive);
  const shown: string[] = [];
  const notifierOf = (human: string): Notifier => ({
    reachable: async () => true,
    async show({ body }) {
      shown.push(`${human}: ${body}`);
      return { outcome: Promise.resolve({ kind: 'closed' }), close: () => undefined };
    },
    close: async () => undefined,
  });
  await hive.humans.setTeam({ name: 'ops', members: ['Bob'] });
  const stops: (() => Promise<void>)[] = [];
  for (const human of ['Ada', 'Bob']) {
    const seat = `${human.toLowerCase()}@home`;
    const desk = await hive.desks.open({ seat, human, pid: process.pid, client: 'test' });
    const stop = startPopups(
      { ...hive, notifier: notifierOf(human) },
      {
        seat,
        human,
        name: human,
        desk_id: desk.desk_id,
        open: null,
        answers: async () => undefined,
        cursor: 0,
      },
    );
    stops.push(stop, () => desk.close());
  }
  await ask(hive, { question: 'For all?' });
  await ask(hive, { question: 'For Ada?', to: 'ada' });
  await eventually(() => shown.length === 3);
  await ask(hive, { question: 'For ops?', to: 'ops', escalate_after_ms: 1_000 });
  await eventually(() => shown.length === 5);
  expect(shown.slice(0, 3).sort()).toEqual(['Ada: For Ada?', 'Ada: For all?', 'Bob: For all?']);
  expect(shown.slice(3)).toEqual(['Bob: For ops?', 'Ada: For ops?']);
  for (const stop of stops) await stop();
});

test('the command line: teams, questions to them, who is here', async () => {
  const store = tempStore();
  await sit(store, 'Ada');
  const person = shell(store);
  expect((await person.hive('team', 'list')).err).toMatch(/There are no teams/);
  expect((await person.hive('team', 'set', 'Ops', 'Ada', 'Bob', '--escalate-after', '10m')).out).toBe(
    'Ops: Ada, Bob, escalates to everybody after 10 min\n',
  );
  expect((await person.hive('team', 'list')).out).toMatch(
    /Ops +Ada, Bob +escalates to everybody after 10 min/,
  );
  expect(await person.hive('team', 'set', 'Ops', 'Ada', '--escalate-after', '31d')).toMatchObject({
    code: 2,
    err: 'hive: --escalate-after is 31d: give 1s to 30d. Nothing was changed.\n',
  });
  const asked = (await person.hive('ask', 'Deploy?', '--to', 'ops', '--json')).json();
  expect(asked).toMatchObject({ to: 'Ops', desks_online: 1 });
  expect(Date.parse(asked.escalates_at) - Date.parse(asked.created_at)).toBe(600_000);
  await person.hive('ask', 'Who?', '--to', 'ada');
  const { prompts } = (await person.hive('list', '--to', 'bob', '--json')).json();
  expect(prompts.map(({ ask_id }: { ask_id: string }) => ask_id)).toEqual([asked.ask_id]);
  expect((await person.hive('list')).out).toMatch(/FOR[\s\S]*Ops[\s\S]*Ada/);
  await person.hive('ask', 'Anybody?', '--to', 'ops', '--escalate-after', '1s');
  await eventually(async () => /Ops, now everybody .*Anybody/.test((await person.hive('list')).out));
  expect((await person.hive('status')).out).toMatch(/desk +Ada[\s\S]*team +Ops +Ada, Bob/);
  expect(await person.hive('team', 'remove', 'nobody')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no team "nobody"/),
  });
  expect(await person.as({ CLAUDECODE: '1' }).hive('team', 'set', 'Ops', 'Eve')).toMatchObject({
    code: 7,
    err: expect.stringMatching(/Only a human may change teams/),
  });
  expect((await person.hive('team', 'remove', 'OPS')).out).toBe('Removed OPS.\n');
  const answered = await person.as({ HIVE_USER: 'Eve' }).hive('respond', asked.ask_id, 'yes', '--json');
  expect(answered.json()).toMatchObject({ accepted: true, by: 'Eve' });
});
