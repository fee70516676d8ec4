/** The packages that Hive ships with: each is named in docs/internals/dependencies.md, under a licence that was looked at. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { tempFolder } from '../support/temp.ts';
import { codeIn, readPage, tableUnder } from './support.ts';

interface Manifest {
  name: string;
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  gypfile?: boolean;
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Every package that an installation brings, with where it lies. */
function runtimeTree(): Map<string, Manifest> {
  const found = new Map<string, Manifest>();
  function visit(folder: string, { dependencies = {}, optionalDependencies = {} }: Manifest): void {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placeOf(folder, name);
      // An optional package for another platform.
      if (place === null && name in optionalDependencies) continue;
      if (place === null) throw new Error(`${name} is not installed.`);
      if (found.has(place)) continue;
      const manifest = manifestIn(place);
      found.set(place, manifest);
      visit(place, manifest);
    }
  }
  visit(ROOT, { name: 'hive-sidecar', dependencies: manifestIn(ROOT).dependencies ?? {} });
  return found;
}

/** As Node looks for it: beside, then above. */
function placeOf(folder: string, name: string): string | null {
  for (let at = folder; at.startsWith(ROOT); at = join(at, '..')) {
    const place = join(at, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) return place;
  }
  return null;
}

const TREE = [...runtimeTree().values()];

test('each package that we ask for has its row, and its licence there', () => {
  const rows = tableUnder('docs/internals/dependencies.md', '## At run time');
  const wanted = Object.keys(manifestIn(ROOT).dependencies ?? {}).map((name) => {
    const { license } = manifestIn(join(ROOT, 'node_modules', name));
    return [name, license];
  });
  expect(rows.map(([name = '', licence]) => [codeIn(name)[0], licence]).sort()).toEqual(wanted.sort());
});

test('the licence of every runtime package is one of those that were looked at', () => {
  const allowed = tableUnder('docs/internals/dependencies.md', '### Licences').map(
    ([licence = '']) => codeIn(licence)[0],
  );
  const strangers = TREE.filter(({ license }) => !allowed.includes(license)).map(
    ({ name, license }) => `${name}: ${license}`,
  );
  expect(strangers).toEqual([]);
  // And the page names none that is no longer used.
  expect(allowed.filter((licence) => !TREE.some(({ license }) => license === licence))).toEqual([]);
});

test('no runtime package runs anything when it is installed, or is compiled then', () => {
  const running = TREE.filter(
    ({ scripts = {}, gypfile }) =>
      gypfile === true || ['preinstall', 'install', 'postinstall'].some((name) => name in scripts),
  );
  expect(running.map(({ name }) => name)).toEqual([]);
});

test('the page says how many there are', () => {
  const [, count] = /Altogether (\d+) packages/.exec(readPage('docs/internals/dependencies.md')) ?? [];
  expect(Number(count)).toBe(TREE.length);
});

describe('npm run audit', () => {
  /** Runs it with an npm that says so. */
  function audit(said: string): { code: number | null; out: string } {
    const bin = tempFolder();
    writeFileSync(join(bin, 'said'), said);
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\ncat ${join(bin, 'said')}\nexit 1\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    const script = join(ROOT, 'scripts/audit.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
    return { code: status, out: stdout + stderr };
  }
  const found = (severity: string): string =>
    JSON.stringify({
      vulnerabilities: { hono: { name: 'hono', severity, range: '<5' } },
      metadata: { vulnerabilities: { total: 1, [severity]: 1 } },
    });

  test('fails on what is high or critical, and names it', () => {
    expect(audit(found('high'))).toMatchObject({ code: 1, out: expect.stringContaining('high: hono <5') });
    expect(audit(found('critical'))).toMatchObject({ code: 1 });
    expect(audit(found('moderate'))).toMatchObject({ code: 0, out: expect.stringContaining('1 milder') });
  });

  test('says so when the registry takes no audits', () => {
    const refused = '{"message": "405 Method Not Allowed - POST …", "method": "POST"}';
    expect(audit(refused)).toMatchObject({ code: 0, out: expect.stringMatching(/^NOT AUDITED: .*405/) });
  });

  test('does not take what it cannot read for an answer', () => {
    expect(audit('Segmentation fault')).toMatchObject({ code: 1 });
  });
});
