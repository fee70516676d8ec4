/** The command line as scripts use it: real processes, what they print, and their exit codes. */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shell } from '../support/cli.ts';
import { introduce, introduction, openTestHive } from '../support/hive.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

expectNothingLeft();

describe('asking', () => {
  it('prints the ask_id and nothing else', async () => {
    const person = shell(tempStore());
    const { code, out } = await person.hive('ask', 'Deploy?', '--option', 'yes', '--option', 'no');
    expect(code).toBe(0);
    expect(out).toMatch(/^ask-[0-9a-z]{16}\n$/);
  });

  it('takes everything that a question can have', async () => {
    const person = shell(tempStore());
    const context = join(tempFolder(), 'context.md');
    writeFileSync(context, '# Why\n');
    const flags = ['--multi', '--no-free-text', '--header', 'Release', '--context-file', context];
    const more = [
      '--kind',
      'permission',
      '--urgency',
      'critical',
      '--timeout',
      '10m',
      '--key',
      'k1',
      '--json',
    ];
    const asked = await person.hive('ask', 'Deploy?', '--option', 'a', '--option', 'b', ...flags, ...more);
    const found = (await person.hive('poll', asked.json().ask_id, '--json')).json();
    expect(found).toMatchObject({
      question: 'Deploy?',
      options: [{ label: 'a' }, { label: 'b' }],
      multi_select: true,
      allow_free_text: false,
      header: 'Release',
      context: '# Why\n',
      kind: 'permission',
      urgency: 'critical',
      idempotency_key: 'k1',
    });
    expect(Date.parse(found.expires_at) - Date.parse(found.created_at)).toBe(600_000);
  });

  it('is the same question under the same key', async () => {
    const person = shell(tempStore());
    const first = await person.hive('ask', 'Deploy?', '--key', 'k', '--json');
    const again = await person.hive('ask', 'Deploy?', '--key', 'k', '--json');
    expect(again.json()).toMatchObject({ ask_id: first.json().ask_id, existing: true });
    expect((await person.hive('ask', 'Other?', '--key', 'k')).code).toBe(1);
  });

  it('--wait prints the decision only, when it comes', async () => {
    const person = shell(tempStore());
    const waiting = person.start('ask', 'Deploy?', '--option', 'yes', '--wait');
    let ask_id = '';
    await eventually(async () => {
      ask_id = (await person.hive('list', '--json')).json().prompts[0]?.ask_id ?? '';
      return ask_id !== '';
    });
    expect((await person.hive('respond', ask_id, 'yes')).code).toBe(0);
    expect(await waiting.done).toMatchObject({ code: 0, out: 'yes\n', err: '' });
  });

  it('--wait DURATION gives up waiting, not the question', async () => {
    const person = shell(tempStore());
    const waited = await person.hive('ask', 'Deploy?', '--wait', '50ms');
    expect(waited).toMatchObject({ code: 3, out: '' });
    expect((await person.hive('list', '--json')).json().prompts).toHaveLength(1);
  });

  it('--wait ends with 4 when the question expires, and prints no decision', async () => {
    const waited = await shell(tempStore()).hive('ask', 'Deploy?', '--timeout', '1s', '--wait');
    expect(waited).toMatchObject({ code: 4, out: '' });
    expect(waited.err).toContain('expired without an answer');
  });

  it('refuses what makes no sense with 2, and stores nothing', async () => {
    const person = shell(tempStore());
    for (const args of [
      [],
      [''],
      ['Q', '--timeout', 'soon'],
      ['Q', '--urgency', 'huge'],
      ['Q', '--nonsense'],
    ])
      expect((await person.hive('ask', ...args)).code).toBe(2);
    expect((await person.hive('ask', 'Q', '--context-file', '/nowhere')).code).toBe(2);
    expect((await person.hive('list', '--status', 'all', '--json')).json().prompts).toEqual([]);
  });
});

