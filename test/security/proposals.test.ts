/**
 * Rules that the history suggests, measured: they are made from the first half of a corpus and tried on the second half,
 * which they have not seen. The corpus and how it is made: proposal-corpus.ts.
 */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decidingRule, type PermissionRule, rulesForTool } from '../../src/domain/permission-rules.ts';
import type { Place } from '../../src/domain/places.ts';
import { type PastCall, pastCall, proposeRules, readDraft } from '../../src/domain/rules.ts';
import { placeAt } from '../../src/infrastructure/platform/place.ts';
import { callOf } from '../support/hooks.ts';
import { beforeFile } from '../support/lifetime.ts';
import { pastPermission } from '../support/past-permissions.ts';
import { tempFolder } from '../support/temp.ts';
import { permissionCorpus } from './proposal-corpus.ts';
import { hostileCalls } from './rule-corpus.ts';

const NOW = '2026-11-23T12:00:00.000Z';
const SEED = 19;
const COUNT = 6_000;

let projects: string[];
let rules: PermissionRule[];
let unseen: PastCall[];

const places = new Map<string, Place>();
function placeOf({ cwd }: PastCall): Place {
  const place = places.get(cwd) ?? placeAt(cwd);
  places.set(cwd, place);
  return place;
}

/** Three repositories, each with the links that the hostile calls try. */
function lay(): string[] {
  const folder = realpathSync.native(tempFolder());
  return ['shop', 'site', 'tools'].map((name) => {
    const project = join(folder, name);
    for (const inner of ['.git', 'src/deep', 'out']) mkdirSync(join(project, inner), { recursive: true });
    for (const file of ['.env', 'src/.env', 'src/a.ts']) writeFileSync(join(project, file), '');
    symlinkSync('/etc', join(project, 'out-link'));
    symlinkSync('/etc', join(project, 'src/out-link'));
    symlinkSync('.env', join(project, 'src/env-link.ts'));
    for (const link of ['dangling', 'src/dangling', 'src/dangling.ts'])
      symlinkSync('/nowhere/at/all', join(project, link));
    return project;
  });
}

beforeFile(async () => {
  projects = lay();
  const corpus = permissionCorpus(SEED, COUNT, { projects, until: NOW });
  const calls = corpus.flatMap((permission) => pastCall(permission) ?? []);
  const seen = calls.slice(0, calls.length / 2);
  unseen = calls.slice(seen.length);
  const proposals = proposeRules({ calls: seen, rules: [], placeOf, now: NOW, made: new Set() });
  rules = proposals.flatMap(({ draft }) => readDraft(draft).rules);
});

const isAllowed = (call: PastCall): boolean =>
  decidingRule(rulesForTool(rules, call.tool, placeOf(call)), call, NOW) !== null;

describe('with every proposal accepted', () => {
  test('at least 60 % fewer questions are asked', () => {
    const asked = unseen.filter((call) => !isAllowed(call));
    expect(asked.length / (COUNT / 2)).toBeLessThanOrEqual(0.4);
  });

  test('nothing is allowed that the human denied', () => {
    const denied = unseen.filter(({ outcome }) => outcome === 'denied');
    expect(denied.length).toBeGreaterThan(100);
    expect(denied.filter(isAllowed).map(({ tool }) => tool.input)).toEqual([]);
  });

  test('none of 500 hostile calls is allowed in any of the projects', () => {
    // Other ones than those that the human has denied.
    const hostile = hostileCalls(SEED + 1, 500);
    expect(hostile.length).toBeGreaterThanOrEqual(500);
    for (const cwd of projects)
      for (const { tool, input, how } of hostile) {
        const given = JSON.parse(JSON.stringify(input).replaceAll('@HERE@', cwd)) as Record<string, unknown>;
        expect([how, given, isAllowed({ ...session(cwd), tool: callOf(tool, given) })]).toEqual([
          how,
          given,
          false,
        ]);
      }
  });
});

function session(cwd: string): PastCall {
  const call = pastCall(pastPermission({ tool: 'Bash', input: { command: 'true' }, cwd }));
  if (call === null) throw new Error('This call cannot be read.');
  return call;
}
