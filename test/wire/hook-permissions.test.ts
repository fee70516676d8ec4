/**
 * The permission prompts of the recorded clients, answered at a desk: exactly what each client gets.
 *
 * @module-tag as-displayed
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag hook
 */

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { RETURNED_TAIL_BYTES } from '../../src/domain/transcripts.ts';
import { files } from '../../src/infrastructure/platform/files.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import {
  answerDialog,
  type FiredDialog,
  fireDialog,
  openDesk,
  permissionDecision,
} from '../support/dialogs.ts';
import { measuredEditTools } from '../support/edit-tools.ts';
import { ENDED } from '../support/ended-process.ts';
import { HUMAN, newHive, noticesOf, prefer } from '../support/hive.ts';
import { type Client, fire, recordedEvent, recordedSequence, said } from '../support/hooks.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempFolder } from '../support/temp.ts';
import { recordedTail, turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
const PLAN = recordedEvent('claude-code/PermissionRequest-ExitPlanMode-plan.json');
/** No plan was written before it. */
const NO_PLAN = recordedEvent('claude-code/PermissionRequest-ExitPlanMode.json');
const IN_BACKGROUND = recordedEvent('claude-code/PermissionRequest-Bash-in-bg-subagent.json');
const QUESTIONS = recordedEvent('claude-code/PermissionRequest-AskUserQuestion.json');
const SESSION = String(BASH['session_id']);
/** The id of the call in recorded transcripts. */
const RECORDED_CALL = 'toolu_01FixtureFixtureFix0001';

let store: string;
let hive: OpenedHive;
beforeEach(async () => {
  ({ store, hive } = await newHive());
});

/** Answers the one prompt of a dialog and gives the decision that is printed. */
async function decided(raw: Record<string, unknown>, decision: string, comment?: string): Promise<unknown> {
  const { answer } = await fireDialog(hive, raw);
  return said(await answer(decision, comment))?.hookSpecificOutput;
}

describe('a permission prompt of Claude Code', () => {
  beforeEach(() => openDesk(hive));

  test('shows tool, command, directory, agent and source, and the scope of the client that "always" has', async () => {
    const { prompts, answer } = await fireDialog(hive, BASH);
    expect(prompts).toMatchObject([
      {
        kind: 'permission',
        dialog: true,
        blocked_since: prompts[0]?.created_at,
        expires_at: null,
        terminal_since: null,
        agent: 'Claude-5e551',
        source: 'main',
        header: 'Bash',
        question: 'Run npm test?',
        options: [
          { label: 'Allow' },
          {
            label: 'Allow always',
            description:
              'By the client itself: Bash(npm test *), written into .claude/settings.local.json of this project',
          },
          { label: 'Deny' },
          { label: 'Abort' },
        ],
      },
    ]);
    expect(prompts[0]?.context).toMatch(/npm test[\s\S]*Tool: Bash[\s\S]*Directory: \/home\/user\/project/);
    await answer('Allow');
  });

  test('allow, always, deny, deny with a note and abort each have the form that the client accepts', async () => {
    const suggestions = BASH['permission_suggestions'];
    expect(await decided(BASH, 'Allow')).toEqual(permissionDecision({ behavior: 'allow' }));
    expect(await decided(BASH, 'Allow always')).toEqual(
      permissionDecision({ behavior: 'allow', updatedPermissions: suggestions }),
    );
    expect(await decided(BASH, 'Deny')).toEqual(
      permissionDecision({ behavior: 'deny', message: 'ada denied this.' }),
    );
    const noted = permissionDecision({
      behavior: 'deny',
      message: 'ada denied this. ada says: use /tmp instead',
    });
    expect(await decided(BASH, 'Deny', 'use /tmp instead')).toEqual(noted);
    // Free text is a refusal, whatever it says.
    expect(await decided(BASH, 'use /tmp instead')).toEqual(noted);
    expect(await decided(BASH, 'Abort', 'wrong branch')).toEqual(
      permissionDecision({
        behavior: 'deny',
        message: 'ada denied this. ada says: wrong branch',
        interrupt: true,
      }),
    );
  });

  test('abort ends the turn as interrupted by whoever pressed it', async () => {
    await decided(BASH, 'Abort', 'wrong branch');
    expect(await turnsOf(hive, SESSION)).toMatchObject([
      { state: 'aborted', abort_reason: 'interrupted', by: 'ada', via: 'emacs', note: 'wrong branch' },
    ]);
  });

  test('a plan is shown in full, with the file it is in', async () => {
    const { prompts, answer } = await fireDialog(hive, PLAN);
    expect(prompts[0]?.context).toBe(
      '# The plan\n\n1. Do it.\n\n\nplanFilePath: "/home/user/.claude/plans/please-begin-now-tender-leaf.md"',
    );
    await answer('Keep planning');
  });

  test('without a plan there is nothing to approve', async () => {
    const { prompts, answer } = await fireDialog(hive, NO_PLAN);
    expect(prompts[0]?.context).toContain('has written no plan');
    expect(prompts[0]?.options.map(({ label }) => label)).toEqual(['Keep planning', 'Abort']);
    await answer('Keep planning');
  });

  test('a plan is approved with its own input, or refused with a note', async () => {
    expect(await decided(PLAN, 'Approve')).toEqual(
      permissionDecision({ behavior: 'allow', updatedInput: PLAN['tool_input'] }),
    );
    expect(await decided(PLAN, 'Keep planning', 'think of Windows')).toEqual(
      permissionDecision({
        behavior: 'deny',
        message: 'ada did not approve the plan. ada says: think of Windows',
      }),
    );
  });

  test.each([
    ['/home/user/project/src/a/b.ts', 'Write src/a/b.ts?'],
    ['/home/user/project/../other.ts', 'Write /home/user/project/../other.ts?'],
    ['/home/user/projects/b.ts', 'Write /home/user/projects/b.ts?'],
  ])(
    'names %s relative to its directory if it is below, and its details have the whole path',
    async (file, question) => {
      const input = { file_path: file, content: 'one' };
      const { prompts, answer } = await fireDialog(hive, { ...BASH, tool_name: 'Write', tool_input: input });
      expect(prompts[0]?.question).toBe(question);
      expect(prompts[0]?.context).toContain(file);
      await answer('Deny');
    },
  );

  test('a suggestion that would not allow is not offered', async () => {
    const { permission_suggestions: _, ...plain } = BASH;
    const deny = {
      type: 'addRules',
      behavior: 'deny',
      rules: [{ toolName: 'Bash' }],
      destination: 'session',
    };
    for (const raw of [plain, { ...plain, permission_suggestions: [deny] }]) {
      const { prompts, answer } = await fireDialog(hive, raw);
      expect(prompts[0]?.options.map(({ label }) => label)).toEqual(['Allow', 'Deny', 'Abort']);
      await answer('Deny');
    }
  });

  test('a mode or a place that Hive does not know keeps its own name, whatever that is', async () => {
    const suggestion = { type: 'setMode', mode: 'constructor', destination: 'toString' };
    const { prompts, answer } = await fireDialog(hive, { ...BASH, permission_suggestions: [suggestion] });
    expect(prompts[0]?.options[1]).toMatchObject({
      label: 'Allow always',
      description: 'By the client itself: mode constructor',
    });
    await answer('Deny');
  });

  test('an agent cannot answer it', async () => {
    const { prompts, printed } = await fireDialog(hive, BASH);
    const ask_id = prompts[0]?.ask_id ?? '';
    const actor = {
      kind: 'agent' as const,
      by: 'Codex-1',
      via: 'mcp' as const,
      session_id: 'x',
      ancestors: [],
    };
    await expect(hive.prompts.respond({ ask_id, decision: 'Allow', actor })).rejects.toMatchObject({
      code: 'not_allowed',
    });
    await answerDialog(hive, ask_id, 'Deny');
    await printed;
  });

  test('is pending in its terminal, undecided, when its hook has ended; an answer from elsewhere is refused', async () => {
    const { ask_id } = await leftAlone();
    expect(await hive.prompts.get(ask_id)).toMatchObject({
      status: 'pending',
      terminal_since: expect.any(String),
      blocked_since: expect.any(String),
    });
    await expect(answerDialog(hive, ask_id, 'Allow')).rejects.toMatchObject({
      code: 'not_allowed',
      message: expect.stringContaining('waits in the terminal of demo'),
    });
  });

  test.each([
    ['PostToolBatch', 'answered_elsewhere'],
    ['Stop', 'answered_elsewhere'],
    ['SessionEnd', 'unknown'],
    ['SessionStart', 'unknown'],
  ])(
    'that is pending in its terminal is over at the next %s (%s), and its agent is told nothing',
    async (hook_event_name, cancel_reason) => {
      const { ask_id } = await leftAlone();
      await fire(hive, { ...BASH, hook_event_name });
      expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', cancel_reason });
      expect((await hive.prompts.waitForOpen(SESSION, { wait_ms: 0 })).prompts).toEqual([]);
    },
  );

  test('that is pending in its terminal is over when the process of its agent is gone', async () => {
    const { ask_id } = await leftAlone();
    const session = await hive.sessions.resolve(SESSION);
    await hive.sessions.introduce({ ...session, pid: ENDED });
    await hive.sessions.sweep(session.machine);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', cancel_reason: 'unknown' });
  });

  /** A permission whose hook has ended after its time. */
  async function leftAlone(raw = BASH, client: Client = {}): Promise<{ ask_id: string; created_at: string }> {
    await prefer(hive, { dialog_wait: 1 });
    const { prompts, printed } = await fireDialog(hive, raw, client);
    expect(await printed).toBe('');
    const [{ ask_id = '', created_at = '' } = {}] = prompts;
    return { ask_id, created_at };
  }

  test('is withdrawn if the terminal answers first', async () => {
    const events = recordedSequence('claude-code/permission-terminal-yes-first.jsonl');
    const at = events.findIndex(({ hook_event_name }) => hook_event_name === 'PermissionRequest');
    for (const raw of events.slice(0, at)) await fire(hive, raw);
    const { prompts, printed } = await fireDialog(hive, events[at] ?? {});
    for (const raw of events.slice(at + 1)) await fire(hive, raw);
    expect(await printed).toBe('');
    expect(await hive.prompts.get(prompts[0]?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
      by: 'terminal',
      via: 'terminal',
    });
  });

  test('refused while the call runs, because its terminal had allowed it: the human learns that, and the agent gets the words', async () => {
    const events = recordedSequence('claude-code/permission-terminal-yes-first.jsonl');
    const at = events.findIndex(({ hook_event_name }) => hook_event_name === 'PermissionRequest');
    for (const raw of events.slice(0, at)) await fire(hive, raw);
    const { prompts, printed } = await fireDialog(hive, events[at] ?? {});
    const ask_id = prompts[0]?.ask_id ?? '';
    await answerDialog(hive, ask_id, 'Deny', 'use /tmp instead');
    expect(await printed).toContain('use /tmp instead');
    const told = await fire(hive, events[at + 1] ?? {});
    expect(said(told)?.hookSpecificOutput?.['additionalContext']).toMatch(
      /refused this call.*after it had been allowed[\s\S]*Answer to ask-.*Deny \(comment: use \/tmp instead\)/,
    );
    expect(await noticesOf(hive)).toEqual([
      expect.stringMatching(/^Your refusal came too late: .*it has run.*Run echo one > f\.txt\?$/),
    ]);
    for (const raw of events.slice(at + 2)) expect(await fire(hive, raw)).toBe('');
    expect((await hive.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
  });

  test.each([
    ['of an MCP server', 'mcp__shop__look', (what: string) => ({ what, description: 'Look' })],
    // The text of this one cannot be read back.
    [
      'with a character that is spelled out',
      'mcp__shop__look',
      (what: string) => ({ what: `${what} \u2014` }),
    ],
    [
      'of a shell',
      'Bash',
      (what: string) => ({ command: `echo ${'a'.repeat(3_000)} ${what}`, description: 'Build it' }),
    ],
  ])(
    '%s stays when another call that begins alike is over: only its own call ends it',
    async (_, tool_name, tool_input) => {
      const { permission_suggestions: _none, ...raw } = BASH;
      const call = (what: string) => ({ ...raw, tool_name, tool_input: tool_input(what) });
      const [one, two] = [await fireDialog(hive, call('one')), await fireDialog(hive, call('two'))];
      expect(two.prompts[0]?.question).toBe(one.prompts[0]?.question);
      const isOver = (what: string, id: string) =>
        fire(hive, { ...call(what), hook_event_name: 'PostToolUse', tool_use_id: id, tool_response: {} });
      const ask_id = one.prompts[0]?.ask_id ?? '';
      await two.answer('Allow');
      await isOver('two', 't2');
      expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
      await isOver('one', 't1');
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
      expect(await one.printed).toBe('');
    },
  );

  describe('of two equal calls of a step, of which a desk allows the second', () => {
    const isOver = (id: string) =>
      fire(hive, { ...BASH, hook_event_name: 'PostToolUse', tool_use_id: id, tool_response: {} });

    async function askedTwice() {
      const dialogs: FiredDialog[] = [];
      for (const id of ['t1', 't2']) {
        await fire(hive, { ...BASH, hook_event_name: 'PreToolUse', tool_use_id: id });
        dialogs.push(await fireDialog(hive, BASH));
      }
      const [first = expect.fail(), second = expect.fail()] = dialogs;
      await second.answer('Allow');
      return first;
    }

    test('the first stays when that call has run, and is over when its own has', async () => {
      const { prompts, printed } = await askedTwice();
      const now = () => hive.prompts.get(prompts[0]?.ask_id ?? '');
      await isOver('t2');
      expect(await now()).toMatchObject({ status: 'pending' });
      await isOver('t1');
      expect(await now()).toMatchObject({ cancel_reason: 'answered_elsewhere' });
      expect(await printed).toBe('');
    });

    test('the refusal of the first does not come too late when that call has run', async () => {
      const first = await askedTwice();
      expect(await first.answer('Deny')).toContain('deny');
      expect(await isOver('t2')).toBe('');
      expect(await noticesOf(hive)).toEqual([]);
    });
  });

  test('a plan that its terminal has refused is over when the same plan, approved at a desk the second time, has run', async () => {
    const [first, second] = [await fireDialog(hive, PLAN), await fireDialog(hive, PLAN)];
    await second.answer('Approve');
    await fire(hive, { ...PLAN, hook_event_name: 'PostToolUse', tool_use_id: 't2', tool_response: {} });
    expect(await hive.prompts.get(first.prompts[0]?.ask_id ?? '')).toMatchObject({ status: 'cancelled' });
    expect(await first.printed).toBe('');
  });

  test('is over once its call has run, even if another hook answered it and changed the call', async () => {
    const { permission_suggestions: _, ...raw } = BASH;
    const about = (command: string, name: string, tool_use_id: string) =>
      fire(hive, { ...raw, tool_input: { command }, hook_event_name: name, tool_use_id });
    await fire(hive, { ...raw, hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    for (const id of ['t1', 't2']) await about(`echo ${id}`, 'PreToolUse', id);
    const { prompts, printed } = await fireDialog(hive, { ...raw, tool_input: { command: 'echo t2' } });
    const ask_id = prompts[0]?.ask_id ?? '';
    await about('echo t1', 'PostToolUse', 't1');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    await about('echo changed', 'PostToolUse', 't2');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
    expect(await printed).toBe('');
  });

  test.each([
    ['by its texts', {}],
    ['as a diff', { surroundings: { editTools: async (cwd: string) => measuredEditTools(cwd) } }],
  ])('to edit a file that is shown %s is over once this file is edited', async (_how, client) => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'a.txt'), 'one\n');
    const tool_input = { old_string: 'one', new_string: 'two', replace_all: false };
    const edit = (name: string) => ({
      ...BASH,
      cwd,
      tool_name: 'Edit',
      tool_input: { file_path: join(cwd, name), ...tool_input },
    });
    const { ask_id } = await leftAlone(edit('a.txt'), client);
    const hasRun = (name: string) =>
      fire(hive, { ...edit(name), hook_event_name: 'PostToolUse', tool_use_id: 't1', tool_response: {} });
    await hasRun('b.txt');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    await hasRun('a.txt');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
  });

  // The text of the second one cannot be read back, because a character of it is spelled out.
  test.each([
    ['/etc/hosts', '/t/s.jsonl', {}],
    ['/home/ada/9.41\u202fAM.png', '/t/s.jsonl', {}],
    ['/etc/hosts', '/t/s/subagents/agent-a1.jsonl', { agent_id: 'a1', agent_type: 'helper' }],
  ])(
    'to read a file stays while its model writes further calls, and is over when the transcript has the result: %s, %s',
    async (file_path, transcript, agent) => {
      const { permission_suggestions: _, ...rest } = BASH;
      const raw = { ...rest, ...agent, transcript_path: '/t/s.jsonl' };
      const input = { file_path };
      const { prompts, printed } = await fireDialog(hive, { ...raw, tool_name: 'Read', tool_input: input });
      const [{ ask_id = '', created_at = '' } = {}] = prompts;
      const entry = (at_ms: number, ...content: object[]): string =>
        `${JSON.stringify({ timestamp: new Date(Date.parse(created_at) + at_ms).toISOString(), message: { content } })}\n`;
      const call = (id: string, at_ms: number) => entry(at_ms, { type: 'tool_use', id, name: 'Read', input });
      const result = (id: string, at_ms: number) => entry(at_ms, { type: 'tool_result', tool_use_id: id });
      const before = call('old', -9_000) + result('old', -8_000) + call('asked', -10);
      await eventually(() => Date.now() > Date.parse(created_at) + 1_000);
      const reads: number[] = [];
      const other = closedAtEnd(new DatabaseSync(store));
      /** The end of the transcript, unless the store is locked. */
      const readTail = (tail: string) => (path: string, bytes: number) => {
        other.exec('BEGIN IMMEDIATE; ROLLBACK');
        reads.push(bytes);
        return path === transcript ? tail : null;
      };
      const next = (tail: string) =>
        fire(
          hive,
          { ...raw, hook_event_name: 'PreToolUse', tool_name: 'Glob', tool_input: {}, tool_use_id: 't2' },
          { surroundings: { readTail: readTail(tail) } },
        );
      const shell = {
        type: 'tool_use',
        id: 'b',
        name: 'Bash',
        input: { command: 'ls', description: 'List' },
      };
      const others = entry(500, shell) + result('b', 600);
      await next(before + others + entry(1_000, { type: 'tool_use', id: 't2', name: 'Glob', input: {} }));
      expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
      await next(before + result('asked', 900));
      expect(reads).toContain(RETURNED_TAIL_BYTES);
      expect(await printed).toBe('');
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
    },
  );

  test('is withdrawn when Esc in the terminal ends its hook', async () => {
    const esc = new AbortController();
    const { prompts, printed } = await fireDialog(hive, BASH, {
      surroundings: { withoutTimeLimit: (work) => work(esc.signal) },
    });
    esc.abort();
    expect(await printed).toBe('');
    expect(await hive.prompts.get(prompts[0]?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
    });
  });

  test('of one of two equal calls of a step, which its terminal refuses with words: the other one is still open', async () => {
    const transcript_path = join(tempFolder(), 'session.jsonl');
    const alive = {
      env: { CLAUDE_PID: String(process.pid) },
      surroundings: { machine: hostname(), above: [process.pid], readTail: files.readTail },
    };
    const raw = { ...BASH, transcript_path };
    const [calls, asked]: [string[], string[]] = [[], []];
    const [called = '', refused = ''] = recordedTail('permission-terminal-no-with-words')().split('\n');
    for (const id of ['t1', 't2']) {
      await fire(hive, { ...raw, hook_event_name: 'PreToolUse', tool_use_id: id }, alive);
      asked.push(...(await fireDialog(hive, raw, alive)).prompts.map(({ ask_id }) => ask_id));
      calls.push(called.replace(RECORDED_CALL, id).replace('"description":"d"', '"description":"run"'));
    }
    const states = async () =>
      Promise.all(asked.map(async (ask_id) => (await hive.prompts.get(ask_id)).status));
    const [last = ''] = asked.slice(-1);
    const { created_at } = await hive.prompts.get(last);
    await eventually(() => new Date().toISOString() > created_at);
    const time = `"timestamp":"${new Date().toISOString()}"`;
    const result = (id: string) => refused.replace(RECORDED_CALL, id).replace(/"timestamp":"[^"]+"/, time);
    writeFileSync(transcript_path, `${[...calls, result('t2')].join('\n')}\n`);
    for (const _ of [1, 2]) {
      await hive.interrupts.endUnreported();
      expect(await states()).toEqual(['cancelled', 'pending']);
    }
    expect(await turnsOf(hive, SESSION)).toMatchObject([{ open_tools: [{ use_id: 't1' }] }]);
    appendFileSync(transcript_path, `${result('t1')}\n`);
    await hive.interrupts.endUnreported();
    expect(await states()).toEqual(['cancelled', 'cancelled']);
  });

  test.each([
    ['Deny', []],
    ['Allow', [{ use_id: 't1' }]],
  ])('answered with %s: a refused call does not run any more', async (decision, open_tools) => {
    await fire(hive, { ...BASH, hook_event_name: 'PreToolUse', tool_use_id: 't1' });
    await decided(BASH, decision);
    expect(await turnsOf(hive, SESSION)).toMatchObject([{ state: 'in_progress', open_tools }]);
  });

  describe.each([
    ['of a session', 'session.jsonl', BASH],
    ['of a subagent', 'session/subagents/agent-a1.jsonl', { ...BASH, agent_id: 'a1', agent_type: 'helper' }],
    ['to ask questions', 'session.jsonl', QUESTIONS],
    ['to leave plan mode', 'session.jsonl', PLAN],
  ])('%s that its terminal refuses with words, after which the turn goes on', (_, file, asked) => {
    /** It is asked; `refuse` then writes what the client does, as recorded, with the call and the time of this test. */
    async function askedThere() {
      const folder = tempFolder();
      const transcript = join(folder, file);
      mkdirSync(dirname(transcript), { recursive: true });
      const alive = {
        env: { CLAUDE_PID: String(process.pid) },
        surroundings: { machine: hostname(), above: [process.pid], readTail: files.readTail },
      };
      const raw: Record<string, unknown> = { ...asked, transcript_path: join(folder, 'session.jsonl') };
      for (const agent of [{ agent_id: undefined }, {}])
        await fire(
          hive,
          { ...raw, ...agent, hook_event_name: 'PreToolUse', tool_use_id: RECORDED_CALL },
          alive,
        );
      const dialog = await fireDialog(hive, raw, alive);
      const [called, refused = ''] = recordedTail('permission-terminal-no-with-words')()
        .replace('"name":"Bash"', JSON.stringify({ name: raw['tool_name'] }).slice(1, -1))
        .replace('{"command":"npm test","description":"d"}', JSON.stringify(raw['tool_input']))
        .split('\n');
      writeFileSync(transcript, `${called}\n`);
      const now = () => hive.prompts.get(dialog.prompts[0]?.ask_id ?? '');
      async function refuse(): Promise<void> {
        await eventually(async () => new Date().toISOString() > (await now()).created_at);
        const time = `"timestamp":"${new Date().toISOString()}"`;
        appendFileSync(transcript, refused.replace(/"timestamp":"[^"]+"/, time));
      }
      return { ...dialog, now, refuse };
    }

    test('is over as soon as a desk has read the transcript', async () => {
      const { prompts, printed, now, refuse } = await askedThere();
      await hive.interrupts.endUnreported();
      expect(await now()).toMatchObject({ status: 'pending' });
      await refuse();
      await hive.interrupts.endUnreported();
      expect(await now()).toMatchObject({ status: 'cancelled', cancel_reason: 'answered_elsewhere' });
      expect(await printed).toBe('');
      // Its tool does not run any more.
      expect(await turnsOf(hive, prompts[0]?.session_id)).toMatchObject([
        { state: 'in_progress', open_tools: [] },
      ]);
    });

    test('is not answered by a desk that has not read it yet, and its human learns that', async () => {
      const { prompts, printed, now, refuse } = await askedThere();
      await refuse();
      for (const { ask_id, options } of prompts) await answerDialog(hive, ask_id, options[0]?.label ?? '');
      expect(await printed).toBe('');
      // The agent has still to get an answer to its question, and no permission to a call that is over.
      const isHanded = (await now()).handed_at !== null;
      expect(isHanded).toBe(asked !== QUESTIONS);
      expect(await noticesOf(hive)).toEqual([
        expect.stringMatching(/^Your answer came too late: .* terminal/),
      ]);
    });
  });

  test.each([
    ['Stop', BASH, 'idle'],
    ['SessionEnd', BASH, 'ended'],
    ['SubagentStop', IN_BACKGROUND, 'ended'],
  ])(
    'that its terminal has refused is over at %s, after which its hook begins no turn and reopens no session',
    async (hook_event_name, raw, state) => {
      await fire(hive, { ...raw, hook_event_name: 'PreToolUse', tool_use_id: 't1' });
      const { prompts, printed } = await fireDialog(hive, raw);
      const [{ session_id = '' } = {}] = prompts;
      await fire(hive, { ...raw, hook_event_name });
      expect(await printed).toBe('');
      expect(await turnsOf(hive, session_id)).toMatchObject([
        { state: expect.not.stringMatching('in_progress') },
      ]);
      expect(await hive.sessions.find(session_id)).toMatchObject({ state });
    },
  );

  test('carries an interrupt that comes while it waits, where no other hook would fire', async () => {
    const { prompts, printed } = await fireDialog(hive, BASH);
    const outcome = await hive.interrupts.interrupt({ session: SESSION, note: 'not now', actor: HUMAN });
    expect(outcome).toMatchObject({
      outcome: 'aborted',
      abort_reason: 'interrupted',
      cancelled_prompts: [prompts[0]?.ask_id],
    });
    const told = said(await printed)?.hookSpecificOutput?.['decision'];
    expect(told).toMatchObject({
      behavior: 'deny',
      interrupt: true,
      message: expect.stringContaining('not now'),
    });
  });

  test('a note with a yes comes with the next hook', async () => {
    await decided(BASH, 'Allow', 'but only once');
    const { permission_suggestions: _, ...raw } = BASH;
    const printed = await fire(hive, {
      ...raw,
      hook_event_name: 'PostToolUse',
      tool_use_id: 't1',
      tool_response: {},
    });
    expect(said(printed)?.hookSpecificOutput?.['additionalContext']).toContain(
      'Allow (comment: but only once)',
    );
  });

  test.each(['PostToolUse-Agent-async_launched', 'PostToolUse-Agent-teammate_spawned'])(
    'of a subagent in the background (%s) has no time limit: after the hook it waits in its terminal, until its next step',
    async (launched) => {
      await fire(hive, recordedEvent(`claude-code/${launched}.json`));
      const { ask_id, created_at } = await leftAlone(IN_BACKGROUND);
      expect(await hive.prompts.get(ask_id)).toMatchObject({
        session_id: `${SESSION}:a0000000000000001`,
        source: 'bg',
        status: 'pending',
        expires_at: null,
        terminal_since: expect.any(String),
      });
      // The terminal refuses it, which no hook reports, and the subagent goes on.
      await eventually(() => Date.now() > Date.parse(created_at) + 1_000);
      const { permission_suggestions: _, ...raw } = IN_BACKGROUND;
      await fire(hive, { ...raw, hook_event_name: 'PreToolUse', tool_use_id: 't2' });
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
    },
  );
});

test.each([
  [
    'claude-code/PermissionRequest-Bash-addDirectories.json',
    'Run echo one > f.txt?',
    'By the client itself: everything in /home/user/project, for this session; nothing is written',
  ],
  ['codex/PermissionRequest-mcp.json', 'Call plain of hive?', null],
])('%s is shown as what it is, with its own scope', async (file, question, always) => {
  await openDesk(hive);
  const client = file.startsWith('codex') ? ('codex' as const) : ('claude-code' as const);
  await prefer(hive, { dialog_wait: 'on' });
  const { prompts, answer } = await fireDialog(hive, recordedEvent(file), { client });
  const offered = prompts[0]?.options.find(({ label }) => label === 'Allow always');
  expect([prompts[0]?.question, offered?.description ?? null]).toEqual([question, always]);
  await answer('Deny');
});
