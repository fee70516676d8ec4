/** The turns of Claude Code, from its recorded hooks and transcripts. */
import { describe, expect, test } from 'vitest';
import { timeAfter } from '../../src/domain/times.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { fire, recordedSequence } from '../support/hooks.ts';
import { claude, endsOf, recordedTail, SESSION, turnsOf } from '../support/turns.ts';

const FIRST = '5e551000-0000-4000-8000-000000000001';
const SECOND = '5e551000-0000-4000-8000-000000000002';

/** Replays a recorded sequence with its recorded transcript. */
async function replay(sequence: string, transcript?: string, env: Record<string, string> = {}) {
  const hive = await openTestHive();
  const readTail = transcript === undefined ? () => null : recordedTail(transcript);
  const printed: string[] = [];
  for (const event of recordedSequence(`claude-code/${sequence}.jsonl`))
    printed.push(await fire(hive, event, { env, surroundings: { readTail } }));
  return { hive, printed: printed.filter((text) => text !== '') };
}

describe('Esc in the terminal', () => {
  test('during a tool, during the answer and during a call of ours: interrupted at the terminal; before the first token: replaced by the next', async () => {
    const { hive } = await replay('esc-tui', 'esc-tool-stream-early-mcp');
    expect(await endsOf(hive, FIRST)).toEqual([
      'interrupted by terminal',
      'completed',
      'interrupted by terminal',
      'completed',
      'replaced',
      'completed',
      'interrupted by terminal',
      'completed',
    ]);
  });

  test('the next prompt tells the model, once for each turn', async () => {
    const { printed } = await replay('esc-tui', 'esc-tool-stream-early-mcp');
    const told = printed.filter((text) => text.includes('was interrupted at the terminal'));
    expect(told).toHaveLength(3);
    for (const text of told)
      expect(JSON.parse(text).hookSpecificOutput.hookEventName).toBe('UserPromptSubmit');
  });

  test('is found in the transcript where a tool of the turn, or what was typed after Esc, has moved it to', async () => {
    const hive = await openTestHive();
    const read = recordedTail('esc-tool-stream-early-mcp');
    let moves = 0;
    for (const event of recordedSequence('claude-code/esc-tui.jsonl')) {
      if (['PreToolUse', 'UserPromptSubmit'].includes(String(event['hook_event_name']))) moves += 1;
      const now = `${String(event['transcript_path'])}-${moves}`;
      const readTail = (path: string): string | null => (path === now ? read() : null);
      await fire(hive, { ...event, transcript_path: now }, { surroundings: { readTail } });
    }
    expect((await endsOf(hive, FIRST)).filter((end) => end !== 'completed')).toEqual([
      'interrupted by terminal',
      'interrupted by terminal',
      'replaced',
      'interrupted by terminal',
    ]);
  });

  test('without a transcript nothing says how those turns ended', async () => {
    const { hive } = await replay('esc-tui');
    expect((await endsOf(hive, FIRST)).filter((end) => end !== 'completed')).toEqual([
      'unknown',
      'unknown',
      'unknown',
      'unknown',
    ]);
  });

  test('while a Stop hook of somebody else waits: the turn was completed for Hive, and stays so', async () => {
    const { hive } = await replay('stop-hook-waits-esc', 'esc-stop-hook');
    expect(await endsOf(hive, FIRST)).toEqual(['completed', 'completed']);
  });

  test('at a permission dialog: found when the session ends', async () => {
    const { hive } = await replay('permission-terminal-esc-first', 'permission-terminal-no');
    expect(await endsOf(hive, FIRST)).toEqual(['interrupted by terminal']);
  });

  test('a permission hook that interrupts looks exactly like it', async () => {
    const { hive } = await replay('permission-hook-interrupt', 'permission-hook-interrupt');
    expect(await endsOf(hive, FIRST)).toEqual(['interrupted by terminal']);
  });

  test('a wake-up after it begins a turn of its own', async () => {
    const { hive } = await replay('rewake-after-esc');
    expect(await endsOf(hive, FIRST)).toEqual(['unknown', 'completed']);
  });
});

test('a session is idle once its client reports that it waits for its person', async () => {
  const hive = await openTestHive();
  const client = claude(hive);
  await client.prompt('p1');
  await client.say('Notification', { prompt_id: 'p1', notification_type: 'idle_prompt', message: 'waiting' });
  expect(await endsOf(hive)).toEqual(['unknown']);
  expect((await hive.sessions.find(SESSION))?.state).toBe('idle');
});

test('a session that is resumed after its client was killed is idle until its next prompt', async () => {
  const hive = await openTestHive();
  const client = claude(hive);
  await client.prompt('p1');
  await client.say('SessionStart', { source: 'resume' });
  expect(await endsOf(hive)).toEqual(['ended']);
  expect((await hive.sessions.find(SESSION))?.state).toBe('idle');
});

