/** Whose session a hook speaks for, as the recorded clients show it. */
import { readFileSync, symlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, spawnChild } from '../support/children.ts';
import { fireDialog, openDesk } from '../support/dialogs.ts';
import { ENDED } from '../support/ended-process.ts';
import { ask, eventsOf, HUMAN, introduce, introduction, noticesOf, openTestHive } from '../support/hive.ts';
import { fire, heldWith, recordedEvent, recordedSequence } from '../support/hooks.ts';
import { ping, report } from '../support/outreach.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const FIRST = '5e551000-0000-4000-8000-000000000001';
const SECOND = '5e551000-0000-4000-8000-000000000002';

describe('/clear and /resume in the terminal of Claude Code', () => {
  const [start, prompt, stop, end, cleared, ...rest] = recordedSequence('claude-code/clear-resume-tui.jsonl');

  test('a session begins, is idle after its Stop, and ends', async () => {
    const hive = await openTestHive();
    const states: (string | undefined)[] = [];
    for (const event of [start, prompt, stop, end]) {
      await fire(hive, event ?? {});
      states.push((await hive.sessions.find(FIRST))?.state);
    }
    expect(states).toEqual(['active', 'active', 'idle', 'ended']);
  });

  test('the session after /clear continues the one before, with its questions and answers', async () => {
    const hive = await openTestHive();
    await fire(hive, start ?? {});
    const open = await ask(hive, { question: 'still open?' }, FIRST);
    const answered = await ask(hive, { question: 'answered?' }, FIRST);
    await hive.prompts.respond({ ask_id: answered.ask_id, decision: 'yes', actor: HUMAN });
    await fire(hive, end ?? {});
    expect((await hive.prompts.get(open.ask_id)).orphaned).toBe(true);
    await fire(hive, cleared ?? {});
    const session = await hive.sessions.find(SECOND);
    expect(session).toMatchObject({ continues: FIRST, state: 'active' });
    expect(await hive.prompts.get(open.ask_id)).toMatchObject({
      session_id: SECOND,
      agent: session?.handle,
      orphaned: false,
    });
    expect((await hive.prompts.get(answered.ask_id)).session_id).toBe(SECOND);
  });

  test('the session after /clear also continues what its subagents in the background had open', async () => {
    const hive = await openTestHive();
    const began = { ...prompt, hook_event_name: 'SubagentStart', agent_id: 'helper', agent_type: 'x' };
    for (const event of [start, prompt, began]) await fire(hive, event ?? {});
    const open = await ask(hive, { question: 'still open?' }, `${FIRST}:helper`);
    const answered = await ask(hive, { question: 'answered?' }, `${FIRST}:helper`);
    await hive.prompts.respond({ ask_id: answered.ask_id, decision: 'yes', actor: HUMAN });
    await fire(hive, end ?? {});
    expect(await hive.prompts.get(open.ask_id)).toMatchObject({ session_id: FIRST, orphaned: true });
    await fire(hive, cleared ?? {});
    for (const { ask_id } of [open, answered])
      expect(await hive.prompts.get(ask_id)).toMatchObject({ session_id: SECOND, orphaned: false });
  });

  test.each([
    ['/clear', [end, cleared]],
    ['/clear, whose end is not reported', [cleared]],
    [
      '/resume',
      [
        { ...end, reason: 'resume' },
        { ...cleared, source: 'resume' },
      ],
    ],
  ])(
    'a subagent in the background goes on under the new id, and so does the permission that it waits for: %s',
    async (_, events) => {
      const hive = await openTestHive();
      await openDesk(hive);
      const began = { ...prompt, hook_event_name: 'SubagentStart', agent_id: 'helper', agent_type: 'x' };
      const tool_response = { isAsync: true, status: 'async_launched', agentId: 'helper' };
      const launched = { ...prompt, hook_event_name: 'PostToolUse', tool_name: 'Agent', tool_response };
      for (const event of [start, prompt, began, launched]) await fire(hive, event ?? {});
      const waits = recordedEvent('claude-code/PermissionRequest-Bash-in-bg-subagent.json');
      const { prompts, answer } = await fireDialog(hive, { ...waits, session_id: FIRST, agent_id: 'helper' });
      const { title } = await hive.sessions.resolve(`${FIRST}:helper`);
      for (const event of events) await fire(hive, event ?? {});
      expect(await hive.sessions.find(`${FIRST}:helper`)).toMatchObject({ state: 'ended' });
      expect(await hive.sessions.find(`${SECOND}:helper`)).toMatchObject({
        source: 'bg',
        state: 'active',
        title,
      });
      const now = () => hive.prompts.get(prompts[0]?.ask_id ?? '');
      expect(await now()).toMatchObject({
        session_id: `${SECOND}:helper`,
        status: 'pending',
        orphaned: false,
      });
      expect(await answer('Allow')).toContain('"behavior":"allow"');
      expect(await hive.sessions.find(`${FIRST}:helper`)).toMatchObject({ state: 'ended' });
      const over = { ...waits, hook_event_name: 'SubagentStop', session_id: SECOND, agent_id: 'helper' };
      expect(await fire(hive, over)).toBe('');
      expect((await now()).collected_at).toEqual(expect.any(String));
    },
  );

  test('a subagent in the background that goes on after /clear still owes the report of what it has shown', async () => {
    const hive = await openTestHive();
    const helper = { ...prompt, agent_id: 'helper', agent_type: 'x' };
    const tool_response = { isAsync: true, status: 'async_launched', agentId: 'helper' };
    const launched = { ...prompt, hook_event_name: 'PostToolUse', tool_name: 'Agent', tool_response };
    for (const event of [start, prompt, launched]) await fire(hive, event ?? {});
    await ping(hive, `${FIRST}:helper`);
    for (const event of [end, cleared]) await fire(hive, event ?? {});
    expect(await noticesOf(hive)).toEqual([]);
    const over = { ...helper, hook_event_name: 'SubagentStop', session_id: SECOND };
    expect(heldWith(await fire(hive, over))).toMatch(/^You showed your human ping "Look"/);
    await report(hive, `${SECOND}:helper`);
    expect(await fire(hive, over)).toBe('');
  });

  test('a subagent in the background goes on in each session that is resumed in the terminal', async () => {
    const hive = await openTestHive();
    const began = { ...prompt, hook_event_name: 'SubagentStart', agent_id: 'helper', agent_type: 'x' };
    const tool_response = { isAsync: true, status: 'async_launched', agentId: 'helper' };
    const launched = { ...prompt, hook_event_name: 'PostToolUse', tool_name: 'Agent', tool_response };
    const resumed = { ...cleared, source: 'resume' };
    const left = { ...end, reason: 'resume' };
    const back = [
      { ...left, session_id: SECOND },
      { ...resumed, session_id: FIRST },
    ];
    for (const event of [start, prompt, began, launched, left, resumed]) await fire(hive, event ?? {});
    const asked = await ask(hive, { question: 'still open?' }, `${SECOND}:helper`);
    for (const event of back) await fire(hive, event);
    expect(await hive.sessions.find(`${SECOND}:helper`)).toMatchObject({ state: 'ended' });
    expect(await hive.sessions.find(`${FIRST}:helper`)).toMatchObject({ state: 'active', source: 'bg' });
    const now = await hive.prompts.get(asked.ask_id);
    expect(now).toMatchObject({ session_id: `${FIRST}:helper`, orphaned: false });
  });

  test('the session after /clear keeps the given name, even if the end of the first was not reported', async () => {
    const env = { HIVE_AGENT: 'frontend-tests' };
    for (const events of [
      [start, end],
      [start, prompt],
    ]) {
      const hive = await openTestHive();
      for (const event of events) await fire(hive, event ?? {}, { env });
      expect((await hive.sessions.find(FIRST))?.handle).toBe('frontend-tests');
      await fire(hive, cleared ?? {}, { env });
      expect((await hive.sessions.find(SECOND))?.handle).toBe('frontend-tests');
      expect((await hive.sessions.find(FIRST))?.handle).toBe('Claude-5e551');
    }
  });

  test('a subagent does not have the name of its session', async () => {
    const hive = await openTestHive();
    const env = { HIVE_AGENT: 'frontend-tests' };
    await fire(hive, start ?? {}, { env });
    await fire(
      hive,
      { ...prompt, hook_event_name: 'SubagentStart', agent_id: 'helper', agent_type: 'x' },
      { env },
    );
    expect((await hive.sessions.list()).map(({ handle }) => handle).sort()).toEqual([
      'Claude-helpe',
      'frontend-tests',
    ]);
  });

  test('the session keeps what the human set for it', async () => {
    const hive = await openTestHive();
    await fire(hive, start ?? {});
    await hive.sessions.configure(FIRST, { gate: 'remind', roles: ['reviewer'] }, HUMAN);
    await fire(hive, end ?? {});
    await fire(hive, cleared ?? {});
    expect(await hive.sessions.find(SECOND)).toMatchObject({ gate: 'remind', roles: ['reviewer'] });
  });

  test('a resume in the terminal reopens the first session and moves nothing', async () => {
    const hive = await openTestHive();
    for (const event of [start, prompt, stop, end, cleared]) await fire(hive, event ?? {});
    const asked = await ask(hive, {}, SECOND);
    for (const event of rest.slice(0, 4)) await fire(hive, event);
    expect(await hive.sessions.find(FIRST)).toMatchObject({ state: 'active', ended_at: null });
    expect(await hive.prompts.get(asked.ask_id)).toMatchObject({ session_id: SECOND, orphaned: true });
  });
});

