/**
 * Reports on their way to the main session: exactly once normally, at least once whatever is killed.
 *
 * @module-tag at-least-once
 * @module-tag mcp
 * @module-tag hook
 */

import { describe, expect, test } from 'vitest';
import { parseEvent, sayVerdict } from '../../src/adapters/hooks/hook.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { outputsAge } from '../support/ageing.ts';
import { ENDED } from '../support/ended-process.ts';
import { eventsOf, HUMAN, openTestHive } from '../support/hive.ts';
import { said } from '../support/hooks.ts';
import { agent, HEADLESS } from '../support/outreach.ts';
import { claude } from '../support/turns.ts';

/** The main session, as its hooks drive it. */
async function mainOf(hive: OpenedHive, session_id = 'main-1') {
  const main = claude(hive, { session_id, env: {} });
  await main.start();
  return main;
}

async function send(
  hive: OpenedHive,
  message: string,
  session_id = 'bg-1',
  parent: string | null = null,
): Promise<string> {
  const { item } = await hive.outreach.report({ message }, await agent(hive, session_id, 'bg', parent));
  return item.outreach_id;
}

const context = (printed: string): string => said(printed)?.hookSpecificOutput?.['additionalContext'] ?? '';
const statusOf = async (hive: OpenedHive, id: string): Promise<string | undefined> =>
  (await hive.outreach.find(id))?.status;

/** An event whose hook is killed after it has committed, and never prints. */
async function killedHook(hive: OpenedHive, raw: Record<string, unknown>): Promise<string> {
  const env = { CLAUDE_PID: String(ENDED) };
  const event = parseEvent(
    JSON.stringify({ session_id: 'main-1', cwd: '/demo', ...raw }),
    env,
    'claude-code',
  );
  const verdict = await hive.hooks.handle(event, {
    env,
    machine: 'test',
    pid: process.pid,
    findProject: () => ({ project: 'demo', project_dir: '/demo/.git', branch: null }),
    readTail: () => null,
  });
  return sayVerdict(event, verdict);
}

describe('its reader', () => {
  test('is the main session that last worked, not one that has just started elsewhere; when it ends, the next one that worked', async () => {
    const hive = await openTestHive();
    const worked = await mainOf(hive);
    await worked.prompt('p1');
    const fresh = await mainOf(hive, 'main-2');
    await send(hive, 'All tests pass.');
    expect(context(await fresh.prompt('p1'))).toBe('');
    expect(context(await worked.post('p1', 't1'))).toContain('All tests pass.');
    await worked.stop('p1');
    await send(hive, 'For the one that worked last.');
    expect(context(await worked.prompt('p2'))).toBe('');
    await send(hive, 'Unread.');
    const newest = await mainOf(hive, 'main-3');
    await worked.end('p2');
    expect(context(await newest.prompt('p1'))).toBe('');
    expect(context(await fresh.post('p1', 't1'))).toContain('Unread.');
  });

  test('of a fork in the same terminal is the session that it was forked from', async () => {
    const hive = await openTestHive();
    const origin = await mainOf(hive);
    const other = await mainOf(hive, 'main-2');
    await other.prompt('p1');
    const fork = claude(hive, { session_id: 'fork-1', env: {} });
    await origin.prompt('p1');
    await fork.start('fork');
    const session = await hive.sessions.resolve('fork-1');
    expect(session).toMatchObject({ source: 'fork', parent_session_id: 'main-1' });
    await other.prompt('p2');
    expect((await hive.outreach.report({ message: 'Tried it.' }, session)).reader).toBe('Claude-main1');
    expect(context(await other.post('p2', 't1'))).toBe('');
    expect(context(await origin.post('p1', 't1'))).toContain('Tried it.');
  });

  test('is the next main session if there is none', async () => {
    const hive = await openTestHive();
    await send(hive, 'Is anybody there?');
    const main = claude(hive, { session_id: 'main-1', env: {} });
    expect(context(await main.start())).toContain('Is anybody there?');
  });
});

