/** Client suite 5: what the real Claude Code asks in its terminal, answered at a desk, at the terminal, or not at all. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { permissionDigest } from '../../src/domain/permissions.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openDesk } from '../support/dialogs.ts';
import { openHome } from '../support/emacs.ts';
import { HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { bash, startModel, type ToolUse } from './support/anthropic.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { openClaude } from './support/claude-terminal.ts';
import { openWorld, type World } from './support/world.ts';

const COLORS = [
  { label: 'Red', description: 'r' },
  { label: 'Blue', description: 'b' },
];
const WRITES = bash('echo one > made.txt');
const QUESTIONS: ToolUse = {
  name: 'AskUserQuestion',
  input: {
    questions: [
      {
        question: 'Which color?',
        header: 'Color',
        options: COLORS,
        multiSelect: false,
      },
      {
        question: 'Which parts?',
        header: 'Parts',
        options: [
          { label: 'API', description: 'a' },
          { label: 'UI', description: 'u' },
          { label: 'Docs', description: 'd' },
        ],
        multiSelect: true,
      },
    ],
  },
};

interface Run extends World {
  model: Awaited<ReturnType<typeof startModel>>;
  claude: ChatTerminal;
}

/** A session in the terminal whose model makes one call, and has been sent a message. */
async function run(
  call: ToolUse,
  { desk = true, env = {} }: { desk?: boolean; env?: Record<string, string> } = {},
): Promise<Run> {
  const world = await openWorld();
  if (desk) await openDesk(world.hive);
  const model = await startModel((_request, step) => (step === 1 ? { calls: [call] } : { text: 'all done' }));
  const { hive: _, ...rest } = world;
  const claude = await openClaude({ ...rest, model, env, allowed: 'mcp__hive' });
  await claude.say('please begin');
  return { ...world, model, claude };
}

async function asked(hive: OpenedHive, count = 1): Promise<Prompt[]> {
  let prompts: Prompt[] = [];
  await eventually(async () => {
    prompts = (await hive.prompts.list({ status: 'pending', limit: 10 })).items;
    return prompts.length === count;
  }, 10_000);
  return prompts;
}

const PROCEED = /Do you want to proceed/;

const answer = (hive: OpenedHive, prompt: Prompt | undefined, given: object) =>
  hive.prompts.respond({
    ask_id: prompt?.ask_id ?? '',
    ...given,
    actor: HUMAN,
    displayed_digest: prompt === undefined ? null : permissionDigest(prompt),
  });

describe('a plan of Claude Code', () => {
  test('is shown at the desk in full, and approved there', async () => {
    const world = await openWorld();
    await openDesk(world.hive);
    const PLAN = '# The plan\n\n1. Do it.\n';
    const model = await startModel((request, step) => {
      const [, file_path = ''] = /([^\s\\"'(`]+\/plans\/[\w.-]+?\.md)/.exec(JSON.stringify(request)) ?? [];
      if (step === 1) return { calls: [{ name: 'Write', input: { file_path, content: PLAN } }] };
      return step === 2 ? { calls: [{ name: 'ExitPlanMode', input: {} }] } : { text: 'all done' };
    });
    const { hive, ...rest } = world;
    const claude = await openClaude({ ...rest, model, allowed: 'mcp__hive' });
    await claude.say('/plan');
    await claude.until(/Turned on plan mode/);
    await claude.say('please begin now');
    const [prompt] = await asked(hive);
    expect(prompt).toMatchObject({ question: 'Approve this plan?', context: expect.stringContaining(PLAN) });
    await answer(hive, prompt, { decision: 'Approve' });
    await claude.until(/all done/);
    expect(model.told()).toContain('approved');
  });
});

describe('a permission that Claude Code asks for', () => {
  test('is allowed at the desk while the terminal shows it', async () => {
    const { hive, model, claude, folder } = await run(WRITES);
    const [prompt] = await asked(hive);
    expect(prompt).toMatchObject({ kind: 'permission', question: 'Run echo one > made.txt?' });
    await claude.until(/Do you want to proceed/);
    await answer(hive, prompt, { decision: 'Allow' });
    await claude.until(/all done/);
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('one\n');
    await eventually(async () => (await hive.prompts.get(prompt?.ask_id ?? '')).collected_at !== null);
    expect(model.everything()).not.toContain('Answer to ask-');
  });

  test('always: the client writes its own rule and asks no more', async () => {
    const { hive, claude, folder } = await run(bash('npm test'));
    const [prompt] = await asked(hive);
    expect(prompt?.options[1]).toMatchObject({
      label: 'Allow always',
      description: expect.stringContaining('npm test'),
    });
    await answer(hive, prompt, { decision: 'Allow always' });
    await claude.until(/all done/);
    expect(readFileSync(join(folder, '.claude/settings.local.json'), 'utf8')).toContain('npm test');
  });

  test('is denied with a note, which the model reads', async () => {
    const { hive, model, claude, folder } = await run(WRITES);
    const [prompt] = await asked(hive);
    await answer(hive, prompt, { decision: 'use /tmp instead' });
    await claude.until(/all done/);
    expect(model.told()).toContain('ada denied this. ada says: use /tmp instead');
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
  });

  test('is aborted: the turn ends, and the model is not called again', async () => {
    const { hive, model, claude, folder } = await run(WRITES);
    const [prompt] = await asked(hive);
    await answer(hive, prompt, { decision: 'Abort' });
    await claude.until(/Interrupted/);
    expect(model.requests).toHaveLength(1);
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    const turn = await hive.store.read((tx) => tx.turns.last(prompt?.session_id ?? ''));
    expect(turn).toMatchObject({ state: 'aborted', abort_reason: 'interrupted', by: 'ada', via: 'emacs' });
  });

  test('is answered at the terminal: the desk is told so', async () => {
    const { hive, claude, folder } = await run(WRITES);
    const [prompt] = await asked(hive);
    await claude.answer(PROCEED, 'Enter');
    await claude.until(/all done/);
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
      by: 'terminal',
    });
  });

  test('is refused with Esc at the terminal, and the desk is told', async () => {
    const { hive, model, claude } = await run(WRITES);
    const [prompt] = await asked(hive);
    await claude.answer(PROCEED, 'Escape');
    await eventually(async () => (await hive.prompts.get(prompt?.ask_id ?? '')).status === 'cancelled');
    expect(model.requests).toHaveLength(1);
  });

  test('falls through to the terminal alone when no desk is open', async () => {
    const { hive, claude, folder } = await run(WRITES, { desk: false });
    await claude.answer(PROCEED, 'Enter');
    await claude.until(/all done/);
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
  });

  test('that a desk leaves alone waits in its terminal when the hook’s time is up, and the terminal decides', async () => {
    const { hive, claude, folder } = await run(WRITES, { env: { HIVE_PERMISSIONS: '1' } });
    const [prompt] = await asked(hive);
    const now = () => hive.prompts.get(prompt?.ask_id ?? '');
    await eventually(async () => (await now()).terminal_since !== null);
    expect(await now()).toMatchObject({ status: 'pending' });
    await claude.answer(PROCEED, 'Enter');
    await claude.until(/all done/);
    expect(await now()).toMatchObject({ status: 'cancelled', cancel_reason: 'answered_elsewhere' });
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
  });
});

