/**
 * Other systems on the same work in the same run: until the human's side has a question, until the agent has the
 * answer, and what is left when the agent's server is killed in between. Beside our own messages are the figures
 * that the authors of mcp_agent_mail_rust have published; they are not measured here.
 */
import { connectHive, tempFolder } from '../children.ts';
import { type Family, interleave, type Measurement, timed } from '../harness.ts';
import { startBlocking } from '../peers/blocking-peer.ts';
import { startFeedback } from '../peers/feedback-peer.ts';
import { startHive } from '../peers/hive-peer.ts';
import { type Peer, within } from '../peers/peer.ts';
import { tokensWith, toolsOfVibe } from './tokens.ts';

const STARTS = [startHive, startBlocking, startFeedback] as const;
/** By then the agent's wait is asleep, as it is when a human answers. */
const ASLEEP_MS = 20;
/** No human is faster, and no answer that arrives at all takes longer. */
const LOST_MS = 3_000;

export const peers: Family = {
  name: 'peers',
  rows: [
    'ask → shown',
    'answer → agent',
    'answers kept over kill -9',
    'message sent',
    'inbox fetched',
    'requests mixed',
    'tool list, others',
    'an ask and its answer, others',
  ],
  async measure(effort) {
    const all = await Promise.all(STARTS.map((open) => open(tempFolder())));
    const rounds = effort === 'full' ? 100 : 10;
    const shown = new Map<string, number[]>(all.map(({ name }) => [name, []]));
    const contenders = Object.fromEntries(
      all.map((peer) => [peer.name, () => roundTrip(peer, shown.get(peer.name) ?? [])]),
    );
    const answered = await interleave(rounds, contenders);
    const rows: Measurement[] = [];
    for (const { name } of all) rows.push(row(`ask → shown, ${name}`, shown.get(name)?.slice(-rounds) ?? []));
    for (const { name } of all) rows.push(row(`answer → agent, ${name}`, answered[name] ?? []));
    for (const peer of all) rows.push(await kept(peer, effort === 'full' ? 10 : 2));
    for (const peer of all) rows.push(...(await tokensWith(peer)));
    for (const peer of all) await peer.close();
    return [...rows, await toolsOfVibe(), ...(await mail(rounds))];
  },
};

/** The figures of mcp_agent_mail_rust's authors, under our names for the same work. */
const MAIL = 'mcp_agent_mail_rust';
const PUBLISHED = { sent: 27.1, fetched: 11.5, mixed: 49 } as const;

/** Rounds that are not counted. */
const WARM_UP = 5;

/** One agent writes to another, which looks and deals with it, over MCP: each request ends when its sender has the answer. */
async function mail(rounds: number): Promise<Measurement[]> {
  const folder = tempFolder();
  const writer = await connectHive(folder, { HIVE_AGENT: 'writer' });
  const reader = await connectHive(folder, { HIVE_AGENT: 'reader' });
  await reader.call('hivemind_post', { body: 'I am here.' });
  const samples = { sent: [] as number[], fetched: [] as number[], mixed: [] as number[] };
  for (let round = -WARM_UP; round < rounds; round++) {
    const sent = await timed(() => writer.call('hivemind_post', { body: '@reader the schema is done.' }));
    const fetched = await timed(async () => {
      const { mentions } = await reader.call('hivemind_get_unprocessed_mentions');
      if (!Array.isArray(mentions) || mentions.length !== 1) throw new Error('The message did not arrive.');
    });
    const dealt = await timed(() => reader.call('hivemind_process_mentions', { all: true }));
    if (round < 0) continue;
    samples.sent.push(sent);
    samples.fetched.push(fetched);
    samples.mixed.push(3_000 / (sent + fetched + dealt));
  }
  const each = [
    ['message sent', 'ms', samples.sent, PUBLISHED.sent],
    ['inbox fetched', 'ms', samples.fetched, PUBLISHED.fetched],
    ['requests mixed', 'a second', samples.mixed, PUBLISHED.mixed],
  ] as const;
  return each.flatMap(([name, unit, ours, theirs]): Measurement[] => [
    { ...row(`${name}, Hive`, ours), unit },
    { ...row(`${name}, ${MAIL}`, [theirs]), unit, published: true },
  ]);
}

function row(name: string, samples: readonly number[]): Measurement {
  return { name, unit: 'ms', samples, floor: null, target: null };
}

let count = 0;

/** Asks, notes how long it took to be seen, answers; returns how long that took to arrive. */
async function roundTrip(peer: Peer, shown: number[]): Promise<number> {
  count += 1;
  const asked_at = performance.now();
  const asked = await peer.ask(`Go on with step ${count}?`);
  await inTime(peer, 'was not shown', asked.shown);
  shown.push(performance.now() - asked_at);
  await new Promise((resolve) => setTimeout(resolve, ASLEEP_MS));
  const started = performance.now();
  // Not awaited first, because the agent may have it before the human's side gets its acknowledgement.
  const done = asked.answer('yes');
  const answer = await inTime(peer, 'brought no answer', asked.answered);
  if (answer !== 'yes') throw new Error(`${peer.name} brought another answer: ${answer}.`);
  const arrived = performance.now() - started;
  await done;
  return arrived;
}

/** Anything longer is a failure, not a figure. */
const FAULT_MS = 10_000;

async function inTime<T>(peer: Peer, what: string, promise: Promise<T>): Promise<T> {
  const settled = await within(
    promise.then((value) => ({ value })),
    FAULT_MS,
  );
  if (settled === null) throw new Error(`${peer.name} ${what} within ${FAULT_MS / 1000} s.`);
  return settled.value;
}

/** The agent's server is killed while the question waits; then the human answers. How many answers the agent gets. */
async function kept(peer: Peer, rounds: number): Promise<Measurement> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const asked = await peer.ask(`Is this lost, ${round}?`);
    await inTime(peer, 'was not shown', asked.shown);
    await peer.restartServer();
    await within(asked.answer('no'), LOST_MS);
    samples.push((await peer.recover(asked)) === 'no' ? 100 : 0);
  }
  return {
    name: `answers kept over kill -9, ${peer.name}`,
    unit: '%',
    samples,
    floor: null,
    target: peer.name === 'Hive' ? { of: 'p50', at_least: 100 } : null,
  };
}
