/** Carries out a plan (`plan.ts`) on a run: strikes, heals, and counts what really struck. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sleep } from './failures.ts';
import { type Installation, signal } from './installation.ts';
import type { Fault, Stroke } from './plan.ts';

export interface NemesisOptions {
  installation: Installation;
  /** The folder on which a separate file system is mounted; null where there is none. */
  disk: string | null;
  restartPostgres: (() => Promise<void>) | null;
}

/** Undoes a stroke; null where there is nothing to undo, or nothing was struck. */
type Heal = (() => void) | null;

/** Every file of the run that anybody may have shut. */
const OPEN_FOLDER = 0o700;
const OPEN_FILE = 0o600;
/** Shifts of the clock, in milliseconds: an hour, the two seconds of a correction, and none. */
const SHIFTS = [3_600_000, -3_600_000, 2_000, -2_000, 0] as const;

/** Strikes by plan; resolves when all is healed, with how often each fault struck. */
export async function unleash(
  plan: readonly Stroke[],
  options: NemesisOptions,
): Promise<ReadonlyMap<Fault, number>> {
  const started = performance.now();
  const struck = new Map<Fault, number>();
  const healing: Promise<void>[] = [];
  /** Faults that last and strike the whole run: one of a kind at a time. */
  const lasting = new Set<Fault>();
  for (const stroke of plan) {
    await sleep(stroke.at_ms - (performance.now() - started));
    if (lasting.has(stroke.fault)) continue;
    // A disk is found again only where it can be written, so what lasts is healed first.
    if (stroke.fault === 'power') await Promise.all(healing);
    const { hit, heal } = await strike(stroke, options);
    if (!hit) continue;
    struck.set(stroke.fault, (struck.get(stroke.fault) ?? 0) + 1);
    if (heal === null) continue;
    if (stroke.worker === null) lasting.add(stroke.fault);
    healing.push(
      sleep(stroke.for_ms).then(() => {
        heal();
        if (stroke.worker === null) lasting.delete(stroke.fault);
      }),
    );
  }
  await Promise.all(healing);
  options.installation.setClock(0);
  return struck;
}

async function strike(
  { fault, worker, way }: Stroke,
  { installation, disk, restartPostgres }: NemesisOptions,
): Promise<{ hit: boolean; heal: Heal }> {
  switch (fault) {
    case 'kill':
    case 'pause': {
      const victims = installation.running().filter((running) => running.worker === worker);
      const victim = victims[way % Math.max(1, victims.length)];
      if (victim === undefined) return { hit: false, heal: null };
      if (fault === 'kill') installation.kill(victim.pid);
      else signal(victim.pid, 'SIGSTOP');
      // Also one whose client has died in the meantime: it would stay paused for ever.
      const go = (): void => signal(victim.pid, 'SIGCONT');
      return { hit: true, heal: fault === 'kill' ? null : go };
    }
    case 'disk':
      return disk === null ? { hit: false, heal: null } : { hit: true, heal: fill(disk) };
    case 'permissions':
      return { hit: true, heal: shut(installation.store, way) };
    case 'clock':
      installation.setClock(SHIFTS[way % SHIFTS.length] ?? 0);
      return { hit: true, heal: null };
    case 'bell':
      spoilBell(`${installation.store}-bell`, way);
      return { hit: true, heal: null };
    case 'client': {
      const clients = installation.clients();
      await clients[way % Math.max(1, clients.length)]?.die();
      return { hit: clients.length > 0, heal: null };
    }
    case 'power':
      return { hit: await installation.cutPower(way), heal: null };
    case 'postgres':
      await restartPostgres?.();
      return { hit: restartPostgres !== null, heal: null };
  }
}

/** To the last byte. */
function fill(disk: string): Heal {
  const filler = join(disk, 'filler');
  for (const size of [64 * 1024, 4 * 1024, 1]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  return () => rmSync(filler, { force: true });
}

/** Takes away the folder, the right to make files in it, or the right to write the store. */
function shut(store: string, way: number): Heal {
  const folder = dirname(store);
  if (way % 3 === 0) chmodSync(folder, 0);
  else if (way % 3 === 1) chmodSync(folder, 0o500);
  else chmodSync(store, 0o400);
  return () => {
    chmodSync(folder, OPEN_FOLDER);
    // Helper files were made as the store was.
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      // One that has gone since is open as well.
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) chmodSync(path, OPEN_FILE);
    }
  };
}

/** Deletes it, writes nonsense into it, empties it, puts another file or a folder in its place. */
function spoilBell(bell: string, way: number): void {
  const gone = (): void => rmSync(bell, { recursive: true, force: true });
  const isFile = existsSync(bell) && statSync(bell).isFile();
  const put = (bytes: string): void => {
    try {
      writeFileSync(bell, bytes, { mode: OPEN_FILE });
    } catch (error) {
      // The disk is full at the moment: then it is spoilt as it is.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  };
  if (way % 5 === 0) gone();
  else if (way % 5 === 1 && isFile) put('nonsense\0'.repeat(1_000));
  else if (way % 5 === 2 && isFile) truncateSync(bell, 0);
  else if (way % 5 === 3) {
    gone();
    put('another');
  } else {
    gone();
    try {
      mkdirSync(bell);
    } catch (error) {
      // A process of the run has made it anew in between: then it is as it should be.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