describe('AskUserQuestion in the terminal', () => {
  test('is answered at the desk, with a choice, several, and a note, while the dialog is up', async () => {
    const { hive, model, claude } = await run(QUESTIONS);
    const [color, parts] = await asked(hive, 2);
    await claude.until(/Which color\?/);
    await answer(hive, parts, { selected: ['API', 'Docs'], comment: 'docs last' });
    await answer(hive, color, { decision: 'Blue' });
    await claude.until(/all done/);
    expect(model.told()).toContain('Which color?\\"=\\"Blue');
    expect(model.told()).toContain('API, Docs');
    expect(model.told()).toContain('docs last');
  });

  test('is answered at the terminal: the desk is told so', async () => {
    const { hive, model, claude } = await run(QUESTIONS);
    const prompts = await asked(hive, 2);
    await claude.answer(/Which color\?/, 'Enter');
    await claude.until(/Which parts\?[\s\S]*\[ \] API/);
    await claude.keys('Enter', 'Tab');
    await claude.answer(/Submit answers/, 'Enter');
    await claude.until(/all done/);
    expect(model.told()).toContain('Which color?\\"=\\"Red');
    for (const { ask_id } of prompts)
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
  });
});

test('a question and a permission are answered in a real Emacs', async () => {
  const home = await openHome();
  onTestFinished(() => home.close());
  const { hive: _, ...world } = await openWorld(join(home.folder, 'store', 'hive.db'));
  const emacs = await home.emacs();
  const color = {
    questions: [{ question: 'Which color?', header: 'Color', options: COLORS, multiSelect: false }],
  };
  const calls = [{ name: 'AskUserQuestion', input: color }, WRITES];
  const model = await startModel((_request, step) => {
    const call = calls[step - 1];
    return call === undefined ? { text: 'all done' } : { calls: [call] };
  });
  // One person: the seat that this Emacs registers is in the file that the agent's hooks read.
  const env = { XDG_CONFIG_HOME: join(home.folder, '.config') };
  const claude = await openClaude({ ...world, model, env, allowed: 'mcp__hive' });
  await claude.say('please begin');
  for (const [question, choice] of [
    [/asks: Which color\?/, 'Blue'],
    [/asks: Run echo one > made\.txt\?/, 'Allow'],
  ] as const) {
    await emacs.until(/hive 1!?/);
    await emacs.keys('M-x');
    await emacs.type('hive-respond');
    await emacs.keys('Enter');
    await emacs.until(question);
    await emacs.type(choice);
    await emacs.keys('Enter');
    if (choice === 'Allow') {
      // First, all of it has to be on the screen.
      await emacs.until(/Hive-Question/);
      await emacs.keys('C-x', '1');
      await emacs.until(/Abort/);
      const end = /^(?![\s\S]*PERMISSION asks)[\s\S]*Abort\n +\S/;
      // A key that comes while the window still changes is lost.
      if (!end.test((await emacs.screen()).join('\n')))
        await emacs.answer(/^(?![\s\S]*Abort\n +\S)/, 'Space');
      await emacs.until(end);
      await emacs.keys('1');
      await emacs.until(/This is a PERMISSION/);
      await emacs.keys('y');
    }
    await emacs.until(new RegExp(`Answered Claude-\\w+: ${choice} \\(stored\\)`));
  }
  await claude.until(/all done/);
  expect(model.everything()).toContain('Which color?\\"=\\"Blue');
  expect(readFileSync(join(world.folder, 'made.txt'), 'utf8')).toBe('one\n');
});
