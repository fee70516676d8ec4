/** Settings of a session: who sets them, and which an agent may set for itself. */
import { describe, expect, test } from 'vitest';
import type { AgentActor } from '../../src/domain/actors.ts';
import type { Session, SessionChanges } from '../../src/domain/sessions.ts';
import { timeAfter } from '../../src/domain/times.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { eventsOf, HUMAN, openTestHive } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';
import type { StoreEngine } from './store-contract.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

const agent = ({ session_id, handle }: Session): AgentActor => ({
  kind: 'agent',
  by: handle,
  via: 'cli',
  session_id,
  ancestors: [],
});

export function sessionSettingsContract(engine: StoreEngine): void {
  const open = async (): Promise<OpenedHive> => openTestHive(await engine.freshAddress());

  test('every change is in the event log, with who made it and through what', async () => {
    const hive = await open();
    const bob = await join(hive, 'bob', { name: 'bob' });
    await hive.sessions.configure('bob', { gate: 'remind', source: undefined }, HUMAN);
    await hive.sessions.configure('bob', { roles: ['reviewer', 'reviewer'] }, agent(bob));
    expect(await hive.sessions.resolve('bob')).toMatchObject({ gate: 'remind', roles: ['reviewer'] });
    const changes = (await eventsOf(hive, 'session/changed')).map(({ data }) => data);
    expect(changes).toMatchObject([
      { set: { gate: 'remind' }, by: 'ada', via: 'emacs', by_kind: 'human' },
      { set: { roles: ['reviewer', 'reviewer'] }, by: 'bob', via: 'cli', by_kind: 'agent' },
    ]);
    expect(Object.keys(changes[0]?.['set'] as object)).toEqual(['gate']);
  });

  describe('an agent', () => {
    test('sets its own mentions and roles, but nothing that holds or rations it, and nothing of others', async () => {
      const hive = await open();
      const bob = await join(hive, 'bob', { name: 'bob' });
      const amy = await join(hive, 'amy', { name: 'amy' });
      const set = (session: string, changes: SessionChanges): Promise<Session> =>
        hive.sessions.configure(session, changes, agent(bob));
      await set('bob', { shared: false, roles: ['tester'], room: 'text' });
      await set('bob', { shared: true });
      for (const changes of [
        { gate: 'off' },
        { gate: null },
        { source: 'main' },
        { allow_ping: true },
        { report_policy: 'freely' },
        { shared: false, gate: 'off' },
      ] satisfies SessionChanges[]) {
        await expect(set('bob', changes)).rejects.toMatchObject({ code: 'not_allowed' });
      }
      await expect(set('amy', { shared: false })).rejects.toThrow('amy is another session');
      await expect(set('bob', { roles: ['Amy'] })).rejects.toThrow('is the handle of another session');
      expect(await hive.sessions.resolve('bob')).toMatchObject({
        shared: true,
        roles: ['tester'],
        room: 'text',
        gate: null,
      });
      expect(await hive.sessions.resolve('amy')).toEqual(amy);
    });

    test('cannot change what a human has set, also after it continued under another id', async () => {
      const hive = await open();
      const bob = await join(hive, 'bob', { name: 'bob' });
      await hive.sessions.configure('bob', { shared: false }, HUMAN);
      const heir = await join(hive, 'heir');
      await hive.store.write((tx) =>
        tx.sessions.upsert({ ...heir, shared: false, continues: bob.session_id }),
      );
      for (const one of [bob, heir]) {
        const change = hive.sessions.configure(one.session_id, { shared: true }, agent(one));
        await expect(change).rejects.toThrow('ada has set "shared" for you');
        await hive.sessions.configure(one.session_id, { roles: ['tester'] }, agent(one));
      }
      await hive.sessions.configure('bob', { shared: true }, HUMAN);
      expect((await hive.sessions.resolve('bob')).shared).toBe(true);
    });

    test('that takes no mentions is mentioned by no other agent, but by a human who names it', async () => {
      const hive = await open();
      const bob = await join(hive, 'bob', { name: 'bob' });
      const amy = await join(hive, 'amy', { name: 'amy' });
      await hive.sessions.configure('bob', { shared: false }, agent(bob));
      expect((await post(hive, amy, '@bob')).unresolved).toMatchObject([{ reason: 'not_shared' }]);
      expect((await post(hive, 'human', '@bob stop')).mentions).toMatchObject([{ handle: 'bob' }]);
      const all = (await post(hive, 'human', '@All')).mentions;
      expect(all.map(({ handle }) => handle)).toEqual(['amy']);
    });
  });

  test('a role that no mention could reach is refused to everybody', async () => {
    const hive = await open();
    await join(hive, 'bob', { name: 'bob' });
    for (const role of ['two words', 'all', 'HUMAN', '-x', ''])
      await expect(hive.sessions.configure('bob', { roles: [role] }, HUMAN)).rejects.toMatchObject({
        code: 'invalid_input',
      });
  });

  test('an agent outgrows neither the sessions it descends from nor what its human has set, however many it makes', async () => {
    const hive = await open();
    const ids = Array.from({ length: 70 }, (_, n) => `session-${n}`);
    for (const [n, session_id] of ids.entries()) {
      await join(hive, session_id, { parent_session_id: ids[n - 1] ?? null });
      await hive.store.write(async (tx) => {
        const session = await tx.sessions.get(session_id);
        if (session !== undefined) await tx.sessions.upsert({ ...session, continues: ids[n - 1] ?? null });
      });
    }
    await hive.sessions.configure('session-0', { roles: ['reviewer'] }, HUMAN);
    const last = await hive.sessions.actor({ session_id: 'session-69', handle: 'x' }, 'mcp');
    expect(last).toMatchObject({ ancestors: expect.arrayContaining(['session-0']) });
    await expect(hive.sessions.configure('session-69', { roles: ['boss'] }, last)).rejects.toThrow(
      /has set "roles" for you/,
    );
  });

  test('every session above one that stays is kept, however many generations are between them', async () => {
    const hive = await open();
    const ids = ['a', 'b', 'c', 'd', 'other'];
    for (const [n, session_id] of ids.entries())
      await join(hive, session_id, {
        parent_session_id: n === 0 || session_id === 'other' ? null : (ids[n - 1] ?? null),
      });
    const end = (...gone: string[]): Promise<void> =>
      hive.store.write(async (tx) => {
        for (const session_id of gone) {
          const session = await tx.sessions.get(session_id);
          const ended_at = timeAfter(tx.now, -100 * DAY_MS);
          if (session !== undefined) await tx.sessions.upsert({ ...session, state: 'ended', ended_at });
        }
      });
    const ancestors = async (): Promise<readonly string[] | undefined> => {
      const actor = await hive.sessions.actor({ session_id: 'd', handle: 'd' }, 'mcp');
      return actor.kind === 'agent' ? actor.ancestors : undefined;
    };
    await end('b', 'c', 'other');
    expect(await hive.retention.preview(90)).toMatchObject({ sessions: 1 });
    expect(await hive.retention.sweep(90)).toMatchObject({ sessions: 1 });
    expect(await ancestors()).toEqual(['c', 'b', 'a']);
    expect(await hive.sessions.find('other')).toBeUndefined();
    await end('d');
    await hive.retention.sweep(90);
    for (const session_id of ['b', 'c', 'd']) expect(await hive.sessions.find(session_id)).toBeUndefined();
    expect(await hive.sessions.find('a')).toBeDefined();
  });
}
