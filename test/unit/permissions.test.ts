/** Which answers to a permission may allow something. */
import { describe, expect, test } from 'vitest';
import { mayAllow, refusals } from '../../src/domain/permissions.ts';
import type { AskedOption } from '../../src/domain/prompts.ts';
import { newPrompt } from '../support/new-prompt.ts';

const ASKER = {
  session_id: 'session-1',
  agent: 'Agent-1',
  agent_title: null,
  source: 'main',
  project: '/demo',
  project_dir: '/demo',
  turn_id: null,
} as const;

function permission(options: (string | AskedOption)[], dialog: boolean) {
  const asked = newPrompt(
    { question: 'Go?', kind: 'permission', options },
    ASKER,
    'ask-1',
    '2026-01-01T00:00:00.000Z',
  );
  return { ...asked, dialog };
}

describe('the options that refuse', () => {
  const named: AskedOption[] = [{ label: 'Ja' }, { label: 'Nein', refuses: true }];

  test('a dialog says of each option whether it refuses, in any language', () => {
    const dialog = permission(named, true);
    expect(refusals(dialog)).toEqual(['Nein']);
    expect(mayAllow(dialog, { selected: ['Nein'] })).toBe(false);
    expect(mayAllow(dialog, { selected: ['Ja'] })).toBe(true);
    expect(mayAllow(dialog, { selected: ['Ja', 'Nein'] })).toBe(true);
  });

  test('in a permission that an agent asks by itself, plain words refuse', () => {
    const own = permission(['Allow', 'Deny', ' no '], false);
    expect(refusals(own)).toEqual(['Deny', 'no']);
  });

  test('in that case a mark on another label is not enough, because anybody may write a row', () => {
    expect(refusals(permission(named, false))).toEqual([]);
  });

  test('free text only denies in a dialog, and may allow elsewhere', () => {
    expect(mayAllow(permission(named, true), { selected: [] })).toBe(false);
    expect(mayAllow(permission(named, false), { selected: [] })).toBe(true);
  });

  test('a question has no option that refuses', () => {
    const question = newPrompt(
      { question: 'Go?', options: ['yes', 'no'] },
      ASKER,
      'ask-2',
      '2026-01-01T00:00:00.000Z',
    );
    expect(question.options).toEqual([
      { label: 'yes', description: null },
      { label: 'no', description: null },
    ]);
    expect(mayAllow(question, { selected: ['yes'] })).toBe(false);
  });
});