describe('looking', () => {
  it('polls one question: 3 while pending, 0 when answered, 5 when cancelled', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    expect((await person.hive('poll', ask_id)).code).toBe(3);
    await person.hive('respond', ask_id, 'go');
    const answered = await person.hive('poll', ask_id, '--json');
    expect(answered.code).toBe(0);
    expect(answered.json()).toMatchObject({ ask_id, status: 'responded', decision: 'go', via: 'cli' });
    expect(answered.json().handed_at).not.toBeNull();

    const other = (await person.hive('ask', 'Really?')).out.trim();
    await person.hive('cancel', other);
    expect((await person.hive('poll', other)).code).toBe(5);
    expect((await person.hive('poll', ask_id, other)).code).toBe(5);
    expect((await person.hive('poll', 'ask-unknown')).code).toBe(1);
  });

  it('without an id shows what is open, until it was seen to be read', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('respond', ask_id, 'go');
    expect((await person.hive('poll', '--json')).json().prompts).toHaveLength(1);
    expect((await person.hive('poll', '--json')).json().prompts).toEqual([]);
    expect((await person.hive('poll', ask_id, '--json')).json().decision).toBe('go');
  });

  it("a person who looks at an agent's answer takes nothing from the agent", async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const person = shell(store);
    const { prompt } = await hive.prompts.ask({ question: 'Deploy?' }, await introduce(hive));
    await person.hive('respond', prompt.ask_id, 'go');
    expect((await person.hive('poll', prompt.ask_id, '--json')).json().handed_at).toBeNull();
    expect((await person.hive('amend', prompt.ask_id, 'stop')).code).toBe(0);
    expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({ decision: 'stop', amended: true });
  });

  it('waits for one of several, or for all of them', async () => {
    const person = shell(tempStore());
    const [a, b] = [await person.hive('ask', 'A?'), await person.hive('ask', 'B?')].map((r) => r.out.trim());
    const any = person.start('wait', a ?? '', b ?? '', '--json');
    const all = person.start('wait', '--all', a ?? '', b ?? '', '--json');
    await person.hive('respond', a ?? '', '1');
    expect((await any.done).json().prompts).toMatchObject([{ ask_id: a, decision: '1' }]);
    await person.hive('respond', b ?? '', '2');
    expect((await all.done).json().prompts).toMatchObject([{ decision: '1' }, { decision: '2' }]);
  });

  it('waits without an id for whatever settles next, and ends with 3 when the time is up', async () => {
    const person = shell(tempStore());
    expect((await person.hive('wait')).code).toBe(3);
    const ask_id = (await person.hive('ask', 'A?')).out.trim();
    expect((await person.hive('wait', '--timeout', '50ms')).code).toBe(3);
    const waiting = person.start('wait', '--json');
    await person.hive('respond', ask_id, '1');
    expect(await waiting.done).toMatchObject({ code: 0 });
  });

  it('lists by status, agent and project, and goes on from a cursor', async () => {
    const person = shell(tempStore());
    const agent = person.as({ HIVE_AGENT: 'builder' });
    await person.hive('ask', 'Mine?');
    await agent.hive('ask', 'Low?', '--urgency', 'low');
    await agent.hive('ask', 'Now?', '--urgency', 'critical');
    const all = (await person.hive('list', '--limit', '2', '--json')).json();
    expect(all.prompts.map((p: { question: string }) => p.question)).toEqual(['Now?', 'Mine?']);
    const rest = (await person.hive('list', '--cursor', all.next_cursor, '--json')).json();
    expect(rest).toMatchObject({ prompts: [{ question: 'Low?' }], next_cursor: null });
    const handle = all.prompts[0].agent as string;
    expect((await person.hive('list', '--agent', handle, '--json')).json().prompts).toHaveLength(2);
    expect((await person.hive('list', '--project', 'none', '--json')).json().prompts).toEqual([]);
    expect((await person.hive('list', '--status', 'expired', '--json')).json().prompts).toEqual([]);
  });

  it('shows text from agents harmlessly, one row a prompt', async () => {
    const person = shell(tempStore());
    await person.as({ HIVE_AGENT: 'x' }).hive('ask', 'Red \u001b[31m\nand \u202eback', '--header', 'h');
    const { out } = await person.hive('list');
    expect(out).toContain('Red ^[[31m and <U+202E>back');
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect((await person.hive('list', '--json')).out).not.toContain('\u202e');
  });

  it('says what the state is', async () => {
    const person = shell(tempStore());
    await person.hive('ask', 'Deploy?', '--urgency', 'critical');
    const status = (await person.hive('status', '--json')).json();
    expect(status.pending).toEqual({ total: 1, critical: 1, normal: 0, low: 0 });
    expect(status.sessions).toHaveLength(1);
    expect(status.desks).toEqual([]);
    expect((await person.hive('status')).out).toMatch(
      /^1 pending \(1 critical\)\n1 session, 0 desks online\n/,
    );
  });
});

