/** Client suite 5 for Codex: what it asks in its terminal is answered at a desk, while the dialog is up. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import { FILES, PATCH } from '../support/codex-app-server.ts';
import { answerDialog } from '../support/dialogs.ts';
import { eventsOf, HUMAN, noticesOf, untilPending } from '../support/hive.ts';
import { startSidecar } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';
import { type CodexRun, codexHome, FREEFORM_MODEL } from './support/codex.ts';
import { openCodex } from './support/codex-terminal.ts';
import { type FunctionCall, type Reply, script, startResponses } from './support/responses.ts';
import { openWorld } from './support/world.ts';

const RED = { label: 'Red', description: 'r' };
const BLUE = { label: 'Blue', description: 'b' };

function asks(...questions: string[]): FunctionCall {
  const shown = questions.map((question, n) => ({
    id: `q${n}`,
    header: `Part ${n}`,
    question,
    options: [RED, BLUE],
  }));
  return { name: 'request_user_input', arguments: { questions: shown } };
}

describe('request_user_input of Codex', () => {
  test('is answered at the desk beside the dialog, or at the terminal: the first wins', async () => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const told: string[] = [];
    const model = await startResponses((_request, step) => {
      told.push(model.told().replaceAll('\\', ''));
      if (step === 1) return { calls: [asks('Which wall?', 'Which door?')] };
      return step === 2 ? { calls: [asks('Which roof?')] } : { text: 'all done' };
    });
    const run = { ...rest, model };
    const desk = await startSidecar(world.store, { env: { CODEX_HOME: codexHome(run) } });
    onTestFinished(async () => void (await desk.end()));
    const codex = await openCodex(run);
    const pending = (count: number) => untilPending(hive, count);
    // Only there it may ask.
    await codex.say('/plan first words');
    const [wall, door] = await pending(2);
    await codex.until(/Which wall\?/);
    const respond = (prompt: Prompt | undefined, given: object) =>
      hive.prompts.respond({ ask_id: prompt?.ask_id ?? '', ...given, actor: HUMAN });
    await respond(door, { decision: 'Blue', comment: 'a dark one' });
    await respond(wall, { decision: 'a warm grey' });
    const [roof] = await pending(1);
    expect(told[1]).toContain('"q0":{"answers":["a warm grey"]}');
    expect(told[1]).toContain('"q1":{"answers":["Blue","a dark one"]}');

    await codex.answer(/Which roof\?[\s\S]*enter to submit/, 'Enter');
    await codex.until(/all done/);
    expect(told[2]).toContain('"answers":["Red"]');
    expect(await hive.prompts.get(roof?.ask_id ?? '')).toMatchObject({
      cancel_reason: 'answered_elsewhere',
      by: 'terminal',
    });
    await eventually(async () => (await hive.prompts.get(wall?.ask_id ?? '')).collected_at !== null);
    expect(model.everything()).not.toContain('Answer to ask-');
  });
});

/** A script of its model, or its model itself. */
const CALLERS = [
  ['from a script of its model', { model_name: 'gpt-6-sol' }],
  ['by its model', { model_name: FREEFORM_MODEL }],
] as const;

