/** Which pending prompts one decision may answer together. */
import { describe, expect, test } from 'vitest';
import { promptsOf } from '../../src/domain/dialogs.ts';
import { likenessOf } from '../../src/domain/likeness.ts';
import { type AskRequest, expirePrompt, type Prompt } from '../../src/domain/prompts.ts';
import { at, prompt } from './prompt-arbitraries.ts';

interface Call {
  tool?: string;
  input?: Readonly<Record<string, unknown>>;
  cwd?: string;
  allows?: string;
}

/** The permission of a tool's call, as a desk gets it. */
function permission({
  tool = 'Bash',
  input = { command: 'npm install' },
  cwd = '/home/a',
  allows,
}: Call): Prompt {
  const rules = [{ toolName: tool, ruleContent: allows }];
  const suggestions = allows === undefined ? [] : [{ type: 'addRules', behavior: 'allow', rules }];
  const used = { name: tool, input, use_id: null, response: null, own: null };
  const [request] = promptsOf(
    { kind: 'permission', tool: used, suggestions },
    { client: 'claude-code', cwd },
  );
  if (request === undefined) throw new Error('It was not offered.');
  return { ...prompt(request), dialog: true, fingerprint: JSON.stringify(input) };
}

const alike = (one: Prompt, other: Prompt): boolean => likenessOf(one) === likenessOf(other);

describe('the permissions of two agents are alike', () => {
  test('if the same command would run, wherever it would run and whatever the agents say of it', () => {
    const one = permission({ input: { command: 'npm install', description: 'Install dependencies' } });
    const other = permission({ cwd: '/home/b' });
    expect(alike(one, other)).toBe(true);
  });

  test.each<[string, Call]>([
    ['another command', { input: { command: 'npm install left-pad' } }],
    ['another tool with the same argument', { tool: 'Shell' }],
    ['one more argument', { input: { command: 'npm install', timeout: 60_000 } }],
    ['an argument named like a line of Hive', { input: { command: 'npm install', Directory: '/' } }],
    ['another rule to choose', { allows: 'npm install:*' }],
  ])('but not with %s', (_what, call) => {
    expect(alike(permission({}), permission(call))).toBe(false);
  });

  test('but not if they change the same file differently', () => {
    const edit = (new_string: string) =>
      permission({ tool: 'Edit', input: { file_path: '/home/a/b.ts', old_string: 'x', new_string } });
    expect(alike(edit('y'), edit('y'))).toBe(true);
    expect(alike(edit('y'), edit('z'))).toBe(false);
  });
});

describe('the questions of two agents are alike', () => {
  const ASKED: AskRequest = { question: 'Commit?', options: ['yes', 'no'], context: 'Tests pass.' };

  test('if they say the same, whoever asks, when and how urgently', () => {
    const other: Prompt = { ...prompt({ ...ASKED, urgency: 'low' }), agent: 'reviewer', created_at: at(9) };
    expect(alike(prompt(ASKED), other)).toBe(true);
  });

  test.each<[string, Partial<AskRequest>]>([
    ['another question', { question: 'Commit now?' }],
    ['another context', { context: 'Tests fail.' }],
    ['another option', { options: ['yes', 'never'] }],
    ['another meaning of an option', { options: ['yes', { label: 'no', description: 'not today' }] }],
    ['several options to choose', { multi_select: true }],
    ['options only', { allow_free_text: false }],
    ['another kind', { kind: 'permission' }],
  ])('but not with %s', (_what, changes) => {
    expect(alike(prompt(ASKED), prompt({ ...ASKED, ...changes }))).toBe(false);
  });
});

test('what a session asked that has ended is not like what a living one asks', () => {
  const [dead, gone] = [1, 2].map(() => ({ ...prompt({ question: 'Commit?' }), orphaned: true }));
  expect(alike(prompt({ question: 'Commit?' }), dead as Prompt)).toBe(false);
  expect(alike(gone as Prompt, dead as Prompt)).toBe(true);
});

test('a settled prompt is like no other', () => {
  const settled = expirePrompt({ ...prompt(), expires_at: at(1) }, at(2));
  expect(likenessOf(settled)).toBeNull();
});

test('the directory of a permission that an agent asks for itself is part of what it asks', () => {
  const asked = (cwd: string) => prompt({ kind: 'permission', context: `make\n\nDirectory: ${cwd}` });
  expect(alike(asked('/a'), asked('/b'))).toBe(false);
});
