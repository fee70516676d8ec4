/** Client suite 8: the conformance suite of MCP over `hive serve`, except for the cases in conformance-REVISION.yml. */
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { childEnvironment, ROOT, spawnChild } from '../support/children.ts';
import { type Served, serve } from '../support/serve.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { moment } from '../support/wait.ts';
import { passOn } from './support/passing-proxy.ts';

const tools = inject('tools');

/** Between two requests of the suite: it asks at once what an agent asks in minutes, and Hive bounds that. */
const PACE_MS = 25;

/** The suite cannot send tokens, so a proxy adds the token and changes nothing else. */
function withToken({ url, token }: Served): Promise<string> {
  let next = 0;
  return passOn(url, {
    headers: { authorization: `Bearer ${token}` },
    async pace() {
      next = Math.max(next + PACE_MS, Date.now());
      await moment(Math.max(0, next - Date.now()));
    },
  });
}

/** The result of the suite for each revision: how many of its checks Hive passes. */
const REVISIONS = [
  ['2025-11-25', 'Total: 47 passed, 22 failed'],
  ['2026-07-28', 'Total: 111 passed, 59 failed'],
] as const;

describe('hive serve conforms in all that it offers', () => {
  test.each(REVISIONS)('to MCP %s', async (revision, total) => {
    const store = tempStore();
    const url = await withToken(await serve(store));
    const baseline = join(ROOT, `test/clients/conformance-${revision}.yml`);
    const args = ['server', '--url', url, '--requirements', revision, '--expected-failures', baseline];
    const words = [tools.conformance, ...args, '--output-dir', tempFolder()];
    const suite = spawnChild(process.execPath, words, childEnvironment(store));
    let said = '';
    suite.process.stdout.on('data', (text: Buffer) => {
      said += text.toString();
    });
    const { code } = await suite.exited;
    expect(said + suite.stderr()).toContain(total);
    expect(said).not.toMatch(/unexpected failure/i);
    expect(code).toBe(0);
  });
});