describe('answering', () => {
  it('has one winner: who comes second ends with 6 and hears who was first', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    const [a, b] = await Promise.all([
      person.hive('respond', ask_id, 'a', '--json'),
      person.hive('respond', ask_id, 'b', '--json'),
    ]);
    expect([a.code, b.code].sort()).toEqual([0, 6]);
    expect(a.json().decision).toBe(b.json().decision);
    expect((await person.hive('cancel', ask_id)).code).toBe(6);
  });

  it('chooses several options, and comments', async () => {
    const person = shell(tempStore());
    const ask_id = (
      await person.hive('ask', 'Which?', '--multi', '--option', 'a', '--option', 'b')
    ).out.trim();
    await person.hive('respond', ask_id, '--comment', 'both', '--by', 'Ada', '--select', 'b', 'a');
    expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({
      decision: 'a, b',
      selected: ['a', 'b'],
      comment: 'both',
      by: 'Ada',
    });
  });

  it('keeps a late answer and says so', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('cancel', ask_id);
    const late = await person.hive('respond', ask_id, 'go', '--json');
    expect(late.code).toBe(6);
    expect(late.json()).toMatchObject({ accepted: false, late: true, status: 'cancelled', decision: 'go' });
  });

  it('refuses an answer that was not offered, or none at all', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Q', '--option', 'a', '--no-free-text')).out.trim();
    expect((await person.hive('respond', ask_id, 'b')).code).toBe(1);
    expect((await person.hive('respond', ask_id)).code).toBe(2);
    expect((await person.hive('respond', ask_id, 'a', '--select', 'a')).code).toBe(2);
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });
});

