/**
 * The additions of `hive init` to a client's file are taken out again, whatever it contains, and no other byte changes. The examples
 * are in test/unit/installation.test.ts.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { readJson } from '../../src/infrastructure/installation/json-edits.ts';
import { planUninit } from '../../src/infrastructure/installation/parts.ts';
import { expectRestored, init, OLDER, PARTS, PROGRAM } from '../support/installed-parts.ts';
import { jsonFiles } from '../support/json-arbitraries.ts';
import { fuzz } from './fuzz.ts';

/** Files that have no other server under our name. */
const files = jsonFiles().filter((text) => !('hive' in ((readJson(text)['mcpServers'] ?? {}) as object)));

/** Empty containers that may be removed. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, withoutEmpty(inner)] as const)
    .filter(([, inner]) => inner === null || typeof inner !== 'object' || Object.keys(inner).length > 0);
  return Object.fromEntries(kept);
}

fuzz('installation: what init adds to a file is added once, and uninit takes out just that', 60, () =>
  fc.property(fc.constantFrom(...Object.keys(PARTS)), files, (name, text) => {
    const made = PARTS[name];
    if (made === undefined) throw new Error(`There is no part ${name}.`);
    const part = made(PROGRAM);
    const done = expectRestored(made, text);
    // Where ours was a file of its own at first: what stands in it by now is theirs.
    const ours = init(made(OLDER), null);
    const theirs = init(part, text, ours.receipt);
    const isBare = /^\{\s*\}$/.test(text.trim());
    expect(planUninit(part, theirs.text, theirs.receipt)?.after).toBe(isBare ? null : text);
    // Without a receipt the text of others stays as it is.
    const after = planUninit(part, done.text, null)?.after ?? '';
    expect(withoutEmpty(readJson(after))).toEqual(withoutEmpty(readJson(text)));
  }),
);
