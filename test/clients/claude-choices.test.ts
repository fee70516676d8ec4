/** Client suite 5: what else its human may choose when the real Claude Code asks for a permission, and its plan. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDesk } from '../support/dialogs.ts';
import { eventsOf, noticesOf } from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { bash, startModel } from './support/anthropic.ts';
import { answer, asked, PROCEED, run, shop, talk, WRITES } from './support/claude-dialogs.ts';
import { openClaude } from './support/claude-terminal.ts';
import { openWorld } from './support/world.ts';

const PLAN = '# The plan\n\n1. Do it.\n';

/** A session whose model has written a plan, which is asked at the desk. */
async function planned(env: Record<string, string> = {}) {
  const world = await openWorld();
  await openDesk(world.hive);
  const model = await startModel((request, step) => {
    const [, file_path = ''] = /([^\s\\"'(`]+\/plans\/[\w.-]+?\.md)/.exec(JSON.stringify(request)) ?? [];
    if (step === 1) return { calls: [{ name: 'Write', input: { file_path, content: PLAN } }] };
    return step === 2 ? { calls: [{ name: 'ExitPlanMode', input: {} }] } : { text: 'all done' };
  });
  const { hive, ...rest } = world;
  const claude = await openClaude({ ...rest, model, allowed: null, env });
  await claude.say('/plan');
  await claude.until(/Turned on plan mode/);
  await claude.say('please begin now');
  const [prompt] = await asked(hive);
  return { hive, model, claude, prompt };
}

describe('a plan of Claude Code', () => {
  test('is shown at the desk in full, and approved there', async () => {
    const { hive, model, claude, prompt } = await planned();
    expect(prompt).toMatchObject({ question: 'Approve this plan?', context: expect.stringContaining(PLAN) });
    await answer(hive, prompt, { decision: 'Approve' });
    await claude.until(/all done/);
    expect(model.told()).toContain('approved');
  });

  test('that its person edits in the terminal meanwhile is not approved by a yes to the one before', async () => {
    const editor = join(tempFolder(), 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\necho "# Delete everything" > "$1"\n', { mode: 0o755 });
    const { hive, model, claude, prompt } = await planned({ EDITOR: editor, VISUAL: editor });
    await claude.answer(/Ready to code[\s\S]*Do it\./, 'C-g');
    await claude.until(/Delete everything/);
    await answer(hive, prompt, { decision: 'Approve' });
    await claude.until(/all done/);
    expect(model.told()).toContain('the file of the plan has changed');
    expect(model.told()).not.toContain('User has approved');
  });
});

describe('a permission that Claude Code asks for', () => {
  test('to edit a file is a diff, and once the tool has run the file is compared with it', async () => {
    const content = 'one\n';
    const { hive, claude, folder } = await run({ name: 'Write', input: { file_path: 'made.txt', content } });
    const [prompt] = await asked(hive);
    const file = join(folder, 'made.txt');
    // Only because the edits of the version that it names were measured.
    expect(prompt?.context).toMatch(`--- /dev/null\n+++ ${file}\n@@ -0,0 +1,1 @@\n+one\n`);
    // The terminal says that this mode covers more than edits, and so does the desk.
    await claude.until(/switch to accept edits .*common file commands/);
    expect(prompt?.options[1]).toMatchObject({
      label: 'Allow always',
      description: expect.stringContaining('common file commands'),
    });
    await answer(hive, prompt, { decision: 'Allow' });
    await claude.until(/all done/);
    expect(readFileSync(file, 'utf8')).toBe(content);
    await eventually(async () => (await eventsOf(hive, 'edit/compared')).length > 0);
    expect((await eventsOf(hive, 'edit/compared')).map(({ data }) => data['as_shown'])).toEqual([true]);
    expect(await noticesOf(hive)).toEqual([]);
  });

  // Over the connection; processes of hooks for permissions run one after the other.
  test('of several that begin alike, one is allowed at the desk, and the others are still asked there', async () => {
    const looks = ['one', 'two', 'two', 'three'].map((what) => ({
      name: 'mcp__shop__look',
      input: { what },
    }));
    const { hive, model, claude } = await run(looks, { servers: { shop } });
    const open = async () => (await hive.turns.running()).flatMap(({ turn }) => turn.open_tools);
    for (const what of ['two', 'three', 'one', 'two']) {
      await eventually(
        async () => (await open()).length === looks.length,
        20_000,
        'the end of the last call',
      );
      const prompts = await asked(hive, looks.length);
      const prompt = prompts.find(({ context }) => context?.includes(`what: "${what}"`));
      await answer(hive, prompt, { decision: 'Allow' });
      looks.pop();
    }
    await claude.until(/all done/);
    expect(model.told()).toContain('saw one');
    expect(model.told()).toContain('saw three');
  });

  test('always: the client writes its own rule. Aborted: the turn ends, and the model is not called again', async () => {
    const { hive, model, claude, folder, next } = await talk([bash('npm test'), WRITES]);
    await next();
    const [always] = await asked(hive);
    expect(always?.options[1]).toMatchObject({
      label: 'Allow always',
      description: expect.stringContaining('npm test'),
    });
    await answer(hive, always, { decision: 'Allow always' });
    await claude.until(/all done 1/);
    expect(readFileSync(join(folder, '.claude/settings.local.json'), 'utf8')).toContain('npm test');

    const steps = model.requests.length;
    await next();
    const [prompt] = await asked(hive);
    await answer(hive, prompt, { decision: 'Abort' });
    await claude.until(/Interrupted/);
    expect(model.requests).toHaveLength(steps + 1);
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    const turn = await hive.store.read((tx) => tx.turns.last(prompt?.session_id ?? ''));
    expect(turn).toMatchObject({ state: 'aborted', abort_reason: 'interrupted', by: 'ada', via: 'emacs' });
  });

  test('falls through to the terminal alone when no desk is open', async () => {
    const { hive, claude, folder } = await run(WRITES, { desk: false });
    await claude.answer(PROCEED, 'Enter');
    await claude.until(/all done/);
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
  });
});
