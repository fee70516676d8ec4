/** Whose child a new session is (invariant 9): the nearest process above it that is a session, else HIVE_PARENT. */
import { expect, it } from 'vitest';
import { createSessions, type SessionService } from '../../src/application/sessions.ts';
import type { Processes } from '../../src/application/world.ts';
import { introduction, openTestHive } from '../support/hive.ts';

/** Process N was started by N - 1, down to 1. Nothing else of a process is asked for here, so these are not real ones. */
const family = {
  walks: 0,
  ageMs: () => null,
  ancestors(pid: number): number[] {
    family.walks += 1;
    return Array.from({ length: pid - 1 }, (_, index) => pid - 1 - index);
  },
};

const [FAR, BESIDE, NEAR, BELOW] = [2, 3, 5, 9] as const;

async function sessions(): Promise<SessionService> {
  return createSessions((await openTestHive()).store, family as unknown as Processes);
}

it('is the nearest session above, not the farthest', async () => {
  const service = await sessions();
  await service.introduce(introduction({ session_id: 'far', pid: FAR }));
  await service.introduce(introduction({ session_id: 'near', pid: NEAR }));
  const child = await service.introduce(introduction({ session_id: 'child', pid: BELOW }));
  expect(child.parent_session_id).toBe('near');
  expect(await service.actor(child, 'mcp')).toEqual({
    ...{ kind: 'agent', by: child.handle, via: 'mcp', session_id: 'child' },
    ancestors: ['near', 'far'],
  });
  const { ancestors } = await service.actor({ session_id: 'far', handle: 'Agent-far' }, 'cli', ['near']);
  expect(ancestors).toEqual(['near', 'far']);
});

it('wins over what the environment names, which counts only if no process does', async () => {
  const service = await sessions();
  await service.introduce(introduction({ session_id: 'process', pid: NEAR }));
  const below = introduction({ session_id: 'below', pid: BELOW, parent_session_id: 'named' });
  expect((await service.introduce(below)).parent_session_id).toBe('process');
  const beside = introduction({ session_id: 'beside', pid: BESIDE, parent_session_id: 'named' });
  expect((await service.introduce(beside)).parent_session_id).toBe('named');
});

it('is never the session itself, another machine, or a session that has ended', async () => {
  const service = await sessions();
  const self = introduction({ session_id: 'self', pid: BESIDE, parent_session_id: 'self' });
  expect((await service.introduce(self)).parent_session_id).toBeNull();
  const elsewhere = introduction({ session_id: 'elsewhere', machine: 'other', pid: BELOW });
  expect((await service.introduce(elsewhere)).parent_session_id).toBeNull();
});

it('is the main session for a subagent, however many processes are in between', async () => {
  const service = await sessions();
  await service.introduce(introduction({ session_id: 'process', pid: NEAR }));
  const subagent = introduction({ session_id: 'root:a1', pid: BELOW, parent_session_id: 'root' });
  expect((await service.introduce(subagent)).parent_session_id).toBe('root');
});

it('in the background has its children there, too, even if they inherit HIVE_SOURCE=main', async () => {
  const service = await sessions();
  await service.introduce(introduction({ session_id: 'process', pid: NEAR, source: 'bg' }));
  const below = introduction({ session_id: 'below', pid: BELOW, source: 'main' });
  expect((await service.introduce(below)).source).toBe('bg');
  // A person named this parent, and may have named the source.
  const beside = introduction({
    session_id: 'beside',
    pid: BESIDE,
    source: 'main',
    parent_session_id: 'process',
  });
  expect((await service.introduce(beside)).source).toBe('main');
});

it('starts at the process that the caller names, where the session has none', async () => {
  const service = await sessions();
  await service.introduce(introduction({ session_id: 'agent', pid: NEAR }));
  const shell = await service.introduce(introduction({ session_id: 'shell', pid: null }), BELOW);
  expect(shell).toMatchObject({ pid: null, parent_session_id: 'agent' });
});

it('is looked up once, when the session is new', async () => {
  const service = await sessions();
  family.walks = 0;
  for (let n = 0; n < 3; n += 1) await service.introduce(introduction({ session_id: 'again', pid: BELOW }));
  expect(family.walks).toBe(1);
});
