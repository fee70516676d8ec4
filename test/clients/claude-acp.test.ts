/** Client suite: the real Claude Code behind ACP (claude-agent-acp), started by `hive acp` as an editor does. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { expect, inject, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import { spawnHive } from '../support/children.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { HUMAN, untilPending } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { bash, type ModelRequest, startModel, type ToolUse } from './support/anthropic.ts';
import { claudeEnvironment } from './support/claude.ts';
import { openWorld, type World } from './support/world.ts';

const { claudeAcp } = inject('editorAgents');
const WRITES = bash('echo one > made.txt');

interface Run extends World {
  model: Awaited<ReturnType<typeof startModel>>;
  /** The turn, once it has ended. */
  turn: Promise<{ stopReason: string }>;
  /** The requests that the editor shows, with what answers them. */
  dialogs: ((optionId: string) => void)[];
}

/**
 * A session in an editor without forms, whose model makes these calls one after the other. `mode`: of Claude Code; the one
 * that the adapter chooses by itself asks for less.
 */
async function run(
  calls: readonly (ToolUse | ((request: ModelRequest) => ToolUse))[],
  mode: string,
): Promise<Run> {
  const world = await openWorld();
  await openDesk(world.hive);
  const model = await startModel((request, step) => {
    const call = calls[step - 1];
    if (call === undefined) return { text: 'all done' };
    return { calls: [typeof call === 'function' ? call(request) : call] };
  });
  const { hive: _, ...rest } = world;
  const env = claudeEnvironment({ ...rest, model });
  const child = spawnHive(['acp', '--no-mcp', '--', process.execPath, claudeAcp], env);
  const dialogs: Run['dialogs'] = [];
  const connection = acp
    .client({ name: 'test-editor' })
    .onRequest(
      'session/request_permission',
      () =>
        new Promise<acp.RequestPermissionResponse>((resolve) => {
          dialogs.push((optionId) => resolve({ outcome: { outcome: 'selected', optionId } }));
        }),
    )
    .connect(
      acp.ndJsonStream(
        Writable.toWeb(child.process.stdin),
        Readable.toWeb(child.process.stdout) as unknown as ReadableStream<Uint8Array>,
      ),
    );
  await connection.agent.request('initialize', {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: {},
  });
  const { sessionId } = await connection.agent.request('session/new', { cwd: world.folder, mcpServers: [] });
  await connection.agent.request('session/set_mode', { sessionId, modeId: mode });
  const turn = connection.agent.request('session/prompt', {
    sessionId,
    prompt: [{ type: 'text', text: 'please begin' }],
  });
  turn.catch(() => undefined);
  return { ...world, model, turn, dialogs };
}

/** The label of the first option that matches. */
function labelled(prompt: Prompt | undefined, pattern: RegExp): string {
  return prompt?.options.find(({ label }) => pattern.test(label))?.label ?? '';
}

test('a permission is allowed at the desk, and Claude acts once', async () => {
  const { hive, folder, turn, dialogs } = await run([WRITES], 'default');
  const [prompt] = await untilPending(hive);
  expect(prompt).toMatchObject({ kind: 'permission', question: 'Run echo one > made.txt?' });
  await eventually(() => dialogs.length === 1);
  await answerDialog(hive, prompt?.ask_id ?? '', labelled(prompt, /^(Allow|Yes)$/));
  expect(await turn).toMatchObject({ stopReason: 'end_turn' });
  expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('one\n');
});

test('a permission is refused in the editor, and the question at the desk is withdrawn', async () => {
  const { hive, folder, turn, dialogs } = await run([WRITES], 'default');
  const [prompt] = await untilPending(hive);
  await eventually(() => dialogs.length === 1);
  dialogs[0]?.('reject');
  await turn;
  expect(existsSync(join(folder, 'made.txt'))).toBe(false);
  expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
    status: 'cancelled',
    cancel_reason: 'answered_elsewhere',
  });
});

test('a question of the model is answered at the desk with a comment, although the editor shows no forms', async () => {
  const options = [
    { label: 'Red', description: 'r' },
    { label: 'Blue', description: 'b', preview: 'like the sea' },
  ];
  const questions = [{ question: 'Which color?', header: 'Color', options, multiSelect: false }];
  const { hive, model, turn } = await run([{ name: 'AskUserQuestion', input: { questions } }], 'default');
  const [prompt] = await untilPending(hive);
  expect(prompt?.context).toContain('Blue:\n\n    like the sea');
  await answerDialog(hive, prompt?.ask_id ?? '', 'Blue', 'a dark one');
  expect(await turn).toMatchObject({ stopReason: 'end_turn' });
  expect(model.told()).toContain('Blue');
  expect(model.told()).toContain('a dark one');
});

test('a plan is shown at the desk, and approved there', async () => {
  const PLAN = '# The plan\n\n1. Do it.\n';
  const writesPlan = (request: ModelRequest): ToolUse => {
    const [, file_path = ''] = /([^\s\\"'(`]+\/plans\/[\w.-]+?\.md)/.exec(JSON.stringify(request)) ?? [];
    return { name: 'Write', input: { file_path, content: PLAN } };
  };
  const { hive, model, turn } = await run([writesPlan, { name: 'ExitPlanMode', input: {} }], 'plan');
  const [prompt] = await untilPending(hive);
  expect(prompt?.context).toContain('1. Do it.');
  await answerDialog(hive, prompt?.ask_id ?? '', labelled(prompt, /manually approve/));
  expect(await turn).toMatchObject({ stopReason: 'end_turn' });
  expect(model.told()).toContain('approved');
});

test('an interrupt from the desk cancels the turn, and nothing is allowed', async () => {
  const { hive, folder, turn } = await run([WRITES], 'default');
  await untilPending(hive);
  const [session] = await hive.sessions.list({ state: 'alive' });
  const outcome = await hive.interrupts.interrupt({ session: session?.session_id ?? '', actor: HUMAN });
  expect(outcome).toMatchObject({ outcome: 'aborted' });
  expect(await turn).toMatchObject({ stopReason: 'cancelled' });
  await untilPending(hive, 0);
  expect(existsSync(join(folder, 'made.txt'))).toBe(false);
});
