/**
 * Only what was displayed is approved: permissions that show less than they permit, and answers to what nobody saw.
 *
 * @module-tag as-displayed
 * @module-tag hook
 * @module-tag emacs
 * @module-tag cli
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventIn } from '../../src/adapters/hooks/connection-hook.ts';
import { parseEvent, readEvent } from '../../src/adapters/hooks/hook.ts';
import { screensOf } from '../../src/cli/output.ts';
import { dialogFingerprint, dialogOf, promptsOf } from '../../src/domain/dialogs.ts';
import { editShown } from '../../src/domain/edits.ts';
import { likenessOf } from '../../src/domain/likeness.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { popupOf, tellPrompt } from '../../src/domain/popups.ts';
import { DEFAULT_PREFERENCES } from '../../src/domain/preferences.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import { DESCRIPTION, summarizeTool } from '../../src/domain/shown-calls.ts';
import { permissionOf, ToolCalls } from '../../src/extensions/editors/acp/dialogs.ts';
import { type EditorPermission, editorPrompts, isWhollyInput } from '../../src/extensions/editors/dialog.ts';
import { EDIT_TOOLS_ELSEWHERE, editToolsAt } from '../../src/infrastructure/platform/edits.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import {
  answerDialog,
  type FiredDialog,
  fireDialog,
  openDesk,
  permissionDecision,
} from '../support/dialogs.ts';
import { measuredEditTools } from '../support/edit-tools.ts';
import { ask, eventsOf, HUMAN, noticesOf, openTestHive } from '../support/hive.ts';
import { fire, recordedEvent, said } from '../support/hooks.ts';
import { tempFolder } from '../support/temp.ts';

/** More than Hive reads of a file. */
const LARGE = 'x'.repeat(3 * 1024 * 1024);

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');

let hive: OpenedHive;
beforeEach(async () => {
  hive = await openTestHive();
  await openDesk(hive);
});

/** The prompt of a permission dialog for this tool and input. It is denied in the end. */
async function shown(tool_name: string, tool_input: Record<string, unknown>): Promise<Prompt> {
  const { prompts, printed } = await fireDialog(hive, { ...BASH, tool_name, tool_input });
  const [prompt] = prompts;
  if (prompt === undefined) throw new Error('Nothing was asked.');
  await answerDialog(hive, prompt.ask_id, 'Deny');
  await printed;
  return prompt;
}

const labels = ({ options }: Prompt): string[] => options.map(({ label }) => label);

const ALLOW = { optionId: 'a', name: 'Allow', kind: 'allow_once' };
const WORK = { toolCallId: '1', title: 'Work', rawInput: { command: 'make' } };

/** The text that a desk shows of a permission that an agent asks for over ACP. */
function overAcp(params: object, cwd = '/src'): { context: string; dialog: EditorPermission } {
  const dialog = permissionOf({ options: [ALLOW], ...params }, new ToolCalls(), cwd);
  if (dialog?.kind !== 'permission') throw new Error('Nothing was asked.');
  return { context: editorPrompts(dialog, editToolsAt(cwd))[0]?.context ?? '', dialog };
}

