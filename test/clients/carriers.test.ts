/**
 * The words that the real clients write around a text before their model reads it (support/carriers.ts). The fixture has them
 * for each version that was tried; a newer version must write the same, or the test says what has changed.
 * HIVE_UPDATE_GOLDEN=1 adds the version that runs; then read the difference: where a client has begun to disown a carrier,
 * Hive must not deliver an answer through it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { HookClient } from '../../src/domain/hooks.ts';
import { TRIED } from '../../src/domain/installation.ts';
import {
  type Carriers,
  headlessClaude,
  headlessCodex,
  resumedClaude,
  terminalClaude,
} from './support/carriers.ts';

const FILE = join(import.meta.dirname, 'fixtures/carriers.json');
/** By client, version and run. */
type Table = Record<HookClient, Record<string, Record<string, Carriers>>>;
const table = JSON.parse(readFileSync(FILE, 'utf8')) as Table;

/** Words with which a client says that a text is not the user's. */
const DISOWNED = /no message, answer or approval|NOT USER INPUT|must NOT be treated as approval/;

const RUNS: readonly [client: HookClient, run: string, record: () => Promise<Carriers>][] = [
  ['claude-code', 'headless', headlessClaude],
  ['claude-code', 'resumed', resumedClaude],
  ['claude-code', 'in a terminal', terminalClaude],
  ['codex', 'headless', headlessCodex],
];
const PROGRAM: Record<HookClient, string> = {
  'claude-code': inject('clients').claude,
  codex: inject('clients').codex,
};

function versionOf(client: HookClient): string {
  const printed = execFileSync(PROGRAM[client], ['--version'], { encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(printed)?.[0] ?? 'unknown';
}

const CLIENTS = ['claude-code', 'codex'] as const;

test.each(RUNS)('%s, %s, writes around a text what the table says', async (client, run, record) => {
  const version = versionOf(client);
  const recorded = await record();
  if (process.env['HIVE_UPDATE_GOLDEN'] === '1') {
    table[client][version] = { ...table[client][version], [run]: recorded };
    writeFileSync(FILE, `${JSON.stringify(table, null, 2)}\n`);
  }
  // One that was never tried must do what the last one did.
  const expected = table[client][version] ?? Object.values(table[client]).at(-1);
  expect(recorded).toEqual(expected?.[run]);
});

describe.each(CLIENTS)('%s', (client) => {
  test('disowns nothing through which an answer is delivered', () => {
    const carriers = Object.values(table[client]).flatMap((runs) =>
      Object.values(runs).flatMap((each) => Object.entries(each)),
    );
    const disowned = carriers.filter(([, read]) => DISOWNED.test(read)).map(([name]) => name);
    expect([...new Set(disowned)].sort()).toEqual(client === 'codex' ? [] : NEVER_ANSWERS);
  });

  test('is known to the doctor in the versions that were tried', () => {
    expect(Object.keys(table[client])).toEqual(TRIED[client]);
  });
});

/** Carriers that Claude Code disowns: a pointer to the answer may come this way, or nothing. */
const NEVER_ANSWERS = [
  'Stop: reason, as user',
  'SubagentStop: reason, as user',
  'result of a call in the background, as user',
  'waker, as user',
];
