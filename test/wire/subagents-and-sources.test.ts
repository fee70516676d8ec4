/** The sources of the recorded sessions and subagents of both clients, and what they mean for their Stops. */
import { describe, expect, test } from 'vitest';
import { ENDED } from '../support/ended-process.ts';
import { HUMAN, noticesOf, openTestHive } from '../support/hive.ts';
import { type Client, fire, heldWith, recordedSequence } from '../support/hooks.ts';
import { CLAUDE, CODEX, HEADLESS, ping, recorded, refusalOf, report } from '../support/outreach.ts';
import { claude, endsOf, SESSION } from '../support/turns.ts';

/** Held for unreported output. */
const HELD = /^You showed your human ping "Look" and have not reported it/;

describe('subagents', () => {
  test('of Claude Code in the background: known from PostToolUse of Agent, held at SubagentStop', async () => {
    const hive = await openTestHive();
    const agent = `${CLAUDE}:a0000000000000001`;
    await fire(hive, recorded('claude-code', 'SessionStart-startup-tui'));
    await fire(hive, recorded('claude-code', 'PostToolUse-Agent-async_launched'));
    expect(await hive.sessions.resolve(agent)).toMatchObject({ source: 'bg', parent_session_id: CLAUDE });
    expect(await hive.sessions.resolve(CLAUDE)).toMatchObject({ source: 'main' });
    await ping(hive, agent);
    const held = await fire(hive, recorded('claude-code', 'SubagentStop-background'));
    expect(heldWith(held)).toMatch(HELD);
    expect(await hive.sessions.resolve(agent)).toMatchObject({ state: 'active' });
    await report(hive, agent);
    expect(await fire(hive, recorded('claude-code', 'SubagentStop-background'))).toBe('');
    expect(await hive.sessions.resolve(agent)).toMatchObject({ state: 'ended' });
  });

  test('of Codex in the background', async () => {
    const hive = await openTestHive();
    const as: Client = { client: 'codex', env: { HIVE_SOURCE: 'bg' } };
    const agent = `${CODEX}:00000000-0000-7000-8000-000000000003`;
    await fire(hive, recorded('codex', 'SessionStart-startup'), as);
    await fire(hive, recorded('codex', 'SubagentStart'), as);
    await ping(hive, agent);
    const printed: string[] = [];
    for (let n = 0; n < 5; n += 1) printed.push(await fire(hive, recorded('codex', 'SubagentStop'), as));
    expect(heldWith(printed[0] ?? '')).toMatch(HELD);
    expect(printed.map((text) => text !== '')).toEqual([true, true, true, false, false]);
    expect(await noticesOf(hive)).toHaveLength(1);
  });

  test('that review in Codex get no answers of their session, and are over when it goes on: it gets theirs', async () => {
    const hive = await openTestHive();
    const review = recorded('codex', 'UserPromptSubmit-review');
    const ended = { type: 'event_msg', payload: { type: 'task_complete', turn_id: review['turn_id'] } };
    const readTail = (path: string) => (path === review['transcript_path'] ? JSON.stringify(ended) : null);
    const as: Client = { client: 'codex', surroundings: { readTail } };
    const answered = async (session_id: string, question: string): Promise<void> => {
      const { prompt } = await hive.prompts.ask({ question }, await hive.sessions.resolve(session_id));
      await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    };
    await fire(hive, recorded('codex', 'SessionStart-startup'), as);
    await answered(CODEX, 'Before?');
    expect(await fire(hive, review, as)).toBe('');
    const agent = `${CODEX}:00000000-0000-7000-8000-000000000003`;
    await answered(agent, 'Why?');
    const next = await fire(hive, recorded('codex', 'UserPromptSubmit-prompt'), as);
    expect(next).toMatch(/Before\?.*yes.*Why\?.*yes/);
    expect(await hive.sessions.resolve(agent)).toMatchObject({ state: 'ended' });
    expect(await endsOf(hive, agent)).toEqual(['completed']);
    // Esc at the very end is reported late.
    const late = { ...review, hook_event_name: 'Interrupt' };
    for (const event of [late, { ...late, agent_id: 'unknown' }]) await fire(hive, event, as);
    expect((await hive.sessions.list({ state: 'alive' })).map(({ session_id }) => session_id)).toEqual([
      CODEX,
    ]);
  });

  test('in the foreground of a main session are main: no pings, and nothing is held for reports', async () => {
    const hive = await openTestHive();
    const agent = `${CLAUDE}:a0000000000000001`;
    for (const event of recordedSequence('claude-code/subagent-foreground.jsonl').slice(0, 4))
      await fire(hive, event);
    const session = await hive.sessions.resolve(agent);
    expect(session.source).toBe('main');
    expect((await refusalOf(hive.outreach.ping({ message: 'x' }, session))).code).toBe('outreach_refused');
    expect(await fire(hive, recorded('claude-code', 'SubagentStop-foreground'))).toBe('');
  });

  test.each([
    ['subagent', true],
    ['shell', true],
    // An agent in these has another id there.
    ['teammate', false],
    ['workflow', false],
  ])(
    'that are stopped in the terminal report nothing: a Stop that lists only a %s ends them (%s), and their parent gets the answers',
    async (type, ends) => {
      const hive = await openTestHive();
      const client = claude(hive);
      await client.prompt('p1');
      for (const agent_id of ['b1', 'b2']) await client.say('SubagentStart', { prompt_id: 'p1', agent_id });
      const asker = await hive.sessions.resolve(`${SESSION}:b1`);
      const { ask_id } = (await hive.prompts.ask({ question: 'Red or blue?' }, asker)).prompt;
      await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
      const listed = { id: type === 'subagent' ? 'b2' : 't1', type, status: 'running' };
      const printed = await client.say('Stop', { prompt_id: 'p1', background_tasks: [listed] });
      const stateOf = async (agent: string) => (await hive.sessions.resolve(`${SESSION}:${agent}`)).state;
      expect(await stateOf('b1')).toBe(ends ? 'ended' : 'active');
      expect(await stateOf('b2')).toBe(ends && type !== 'subagent' ? 'ended' : 'active');
      expect(await endsOf(hive, `${SESSION}:b1`)).toEqual([ends ? 'ended' : 'in_progress']);
      expect((await hive.prompts.get(ask_id)).session_id).toBe(ends ? SESSION : `${SESSION}:b1`);
      expect(heldWith(printed)?.includes(ask_id) ?? false).toBe(ends);
    },
  );

  test('/compact fires a SubagentStop for nobody: the session itself is not held by it', async () => {
    const hive = await openTestHive();
    const as: Client = { env: HEADLESS };
    await fire(hive, recorded('claude-code', 'SessionStart-startup-headless'), as);
    await ping(hive, CLAUDE);
    expect(await fire(hive, recorded('claude-code', 'SubagentStop-compact'), as)).toBe('');
    expect(heldWith(await fire(hive, recorded('claude-code', 'Stop'), as))).toMatch(HELD);
  });
});