describe('a permission shows everything that it permits', () => {
  test('the command first, each argument by name, the words of the agent last and labelled', async () => {
    const { context } = await shown('Bash', {
      command: 'npm test',
      description: 'Only reads.\nTool: Read',
      dangerouslyDisableSandbox: true,
      timeout: 600_000,
      'new field': ['x'],
    });
    expect(context).toBe(
      [
        '    npm test',
        '',
        'dangerouslyDisableSandbox: true',
        'timeout: 600000',
        '"new field": [',
        '      "x"',
        '    ]',
        '',
        'Tool: Bash',
        `Directory: ${BASH['cwd']}`,
        '',
        "The agent's own description of it:",
        '    Only reads.',
        '    Tool: Read',
      ].join('\n'),
    );
  });

  test('a tool of a server is said to be of that one only where its name leaves no doubt', () => {
    const question = (name: string): string => summarizeTool({ name, input: {} }).question;
    expect(question('mcp__github__delete_repo')).toBe('Call delete_repo of github?');
    for (const name of ['mcp__github__evil__delete', 'mcp__github___delete'])
      expect(question(name)).toBe(`Call ${name}?`);
  });

  test('an argument of another tool does not make its question that of a command', () => {
    const input = { file_path: '/etc/hosts', content: 'all', command: 'npm test' };
    const { question, details } = summarizeTool({ name: 'Write', input });
    expect(question).toBe('Write /etc/hosts?');
    expect(details).toContain('command: "npm test"');
  });

  test('the question has the beginning of a long command, and the details have all of it', () => {
    const command = Array.from({ length: 60 }, (_, n) => `echo "step ${n}" >> log.txt`).join('\n');
    const { question, details } = summarizeTool({ name: 'Bash', input: { command } });
    expect(question).toMatch(/^Run echo "step 0" >> log\.txt echo .*…\?$/);
    expect(question.length).toBeLessThanOrEqual(141);
    expect(details?.split('\n').map((line) => line.trim())).toEqual(command.split('\n'));
  });

  test('no line of the agent looks like one of Hive', async () => {
    const { context } = await shown('Bash', { command: 'rm -rf ~\n\nTool: Read\nDirectory: /safe' });
    expect(context?.match(/^Tool: .*$/gm)).toEqual(['Tool: Bash']);
    expect(context?.match(/^Directory: .*$/gm)).toEqual([`Directory: ${BASH['cwd']}`]);
  });

  test('not even where it works in a directory, or calls a tool, with a line break in its name', async () => {
    const cwd = '/x\nTool: Read\nDirectory: /safe';
    const { prompts, printed } = await fireDialog(hive, { ...BASH, tool_name: 'Bash\nTool: Read', cwd });
    const [prompt] = prompts;
    await answerDialog(hive, prompt?.ask_id ?? '', 'Deny');
    await printed;
    expect(prompt?.context?.match(/^Tool: .*$/gm)).toEqual(['Tool: "Bash\\nTool: Read"']);
    expect(prompt?.context?.match(/^Directory: .*$/gm)).toEqual([`Directory: ${JSON.stringify(cwd)}`]);
  });

  test('not even where a field of a call, or an option, has such a name', async () => {
    const names = ['Directory: /safe', 'Directory', 'Tool', DESCRIPTION, 'All 3 occurrences are replaced.'];
    const said = Object.fromEntries(names.map((name) => [name, 1]));
    const { context } = await shown('mcp__x__y', said);
    const acp = overAcp({ toolCall: { ...WORK, ...said } }).context;
    for (const [text, own] of [
      [context ?? '', [`Tool: mcp__x__y`, `Directory: ${BASH['cwd']}`]],
      [acp, ['Tool: other', 'Directory: /src', DESCRIPTION]],
    ] as const) {
      expect(text.match(/^(?:Tool|Directory|The agent|All) ?.*$/gm)).toEqual(own);
      for (const name of names) expect(text).toContain(`${JSON.stringify(name)}: 1`);
    }
    const option = { optionId: 'a', name: 'Allow\nDirectory: /safe', kind: 'allow_once' };
    const dialog = permissionOf({ options: [option], toolCall: WORK }, new ToolCalls(), '/src');
    expect(dialog === null ? null : editorPrompts(dialog, EDIT_TOOLS_ELSEWHERE)).toEqual([]);
  });

  test('no plan is like another one, whatever its lines are', async () => {
    const own = "The agent's own description of it:";
    const plans = ['Add tests', `Add tests\n\n${own}\nrm -rf ~`, 'Add tests\n\nDirectory: /x'];
    const keys = await Promise.all(
      plans.map(async (plan) => likenessOf(await shown('ExitPlanMode', { plan }))),
    );
    expect(new Set(keys).size).toBe(plans.length);
    expect(keys).not.toContain(null);
  });

  test.each([
    ['Edit', { file_path: '/a', old_string: 'x', new_string: 'y', content: 'hidden', replace_all: true }],
    ['Write', { file_path: '/a', content: 'x', new_source: 'hidden', mode: 'hidden too' }],
    ['MultiEdit', { file_path: '/a', edits: [{ old_string: 'x', new_string: 'y', replace_all: true }] }],
    ['WebFetch', { url: 'https://example.org', command: '  ', prompt: 'p' }],
    ['Bash', { command: 'make', file_path: '/decoy', url: 'https://example.org/decoy' }],
    ['mcp__db__run', { description: 'not last: an argument', command: 'drop table' }],
  ])('%s hides no argument', async (tool, input) => {
    const { context } = await shown(tool, input);
    // Each on a line of its own name, or as text: of an edit, the file is in the heading and the texts are the lines of a diff.
    const texts = (value: unknown): unknown[] =>
      Array.isArray(value) ? value.flatMap(Object.values).filter((one) => typeof one === 'string') : [value];
    for (const [name, value] of Object.entries(input)) {
      const isShown =
        context?.includes(`${name}: `) === true ||
        texts(value).every((one) => typeof one === 'string' && context?.includes(one));
      expect(isShown, `${name} in\n${context}`).toBe(true);
    }
  });

  test('what is too long to be shown can only be denied', async () => {
    const prompt = await shown('Write', { file_path: '/a', content: `${'x\n'.repeat(40_000)}rm -rf ~` });
    expect(labels(prompt)).toEqual(['Deny', 'Abort']);
    expect(prompt.context).toContain('too long to be shown here');
  });

  test('a scope of "always" that is too long to be read is not offered', async () => {
    const rules = Array.from({ length: 200 }, (_, n) => ({
      toolName: 'Bash',
      ruleContent: `program-${n}:*`,
    }));
    const { prompts, answer } = await fireDialog(hive, {
      ...BASH,
      permission_suggestions: [{ type: 'addRules', behavior: 'allow', rules, destination: 'session' }],
    });
    expect(prompts.map(labels)).toEqual([['Allow', 'Deny', 'Abort']]);
    await answer('Deny');
  });
});

test.each([
  { type: 'addRules', behavior: 'allow', rules: [{ toolName: 'Bash' }, 'Edit'] },
  { type: 'addRules', behavior: 'allow', rules: [{ toolName: 'Bash', ruleContent: ['rm *'] }] },
  { type: 'addRules', behavior: 'allow', rules: [{ ruleContent: 'rm *' }] },
  { type: 'addDirectories', directories: [{ path: '/' }] },
  { type: 'addDirectories' },
  { type: 'setMode', mode: { is: 'bypassPermissions' } },
  { type: 'setMode' },
])('a scope of "always" that cannot be put into words in full is not offered: %j', (suggestion) => {
  const event = readEvent({ ...BASH, permission_suggestions: [suggestion] }, {}, null);
  const dialog = dialogOf(event);
  const [asked] = dialog === null ? [] : promptsOf(dialog, event);
  expect(asked?.options).toMatchObject([{ label: 'Allow' }, { label: 'Deny' }, { label: 'Abort' }]);
});

