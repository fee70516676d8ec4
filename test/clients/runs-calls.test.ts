/** Client suite 12: what the real Claude Code asks under `hive run`, from a question to its plan. It is resumed with the answer. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HUMAN, noticesOf } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, type Script } from './support/anthropic.ts';
import { answer, effects, ended, LINE, pending, runOf, start, thenDone, watching } from './support/runs.ts';

describe('a run of Claude Code', () => {
  test('that is answered in time never ends, and prints what Claude Code prints', async () => {
    const { hive, child, folder, output } = await start({ patience: null });
    const prompt = await pending(hive);
    expect(await runOf(hive)).toMatchObject({ patience_ms: 60_000 });
    await answer(hive, prompt, 'Allow');
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(JSON.parse(output())).toMatchObject({ result: 'all done', is_error: false });
    expect(await runOf(hive)).toMatchObject({ status: 'ended', start: 1 });
    expect(effects(folder)).toBe('one\n');
  });

  test('runs a call as it was displayed, although another hook changes it; if that one answers later, its human is told', async () => {
    const changing = (until: string): string[] => {
      const changed = { hookEventName: 'PreToolUse', updatedInput: bash('echo other >> effects.txt').input };
      const command = `${until} echo $$ > hook.pid; echo '${JSON.stringify({ hookSpecificOutput: changed })}'`;
      const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] };
      return ['--settings', JSON.stringify({ hooks })];
    };
    const first = await start({ patience: null, more: changing('') });
    const shown = await pending(first.hive);
    // Once its process is gone, the client has read what it printed.
    await eventually(() => hasEnded(join(first.folder, 'hook.pid')), 20_000);
    await answer(first.hive, shown, 'Allow');
    expect(await first.child.exited).toMatchObject({ code: 0 });
    expect(effects(first.folder)).toBe('one\n');
    expect(await noticesOf(first.hive)).toEqual([]);

    const { hive, child, folder } = await start({
      patience: null,
      more: changing('until [ -e go ]; do sleep 0.1; done;'),
    });
    const prompt = await pending(hive);
    await answer(hive, prompt, 'Allow');
    await eventually(async () => (await hive.prompts.get(prompt.ask_id)).handed_at !== null, 20_000);
    writeFileSync(join(folder, 'go'), '');
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(effects(folder)).toBe('other\n');
    expect(await noticesOf(hive)).toEqual([
      expect.stringMatching(/You were asked: Run echo one .*you would have been asked: Run echo other /),
    ]);
  });

  test('waits instead where one step has several calls, and says so', async () => {
    const { hive, child, folder } = await start({
      script: thenDone(bash(LINE), bash('echo two >> effects.txt')),
    });
    await eventually(async () => (await hive.notices.list(10)).length > 0, 30_000);
    expect(JSON.stringify(await hive.notices.list(10))).toContain('makes several calls at once');
    for (const n of [1, 2]) {
      await answer(hive, await pending(hive), 'Allow');
      await eventually(() => effects(folder).split('\n').length > n, 20_000);
    }
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(effects(folder).split('\n').sort()).toEqual(['', 'one', 'two']);
  });

  test('asks and waits (hivemind_ask): it ends, and its tool returns the answer when it has been resumed', async () => {
    const started = await start({ script: thenDone(call('hivemind_ask', { question: 'Red or blue?' })) });
    const { hive, child, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    const asked = await pending(hive);
    expect(asked).toMatchObject({ question: 'Red or blue?', kind: 'question', dialog: false });
    watching(started);
    await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'blue', actor: HUMAN });
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 2, calls: [], problem: null });
    expect(model.told()).toContain('\\"decision\\":\\"blue\\"');
    expect(model.everything().match(/blue\\/g)).toHaveLength(1);
    const { items } = await hive.prompts.list({ limit: 10 });
    expect(items).toHaveLength(1);
    expect(items[0]?.handed_at).toEqual(expect.any(String));
  });

  test('asks in a step with several calls: each waits in its process, and a notice says so', async () => {
    const answers = new Map([
      ['Red or blue?', 'Red'],
      ['Big or small?', 'Big'],
    ]);
    const asks = [...answers.keys()].map((question) => call('hivemind_ask', { question }));
    const { hive, child, model } = await start({ script: thenDone(...asks) });
    await eventually(async () => (await hive.notices.list(10)).length > 0, 30_000);
    expect(JSON.stringify(await hive.notices.list(10))).toContain('makes several calls at once');
    // The client runs both at once, so either may be first.
    for (const _ of asks) {
      const { ask_id, question } = await pending(hive);
      await hive.prompts.respond({ ask_id, decision: answers.get(question) ?? '', actor: HUMAN });
    }
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(await runOf(hive)).toMatchObject({ status: 'ended', start: 1 });
    for (const word of answers.values()) expect(model.told()).toContain(`\\"decision\\":\\"${word}\\"`);
  });

  test('uses the question dialog of its client (AskUserQuestion), which it lacks elsewhere without a terminal', async () => {
    const questions = [
      {
        question: 'Which colour?',
        header: 'Colour',
        multiSelect: false,
        options: [
          { label: 'Red', description: 'warm' },
          { label: 'Blue', description: 'cold' },
        ],
      },
      {
        question: 'Which size?',
        header: 'Size',
        multiSelect: false,
        options: [
          { label: 'Small', description: 's' },
          { label: 'Large', description: 'l' },
        ],
      },
    ];
    const started = await start({ script: thenDone({ name: 'AskUserQuestion', input: { questions } }) });
    const { hive, child, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    const { items } = await hive.prompts.list({ status: 'pending', limit: 10 });
    expect(items.map(({ question }) => question).sort()).toEqual(['Which colour?', 'Which size?']);
    watching(started);
    for (const { ask_id, options } of items)
      await hive.prompts.respond({ ask_id, decision: options[1]?.label ?? '', actor: HUMAN });
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 2, calls: [], problem: null });
    expect(model.told()).toContain('\\"Which colour?\\"=\\"Blue\\"');
    expect(model.told()).toContain('\\"Which size?\\"=\\"Large\\"');
  });

  test('has its plan approved while it sleeps, and is asked for what it does then', async () => {
    const script: Script = ({ messages }) => {
      const said = JSON.stringify(messages);
      const results = said.match(/"type":"tool_result"/g)?.length ?? 0;
      // The client names the file in which it wants the plan.
      const [file_path = ''] = /\/[^"\s`]*\.claude\/plans\/[^"\s`]*\.md/.exec(said) ?? [];
      const write = { name: 'Write', input: { file_path, content: 'First this, then that.' } };
      const calls = [write, { name: 'ExitPlanMode', input: {} }, bash(LINE)];
      const next = calls[results];
      return next === undefined ? { text: 'all done' } : { calls: [next] };
    };
    const started = await start({ script, more: ['--permission-mode', 'plan'] });
    const { hive, child, folder, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    const asked = await pending(hive);
    expect(asked).toMatchObject({ question: 'Approve this plan?', kind: 'permission' });
    expect(asked.context).toContain('First this, then that.');
    watching(started);
    await answer(hive, asked, 'Approve');
    await eventually(async () => (await runOf(hive)).start === 2, 30_000);
    await eventually(async () => (await runOf(hive)).status === 'sleeping', 30_000);
    const work = await pending(hive);
    expect(work.question).toContain(LINE);
    await answer(hive, work, 'Allow');
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 3, calls: [], problem: null });
    expect(model.everything()).toContain('Exited Plan Mode');
    expect(effects(folder)).toBe('one\n');
  });

  test('that ends its turn with a question open is continued with the answer', async () => {
    const started = await start({
      script: thenDone(call('hivemind_ask_async', { question: 'Red or blue?' })),
    });
    const { hive, child, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    expect(await runOf(hive)).toMatchObject({ status: 'sleeping', calls: [{ call_id: null }] });
    expect(model.requests).toHaveLength(2);
    watching(started);
    const { ask_id } = await pending(hive);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 2, calls: [], problem: null });
    expect(model.everything()).toContain(`You stopped while ${ask_id} was open`);
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    expect(model.everything()).toContain('blue');
  });
});

/** Whether the process with the id in this file has come and gone. */
function hasEnded(path: string): boolean {
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  return pid > 0 && !existsSync(`/proc/${pid}`);
}