describe('no self-approval (invariant 9)', () => {
  const AGENTS = [
    { CLAUDECODE: '1' },
    { CLAUDE_CODE_SESSION_ID: 'c1' },
    { CODEX_THREAD_ID: 't1' },
    { HIVE_AGENT: 'builder' },
  ];

  it.each(AGENTS)('under %o an answer is refused, and nothing is stored', async (env) => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    const agent = person.as(env);
    for (const command of ['respond', 'amend'])
      expect(await agent.hive(command, ask_id, 'yes')).toMatchObject({ code: 7, out: '' });
    expect((await agent.hive('cancel', ask_id, '--json')).json().error.code).toBe('not_allowed');
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  it('--as-agent answers in its own name, and the trail says so', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    const agent = person.as({ HIVE_AGENT: 'builder' });
    expect((await agent.hive('respond', ask_id, 'yes', '--as-agent')).out).toContain(
      'as the agent Agent-build',
    );
    expect((await person.hive('poll', ask_id, '--json')).json().by).toBe('Agent-build');
  });

  it('never its own prompt, nor one of a session it descends from, nor a permission', async () => {
    const person = shell(tempStore());
    const parent = person.as({ HIVE_AGENT: 'parent' });
    const child = person.as({ HIVE_AGENT: 'child', HIVE_PARENT: 'parent' });
    const asked = (await parent.hive('ask', 'Mine?')).out.trim();
    const permission = (await person.hive('ask', 'May I?', '--kind', 'permission')).out.trim();
    expect((await parent.hive('respond', asked, 'yes', '--as-agent')).err).toContain('its own prompt');
    expect((await child.hive('respond', asked, 'yes', '--as-agent')).err).toContain('descends from');
    expect((await child.hive('respond', permission, 'yes', '--as-agent')).err).toContain('by the human');
    // What an inner agent inherits of the outer one's environment counts too.
    const inner = parent.as({ CLAUDE_CODE_SESSION_ID: 'inner' });
    expect((await inner.hive('respond', asked, 'yes', '--as-agent')).code).toBe(7);
  });

  it('refuses below a process that is a registered session, whatever the environment', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const person = shell(store);
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.pid }));
    const refused = await person.hive('respond', ask_id, 'yes');
    expect(refused.code).toBe(7);
    expect(refused.err).toContain('it runs under Claude-sessi');
  });

  it('an agent takes back its own prompt, and another only when it says so', async () => {
    const person = shell(tempStore());
    const agent = person.as({ HIVE_AGENT: 'builder' });
    const own = (await agent.hive('ask', 'Mine?')).out.trim();
    const other = (await person.hive('ask', 'Not mine?')).out.trim();
    const permission = (await person.hive('ask', 'May I?', '--kind', 'permission')).out.trim();
    expect((await agent.hive('cancel', own)).code).toBe(0);
    expect((await agent.hive('cancel', other)).code).toBe(7);
    expect((await agent.hive('cancel', permission, '--as-agent')).code).toBe(7);
    expect((await agent.hive('cancel', other, '--as-agent', '--json')).json()).toMatchObject({
      accepted: true,
      by: 'Agent-build',
    });
  });

  it('a permission wants a terminal, and a yes that was typed there', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'May I?', '--kind', 'permission')).out.trim();
    expect(await person.hive('respond', ask_id, 'yes')).toMatchObject({ code: 7 });
    const declined = await person.terminal(['respond', ask_id, 'yes'], 'Type yes', 'y');
    expect(declined.code).toBe(7);
    expect(declined.out).toContain('Not confirmed');
    const confirmed = await person.terminal(['respond', ask_id, 'granted'], 'Type yes', 'yes');
    expect(confirmed).toMatchObject({ code: 0 });
    expect(confirmed.out).toContain('May I?');
    expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({
      decision: 'granted',
      via: 'cli',
    });
  });
});

describe('the log', () => {
  it('prints events, from where it is told and of what it is told', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('respond', ask_id, 'go');
    const events = (await person.hive('log', '--json')).out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(events.map(({ type }) => type)).toEqual(['session/started', 'prompt/created', 'prompt/responded']);
    const after = await person.hive('log', '--after', String(events[1].seq));
    expect(after.out.trim().split('\n')).toHaveLength(1);
    const about = await person.hive('log', '--subject', ask_id);
    expect(about.out.trim().split('\n')).toHaveLength(2);
    expect((await person.hive('log', '--after', '-1')).code).toBe(2);
  });

  it('--follow goes on with what happens', async () => {
    const person = shell(tempStore());
    await person.hive('ask', 'Before?');
    const follower = person.start('log', '--follow', '--after', '0', '--json');
    await eventually(() => follower.out().includes('prompt/created'));
    const ask_id = (await person.hive('ask', 'After?')).out.trim();
    await eventually(() => follower.out().includes(ask_id));
    await follower.child.kill('SIGTERM');
  });
});

describe('retention', () => {
  it('says what would go, removes only what is old, and refuses nonsense', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('cancel', ask_id);
    expect((await person.hive('prune', '--dry-run', '--days', '1', '--json')).json()).toEqual({
      dry_run: true,
      days: 1,
      records: {},
    });
    expect((await person.hive('prune')).code).toBe(0);
    expect((await person.hive('poll', ask_id)).code).toBe(5);
    for (const days of ['0', '-3', 'x', '1.5'])
      expect((await person.hive('prune', `--days=${days}`)).code).toBe(2);
    const wrong = await person.as({ HIVE_RETENTION_DAYS: 'soon' }).hive('prune');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('HIVE_RETENTION_DAYS is "soon"');
  });
});

describe('the command line', () => {
  it('helps, and ends with 2 for what it does not know', async () => {
    const person = shell(tempStore());
    const help = await person.hive('--help');
    expect(help.code).toBe(0);
    expect(help.out).toContain('Ask the human');
    expect((await person.hive('respond', '--help')).out).toContain('--as-agent');
    expect((await person.hive('nonsense')).code).toBe(2);
    expect((await person.hive('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
