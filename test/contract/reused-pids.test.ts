/**
 * A client that died with its machine, and a later process that has its pid: nobody takes that process for the client.
 *
 * @module-tag no-self-approval
 * @module-tag library
 */
import { spawn } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSessions } from '../../src/application/sessions.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, introduction, openTestHive } from '../support/hive.ts';
import { fire } from '../support/hooks.ts';
import { endsOf } from '../support/turns.ts';

const OLD = 'aaaaa-old';
const machine = hostname();
const HOUR_MS = 60 * 60 * 1000;

/** A process of nobody's. */
function stranger(): number {
  const child = spawn('sleep', ['1d'], { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child.pid ?? 0;
}

/** A hook of a client with this pid. */
const say = (hive: OpenedHive, pid: number, session_id: string, name: string, fields: object = {}) =>
  fire(
    hive,
    { session_id, cwd: '/demo', hook_event_name: name, ...fields },
    { env: { CLAUDE_PID: String(pid) }, surroundings: { machine, above: [pid] } },
  );

/** A session that was last seen some hours ago, in a process that had this pid. */
async function oldSession(
  hours: number,
  name = 'UserPromptSubmit',
): Promise<{ hive: OpenedHive; pid: number }> {
  const hive = await openTestHive();
  const pid = stranger();
  await say(hive, pid, OLD, 'UserPromptSubmit', { prompt_id: 'p1', prompt: 'go' });
  if (name === 'Stop') await say(hive, pid, OLD, 'Stop', { prompt_id: 'p1' });
  await hive.store.write(async (tx) => {
    const session = await tx.sessions.get(OLD);
    const at = new Date(Date.parse(tx.now) - hours * HOUR_MS).toISOString();
    if (session !== undefined) await tx.sessions.upsert({ ...session, last_seen_at: at, hooks_seen_at: at });
  });
  return { hive, pid };
}

const sessionOfCall = async (hive: OpenedHive, parent_pid: number): Promise<string> => {
  const { session } = await hive.callers.resolve({
    env: {},
    meta: {},
    client: 'gemini-cli',
    connection_id: 'conn-1',
    project: { project: 'demo', project_dir: '/demo', branch: null },
    machine,
    parent_pid,
  });
  return session.session_id;
};

describe('a session whose pid belongs to a later process', () => {
  test('has ended', async () => {
    const { hive } = await oldSession(48);
    expect(await hive.sessions.sweep(machine)).toMatchObject([{ session_id: OLD, state: 'ended' }]);
    expect(await endsOf(hive, OLD)).toEqual(['ended']);
  });

  test('runs no turn that could be interrupted', async () => {
    const { hive } = await oldSession(48);
    await expect(hive.interrupts.interrupt({ session: OLD, actor: HUMAN })).rejects.toMatchObject({
      code: 'no_turn',
    });
    expect(await endsOf(hive, OLD)).toEqual(['ended']);
  });

  test('is not that of a call that the later process makes', async () => {
    const { hive, pid } = await oldSession(48);
    expect(await sessionOfCall(hive, pid)).toBe('conn-1');
  });

  test('is not above the processes of the later one', async () => {
    const { hive, pid } = await oldSession(48);
    const lower = { ...processes, ancestors: () => [pid] };
    const service = createSessions(hive.store, lower);
    expect(await service.above({ machine, pid: process.pid })).toEqual([]);
    const started = await service.introduce(
      introduction({ session_id: 'bbbbb-new', machine, pid: process.pid }),
    );
    expect(started.parent_session_id).toBeNull();
  });

  test('is not continued by the later process', async () => {
    const { hive, pid } = await oldSession(48, 'Stop');
    const asked = await hive.prompts.ask({ question: 'Which key?' }, await hive.sessions.resolve(OLD));
    await say(hive, pid, 'bbbbb-new', 'UserPromptSubmit', { prompt_id: 'p2', prompt: 'go' });
    expect((await hive.sessions.find('bbbbb-new'))?.continues).toBeNull();
    expect((await hive.prompts.get(asked.prompt.ask_id)).session_id).toBe(OLD);
  });
});

describe('a session whose own process still runs', () => {
  test('goes on', async () => {
    const { hive, pid } = await oldSession(0);
    expect(await hive.sessions.sweep(machine)).toEqual([]);
    expect(await sessionOfCall(hive, pid)).toBe(OLD);
  });

  test('goes on after a pause of its machine, which its server shows', async () => {
    const hive = await openTestHive();
    const { pid, ppid } = process;
    await say(hive, ppid, OLD, 'SessionStart', { source: 'startup' });
    const at = new Date(Date.now() - 10 * 365 * 24 * HOUR_MS).toISOString();
    await hive.store.write(async (tx) => {
      await tx.sessions.openConnection({
        connection_id: 'conn-2',
        machine,
        pid,
        parent_pid: ppid,
        session_id: OLD,
        opened_at: at,
      });
      const session = await tx.sessions.get(OLD);
      if (session !== undefined)
        await tx.sessions.upsert({ ...session, last_seen_at: at, hooks_seen_at: at });
    });
    expect(await hive.sessions.sweep(machine)).toEqual([]);
    expect(await sessionOfCall(hive, ppid)).toBe(OLD);
  });
});
