/** The end of a turn in a transcript of Claude Code: recorded ones, and text that only looks like one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  rolloutEnd,
  threadOfRollout,
  transcriptShowsInterrupt,
  transcriptShowsReplaced,
} from '../../src/domain/transcripts.ts';
import { ROOT } from '../support/children.ts';

const recorded = (name: string): string =>
  readFileSync(join(ROOT, 'test/wire/fixtures/claude-code/transcripts', `${name}.jsonl`), 'utf8');
const prompt = (n: number) => ({
  client_turn_id: `9a0e9700-0000-4000-8000-00000000000${n}`,
  continues: null,
  started_at: '2026-01-01T00:00:00.000Z',
});

describe('recorded transcripts', () => {
  test.each([
    ['esc-tool-stream-early-mcp', [1, 3, 7]],
    ['esc-early', []],
    ['esc-stop-hook', [1]],
    ['esc-pretooluse-hook', [1]],
    ['permission-hook-interrupt', [1]],
    ['permission-terminal-no', [1]],
    ['sdk-interrupt', [1]],
    ['sigint-headless', [1]],
    ['steering', []],
    ['hook-stop-pretooluse', []],
    ['hook-stop-posttooluse', []],
    ['hook-stop-posttoolbatch', []],
    ['send-now-thinking', []],
    ['send-now-streaming', []],
    ['sdk-now-thinking', []],
    ['sdk-now-streaming', []],
  ])('%s: the turns %j', (name, interrupted) => {
    const found = [1, 2, 3, 4, 5, 6, 7, 8].filter((n) => transcriptShowsInterrupt(recorded(name), prompt(n)));
    expect(found).toEqual(interrupted);
  });

  test('the end of a transcript works even if it begins in the middle of a line', () => {
    const text = recorded('esc-pretooluse-hook');
    expect(transcriptShowsInterrupt(text.slice(700), prompt(1))).toBe(true);
  });
});

/** The record as it was when the prompt with this number came: its own entry follows. */
function recordedUntil(name: string, number: number): string {
  const lines = recorded(name).split('\n');
  const at = lines.findIndex((line) => line.includes(`"promptId":"${prompt(number).client_turn_id}"`));
  return lines.slice(0, at).join('\n');
}

const next = (number: number, prompted: boolean) => ({
  client_turn_id: prompt(number).client_turn_id,
  prompted,
});

describe('a turn that another one replaced', () => {
  test.each([
    ['send-now-thinking', 'sent now while the model thinks'],
    ['send-now-streaming', 'sent now while it answers'],
    ['sdk-now-thinking', 'with priority now while the model thinks'],
    ['sdk-now-streaming', 'with priority now while it answers'],
  ])('%s: %s', (name) => {
    expect(transcriptShowsReplaced(recorded(name), prompt(1), next(2, false))).toBe(true);
    expect(transcriptShowsReplaced(recordedUntil(name, 2), prompt(1), next(2, true))).toBe(true);
  });

  test('Esc before the first token takes the prompt back, and the next one replaces it', () => {
    const tail = recordedUntil('esc-tool-stream-early-mcp', 6);
    expect(transcriptShowsReplaced(tail, prompt(5), next(6, true))).toBe(true);
  });

  test.each([
    ['the turn ended by itself and its Stop hook was lost', 'send-now-thinking', 2, 3],
    ['it was answered after it was steered', 'steering', 1, 2],
    ['a hook of somebody else stopped it', 'hook-stop-pretooluse', 1, 2],
    ['a hook of somebody else stopped it after a tool', 'hook-stop-posttooluse', 1, 2],
  ])('not when %s', (_name, transcript, turn, following) => {
    const tail = recordedUntil(transcript, following);
    expect(tail).toContain(`"promptId":"${prompt(turn).client_turn_id}"`);
    expect(transcriptShowsReplaced(tail, prompt(turn), next(following, true))).toBe(false);
  });

  test('not by a wake-up, nor by a turn whose prompt is not in the transcript', () => {
    const tail = recordedUntil('send-now-thinking', 2);
    expect(transcriptShowsReplaced(tail, prompt(1), next(2, false))).toBe(false);
    const woken = JSON.stringify({
      type: 'user',
      promptId: prompt(2).client_turn_id,
      origin: { kind: 'task-notification' },
      message: { role: 'user', content: '<task-notification>' },
    });
    expect(transcriptShowsReplaced(`${tail}\n${woken}`, prompt(1), next(2, false))).toBe(false);
    expect(transcriptShowsReplaced(recorded('send-now-thinking'), prompt(1), next(7, false))).toBe(false);
  });

  test('not if the transcript does not go back that far', () => {
    expect(transcriptShowsReplaced('', prompt(1), next(2, true))).toBe(false);
    expect(transcriptShowsReplaced(recorded('send-now-thinking'), prompt(7), next(8, true))).toBe(false);
  });
});

