/**
 * `hive acp` as an editor starts it: the real program between a client and an agent on the official SDK.
 *
 * @module-tag one-winner
 * @module-tag acp
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { describe, expect, test } from 'vitest';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { answerDialog } from '../support/dialogs.ts';
import { newHive, SEAT, untilPending } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const AGENT = join(import.meta.dirname, 'children/acp-agent.ts');

interface Editor {
  /** Sends a prompt; resolves when its turn has ended. */
  prompt(text: string): Promise<{ stopReason: string }>;
  /** Answers the dialog that the editor shows. */
  answer(optionId: string): Promise<void>;
  folder: string;
  /** The exit code of `hive acp`, once it has ended. */
  ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
  close(): void;
  err(): string;
}

/** An editor that starts the scripted agent through the proxy. */
async function openEditor(
  store: string,
  command: string[] = [process.execPath, AGENT],
  variables: Readonly<Record<string, string>> = {},
): Promise<Editor> {
  const folder = tempFolder();
  const env = { ...trusting({ seats: [SEAT] }), ACP_SEEN: join(folder, 'seen'), ...variables };
  const child = spawnHive(['acp', '--', ...command], childEnvironment(store, env));
  let err = '';
  child.process.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.process.once('close', resolve));
  const dialogs: ((optionId: string) => void)[] = [];
  const client = acp.client({ name: 'test-editor' }).onRequest(
    'session/request_permission',
    () =>
      new Promise<acp.RequestPermissionResponse>((resolve) => {
        dialogs.push((optionId) => resolve({ outcome: { outcome: 'selected', optionId } }));
      }),
  );
  const connection = client.connect(
    acp.ndJsonStream(
      Writable.toWeb(child.process.stdin),
      Readable.toWeb(child.process.stdout) as unknown as ReadableStream<Uint8Array>,
    ),
  );
  let sessionId = '';
  return {
    async prompt(text) {
      if (sessionId === '') {
        await connection.agent.request('initialize', {
          protocolVersion: acp.PROTOCOL_VERSION,
          clientCapabilities: {},
        });
        ({ sessionId } = await connection.agent.request('session/new', { cwd: folder, mcpServers: [] }));
      }
      return connection.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
    },
    async answer(optionId) {
      await eventually(() => dialogs.length > 0);
      dialogs.shift()?.(optionId);
    },
    folder,
    ended,
    kill: (signal) => void child.process.kill(signal),
    close: () => child.process.stdin.end(),
    err: () => err,
  };
}

const onlyPending = async (hive: OpenedHive): Promise<string> => (await untilPending(hive))[0]?.ask_id ?? '';

/** An editor whose agent wants to write `file` and waits for the answer. */
async function askedToWrite() {
  const { store, hive } = await newHive();
  const editor = await openEditor(store);
  const file = join(editor.folder, 'made');
  const turn = editor.prompt(`write ${file}`);
  // A test that ends the proxy or the agent does not wait for the turn.
  turn.catch(() => undefined);
  return { store, hive, editor, file, turn, ask_id: await onlyPending(hive) };
}

test('an allow at the desk lets the agent act once, and the editor’s answer afterwards changes nothing', async () => {
  const { hive, editor, file, turn, ask_id } = await askedToWrite();
  await answerDialog(hive, ask_id, 'Allow');
  expect(await turn).toMatchObject({ stopReason: 'end_turn' });
  expect(readFileSync(file, 'utf8')).toBe('written\n');
  await editor.answer('no');
  const [seen] = readFileSync(join(editor.folder, 'seen'), 'utf8').split('\n');
  const { mcpServers } = JSON.parse(seen ?? '');
  expect(mcpServers).toMatchObject([{ name: 'hive', args: [expect.stringMatching(/bin\/hive$/), 'mcp'] }]);
  editor.close();
  expect(await editor.ended).toBe(0);
});