describe('/bg in the terminal of Claude Code', () => {
  const [start, prompt, stop, end] = recordedSequence('claude-code/clear-resume-tui.jsonl');
  const ended = { ...end, reason: 'prompt_input_exit' };
  const forked = { ...start, session_id: SECOND, source: 'fork' };
  const env = { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' };
  const background = { env: { ...env, CLAUDE_CODE_SESSION_ATTENDED: '0', CLAUDE_PID: String(process.pid) } };
  const entries = (...lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const reply = { type: 'assistant', message: { stop_reason: 'end_turn' } };
  const continued = { type: 'continued-in', sessionId: FIRST, continuedInSessionId: SECOND };
  const handedOver = {
    env,
    surroundings: { readTail: () => entries(reply, continued, { type: 'last-prompt' }) },
  };

  /** An idle session with a question that is open, and one that is answered. */
  async function asking(name = {}) {
    const hive = await openTestHive();
    for (const event of [start, prompt, stop]) await fire(hive, event ?? {}, { env: { ...env, ...name } });
    const open = await ask(hive, { question: 'still open?' }, FIRST);
    const answered = await ask(hive, { question: 'answered?' }, FIRST);
    await hive.prompts.respond({ ask_id: answered.ask_id, decision: 'yes', actor: HUMAN });
    return { hive, open, answered };
  }

  test.each([
    ['end', {}, 'Claude-5e551', 'demo'],
    ['start', {}, 'Claude-5e551', 'demo'],
    ['end', { HIVE_AGENT: 'frontend-tests' }, 'frontend-tests', 'frontend-tests'],
    ['start', { HIVE_AGENT: 'frontend-tests' }, 'frontend-tests', 'frontend-tests'],
  ])(
    'the session in the background continues the one before; its %s is reported first, %j',
    async (first, name, handle, title) => {
      const { hive, open, answered } = await asking(name);
      await hive.sessions.configure(FIRST, { gate: 'remind', roles: ['reviewer'] }, HUMAN);
      const ends = () => fire(hive, ended, { ...handedOver, env: { ...env, ...name } });
      const starts = () => fire(hive, forked, { env: { ...background.env, ...name } });
      let printed = '';
      // It may work before the end of the first is reported.
      const works = () => fire(hive, { ...stop, session_id: SECOND }, background);
      for (const report of first === 'end' ? [ends, starts] : [starts, works, ends])
        printed += await report();
      expect(await hive.sessions.list({ state: 'alive' })).toMatchObject([
        {
          ...{ session_id: SECOND, continues: FIRST, handle: expect.stringContaining(handle), title },
          ...{ source: 'bg', pid: process.pid, parent_session_id: null },
          ...{ gate: 'remind', roles: ['reviewer'] },
        },
      ]);
      expect(await hive.prompts.get(open.ask_id)).toMatchObject({ session_id: SECOND, orphaned: false });
      expect((await hive.prompts.get(answered.ask_id)).session_id).toBe(SECOND);
      printed += await fire(hive, { ...prompt, session_id: SECOND }, background);
      expect(printed.match(/Answer to ask-\w+/g)).toEqual([`Answer to ${answered.ask_id}`]);
    },
  );

  test.each([
    ['its transcript names no other session', entries(reply)],
    ['it was resumed since', entries(continued, reply)],
    ['what is named is no id of a client', entries({ ...continued, continuedInSessionId: 'main:2' })],
    ['it names itself', entries({ ...continued, continuedInSessionId: FIRST })],
  ])('nothing continues it if %s', async (_why, transcript) => {
    const { hive, open } = await asking();
    await fire(hive, forked, background);
    const surroundings = { readTail: () => transcript };
    await fire(hive, ended, { env: { ...env, CLAUDE_CODE_SESSION_ATTENDED: '0' }, surroundings });
    expect(await hive.sessions.find(FIRST)).toMatchObject({ continues: null });
    expect(await hive.prompts.get(open.ask_id)).toMatchObject({ session_id: FIRST, orphaned: true });
    expect(await hive.sessions.find(SECOND)).toMatchObject({ continues: null });
  });

  test('nor while it runs: a fork beside it is a session of its own', async () => {
    const { hive, open } = await asking();
    await fire(hive, forked, { ...background, surroundings: handedOver.surroundings });
    await fire(hive, stop ?? {}, handedOver);
    expect(await hive.prompts.get(open.ask_id)).toMatchObject({ session_id: FIRST, orphaned: false });
  });

  test.each([
    ['one that began earlier', forked, 60_000],
    ['one in its terminal', { ...start, session_id: SECOND }, 0],
    ['one that has ended', { ...end, session_id: SECOND }, 0],
  ])('nor does another session: %s', async (_which, event, age_ms) => {
    const { hive, open } = await asking();
    await fire(hive, event, { ...background, env: { ...background.env, CLAUDE_CODE_SESSION_ATTENDED: '1' } });
    await hive.store.write(async (tx) => {
      const other = (await tx.sessions.get(SECOND)) ?? expect.fail();
      const started_at = new Date(Date.parse(tx.now) - age_ms).toISOString();
      await tx.sessions.upsert({ ...other, started_at });
    });
    await fire(hive, ended, handedOver);
    expect(await hive.prompts.get(open.ask_id)).toMatchObject({ session_id: FIRST, orphaned: true });
    expect(await hive.sessions.find(SECOND)).toMatchObject({ continues: null });
  });
});

test.each([
  ['called a tool of Hive', true],
  ['only run hooks', false],
])(
  'a session of Codex that has %s ends with the Codex that is killed, and lives on in the one that resumes it',
  async (_what, calls) => {
    const hive = await openTestHive();
    const machine = hostname();
    const start = recordedEvent('codex/SessionStart-startup.json');
    const session_id = String(start['session_id']);
    const run = (source: string) => {
      const codex = startCodex();
      const surroundings = { machine, above: [process.ppid, codex.pid] };
      return { codex, begun: fire(hive, { ...start, source }, { client: 'codex', surroundings }) };
    };
    const first = run('startup');
    await first.begun;
    const { pid } = first.codex;
    if (calls) await hive.sessions.introduce(introduction({ session_id, client: 'codex', machine, pid }));
    expect(await hive.sessions.sweep(machine)).toEqual([]);
    await first.codex.kill('SIGKILL');
    expect(await hive.sessions.sweep(machine)).toMatchObject([{ session_id, state: 'ended' }]);
    await run('resume').begun;
    expect(await hive.sessions.sweep(machine)).toEqual([]);
  },
);

test('a conversation that is opened a second time while its client runs is refused, and the human is told so once', async () => {
  const hive = await openTestHive();
  const typed = recordedEvent('claude-code/UserPromptSubmit-steering-tui.json');
  const session_id = String(typed['session_id']);
  const from = (pid: number) => ({ env: { CLAUDE_PID: String(pid) }, surroundings: { above: [pid] } });
  await fire(hive, typed, from(process.pid));
  for (const prompt of ['go on', 'and on'])
    await expect(fire(hive, { ...typed, prompt }, from(process.ppid))).rejects.toThrow('which did not start');
  const [told, ...more] = await hive.notices.list(5);
  expect(more).toEqual([]);
  expect(told).toMatchObject({ session_id, data: { severity: 'warning', notice: 'other_process' } });
  expect(told?.data['text']).toMatch(/Hive ignores the other one.*close one of them.*--fork-session/);
});

test('a conversation that is opened while it still ends in another client goes on in the new one, and no notice says otherwise', async () => {
  const hive = await openTestHive();
  const started = recordedEvent('claude-code/SessionStart-startup-tui.json');
  const start = { ...started, source: 'resume' };
  const session_id = String(started['session_id']);
  const from = (pid: number) => ({ env: { CLAUDE_PID: String(pid) }, surroundings: { above: [pid] } });
  await fire(hive, start, from(process.pid));
  const opened = fire(hive, start, from(process.ppid));
  await fire(hive, { ...start, hook_event_name: 'SessionEnd', reason: 'other' }, from(process.pid));
  await opened;
  expect(await hive.sessions.find(session_id)).toMatchObject({ state: 'active', pid: process.ppid });
  expect(await hive.notices.list(5)).toEqual([]);
});

describe('subagents of Claude Code', () => {
  test('a subagent is a session of its own, child of the conversation, ended with its Stop', async () => {
    const hive = await openTestHive();
    const events = recordedSequence('claude-code/subagent-foreground.jsonl');
    const last = events.findIndex((event) => event['hook_event_name'] === 'SubagentStop');
    for (const event of events.slice(0, last)) await fire(hive, event);
    const [child] = (await hive.sessions.list()).filter((session) => session.parent_session_id !== null);
    expect(child).toMatchObject({ parent_session_id: FIRST, state: 'active', source: 'main' });
    expect(child?.session_id).toMatch(new RegExp(`^${FIRST}:a`));
    for (const event of events.slice(last)) await fire(hive, event);
    expect((await hive.sessions.find(child?.session_id ?? ''))?.state).toBe('ended');
  });

  test('a call of the MCP child that they share is identified by its tool_use_id', async () => {
    const hive = await openTestHive();
    const events = recordedSequence('claude-code/subagent-foreground.jsonl');
    const calls = events.filter(
      (event) =>
        event['hook_event_name'] === 'PreToolUse' &&
        String(event['tool_name']).startsWith('mcp__hive__hivemind'),
    );
    for (const event of events) {
      if (event['hook_event_name'] === 'SubagentStop') break;
      await fire(hive, event);
    }
    expect(calls.length).toBeGreaterThan(0);
    for (const event of calls) {
      const agent = event['agent_id'] === undefined ? FIRST : `${FIRST}:${event['agent_id']}`;
      const caller = await resolve(hive, { 'claudecode/toolUseId': event['tool_use_id'] });
      expect(caller.session.session_id).toBe(agent);
    }
  });

  test('one that runs in the background carries the source bg from its first hook on', async () => {
    const hive = await openTestHive();
    for (const event of recordedSequence('claude-code/subagent-background.jsonl')) await fire(hive, event);
    const [child] = (await hive.sessions.list()).filter((session) => session.parent_session_id !== null);
    expect(child?.source).toBe('bg');
  });

  test('the Stop of a subagent that never started, as /compact fires it, creates none', async () => {
    const hive = await openTestHive();
    const [start] = recordedSequence('claude-code/clear-resume-tui.jsonl');
    await fire(hive, start ?? {});
    await fire(hive, { ...start, hook_event_name: 'SubagentStop', agent_id: 'a9', agent_type: '' });
    expect(await hive.sessions.list()).toHaveLength(1);
  });
});

test('what a subagent had open goes to its parent when it ends', async () => {
  const hive = await openTestHive();
  const events = recordedSequence('claude-code/subagent-foreground.jsonl');
  const last = events.findIndex((event) => event['hook_event_name'] === 'SubagentStop');
  for (const event of events.slice(0, last)) await fire(hive, event);
  const [child] = (await hive.sessions.list()).filter((session) => session.parent_session_id !== null);
  const asked = await ask(hive, {}, child?.session_id);
  await fire(hive, events[last] ?? {});
  expect(await hive.prompts.get(asked.ask_id)).toMatchObject({ session_id: FIRST, orphaned: false });
});

test('headless runs of Claude Code are background sessions; --fork-session makes another session, --resume reopens the same', async () => {
  const hive = await openTestHive();
  const env = { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli', CLAUDE_CODE_SESSION_ATTENDED: '0' };
  const events = recordedSequence('claude-code/headless-resume-continue-fork.jsonl');
  for (const event of events) await fire(hive, event, { env });
  const ids = new Set(events.map((event) => event['session_id']));
  const sessions = await hive.sessions.list();
  expect(sessions).toHaveLength(ids.size);
  expect(sessions.map((session) => session.source)).toEqual(sessions.map(() => 'bg'));
  expect(sessions.map((session) => session.state)).toEqual(sessions.map(() => 'ended'));
});

describe('the callers of one MCP child', () => {
  test('after /clear the child still sends its first session: the client process identifies the new one', async () => {
    const hive = await openTestHive();
    for (const event of recordedSequence('claude-code/clear-resume-tui.jsonl').slice(0, 5))
      await fire(hive, event);
    const caller = await resolve(hive, {}, { CLAUDE_CODE_SESSION_ID: FIRST });
    expect(caller.session.session_id).toBe(SECOND);
  });

  test('without hooks the environment decides', async () => {
    const hive = await openTestHive();
    await introduce(hive, 'unrelated');
    const caller = await resolve(hive, {}, { CLAUDE_CODE_SESSION_ID: FIRST });
    expect(caller).toMatchObject({ session: { session_id: FIRST }, advice: null });
  });
});

test('Codex: hooks and calls of a subagent are one session, whose parent is the conversation', async () => {
  const hive = await openTestHive();
  const file = readFileSync(join(ROOT, 'test/wire/fixtures/codex/run-with-subagent.json'), 'utf8');
  const run = JSON.parse(file) as { hooks: Record<string, unknown>[]; mcp?: unknown };
  for (const event of run.hooks) await fire(hive, event, { client: 'codex' });
  const metas = JSON.stringify(run).match(/"threadId":"[^"]+","sessionId":"[^"]+"/g) ?? [];
  expect(metas.length).toBeGreaterThan(0);
  const before = (await hive.sessions.list()).length;
  for (const meta of metas) {
    const caller = await resolve(hive, JSON.parse(`{${meta}}`), {});
    expect(caller.session.client).toBe('codex');
  }
  expect(await hive.sessions.list()).toHaveLength(before);
});

test('a conversation of Codex is no child of another one in the same process, and goes on when that one ends', async () => {
  const hive = await openTestHive();
  const [machine, { pid = 0 }] = [hostname(), startCodex()];
  const end = recordedEvent('codex/SessionEnd-exec.json');
  const session_id = String(end['session_id']);
  await hive.sessions.introduce(introduction({ session_id, client: 'codex', machine, pid }));
  const start = {
    ...recordedEvent('codex/SessionStart-startup.json'),
    session_id: SECOND,
    transcript_path: null,
  };
  await fire(hive, start, { client: 'codex', surroundings: { machine, above: [process.ppid, pid] } });
  expect(await hive.sessions.find(SECOND)).toMatchObject({ parent_session_id: null });
  await hive.turns.start({ session_id: SECOND });
  await fire(hive, end, { client: 'codex', surroundings: { machine, above: [process.ppid, pid] } });
  expect(await hive.sessions.find(session_id)).toMatchObject({ state: 'ended' });
  expect(await hive.sessions.find(SECOND)).toMatchObject({ state: 'active' });
});

test('a Codex that another agent has started goes on when that one ends', async () => {
  const hive = await openTestHive();
  const end = recordedEvent('codex/SessionEnd-exec.json');
  const session_id = String(end['session_id']);
  await hive.sessions.introduce(introduction({ session_id, client: 'codex', pid: process.pid }));
  // It has called no tool of Hive, so only its hooks have reported a process.
  const hooked = { client: 'codex', parent_session_id: session_id, shell_pid: process.pid };
  await hive.sessions.introduce(introduction({ ...hooked, session_id: SECOND }));
  await hive.turns.start({ session_id: SECOND });
  await fire(hive, end, { client: 'codex' });
  expect(await hive.sessions.find(session_id)).toMatchObject({ state: 'ended' });
  expect(await hive.sessions.find(SECOND)).toMatchObject({ state: 'active' });
  expect(await hive.turns.current(SECOND)).toMatchObject({ state: 'in_progress' });
});

test('a subagent of Codex that has called a tool of Hive ends with its session', async () => {
  const hive = await openTestHive();
  const end = recordedEvent('codex/SessionEnd-exec.json');
  const parent_session_id = String(end['session_id']);
  // Its call reports the process that hosts all conversations.
  const called = { client: 'codex', pid: process.pid };
  await hive.sessions.introduce(introduction({ ...called, session_id: parent_session_id }));
  const session_id = `${parent_session_id}:helper`;
  await hive.sessions.introduce(introduction({ ...called, session_id, parent_session_id }));
  await fire(hive, end, { client: 'codex' });
  expect(await hive.sessions.find(session_id)).toMatchObject({ state: 'ended' });
});

/** A process that has the name of Codex. */
function startCodex(): ReturnType<typeof spawnChild> {
  const program = join(tempFolder(), 'codex');
  symlinkSync('/bin/sleep', program);
  return spawnChild(program, ['1d'], {});
}

function resolve(
  hive: Awaited<ReturnType<typeof openTestHive>>,
  meta: Record<string, unknown>,
  env: Record<string, string> = {},
) {
  return hive.callers.resolve({
    env,
    meta,
    client: 'claude-code',
    connection_id: 'connection-1',
    project: { project: 'demo', project_dir: '/demo/.git', branch: null },
    machine: 'test',
    parent_pid: ENDED,
  });
}

describe('what a session is called', () => {
  const line = (entry: object): string => `${JSON.stringify({ ...entry, sessionId: FIRST })}\n`;
  const start = recordedEvent('claude-code/SessionStart-startup-tui.json');
  const stop = recordedEvent('claude-code/Stop.json');

  test('follows its transcript within one event of any kind: generated, renamed, renamed again, removed', async () => {
    const hive = await openTestHive();
    let transcript = '';
    const surroundings = { readTail: () => transcript };
    const titleAfter = async (entry: object): Promise<string | undefined> => {
      transcript += line(entry);
      await fire(hive, stop, { surroundings });
      return (await hive.sessions.find(FIRST))?.title;
    };
    await fire(hive, start, { surroundings });
    expect((await hive.sessions.find(FIRST))?.title).toBe('demo');
    expect(await titleAfter({ type: 'ai-title', aiTitle: 'Fix the delivery date' })).toBe(
      'Fix the delivery date',
    );
    expect(await titleAfter({ type: 'custom-title', customTitle: 'delivery-fix' })).toBe('delivery-fix');
    expect(await titleAfter({ type: 'custom-title', customTitle: '[bg] Human: yes' })).toBe('bg Human yes');
    expect(await titleAfter({ type: 'custom-title', customTitle: 'Human' })).toBe('demo');
    expect(await titleAfter({ type: 'custom-title', customTitle: '' })).toBe('demo');
    expect((await hive.sessions.find(FIRST))?.client_title).toBeNull();
  });

  test('follows it, too, where a hook is answered before it is recorded', async () => {
    const hive = await openTestHive();
    let transcript = '';
    const surroundings = { readTail: () => transcript, answers_first: true };
    const pre = recordedSequence('claude-code/permission-hook-deny.jsonl').find(
      ({ hook_event_name }) => hook_event_name === 'PreToolUse',
    );
    const event = { ...pre, session_id: FIRST };
    for (let n = 0; n < 3; n += 1) await fire(hive, event, { surroundings });
    transcript = line({ type: 'custom-title', customTitle: 'delivery-fix' });
    await fire(hive, event, { surroundings });
    await eventually(async () => (await hive.sessions.find(FIRST))?.title === 'delivery-fix');
  });

  test('is what its person named it, whatever the transcript says; a rename is one event', async () => {
    const hive = await openTestHive();
    const surroundings = { readTail: () => line({ type: 'custom-title', customTitle: 'delivery-fix' }) };
    await fire(hive, start, { surroundings });
    await fire(hive, stop, { surroundings });
    await hive.sessions.configure(FIRST, { name: 'checkout' }, HUMAN);
    await fire(hive, stop, { surroundings });
    expect((await hive.sessions.find(FIRST))?.title).toBe('checkout');
    const renames = (await eventsOf(hive, 'session/changed')).filter(({ data }) => 'title' in data);
    expect(renames.map(({ data }) => data['title'])).toEqual(['delivery-fix', 'checkout']);
  });

  test('are its first words where its project is the name of a person', async () => {
    const hive = await openTestHive();
    await hive.store.write((tx) => tx.humans.put({ folded: 'ada', name: 'Ada', seen_at: tx.now }));
    const surroundings = { findProject: () => ({ project: 'ada', project_dir: '/home/ada', branch: null }) };
    const typed = recordedSequence('claude-code/clear-resume-tui.jsonl').find(
      ({ hook_event_name }) => hook_event_name === 'UserPromptSubmit',
    );
    await fire(hive, start, { surroundings });
    for (const prompt of ['please fix the\ndelivery date', 'and more'])
      await fire(hive, { ...typed, session_id: FIRST, prompt }, { surroundings });
    expect((await hive.sessions.find(FIRST))?.title).toBe('please fix the delivery date');
  });

  test('is for a subagent its type and the title of its session, also after a rename', async () => {
    const hive = await openTestHive();
    let transcript = '';
    const surroundings = { readTail: () => transcript };
    const events = recordedSequence('claude-code/subagent-foreground.jsonl');
    const begins = events.findIndex(({ hook_event_name }) => hook_event_name === 'SubagentStart');
    for (const event of events.slice(0, begins + 1)) await fire(hive, event, { surroundings });
    const subagentTitle = async (): Promise<string | undefined> =>
      (await hive.sessions.list()).find(({ parent_session_id }) => parent_session_id !== null)?.title;
    expect(await subagentTitle()).toBe(`${events[begins]?.['agent_type']} of demo`);
    transcript = line({ type: 'custom-title', customTitle: 'delivery-fix' });
    await fire(hive, events[begins + 1] ?? {}, { surroundings });
    expect(await subagentTitle()).toBe(`${events[begins]?.['agent_type']} of delivery-fix`);
  });
});
