/**
 * A Stop that waits for the human (the setting `stop_wait`), hooks whose store is locked or gone, and hooks that are killed:
 * real `hive hook` processes.
 *
 * @module-tag guards-end
 * @module-tag at-least-once
 * @module-tag hook
 */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { mcpCarrier } from '../../src/application/delivery.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { outputsAge } from '../support/ageing.ts';
import {
  type Child,
  childEnvironment,
  type Environment,
  outputOf,
  spawnHive,
  watchesBell,
} from '../support/children.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { HUMAN, introduction, newHive, prefer } from '../support/hive.ts';
import { heldWith } from '../support/hooks.ts';
import { HEADLESS } from '../support/outreach.ts';
import { suspend } from '../support/suspend.ts';
import { tempStore } from '../support/temp.ts';
import { clockPasses, eventually, moment } from '../support/wait.ts';

type Raw = Record<string, unknown>;

function start(store: string, raw: Raw, env: Environment = HEADLESS, client = 'claude-code'): Child {
  const child = spawnHive(['hook', '--client', client], childEnvironment(store, env));
  child.process.stdin.end(JSON.stringify({ session_id: 'session-1', cwd: '/', ...raw }));
  return child;
}

const fire = (store: string, raw: Raw, env?: Environment, client?: string): Promise<string> =>
  outputOf(start(store, raw, env, client));
const STOP = { hook_event_name: 'Stop', prompt_id: 'p1', stop_hook_active: false, background_tasks: [] };

/** A session with an open question, whose Stop waits this long for the human. */
async function asking(stop_wait: number): Promise<{ store: string; hive: OpenedHive; ask_id: string }> {
  const { store, hive } = await newHive();
  await prefer(hive, { stop_wait });
  await fire(store, { hook_event_name: 'UserPromptSubmit', prompt_id: 'p1', prompt: 'go' });
  const { prompt } = await hive.prompts.ask(
    { question: 'Which port?' },
    await hive.sessions.resolve('session-1'),
  );
  return { store, hive, ask_id: prompt.ask_id };
}

describe('stop_wait', () => {
  test('the answer comes with the Stop, past the usual two seconds of a hook; others can use the store in the meantime', async () => {
    const { store, hive, ask_id } = await asking(590);
    const hook = start(store, STOP);
    const stop = outputOf(hook);
    await eventually(() => watchesBell(hook.pid, store));
    await clockPasses(2_600);
    await hive.prompts.respond({ ask_id, decision: '8080', actor: HUMAN });
    expect(heldWith(await stop)).toContain(
      `An answer is waiting: call hivemind_poll {"ask_id": "${ask_id}"}`,
    );
    expect(await hive.sessions.resolve('session-1')).toMatchObject({ state: 'active' });
    expect((await hive.store.read((tx) => tx.turns.current('session-1')))?.state).toBe('in_progress');
    await hive.delivery.hand([ask_id], mcpCarrier('c1'));
    await hive.delivery.collect(mcpCarrier('c1'));
    expect(await fire(store, { ...STOP, stop_hook_active: true })).toBe('');
  });

  test('nobody answers: it lets the session stop silently, and the question stays', async () => {
    const { store, hive, ask_id } = await asking(1);
    expect(await fire(store, STOP)).toBe('');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    expect(await hive.sessions.resolve('session-1')).toMatchObject({ state: 'idle' });
  });

  test.each<[string, Environment, string]>([
    [
      'where somebody sits at the terminal',
      { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' },
      'claude-code',
    ],
    ['where the client does not tell and nothing says background', {}, 'codex'],
  ])('it does not wait %s', async (_name, env, client) => {
    const { store, hive } = await newHive();
    await prefer(hive, { stop_wait: 590 });
    const raw = { hook_event_name: 'UserPromptSubmit', prompt_id: 'p1', turn_id: 'p1', prompt: 'go' };
    await fire(store, raw, env, client);
    await hive.prompts.ask({ question: 'Which port?' }, await hive.sessions.resolve('session-1'));
    expect(await fire(store, { ...STOP, turn_id: 'p1' }, env, client)).toBe('');
  });

  test('kill -9 while it waits: nothing is lost, and the next Stop waits again', async () => {
    const { store, hive, ask_id } = await asking(590);
    const stop = start(store, STOP);
    await eventually(() => watchesBell(stop.pid, store));
    await stop.kill('SIGKILL');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending', handed_at: null });
    const again = start(store, STOP);
    const said = outputOf(again);
    await eventually(() => watchesBell(again.pid, store));
    await hive.prompts.respond({ ask_id, decision: '8080', actor: HUMAN });
    expect(heldWith(await said)).toContain(ask_id);
  });
});

test('a store that cannot be used never blocks a Stop, not even if guards fail closed', async () => {
  const store = tempStore();
  const env = { ...HEADLESS, HIVE_GATE_FAIL: 'closed', HIVE_STORE: '/dev/null/hive.db' };
  const codeOf = async (raw: Raw): Promise<number | null> => {
    const hook = start(store, raw, env);
    hook.process.stdout.resume();
    return (await hook.exited).code;
  };
  expect(await codeOf(STOP)).toBe(0);
  expect(await codeOf({ ...STOP, hook_event_name: 'SubagentStop', agent_id: 'a1' })).toBe(0);
  const tool = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {}, tool_use_id: 't1' };
  expect(await codeOf(tool)).toBe(2);
});