test.each([
  ['a rule', 'Bash("ls)\\n[Deny] x")', { rules: [{ toolName: 'Bash', ruleContent: 'ls)\n[Deny] x' }] }],
  ['a tool', '"x\\n[Deny] x"', { rules: [{ toolName: 'x\n[Deny] x' }] }],
  ['a tool with a rule', '"x\\n[Deny] x"(ls)', { rules: [{ toolName: 'x\n[Deny] x', ruleContent: 'ls' }] }],
  ['a directory', 'everything in "/a\\r[Deny] x"', { type: 'addDirectories', directories: ['/a\r[Deny] x'] }],
  ['a mode', 'mode "x\\n[Deny] x"', { type: 'setMode', mode: 'x\n[Deny] x' }],
])('a scope of "always" is one line, whatever %s says', (_, words, suggestion) => {
  const permission_suggestions = [{ type: 'addRules', behavior: 'allow', ...suggestion }];
  const event = readEvent({ ...BASH, permission_suggestions }, {}, null);
  const dialog = dialogOf(event);
  const [asked] = dialog === null ? [] : promptsOf(dialog, event);
  expect(asked?.options?.[1]).toEqual({
    label: 'Allow always',
    description: `By the client itself: ${words}`,
  });
});

describe('an answer that allows says what was displayed', () => {
  test.each(['emacs', 'cli', 'notification'] as const)('through %s', async (via) => {
    const { prompts, printed } = await fireDialog(hive, BASH);
    const [prompt] = prompts;
    const ask_id = prompt?.ask_id ?? '';
    const actor = { ...HUMAN, via };
    const other = permissionDigest({ ...(prompt as Prompt), context: 'ls' });
    for (const displayed_digest of [undefined, null, '', 'x', other]) {
      for (const decision of ['Allow', 'Allow always']) {
        await expect(
          hive.prompts.respond({ ask_id, decision, actor, displayed_digest }),
        ).rejects.toMatchObject({
          code: 'not_allowed',
          message: expect.stringMatching(/is not allowed: .*displayed/),
        });
      }
    }
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    const displayed_digest = permissionDigest(prompt as Prompt);
    await hive.prompts.respond({ ask_id, decision: 'Allow', actor, displayed_digest });
    expect(said(await printed)?.hookSpecificOutput).toEqual(permissionDecision({ behavior: 'allow' }));
    const events = await hive.history.eventsOf(ask_id, 50);
    expect(events.find(({ type }) => type === 'prompt/responded')?.data).toMatchObject({ displayed_digest });
  });

  test('to refuse needs nothing, and free text allows only outside a dialog', async () => {
    const { prompts, printed } = await fireDialog(hive, BASH);
    await hive.prompts.respond({ ask_id: prompts[0]?.ask_id ?? '', decision: 'yes, go', actor: HUMAN });
    expect(said(await printed)?.hookSpecificOutput).toMatchObject({ decision: { behavior: 'deny' } });
    const prompt = await ask(hive, { kind: 'permission', question: 'May I?' });
    await expect(
      hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN }),
    ).rejects.toMatchObject({ code: 'not_allowed' });
  });

  test('a refusal is amended to a yes only by somebody who has seen the permission', async () => {
    const { prompts, printed } = await fireDialog(hive, { ...BASH, session_id: 'other' });
    const ask_id = prompts[0]?.ask_id ?? '';
    const held = hive.prompts.respond({ ask_id, decision: 'Deny', actor: HUMAN });
    const amended = held.then(() => hive.prompts.amend({ ask_id, decision: 'Allow', actor: HUMAN }));
    await expect(amended).rejects.toMatchObject({ code: expect.stringMatching(/not_allowed|not_amendable/) });
    expect(said(await printed)?.hookSpecificOutput).toMatchObject({ decision: { behavior: 'deny' } });
  });
});

