/** Client suite 5 for Codex: a permission in its terminal, which it hides while a hook waits. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { remainingProcesses } from '../support/children.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { HUMAN, untilPending } from '../support/hive.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { eventually, within } from '../support/wait.ts';
import { codexEnvironment, configureCodex, FREEFORM_MODEL } from './support/codex.ts';
import { type FreeformCall, startResponses } from './support/responses.ts';
import { openWorld, type World } from './support/world.ts';

interface Run extends World {
  codex: Terminal;
  made: string;
  /** The tools that the model was offered. */
  offered: unknown[];
}

const PATCH_KNOWN = [
  "apply_patch <<'EOF'",
  '*** Begin Patch',
  '*** Update File: known.txt',
  '@@',
  ' a',
  '-b',
  '+B',
  '*** End Patch',
  'EOF',
].join('\n');

const PATCH = [
  "apply_patch <<'EOF'",
  '*** Begin Patch',
  '*** Add File: made.txt',
  '+one',
  '*** End Patch',
  'EOF',
];

/** Codex in a terminal, at a desk, whose model wants one command to leave the sandbox, or to patch a file outside of it. */
async function run(
  dialog_wait: unknown,
  wanted?: object,
  freeform?: FreeformCall,
  typed?: object,
): Promise<Run> {
  const world = await openWorld({ dialog_wait });
  await openDesk(world.hive);
  const { hive: _, ...rest } = world;
  const offered: unknown[] = [];
  const made = join(world.folder, 'made.txt');
  mkdirSync(join(world.folder, 'a/b'), { recursive: true });
  for (const [directory, last] of [
    ['', 'c'],
    ['a', 'of a'],
    ['a/b', 'of b'],
  ] as const)
    writeFileSync(join(world.folder, directory, 'known.txt'), `a\nb\n${last}\n`);
  const escalated = {
    cmd: `touch ${made}`,
    sandbox_permissions: 'require_escalated',
    justification: 'to see',
  };
  const command = { name: 'exec_command', arguments: wanted ?? escalated };
  const model = await startResponses(({ tools = [], input }, step) => {
    offered.push(...tools);
    if (step === 1) return { calls: [freeform ?? command] };
    if (step > 2 || typed === undefined) return { text: 'all done' };
    const session_id = Number(/session ID (\d+)/.exec(JSON.stringify(input.at(-1)))?.[1]);
    return { calls: [{ name: 'write_stdin', arguments: { session_id, ...typed } }] };
  });
  const set = { ...rest, model, ...(freeform === undefined ? {} : { model_name: FREEFORM_MODEL }) };
  configureCodex(set);
  const wider = wanted !== undefined && 'additional_permissions' in wanted;
  const features = wider ? ['--enable', 'exec_permission_approvals'] : [];
  const asking = [...features, '-a', 'on-request', '-s', 'read-only', '--dangerously-bypass-hook-trust'];
  const codex = await openTerminal(
    world.folder,
    { ...codexEnvironment(set), TERM: 'xterm-256color', TMPDIR: world.folder },
    ['env', '-C', world.folder, world.clients.codex, ...asking],
    { columns: 120, lines: 40 },
  );
  onTestFinished(async () => {
    await codex.close();
    await within(() => remainingProcesses().length === 0, 5_000);
  });
  await codex.until(/Ask Codex to do anything/, 20_000);
  await codex.type('first words');
  await codex.until(/first words/);
  await codex.keys('Enter');
  return { ...world, codex, made, offered };
}

const DIALOG = /Would you like to run|Yes, proceed/i;

