/** The asker of an interrupt does more than wait: it uses Codex's control socket. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { breathe } from '../../src/application/background.ts';
import { createCodexControl } from '../../src/infrastructure/platform/codex-control.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { RECORDED, startAppServer } from '../support/codex-app-server.ts';
import { ENDED } from '../support/ended-process.ts';
import { HUMAN } from '../support/hive.ts';
import { fire } from '../support/hooks.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const TURN = { thread_id: 'thread-1', client_turn_id: 'turn-7' };

async function hiveWith(env: Record<string, string>): Promise<OpenedHive> {
  return closedAtEnd(await openHive({ store: tempStore(), env }));
}

async function codexTurn(hive: OpenedHive): Promise<void> {
  const event = { session_id: 'thread-1', turn_id: 'turn-7', cwd: '/', prompt: 'go' };
  await fire(
    hive,
    { ...event, hook_event_name: 'UserPromptSubmit' },
    { client: 'codex', surroundings: { machine: hostname() } },
  );
}

describe('the control socket of Codex', () => {
  test('turn/interrupt with the thread and the turn, after the handshake', async () => {
    const server = await startAppServer(tempFolder(), () => ({ result: {} }));
    expect(await createCodexControl({ CODEX_HOME: server.home }).interrupt(TURN)).toBe(true);
    expect(server.messages.map(({ method }) => method)).toEqual([
      'initialize',
      'initialized',
      'turn/interrupt',
    ]);
    expect(server.messages.at(-1)?.params).toEqual({ threadId: 'thread-1', turnId: 'turn-7' });
  });

  test('as recorded: other messages from Codex in between are no replies, even with the same id', async () => {
    const { sequence, refusals } = RECORDED;
    const sent = sequence.filter(({ from }) => from === 'client').map(({ message }) => message);
    const said = sequence.filter(({ from }) => from === 'codex').map(({ message }) => message);
    const asks = { id: 2, method: 'item/tool/requestUserInput', params: {} };
    const replyTo = (id?: number): object[] => [
      ...said.filter((message) => 'method' in message || message.id === id),
      { ...asks, id },
    ];
    const server = await startAppServer(tempFolder(), ({ id }) => [asks, ...replyTo(id)]);
    const params = sent.at(-1)?.params as { threadId: string; turnId: string };
    const turn = { thread_id: params.threadId, client_turn_id: params.turnId };
    expect(await createCodexControl({ CODEX_HOME: server.home }).interrupt(turn)).toBe(true);
    expect(server.messages).toEqual(sent);
    for (const { error } of refusals) {
      const refusing = await startAppServer(tempFolder(), ({ method, id }) =>
        method === 'initialize' ? replyTo(id) : { error },
      );
      expect(await createCodexControl({ CODEX_HOME: refusing.home }).interrupt(turn)).toBe(false);
    }
  });

  test.each(['a folder', 'a:b', 'what?#%20'])('in a home called %j', async (name) => {
    const server = await startAppServer(join(tempFolder(), name), () => ({ result: {} }));
    expect(await createCodexControl({ CODEX_HOME: server.home }).interrupt(TURN)).toBe(true);
  });

  test('a long id is sent whole', async () => {
    const server = await startAppServer(tempFolder(), () => ({ result: {} }));
    const client_turn_id = 'x'.repeat(1_000);
    await createCodexControl({ CODEX_HOME: server.home }).interrupt({ ...TURN, client_turn_id });
    expect(server.messages.at(-1)?.params?.['turnId']).toBe(client_turn_id);
  });

  test.each([
    ['refuses', { error: { code: -32600, message: 'no such turn' } }, false],
    ['never answers', undefined, null],
  ])('one that %s is no success, and does not hold anybody', async (_name, reply, outcome) => {
    const server = await startAppServer(tempFolder(), ({ method }) =>
      method === 'initialize' ? { result: {} } : reply,
    );
    expect(await createCodexControl({ CODEX_HOME: server.home }).interrupt(TURN)).toBe(outcome);
  });

  test('one that does not even greet is no success', async () => {
    const server = await startAppServer(tempFolder(), () => undefined);
    expect(await createCodexControl({ CODEX_HOME: server.home }).interrupt(TURN)).toBe(false);
  });

  test('without a socket, or with one that is no WebSocket: no success', async () => {
    expect(await createCodexControl({ CODEX_HOME: tempFolder() }).interrupt(TURN)).toBe(false);
    expect(await createCodexControl({}).interrupt(TURN)).toBe(false);
    const home = tempFolder();
    mkdirSync(join(home, 'app-server-control'));
    const mute = createServer((socket) =>
      socket.resume().end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'),
    );
    await new Promise<void>((resolve) =>
      mute.listen(join(home, 'app-server-control/app-server-control.sock'), resolve),
    );
    onTestFinished(() => new Promise<void>((resolve) => mute.close(() => resolve())));
    expect(await createCodexControl({ CODEX_HOME: home }).interrupt(TURN)).toBe(false);
  });
});

describe('an interrupt of a turn of Codex', () => {
  test('ends it through the socket, in the name of the asker', async () => {
    const server = await startAppServer(tempFolder(), () => ({ result: {} }));
    const hive = await hiveWith({ CODEX_HOME: server.home });
    await codexTurn(hive);
    const outcome = await hive.interrupts.interrupt({ session: 'thread-1', actor: HUMAN });
    expect(outcome).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted', by: 'ada' });
    expect(server.messages.at(-1)?.params).toEqual({ threadId: 'thread-1', turnId: 'turn-7' });
  });

  /** An interrupt has been asked of a Codex that does not answer; its Interrupt hook then ends it, as the asker's. */
  async function askedSilently(): Promise<{ home: string; endsByHook: () => Promise<void> }> {
    const server = await startAppServer(tempFolder(), ({ method }) =>
      method === 'initialize' ? { result: {} } : undefined,
    );
    const hive = await hiveWith({ CODEX_HOME: server.home });
    await codexTurn(hive);
    const reply = hive.interrupts.interrupt({ session: 'thread-1', actor: HUMAN });
    await eventually(() => server.messages.some(({ method }) => method === 'turn/interrupt'));
    const event = { session_id: 'thread-1', turn_id: 'turn-7', cwd: '/', hook_event_name: 'Interrupt' };
    return {
      home: server.home,
      async endsByHook() {
        await fire(hive, event, { client: 'codex' });
        expect(await reply).toMatchObject({ outcome: 'aborted', by: 'ada' });
      },
    };
  }

  test('if its Interrupt hook comes first, it is the same interrupt, not the terminal’s', async () => {
    const { endsByHook } = await askedSilently();
    await endsByHook();
  });

  test('so it is if the turn takes longer to end than anybody waits for the socket', async () => {
    const { home, endsByHook } = await askedSilently();
    // Another caller, who begins later, has waited long enough.
    expect(await createCodexControl({ CODEX_HOME: home }).interrupt(TURN)).not.toBe(true);
    await endsByHook();
  });

  test('if a hook has stopped it first, the asker still leaves only when Codex has answered', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<object>();
    const server = await startAppServer(tempFolder(), ({ method }) =>
      method === 'initialize' ? { result: {} } : answered,
    );
    const hive = await hiveWith({ CODEX_HOME: server.home });
    await codexTurn(hive);
    const { turn_id } = (await hive.turns.current('thread-1')) ?? expect.fail();
    const ask = () => hive.interrupts.interrupt({ session: 'thread-1', turn_id, actor: HUMAN });
    let left = false;
    const reply = ask().finally(() => {
      left = true;
    });
    await eventually(() => server.messages.some(({ method }) => method === 'turn/interrupt'));
    const other = ask();
    const pending = () => hive.store.read((tx) => tx.turns.pendingInterrupts(turn_id));
    await eventually(async () => (await pending()).length === 2);
    const call = { tool_name: 'Bash', tool_input: { command: 'true' }, tool_use_id: 'call-1' };
    const event = { session_id: 'thread-1', turn_id: 'turn-7', cwd: '/', hook_event_name: 'PreToolUse' };
    expect(await fire(hive, { ...event, ...call }, { client: 'codex' })).toContain('ada');
    // Both learn at the same time that the turn is over.
    expect(await other).toMatchObject({ outcome: 'aborted', by: 'ada' });
    await breathe();
    expect(left).toBe(false);
    answer({ result: {} });
    expect(await reply).toMatchObject({ outcome: 'aborted', by: 'ada' });
  });

  test('20 askers cause one call', async () => {
    const server = await startAppServer(tempFolder(), () => ({ result: {} }));
    const hive = await hiveWith({ CODEX_HOME: server.home });
    await codexTurn(hive);
    const ask = (): Promise<unknown> => hive.interrupts.interrupt({ session: 'thread-1', actor: HUMAN });
    await Promise.all(Array.from({ length: 20 }, () => ask().catch(() => undefined)));
    expect(server.messages.filter(({ method }) => method === 'turn/interrupt')).toHaveLength(1);
  });
});

test('a process is identified by its start: the same each time, different for another process', async () => {
  const own = processes.startedAt(process.pid);
  expect(own).toBe(processes.startedAt(process.pid));
  expect(own).not.toBe(processes.startedAt(process.ppid));
  expect(processes.startedAt(ENDED)).toBeNull();
});