describe('undisturbed', () => {
  test('carried in once, with the next event that accepts context; the one after proves it read', async () => {
    const hive = await openTestHive();
    const main = await mainOf(hive);
    const id = await send(hive, 'All tests pass.');
    const printed = context(await main.prompt('p1'));
    expect(printed).toContain(`[${id}]:\n> All tests pass.`);
    expect(printed).toMatch(/^Report from Claude-bg1 \(bg\) at /);
    expect(await statusOf(hive, id)).toBe('sent');
    for (let n = 0; n < 3; n += 1) expect(context(await main.post('p1', `t${n}`))).toBe('');
    await main.stop('p1');
    expect(await statusOf(hive, id)).toBe('delivered');
    expect(context(await main.prompt('p2'))).toBe('');
    expect((await eventsOf(hive, 'outreach/handed', 'outreach/delivered')).map(({ type }) => type)).toEqual([
      'outreach/handed',
      'outreach/delivered',
    ]);
  });

  test('ten at once and a count of the rest; none is dropped', async () => {
    const hive = await openTestHive();
    const main = await mainOf(hive);
    for (let n = 1; n <= 23; n += 1) await send(hive, `report number ${n}.`);
    const texts: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      texts.push(context(await main.prompt(`p${n}`)));
      await main.stop(`p${n}`);
    }
    const found = texts.map((text) =>
      [...text.matchAll(/report number (\d+)\./g)].map((match) => Number(match[1])),
    );
    expect(found.map((numbers) => numbers.length)).toEqual([10, 10, 3, 0]);
    expect(found.flat()).toEqual(Array.from({ length: 23 }, (_, n) => n + 1));
    expect(texts[0]).toContain('13 more reports wait');
    expect(texts[1]).toContain('3 more reports wait');
    expect(texts[2]).not.toContain('more report');
  });

  test('what does not fit into a context follows', async () => {
    const hive = await openTestHive();
    const main = await mainOf(hive);
    for (const letter of ['a', 'b', 'c']) await send(hive, letter.repeat(8_000));
    for (const letter of ['a', 'b', 'c']) {
      const text = context(await main.prompt(`p-${letter}`));
      expect(text).toContain(letter.repeat(8_000));
      expect(text.length).toBeLessThan(10_000);
      await main.stop(`p-${letter}`);
    }
  });
});

describe('who reads it', () => {
  test('the parent while it lives, and nobody else', async () => {
    const hive = await openTestHive();
    const parent = await mainOf(hive, 'main-1');
    const other = await mainOf(hive, 'main-2');
    await send(hive, 'For my parent.', 'bg-1', 'main-1');
    expect(context(await other.prompt('p1'))).toBe('');
    expect(context(await parent.prompt('p1'))).toContain('For my parent.');
  });

  test("the project's main session when the parent is gone", async () => {
    const hive = await openTestHive();
    const parent = await mainOf(hive, 'main-1');
    const other = await mainOf(hive, 'main-2');
    await send(hive, 'For whoever is left.', 'bg-1', 'main-1');
    await parent.end('p1');
    expect(context(await other.prompt('p1'))).toContain('For whoever is left.');
  });

  test('never another session in the background, nor a fork, nor the reporter', async () => {
    const hive = await openTestHive();
    await send(hive, 'Hello.', 'bg-1');
    const background = claude(hive, { session_id: 'bg-2', env: HEADLESS });
    await background.start();
    expect(context(await background.prompt('p1'))).toBe('');
    const fork = claude(hive, { session_id: 'fork-1' });
    await fork.start('fork');
    expect(context(await fork.prompt('p1'))).toBe('');
    await hive.sessions.configure('bg-1', { source: 'main' }, HUMAN);
    expect(context(await claude(hive, { session_id: 'bg-1' }).prompt('p1'))).toBe('');
  });

  test('the session that continues the parent after /clear', async () => {
    const hive = await openTestHive();
    const parent = await mainOf(hive, 'main-1');
    await send(hive, 'Before the clear.', 'bg-1', 'main-1');
    await parent.end('p1', 'clear');
    const next = claude(hive, { session_id: 'main-2' });
    expect(context(await next.start('clear'))).toContain('Before the clear.');
  });
});

describe('whatever is killed', () => {
  test('the hook between commit and print: the next events prove nothing, and then it is handed over again', async () => {
    const hive = await openTestHive();
    const main = await mainOf(hive);
    const id = await send(hive, 'Hello.');
    const unprinted = await killedHook(hive, {
      hook_event_name: 'UserPromptSubmit',
      prompt_id: 'p1',
      prompt: 'go',
    });
    expect(unprinted).toContain('Hello.');
    expect(context(await main.post('p1', 't1'))).toBe('');
    expect(await main.stop('p1')).toBe('');
    expect(await statusOf(hive, id)).toBe('sent');
    await outputsAge(hive, 'main-1');
    const again = context(await main.prompt('p2'));
    expect(again).toContain('Hello.');
    expect(again).toContain('(repeated: this may have reached you before)');
    await main.stop('p2');
    expect(await statusOf(hive, id)).toBe('delivered');
  });

  test('the client after the print: a resume hands it over again, marked', async () => {
    const hive = await openTestHive();
    const main = await mainOf(hive);
    await send(hive, 'Hello.');
    expect(context(await main.prompt('p1'))).toContain('Hello.');
    const again = context(await main.start('resume'));
    expect(again).toContain('Hello.');
    expect(again).toContain('(repeated: this may have reached you before)');
  });

  test('the client for good: the next main session of the project gets it', async () => {
    const hive = await openTestHive();
    const main = await mainOf(hive);
    await send(hive, 'Hello.');
    await main.prompt('p1');
    await main.end('p1');
    expect(context(await claude(hive, { session_id: 'main-2' }).start())).toContain('(repeated');
  });
});
