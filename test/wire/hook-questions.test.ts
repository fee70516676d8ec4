/**
 * The questions that a model asks through its client (AskUserQuestion, elicitation), answered at a desk.
 *
 * @module-tag one-winner
 * @module-tag provenance
 * @module-tag hook
 */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { fireDialog, openDesk } from '../support/dialogs.ts';
import { HUMAN, openTestHive, prefer } from '../support/hive.ts';
import { fire, recordedEvent, recordedSequence, said } from '../support/hooks.ts';

const ASKED = recordedEvent('claude-code/PermissionRequest-AskUserQuestion.json');
const BEFORE = recordedEvent('claude-code/PreToolUse-AskUserQuestion.json');
const FORM = recordedEvent('claude-code/Elicitation-form.json');
const PAGE = recordedEvent('claude-code/Elicitation-url.json');
const OVER = recordedEvent('claude-code/PostToolUse-AskUserQuestion-by-terminal.json');
const questions = (ASKED['tool_input'] as { questions: unknown[] }).questions;

let hive: OpenedHive;
let desk: Awaited<ReturnType<typeof openDesk>>;
beforeEach(async () => {
  hive = await openTestHive();
  desk = await openDesk(hive);
});

const answer = (
  prompt: Prompt | undefined,
  given: { decision?: string; selected?: string[]; comment?: string },
) => hive.prompts.respond({ ask_id: prompt?.ask_id ?? '', ...given, actor: HUMAN });

describe('AskUserQuestion', () => {
  test('is one prompt a question, in order, of one group, with its options', async () => {
    const { prompts, printed } = await fireDialog(hive, ASKED);
    expect(prompts).toMatchObject([
      { kind: 'question', header: 'Color', question: 'Which color?', multi_select: false, dialog: true },
      { kind: 'question', header: 'Parts', question: 'Which parts?', multi_select: true, dialog: true },
    ]);
    expect(prompts[0]?.options).toEqual([
      { label: 'Red', description: 'r' },
      { label: 'Blue', description: 'b' },
    ]);
    expect(prompts[0]?.group_id).toMatch(/^group-/);
    expect(prompts[1]?.group_id).toBe(prompts[0]?.group_id);
    await hive.prompts.cancel(prompts[0]?.ask_id ?? '', HUMAN, 'human');
    expect(await printed).toBe('');
    // The rest of the form goes with it: the terminal has all of it.
    expect(await hive.prompts.get(prompts[1]?.ask_id ?? '')).toMatchObject({ status: 'cancelled' });
  });

  test('is returned with the same questions, the answers and a note, when all are answered', async () => {
    const { prompts, printed } = await fireDialog(hive, ASKED);
    await answer(prompts[1], { selected: ['API', 'Docs'], comment: 'docs last' });
    await answer(prompts[0], { decision: 'a dark green' });
    expect(said(await printed)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PermissionRequest',
        decision: {
          behavior: 'allow',
          updatedInput: {
            questions,
            answers: { 'Which color?': 'a dark green', 'Which parts?': 'API, Docs' },
            annotations: { 'Which parts?': { notes: 'docs last' } },
          },
        },
      },
    });
  });

  /** Replays a recorded run up to its dialog; `goOn` replays the rest, and resolves to what its hooks print. */
  async function replay(file: string) {
    const events = recordedSequence(file);
    const at = events.findIndex(({ hook_event_name }) => hook_event_name === 'PermissionRequest');
    for (const raw of events.slice(0, at)) await fire(hive, raw);
    const dialog = await fireDialog(hive, events[at] ?? {});
    const goOn = async (): Promise<string> => {
      let printed = '';
      for (const raw of events.slice(at + 1)) printed += await fire(hive, raw);
      return printed;
    };
    return { ...dialog, goOn };
  }

  test('the recorded run, answered by the hook: handed over once, and proved read', async () => {
    const { prompts, printed, goOn } = await replay('claude-code/askuserquestion-hook-first.jsonl');
    await answer(prompts[0], { decision: 'Blue' });
    await answer(prompts[1], { selected: ['API', 'Docs'] });
    await printed;
    expect(await goOn()).toBe('');
    for (const { ask_id } of prompts) {
      const { collected_at, status } = await hive.prompts.get(ask_id);
      expect({ status, read: collected_at !== null }).toEqual({ status: 'responded', read: true });
    }
  });

  test('the recorded run, answered at the terminal: withdrawn, and nothing is printed', async () => {
    const { prompts, printed, goOn } = await replay('claude-code/askuserquestion-terminal-first.jsonl');
    const later = await goOn();
    expect(await printed).toBe('');
    expect(later).toBe('');
    for (const { ask_id } of prompts) {
      expect(await hive.prompts.get(ask_id)).toMatchObject({
        status: 'cancelled',
        cancel_reason: 'answered_elsewhere',
      });
    }
    const late = await answer(prompts[0], { decision: 'Blue' });
    expect(late.outcome).toBe('late');
  });

  test('answered in part at a desk and then at the terminal: the agent reads which answers are the newer ones', async () => {
    const { prompts, printed } = await fireDialog(hive, ASKED);
    await answer(prompts[0], { decision: 'Blue' });
    const context = said(await fire(hive, OVER))?.hookSpecificOutput?.['additionalContext'];
    expect(context).toMatch(
      new RegExp(
        `^The human answered ${prompts[0]?.ask_id} at another place first.*newer ones\\.\n\nAnswer to .*Blue`,
      ),
    );
    expect(await printed).toBe('');
    expect(await hive.prompts.get(prompts[1]?.ask_id ?? '')).toMatchObject({
      cancel_reason: 'answered_elsewhere',
    });
  });

  test('ends with its tool', async () => {
    const { prompts, printed } = await fireDialog(hive, ASKED);
    await fire(hive, recordedEvent('claude-code/PostToolUse-AskUserQuestion-free-text.json'));
    expect(await printed).toBe('');
    for (const { ask_id } of prompts)
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
  });

  test('that its client closes by itself counts as answered only where somebody had answered', async () => {
    const { prompts, printed } = await fireDialog(hive, ASKED);
    const { answers: _, ...response } = OVER['tool_response'] as Record<string, unknown>;
    // As recorded with 2.1.330 and askUserQuestionTimeout, which sends what was selected by then.
    const left = { ...response, answers: { 'Which parts?': 'API' }, afkTimeoutMs: 60_000 };
    await fire(hive, { ...OVER, tool_response: left });
    expect(await printed).toBe('');
    const reasons = await Promise.all(
      prompts.map(async ({ ask_id }) => (await hive.prompts.get(ask_id)).cancel_reason),
    );
    expect(reasons).toEqual(['unknown', 'answered_elsewhere']);
  });

  test('without a dialog PreToolUse answers it', async () => {
    expect(await fire(hive, BEFORE, { env: { CLAUDE_CODE_SESSION_ATTENDED: '1' } })).toBe('');
    const sdk = { env: { CLAUDE_CODE_ENTRYPOINT: 'sdk-ts', CLAUDE_CODE_SESSION_ATTENDED: '0' } };
    const { prompts, printed } = await fireDialog(hive, BEFORE, sdk);
    await answer(prompts[0], { decision: 'Red' });
    await answer(prompts[1], { selected: ['UI'] });
    expect(said(await printed)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        updatedInput: { questions, answers: { 'Which color?': 'Red', 'Which parts?': 'UI' } },
      },
    });
  });

  test('dialog_wait off leaves it to the terminal', async () => {
    await prefer(hive, { dialog_wait: 'off' });
    expect(await fire(hive, ASKED)).toBe('');
  });

  test('in a form that a desk cannot show is left to the terminal', async () => {
    const twice = { questions: [questions[0], questions[0]] };
    expect(await fire(hive, { ...ASKED, tool_input: twice })).toBe('');
    expect(await fire(hive, { ...ASKED, tool_input: { questions: 'none' } })).toBe('');
  });
});