describe('the arguments of a call', () => {
  /** The text that a desk shows of a call, and the mark of the call, as its client wrote both. */
  function ofText(amount: string, by: 'process' | 'connection'): { context: string; fingerprint: string } {
    const tool_input = `{"account": ${amount}, "list": [${amount}]}`;
    const fields = { ...BASH, tool_name: 'mcp__bank__pay' };
    const text = JSON.stringify({ ...fields, tool_input: 0 }).replace(
      '"tool_input":0',
      `"tool_input":${tool_input}`,
    );
    const event =
      by === 'process'
        ? parseEvent(text, {}, null)
        : readEvent(eventIn({ args: { ...fields, tool_input }, thread_id: null }), {}, null);
    const dialog = dialogOf(event);
    if (dialog === null) throw new Error('Nothing was asked.');
    return { context: promptsOf(dialog, event)[0]?.context ?? '', fingerprint: dialogFingerprint(dialog) };
  }

  test.each(['9007199254740993', '1e400', '-0', '1.0', '1E2', '0.1', '12'])(
    'show the number %s as it was written, however its hook came',
    (amount) => {
      for (const by of ['process', 'connection'] as const)
        expect(ofText(amount, by).context).toContain(`account: ${amount}\nlist: [\n      ${amount}\n    ]`);
    },
  );

  test.each([
    ['9007199254740993', '9007199254740992'],
    ['1e400', '2e400'],
    ['-0', '0'],
  ])('are another call with %s than with %s', (one, other) => {
    expect(ofText(one, 'process').fingerprint).not.toBe(ofText(other, 'process').fingerprint);
  });

  test.each<[string, unknown, string]>([
    ['a text', 'rm -rf ~', 'rawInput: "rm -rf ~"'],
    ['a list', ['rm', '-rf', '~'], 'rawInput: ["rm","-rf","~"]'],
    ['a number', 7, 'rawInput: 7'],
    ['false', false, 'rawInput: false'],
  ])('are shown whole where an agent over ACP gives %s, and no rule allows them', (_, rawInput, line) => {
    const options = [{ optionId: 'a', name: 'Allow', kind: 'allow_once' }];
    const toolCall = { toolCallId: '1', title: 'Work', kind: 'execute', rawInput };
    const dialog = permissionOf({ options, toolCall }, new ToolCalls(), '/src');
    if (dialog?.kind !== 'permission') throw new Error('Nothing was asked.');
    expect(editorPrompts(dialog, EDIT_TOOLS_ELSEWHERE)[0]?.context?.split('\n')).toContain(line);
    expect(isWhollyInput(dialog)).toBe(false);
  });

  test.each<[string, unknown, string]>([
    ['a text', 'rm -rf ~', 'input: "rm -rf ~"'],
    ['a list', ['rm'], 'input: [\n      "rm"\n    ]'],
    ['a number', 7, 'input: 7'],
    ['false', false, 'input: false'],
    ['nothing', undefined, 'input: null'],
  ])('are shown whole where a hook gives %s, whatever the tool', (_, tool_input, shown) => {
    for (const tool_name of ['Bash', 'Edit', 'Write', 'apply_patch', 'mcp__bank__pay']) {
      const event = readEvent({ ...BASH, tool_name, tool_input }, {}, null);
      const dialog = dialogOf(event);
      if (dialog === null) throw new Error('Nothing was asked.');
      expect(promptsOf(dialog, event)[0]?.context).toContain(`${shown}\n\nTool: ${tool_name}`);
    }
  });

  test.each([
    { content: 'a secret' },
    { content: ['a secret'] },
    { content: [{ type: 'content', content: { type: 'text', text: ['a secret'] } }] },
    { content: [{ type: 'diff', path: 'a', newText: 'x', oldText: ['a secret'] }] },
    { content: [{ type: 'diff', path: 'a', newText: 'x', oldText: 'y', and: 'a secret' }] },
    { content: { type: 'diff', path: 'a', newText: 'a secret' } },
    { title: ['a secret'] },
    { kind: { is: 'a secret' } },
    { name: ['a secret'] },
    { _meta: { 'a secret': true } },
    { toolCallId: ['a secret'] },
    { name: 'Read', kind: 'a secret' },
    { status: 'a secret' },
    { sessionUpdate: ['a secret'] },
    { content: [{ type: 'diff', path: 'a', newText: 'x', oldText: 'y', _meta: { and: 'a secret' } }] },
    { content: [{ type: 'terminal', terminalId: '1', and: 'a secret' }] },
    { content: [{ type: 'terminal', terminalId: ['a secret'] }] },
    { content: [{ type: 'content', content: { type: 'text', text: 'a', _meta: { and: 'a secret' } } }] },
    { content: [{ type: 'content', content: { type: 'text', text: 'a' }, and: 'a secret' }] },
    { _meta: { terminal_info: { cwd: '/src', terminal_id: '1', and: 'a secret' } } },
    { _meta: { terminal_info: { cwd: 'a secret', terminal_id: '1' } } },
    { _meta: ['a secret'] },
  ])('leave out nothing that an agent over ACP says in an unusual form: %j', (said) => {
    expect(overAcp({ toolCall: { ...WORK, ...said } }).context).toContain('a secret');
  });

  test.each<object>([
    { _meta: { and: 'a secret' } },
    { and: 'a secret' },
    { title: ['a secret'] },
    { description: { is: 'a secret' } },
    { subject: 'a secret' },
    { subject: { type: 'tool_call', toolCall: { ...WORK, rawInput: { command: 'a secret' } } } },
    { toolCall: undefined, subject: { type: 'tool_call', toolCall: WORK, and: 'a secret' } },
    { toolCall: undefined, subject: { type: 'a secret', toolCall: WORK } },
    { toolCall: undefined, subject: { type: 'command', command: 'make', _meta: { and: 'a secret' } } },
    { toolCall: undefined, subject: { type: 'a secret', command: 'make' } },
    { toolCall: 'a secret', subject: { type: 'command', command: 'make' } },
    { toolCall: { ...WORK, request: 'another' }, and: 'a secret' },
    { toolCall: { ...WORK, request: 'a secret' }, and: 'another' },
    { options: [{ ...ALLOW, _meta: { and: 'a secret' } }] },
    { options: [{ ...ALLOW, covers: 'a secret' }] },
    { options: [{ ...ALLOW, kind: 'a secret' }] },
  ])('leave out nothing that an agent over ACP says beside the call, and no rule allows it: %j', (said) => {
    const { context, dialog } = overAcp({ toolCall: WORK, ...said });
    expect(context).toContain('a secret');
    expect(isWhollyInput(dialog)).toBe(false);
  });

  test('over ACP do not repeat what says nothing about the call, and a rule may allow it then', () => {
    const toolCall = {
      ...WORK,
      name: 'Bash',
      kind: 'execute',
      status: 'pending',
      locations: [],
      content: [
        { type: 'terminal', terminalId: '1', _meta: {} },
        { type: 'content', content: { type: 'text', text: 'Build it', annotations: null } },
      ],
      _meta: { terminal_info: { cwd: '/src', terminal_id: '1' } },
    };
    const { context, dialog } = overAcp({ sessionId: 's', toolCall, _meta: null });
    expect(context).toBe(`    make\n\nTool: Bash\nDirectory: /src\n\n${DESCRIPTION}\n    Work\n    Build it`);
    expect(isWhollyInput(dialog)).toBe(true);
  });

  test('over ACP show the name that the agent adds for its tool, and a rule may allow it then', () => {
    for (const _meta of [
      { toolName: 'run_shell_command', provenance: 'builtin', phase: 'preparing' },
      { claudeCode: { toolName: 'Bash' } },
    ]) {
      const { context, dialog } = overAcp({ toolCall: { ...WORK, _meta } });
      expect(context).toContain(`_meta: ${JSON.stringify(_meta)}`);
      expect(isWhollyInput(dialog)).toBe(true);
    }
  });

  describe('over ACP for a whole file', () => {
    const LINES = Array.from({ length: 5_000 }, (_, n) => `line ${n + 1}: some text of this file`);
    const OLD = `${LINES.join('\n')}\n`;
    const NEW = OLD.replace('line 2500: some', 'line 2500: another');

    function shown(inFile: string, oldText: string, newText: string, rawInput: object = {}): string {
      const folder = tempFolder();
      const path = join(folder, 'file');
      writeFileSync(path, inFile);
      const content = [{ type: 'diff', path, oldText, newText }];
      const toolCall = { toolCallId: '1', title: 'Edit', kind: 'edit', rawInput, content };
      return overAcp({ toolCall }, folder).context;
    }

    test('show what it changes', () => {
      const context = shown(OLD, OLD, NEW);
      expect(context).toContain('-line 2500: some text of this file\n+line 2500: another text of this file');
      expect(context.split('\n').length).toBeLessThan(30);
    });

    test('show every line of a file that is not as the agent says: it may lack a line that both texts have', () => {
      const unseen = (text: string): string => `unseen\n${text}`;
      expect(shown('a\nb\nc\nd\ne\n', unseen('a\nb\nc\nd\ne\n'), unseen('a\nb\nc\nd\nE\n'))).toContain(
        '+ unseen',
      );
      expect(shown(OLD, unseen(OLD), unseen(NEW))).toContain('too long to be shown here in full');
    });

    test('show the text of the file once, and every other argument', () => {
      const context = shown(OLD, OLD, NEW, { file_path: 'file', content: NEW, mode: '0777' });
      expect(context).toContain('The argument content is this file after the change.');
      expect(context).toContain('mode: "0777"');
      expect(shown(OLD, OLD, NEW, { content: `${NEW}more` })).toContain('too long to be shown here in full');
      expect(shown(OLD, OLD, NEW, { command: NEW })).toContain('too long to be shown here in full');
    });
  });

  test('over ACP with an option that is none are left to the editor', () => {
    for (const options of [[ALLOW, 'a secret'], { 0: ALLOW }, 'a secret'])
      expect(permissionOf({ options, toolCall: WORK }, new ToolCalls(), '/src')).toBeNull();
  });

  test('that an agent over ACP gives as a long text cannot be allowed at the desk', () => {
    const options = [
      { optionId: 'a', name: 'Allow', kind: 'allow_once' },
      { optionId: 'n', name: 'No', kind: 'reject_once' },
    ];
    const toolCall = { toolCallId: '1', title: 'Work', rawInput: 'x'.repeat(100_000) };
    const dialog = permissionOf({ options, toolCall }, new ToolCalls(), '/src');
    expect(dialog === null ? [] : editorPrompts(dialog, EDIT_TOOLS_ELSEWHERE)[0]?.options).toMatchObject([
      { label: 'No' },
    ]);
  });
});

