/** Given names: the handle of a session whose person named it, and what its first letters find. */
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';
import type { StoreEngine } from './store-contract.ts';

const NAME = 'frontend-tests';

export function namesContract(engine: StoreEngine): void {
  const open = async (): Promise<OpenedHive> => openTestHive(await engine.freshAddress());
  const named = (hive: OpenedHive, session_id: string, name = NAME): Promise<Session> =>
    join(hive, session_id, { name });
  const end = (hive: OpenedHive, { session_id }: Session): Promise<void> =>
    hive.store.write(async (tx) => {
      const session = await tx.sessions.get(session_id);
      if (session !== undefined) await tx.sessions.upsert({ ...session, state: 'ended', ended_at: tx.now });
    });
  const handleOf = async (hive: OpenedHive, { session_id }: Session): Promise<string | undefined> =>
    (await hive.sessions.find(session_id))?.handle;

  describe('a given name', () => {
    test('is the whole handle; a second live session of that name gets a number, whatever its case', async () => {
      const hive = await open();
      expect((await named(hive, NAME)).handle).toBe(NAME);
      expect((await named(hive, 'abc12-session')).handle).toBe('frontend-tests-2');
      expect((await named(hive, 'def34-session', 'Frontend-Tests')).handle).toBe('Frontend-Tests-3');
      expect((await named(hive, 'frontend-worker', 'frontend-worker')).handle).toBe('frontend-worker');
    });

    test('of several processes is one session', async () => {
      const hive = await open();
      const asked = await ask(hive, {}, (await named(hive, NAME)).session_id);
      const polling = await named(hive, NAME);
      expect(polling.session_id).toBe(asked.session_id);
      expect(await hive.sessions.list()).toHaveLength(1);
    });

    test('passes from a session that has ended to the next; what the first wrote and asked stays with it', async () => {
      const hive = await open();
      const first = await named(hive, 'abc12-session');
      const asked = await ask(hive, {}, first.session_id);
      await end(hive, first);
      const second = await named(hive, 'def34-session');
      expect([second.handle, await handleOf(hive, first)]).toEqual([NAME, 'Claude-abc12']);
      const { mentions } = await post(hive, 'human', `@${NAME}, and @Claude-abc12`);
      expect(mentions.map(({ session_id }) => session_id)).toEqual([second.session_id]);
      await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'yes', actor: HUMAN });
      expect((await hive.prompts.get(asked.ask_id)).session_id).toBe(first.session_id);
    });

    test('that was passed on does not come back with a session that is resumed', async () => {
      const hive = await open();
      const first = await named(hive, 'abc12-session');
      await end(hive, first);
      const second = await named(hive, 'def34-session');
      expect((await named(hive, 'abc12-session')).handle).toBe('Claude-abc12');
      expect(await handleOf(hive, second)).toBe(NAME);
      await end(hive, first);
      await end(hive, second);
      expect((await named(hive, 'abc12-session')).handle).toBe(NAME);
    });

    test('never takes a handle that a client gave, whether that session lives or not', async () => {
      const hive = await open();
      const first = await join(hive, 'abc12-session');
      expect((await named(hive, 'x1', 'Claude-abc12')).handle).toBe('Claude-abc12-2');
      await end(hive, first);
      expect((await named(hive, 'x2', 'claude-ABC12')).handle).toBe('claude-ABC12-3');
      expect((await named(hive, 'x3', 'Claude-def34')).handle).toBe('Claude-def34');
      expect((await join(hive, 'def34-session')).handle).toBe('Claude-def34s');
    });

    test("that comes from the parent's environment belongs to the parent only", async () => {
      const hive = await open();
      const parent = await named(hive, 'abc12-session');
      const child = { name: NAME, parent_session_id: parent.session_id };
      expect((await join(hive, 'def34-session', child)).handle).toBe('Claude-def34');
      expect((await join(hive, 'ghi56-session', { ...child, name: 'helper' })).handle).toBe('helper');
    });

    test('like Human or All is refused if the session has no other, and ignored if it has', async () => {
      const hive = await open();
      await expect(named(hive, 'Human', 'Human')).rejects.toThrow('No session may be called "Human"');
      await expect(named(hive, 'all', 'all')).rejects.toThrow('Set HIVE_AGENT to another name');
      expect((await named(hive, 'abc12-session', 'HUMAN')).handle).toBe('Claude-abc12');
    });
  });

  describe('the first letters of a handle', () => {
    test('find its session, live ones before those that have ended', async () => {
      const hive = await open();
      const old = await named(hive, 'old', 'backend-old');
      await end(hive, old);
      const backend = await named(hive, 'backend', 'backend');
      await named(hive, NAME);
      expect((await hive.sessions.resolve('FRONT')).handle).toBe(NAME);
      expect((await hive.sessions.resolve('@backend')).session_id).toBe(backend.session_id);
      expect((await hive.sessions.resolve('back')).session_id).toBe(backend.session_id);
      expect((await hive.sessions.resolve('backend-')).session_id).toBe(old.session_id);
    });

    test('that match several list them; those that match none list similar ones', async () => {
      const hive = await open();
      await named(hive, NAME);
      await named(hive, 'frontend-docs', 'frontend-docs');
      await expect(hive.sessions.resolve('front')).rejects.toThrow(
        '"front" matches 2 sessions: frontend-docs, frontend-tests. Type more of the one you mean.',
      );
      await expect(hive.sessions.resolve('frontend-tsets')).rejects.toThrow('Did you mean frontend-tests?');
      await expect(hive.sessions.resolve('')).rejects.toMatchObject({ code: 'session_not_found' });
    });

    test('filter lists of what it asked and wrote; an unknown name finds nothing', async () => {
      const hive = await open();
      const one = await named(hive, NAME);
      const other = await named(hive, 'builder', 'builder');
      const asked = await ask(hive, {}, one.session_id);
      await ask(hive, {}, other.session_id);
      await post(hive, one, 'hello');
      await post(hive, 'human', 'hello yourself');
      const list = async (agent: string): Promise<string[]> =>
        (await hive.prompts.list({ agent, limit: 10 })).items.map(({ ask_id }) => ask_id);
      expect(await list('front')).toEqual([asked.ask_id]);
      expect(await list('nobody')).toEqual([]);
      const from = async (from_handle: string): Promise<string[]> =>
        (await hive.messages.read({ from_handle, limit: 10 })).items.map(({ body }) => body);
      expect(await from('@front')).toEqual(['hello']);
      expect(await from('human')).toEqual(['hello yourself']);
      // A session may be removed before what it wrote: its whole handle still means it, and no session whose handle begins the same.
      await post(hive, { ...one, session_id: 'gone', handle: 'front' }, 'long ago');
      expect(await from('front')).toEqual(['long ago']);
    });
  });

  describe('a title', () => {
    test('is of what a session asks, posts and sends as it is now, and a number tells two of a project apart', async () => {
      const hive = await open();
      const one = await join(hive, 'abc12-session');
      const two = await join(hive, 'def34-session', { source: 'bg' });
      expect([one.title, two.title]).toEqual(['demo', 'demo 2']);
      const asked = await ask(hive, {}, two.session_id);
      await post(hive, two, 'hello');
      const ping = await hive.outreach.ping({ message: 'Done.' }, two);
      await hive.sessions.configure('demo 2', { name: 'checkout' }, HUMAN);
      expect((await hive.prompts.get(asked.ask_id)).agent_title).toBe('checkout');
      expect((await hive.outreach.find(ping.outreach_id))?.agent_title).toBe('checkout');
      const { items } = await hive.history.search({ limit: 10 });
      expect(items.map(({ agent_title }) => agent_title)).toEqual(['checkout', 'checkout']);
      expect((await hive.sessions.resolve('checkout')).session_id).toBe(two.session_id);
    });

    test('that a person gives goes before the same one that nobody gave, and is free again when it is taken back', async () => {
      const hive = await open();
      const one = await join(hive, 'abc12-session');
      const two = await join(hive, 'def34-session');
      await hive.sessions.configure(two.handle, { name: 'demo' }, HUMAN);
      expect((await hive.sessions.list()).map(({ handle, title }) => [handle, title]).sort()).toEqual([
        [one.handle, 'demo 2'],
        [two.handle, 'demo'],
      ]);
      await hive.sessions.configure(two.handle, { name: null }, HUMAN);
      expect((await hive.sessions.resolve(two.handle)).title).toBe('demo');
      expect((await named(hive, 'xyz56-session', 'demo')).title).toBe('demo');
      expect((await hive.sessions.find(two.session_id))?.title).toBe('demo 3');
    });

    test('is neither a person nor a handle, and no agent gives itself one', async () => {
      const hive = await open();
      const one = await join(hive, 'abc12-session');
      await hive.store.write((tx) => tx.humans.put({ folded: 'ada', name: 'Ada', seen_at: tx.now }));
      for (const name of ['Human', 'ada', 'Claude-def34', '  '])
        await expect(hive.sessions.configure(one.handle, { name }, HUMAN)).rejects.toMatchObject({
          code: 'invalid_input',
        });
      const agent = await hive.sessions.actor(one, 'mcp');
      await expect(hive.sessions.configure(one.handle, { name: 'x' }, agent)).rejects.toThrow(
        'Only a human may change "name"',
      );
      expect((await join(hive, 'def34-session', { project: 'ada' })).title).toBe('Claude-def34');
    });

    test('reaches its session in a mention, unless something else is called so', async () => {
      const hive = await open();
      const [one, two, three] = await Promise.all(['abc12', 'def34', 'xyz56'].map((id) => join(hive, id)));
      await hive.sessions.configure('abc12', { name: 'Fix the date' }, HUMAN);
      await hive.sessions.configure('def34', { name: 'reviewer' }, HUMAN);
      await hive.sessions.configure('xyz56', { roles: ['reviewer'] }, HUMAN);
      const reached = async (body: string): Promise<string[]> =>
        (await post(hive, 'human', body)).mentions.map(({ session_id }) => session_id);
      expect(await reached('@fix-the-date please')).toEqual([one?.session_id]);
      expect(await reached('@reviewer please')).toEqual([three?.session_id]);
      expect(await reached(`@${two?.handle} please`)).toEqual([two?.session_id]);
      const { unresolved } = await post(hive, 'human', '@fix-the-dote please');
      expect(unresolved).toMatchObject([{ reason: 'unknown', near: ['Fix-the-date'] }]);
    });
  });
}
