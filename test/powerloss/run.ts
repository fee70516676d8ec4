/** Records a scenario, draws states of its disk, and opens each. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomOf } from '../chaos/random.ts';
import { type Call, callsIn, type Disk, differences, openDisk, restore, stateIn } from './disk.ts';
import type { Planted } from './planted.ts';
import type { Scenario } from './scenarios.ts';
import { type Found, problemsOf } from './verify.ts';
import { type Fact, openWorld, type Told } from './world.ts';

export interface Outcome {
  calls: number;
  /** How many different states were opened. */
  states: number;
  problems: readonly { how: string; texts: readonly string[] }[];
}

export interface OpenOptions {
  /** How many states to open, at most: there may be fewer different ones. */
  states: number;
  seed: number;
}

/** A scenario that was recorded. */
export interface Recording {
  scenario: Scenario;
  /** Opens states that its disk may have been in, one after the other. */
  open(options: OpenOptions): Promise<Outcome>;
  /** Removes everything. */
  remove(): void;
}

/** How often in a row a state may be one that was opened already. */
const REPEATS = 60;

/** How many states are drawn at one of the chosen cuts. */
const MANY = 10;

/** @throws Error if something was done to the disk that was not recorded. */
export async function record(scenario: Scenario, fault: Planted | null = null): Promise<Recording> {
  const folder = mkdtempSync(join(memory(), 'hive-powerloss-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const world = openWorld({ folder });
    const { disk: root, store } = world;
    try {
      await scenario.before?.(world);
      const [disk, whole] = [openDisk(root), openDisk(root)];
      world.record();
      await scenario.act(world);
      await world.close();
      const all = callsIn(world.trace());
      for (const call of all) whole.apply(call);
      const calls = all.filter((call) => fault?.omits(call) !== true);
      const unrecorded = differences(whole.live(), stateIn(root));
      if (calls.length === 0 || unrecorded.length > 0)
        throw new Error(`Not everything of ${scenario.name} was recorded: ${unrecorded.join(', ')}`);
      const told = asPrinted(world.told, calls);
      const same_start = fault?.same_start === true;
      const place = { disk: root, store, scenario: scenario.name, same_start };
      return {
        scenario,
        remove,
        open: (options) => openStates({ scenario, disk, calls, told, place }, options),
      };
    } finally {
      await world.close();
    }
  } catch (error) {
    remove();
    throw error;
  }
}

interface Recorded {
  scenario: Scenario;
  disk: Disk;
  calls: readonly Call[];
  told: readonly Told[];
  place: Omit<Found, 'told'>;
}

async function openStates(
  { scenario, disk, calls, told, place }: Recorded,
  { states, seed }: OpenOptions,
): Promise<Outcome> {
  const few = cutsOf(calls, scenario.near?.(calls));
  // Where many states are wanted, also between two writes.
  const many = scenario.near === undefined && states > MANY * few.length;
  const cuts = many ? calls.map((_, index) => index) : few;
  const opened = new Set<string>();
  const problems: { how: string; texts: string[] }[] = [];
  const random = randomOf(seed, scenario.name);
  let next = 0;
  // Some cuts have few states: what is left of the number goes to the later ones.
  for (const [index, cut] of cuts.entries()) {
    for (const call of calls.slice(next, cut + 1)) disk.apply(call);
    next = cut + 1;
    const known = toldBefore(told, calls[cut]?.at ?? 0);
    const share = Math.ceil((states * (index + 1)) / cuts.length) - opened.size;
    const before = opened.size;
    for (let turn = 0, repeats = 0; opened.size - before < share && repeats < REPEATS; turn += 1) {
      const state = disk.draw(random, turn);
      // The facts that were told by now are part of it: the same disk may be right earlier and wrong later.
      const digest = `${state.digest} ${known.length}`;
      if (opened.has(digest)) {
        repeats += 1;
        continue;
      }
      opened.add(digest);
      restore(state, place.disk);
      const texts = await problemsOf({ ...place, told: known });
      if (texts.length > 0) problems.push({ how: `after call ${cut + 1} (${state.how})`, texts });
    }
  }
  return { calls: calls.length, states: opened.size, problems };
}

/** The facts that had been told when the trace had this length. */
function toldBefore(told: readonly Told[], length: number): Fact[] {
  return told.filter(({ at }) => at <= length).map(({ fact }) => fact);
}

/** A fact is told when it is printed, which is earlier than its reader can note it. */
function asPrinted(told: readonly Told[], trace: readonly Call[]): Told[] {
  return told.map(({ at, fact, printed }) => {
    const said =
      printed === undefined
        ? -1
        : trace.findIndex(({ kind, data }) => kind === 'say' && data.includes(printed));
    return { at: said === -1 ? at : Math.min(at, trace[said]?.at ?? at), fact };
  });
}

/** States are opened by the thousand: in memory, where there is such a file system. */
function memory(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

/**
 * After which calls to cut: before each flush and after each output, because the states between two writes are among those
 * after the second; and after each change of a name. `near`: only there.
 */
function cutsOf(calls: readonly Call[], near?: ReadonlySet<number>): number[] {
  const ends = (index: number): boolean => {
    const [kind, next] = [calls[index]?.kind, calls[index + 1]?.kind];
    return next === undefined || next === 'sync' || next === 'say' || (kind !== 'write' && kind !== 'sync');
  };
  return calls.map((_, index) => index).filter((index) => ends(index) && (near?.has(index) ?? true));
}
