/** Forms of MCP servers and agents: their fields as prompts, and the answers as their content. */
import { describe, expect, test } from 'vitest';
import { decideForm, type FormDialog, formFrom, formPrompts, mcpForm } from '../../src/domain/forms.ts';
import type { Raw } from '../../src/domain/json.ts';
import { type AskRequest, PROMPT_LIMITS, type Prompt } from '../../src/domain/prompts.ts';
import { newPrompt } from '../support/new-prompt.ts';

const ASKER = {
  session_id: 's',
  agent: 'A',
  agent_title: null,
  source: 'main',
  project: 'p',
  project_dir: '/p',
  turn_id: null,
} as const;

function form(properties: Raw, required: string[] = []): FormDialog {
  const schema = { type: 'object', properties, required };
  const dialog = formFrom(
    { mode: 'form', url: null, schema, message: 'Which?' },
    { asker: 'The agent', header: 'x asks' },
  );
  if (dialog === null) throw new Error('no form');
  return dialog;
}

/** The prompts of a form, each answered with a list of labels or with words. */
function answered(dialog: FormDialog, answers: readonly (readonly string[] | string)[]): Prompt[] {
  return formPrompts(dialog).map((request, n): Prompt => {
    const answer = answers[n] ?? [];
    const prompt = newPrompt(request, ASKER, `ask-${n}`, '2026-01-01T00:00:00.000Z');
    return typeof answer === 'string'
      ? { ...prompt, status: 'responded', decision: answer, selected: [] }
      : { ...prompt, status: 'responded', decision: answer.join(', '), selected: [...answer] };
  });
}

function labels({ options }: AskRequest): string[] {
  return (options ?? []).map((option) => (typeof option === 'string' ? option : option.label));
}

describe('a choice with titles', () => {
  const dialog = form({
    colour: {
      type: 'string',
      oneOf: [
        { const: 'r', title: 'Red', description: 'warm' },
        { const: 'b', title: 'Blue' },
      ],
    },
  });

  test('shows titles and descriptions, and returns the value', () => {
    const [request] = formPrompts(dialog);
    expect(request?.options?.[0]).toEqual({ label: 'Red', description: 'warm' });
    expect(request?.allow_free_text).toBe(false);
    expect(decideForm(dialog, answered(dialog, [['Blue']]))).toEqual({
      kind: 'form',
      action: 'accept',
      content: { colour: 'b' },
    });
  });

  test('shows the previews that claude-agent-acp sends with the options, if a prompt has room for them', () => {
    const previewed = (preview: string) => {
      const _meta = { '_claude/askUserQuestionOption': { preview } };
      return formPrompts(
        form({ way: { type: 'string', oneOf: [{ const: 'A', _meta }, { const: 'B' }] } }),
      )[0];
    };
    expect(previewed('+--+\n|OK|')?.context).toMatch(/ asks\.\n\nA:\n\n {4}\+--\+\n {4}\|OK\|$/);
    expect(previewed('x'.repeat(1_000_000))?.context).toMatch(/ asks\.$/);
  });

  test('an optional field can be left empty, and the whole form declined', () => {
    expect(decideForm(dialog, answered(dialog, [['leave empty']]))).toMatchObject({ content: {} });
    expect(decideForm(dialog, answered(dialog, [['Decline']]))).toMatchObject({
      action: 'decline',
      content: {},
    });
  });
});

describe('several choices', () => {
  const dialog = form(
    {
      tests: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'u', title: 'Unit' },
            { const: 'e', title: 'End' },
          ],
        },
      },
    },
    ['tests'],
  );

  test('are asked as one question, and return a list', () => {
    expect(formPrompts(dialog)[0]).toMatchObject({ multi_select: true });
    expect(decideForm(dialog, answered(dialog, [['Unit', 'End']]))).toMatchObject({
      content: { tests: ['u', 'e'] },
    });
  });

  test('to decline and to choose at the same time declines', () => {
    expect(decideForm(dialog, answered(dialog, [['Unit', 'Decline']]))).toMatchObject({ action: 'decline' });
  });
});

describe('a choice with a field for free text', () => {
  const dialog = form({
    question_0: { type: 'string', oneOf: [{ const: 'Red', title: 'Red' }] },
    question_0_custom: { type: 'string', title: 'Other' },
  });

  test('is one question that also takes free text, which goes into its own field', () => {
    expect(formPrompts(dialog)).toHaveLength(1);
    expect(formPrompts(dialog)[0]?.allow_free_text).toBe(true);
    expect(decideForm(dialog, answered(dialog, ['green, please']))).toMatchObject({
      content: { question_0_custom: 'green, please' },
    });
    const [red] = answered(dialog, [['Red']]);
    const given = (comment: string | null) =>
      decideForm(dialog, red === undefined ? [] : [{ ...red, comment }]);
    expect(given(null)).toMatchObject({ content: { question_0: 'Red' } });
    expect(given('a dark one')).toMatchObject({
      content: { question_0: 'Red', question_0_custom: 'a dark one' },
    });
  });

  test('a text field with that ending beside no choice stays a field', () => {
    expect(formPrompts(form({ a: { type: 'string' }, a_custom: { type: 'string' } }))).toHaveLength(2);
  });
});