test('a report of Esc that arrives after the end of its session does not reopen it', async () => {
  const hive = await openTestHive();
  const client = claude(hive);
  await client.prompt('p1');
  await client.say('SessionEnd', { reason: 'prompt_input_exit' });
  await client.say('Interrupt', { prompt_id: 'p1' });
  expect((await hive.sessions.find(SESSION))?.state).toBe('ended');
});

describe('after the end of its session', () => {
  const after = { prompt_id: 'p1', tool_name: 'Bash', tool_use_id: 't1', tool_input: {}, tool_response: {} };
  const late: [string, object][] = [
    ['Stop', { prompt_id: 'p1' }],
    ['Stop', { prompt_id: 'p2' }],
    ['StopFailure', { prompt_id: 'p1', error: 'server_error' }],
    ['PostToolUse', after],
    ['PostToolUse', { ...after, agent_id: 'a1' }],
    ['PostToolUse', { ...after, agent_id: 'new' }],
    ['PostToolUseFailure', after],
    ['Notification', { notification_type: 'idle_prompt', message: 'waiting' }],
    ['SubagentStop', { prompt_id: 'p1', agent_id: 'a1' }],
  ];

  async function ended() {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await client.say('SubagentStart', { agent_id: 'a1', agent_type: 'reviewer' });
    const { ask_id } = await ask(hive);
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    await client.say('SessionEnd', { reason: 'other' });
    return { hive, client, ask_id };
  }

  test.each(late)('a late %s reopens nothing and begins no turn: %j', async (name, fields) => {
    const { hive, client, ask_id } = await ended();
    const turns = await turnsOf(hive);
    expect(await client.say(name, { ...fields })).toBe('');
    expect(await hive.sessions.list({ state: 'alive' })).toEqual([]);
    expect(await turnsOf(hive)).toEqual(turns);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ handed_at: null });
  });

  test('a step that begins later reopens it, and so does a report that is too late to be of that time', async () => {
    const { hive, client } = await ended();
    await client.pre('p2', 't2');
    expect((await hive.sessions.find(SESSION))?.state).not.toBe('ended');
    await client.end('p2');
    await hive.store.write(async (tx) => {
      const session = await tx.sessions.get(SESSION);
      if (session !== undefined)
        await tx.sessions.upsert({ ...session, ended_at: timeAfter(tx.now, -61_000) });
    });
    await client.post('p2', 't2');
    expect((await hive.sessions.find(SESSION))?.state).not.toBe('ended');
  });
});

describe('a prompt that replaces the running turn', () => {
  const id = (n: number): string => `9a0e9700-0000-4000-8000-00000000000${n}`;

  /** Where the line with this id begins. */
  const lineOf = (text: string, name: string): number => text.lastIndexOf('\n', text.indexOf(name)) + 1;

  /** A turn whose client records what the named transcript has of it. */
  async function running(transcript: string) {
    const hive = await openTestHive();
    const client = claude(hive, { surroundings: { readTail: recordedTail(transcript) } });
    await client.prompt(id(1), 'first words');
    return { hive, client };
  }

  // In the terminal it steers first, and then a turn begins without a prompt event.
  test.each([
    ['sent now in the terminal', 'send-now-thinking', 1],
    ['sent now in the terminal', 'send-now-streaming', 1],
    ['sent by a program with priority now', 'sdk-now-thinking', 2],
    ['sent by a program with priority now', 'sdk-now-streaming', 2],
  ])('%s (%s)', async (_how, transcript, turn) => {
    const { hive, client } = await running(transcript);
    await client.prompt(id(turn), 'second words');
    await client.stop(id(2));
    expect(await endsOf(hive)).toEqual(['replaced', 'completed']);
  });

  test('its entry comes late to the transcript: the hook reads again until it is there', async () => {
    const whole = recordedTail('send-now-thinking')();
    const early = whole.slice(0, lineOf(whole, id(2)));
    let reads = 0;
    const hive = await openTestHive();
    const client = claude(hive, { surroundings: { readTail: () => (++reads > 20 ? whole : early) } });
    await client.prompt(id(1), 'first words');
    await client.prompt(id(1), 'second words');
    await client.stop(id(2));
    expect(await endsOf(hive)).toEqual(['replaced', 'completed']);
  });

  test('once its entry is there, a transcript that does not say how the turn before it ended is not read again', async () => {
    let reads = 0;
    const tail = `${JSON.stringify({ type: 'user', promptId: id(2), message: { content: 'second words' } })}\n`;
    const hive = await openTestHive();
    const readTail = () => {
      reads += 1;
      return tail;
    };
    const client = claude(hive, { surroundings: { readTail } });
    await client.prompt(id(1), 'first words');
    reads = 0;
    await client.stop(id(2));
    expect(await endsOf(hive)).toEqual(['unknown', 'completed']);
    expect(reads).toBeLessThan(6);
  });

  test('its questions stay unless they were bound to it, and those that are cancelled say replaced', async () => {
    const { hive, client } = await running('sdk-now-thinking');
    const bound = await ask(hive, { when_turn_aborted: 'cancelled', question: 'Bound?' }, SESSION);
    const kept = await ask(hive, { question: 'Kept?' }, SESSION);
    await client.prompt(id(2), 'second words');
    expect(await hive.prompts.get(bound.ask_id)).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'replaced',
      decision: null,
    });
    expect((await hive.prompts.get(kept.ask_id)).status).toBe('pending');
  });

  test('a wake-up replaces nothing: nothing says how that turn ended', async () => {
    const { hive, client } = await running('sdk-now-thinking');
    await client.prompt(id(3), '<task-notification>a background agent finished</task-notification>');
    expect(await endsOf(hive)).toEqual(['unknown', 'in_progress']);
  });
});