describe('the options of AskUserQuestion', () => {
  const LAYOUT = {
    question: 'Which layout?',
    header: 'Layout',
    multiSelect: false,
    options: [
      { label: 'Left', description: 'l', preview: '+--+\n|L |' },
      { label: 'Right', description: 'r', preview: '+--+\n| R|' },
    ],
  };
  const asking = (...questions: object[]) => ({ ...ASKED, tool_input: { questions } });

  test('have their previews in the context, and the chosen one goes back to the model', async () => {
    const { prompts, printed } = await fireDialog(hive, asking(LAYOUT));
    expect(prompts[0]?.context).toBe('Left:\n\n    +--+\n    |L |\n\nRight:\n\n    +--+\n    | R|');
    await answer(prompts[0], { decision: 'Right', comment: 'wider' });
    expect(said(await printed)?.hookSpecificOutput).toMatchObject({
      decision: {
        updatedInput: { annotations: { 'Which layout?': { preview: '+--+\n| R|', notes: 'wider' } } },
      },
    });
  });

  test('are answered under the very text of the question, also where that cannot be stored', async () => {
    const question = 'Which\u0000 layout \ud83d?';
    const { prompts, printed } = await fireDialog(hive, asking({ ...LAYOUT, question }));
    await answer(prompts[0], { decision: 'Left' });
    expect(said(await printed)?.hookSpecificOutput).toMatchObject({
      decision: { updatedInput: { answers: { [question]: 'Left' } } },
    });
  });

  test.each([
    ['a description', { options: [{ label: 'Left', description: 'x'.repeat(2_001) }] }],
    ['a preview', { options: [{ label: 'Left', description: 'l', preview: 'x'.repeat(60_000) }] }],
    ['a header', { header: 'x'.repeat(201) }],
    ['no question', { question: ' ' }],
  ])('are left to the terminal with %s that no desk can show, and no hook fails', async (_, changed) => {
    expect(await fire(hive, asking({ ...LAYOUT, ...changed }))).toBe('');
    expect((await hive.prompts.list({ limit: 1 })).items).toEqual([]);
  });
});

