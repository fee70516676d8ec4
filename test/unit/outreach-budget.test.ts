/**
 * The budget, measured: what recorded sessions could send at most is never refused, and a loop that runs away
 * is. The recorded models answer at once, so that no real session is as fast.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUDGET, DEFAULT_OUTREACH_SETTINGS, decideByRules } from '../../src/domain/outreach.ts';
import { type Bucket, fullBucket } from '../../src/domain/rates.ts';
import { ROOT } from '../support/children.ts';

const FIXTURES = join(ROOT, 'test/wire/fixtures');
const START = Date.parse('2026-03-01T12:00:00.000Z');
const settings = DEFAULT_OUTREACH_SETTINGS;

interface Recorded {
  ms: number;
  stdin?: { hook_event_name: string };
}

/** Every recorded run: when what happened, in milliseconds from its start. */
function runs(): { ms: number; event: string }[][] {
  const folder = join(FIXTURES, 'claude-code');
  const claude = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) =>
      readFileSync(join(folder, name), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Recorded)
        .flatMap(({ ms, stdin }) => (stdin === undefined ? [] : [{ ms, event: stdin.hook_event_name }])),
    );
  const codex = JSON.parse(readFileSync(join(FIXTURES, 'codex/run-with-subagent.json'), 'utf8')) as {
    hooks: { hook_event_name: string }[];
  };
  return [...claude, codex.hooks.map(({ hook_event_name }) => ({ ms: 0, event: hook_event_name }))];
}

/** The most that an ordinary session sends: a ping with each step, and a ping and a card at the end of each turn. */
const OUTPUTS: Readonly<Record<string, readonly ('ping' | 'card')[]>> = {
  PreToolUse: ['ping'],
  Stop: ['ping', 'card'],
  SubagentStop: ['ping', 'card'],
};

/** How many of these are sent, and which rule refused the others. */
function play(outputs: readonly { ms: number; kind: 'ping' | 'card' }[]): {
  sent: number;
  refused: string[];
} {
  let bucket: Bucket = fullBucket('*', BUDGET, new Date(START).toISOString());
  const refused: string[] = [];
  for (const { ms, kind } of outputs.toSorted((a, b) => a.ms - b.ms)) {
    const opinion = decideByRules({
      kind,
      source: 'bg',
      critical: false,
      settings,
      bucket,
      absence: null,
      unseen: 0,
      now: new Date(START + ms).toISOString(),
    });
    if (opinion.refusal !== null) refused.push(opinion.refusal.rule);
    else if (opinion.bucket !== null) bucket = opinion.bucket;
  }
  return { sent: outputs.length - refused.length, refused };
}

test('all recorded sessions at once, each sending as much as it can, are never refused', () => {
  const recorded = runs();
  expect(recorded.length).toBeGreaterThan(15);
  const outputs = recorded
    .flat()
    .flatMap(({ ms, event }) => (OUTPUTS[event] ?? []).map((kind) => ({ ms, kind })));
  expect(outputs.length).toBeGreaterThan(100);
  expect(play(outputs)).toEqual({ sent: outputs.length, refused: [] });
});

test('a loop that pings ten times a second is shown a hundred and twenty times, then once a minute', () => {
  const hour = Array.from({ length: 36_000 }, (_, n) => ({ ms: n * 100, kind: 'ping' as const }));
  const { sent, refused } = play(hour);
  expect(sent).toBe(BUDGET.capacity + 59);
  expect(new Set(refused)).toEqual(new Set(['budget']));
});
