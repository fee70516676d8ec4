import { describe, expect, test } from 'vitest';
import {
  decideSource,
  SOURCES,
  type Source,
  type SourceEvidence,
  sourceEvidence,
  sourceLabel,
  sourcePrefix,
} from '../../src/domain/sources.ts';

const HEADLESS = { entrypoint: 'sdk-cli', attended: '0' };

test.each<[string, SourceEvidence, Source]>([
  ['silence', {}, 'main'],
  ['HIVE_SOURCE=bg', { variable: 'bg' }, 'bg'],
  ['HIVE_SOURCE=fork', { variable: 'fork' }, 'fork'],
  ['HIVE_SOURCE=nonsense', { variable: 'nonsense' }, 'main'],
  ['SessionStart of a fork', { forked: true }, 'fork'],
  ['a subagent in the background', { backgrounded: true }, 'bg'],
  ['claude -p', HEADLESS, 'bg'],
  ['the Agent SDK', { entrypoint: 'sdk-ts', attended: '0' }, 'bg'],
  ['an entry point that says nothing of a person', { entrypoint: 'sdk-cli' }, 'bg'],
  ['the terminal program', { entrypoint: 'cli', attended: '1' }, 'main'],
  ['the terminal program in the background', { entrypoint: 'cli', attended: '0' }, 'bg'],
  ['an entry point with a person at it', { entrypoint: 'sdk-ts', attended: '1' }, 'main'],
  ['what it is known as', { current: 'fork' }, 'fork'],
  ['the correction', { corrected: 'main' }, 'main'],
])('each piece of evidence by itself: %s', (_name, evidence, source) => {
  expect(decideSource(evidence)).toBe(source);
});

describe('background wins', () => {
  const speaking: (keyof SourceEvidence & ('current' | 'reported' | 'variable'))[] = [
    'current',
    'reported',
    'variable',
  ];
  for (const [one, other] of speaking.flatMap((a) => speaking.map((b) => [a, b] as const))) {
    if (one === other) continue;
    test(`${one} says bg, ${other} says anything`, () => {
      for (const source of SOURCES) expect(decideSource({ [one]: 'bg', [other]: source })).toBe('bg');
    });
    test(`${one} says fork, ${other} says main`, () => {
      expect(decideSource({ [one]: 'fork', [other]: 'main' })).toBe('fork');
    });
  }

  test('also over a fork that nobody watches', () => {
    expect(decideSource({ ...HEADLESS, forked: true })).toBe('bg');
    // A conversation that /bg of Claude Code goes on with in the background.
    expect(decideSource({ entrypoint: 'cli', attended: '0', forked: true })).toBe('bg');
    expect(decideSource({ forked: true, backgrounded: true })).toBe('bg');
  });

  test('an entry point is only a guess: an explicit main or fork wins', () => {
    expect(decideSource({ ...HEADLESS, variable: 'main' })).toBe('main');
    expect(decideSource({ ...HEADLESS, variable: 'fork' })).toBe('fork');
    expect(decideSource({ ...HEADLESS, variable: 'main', backgrounded: true })).toBe('bg');
  });

  test("only the human's correction wins over everything", () => {
    for (const corrected of SOURCES)
      expect(
        decideSource({
          corrected,
          current: 'bg',
          reported: 'bg',
          variable: 'fork',
          forked: true,
          ...HEADLESS,
        }),
      ).toBe(corrected);
  });
});

test('every variable of an environment is read', () => {
  expect(
    sourceEvidence({
      HIVE_SOURCE: 'bg',
      CLAUDE_CODE_ENTRYPOINT: 'sdk-cli',
      CLAUDE_CODE_SESSION_ATTENDED: '0',
    }),
  ).toEqual({ variable: 'bg', entrypoint: 'sdk-cli', attended: '0' });
});

test('labels: bg and fork, as a footer and before a name; nothing for main', () => {
  expect(SOURCES.map(sourcePrefix)).toEqual(['', '[bg] ', '[fork] ']);
  expect(SOURCES.map(sourceLabel)).toEqual([null, 'bg', 'fork']);
});