describe('turns without Esc', () => {
  test('/clear and /resume: each prompt is a turn of the session it was typed in', async () => {
    const { hive } = await replay('clear-resume-tui');
    expect(await endsOf(hive, FIRST)).toEqual(['completed', 'completed']);
    expect(await endsOf(hive, SECOND)).toEqual(['completed']);
  });

  test('a prompt typed while a Stop hook waits steers the old turn; the run that follows has an id no prompt carried', async () => {
    const { hive } = await replay('stop-hook-waits-user-types');
    const turns = await turnsOf(hive, FIRST);
    expect(turns.map(({ state }) => state)).toEqual(['completed', 'completed']);
    expect(new Set(turns.map(({ client_turn_id }) => client_turn_id)).size).toBe(2);
    const events = await hive.store.read((tx) => tx.events.of(turns[0]?.turn_id ?? '', 100));
    expect(events.map(({ type }) => type)).toContain('turn/steered');
  });

  test('a wake-up of an idle session is a turn; of a busy one it steers', async () => {
    const idle = await replay('rewake-idle');
    expect(await endsOf(idle.hive, FIRST)).toEqual(['completed', 'completed', 'completed']);
    const busy = await replay('rewake-busy');
    expect(await endsOf(busy.hive, FIRST)).toEqual(['completed', 'completed']);
  });

  test('a subagent has turns of its own, inside that of its parent', async () => {
    const { hive } = await replay('subagent-foreground');
    const sessions = await hive.sessions.list();
    const child = sessions.find(({ parent_session_id }) => parent_session_id === FIRST);
    expect(await endsOf(hive, FIRST)).toEqual(['completed']);
    expect(await endsOf(hive, child?.session_id)).toEqual(['completed']);
    const [turn] = await turnsOf(hive, child?.session_id);
    expect(turn).toMatchObject({ steps: 4, batches: 2, open_tools: [] });
  });

  test('one in the background outlives the turn that started it', async () => {
    const { hive } = await replay('subagent-background');
    const sessions = await hive.sessions.list();
    const child = sessions.find(({ parent_session_id }) => parent_session_id === FIRST);
    expect(await endsOf(hive, FIRST)).toEqual(['completed', 'completed']);
    expect(await endsOf(hive, child?.session_id)).toEqual(['completed']);
  });

  test('each run of a headless session is a turn', async () => {
    const { hive } = await replay('headless-resume-continue-fork');
    const sessions = await hive.sessions.list();
    const ends = await Promise.all(sessions.map(({ session_id }) => endsOf(hive, session_id)));
    expect(ends.flat().every((end) => end === 'completed')).toBe(true);
    expect(ends.flat()).toHaveLength(6);
  });
});

test('every transition is an event with who, why and how long', async () => {
  const { hive } = await replay('esc-tui', 'esc-tool-stream-early-mcp');
  const [turn] = await turnsOf(hive, FIRST);
  const events = await hive.store.read((tx) => tx.events.of(turn?.turn_id ?? '', 100));
  const transitions = events.filter(({ type }) => type === 'turn/changed').map(({ data }) => data);
  expect(transitions).toEqual([
    { state: 'in_progress', client_turn_id: '9a0e9700-0000-4000-8000-000000000001', continues: null },
    {
      state: 'aborted',
      abort_reason: 'interrupted',
      by: 'terminal',
      via: 'terminal',
      started_at: turn?.started_at,
      ended_at: turn?.ended_at,
      duration_ms: expect.any(Number),
      cancelled_prompts: [],
    },
  ]);
});
