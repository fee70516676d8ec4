/** Client suite 5 for Codex: what it asks in its terminal is answered at a desk, while the dialog is up. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import { answerDialog } from '../support/dialogs.ts';
import { HUMAN, noticesOf, untilPending } from '../support/hive.ts';
import { startSidecar } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';
import { type CodexRun, codexHome } from './support/codex.ts';
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

describe('a command that Codex asks for', () => {
  const DIALOG = /Would you like to run[\s\S]*Press enter to confirm/;
  const ESCALATED = { sandbox_permissions: 'require_escalated', justification: 'to see' };

  /** Codex in its terminal, with a desk on the same machine; its model makes these calls, one by one. */
  async function run(calls: readonly object[], rest: Partial<CodexRun>) {
    const world = await openWorld();
    const { hive, ...others } = world;
    mkdirSync(join(world.folder, 'below'));
    const isScript = rest.model_name !== undefined;
    const call = (args: object): Reply => ({
      calls: [
        isScript
          ? script(`text(JSON.stringify(await tools.exec_command(${JSON.stringify(args)})))`)
          : { name: 'exec_command', arguments: args },
      ],
    });
    const model = await startResponses((_request, step) => {
      const args = calls[step - 1];
      return args === undefined ? { text: 'all done' } : call({ ...ESCALATED, ...args });
    });
    const codexRun: CodexRun = { ...others, model, asks: true, ...rest };
    const env = { CODEX_HOME: codexHome(codexRun), HOME: world.folder };
    const desk = await startSidecar(world.store, { env });
    onTestFinished(async () => void (await desk.end()));
    const codex = await openCodex(codexRun);
    await codex.say('first words');
    return { ...world, codex, model, made: (name: string) => existsSync(join(world.folder, name)) };
  }

  test.each([
    ['from a script of its model', { model_name: 'gpt-6-sol' }],
    ['by its model', {}],
  ])('%s is allowed at the desk or in its terminal: the first wins', async (_, model) => {
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
  });

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
