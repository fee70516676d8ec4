/** The checker of `npm run chaos` finds every deliberate bug among real processes, and a short soak is flat. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';

/** Runs a script to its end; what it printed is the message of a failure. */
function script(file: string, ...args: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [join(ROOT, file), ...args], { cwd: ROOT });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}

test('each sabotage is found by the check of its invariant', async () => {
  const { code, said } = await script('test/chaos/main.ts', '--sabotage', 'all', '--seed', '5');
  expect(said).toContain('Every sabotage was found.');
  expect(code).toBe(0);
}, 900_000);

test('thirty seconds of soak: files and watchers stay the same, and memory moves by a few MiB', async () => {
  const { code, said } = await script('test/chaos/soak.ts', '--seconds', '30');
  expect(said).toMatch(/hive sidecar +\d+ .* flat/);
  expect([code, said]).toEqual([0, said]);
}, 300_000);