describe('the form of an MCP server', () => {
  test('is one prompt a field, and is returned in the types of its schema', async () => {
    const { prompts, printed } = await fireDialog(hive, FORM);
    expect(prompts).toMatchObject([
      { kind: 'question', header: 'hive asks', question: 'Proceed? · ok', allow_free_text: false },
    ]);
    expect(prompts[0]?.options.map(({ label }) => label)).toEqual(['yes', 'no', 'Decline']);
    await answer(prompts[0], { decision: 'yes' });
    expect(said(await printed)).toEqual({
      hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { ok: true } },
    });
  });

  test('declined in one field is declined whole; an invalid number is left to the terminal', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' }, name: { type: 'string' } },
      required: ['n'],
    };
    const raw = { ...FORM, requested_schema: schema };
    const declined = await fireDialog(hive, raw);
    await answer(declined.prompts[0], { decision: '7' });
    await answer(declined.prompts[1], { decision: 'Decline' });
    expect(said(await declined.printed)?.hookSpecificOutput).toMatchObject({ action: 'decline' });
    const odd = await fireDialog(hive, raw);
    await answer(odd.prompts[0], { decision: 'seven' });
    await answer(odd.prompts[1], { decision: 'leave empty' });
    expect(await odd.printed).toBe('');
  });

  test.each([
    ['Accept', 'accept'],
    ['Decline', 'decline'],
  ])('a page to visit is shown with its address; %s says so', async (decision, action) => {
    const { prompts, printed } = await fireDialog(hive, PAGE);
    expect(prompts).toMatchObject([
      {
        header: 'shop asks',
        question: 'Pay 3 euros there?',
        options: [{ label: 'Accept' }, { label: 'Decline' }],
        context: expect.stringContaining('http://127.0.0.1:9/pay?order=1'),
        allow_free_text: false,
      },
    ]);
    await answer(prompts[0], { decision });
    expect(said(await printed)).toEqual({
      hookSpecificOutput: { hookEventName: 'Elicitation', action, content: {} },
    });
  });

  test('is left to its terminal, which does not show it before, as soon as no desk is open', async () => {
    const { prompts, printed } = await fireDialog(hive, FORM);
    await desk.close();
    expect(await printed).toBe('');
    expect(await hive.prompts.get(prompts[0]?.ask_id ?? '')).toMatchObject({
      status: 'pending',
      terminal_since: expect.any(String),
    });
  });

  const SHOP = { ...FORM, mcp_server_name: 'the shop' };
  const call = (name: 'PreToolUse' | 'PostToolUse', id: string, tool: string, more: object = {}) =>
    fire(hive, {
      ...{ ...FORM, hook_event_name: name, tool_name: `mcp__${tool}`, tool_use_id: id, tool_input: {} },
      ...more,
    });

  test('is withdrawn when the call that asked it has run: its server has given up on it', async () => {
    await fire(hive, { ...FORM, hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    await call('PreToolUse', 't1', 'the_shop__order');
    await call('PreToolUse', 't2', 'the_shop_2__order');
    const { prompts, printed } = await fireDialog(hive, SHOP);
    const now = () => hive.prompts.get(prompts[0]?.ask_id ?? '');
    await call('PostToolUse', 't2', 'the_shop_2__order');
    expect(await now()).toMatchObject({ status: 'pending' });
    await call('PostToolUse', 't1', 'the_shop__order');
    expect(await now()).toMatchObject({ status: 'cancelled', cancel_reason: 'unknown' });
    expect(await printed).toBe('');
  });

  test('stays while another call may have asked it, which may be that of a subagent, or began before', async () => {
    await fire(hive, { ...FORM, hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    await call('PreToolUse', 't1', 'the_shop__look');
    await call('PreToolUse', 't2', 'the_shop__order', { agent_id: 'helper' });
    const { prompts } = await fireDialog(hive, SHOP);
    const now = () => hive.prompts.get(prompts[0]?.ask_id ?? '');
    await call('PostToolUse', 't1', 'the_shop__look');
    expect(await now()).toMatchObject({ status: 'pending' });
    await call('PostToolUse', 't2', 'the_shop__order', { agent_id: 'helper' });
    await call('PreToolUse', 't3', 'the_shop__look');
    await call('PostToolUse', 't3', 'the_shop__look');
    expect(await now()).toMatchObject({ status: 'pending' });
  });

  test('answered at the terminal it is withdrawn, and the next one of its server is still asked', async () => {
    const { prompts, printed } = await fireDialog(hive, FORM);
    const next = await fireDialog(hive, { ...FORM, message: 'And then?' });
    await fire(hive, recordedEvent('claude-code/ElicitationResult-form.json'));
    expect(await printed).toBe('');
    await answer(next.prompts[0], { decision: 'yes' });
    expect(said(await next.printed)?.hookSpecificOutput).toMatchObject({ action: 'accept' });
    expect(await hive.prompts.get(prompts[0]?.ask_id ?? '')).toMatchObject({
      cancel_reason: 'answered_elsewhere',
    });
  });
});
