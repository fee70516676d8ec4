/** Dialogs of Codex itself, its questions and the permission of a command or an edit, answered at a desk through its control socket. */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import { editToolsAt } from '../../src/infrastructure/platform/edits.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import {
  type AppServer,
  asksCommand,
  asksEdit,
  editItem,
  FILES,
  type Message,
  PATCH,
  RECORDED,
  startAppServer,
} from '../support/codex-app-server.ts';
import { answerDialog } from '../support/dialogs.ts';
import { HUMAN, noticesOf, prefer, recordingLog, SEAT, SEAT_SECRET } from '../support/hive.ts';
import { type Client, fire, recordedEvent } from '../support/hooks.ts';
import { trusting } from '../support/human-file.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const ASKS = recordedEvent('codex/PreToolUse-request_user_input.json');
const ended = (answers: string) => ({
  ...ASKS,
  hook_event_name: 'PostToolUse',
  tool_response: `{"answers":${answers}}`,
});
const AFTER = ended('{"color":{"answers":["Red"]}}');
const DIALOG = RECORDED.dialog;
const [listing, threads, joining, resumed, asked, answered, resolved] = DIALOG.map(({ message }) => message);

/** As recorded: a client that resumes the thread is shown its dialog, and an answer to it is confirmed. */
function standingDialog({ id, method }: Message): object | readonly object[] | undefined {
  if (method === 'initialize') return { result: {} };
  if (method === 'thread/loaded/list') return [threads ?? {}];
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
  const env = { ...trusting({ seats: [SEAT] }), CODEX_HOME: server.home };
  const hive = await openHive({ store: tempStore(), env, log: recordingLog() });
  hive.seats.useKey(SEAT_SECRET);
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
        surroundings: { machine: hostname(), codexHosts: async () => true, ...surroundings },
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
    const sent = server.messages.filter(({ method }) => !method?.startsWith('initialize'));
    expect(sent).toEqual([listing, joining, answered]);
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
    const idle = { result: { thread: { status: { type: 'idle' } } } };
    const { hive, server, hook, prompts } = await scene((message) =>
      message.method === 'thread/resume' ? idle : standingDialog(message),
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
    for (const changes of [{ codexHosts: async () => false }, { machine: 'elsewhere' }])
      expect(await hook(ASKS, changes)).toBe('');
    await prefer(hive, { dialog_wait: 'off' });
    expect(await hook(ASKS)).toBe('');
    expect(await prompts()).toEqual([]);
  });
});

/** A daemon whose thread has these items, and shows these dialogs until they are answered. */
function showing(dialogs: readonly Message[], items: readonly object[] = []) {
  const decisions: unknown[] = [];
  const result = {
    thread: { status: { type: 'active', activeFlags: ['waitingOnApproval'] } },
    initialTurnsPage: { data: [{ items }] },
  };
  const reply = ({ id, method, result: given }: Message): object | readonly object[] => {
    if (method === 'initialize') return { result: {} };
    if (method === 'thread/loaded/list') return [threads ?? {}];
    if (method === 'thread/resume') return [{ id, result }, ...dialogs];
    decisions.push([id, given?.['decision']]);
    return [{ method: 'serverRequest/resolved', params: { requestId: id } }];
  };
  return { decisions, reply };
}

describe('the permission of a command that Codex asks for', () => {
  const PERMISSION = recordedEvent('codex/PermissionRequest-Bash.json');

  async function asks(dialogs: readonly Message[]) {
    const { decisions, reply } = showing(dialogs);
    const found = await scene(reply);
    expect(await found.hook(PERMISSION)).toBe('');
    const [prompt = expect.fail()] = await found.prompts();
    return { ...found, decisions, prompt };
  }

  test('that would run elsewhere than was displayed is refused, and its human is told', async () => {
    const { hive, decisions, prompt } = await asks([asksCommand('echo esc', 5, { cwd: '/elsewhere' })]);
    expect(prompt.context).toContain('Directory: /home/user/project');
    await answerDialog(hive, prompt.ask_id, 'Allow');
    await eventually(() => decisions.length > 0);
    expect(decisions).toEqual([[5, 'decline']]);
    expect(await noticesOf(hive)).toEqual([expect.stringContaining(`${prompt.ask_id} does not show`)]);
  });

  test('is left to the terminal if the request names anything that was not displayed, and its human is told', async () => {
    const network = { additionalPermissions: { network: { enabled: true } } };
    const { hive, decisions, prompt } = await asks([asksCommand('echo esc', 5, network)]);
    await answerDialog(hive, prompt.ask_id, 'Allow');
    await eventually(async () => (await noticesOf(hive)).length > 0);
    expect(await noticesOf(hive)).toEqual([expect.stringContaining('still open there: Run echo esc?')]);
    expect(decisions).toEqual([]);
    await eventually(async () => (await hive.prompts.get(prompt.ask_id)).carrier === null);
  });

  test('is answered among other dialogs that are open, and its words come with the next hook', async () => {
    const { hive, hook, decisions, prompt } = await asks([
      asksCommand('echo other', 4),
      asksCommand('echo esc', 5),
      asksCommand('echo esc', 6),
    ]);
    await answerDialog(hive, prompt.ask_id, 'Allow', 'only this once');
    await eventually(() => decisions.length > 0);
    expect(decisions).toEqual([[5, 'accept']]);
    const after = { ...PERMISSION, hook_event_name: 'PostToolUse', tool_response: '' };
    await eventually(async () => (await hook(after)).includes('only this once'));
  });

  test('of a subagent, of another tool, or of a thread that the daemon does not host, is not offered this way', async () => {
    const { reply } = showing([]);
    const { hook, prompts } = await scene(reply);
    expect(await hook({ ...PERMISSION, agent_id: 'agent-1' })).toBe('');
    expect(await hook({ ...PERMISSION, tool_name: 'mcp__shop__pay' })).toBe('');
    expect(await hook(PERMISSION, { codexHosts: async () => false })).toBe('');
    expect(await prompts()).toEqual([]);
  });
});

