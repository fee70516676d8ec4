/** Client suite 5 for Codex: a question that it asks in its terminal is answered at a desk, while the dialog is up. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import { HUMAN, untilPending } from '../support/hive.ts';
import { startSidecar } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';
import { codexHome } from './support/codex.ts';
import { openCodex } from './support/codex-terminal.ts';
import { type FunctionCall, startResponses } from './support/responses.ts';
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