test('booleans, numbers and texts keep their types; an invalid value gives no content', () => {
  const dialog = form({ go: { type: 'boolean' }, count: { type: 'integer' }, note: { type: 'string' } }, [
    'go',
    'count',
    'note',
  ]);
  expect(formPrompts(dialog).map(labels)).toEqual([['yes', 'no', 'Decline'], ['Decline'], ['Decline']]);
  expect(decideForm(dialog, answered(dialog, [['no'], '3', 'fine']))).toMatchObject({
    content: { go: false, count: 3, note: 'fine' },
  });
  expect(decideForm(dialog, answered(dialog, [['no'], '3.5', 'fine']))).toBeNull();
});

test('a field may have any name', () => {
  const named = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}');
  const dialog = form(named, ['__proto__', 'constructor']);
  expect(formPrompts(dialog).map(({ question }) => question)).toEqual([
    'Which? · __proto__',
    'Which? · constructor',
  ]);
  const decided = decideForm(dialog, answered(dialog, ['a', 'b']));
  expect(JSON.stringify(decided)).toBe(
    '{"kind":"form","action":"accept","content":{"__proto__":"a","constructor":"b"}}',
  );
});

describe('a choice whose label a prompt does not keep as it is', () => {
  const dialog = form({
    rights: { type: 'array', items: { enum: ['read', 'write ', 'a\0b'] } },
    scope: { type: 'string', oneOf: [{ const: 'all', title: ' Everything' }] },
  });

  test('is the one that was chosen', () => {
    expect(answered(dialog, []).map(({ options }) => options.map(({ label }) => label))).toEqual([
      ['read', 'write', 'a\ufffdb', 'leave empty', 'Decline'],
      ['Everything', 'leave empty', 'Decline'],
    ]);
    expect(
      decideForm(dialog, answered(dialog, [['read', 'write', 'a\ufffdb'], ['Everything']])),
    ).toMatchObject({ content: { rights: ['read', 'write ', 'a\0b'], scope: 'all' } });
  });

  test('and another choice that is none of the field gives no content', () => {
    expect(decideForm(dialog, answered(dialog, [['read', 'another'], ['leave empty']]))).toBeNull();
    expect(decideForm(dialog, answered(dialog, [['read', 'leave empty'], ['leave empty']]))).toBeNull();
  });
});

test('a form that a desk cannot show is not asked there', () => {
  const many = Array.from({ length: 25 }, (_, n) => `value ${n}`);
  expect(formPrompts(form({ a: { type: 'string', enum: many } }))).toEqual([]);
  expect(formPrompts(form({ a: { type: 'string', enum: ['Allow', 'Аllow'] } }))).toEqual([]);
  expect(formPrompts(form({ a: { type: 'string', enum: ['a', 'b'.repeat(501)] } }))).toEqual([]);
  expect(formPrompts(form({ a: { type: 'string', enum: ['a', ' '] } }))).toEqual([]);
  const explained = { const: 'a', description: 'b'.repeat(PROMPT_LIMITS.optionDescription + 1) };
  expect(formPrompts(form({ a: { type: 'string', oneOf: [explained] } }))).toEqual([]);
  const page = { mode: 'url', url: 'https://example.org/x', mcp_server_name: 'github' };
  expect(formPrompts(mcpForm({ ...page, message: '' }) as FormDialog)).toEqual([]);
  const long = `${page.url}${'x'.repeat(PROMPT_LIMITS.contextBytes)}`;
  expect(formPrompts(mcpForm({ ...page, message: 'Sign in', url: long }) as FormDialog)).toEqual([]);
});

test('a page to open has no fields: the human says whether they agree', () => {
  const dialog = mcpForm({
    mode: 'url',
    url: 'https://example.org/x',
    message: 'Sign in',
    mcp_server_name: 'github',
  });
  expect(dialog).toMatchObject({ header: 'github asks', url: 'https://example.org/x' });
  expect(formPrompts(dialog as FormDialog).map(labels)).toEqual([['Accept', 'Decline']]);
  expect(mcpForm({ mode: 'url', message: 'Sign in' })).toBeNull();
  expect(mcpForm({ mode: 'form', requested_schema: 'x' })).toBeNull();
});