describe('the permission of an edit that Codex asks for', () => {
  const PERMISSION = recordedEvent('codex/PermissionRequest-apply_patch.json');

  /** Changes of the same files, one of them to another text. */
  const OTHER = RECORDED.edit.item.changes.map((change) => ({
    ...change,
    diff: String(change['diff']).replace('+B', '+C'),
  }));

  /** An edit that waits in the daemon, at a desk; `items`: those of its thread, `asks`: the facts of its request. */
  async function asks({
    items,
    asks: facts = {},
  }: {
    items?: (folder: string) => object[];
    asks?: object;
  } = {}) {
    const folder = tempFolder();
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
    const transcript_path = join(folder, 'rollout.jsonl');
    writeFileSync(transcript_path, '{"type":"session_meta","payload":{"cli_version":"0.169.0"}}');
    const own = editItem(folder, 'call-2');
    const dialogs = [asksEdit('call-1', 4), asksEdit('call-2', 5, { ...facts })];
    const { decisions, reply } = showing(dialogs, items?.(folder) ?? [own]);
    const found = await scene(reply);
    const event = { ...PERMISSION, cwd: folder, transcript_path, tool_input: { command: PATCH } };
    const printed = await found.hook(event, {
      editTools: async (cwd) => editToolsAt(cwd),
      codexItems: async () => [own],
    });
    expect(printed).toBe('');
    const [prompt = expect.fail()] = await found.prompts();
    return { ...found, folder, event, decisions, prompt };
  }

  test('is allowed, and the human is told if its effect is not what was displayed', async () => {
    const { hive, hook, folder, event, decisions, prompt } = await asks();
    expect(prompt.context).toContain(`Directory: ${folder}`);
    await answerDialog(hive, prompt.ask_id, 'Allow');
    await eventually(() => decisions.length > 0);
    expect(decisions).toEqual([[5, 'accept']]);
    expect(await noticesOf(hive)).toEqual([]);
    writeFileSync(join(folder, 'known.txt'), 'something else');
    await hook({ ...event, hook_event_name: 'PostToolUse' }, { editTools: async (cwd) => editToolsAt(cwd) });
    expect(await noticesOf(hive)).toEqual([
      expect.stringContaining('did not make the change that you allowed'),
    ]);
  });

  test('is refused, and its words come with the next hook', async () => {
    const { hive, hook, event, decisions, prompt } = await asks();
    await answerDialog(hive, prompt.ask_id, 'Deny', 'write a test first');
    await eventually(() => decisions.length > 0);
    expect(decisions).toEqual([[5, 'decline']]);
    const after = { ...event, hook_event_name: 'PostToolUse', tool_response: '' };
    await eventually(async () => (await hook(after)).includes('write a test first'));
  });

  test.each<[string, Parameters<typeof asks>[0], ((folder: string) => void)?]>([
    ['if its item would make another change', { items: (folder) => [editItem(folder, 'call-2', OTHER)] }],
    ['if Codex does not show its item', { items: () => [] }],
    ['if the request has anything that was not displayed', { asks: { grantRoot: '/' } }],
    ['if a file has changed', {}, (folder) => writeFileSync(join(folder, 'known.txt'), 'a\nb\nd\n')],
    [
      'if a file has more lines now',
      {},
      (folder) => writeFileSync(join(folder, 'known.txt'), 'a\nb\nc\nd\n'),
    ],
  ])('is left to the terminal %s, and its human is told', async (_, scene, change) => {
    const { hive, folder, decisions, prompt } = await asks(scene);
    change?.(folder);
    await answerDialog(hive, prompt.ask_id, 'Allow');
    await eventually(async () => (await noticesOf(hive)).length > 0);
    expect(await noticesOf(hive)).toEqual([
      expect.stringContaining('still open there: Apply a patch to made.txt'),
    ]);
    expect(decisions).toEqual([]);
  });

  test('is not offered this way unless Codex reports the same changes, and none of a subagent', async () => {
    const { hook, event, prompts, prompt } = await asks();
    const surroundings = { editTools: async (cwd: string) => editToolsAt(cwd), codexItems: async () => [] };
    await hook(event, surroundings);
    await hook(
      { ...event, agent_id: 'agent-1' },
      { ...surroundings, codexItems: async () => [editItem(event.cwd, 'call-2')] },
    );
    expect((await prompts()).map(({ ask_id }) => ask_id)).toEqual([prompt.ask_id]);
  });
});
