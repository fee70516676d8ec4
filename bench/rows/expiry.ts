/** Expiry: how late a question with a time limit expires, seen by the agent that waits for it in its own `hive mcp`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { connectHive, storeIn, tempFolder } from '../children.ts';
import type { Family } from '../harness.ts';

/** The shortest time limit. */
const LIMIT_MS = 1_000;
/** The questions do not all expire at once, so that each is a measurement of its own. */
const APART_MS = 40;

type Agent = Awaited<ReturnType<typeof connectHive>>;

export const expiry: Family = {
  name: 'expiry',
  rows: ['time limit → waiting poll'],
  async measure(effort) {
    const folder = tempFolder();
    const agent = await connectHive(folder);
    const hive = await openHive({ store: storeIn(folder), env: {} });
    const count = effort === 'full' ? 200 : 25;
    // The first one compiles the code that the others run.
    await lateness(agent, hive);
    const late: Promise<number>[] = [];
    const floor: Promise<number>[] = [];
    for (let n = 0; n < count; n += 1) {
      late.push(lateness(agent, hive));
      floor.push(latenessOfTimer());
      await sleep(APART_MS);
    }
    const measured = {
      name: 'time limit → waiting poll',
      unit: 'ms',
      samples: await Promise.all(late),
      floor: await Promise.all(floor),
      target: { of: 'p50', at_most: 50 } as const,
    };
    await hive.close();
    return [measured];
  },
};

/** How many ms after its time limit a poll reports that a question has expired. */
async function lateness(agent: Agent, hive: OpenedHive): Promise<number> {
  const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Go on?', timeout_ms: LIMIT_MS });
  const { status } = await agent.call('hivemind_poll', { ask_id, wait_ms: 20_000 });
  const returned = Date.now();
  if (status !== 'expired') throw new Error(`The poll returned ${String(status)}.`);
  const { expires_at } = await hive.prompts.get(String(ask_id));
  return returned - Date.parse(expires_at ?? '');
}

/** The same of a timer that does nothing. */
async function latenessOfTimer(): Promise<number> {
  const due = Date.now() + LIMIT_MS;
  await sleep(LIMIT_MS);
  return Date.now() - due;
}
