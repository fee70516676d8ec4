/**
 * One of many processes that ask and answer at once: asks a number of questions, answers all pending ones except its own,
 * and reads the answers to its own. Prints at the end what it asked, the answers it got, and which of its answers won.
 */
import { openHive } from '../../../src/open-hive.ts';
import { randomOf } from '../../chaos/random.ts';
import { introduction } from '../../support/introduction.ts';
import { moment } from '../../support/wait.ts';
import { waitForOthers } from '../../support/wait-for-others.ts';

export interface Played {
  /** For each question it asked: the decision it got. */
  told: Record<string, string | null>;
  /** The ids of the questions to which its answer was accepted. */
  won: string[];
}

const [name = 'nobody', asks = '1', all = '1'] = process.argv.slice(2);
/** How many questions are read and waited for at once. */
const PAGE = 50;
const ASKING_AHEAD = 5;
const random = randomOf(20_260_111, name);

// Sixteen writers wait for each other longer than a person would: speed is not tested here.
const hive = await openHive({ busy_ms: 60_000 });
const session = await hive.sessions.introduce(introduction({ session_id: name, machine: 'race' }));
await waitForOthers();

const played: Played = { told: {}, won: [] };
let asked = false;

async function ask(): Promise<void> {
  const waiting: string[] = [];
  for (let n = 0; n < Number(asks); n += 1) {
    const { prompt } = await hive.prompts.ask({ question: `Question ${n} of ${name}?` }, session);
    waiting.push(prompt.ask_id);
    played.told[prompt.ask_id] = null;
    if (n % ASKING_AHEAD === 0) await read(waiting, 0);
  }
  asked = true;
  while (waiting.length > 0) await read(waiting, 1_000);
}

/** Removes the answered questions from `waiting`. */
async function read(waiting: string[], wait_ms: number): Promise<void> {
  const looked = await hive.prompts.wait(waiting.slice(0, PAGE), { wait_ms });
  const settled = looked.filter(({ status }) => status !== 'pending').map(({ ask_id }) => ask_id);
  if (settled.length === 0) return;
  for (const { prompt } of await hive.delivery.hand(settled, `race:${name}`)) {
    played.told[prompt.ask_id] = prompt.decision;
    waiting.splice(waiting.indexOf(prompt.ask_id), 1);
  }
}

async function answer(): Promise<void> {
  for (;;) {
    const { items } = await hive.store.read((tx) => tx.prompts.list({ status: 'pending', limit: PAGE }));
    const others = items.filter(({ session_id }) => session_id !== name);
    const prompt = others.length === 0 ? undefined : random.pick(others);
    if (prompt === undefined) {
      const done = await hive.store.read((tx) => tx.prompts.count({ status: 'responded' }));
      if (asked && done >= Number(all)) return;
      await moment(20);
      continue;
    }
    const actor = { kind: 'human', by: name, via: 'cli', confirmed: true } as const;
    const { outcome } = await hive.prompts.respond({ ask_id: prompt.ask_id, decision: name, actor });
    if (outcome === 'accepted') played.won.push(prompt.ask_id);
  }
}

await Promise.all([ask(), answer()]);
await hive.close();
process.stdout.write(JSON.stringify(played));