describe('a permission that Codex asks for', () => {
  const DIALOG = /Would you like to [\s\S]*Press enter to confirm/;
  const ESCALATED = { sandbox_permissions: 'require_escalated', justification: 'to see' };

  /** Codex in its terminal, with a desk on the same machine; its model makes these calls, one by one: commands and patches. */
  async function run(calls: readonly (object | string)[], rest: Partial<CodexRun>, files = {}) {
    const world = await openWorld();
    const { hive, ...others } = world;
    mkdirSync(join(world.folder, 'below'));
    for (const [name, text] of Object.entries<string>(files)) writeFileSync(join(world.folder, name), text);
    const isScript = rest.model_name !== FREEFORM_MODEL;
    const call = (name: string, args: unknown): Reply => {
      if (isScript)
        return { calls: [script(`text(JSON.stringify(await tools.${name}(${JSON.stringify(args)})))`)] };
      return { calls: [typeof args === 'string' ? { name, input: args } : { name, arguments: args }] };
    };
    const model = await startResponses(({ input }, step) => {
      const returned = input.filter(({ type }) => type?.endsWith('_call_output') === true).length;
      // Codex has some models find a title in the same form as a step.
      const args = step > 1 && returned === 0 ? undefined : calls[returned];
      if (args === undefined) return { text: 'all done' };
      return typeof args === 'string'
        ? call('apply_patch', args)
        : call('exec_command', { ...ESCALATED, ...args });
    });
    const codexRun: CodexRun = { ...others, model, asks: true, ...rest };
    const env = { CODEX_HOME: codexHome(codexRun), HOME: world.folder };
    const desk = await startSidecar(world.store, { env });
    onTestFinished(async () => void (await desk.end()));
    const codex = await openCodex(codexRun);
    await codex.say('first words');
    return { ...world, codex, model, made: (name: string) => existsSync(join(world.folder, name)) };
  }

  test.each(CALLERS)(
    'for a command %s is allowed at the desk or in its terminal: the first wins',
    async (_, model) => {
      const calls = [{ cmd: 'touch made', workdir: 'below' }, { cmd: 'touch there' }];
      const { hive, codex, made } = await run(calls, model);
      const [asked = expect.fail()] = await untilPending(hive);
      await codex.until(DIALOG);
      expect(asked.context).toMatch(/^Directory: .*\/below$/m);
      await answerDialog(hive, asked.ask_id, 'Allow');
      await eventually(() => made('below/made'));
      const [second = expect.fail()] = await untilPending(hive);
      await codex.answer(DIALOG, 'Enter');
      await codex.until(/all done/);
      expect(made('there')).toBe(true);
      expect(await hive.prompts.get(second.ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
      expect(await noticesOf(hive)).toEqual([]);
    },
  );

  const ADDED = ['*** Begin Patch', '*** Add File: there.txt', '+there', '*** End Patch'].join('\n');

  test.each(CALLERS)(
    'for a patch %s is allowed at the desk or in its terminal: the first wins',
    async (_, model) => {
      const { hive, codex, made, folder } = await run([PATCH, ADDED], model, FILES);
      const [asked = expect.fail()] = await untilPending(hive);
      await codex.until(DIALOG);
      expect(asked.context).toContain('--- known.txt\n+++ known.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n');
      await answerDialog(hive, asked.ask_id, 'Allow');
      await eventually(() => made('sub/new.txt') && !made('old.txt'));
      const text = (name: string) => readFileSync(join(folder, name), 'utf8');
      expect(['made.txt', 'known.txt', 'sub/new.txt'].map(text)).toEqual(['one\n\n', 'a\nB\nc\n', 'y\n']);
      expect(made('gone.txt')).toBe(false);
      const [second = expect.fail()] = await untilPending(hive);
      await codex.answer(DIALOG, 'Enter');
      await codex.until(/all done/);
      expect(text('there.txt')).toBe('there\n');
      expect(await hive.prompts.get(second.ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
      expect(await noticesOf(hive)).toEqual([]);
      expect((await eventsOf(hive, 'edit/compared')).map(({ data }) => data['as_shown'])).toEqual([true]);
    },
  );

  test('is refused at the desk, and with its next call its agent reads why', async () => {
    const calls = [{ cmd: 'touch made' }, { cmd: 'true', sandbox_permissions: 'use_default' }];
    const { hive, codex, made, model } = await run(calls, { model_name: 'gpt-6-sol' });
    const [asked = expect.fail()] = await untilPending(hive);
    await codex.until(DIALOG);
    await answerDialog(hive, asked.ask_id, 'Deny', 'write a test first');
    await codex.until(/all done/);
    expect(model.everything()).toContain('write a test first');
    expect(made('made')).toBe(false);
  });
});
