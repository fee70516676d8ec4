/** Answers every pending prompt in its own order, as fast as it can; prints the outcome of each answer. */
import { openHive } from '../../../src/open-hive.ts';
import { randomOf } from '../../chaos/random.ts';
import { waitForOthers } from '../../support/wait-for-others.ts';

const [name = 'nobody'] = process.argv.slice(2);
/** Each process has its own order, the same in every run. */
const SEED = 20_260_111;
// Many processes on a busy machine wait for each other longer than a person would: speed is not tested here.
const hive = await openHive({ busy_ms: 60_000 });
const random = randomOf(SEED, name);
const pending = await hive.store.read((tx) => tx.prompts.list({ status: 'pending', limit: 1_000 }));
const order = pending.items.map(({ ask_id }) => ask_id).sort(() => random.next() - 0.5);
const outcomes: Record<string, string> = {};
await waitForOthers();
for (const ask_id of order) {
  const actor = { kind: 'human', by: name, via: 'cli', confirmed: true } as const;
  const { outcome } = await hive.prompts.respond({ ask_id, decision: name, actor });
  outcomes[ask_id] = outcome;
}
await hive.close();
process.stdout.write(JSON.stringify(outcomes));
