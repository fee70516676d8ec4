/** Compiled code in the cache that belongs to somebody else: whoever starts Hive with rights does not run it. */
import { chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { tempFolder, tempStore } from '../support/temp.ts';

const SOMEBODY = 12_345;

test.skipIf(process.getuid?.() !== 0)('is made anew, and is then our own', async () => {
  const home = tempFolder();
  const env = childEnvironment(tempStore(), { HOME: home, XDG_CACHE_HOME: '' });
  const status = async () => spawnHive(['status'], env).exited;
  expect(await status()).toMatchObject({ code: 0 });
  const folder = join(home, '.cache/hive');
  const [name = ''] = readdirSync(folder);
  chownSync(join(folder, name), SOMEBODY, SOMEBODY);
  expect(await status()).toMatchObject({ code: 0 });
  expect(statSync(join(folder, name)).uid).toBe(0);
});
