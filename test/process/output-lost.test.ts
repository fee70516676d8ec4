/** Output that cannot be printed, on a full disk or into a pipe whose reader has ended, is one sentence at most. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, HIVE, spawnChild } from '../support/children.ts';
import { tempHome } from '../support/temp.ts';

/** One that prints by itself, one that a service answers, one that follows, one of another program. */
const COMMANDS = ['--help', 'ask Why?', 'store log', 'install --help'];

test.each(COMMANDS)('hive %s', async (command) => {
  const HOME = tempHome();
  const run = async (redirected: string): Promise<[number | null, string]> => {
    const line = `'${process.execPath}' '${HIVE}' ${command} ${redirected}`;
    const child = spawnChild('bash', ['-c', line], childEnvironment(join(HOME, 'hive.db'), { HOME }));
    child.process.stdin.end();
    return [(await child.exited).code, child.stderr().replace(/^hive: No desk is online.*\n/m, '')];
  };
  const full = await run('>/dev/full');
  // Where nothing is printed, nothing is lost.
  if (command !== 'store log')
    expect(full).toEqual([1, 'hive: no space left on device, write. What was printed may be incomplete.\n']);
  const [, said] = await run('| true');
  expect(said).toMatch(/^(hive: .*\n)?$/);
});
