/** The way of an answer: it is committed in one process, and a poll that waits in another returns it. */
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { openBareStore } from '../bare-store.ts';
import { connectHive, environment, ROOT, start, tempFolder } from '../children.ts';
import { type Family, interleave } from '../harness.ts';

/** Long enough for a poll to be asleep. */
const ASLEEP_MS = 30;

export const answer: Family = {
  name: 'answer',
  rows: ['answer → waiting poll', 'the same, from the first step of answering'],
  async measure(effort) {
    const folder = tempFolder();
    const agent = await connectHive(folder);
    const desk = await startDesk(folder);
    const bare = openBareStore(folder);
    const bell = await startBell(folder);

    const whole: number[] = [];
    const samples = await interleave(effort === 'full' ? 150 : 20, {
      async hive() {
        const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Go on?' });
        const polled = agent.call('hivemind_poll', { ask_id, wait_ms: 20_000 });
        await asleep();
        const answered = desk.answer(String(ask_id));
        const { status } = await polled;
        const returned = process.hrtime.bigint();
        if (status !== 'responded') throw new Error(`The poll returned ${String(status)}.`);
        const { began, committed } = await answered;
        whole.push(Number(returned - began) / 1e6);
        return Number(returned - committed) / 1e6;
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
    desk.close();
    return [
      {
        name: 'answer → waiting poll',
        unit: 'ms',
        samples: samples.hive,
        floor: samples.floor,
        target: { of: 'ratio', at_most: 2 },
      },
      {
        name: 'the same, from the first step of answering',
        unit: 'ms',
        samples: whole.slice(-samples.hive.length),
        floor: samples.floor,
        target: null,
      },
    ];
  },
};

interface Desk {
  /** Has the prompt answered; resolves to when that began and was committed, on the clock of `process.hrtime`. */
  answer(ask_id: string): Promise<{ began: bigint; committed: bigint }>;
  close(): void;
}

async function startDesk(folder: string): Promise<Desk> {
  const program = join(import.meta.dirname, '../peers/answerer.ts');
  const loader = join(ROOT, 'test/support/sql-loader.mjs');
  const { lines, say, close } = await startPeer(folder, ['--import', loader, program]);
  return {
    async answer(ask_id) {
      const said = once(lines, 'line');
      say(`${ask_id}\n`);
      const [line] = (await said) as [string];
      const [began = 0n, committed = 0n] = line.split(' ').map(BigInt);
      return { began, committed };
    },
    close,
  };
}

interface Bell {
  /** Writes the file and resolves to when the watcher was woken, in milliseconds after `started`. */
  ring(started: bigint): Promise<number>;
  close(): void;
}

async function startBell(folder: string): Promise<Bell> {
  const path = join(folder, 'bell');
  const file = openSync(path, 'w');
  const peer = await startPeer(folder, [join(import.meta.dirname, '../peers/bell-watcher.mjs'), path]);
  return {
    async ring(started) {
      const said = once(peer.lines, 'line');
      writeSync(file, '!', 0);
      const [woken] = (await said) as [string];
      return Number(BigInt(woken) - started) / 1e6;
    },
    close() {
      closeSync(file);
      peer.close();
    },
  };
}

interface Peer {
  lines: Interface;
  say(text: string): void;
  close(): void;
}

/** Starts a program that prints a first line when it is ready. */
async function startPeer(folder: string, args: readonly string[]): Promise<Peer> {
  const child = start(process.execPath, args, {
    env: environment(folder),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('The peer has no stdout.');
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  return {
    lines,
    say: (text) => child.stdin?.write(text),
    close() {
      lines.close();
      child.stdin?.end();
    },
  };
}

function asleep(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ASLEEP_MS));
}
