/** Client suite 5: what the real Claude Code asks in its terminal, answered at a desk, at the terminal, or not at all. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noticesOf } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { bash, type ToolUse } from './support/anthropic.ts';
import { answer, asked, COLORS, PROCEED, run, talk, WRITES } from './support/claude-dialogs.ts';

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
          { label: 'API, v2', description: 'a' },
          { label: 'UI', description: 'u' },
          { label: 'Docs', description: 'd' },
        ],
        multiSelect: true,
      },
    ],
  },
};

describe('a permission that Claude Code asks for', () => {
  test('is answered at the desk while the terminal shows it, or at the terminal, and the desk is told so', async () => {
    const writes = ['desk', 'note', 'terminal', 'escape'].map((name) => bash(`echo one > ${name}.txt`));
    const { hive, model, claude, folder, next } = await talk(writes);
    const made = (name: string): boolean => existsSync(join(folder, `${name}.txt`));

    await next();
    const [allowed] = await asked(hive);
    expect(allowed).toMatchObject({ kind: 'permission', question: 'Run echo one > desk.txt?' });
    await claude.until(PROCEED);
    await answer(hive, allowed, { decision: 'Allow' });
    await claude.until(/all done 1/);
    expect(readFileSync(join(folder, 'desk.txt'), 'utf8')).toBe('one\n');
    await eventually(async () => (await hive.prompts.get(allowed?.ask_id ?? '')).collected_at !== null);

    // A note is read by the model.
    await next();
    const [denied] = await asked(hive);
    await answer(hive, denied, { decision: 'use /tmp instead' });
    await claude.until(/all done 2/);
    expect(model.told()).toContain('ada denied this. ada says: use /tmp instead');
    expect(made('note')).toBe(false);

    await next();
    const [typed] = await asked(hive);
    await claude.answer(PROCEED, 'Enter');
    await claude.until(/all done 3/);
    expect(made('terminal')).toBe(true);
    expect(await hive.prompts.get(typed?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
      by: 'terminal',
    });
    expect(model.everything()).not.toContain('Answer to ask-');

    const steps = model.requests.length;
    await next();
    const [refused] = await asked(hive);
    await claude.answer(PROCEED, 'Escape');
    await eventually(async () => (await hive.prompts.get(refused?.ask_id ?? '')).status === 'cancelled');
    expect(model.requests).toHaveLength(steps + 1);
    expect(made('escape')).toBe(false);
  });

  test('is allowed at the terminal, and refused at the desk while the call runs: its human learns that, and the model reads it', async () => {
    const { hive, model, claude, folder } = await run(
      bash('touch made.txt; until [ -e go ]; do sleep 0.1; done'),
    );
    const [prompt] = await asked(hive);
    await claude.answer(PROCEED, 'Enter');
    await eventually(() => existsSync(join(folder, 'made.txt')), 20_000);
    await answer(hive, prompt, { decision: 'not here' });
    // The hook has printed the refusal, which the client ignores.
    await eventually(async () => (await hive.prompts.get(prompt?.ask_id ?? '')).handed_at !== null);
    writeFileSync(join(folder, 'go'), '');
    await claude.until(/all done/);
    expect(model.told()).toMatch(/refused this call[\s\S]*not here/);
    expect(await noticesOf(hive)).toEqual([expect.stringMatching(/^Your refusal came too late/)]);
  });

  test('that a desk leaves alone waits in its terminal when the hook’s time is up, and the terminal decides', async () => {
    const { hive, claude, folder } = await run(WRITES, { settings: { dialog_wait: 1 } });
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
  test('is answered at the desk while the dialog is up, or at the terminal, and the desk is told so', async () => {
    const options = COLORS.map((color, n) => ({ ...color, preview: `+--+\n|${n} |\n+--+` }));
    const layout = { question: 'Which layout\u0000?', header: 'Layout', options, multiSelect: false };
    const previews = { name: 'AskUserQuestion', input: { questions: [layout] } };
    const { hive, model, claude, next } = await talk([QUESTIONS, previews, QUESTIONS]);

    // With a choice, and several. The model learns that these are choices, as from the terminal.
    await next();
    const [color, parts] = await asked(hive, 2);
    await claude.until(/Which color\?/);
    await answer(hive, parts, { selected: ['API, v2', 'Docs'] });
    await answer(hive, color, { decision: 'Blue' });
    await claude.until(/all done 1/);
    const told = model.told().replaceAll('\\', '');
    expect(told).toContain('Your questions have been answered: "Which color?"="Blue"');
    expect(told).toContain('"Which parts?"=""API, v2", Docs"');

    // With a note. The model gets the preview of the chosen option, as from the terminal.
    await next();
    const [prompt] = await asked(hive);
    expect(prompt?.context).toContain('Blue:\n\n    +--+\n    |1 |');
    await answer(hive, prompt, { decision: 'Blue', comment: 'with docs' });
    await claude.until(/all done 2/);
    expect(model.told()).toContain('=\\"Blue\\" selected preview:\\n+--+\\n|1 |');
    expect(model.told()).toContain('with docs');

    await next();
    const prompts = await asked(hive, 2);
    await claude.answer(/\[ \] Color[\s\S]*Which color\?|Which color\?\n/, 'Enter');
    await claude.until(/Which parts\?[\s\S]*\[ \] API/);
    await claude.keys('Enter', 'Tab');
    await claude.answer(/Submit answers/, 'Enter');
    await claude.until(/all done 3/);
    expect(model.told()).toContain('Which color?\\"=\\"Red');
    for (const { ask_id } of prompts)
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
  });
});
