/** Waits: which questions block their agent, since when, and that they come first. */
import { hostname } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import { STANDING_LEASE } from '../../src/domain/waits.ts';
import { statement } from '../../src/infrastructure/store/sql.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type FiredDialog, fireDialog, openDesk } from '../support/dialogs.ts';
import { ENDED } from '../support/ended-process.ts';
import { ask, HUMAN, introduce, introduction, openTestHive } from '../support/hive.ts';
import { recordedEvent } from '../support/hooks.ts';
import { sleepingRun } from '../support/run-rows.ts';
import { eventually } from '../support/wait.ts';
import type { StoreEngine } from './store-contract.ts';

const A_MINUTE = 60_000;
const PERMISSION = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');

/** Lets `session-1` wait for a question until the returned function is called, as a call that its client cuts short. */
function wait(hive: OpenedHive, ask_id: string, waiter = 'session-1'): () => Promise<unknown> {
  const cut = new AbortController();
  const waiting = hive.prompts.wait([ask_id], { wait_ms: A_MINUTE, signal: cut.signal, waiter });
  const end = (): Promise<unknown> => {
    cut.abort();
    return waiting;
  };
  onTestFinished(async () => void (await end()));
  return end;
}

const blockedSince = async (hive: OpenedHive, ask_id: string): Promise<string | null> =>
  (await hive.prompts.get(ask_id)).blocked_since;

async function untilBlocked(hive: OpenedHive, ask_id: string): Promise<string | null> {
  await eventually(async () => (await blockedSince(hive, ask_id)) !== null);
  return blockedSince(hive, ask_id);
}

const untilUnblocked = (hive: OpenedHive, ask_id: string): Promise<void> =>
  eventually(async () => (await blockedSince(hive, ask_id)) === null);

const inOrder = async (hive: OpenedHive): Promise<string[]> =>
  (await hive.prompts.list({ status: 'pending', limit: 10 })).items.map(({ question }) => question);

async function trail(hive: OpenedHive, ask_id: string): Promise<string[]> {
  const events = await hive.history.eventsOf(ask_id, 100);
  return events.map(({ type }) => type).filter((type) => /blocked$/.test(type));
}

