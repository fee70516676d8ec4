/** For scripts that a test starts: reports that it is ready, and continues when all are. */
import { once } from 'node:events';

export async function waitForOthers(): Promise<void> {
  process.stderr.write('ready');
  await once(process.stdin, 'data');
  process.stdin.destroy();
}
