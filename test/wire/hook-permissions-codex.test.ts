/** The permission prompts of Codex, which hides its own while a hook waits: how long that may be, and exactly what it gets. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { answerDialog, fireDialog, openDesk, permissionDecision } from '../support/dialogs.ts';
import { openTestHive, prefer } from '../support/hive.ts';
import { fire, recordedEvent, said } from '../support/hooks.ts';

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
      const { created_at, expires_at, options, ask_id } = prompts[0] ?? (await hive.prompts.get('none'));
      expect(Date.parse(expires_at ?? '') - Date.parse(created_at)).toBe(20_000);
      expect(options.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
      await answerDialog(hive, ask_id, choice);
      expect(said(await printed)).toEqual({ hookSpecificOutput: permissionDecision(told) });
    }
  });

  test('a patch is shown with its files and its text', async () => {
    const raw = recordedEvent('codex/PermissionRequest-apply_patch.json');
    await prefer(hive, { dialog_wait: 'on' });
    const { prompts, printed } = await fireDialog(hive, raw, { client: 'codex' });
    expect(prompts[0]).toMatchObject({ question: 'Apply a patch to /home/user/outside.txt?' });
    expect(prompts[0]?.context).toContain('+hello');
    await answerDialog(hive, prompts[0]?.ask_id ?? '', 'Deny');
    await printed;
  });
});
