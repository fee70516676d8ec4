/** Several calls in one step of the real clients: no hook waits for another hook, nor for a tool on the same connection. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { seated, whenGranted } from '../support/coordinators.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { ask } from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually, FOR_EVER_MS } from '../support/wait.ts';
import { hive as call, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { runCodex } from './support/codex.ts';
import { hive as codexCall, shell, startResponses } from './support/responses.ts';
import { openWorld } from './support/world.ts';

/** The permissions that wait at the desk at the same time. */
async function permissions(hive: OpenedHive, count: number): Promise<Prompt[]> {
  let found: Prompt[] = [];
  await eventually(async () => {
    const { items } = await hive.prompts.list({ status: 'pending', limit: 10 });
    found = items.filter(({ kind }) => kind === 'permission');
    return found.length === count;
  });
  return found;
}

/** A call that waits until another agent asks something: it outlasts the rest of its test, also on a busy machine. */
const WAIT = { timeout_ms: FOR_EVER_MS };

/** The tools whose hook before the call has been answered, and whose hook after it has not come. */
async function openTools(hive: OpenedHive): Promise<string[]> {
  const turns = (await hive.turns.running()).map(({ turn }) => turn);
  return turns.flatMap(({ open_tools }) => open_tools.map(({ name }) => name));
}

describe('Claude Code', () => {
  test('two hooks and a tool of ours wait at the same time, and each ends with its own answer', async () => {
    const world = await openWorld();
    const { hive } = world;
    await openDesk(hive);
    // Outside of its project, so that it asks before it reads them.
    const elsewhere = tempFolder();
    const files = ['first', 'second'].map((name) => join(elsewhere, name));
    for (const file of files) writeFileSync(file, `words of ${file}\n`);
    const reads = files.map((file_path) => ({ name: 'Read', input: { file_path } }));
    const calls = [call('hivemind_await_ask', WAIT), ...reads];
    const model = await startModel((_request, step) => (step === 1 ? { calls } : { text: 'done' }));
    const rules = ['mcp__hive__hivemind_await_ask'];
    const done = runClaude(
      { ...world, model, allowed: null, role: 'coordinator', rules, env: seated() },
      'go',
    );
    await whenGranted(hive);
    const asked = await permissions(hive, 2);
    for (const file of files.toReversed()) {
      const { ask_id } = asked.find(({ question }) => question.includes(file)) as Prompt;
      await answerDialog(hive, ask_id, 'Allow');
      // Its hook has been answered; what waits beside it has not.
      await eventually(async () => (await hive.prompts.get(ask_id)).handed_at !== null);
    }
    expect(await openTools(hive)).toContain('mcp__hive__hivemind_await_ask');
    await ask(hive, { question: 'Which port?' }, 'other-1');
    await done;
    expect(model.told()).toContain('Which port?');
    for (const file of files) expect(model.told()).toContain(`words of ${file}`);
  });
});

describe('Codex', () => {
  test('a hook is answered while a tool of ours waits on the same connection', async () => {
    const world = await openWorld();
    const { hive } = world;
    const wait = codexCall('hivemind_await_ask', WAIT);
    const calls = [wait, shell('echo worked-$((1+1))'), shell('echo worked-$((2+1))')];
    const model = await startResponses((_request, step) => (step === 1 ? { calls } : { text: 'done' }));
    const options = ['--role', 'coordinator', '--tool-timeout', '1h'];
    const done = runCodex({ ...world, model, options, env: seated() }, 'go');
    await whenGranted(hive);
    await eventually(async () => (await openTools(hive)).includes('mcp__hive__hivemind_await_ask'));
    // The hooks before the three calls have been answered; they come in any order.
    await eventually(async () => (await hive.turns.running()).at(0)?.turn.steps === calls.length);
    await ask(hive, { question: 'Which port?' }, 'other-1');
    await done;
    for (const words of ['Which port?', 'worked-2', 'worked-3']) expect(model.everything()).toContain(words);
  });
});