test('a store that is locked when the human has answered: the hook that waited for the answer tries again until it can print it', async () => {
  const { store, hive } = await newHive();
  await openDesk(hive);
  const raw = {
    hook_event_name: 'PermissionRequest',
    prompt_id: 'p1',
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
  };
  const hook = start(store, raw, { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' });
  const printed = outputOf(hook);
  await eventually(() => watchesBell(hook.pid, store));
  const [prompt] = (await hive.prompts.list({ status: 'pending', limit: 1 })).items;
  const ask_id = prompt?.ask_id ?? '';
  await suspend(hook.pid, store);
  await answerDialog(hive, ask_id, 'Deny', 'not now');
  const other = new DatabaseSync(store);
  other.exec('BEGIN IMMEDIATE');
  hook.process.kill('SIGCONT');
  await Promise.race([eventually(() => hook.stderr().includes('will try again')), hook.exited]);
  other.exec('ROLLBACK');
  other.close();
  expect(JSON.parse(await printed)).toMatchObject({
    hookSpecificOutput: { decision: { behavior: 'deny', message: 'ada denied this. ada says: not now' } },
  });
  expect((await hive.prompts.get(ask_id)).handed_at).not.toBeNull();
});

test('hooks that are killed at any moment: a report is printed eventually, however many of them die', async () => {
  const { store, hive } = await newHive();
  const main = { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' };
  const prompt = (n: number): Raw => ({
    hook_event_name: 'UserPromptSubmit',
    prompt_id: `p${n}`,
    prompt: 'go',
  });
  await fire(store, prompt(0), main);
  const reporter = await hive.sessions.introduce(
    introduction({ session_id: 'bg-1', source: 'bg', parent_session_id: 'session-1' }),
  );
  const { item } = await hive.outreach.report({ message: 'All is built.' }, reporter);
  let read = '';
  // Each is killed a little later: before, in and after the transaction, and after the print.
  for (let ms = 10; ms < 130; ms += 12) {
    const hook = start(store, prompt(ms), main);
    hook.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      read += text;
    });
    await moment(ms);
    await hook.kill('SIGKILL');
  }
  await outputsAge(hive, 'session-1');
  read += await fire(store, prompt(1_000), main);
  expect(read).toContain('All is built.');
  await fire(store, { hook_event_name: 'Stop', prompt_id: 'p1000' }, main);
  expect((await hive.outreach.find(item.outreach_id))?.status).toBe('delivered');
});
