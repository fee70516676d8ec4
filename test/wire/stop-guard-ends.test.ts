/**
 * Where the Stop guard does not wait for a Stop, or must not hold one; and what counts as a turn.
 *
 * @module-tag guards-end
 * @module-tag hook
 */
import { describe, expect, test } from 'vitest';
import { ENDED } from '../support/ended-process.ts';
import { eventsOf, HUMAN, noticesOf, openTestHive } from '../support/hive.ts';
import { type Client, fire, said } from '../support/hooks.ts';
import { CLAUDE, HEADLESS, ping, recorded } from '../support/outreach.ts';
import { claude } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

describe('without a Stop', () => {
  test('SessionEnd gives the same notice, once', async () => {
    const hive = await openTestHive();
    const as: Client = { env: HEADLESS };
    await fire(hive, recorded('claude-code', 'SessionStart-startup-headless'), as);
    await ping(hive, CLAUDE);
    await fire(hive, recorded('claude-code', 'SessionEnd-other-headless'), as);
    await fire(hive, recorded('claude-code', 'SessionEnd-other-headless'), as);
    expect(await noticesOf(hive)).toEqual(['[bg] demo ended with unreported output: ping "Look".']);
  });

  test('the sweep finds one whose process is gone, its subagents too', async () => {
    const hive = await openTestHive();
    const as: Client = { env: { ...HEADLESS, CLAUDE_PID: String(ENDED) } };
    await fire(hive, recorded('claude-code', 'SessionStart-startup-headless'), as);
    await ping(hive, CLAUDE);
    expect(await hive.sessions.sweep('test')).toHaveLength(1);
    expect(await noticesOf(hive)).toHaveLength(1);
    expect(await hive.sessions.sweep('test')).toEqual([]);
  });

  test('if no report is owed, nobody is told', async () => {
    const hive = await openTestHive();
    await hive.outreach.setSettings({ report_policy: 'freely' });
    await fire(hive, recorded('claude-code', 'SessionStart-startup-headless'), { env: HEADLESS });
    await ping(hive, CLAUDE);
    await fire(hive, recorded('claude-code', 'SessionEnd-other-headless'), { env: HEADLESS });
    expect(await noticesOf(hive)).toEqual([]);
  });
});

test('an interrupt is not delayed by anything that is owed', async () => {
  const hive = await openTestHive();
  const agent = claude(hive, { env: { HIVE_SOURCE: 'bg' } });
  await agent.start();
  await agent.prompt('p1');
  await ping(hive, 'session-1');
  const interrupting = hive.interrupts.interrupt({ session: 'session-1', actor: HUMAN, timeout_ms: 10_000 });
  await eventually(async () => (await eventsOf(hive, 'turn/interrupt')).length > 0);
  expect(await agent.stop('p1')).not.toContain('hivemind_report_updates');
  expect(await interrupting).toMatchObject({ session_id: 'session-1' });
});

test('remind: a PostToolUse reminds once of what was shown; a Stop is not held', async () => {
  const hive = await openTestHive();
  const agent = claude(hive, { env: HEADLESS });
  await agent.start();
  await agent.prompt('p1');
  await hive.sessions.configure('session-1', { report_policy: 'remind' }, HUMAN);
  await ping(hive, 'session-1');
  const reminded = said(await agent.post('p1', 't1'))?.hookSpecificOutput?.['additionalContext'];
  expect(reminded).toContain('You showed your human ping "Look".');
  expect(await agent.post('p1', 't2')).toBe('');
  expect(await agent.stop('p1')).toBe('');
});
