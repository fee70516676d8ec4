/** Client suite 5 for Codex: a permission in its terminal, which it hides while a hook waits. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { remainingProcesses } from '../support/children.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { eventually, within } from '../support/wait.ts';
import { codexEnvironment, configureCodex } from './support/codex.ts';
import { startResponses } from './support/responses.ts';
import { openWorld, type World } from './support/world.ts';

interface Run extends World {
  codex: Terminal;
  made: string;
}

const PATCH = [
  "apply_patch <<'EOF'",
  '*** Begin Patch',
  '*** Add File: made.txt',
  '+one',
  '*** End Patch',
  'EOF',
];

/** Codex in a terminal, at a desk, whose model wants one command to leave the sandbox, or to patch a file outside of it. */
async function run(env: Record<string, string>, cmd?: string): Promise<Run> {
  const world = await openWorld();
  await openDesk(world.hive);
  const { hive: _, ...rest } = world;
  const made = join(world.folder, 'made.txt');
  const escalated = {
    cmd: `touch ${made}`,
    sandbox_permissions: 'require_escalated',
    justification: 'to see',
  };
  const model = await startResponses((_request, step) =>
    step === 1
      ? { calls: [{ name: 'exec_command', arguments: cmd === undefined ? escalated : { cmd } }] }
      : { text: 'all done' },
  );
  const set = { ...rest, model, env };
  configureCodex(set);
  const asking = ['-a', 'on-request', '-s', 'read-only', '--dangerously-bypass-hook-trust'];
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
  return { ...world, codex, made };
}

const DIALOG = /Would you like to run|Yes, proceed/i;

describe('a permission that Codex asks for', () => {
  test('is left to its terminal by default', async () => {
    const { hive, codex, made } = await run({});
    await codex.until(DIALOG, 20_000);
    expect((await hive.prompts.list({ limit: 1 })).items).toEqual([]);
    await codex.answer(DIALOG, 'Enter');
    await codex.until(/all done/);
    expect(existsSync(made)).toBe(true);
  });

  test('is allowed at the desk where that is wanted, and left to the terminal when its time is up', async () => {
    for (const seconds of ['20', '1']) {
      const { hive, codex, made } = await run({ HIVE_PERMISSIONS: seconds });
      const pending = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
      await eventually(async () => (await pending()) !== undefined, 20_000);
      const prompt = await pending();
      expect(prompt).toMatchObject({ kind: 'permission', header: 'Bash' });
      const ask_id = prompt?.ask_id ?? '';
      if (seconds === '20') await answerDialog(hive, ask_id, 'Allow');
      else await codex.answer(DIALOG, 'Enter');
      await codex.until(/all done/, 20_000);
      expect(existsSync(made)).toBe(true);
      expect((await hive.prompts.get(ask_id)).status).toBe(seconds === '20' ? 'responded' : 'expired');
    }
  });

  test('to patch a file is a diff, and the file is what it shows', async () => {
    const { hive, codex, made } = await run({ HIVE_PERMISSIONS: '20' }, PATCH.join('\n'));
    const pending = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
    await eventually(async () => (await pending()) !== undefined, 20_000);
    const prompt = await pending();
    // Only because its transcript names a version whose patches were measured.
    expect(prompt?.context).toMatch('--- /dev/null\n+++ made.txt\n@@ -0,0 +1,1 @@\n+one\n');
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await codex.until(/all done/, 20_000);
    expect(readFileSync(made, 'utf8')).toBe('one\n');
  });
});
