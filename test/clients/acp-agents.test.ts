/** Client suite: opencode and Codex over ACP, started by `hive acp` as an editor does. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { type AcpEditor, openEditor } from './support/acp-editor.ts';
import { startModel, type ToolUse } from './support/anthropic.ts';
import { codexEnvironment, configureCodex } from './support/codex.ts';
import { configureOpencode, opencodeEnvironment } from './support/opencode.ts';
import { type FunctionCall, startResponses } from './support/responses.ts';
import { openWorld, type World } from './support/world.ts';

const { opencode, codexAcp } = inject('editorAgents');

interface Run extends World {
  editor: AcpEditor;
}

/** The model calls what the person's last words name, and nothing more in that turn. */
function called<Call>(calls: Readonly<Record<string, Call>>, said: unknown): Call | undefined {
  const text = JSON.stringify(said);
  return Object.entries(calls).find(([word]) => text.includes(`please ${word}`))?.[1];
}

async function openOpencode(): Promise<Run> {
  const world = await openWorld();
  await openDesk(world.hive);
  const runs = (command: string): ToolUse => ({ name: 'bash', input: { command, description: 'work' } });
  const calls = {
    write: runs('echo one >> made.txt'),
    ask: { name: 'hive_hivemind_ask_async', input: { question: 'Which colour?' } },
  };
  const model = await startModel(({ messages }) => {
    // A refused call ends a turn without a word of the model, so its result comes with the next words.
    const { content } = messages.at(-1) ?? {};
    const last = Array.isArray(content) ? content.at(-1) : content;
    const call = called(calls, last);
    return call === undefined ? { text: 'all done' } : { calls: [call] };
  });
  const { hive: _, ...rest } = world;
  const set = { ...rest, model };
  configureOpencode(set);
  const editor = await openEditor({
    command: [opencode, 'acp'],
    env: opencodeEnvironment(set),
    cwd: world.folder,
  });
  return { ...world, editor };
}

async function openCodex(): Promise<Run> {
  const world = await openWorld();
  await openDesk(world.hive);
  const leaves = { sandbox_permissions: 'require_escalated', justification: 'to see' };
  const calls: Record<string, FunctionCall> = {
    write: { name: 'exec_command', arguments: { cmd: 'echo one >> made.txt', ...leaves } },
    ask: { name: 'hivemind_ask_async', namespace: 'mcp__hive', arguments: { question: 'Which colour?' } },
  };
  const model = await startResponses(({ input }) => {
    const last = input.at(-1);
    const call = last?.role === 'user' ? called(calls, last) : undefined;
    return call === undefined ? { text: 'all done' } : { calls: [call] };
  });
  const { hive: _, ...rest } = world;
  const env = { CODEX_PATH: world.clients.codex, MODEL_PROVIDER: 'fake', NO_BROWSER: '1' };
  const set = { ...rest, model, env, bare: true };
  configureCodex(set);
  const editor = await openEditor({
    command: [process.execPath, codexAcp],
    env: codexEnvironment(set),
    cwd: world.folder,
  });
  // In the mode that the adapter begins with, a model answers instead of a person.
  await editor.request('session/set_config_option', {
    sessionId: editor.sessionId,
    configId: 'mode',
    value: 'read-only',
  });
  return { ...world, editor };
}

/** The pending prompts, once they are so many and all of them say this. */
async function pending(hive: OpenedHive, count = 1, says = ''): Promise<Prompt[]> {
  let prompts: Prompt[] = [];
  await eventually(async () => {
    prompts = (await hive.prompts.list({ status: 'pending', limit: 10 })).items;
    return prompts.length === count && prompts.every(({ context }) => (context ?? '').includes(says));
  });
  return prompts;
}

/** One agent from the first turn to the last, because its start costs more than all of them. */
describe.each([
  // OpenCode describes its call in full after it has asked, so on a busy machine the question is asked twice.
  { name: 'OpenCode', open: openOpencode, says: 'work', refused: 'end_turn' },
  { name: 'Codex', open: openCodex, says: 'echo one', refused: 'cancelled' },
])('$name', ({ name, open, says, refused }) => {
  test('is answered at the desk and in the editor, asks by MCP as the same session, and is cancelled in both places', async () => {
    const { hive, folder, editor } = await open();
    const made = (): string => readFileSync(join(folder, 'made.txt'), 'utf8');

    const atDesk = editor.say('please write');
    const [first] = await pending(hive, 1, says);
    expect(first).toMatchObject({
      kind: 'permission',
      question: 'Run echo one >> made.txt?',
      agent: expect.stringMatching(`^${name}-`),
    });
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    const once = first?.options.find(({ description }) => description === 'This once');
    await answerDialog(hive, first?.ask_id ?? '', once?.label ?? '');
    expect(await atDesk).toBe('end_turn');
    expect(made()).toBe('one\n');

    const inEditor = editor.say('please write');
    await eventually(() => editor.dialogs.length === 2);
    await pending(hive, 1, says);
    editor.dialogs[1]?.choose('reject_once');
    expect(await inEditor).toBe(refused);
    expect((await hive.prompts.list({ limit: 1 })).items[0]).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
    });

    // Until the server that the proxy added is up, the agent has no such tool.
    const asked = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items.length === 1;
    await eventually(async () => (await editor.say('please ask')) === 'end_turn' && (await asked()));
    const [question] = await pending(hive);
    expect(question).toMatchObject({ question: 'Which colour?', session_id: first?.session_id });
    await hive.prompts.cancel(question?.ask_id ?? '', HUMAN, 'human');

    const cancelled = editor.say('please write');
    await pending(hive);
    await editor.cancel();
    expect(await cancelled).toBe('cancelled');
    await pending(hive, 0);

    const interrupted = editor.say('please write');
    await pending(hive);
    const outcome = await hive.interrupts.interrupt({ session: first?.session_id ?? '', actor: HUMAN });
    expect(outcome).toMatchObject({ outcome: 'aborted' });
    expect(await interrupted).toBe('cancelled');
    await pending(hive, 0);
    expect(made()).toBe('one\n');
  });
});