describe('an edit', () => {
  const editing = { machine: hostname(), editTools: async (cwd: string) => measuredEditTools(cwd) };

  async function asked(
    text: string,
    change = { old_string: 'b\n', new_string: 'B\n' },
    more: object = {},
    surroundings = editing,
  ): Promise<FiredDialog & { file: string }> {
    const file = join(tempFolder(), 'a.txt');
    writeFileSync(file, text);
    const { permission_suggestions: _, ...raw } = BASH;
    const tool_input = { file_path: file, ...change };
    const fired = await fireDialog(
      hive,
      { ...raw, tool_name: 'Edit', tool_input, ...more },
      { surroundings },
    );
    return { ...fired, file };
  }

  test('is shown as a diff of the file, and allowed while that is what it does', async () => {
    const { prompts, answer, file } = await asked('a\nb\nc\n');
    expect(prompts[0]?.context).toBe(
      [
        ...[`--- ${file}`, `+++ ${file}`, '@@ -1,3 +1,3 @@', ' a', '-b', '+B', ' c', ''],
        ...['Tool: Edit', `Directory: ${BASH['cwd']}`],
      ].join('\n'),
    );
    expect(said(await answer('Allow'))?.hookSpecificOutput).toEqual(
      permissionDecision({ behavior: 'allow' }),
    );
  });

  test('that takes the next line break is shown so: a check becomes a part of the comment above it', async () => {
    const change = { old_string: ' TODO: reword', new_string: '' };
    const { prompts } = await asked('# may they? TODO: reword\ncheck(user)\n', change);
    expect(prompts[0]?.context).toContain(
      '\n-# may they? TODO: reword\n-check(user)\n+# may they?check(user)\n',
    );
  });

  test.each([
    ['of an unknown version', {}, 'Hive does not know which version of Claude Code this is.'],
    ['of a version that was not measured', { version: '2.1.999' }, 'and this is 2.1.999.'],
  ])('by a client %s is both texts, and claims no diff of the file', async (_, line, why) => {
    const transcript_path = join(tempFolder(), 'transcript.jsonl');
    writeFileSync(transcript_path, `${JSON.stringify({ type: 'user', ...line })}\n`);
    const own = { ...editing, editTools: async (cwd: string) => editToolsAt(cwd) };
    const { prompts } = await asked('a\nb\n', undefined, { transcript_path }, own);
    expect(prompts[0]?.context).toContain(`${why} The exact effect is decided by the client.`);
    expect(prompts[0]?.context).toContain('\tthis text\n');
  });

  test('by a client whose transcript names a version that was measured is a diff', async () => {
    const transcript_path = join(tempFolder(), 'transcript.jsonl');
    writeFileSync(transcript_path, `${JSON.stringify({ type: 'user', version: '2.1.330' })}\n`);
    const own = { ...editing, editTools: async (cwd: string) => editToolsAt(cwd) };
    const { prompts, file } = await asked('a\nb\n', undefined, { transcript_path }, own);
    expect(prompts[0]?.context).toMatch(`--- ${file}\n+++ ${file}\n@@ `);
  });

  test('is denied when the file has changed since, and the human is told', async () => {
    const { prompts, answer, file } = await asked('a\nb\nc\n');
    const shown = prompts[0] as Prompt;
    expect(await hive.edits.changedSince(shown)).toEqual([]);
    writeFileSync(file, 'a\nb\nd\n');
    utimesSync(file, new Date(), new Date(Date.parse(shown.created_at) + 1_000));
    expect(await hive.edits.changedSince(shown)).toEqual([file]);
    expect(said(await answer('Allow'))?.hookSpecificOutput).toMatchObject({
      decision: { behavior: 'deny', message: expect.stringContaining('the file has changed') },
    });
    expect(await noticesOf(hive)).toEqual([expect.stringContaining('a file has changed since')]);
  });

  test('is denied when a link to another file with the same text has taken the place of the file', async () => {
    const { answer, file } = await asked('a\nb\nc\n');
    const other = join(tempFolder(), 'other.txt');
    writeFileSync(other, 'a\nb\nc\n');
    rmSync(file);
    symlinkSync(other, file);
    expect(said(await answer('Allow'))?.hookSpecificOutput).toMatchObject({
      decision: { behavior: 'deny', message: expect.stringContaining('the file has changed') },
    });
  });

  test('or a plan, is denied when its file has changed since, whatever the call says', async () => {
    const planFilePath = join(tempFolder(), 'plan.md');
    writeFileSync(planFilePath, '# Paint it\n');
    const plan = { ...BASH, tool_name: 'ExitPlanMode', tool_input: { plan: '# Paint it\n', planFilePath } };
    const approved = async (before: () => void): Promise<unknown> => {
      const { answer } = await fireDialog(hive, plan, { surroundings: editing });
      before();
      return said(await answer('Approve'))?.hookSpecificOutput;
    };
    expect(await approved(() => writeFileSync(planFilePath, '# Delete it\n'))).toMatchObject({
      decision: { behavior: 'deny', message: expect.stringContaining('the file of the plan has changed') },
    });
    expect(await noticesOf(hive)).toEqual([expect.stringContaining('a file has changed since')]);
    expect(await approved(() => undefined)).toMatchObject({ decision: { behavior: 'allow' } });
    expect((await hive.prompts.list({ limit: 1 })).items[0]?.context).toContain('# Delete it');
  });

  describe('that was allowed', () => {
    /** Allows an edit of b, lets its tool write this, and returns what the human is told when it has run. */
    async function allowed(made: string | null, name = 'PostToolUse'): Promise<string[]> {
      const fired = await asked('a\nb\nc\n');
      await fired.answer('Allow');
      if (made === null) rmSync(fired.file);
      else writeFileSync(fired.file, made);
      const { permission_suggestions: _, ...raw } = BASH;
      const tool_input = { file_path: fired.file, old_string: 'b\n', new_string: 'B\n' };
      const after = { ...raw, hook_event_name: name, tool_name: 'Edit', tool_input, tool_use_id: 'toolu_1' };
      await fire(hive, after, { surroundings: editing });
      // Once it is compared, the same call is another one.
      await fire(hive, after, { surroundings: editing });
      return noticesOf(hive);
    }

    const compared = async (): Promise<unknown[]> =>
      (await eventsOf(hive, 'edit/compared')).map(({ data }) => data['as_shown']);

    test('and did what was shown is in the log, and nobody is told', async () => {
      expect(await allowed('a\nB\nc\n')).toEqual([]);
      expect(await compared()).toEqual([true]);
    });

    test('and did something else is told to the human at once, with both diffs, and is in the log', async () => {
      const [notice = '', ...more] = await allowed('a\nb\nC\n');
      expect(more).toEqual([]);
      expect(notice).toContain('did not make the change that you allowed');
      expect(notice).toMatch(/You were shown:\n--- .*\n\+\+\+ .*\n@@ -1,3 \+1,3 @@\n a\n-b\n\+B\n c\n/);
      expect(notice).toMatch(/What happened:\n--- .*\n\+\+\+ .*\n@@ -1,3 \+1,3 @@\n a\n b\n-c\n\+C$/);
      expect(await compared()).toEqual([false]);
    });

    test('and removed the file is told, too', async () => {
      expect((await allowed(null)).join('\n')).toMatch(/What happened:\n--- .*\n\+\+\+ \/dev\/null\n/);
    });

    test('and failed is not compared', async () => {
      expect(await allowed('a\nb\nc\n', 'PostToolUseFailure')).toEqual([]);
      expect((await eventsOf(hive, 'edit/compared')).map(({ data }) => data['failed'])).toEqual([true]);
    });
  });

  describe('that is a patch', () => {
    const patchOf = (...lines: string[]): Record<string, string> => ({
      command: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
    });

    function shownOf(folder: string, ...lines: string[]): string | undefined {
      const call = {
        client: 'codex',
        version: '0.169.0',
        directory: folder,
        name: 'apply_patch',
        input: patchOf(...lines),
      } as const;
      return editShown(call, measuredEditTools(folder), 10_000)?.shown;
    }

    test.each<[string, string, string[], RegExp]>([
      [
        'at the end of the file, where a line with a blank is',
        'deny all\nx\ndeny all \n',
        ['*** Update File: a.txt', '@@', '-deny all', '+allow all', '*** End of File'],
        /^The patch cannot be placed exactly/,
      ],
      [
        'over a file that its header names with a blank behind',
        'secret\n',
        ['*** Add File: a.txt ', '+mine'],
        /^The patch cannot be placed exactly/,
      ],
      [
        'in a line with another end',
        'a\n-\r\nb\r\n',
        ['*** Update File: a.txt', '@@', '-b', '+c'],
        /^-b\^M\n\+c$/m,
      ],
      [
        'with an empty line at its end',
        'a\n',
        ['*** Update File: a.txt', '@@', ' a', '+b', '+'],
        /\n a\n\+b\n\+$/,
      ],
    ])('lands %s as it is shown, or is shown as its text', (_, text, lines, shownText) => {
      const folder = tempFolder();
      writeFileSync(join(folder, 'a.txt'), text);
      expect(shownOf(folder, ...lines)).toMatch(shownText);
    });

    test('says what it replaces where it moves a file, and where a link leads', () => {
      const folder = tempFolder();
      for (const name of ['a.txt', 'b.txt']) writeFileSync(join(folder, name), 'a\n');
      const elsewhere = join(tempFolder(), 'keys');
      symlinkSync(elsewhere, join(folder, 'link'));
      const moved = (to: string): string | undefined =>
        shownOf(folder, '*** Update File: a.txt', `*** Move to: ${to}`, '@@', '-a', '+A');
      expect(moved('b.txt')).toContain('The file b.txt exists. All of it is replaced.');
      expect(moved('link')).toContain(`The path contains a link. The file is ${elsewhere}`);
      expect(moved('new.txt')).toMatch(/^--- a\.txt\n\+\+\+ new\.txt\n/);
    });

    test.each(['./a.txt', 'sub/../a.txt', 'link'])(
      'that names a file twice, the second time as %s, is shown as its text, because the second part changes the result of the first',
      (name) => {
        const folder = tempFolder();
        writeFileSync(join(folder, 'a.txt'), 'a\nb\n');
        mkdirSync(join(folder, 'sub'));
        symlinkSync('a.txt', join(folder, 'link'));
        const shownText = shownOf(
          folder,
          ...['*** Update File: a.txt', '@@', '-a', '+b'],
          ...[`*** Update File: ${name}`, '@@', '-b', '+c'],
        );
        expect(shownText).toMatch(/^The patch cannot be placed exactly/);
      },
    );
  });

  test('on another machine is shown as it was given', async () => {
    const { permission_suggestions: _, ...raw } = BASH;
    const tool_input = { file_path: '/etc/hostname', old_string: 'a', new_string: 'b' };
    const surroundings = { editTools: async () => EDIT_TOOLS_ELSEWHERE };
    const { prompts, answer } = await fireDialog(
      hive,
      { ...raw, tool_name: 'Edit', tool_input },
      { surroundings },
    );
    expect(prompts[0]?.context).toMatch(
      /^The file is on another machine, so this is not a diff of the file\./,
    );
    expect(said(await answer('Allow'))?.hookSpecificOutput).toEqual(
      permissionDecision({ behavior: 'allow' }),
    );
  });

  test('does not wait to read what is not a regular file', () => {
    const pipe = join(tempFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { read } = editToolsAt('/');
    expect(read(pipe)).toMatchObject({ kind: 'unread', why: 'is not a plain file' });
    expect(read('/dev/zero')).toMatchObject({ kind: 'unread' });
    expect(read('/')).toMatchObject({ kind: 'unread' });
    writeFileSync(`${pipe}.bin`, Buffer.from([1, 0, 2]));
    expect(read(`${pipe}.bin`)).toEqual({ kind: 'unread', why: 'is binary (3 bytes)', link: null });
    symlinkSync(`${pipe}.gone`, `${pipe}.link`);
    expect(read(`${pipe}.link`)).toMatchObject({ kind: 'missing', link: `${pipe}.gone` });
    symlinkSync('circle', join(dirname(pipe), 'circle'));
    expect(read(join(dirname(pipe), 'circle'))).toMatchObject({ kind: 'unread' });
    mkdirSync(`${pipe}.real`);
    symlinkSync(`${pipe}.real`, `${pipe}.dir`);
    // Node takes this for a file beside the link, and the kernel for one beside what the link leads to.
    expect(read(`${pipe}.dir/../new`)).toMatchObject({ kind: 'unread', why: 'has .. in its path' });
    expect(read(`${pipe}.dir/new`)).toMatchObject({ kind: 'missing', link: `${pipe}.real/new` });
  });
});

describe('a permission for a path that contains a link', () => {
  const { permission_suggestions: _, ...raw } = BASH;
  const asked = (folder: string, tool_name: string, tool_input: object): Promise<FiredDialog> =>
    fireDialog(
      hive,
      { ...raw, cwd: folder, tool_name, tool_input },
      { surroundings: { editTools: async (cwd) => editToolsAt(cwd) } },
    );

  test.each([
    ['a file that is read', 'Read', (path: string) => ({ file_path: path }), 'secret\n'],
    ['a folder that is searched', 'Grep', (path: string) => ({ pattern: 'x', path }), null],
    ['a folder whose files are listed', 'Glob', (path: string) => ({ pattern: '*', path }), null],
    [
      'a binary file that is replaced',
      'Write',
      (path: string) => ({ file_path: path, content: 'x' }),
      'a\0b',
    ],
    ['a large file that is replaced', 'Write', (path: string) => ({ file_path: path, content: 'x' }), LARGE],
  ])('shows where it leads: %s', async (_what, tool, input, content) => {
    const [folder, target] = [tempFolder(), join(tempFolder(), 'elsewhere')];
    if (content === null) mkdirSync(target);
    else writeFileSync(target, content);
    symlinkSync(target, join(folder, 'notes'));
    const said = `The path contains a link. The file is ${target}`;
    for (const path of [join(folder, 'notes'), 'notes']) {
      const { prompts, answer } = await asked(folder, tool, input(path));
      expect(prompts[0]?.context?.split('\n')).toContain(said);
      await answer('Deny');
    }
  });

  test('says that .. after a link may lead elsewhere, because programs differ there', async () => {
    const folder = tempFolder();
    symlinkSync(tempFolder(), join(folder, 'notes'));
    const { prompts, answer } = await asked(folder, 'Read', { file_path: 'notes/../key' });
    expect(prompts[0]?.context).toMatch(/^The path has \.\. in it\./);
    await answer('Deny');
  });

  test('allows nothing if the link leads elsewhere when the answer comes', async () => {
    const folder = tempFolder();
    const [plain, secret] = ['plain', 'secret'].map((name) => join(tempFolder(), name));
    for (const file of [plain, secret]) writeFileSync(file ?? '', 'the same\n');
    const notes = join(folder, 'notes');
    for (const before of [null, plain]) {
      if (before === null) writeFileSync(notes, 'the same\n');
      else symlinkSync(before ?? '', notes);
      const { answer } = await asked(folder, 'Read', { file_path: notes });
      rmSync(notes);
      symlinkSync(secret ?? '', notes);
      expect(await answer('Allow')).toMatch(/"deny".*not what is about to run/);
      rmSync(notes);
    }
  });
});

describe('a popup', () => {
  const preferences = { ...DEFAULT_PREFERENCES, popup_permissions: true, notify_command: null };

  test('has a button that allows only if it certainly shows everything', async () => {
    const { permission_suggestions: _, ...raw } = BASH;
    const asked = async (command: string) => {
      const { prompts, answer } = await fireDialog(hive, { ...raw, tool_input: { command } });
      await answer('Deny');
      const prompt = prompts[0] as Prompt;
      return { prompt, popup: popupOf('prompt', [tellPrompt(prompt, preferences)], preferences, true) };
    };
    const short = await asked('npm test');
    expect(short.popup.buttons).toEqual(['Allow', 'Deny', 'Abort']);
    for (const line of short.prompt.context?.split('\n') ?? []) expect(short.popup.body).toContain(line);
    for (const command of [
      `npm test ${'x'.repeat(400)}; rm -rf ~`,
      `npm test${'\n:'.repeat(10)}; rm -rf ~`,
      'npm test 漢字',
    ]) {
      expect((await asked(command)).popup.buttons, command).toEqual(['Deny', 'Abort']);
    }
    const hidden = await asked('npm test \u202e\u00a0#');
    expect(hidden.popup.body).toContain('npm test <U+202E><U+00A0>#');
    expect(hidden.popup.buttons).toEqual(['Allow', 'Deny', 'Abort']);
  });

  test.each([
    ['lines that a narrow popup breaks', { question: Array(8).fill('a'.repeat(49)).join('\n') }],
    ['wide letters', { question: `npm test ${'W'.repeat(290)}` }],
    ['words of which each takes a line', { question: 'Wwwwwwwwwwwww '.repeat(12) }],
    [
      'a title that takes most of it',
      { question: 'npm test', header: 'W'.repeat(100), context: 'a\n'.repeat(7) },
    ],
  ])('has none for %s', async (_, request) => {
    const options = ['Allow', { label: 'Deny', refuses: true }];
    const prompt = await ask(hive, { ...request, options, kind: 'permission' });
    expect(tellPrompt(prompt, preferences).buttons).toEqual(['Deny']);
  });

  test('has none at all where a label is cut on its button', async () => {
    const label = `Allow npm test${' and that'.repeat(6)}; rm -rf ~`;
    for (const kind of ['permission', 'question'] as const) {
      const prompt = await ask(hive, { question: 'Run it?', options: [label, 'Deny'], kind });
      expect(tellPrompt(prompt, preferences).buttons).toEqual([]);
    }
  });
});

test('a terminal shows a long permission one screen at a time', () => {
  const lines = ['x'.repeat(200), ...Array.from({ length: 30 }, (_, n) => `line ${n}`), '漢'.repeat(30)];
  const screens = screensOf(lines, { columns: 40, rows: 13 });
  expect(screens.flat().join('')).toBe(lines.join(''));
  for (const screen of screens) {
    expect(screen.length).toBeLessThanOrEqual(10);
    for (const line of screen) expect(line.length * (line.includes('漢') ? 2 : 1)).toBeLessThanOrEqual(40);
  }
  expect(screensOf(['a'], { columns: undefined, rows: undefined })).toEqual([['a']]);
});
