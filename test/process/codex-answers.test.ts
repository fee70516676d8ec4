/** Questions of Codex itself, answered at a desk instead of in its dialog, through its control socket. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { ROOT } from '../support/children.ts';
import { type AppServer, type Message, startAppServer } from '../support/codex-app-server.ts';
import { HUMAN, prefer, recordingLog } from '../support/hive.ts';
import { type Client, fire, recordedEvent } from '../support/hooks.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const ASKS = recordedEvent('codex/PreToolUse-request_user_input.json');
const ended = (answers: string) => ({
  ...ASKS,
  hook_event_name: 'PostToolUse',
  tool_response: `{"answers":${answers}}`,
});
const AFTER = ended('{"color":{"answers":["Red"]}}');
const DIALOG = (
  JSON.parse(readFileSync(join(ROOT, 'test/wire/fixtures/codex/control-socket.json'), 'utf8')) as {
    dialog: { from: string; message: Message }[];
  }
).dialog;
const [, resumed, asked, answered, resolved] = DIALOG.map(({ message }) => message);

/** As recorded: a client that resumes the thread is shown its dialog, and an answer to it is confirmed. */
function standingDialog({ id, method }: Message): object | readonly object[] | undefined {
  if (method === 'initialize') return { result: {} };
  if (method === 'thread/resume') return [resumed, asked].filter((message) => message !== undefined);
  return id === asked?.id ? [resolved ?? {}] : undefined;
}

interface Scene {
  hive: OpenedHive;
  server: AppServer;
  hook(raw: object, changes?: Client['surroundings'] & { env?: Record<string, string> }): Promise<string>;
  prompts(): Promise<Prompt[]>;
}

/** A desk on this machine, whose process answers dialogs, and a daemon with that protocol. */
async function scene(reply: (message: Message) => object | readonly object[] | undefined): Promise<Scene> {
  const server = await startAppServer(tempFolder(), reply);
  const hive = await openHive({ store: tempStore(), env: { CODEX_HOME: server.home }, log: recordingLog() });
  onTestFinished(() => hive.close());
  const desk = await hive.desks.open({ seat: `ada@${hostname()}`, pid: process.pid, client: 'test' });
  onTestFinished(() => desk.close());
  hive.startCodexAnswers();
  return {
    hive,
    server,
    hook: (raw, { env = {}, ...surroundings } = {}) =>
      fire(hive, raw as Record<string, unknown>, {
        client: 'codex',
        env,
        surroundings: { machine: hostname(), codexListens: () => true, ...surroundings },
      }),
    prompts: async () => (await hive.prompts.list({ limit: 10 })).items,
  };
}

describe('a question that Codex asks by itself', () => {
  test("is a prompt as well as a dialog, and the desk's answer goes into the dialog", async () => {
    const { hive, server, hook, prompts } = await scene(standingDialog);
    // The hook prints nothing and does not wait; otherwise its terminal would show no question.
    expect(await hook(ASKS)).toBe('');
    const [prompt] = await prompts();
    expect(prompt).toMatchObject({
      kind: 'question',
      question: 'Which color?',
      dialog: true,
      expires_at: null,
    });
    expect(prompt?.options.map(({ label }) => label)).toEqual(['Red', 'Blue']);
    const ask_id = prompt?.ask_id ?? '';
    await hive.prompts.respond({ ask_id, decision: 'Blue', actor: HUMAN });
    await eventually(() => server.messages.some(({ id }) => id === asked?.id));
    expect(server.messages.slice(2)).toEqual([DIALOG[0]?.message, answered]);
    // The dialog has given it to the model: no hook repeats it, and the end of the turn proves that it was read.
    expect(await hook(AFTER)).toBe('');
    expect(await hook({ ...ASKS, hook_event_name: 'Stop' })).toBe('');
    expect((await hive.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
  });

  test('answered at the terminal first, it is withdrawn', async () => {
    const { hive, hook, prompts } = await scene(standingDialog);
    await hook(ASKS);
    await hook(AFTER);
    const [prompt] = await prompts();
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
      by: 'terminal',
    });
  });

  test('that Codex closes by itself, because nobody answered in time, does not count as answered', async () => {
    const { hive, hook, prompts } = await scene(standingDialog);
    await hook(ASKS);
    const [prompt] = await prompts();
    await hook(ended('{}'));
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'unknown',
    });
  });

  test('whose dialog is gone before the answer: the next hook delivers the answer', async () => {
    const gone = { error: { code: -32600, message: 'thread not found' } };
    const { hive, server, hook, prompts } = await scene(({ method }) =>
      method === 'initialize' ? { result: {} } : gone,
    );
    await hook(ASKS);
    const [prompt] = await prompts();
    const ask_id = prompt?.ask_id ?? '';
    await hive.prompts.respond({ ask_id, decision: 'Blue', actor: HUMAN });
    await eventually(() => server.messages.some(({ method }) => method === 'thread/resume'));
    await eventually(async () => {
      const { handed_at, carrier } = await hive.prompts.get(ask_id);
      return handed_at !== null && carrier === null;
    });
    expect(await hook(AFTER)).toContain(`Answer to ${ask_id}`);
  });

  test('that no desk here could answer is left to the terminal', async () => {
    const { hive, hook, prompts } = await scene(standingDialog);
    for (const changes of [{ codexListens: () => false }, { machine: 'elsewhere' }])
      expect(await hook(ASKS, changes)).toBe('');
    await prefer(hive, { dialog_wait: 'off' });
    expect(await hook(ASKS)).toBe('');
    expect(await prompts()).toEqual([]);
  });
});