describe('Codex’ rollout', () => {
  const text = readFileSync(join(ROOT, 'test/wire/fixtures/codex/rollout-replaced.jsonl'), 'utf8');
  const turn = (n: number) => ({ client_turn_id: `00000000-0000-7000-8000-00000000000${n}` });

  test('says why a turn was aborted, for that turn alone', () => {
    expect(rolloutEnd(text, turn(2))).toBe('replaced');
    expect(rolloutEnd(text.replace('"reason":"replaced"', '"reason":"interrupted"'), turn(2))).toBe(
      'interrupted',
    );
    expect(rolloutEnd(text, turn(3))).toBeNull();
  });

  test('says that a turn was completed, for that turn alone', () => {
    const completed = text.replace('"type":"turn_aborted"', '"type":"task_complete"');
    expect(rolloutEnd(completed, turn(2))).toBe('completed');
    expect(rolloutEnd(completed, turn(3))).toBeNull();
  });

  test('is named for its thread', () => {
    const thread = '00000000-0000-7000-8000-000000000001';
    expect(threadOfRollout(`/a/rollout-2026-01-01T00-00-00-${thread}.jsonl`)).toBe(thread);
    for (const other of [null, `/a/${thread}.jsonl`, `/a/rollout-${thread}/b.jsonl`, '/a/rollout-1.jsonl'])
      expect(threadOfRollout(other)).toBeNull();
  });

  test('a reason from the future is not known', () => {
    expect(rolloutEnd(text.replace('"reason":"replaced"', '"reason":"budget_limited"'), turn(2))).toBeNull();
  });
});

describe('text that only looks like an interrupt', () => {
  const entry = (changes: object): string =>
    JSON.stringify({
      type: 'user',
      promptId: prompt(1).client_turn_id,
      message: { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user]' }] },
      timestamp: '2026-01-01T00:00:01.000Z',
      ...changes,
    });

  test('the client’s own entry counts', () =>
    expect(transcriptShowsInterrupt(entry({}), prompt(1))).toBe(true));

  test.each([
    [
      'a person types the very words',
      { message: { content: '[Request interrupted by user]' }, origin: { kind: 'human' } },
    ],
    ['with a picture beside them', { origin: { kind: 'human' } }],
    ['a model quotes them', { type: 'assistant' }],
    [
      'a tool returns them',
      { message: { content: [{ type: 'tool_result', content: '[Request interrupted by user]' }] } },
    ],
    [
      'another text holds them',
      { message: { content: [{ type: 'text', text: 'see [Request interrupted by user] there' }] } },
    ],
  ])('%s', (_name, changes) => expect(transcriptShowsInterrupt(entry(changes), prompt(1))).toBe(false));

  test('without ids the time decides', () => {
    const turn = { ...prompt(1), client_turn_id: null };
    expect(transcriptShowsInterrupt(entry({}), turn)).toBe(true);
    expect(transcriptShowsInterrupt(entry({}), { ...turn, started_at: '2026-01-01T00:00:02.000Z' })).toBe(
      false,
    );
  });

  test('a turn that goes on under an id that was interrupted before is not interrupted by that', () => {
    const turn = { ...prompt(1), continues: 'turn-0', started_at: '2026-01-01T00:00:02.000Z' };
    expect(transcriptShowsInterrupt(entry({}), turn)).toBe(false);
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (lines) => {
        const tail = [...lines, '{"a":"[Request interrupted by user"', 'null', '"turn_aborted"'].join('\n');
        transcriptShowsInterrupt(tail, prompt(1));
        transcriptShowsReplaced(`${tail}\n{"type":"user"`, prompt(1), next(2, true));
        rolloutEnd(tail, prompt(1));
      }),
    );
  });
});
