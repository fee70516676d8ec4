/** The way back: an answer is committed in one process, and a poll that waits in another returns it. */
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openHive } from '../../src/open-hive.ts';
import { openBareStore } from '../bare-store.ts';
import { connectHive, environment, start, storeIn, tempFolder } from '../children.ts';
import { type Family, interleave } from '../harness.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
/** Long enough for a poll to have gone to sleep. */
const ASLEEP_MS = 30;

export const answer: Family = {
  name: 'answer',
  rows: ['answer → waiting poll'],
  async measure(effort) {
    const folder = tempFolder();
    const agent = await connectHive(folder);
    const desk = await openHive({ store: storeIn(folder), env: {} });
    const bare = openBareStore(folder);
    const bell = await startBell(folder);

    const samples = await interleave(effort === 'full' ? 150 : 20, {
      async hive() {
        const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Go on?' });
        const polled = agent.call('hivemind_poll', { ask_id, wait_ms: 20_000 });
        await asleep();
        const started = performance.now();
        await desk.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
        const { status } = await polled;
        if (status !== 'responded') throw new Error(`The poll returned ${String(status)}.`);
        return performance.now() - started;
      },
      async floor() {
        await asleep();
        const started = process.hrtime.bigint();
        bare.commit();
        return bell.ring(started);
      },
    });
    bell.close();
    bare.close();
    await desk.close();
    return [
      {
        name: 'answer → waiting poll',
        unit: 'ms',
        samples: samples.hive,
        floor: samples.floor,
        target: { of: 'ratio', at_most: 3 },
      },
    ];
  },
};

interface Bell {
  /** Writes the file and resolves to when the watcher was woken, in milliseconds after `started`. */
  ring(started: bigint): Promise<number>;
  close(): void;
}

async function startBell(folder: string): Promise<Bell> {
  const path = join(folder, 'bell');
  const file = openSync(path, 'w');
  const watcher = start(process.execPath, [join(import.meta.dirname, '../peers/bell-watcher.mjs'), path], {
    env: environment(folder),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (watcher.stdout === null) throw new Error('The watcher has no stdout.');
  const lines = createInterface({ input: watcher.stdout });
  await once(lines, 'line');
  return {
    async ring(started) {
      const said = once(lines, 'line');
      writeSync(file, '!', 0);
      const [woken] = (await said) as [string];
      return Number(BigInt(woken) - started) / 1e6;
    },
    close() {
      closeSync(file);
      lines.close();
      watcher.stdin?.end();
    },
  };
}

function asleep(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ASLEEP_MS));
}
