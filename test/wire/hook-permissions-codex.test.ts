/** The permission prompts of Codex, which hides its own while a hook waits: how long that may be, and exactly what it gets. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { answerDialog, fireDialog, openDesk, permissionDecision } from '../support/dialogs.ts';
import { noticesOf, openTestHive, prefer } from '../support/hive.ts';
import { fire, recordedEvent, said, withRules } from '../support/hooks.ts';
import { eventually } from '../support/wait.ts';

const CODEX = recordedEvent('codex/PermissionRequest-Bash.json');

let hive: OpenedHive;
beforeEach(async () => {
  hive = await openTestHive();
});

describe('Codex', () => {
  beforeEach(() => openDesk(hive));

  test('does not wait by default, because it hides its own prompt while a hook waits', async () => {
    expect(await fire(hive, CODEX, { client: 'codex' })).toBe('');
  });

  test('waits 20 s at most, and gets a plain yes or no', async () => {
    await prefer(hive, { dialog_wait: 500 });
    const wanted = { client: 'codex' as const };
    for (const [choice, told] of [
      ['Allow', { behavior: 'allow' }],
      ['Deny', { behavior: 'deny', message: 'ada denied this.' }],
    ] as const) {
      const { prompts, printed } = await fireDialog(hive, CODEX, wanted);
      const { created_at, options, ask_id } = prompts[0] ?? (await hive.prompts.get('none'));
      let lease: string | null = null;
      await eventually(async () => {
        lease = await hive.store.read((tx) => tx.waits.lapses.next());
        return lease !== null;
      });
      // A wait of half a minute or more is leased for a minute at a time.
      expect(Date.parse(lease ?? '') - Date.parse(created_at)).toBeLessThan(55_000);
      expect(options.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
      await answerDialog(hive, ask_id, choice);
      expect(said(await printed)).toEqual({ hookSpecificOutput: permissionDecision(told) });
    }
  });

  describe('whose hook ends without an answer', () => {
    const CALL = { ...CODEX, tool_use_id: 'call_1' };

    async function left(): Promise<string> {
      await prefer(hive, { dialog_wait: 1 });
      const { prompts, printed } = await fireDialog(hive, CODEX, { client: 'codex' });
      expect(await printed).toBe('');
      return prompts[0]?.ask_id ?? '';
    }

    test('shows its own prompt, so the permission waits there, and nobody is told that it expired', async () => {
      const ask_id = await left();
      expect(await hive.prompts.get(ask_id)).toMatchObject({
        status: 'pending',
        terminal_since: expect.any(String),
        blocked_since: expect.any(String),
      });
      expect(await noticesOf(hive)).toEqual([]);
    });

    test('until its model types into a running command, which only a permission reports', async () => {
      const ask_id = await left();
      const tool_input = { session_id: 1, chars: 'exit\n' };
      const typing = { ...CODEX, tool_name: 'write_stdin', tool_input };
      await eventually(
        async () => Date.now() > Date.parse((await hive.prompts.get(ask_id)).created_at) + 1_000,
      );
      const { prompts, printed } = await fireDialog(hive, typing, { client: 'codex' });
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
      await printed;
      expect(await hive.prompts.get(prompts[0]?.ask_id ?? '')).toMatchObject({ status: 'pending' });
    });

    test.each(['PostToolUse', 'PreToolUse'])('until %s shows that it was answered there', async (name) => {
      const ask_id = await left();
      const { command } = CODEX['tool_input'] as { command: string };
      const raw = { ...CALL, hook_event_name: name, tool_input: { command }, tool_response: '' };
      await fire(hive, raw, { client: 'codex' });
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
    });
  });

  test('is interrupted while its hook waits: nobody has answered the permission', async () => {
    await prefer(hive, { dialog_wait: 'on' });
    const { prompts } = await fireDialog(hive, CODEX, { client: 'codex' });
    await fire(hive, recordedEvent('codex/Interrupt-tui-esc.json'), { client: 'codex' });
    expect(await hive.prompts.get(prompts[0]?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'interrupted',
      by: 'terminal',
    });
  });

  test('permissions that a command asks for are shown, although only the transcript has them', async () => {
    await prefer(hive, { dialog_wait: 'on' });
    const additional_permissions = { network: { enabled: true } };
    const item = (payload: object): string => JSON.stringify({ payload });
    const call = (name: string, more: object): string =>
      item({ type: 'function_call', call_id: name, name: 'exec_command', arguments: JSON.stringify(more) });
    const other = call('call_1', { cmd: 'curl evil', additional_permissions: { file_system: {} } });
    const own = call('call_2', { cmd: 'echo esc', additional_permissions });
    const lines = [item({ type: 'task_started' }), other];
    const client = { client: 'codex' as const, surroundings: { readTail: () => lines.join('\n') } };
    const asked = async (): Promise<{ context: string | null; decision: unknown }> => {
      const { prompts, answer } = await fireDialog(hive, CODEX, client);
      lines.push(own);
      const { decision } = said(await answer('Allow'))?.hookSpecificOutput ?? {};
      return { context: prompts[0]?.context ?? null, decision };
    };
    // While the transcript is behind, they are not displayed, so nothing is allowed.
    expect(await asked()).toEqual({
      context: expect.not.stringContaining('additional_permissions'),
      decision: expect.objectContaining({ behavior: 'deny' }),
    });
    expect(await asked()).toEqual({
      context: expect.stringMatching(/^additional_permissions: \{\n[\s\S]*"enabled": true/m),
      decision: { behavior: 'allow' },
    });
    const { surroundings } = withRules({ decision: 'allow', tool: 'Bash', input: 'echo*' });
    const ruled = { ...client, surroundings: { ...client.surroundings, ...surroundings } };
    const { answer } = await fireDialog(hive, CODEX, ruled);
    await answer('Deny');
  });

  test('a patch is shown with its files and its text', async () => {
    const raw = recordedEvent('codex/PermissionRequest-apply_patch.json');
    await prefer(hive, { dialog_wait: 'on' });
    const { prompts, answer } = await fireDialog(hive, raw, { client: 'codex' });
    expect(prompts[0]).toMatchObject({ question: 'Apply a patch to /home/user/outside.txt?' });
    expect(prompts[0]?.context).toContain('+hello');
    await answer('Deny');
  });
});
