/** One that reads the log as it grows: `hive store log --follow`, begun again after what it saw last whenever it dies. */
import { sleep } from '../failures.ts';
import type { Running } from '../installation.ts';
import { deskOf, untilSeen, type Worker, type World } from '../world.ts';

export function follower(world: World, name: string): Worker {
  const { log } = deskOf(world, name);
  let last = 0;
  let running: Running | null = null;
  let over = false;
  log.add({ did: 'followed', after: last });

  async function follow(): Promise<void> {
    const child = await world.installation.start(name, [
      'store',
      'log',
      '--follow',
      '--json',
      '--after',
      String(last),
    ]);
    running = child;
    let rest = '';
    child.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      // A line that was cut off by its writer's death has not been seen.
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const { seq } = JSON.parse(line) as { seq?: number };
        // An error is a line as well.
        if (seq === undefined) continue;
        last = seq;
        log.add({ did: 'saw', seq });
      }
    });
    await child.exited;
    if (!over && child.stderr() !== '')
      log.add({ did: 'failed', what: 'follow', code: 'unknown', message: child.stderr().slice(0, 300) });
  }

  let following: Promise<void> | null = null;
  return {
    name,
    async work() {
      following = (async () => {
        while (!over) {
          await follow();
          if (!over) await sleep(200);
        }
      })();
      // A run that another worker ended by an error starts nothing more; that error is the one to report.
      following.catch(() => undefined);
      while (world.working) await sleep(100);
    },
    settle: async () => undefined,
    finish: async () => undefined,
    async end({ head }) {
      await untilSeen(log, `The event ${head} at ${name}`, () => last >= head);
      over = true;
      running?.child.kill('SIGTERM');
      await following;
      log.close();
    },
  };
}
