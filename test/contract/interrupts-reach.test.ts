/** Whom an interrupt may reach, all at once or one, and how its truth is found where no hook tells it. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { HUMAN, introduce, introduction, openTestHive } from '../support/hive.ts';
import { beginTurn, INTERRUPTED, interrupt } from '../support/interrupts.ts';
import { tempFolder } from '../support/temp.ts';
import { claude, endsOf, SESSION } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

describe('who may', () => {
  const agent = (session_id: string, ancestors: string[] = []) =>
    ({ kind: 'agent', by: 'Agent-x', via: 'mcp', session_id, ancestors }) as const;

  test('a session does not interrupt itself, nor one it descends from; another it may', async () => {
    const hive = await openTestHive();
    await beginTurn(hive);
    await expect(interrupt(hive, { actor: agent(SESSION) })).rejects.toMatchObject({ code: 'not_allowed' });
    await expect(interrupt(hive, { actor: agent('child', [SESSION]) })).rejects.toMatchObject({
      code: 'not_allowed',
    });
    expect(await interrupt(hive, { actor: agent('other'), timeout_ms: 0 })).toMatchObject({
      outcome: 'unconfirmed',
    });
  });
});

describe('interrupt_all', () => {
  test('asks every session that runs a turn, and answers when all have', async () => {
    const hive = await openTestHive();
    const turns = [await beginTurn(hive, 'a-1'), await beginTurn(hive, 'b-2')];
    await introduce(hive, 'idle-3');
    const reply = hive.interrupts.interruptAll({ actor: HUMAN });
    for (const { turn_id } of turns)
      await eventually(async () => (await hive.interrupts.orderFor(turn_id)) !== null);
    await hive.turns.end(turns[0]?.turn_id ?? '', INTERRUPTED);
    await hive.turns.end(turns[1]?.turn_id ?? '');
    const outcomes = (await reply).map((one) => [one.handle, 'error' in one ? one.error.code : one.outcome]);
    expect(outcomes).toEqual([
      ['Claude-a1', 'aborted'],
      ['Claude-b2', 'completed'],
    ]);
  });

  test('with nothing running there is nothing to answer', async () => {
    const hive = await openTestHive();
    expect(await hive.interrupts.interruptAll({ actor: HUMAN })).toEqual([]);
  });
});

describe('the truth, where no hook tells it', () => {
  const RECORDED = join(ROOT, 'test/wire/fixtures/claude-code/transcripts/esc-tool-stream-early-mcp.jsonl');
  const PROMPT_ID = '9a0e9700-0000-4000-8000-000000000001';

  async function onThisMachine(transcript: string, pid = process.pid) {
    const hive = await openTestHive();
    const { hostname } = await import('node:os');
    await hive.sessions.introduce(introduction({ machine: hostname(), pid }));
    const client = claude(hive, {
      env: { CLAUDE_PID: String(pid) },
      settings: { machine: hostname(), readTail: () => null },
    });
    await client.say('UserPromptSubmit', { prompt_id: PROMPT_ID, prompt: 'go', transcript_path: transcript });
    return hive;
  }

  test('Esc while somebody waits is found in the transcript: interrupted at the terminal', async () => {
    const transcript = join(tempFolder(), 'transcript.jsonl');
    writeFileSync(transcript, '');
    const hive = await onThisMachine(transcript);
    const reply = interrupt(hive);
    await eventually(
      async () =>
        (await hive.interrupts.orderFor((await hive.turns.current(SESSION))?.turn_id ?? '')) !== null,
    );
    appendFileSync(transcript, readFileSync(RECORDED));
    expect(await reply).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted', by: 'terminal' });
  });

  test('Esc before anybody asked: nothing runs any more', async () => {
    const hive = await onThisMachine(RECORDED);
    await expect(interrupt(hive)).rejects.toMatchObject({ code: 'no_turn' });
    expect(await endsOf(hive)).toEqual(['interrupted by terminal']);
  });

  test('a client that was killed answers nobody: its turn ended with it', async () => {
    const hive = await onThisMachine('/nowhere', 2 ** 22 - 7);
    await expect(interrupt(hive)).rejects.toMatchObject({ code: 'no_turn' });
    expect(await endsOf(hive)).toEqual(['ended']);
    expect((await hive.sessions.get(SESSION))?.state).toBe('ended');
  });
});
