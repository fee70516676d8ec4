/** Interrupts: how much longer a hook takes when it delivers one, and how soon the requester learns of the end. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { seatKeyFrom } from '../../src/domain/seats.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { introduction } from '../../test/support/introduction.ts';
import { connectHive, environment, HIVE, storeIn, tempFolder, wallTime } from '../children.ts';
import { type Family, interleave } from '../harness.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
const SESSION = '5e551000-0000-4000-8000-000000000003';
/** As recorded from Claude Code. */
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, '../pre-tool-use.json'), 'utf8'),
) as object;
const ASKERS = 200;

export const interrupt: Family = {
  name: 'interrupt',
  rows: ['interrupt → hook denies', 'abort → reply', `abort → ${ASKERS} replies`],
  async measure(effort) {
    const folder = tempFolder();
    const seated = trustSeat(folder);
    const hive = await openHive({ store: storeIn(folder), env: seated });
    hive.seats.useKey(SECRET);
    await introduce(hive);
    const denied = await measureHooks(hive, folder, effort === 'full' ? 60 : 12);
    const boss = await connectHive(folder, { HIVE_AGENT: 'boss', ...seated }, ['--role', 'coordinator']);
    await letCoordinate(hive, boss);
    const replied = (askers: number) => (): Promise<number> => abort(hive, boss, askers);
    const rounds = effort === 'full' ? 60 : 6;
    const samples = await interleave(rounds, { one: replied(1), many: replied(ASKERS) });
    await hive.close();
    return [
      {
        name: 'interrupt → hook denies',
        unit: 'ms',
        samples: denied,
        floor: null,
        target: { of: 'p50', at_most: 5 },
      },
      {
        name: 'abort → reply',
        unit: 'ms',
        samples: samples.one,
        floor: null,
        target: { of: 'p50', at_most: 5 },
      },
      {
        name: `abort → ${ASKERS} replies`,
        unit: 'ms',
        samples: samples.many,
        floor: null,
        target: { of: 'p50', at_most: 250 },
      },
    ];
  },
};

/** The key of this human's desk. */
const SECRET = '5e'.repeat(32);

/** The environment of a human who has registered that key. */
function trustSeat(folder: string): Record<string, string> {
  mkdirSync(join(folder, 'hive'), { mode: 0o700 });
  const seats = [{ name: 'ada@bench', key: seatKeyFrom(SECRET).key }];
  writeFileSync(join(folder, 'hive/trust.json'), JSON.stringify({ seats }), { mode: 0o600 });
  return { XDG_CONFIG_HOME: folder };
}

/** The human lets an agent coordinate once it has asked for that. */
async function letCoordinate(hive: OpenedHive, boss: Awaited<ReturnType<typeof connectHive>>): Promise<void> {
  await boss.call('hivemind_await_ask', { timeout_ms: 0 }).catch(() => undefined);
  const { items } = await hive.prompts.list({ status: 'pending', limit: 10 });
  for (const prompt of items)
    await hive.prompts.respond({
      ask_id: prompt.ask_id,
      decision: 'Allow',
      actor: HUMAN,
      displayed_digest: permissionDigest(prompt),
    });
}

async function introduce(hive: OpenedHive): Promise<void> {
  await hive.sessions.introduce(
    introduction({ session_id: SESSION, project: 'project', project_dir: '/', machine: 'bench' }),
  );
}

/** The extra time of a hook that delivers an interrupt, compared with one in the same round that does not. */
async function measureHooks(hive: OpenedHive, folder: string, rounds: number): Promise<number[]> {
  const env = environment(folder);
  let count = 0;
  const fire = async (interrupted: boolean): Promise<number> => {
    count += 1;
    const prompt_id = `prompt-${count}`;
    const event = { ...recorded, session_id: SESSION, prompt_id, tool_use_id: `toolu_${count}` };
    await hive.turns.start({ session_id: SESSION, client_turn_id: prompt_id });
    if (interrupted) await hive.interrupts.interrupt({ session: SESSION, timeout_ms: 0, actor: HUMAN });
    return wallTime([HIVE, 'hook'], env, JSON.stringify(event));
  };
  const { quiet, stopped } = await interleave(rounds, {
    quiet: () => fire(false),
    stopped: () => fire(true),
  });
  return stopped.map((value, round) => value - (quiet[round] ?? Number.NaN));
}

/** From the commit of the abort here to the last reply of another process. */
async function abort(
  hive: OpenedHive,
  boss: Awaited<ReturnType<typeof connectHive>>,
  askers: number,
): Promise<number> {
  const { turn_id } = await hive.turns.start({ session_id: SESSION });
  const replies = Array.from({ length: askers }, () => boss.call('hivemind_interrupt', { session: SESSION }));
  const pending = (): Promise<unknown[]> => hive.store.read((tx) => tx.turns.pendingInterrupts(turn_id));
  while ((await pending()).length < askers) await new Promise((resolve) => setTimeout(resolve, 5));
  const ended = hive.turns.end(turn_id, { aborted: 'interrupted', by: 'ada' });
  const started = performance.now();
  await ended;
  await Promise.all(replies);
  return performance.now() - started;
}
