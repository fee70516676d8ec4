/** For scripts that are children of a test: says that it is ready, and goes on when all are. */
import { once } from 'node:events';

export async function waitForOthers(): Promise<void> {
  process.stderr.write('ready');
  await once(process.stdin, 'data');
  process.stdin.destroy();
}
