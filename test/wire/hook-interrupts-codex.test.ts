/** How an interrupt reaches Codex through its hooks: exactly what is printed, and what is on disk by then. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from '../support/children.ts';
import { openTestHive } from '../support/hive.ts';
import { fire } from '../support/hooks.ts';
import { interruptStored, PLEASE_STOP } from '../support/interrupts.ts';
import { endsOf } from '../support/turns.ts';

describe('Codex', () => {
  const recorded = (name: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(ROOT, 'test/wire/fixtures/codex', `${name}.json`), 'utf8'));
  const say = (hive: OpenedHive, name: string, changes: Record<string, unknown> = {}): Promise<string> =>
    fire(hive, { ...recorded(name), ...changes }, { client: 'codex' });
  const session = String(recorded('UserPromptSubmit-prompt')['session_id']);

  test('a bare denial that asks it to stop, and the same for every further tool of that turn', async () => {
    const hive = await openTestHive();
    await say(hive, 'UserPromptSubmit-prompt');
    const { reply } = await interruptStored(hive, { note: 'wrong branch', session });
    const denial = {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: PLEASE_STOP,
      },
    };
    expect(JSON.parse(await say(hive, 'PreToolUse-Bash'))).toEqual(denial);
    expect((await reply).outcome).toBe('aborted');
    expect(JSON.parse(await say(hive, 'PreToolUse-Bash', { tool_use_id: 'call_2' }))).toEqual(denial);
    expect(await say(hive, 'Stop-first')).toBe('');
    expect(await endsOf(hive, session)).toEqual(['interrupted by ada']);
  });

  test('the result of a tool stops nothing there: nothing is printed, and the interrupt waits', async () => {
    const hive = await openTestHive();
    await say(hive, 'UserPromptSubmit-prompt');
    await say(hive, 'PreToolUse-Bash');
    await interruptStored(hive, { session });
    expect(await say(hive, 'PostToolUse-Bash')).toBe('');
    expect(await endsOf(hive, session)).toEqual(['in_progress']);
  });

  test.each(['Interrupt-appserver', 'Interrupt-tui-esc', 'Interrupt-exec-sigint'])(
    '%s ends the turn as interrupted at the terminal, and says nothing',
    async (name) => {
      const hive = await openTestHive();
      await say(hive, 'UserPromptSubmit-prompt');
      const { reply } = await interruptStored(hive, { session });
      expect(await say(hive, name)).toBe('');
      expect(await reply).toMatchObject({ outcome: 'aborted', by: 'terminal' });
    },
  );

  test('a late Interrupt hook leaves the next turn alone', async () => {
    const hive = await openTestHive();
    await say(hive, 'UserPromptSubmit-prompt');
    await say(hive, 'UserPromptSubmit-prompt', { turn_id: 'next' });
    await say(hive, 'Interrupt-tui-esc');
    expect(await endsOf(hive, session)).toEqual(['unknown', 'in_progress']);
  });

  test('/review displaces the turn that runs: the rollout says so, no hook does', async () => {
    const hive = await openTestHive();
    const rollout = readFileSync(join(ROOT, 'test/wire/fixtures/codex/rollout-replaced.jsonl'), 'utf8');
    const submit = (changes: Record<string, unknown>) =>
      fire(
        hive,
        { ...recorded('UserPromptSubmit-prompt'), ...changes },
        { client: 'codex', settings: { readTail: () => rollout } },
      );
    await submit({});
    await submit({ turn_id: '00000000-0000-7000-8000-000000000003' });
    expect(await endsOf(hive, session)).toEqual(['replaced', 'in_progress']);
  });

  test.each(['UserPromptSubmit-steer', 'UserPromptSubmit-typed-while-running'])(
    '%s is steering: no transition',
    async (name) => {
      const hive = await openTestHive();
      await say(hive, 'UserPromptSubmit-prompt');
      await say(hive, name, { turn_id: recorded('UserPromptSubmit-prompt')['turn_id'] });
      expect(await endsOf(hive, session)).toEqual(['in_progress']);
    },
  );
});