describe('sources, as the recorded environments tell them', () => {
  test.each([
    ['env-hook-headless', 'bg'],
    ['env-hook-sdk', 'bg'],
    ['env-hook-tui-SessionStart', 'main'],
  ])('%s is %s', async (file, source) => {
    const hive = await openTestHive();
    const env = { ...recorded('claude-code', file), CLAUDE_PID: String(ENDED) };
    await fire(hive, recorded('claude-code', 'SessionStart-startup-headless'), { env });
    expect(await hive.sessions.resolve(CLAUDE)).toMatchObject({ source });
  });

  test.each(['claude-code', 'codex'] as const)('a fork of %s is a fork, and stays one', async (client) => {
    const hive = await openTestHive();
    const fork = recorded(client, client === 'codex' ? 'SessionStart-fork' : 'SessionStart-fork-headless');
    await fire(hive, fork, { client });
    const session_id = String(fork['session_id']);
    expect(await hive.sessions.resolve(session_id)).toMatchObject({ source: 'fork' });
    await fire(
      hive,
      { ...fork, hook_event_name: 'UserPromptSubmit', prompt: 'go', prompt_id: 'p' },
      { client },
    );
    await fire(hive, { ...fork, source: 'compact' }, { client });
    expect(await hive.sessions.resolve(session_id)).toMatchObject({ source: 'fork' });
  });

  test('a fork that nobody watches is bg', async () => {
    const hive = await openTestHive();
    const fork = recorded('claude-code', 'SessionStart-fork-headless');
    await fire(hive, fork, { env: HEADLESS });
    expect(await hive.sessions.resolve(String(fork['session_id']))).toMatchObject({ source: 'bg' });
  });

  test('a headless session resumed in the terminal is main again; what the human has set stays', async () => {
    const hive = await openTestHive();
    const start = recorded('claude-code', 'SessionStart-startup-headless');
    await fire(hive, start, { env: HEADLESS });
    const attended = { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' };
    await fire(hive, { ...start, source: 'resume' }, { env: attended });
    expect(await hive.sessions.resolve(CLAUDE)).toMatchObject({ source: 'main' });
    await hive.sessions.configure(CLAUDE, { source: 'fork' }, HUMAN);
    await fire(hive, { ...start, source: 'resume' }, { env: HEADLESS });
    expect(await hive.sessions.resolve(CLAUDE)).toMatchObject({ source: 'fork', source_fixed: true });
    await hive.sessions.configure(CLAUDE, { source: null }, HUMAN);
    await fire(hive, { ...start, source: 'resume' }, { env: HEADLESS });
    expect(await hive.sessions.resolve(CLAUDE)).toMatchObject({ source: 'bg', source_fixed: false });
  });

  test('a correction that is taken back leaves nothing behind: the evidence counts again', async () => {
    const hive = await openTestHive();
    const attended = { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' };
    const begun = recorded('claude-code', 'SessionStart-startup-headless');
    const typed = { ...begun, hook_event_name: 'UserPromptSubmit', prompt: 'go', prompt_id: 'p' };
    const sourceAfter = async (env: Record<string, string>) => {
      await fire(hive, typed, { env });
      return (await hive.sessions.resolve(CLAUDE)).source;
    };
    await fire(hive, begun, { env: attended });
    await hive.sessions.configure(CLAUDE, { source: 'bg' }, HUMAN);
    expect(await sourceAfter(attended)).toBe('bg');
    await hive.sessions.configure(CLAUDE, { source: null }, HUMAN);
    expect(await sourceAfter(attended)).toBe('main');
    await hive.sessions.configure(CLAUDE, { source: 'fork' }, HUMAN);
    await hive.sessions.configure(CLAUDE, { source: null }, HUMAN);
    expect(await sourceAfter(HEADLESS)).toBe('bg');
    // There is no correction to take back.
    await hive.sessions.configure(CLAUDE, { source: null }, HUMAN);
    expect((await hive.sessions.resolve(CLAUDE)).source).toBe('bg');
  });
});
