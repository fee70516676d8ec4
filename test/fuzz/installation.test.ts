/**
 * Whatever a client's file contains, what `hive init` adds to it is taken out again, and no other byte changes. The examples are
 * in test/unit/installation.test.ts.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { SERVER_NAME } from '../../src/domain/installation.ts';
import { claudeServer, hookPart, inOneFile, rulePart } from '../../src/infrastructure/installation/claude.ts';
import { readJson } from '../../src/infrastructure/installation/json-edits.ts';
import {
  type Part,
  planInit,
  planUninit,
  type Receipt,
} from '../../src/infrastructure/installation/parts.ts';
import { jsonFiles } from '../support/json-arbitraries.ts';
import { fuzz } from './fuzz.ts';

const OLDER = ['/old/node', '/old/bin/hive'];
const PROGRAM = ['/opt/node', '/opt/hive/bin/hive'];

const serverOf = (program: string[]): Part => claudeServer('/home/.claude.json', program);
const coordinatorOf = (program: string[]): Part => claudeServer('/home/.claude.json', program, 'coordinator');
const hooksOf = (program: string[]): Part => hookPart('claude-code', '/home/settings.json', { program });
const hooksAndRulesOf = (program: string[]): Part =>
  inOneFile(hooksOf(program), rulePart('/home/settings.json', SERVER_NAME));

/** Files that have no other server under our name. */
const files = jsonFiles().filter((text) => !('hive' in ((readJson(text)['mcpServers'] ?? {}) as object)));

function init(part: Part, text: string, receipt: Receipt | null): { text: string; receipt: Receipt } {
  const change = planInit(part, text, receipt);
  if (change?.receipt == null || change.after === null) throw new Error('Nothing was to be done.');
  return { text: change.after, receipt: change.receipt };
}

/** Empty containers that may be removed. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, withoutEmpty(inner)] as const)
    .filter(([, inner]) => inner === null || typeof inner !== 'object' || Object.keys(inner).length > 0);
  return Object.fromEntries(kept);
}

for (const [name, made] of Object.entries({ serverOf, coordinatorOf, hooksOf, hooksAndRulesOf }))
  fuzz(`installation: what init adds is added once, and uninit takes out just that: ${name}`, 15, () =>
    fc.property(files, (text) => {
      const part = made(PROGRAM);
      const done = init(part, text, null);
      expect(planUninit(part, done.text, done.receipt)?.after).toBe(text);
      // Again, with the receipt and without one.
      expect(planInit(part, done.text, done.receipt)).toBeNull();
      expect(planInit(part, done.text, null)).toBeNull();
      // After an upgrade.
      const old = init(made(OLDER), text, null);
      const now = init(part, old.text, old.receipt);
      expect(now.text).not.toContain('/old/');
      expect(planUninit(part, now.text, now.receipt)?.after).toBe(text);
      // Without a receipt the text of others stays as it is.
      const after = planUninit(part, done.text, null)?.after ?? '';
      expect(withoutEmpty(readJson(after))).toEqual(withoutEmpty(readJson(text)));
    }),
  );