export function waitsContract(engine: StoreEngine): void {
  test('a question blocks its agent while the agent waits for it, and comes before the others', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive, { question: 'I wait', urgency: 'low' });
    await ask(hive, { question: 'I go on', urgency: 'critical' });
    expect(await inOrder(hive)).toEqual(['I go on', 'I wait']);
    const end = wait(hive, ask_id);
    await untilBlocked(hive, ask_id);
    expect(await inOrder(hive)).toEqual(['I wait', 'I go on']);
    await end();
    await untilUnblocked(hive, ask_id);
    expect(await inOrder(hive)).toEqual(['I go on', 'I wait']);
    expect(await trail(hive, ask_id)).toEqual(['prompt/blocked', 'prompt/unblocked']);
  });

  test('among those that block, and among the others: by urgency, then what expires sooner, then by age', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const ids = new Map<string, string>();
    for (const [question, request] of Object.entries({
      old: {},
      'expires later': { timeout_ms: 2 * A_MINUTE },
      'expires soon': { timeout_ms: A_MINUTE },
      critical: { urgency: 'critical' },
      waits: {},
      'waits, critical': { urgency: 'critical' },
    } as const))
      ids.set(question, (await ask(hive, { question, ...request })).ask_id);
    for (const question of ['waits', 'waits, critical']) {
      const ask_id = ids.get(question) ?? '';
      wait(hive, ask_id);
      await untilBlocked(hive, ask_id);
    }
    expect(await inOrder(hive)).toEqual([
      'waits, critical',
      'waits',
      'critical',
      'expires soon',
      'expires later',
      'old',
    ]);
  });

  test('an agent that polls again soon counts as waiting all the time', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    await hive.prompts.wait([ask_id], { wait_ms: 20, waiter: 'session-1' });
    const since = await blockedSince(hive, ask_id);
    expect(since).not.toBeNull();
    await hive.prompts.waitForOpen('session-1', { wait_ms: 20, waiter: 'session-1' });
    expect(await blockedSince(hive, ask_id)).toBe(since);
    expect(await trail(hive, ask_id)).toEqual(['prompt/blocked']);
  });

  test('a look, a wait for the question of another session, and a wait of a person block nobody', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    await introduce(hive, 'session-2');
    await hive.prompts.wait([ask_id], { wait_ms: 0, waiter: 'session-1' });
    await hive.prompts.wait([ask_id], { wait_ms: 20, waiter: 'session-2' });
    await hive.prompts.wait([ask_id], { wait_ms: 20 });
    expect(await blockedSince(hive, ask_id)).toBeNull();
    expect(await trail(hive, ask_id)).toEqual([]);
  });

  test('the session of a subagent is blocked by the question of the subagent that it waits for', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const session = await introduce(hive, 'session-1:a1');
    const { prompt } = await hive.prompts.ask({ question: 'Which?' }, session);
    wait(hive, prompt.ask_id);
    await untilBlocked(hive, prompt.ask_id);
  });

  test('an answer ends every wait, and the prompt keeps the time since which it had blocked', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    wait(hive, ask_id);
    const since = await untilBlocked(hive, ask_id);
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'responded', blocked_since: since });
    expect(await hive.store.read((tx) => tx.waits.isWaited(ask_id, tx.now))).toBe(false);
  });

  test('a process that died leaves nobody blocked: its lease ends, and any other process notices', async () => {
    const address = await engine.freshAddress();
    const [hive, other] = [await openTestHive(address), await openTestHive(address)];
    const { ask_id } = await ask(hive);
    wait(hive, ask_id);
    await untilBlocked(hive, ask_id);
    await letLeasesEnd(engine, address);
    other.startExpiry();
    await untilUnblocked(other, ask_id);
    expect(await trail(other, ask_id)).toEqual(['prompt/blocked', 'prompt/unblocked']);
  });

  test('a process that continues to wait renews its lease, without an event', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const { ask_id } = await ask(hive);
    wait(hive, ask_id);
    const since = await untilBlocked(hive, ask_id);
    await letLeasesEnd(engine, address);
    const head = await hive.store.read((tx) => tx.events.head());
    vi.advanceTimersByTime(30_000);
    await eventually(() => hive.store.read((tx) => tx.waits.isWaited(ask_id, tx.now)));
    expect(await hive.store.read((tx) => tx.events.head())).toBe(head);
    expect(await blockedSince(hive, ask_id)).toBe(since);
  });

  test('a dialog whose hook was killed is pending in its terminal', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    await openDesk(hive);
    const raw = { ...PERMISSION, session_id: 'session-1' };
    const { prompts, printed } = await fireDialog(hive, raw);
    const [{ ask_id = '', blocked_since = null } = {}] = prompts;
    const terminalSince = async () => (await hive.prompts.get(ask_id)).terminal_since;
    await eventually(() => hive.store.read(async (tx) => (await tx.waits.lapses.next()) !== null));
    await letLeasesEnd(engine, address);
    hive.startExpiry();
    await eventually(async () => (await terminalSince()) !== null);
    expect(await blockedSince(hive, ask_id)).toBe(blocked_since);
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
    await printed;
  });

  /** A dialog that waits at a desk, and whose hook was killed. */
  async function killedHook(hive: OpenedHive, machine: string): Promise<FiredDialog & { ask_id: string }> {
    await openDesk(hive);
    const raw = { ...PERMISSION, session_id: 'session-1' };
    const env = { CLAUDE_PID: String(process.pid) };
    const fired = await fireDialog(hive, raw, { env, surroundings: { machine, pid: ENDED } });
    await eventually(() => hive.store.read(async (tx) => (await tx.waits.ofHooks()).length > 0));
    return { ...fired, ask_id: fired.prompts[0]?.ask_id ?? '' };
  }

  test('a dialog whose hook was killed on this machine takes no answer, although its lease lasts', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id, answer } = await killedHook(hive, hostname());
    await expect(answer('Allow')).rejects.toThrow(`${ask_id} waits in the terminal of `);
    expect(await hive.prompts.get(ask_id)).toMatchObject({
      status: 'pending',
      blocked_since: expect.any(String),
    });
    expect(await hive.store.read((tx) => tx.waits.ofHooks())).toEqual([]);
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
  });

  test('a desk notices by itself that a hook of its machine was killed', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await killedHook(hive, hostname());
    hive.startSweep();
    await eventually(async () => (await hive.prompts.get(ask_id)).terminal_since !== null);
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
  });

  test('the process of a hook on another machine is not looked for here', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id, answer } = await killedHook(hive, 'elsewhere');
    await answer('Allow');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'responded' });
  });

  test('a session that is gone counts as not blocked', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    await hive.sessions.introduce(introduction({ pid: ENDED }));
    wait(hive, ask_id);
    await untilBlocked(hive, ask_id);
    await hive.sessions.sweep('test');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ orphaned: true, blocked_since: null });
  });

  test('a question of a session that is gone is no orphan while a run of that session sleeps', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id, session_id } = await ask(hive);
    await hive.store.write((tx) => tx.runs.put(sleepingRun({ session_id })));
    await hive.sessions.end(session_id);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ orphaned: false });
  });
}

/** As if every process that waits had died a while ago. */
async function letLeasesEnd(engine: StoreEngine, address: string): Promise<void> {
  const driver = await engine.openDriver(address);
  const past = statement(`UPDATE waits SET lease_until = '2020-01-01T00:00:00.000Z' WHERE lease_until < $1`);
  await driver.write((sql) => sql.run(past, [STANDING_LEASE]));
  await driver.close();
}