describe('a permission that Codex asks for', () => {
  test('is left to its terminal by default', async () => {
    const { hive, codex, made } = await run('usual');
    await codex.until(DIALOG, 20_000);
    expect((await hive.prompts.list({ limit: 1 })).items).toEqual([]);
    await codex.answer(DIALOG, 'Enter');
    await codex.until(/all done/);
    expect(existsSync(made)).toBe(true);
  });

  test('is allowed at the desk where that is wanted, and left to the terminal when its time is up', async () => {
    for (const seconds of [20, 1]) {
      const { hive, codex, made } = await run(seconds);
      const [prompt] = await untilPending(hive);
      expect(prompt).toMatchObject({ kind: 'permission', header: 'Bash' });
      const ask_id = prompt?.ask_id ?? '';
      if (seconds === 20) await answerDialog(hive, ask_id, 'Allow');
      else await codex.answer(DIALOG, 'Enter');
      await codex.until(/all done/, 20_000);
      expect(existsSync(made)).toBe(true);
      const reason = seconds === 20 ? null : 'answered_elsewhere';
      await eventually(async () => (await hive.prompts.get(ask_id)).status !== 'pending');
      expect((await hive.prompts.get(ask_id)).cancel_reason).toBe(reason);
    }
  });

  test('is answered by nobody if Esc in the terminal ends the turn while it waits at the desk', async () => {
    const { hive, codex, made } = await run(20);
    const pending = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
    await eventually(async () => (await pending()) !== undefined, 20_000);
    const ask_id = (await pending())?.ask_id ?? '';
    await codex.keys('Escape');
    await codex.until(/Conversation interrupted/);
    await eventually(async () => (await pending()) === undefined);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'interrupted', by: 'terminal' });
    expect(existsSync(made)).toBe(false);
  });

  test('to type into a command that runs says what would be typed, and only that is', async () => {
    const shell = { cmd: 'bash --norc -i', tty: true, yield_time_ms: 1_000 };
    const { hive, codex, made } = await run(
      20,
      { ...shell, sandbox_permissions: 'require_escalated' },
      undefined,
      {
        chars: 'touch made.txt\n',
        yield_time_ms: 1_000,
      },
    );
    const pending = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
    for (const question of ['Run bash --norc -i?', 'Type into a running command: touch made.txt?']) {
      await eventually(async () => (await pending())?.question === question, 20_000);
      const prompt = await pending();
      if (prompt?.header === 'write_stdin') {
        expect(prompt.context).toMatch(/^chars: "touch made\.txt\\n"$/m);
        expect(existsSync(made)).toBe(false);
      }
      await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    }
    await codex.until(/all done/, 20_000);
    await eventually(() => existsSync(made));
  });

  test('to run a command with more permissions says which, although the hook does not report them', async () => {
    const additional_permissions = { network: { enabled: true } };
    const wider = { sandbox_permissions: 'with_additional_permissions', additional_permissions };
    const { hive, codex } = await run(20, { cmd: 'true', justification: 'to see', ...wider });
    const pending = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
    await eventually(async () => (await pending()) !== undefined, 20_000);
    const prompt = await pending();
    expect(prompt?.context).toMatch(/^additional_permissions: \{\n[\s\S]*"enabled": true/m);
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await codex.until(/all done/, 20_000);
  });

  test('is denied with the reason of an interrupt that arrives while it waits at the desk', async () => {
    const { hive, codex, made } = await run(20);
    const [{ ask_id, session_id: session } = expect.fail()] = await untilPending(hive);
    const outcome = await hive.interrupts.interrupt({ session, note: 'wrong branch', actor: HUMAN });
    expect(outcome).toMatchObject({ outcome: 'aborted', by: 'ada', cancelled_prompts: [ask_id] });
    await codex.until(/all done/, 20_000);
    expect(existsSync(made)).toBe(false);
  });

  test('to patch a file is a diff, and the file is what it shows', async () => {
    const { hive, codex, made } = await run(20, { cmd: PATCH.join('\n') });
    const [prompt] = await untilPending(hive);
    // Only because its transcript names a version whose patches were measured.
    expect(prompt?.context).toMatch('--- /dev/null\n+++ made.txt\n@@ -0,0 +1,1 @@\n+one\n');
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await codex.until(/all done/, 20_000);
    expect(readFileSync(made, 'utf8')).toBe('one\n');
  });

  test('to patch a file in another directory is a diff of the file there', async () => {
    for (const [directory, wanted, last] of [
      ['a', { cmd: `cd a && ${PATCH_KNOWN}` }, 'of a'],
      ['a/b', { cmd: `cd 'b' && ${PATCH_KNOWN}`, workdir: 'a' }, 'of b'],
    ] as const) {
      const { hive, codex, folder } = await run(20, wanted);
      const [prompt] = await untilPending(hive);
      expect(prompt?.context).toMatch(`@@ -1,3 +1,3 @@\n a\n-b\n+B\n ${last}\n`);
      expect(prompt?.context).toMatch(`Directory: ${join(folder, directory)}`);
      await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
      await codex.until(/all done/, 20_000);
      expect(readFileSync(join(folder, directory, 'known.txt'), 'utf8')).toBe(`a\nB\n${last}\n`);
      expect(readFileSync(join(folder, 'known.txt'), 'utf8')).toBe('a\nb\nc\n');
    }
  });

  test('to patch a file in a directory that Hive cannot tell is the text of the patch', async () => {
    const { hive, codex } = await run(20, { cmd: `cd a/../a && ${PATCH_KNOWN}` });
    const [{ ask_id, context } = expect.fail()] = await untilPending(hive);
    expect(context).toMatch(/^Codex does not say in which directory it applies this patch\./);
    expect(context).toMatch('Directory: not known');
    await answerDialog(hive, ask_id, 'Deny');
    await codex.until(/all done/, 20_000);
  });

  test('to patch files with its own tool is a diff of each, and the files are what it shows', async () => {
    const patch = [
      '*** Begin Patch',
      '*** Add File: made.txt',
      '+one',
      '+',
      '*** Update File: known.txt',
      '@@',
      ' a',
      '-b',
      '+B',
      '*** End Patch',
    ].join('\n');
    const { hive, codex, made, folder, offered } = await run(20, undefined, {
      name: 'apply_patch',
      input: patch,
    });
    const [prompt] = await untilPending(hive);
    expect(offered).toContainEqual(expect.objectContaining({ type: 'custom', name: 'apply_patch' }));
    expect(prompt).toMatchObject({ kind: 'permission', header: 'apply_patch' });
    expect(prompt?.context).toMatch('--- /dev/null\n+++ made.txt\n@@ -0,0 +1,2 @@\n+one\n+\n');
    expect(prompt?.context).toMatch('--- known.txt\n+++ known.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n');
    expect(readFileSync(join(folder, 'known.txt'), 'utf8')).toBe('a\nb\nc\n');
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await codex.until(/all done/, 20_000);
    expect(readFileSync(made, 'utf8')).toBe('one\n\n');
    expect(readFileSync(join(folder, 'known.txt'), 'utf8')).toBe('a\nB\nc\n');
  });
});
