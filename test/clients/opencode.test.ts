/** Client suite: what the real opencode asks, answered at a desk, by another client of its server, or not at all. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Child, childEnvironment, spawnHive } from '../support/children.ts';
import { answerDialog } from '../support/dialogs.ts';
import { HUMAN, untilPending } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { eventually } from '../support/wait.ts';
import { startModel, type ToolUse } from './support/anthropic.ts';
import {
  configureOpencode,
  type OpencodeProject,
  type OpencodeServe,
  serveOpencode,
} from './support/opencode.ts';
import { openWorld, turnsOf, type World } from './support/world.ts';

const WRITES: ToolUse = { name: 'bash', input: { command: 'echo one > made.txt', description: 'work' } };

interface Run extends World {
  model: Awaited<ReturnType<typeof startModel>>;
  server: OpencodeServe;
  project: OpencodeProject;
  attached: Child;
  session: string;
}

/** Most tests have only a project of their own in it, and a Hive that is attached for them. */
let shared: OpencodeServe;

beforeFile(async () => {
  shared = await serveOpencode();
});

const run = (...calls: ToolUse[]): Promise<Run> => runAt(async () => shared, ...calls);

/** With a server of its own, which was started where its project is. */
const runAlone = (...calls: ToolUse[]): Promise<Run> => runAt(serveOpencode, ...calls);

/** A session of opencode that Hive is attached to, whose model makes these calls one after the other. */
async function runAt(
  serverFor: (folder: string) => Promise<OpencodeServe>,
  ...calls: ToolUse[]
): Promise<Run> {
  const world = await openWorld();
  const model = await startModel((_request, step) => {
    const call = calls[step - 1];
    return call === undefined ? { text: 'all done' } : { calls: [call] };
  });
  const { hive: _, ...rest } = world;
  configureOpencode({ ...rest, model });
  const server = await serverFor(world.folder);
  const project = server.project(world.folder);
  const attached = attach(world, server.url);
  await eventually(() => attached.stderr().includes('Attached to'));
  const session = await project.session();
  await project.say(session, 'please begin');
  return { ...world, model, server, project, attached, session };
}

function attach({ store, folder }: World, url: string): Child {
  return spawnHive(['attach', 'opencode', url], childEnvironment(store, { HOME: folder }));
}

async function isDone({ model }: Run, steps: number): Promise<void> {
  await eventually(() => model.requests.length >= steps, undefined, `${steps} steps of the model`);
}

describe('a permission that opencode asks for', () => {
  test('is allowed at the desk: the agent acts, and its turn ends', async () => {
    const ran = await run(WRITES);
    const { hive, folder } = ran;
    const [prompt] = await untilPending(hive);
    expect(prompt).toMatchObject({
      kind: 'permission',
      header: 'Bash',
      question: 'Run echo one > made.txt?',
      agent: expect.stringMatching(/^OpenCode-/),
    });
    expect(prompt?.options[1]?.description).toContain('echo *');
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow once');
    await isDone(ran, 2);
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('one\n');
    await eventually(async () => (await turnsOf(hive))[0] === 'completed');
  });

  test('is answered by another client: the question is withdrawn, and the agent acts once', async () => {
    const ran = await run(WRITES);
    const { hive, project, folder } = ran;
    const [prompt] = await untilPending(hive);
    const [request] = (await project.get('/permission')) as { id: string }[];
    expect(await project.post(`/permission/${request?.id}/reply`, { reply: 'once' })).toMatchObject({
      status: 200,
    });
    await isDone(ran, 2);
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('one\n');
    await eventually(
      async () => (await hive.prompts.get(prompt?.ask_id ?? '')).cancel_reason === 'answered_elsewhere',
    );
  });

  test('always: opencode does not ask again for what it covers', async () => {
    const again: ToolUse = { name: 'bash', input: { command: 'echo two >> made.txt', description: 'work' } };
    const ran = await run(WRITES, again);
    const { hive, folder } = ran;
    const [prompt] = await untilPending(hive);
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow always');
    await isDone(ran, 3);
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('one\ntwo\n');
    expect((await hive.prompts.list({ limit: 10 })).items).toHaveLength(1);
  });

  test('is refused at the desk, and the model reads why', async () => {
    const ran = await run(WRITES);
    const [prompt] = await untilPending(ran.hive);
    await answerDialog(ran.hive, prompt?.ask_id ?? '', 'Use the script instead');
    await isDone(ran, 2);
    expect(ran.model.told()).toContain('Use the script instead');
    expect(existsSync(join(ran.folder, 'made.txt'))).toBe(false);
  });

  test('to write a file shows its path and its text', async () => {
    const file = { filePath: 'made.txt', content: 'three\n' };
    const ran = await run({ name: 'write', input: file });
    const [prompt] = await untilPending(ran.hive);
    expect(prompt).toMatchObject({ header: 'Write', question: 'Write made.txt?' });
    expect(prompt?.context).toContain('+ three');
    await answerDialog(ran.hive, prompt?.ask_id ?? '', 'Allow once');
    await isDone(ran, 2);
    expect(readFileSync(join(ran.folder, 'made.txt'), 'utf8')).toBe('three\n');
  });
});

test('a question of opencode is answered at the desk, with a comment', async () => {
  const options = [
    { label: 'Red', description: 'r' },
    { label: 'Blue', description: 'b' },
  ];
  const questions = [{ question: 'Which color?', header: 'Color', options }];
  const ran = await run({ name: 'question', input: { questions } });
  const [prompt] = await untilPending(ran.hive);
  expect(prompt).toMatchObject({ question: 'Color · Which color?', header: 'opencode asks' });
  await answerDialog(ran.hive, prompt?.ask_id ?? '', 'Blue', 'A dark one');
  await isDone(ran, 2);
  expect(ran.model.told()).toContain('Blue, A dark one');
});

test('an interrupt from the desk stops the turn, and its questions are withdrawn', async () => {
  const ran = await run(WRITES);
  await untilPending(ran.hive);
  const [session] = await ran.hive.sessions.list({ state: 'alive' });
  const outcome = await ran.hive.interrupts.interrupt({ session: session?.session_id ?? '', actor: HUMAN });
  expect(outcome).toMatchObject({ outcome: 'aborted' });
  await untilPending(ran.hive, 0);
  expect(existsSync(join(ran.folder, 'made.txt'))).toBe(false);
  expect(ran.model.requests).toHaveLength(1);
});

describe('killed', () => {
  test('opencode takes its question with it, and nothing is allowed', async () => {
    const { hive, server, folder } = await runAlone(WRITES);
    await untilPending(hive);
    await server.child.kill('SIGKILL');
    await untilPending(hive, 0);
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
  });

  test('hive attach leaves the question in opencode; attached again, it is asked again and can be answered', async () => {
    const ran = await runAlone(WRITES);
    const { hive, server, attached, folder } = ran;
    await untilPending(hive);
    await attached.kill('SIGKILL');
    const [session] = await hive.sessions.list({ state: 'alive' });
    await hive.sessions.sweep(session?.machine ?? '');
    await untilPending(hive, 0);
    attach(ran, server.url);
    const [prompt] = await untilPending(hive);
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow once');
    await isDone(ran, 2);
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('one\n');
  });
});
