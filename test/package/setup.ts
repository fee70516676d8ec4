/** Once for the whole suite: the release is made twice, each time from the sources. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** The folders of the two. */
export interface Releases {
  first: string;
  second: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    releases: Releases;
  }
}

const ROOT = join(import.meta.dirname, '../..');

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'hive-release-test-'));
  const make = (name: string, more: NodeJS.ProcessEnv): string => {
    const place = join(folder, name);
    const env = { ...process.env, ...more };
    execFileSync(process.execPath, ['scripts/run.mjs', 'release', place], { cwd: ROOT, env, stdio: 'pipe' });
    return place;
  };
  try {
    // The second machine differs from the first in these.
    const second = { TZ: 'Asia/Tokyo', LANG: 'C' };
    project.provide('releases', { first: make('first', {}), second: make('second', second) });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return () => rmSync(folder, { recursive: true, force: true });
}
