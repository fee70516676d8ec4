/**
 * The permission prompts of the recorded clients where no human answers at a desk: nobody is there, or a rule has answered before.
 *
 * @module-tag silence
 * @module-tag no-authority
 * @module-tag hook
 */
import { beforeEach, describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { fireDialog, openDesk, permissionDecision } from '../support/dialogs.ts';
import { openTestHive, prefer } from '../support/hive.ts';
import { fire, recordedEvent, said, withRules, withTrust } from '../support/hooks.ts';

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
const PLAN = recordedEvent('claude-code/PermissionRequest-ExitPlanMode.json');

let hive: OpenedHive;
beforeEach(async () => {
  hive = await openTestHive();
});

describe('if nobody can answer', () => {
  test('without a desk only the terminal is asked', async () => {
    expect(await fire(hive, BASH)).toBe('');
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
  });

  test('dialog_wait off asks nobody', async () => {
    await openDesk(hive);
    await prefer(hive, { dialog_wait: 'off' });
    expect(await fire(hive, BASH)).toBe('');
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
  });

  test('when the last desk closes, a wait that hides the prompt from everybody ends', async () => {
    const desk = await openDesk(hive);
    const { printed } = await fireDialog(hive, BASH, { env: { CLAUDE_CODE_SESSION_ATTENDED: '0' } });
    await desk.close();
    expect(await printed).toBe('');
  });
});

describe("the human's own rules", () => {
  test('answer without a desk, and each use is logged', async () => {
    const allow = { decision: 'allow', tool: 'Bash', input: 'npm test*', name: 'tests' };
    const printed = await fire(hive, BASH, withRules(allow));
    expect(said(printed)?.hookSpecificOutput).toEqual(permissionDecision({ behavior: 'allow' }));
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ status: 'responded', decision: 'Allow', by: 'tests', via: 'rule' });
    const events = await hive.store.read((tx) => tx.events.of(prompt?.ask_id ?? '', 10));
    expect(events.map(({ type, data }) => `${type} ${String(data['via'] ?? '')}`)).toContain(
      'prompt/responded rule',
    );
  });

  test('never answer a question, nor a plan', async () => {
    const rules = withRules({ decision: 'allow', tool: '*' });
    const questions = recordedEvent('claude-code/PermissionRequest-AskUserQuestion.json');
    expect(await fire(hive, questions, rules)).toBe('');
    expect(await fire(hive, PLAN, rules)).toBe('');
  });

  test('a file that is not JSON answers nothing', async () => {
    expect(await fire(hive, BASH, withTrust('{ nonsense'))).toBe('');
  });
});