test('an agent that takes MCP servers over HTTP only asks as the same session, and nobody else may use that server', async () => {
  const { store, hive } = await newHive();
  const editor = await openEditor(store, undefined, { ACP_ONLY: 'http' });
  expect(await editor.prompt('ask Which colour?')).toMatchObject({ stopReason: 'end_turn' });
  const asked = await hive.prompts.get(await onlyPending(hive));
  const [session] = await hive.sessions.list();
  expect(asked).toMatchObject({ question: 'Which colour?', session_id: session?.session_id });
  const seen = readFileSync(join(editor.folder, 'seen'), 'utf8').trim().split('\n');
  const { url } = JSON.parse(seen.at(-1) ?? '').mcpServers[0];
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
  expect(editor.err()).toBe('');
  editor.close();
  expect(await editor.ended).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
});

test('the editor’s answer counts if it is first, and the question is withdrawn', async () => {
  const { hive, editor, file, turn, ask_id } = await askedToWrite();
  await editor.answer('no');
  await turn;
  expect(existsSync(file)).toBe(false);
  expect(await hive.prompts.get(ask_id)).toMatchObject({
    status: 'cancelled',
    cancel_reason: 'answered_elsewhere',
  });
  editor.close();
  await editor.ended;
});

test('a proxy that is killed allows nothing: its agent ends, and the question is withdrawn with its session', async () => {
  const { hive, editor, file, ask_id } = await askedToWrite();
  const [session] = await hive.sessions.list();
  editor.kill('SIGKILL');
  await editor.ended;
  // The agent has lost its input, and ends.
  await eventually(() => !processes.alive(session?.pid ?? 0));
  await hive.sessions.sweep(session?.machine ?? '');
  expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled' });
  expect(existsSync(file)).toBe(false);
});

describe('an agent that is killed', () => {
  async function agentOf(hive: OpenedHive): Promise<number> {
    const [session] = await hive.sessions.list({ state: 'alive' });
    return session?.pid ?? 0;
  }

  test('with a question open, takes it and the proxy with it; the next one asks once', async () => {
    const { store, hive, editor, file, ask_id } = await askedToWrite();
    process.kill(await agentOf(hive), 'SIGKILL');
    expect(await editor.ended).toBe(137);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', decision: null });
    expect(await answerDialog(hive, ask_id, 'Allow')).toMatchObject({ outcome: 'late' });
    expect(existsSync(file)).toBe(false);
    expect(await hive.turns.running()).toEqual([]);

    const next = await openEditor(store);
    const turn = next.prompt(`write ${file}`);
    await answerDialog(hive, await onlyPending(hive), 'Reject');
    expect(await turn).toMatchObject({ stopReason: 'end_turn' });
    next.close();
    expect(await next.ended).toBe(0);
  });

  test('before an answer reaches it, does nothing, and nothing hangs', async () => {
    const { hive, editor, file, ask_id } = await askedToWrite();
    const agent = await agentOf(hive);
    process.kill(agent, 'SIGSTOP');
    await answerDialog(hive, ask_id, 'Allow');
    await eventually(async () => (await hive.prompts.get(ask_id)).handed_at !== null);
    process.kill(agent, 'SIGKILL');
    expect(await editor.ended).toBe(137);
    expect(existsSync(file)).toBe(false);
    expect((await hive.prompts.list({ status: 'pending', limit: 5 })).items).toEqual([]);
  });
});

test('an agent that ends takes the proxy with it, with its exit code', async () => {
  const editor = await openEditor(tempStore(), ['sh', '-c', 'exit 7']);
  expect(await editor.ended).toBe(7);
});

test('an agent that cannot be started is named', async () => {
  const editor = await openEditor(tempStore(), ['/no/such/agent']);
  expect(await editor.ended).toBe(2);
  expect(editor.err()).toContain('The agent /no/such/agent could not be started');
});

test('without a store the agent runs anyway, and its person is told', async () => {
  const editor = await openEditor('/dev/null/hive.db', ['cat']);
  editor.close();
  expect(await editor.ended).toBe(0);
  expect(editor.err()).toContain('The agent runs without Hive');
});
