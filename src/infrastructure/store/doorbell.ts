/**
 * The doorbell of a SQLite store: a file that is written after each commit and watched by whoever waits.
 * It carries no data (invariant 10). Order matters: who waits arms the watch, reads the state, sleeps; who
 * writes commits, then rings. Watching the -wal file instead is always one commit late (measured), and a
 * slow poll of `data_version` is the net where no watch is to be had (128 inotify instances a user).
 */
import {
  closeSync,
  constants,
  type FSWatcher,
  fstatSync,
  openSync,
  statSync,
  watch as watchFile,
  writeSync,
} from 'node:fs';

export interface Doorbell {
  ring(): void;
  watch(listener: () => void): () => void;
  close(): void;
}

/** How often the net looks; a lost wake-up costs at most this. */
const NET_MS = 500;
/** How soon a watch that broke is armed again. */
const REARM_MS = 1_000;

/** `version` changes whenever another connection has committed. */
export function createDoorbell(path: string, version: () => number): Doorbell {
  const listeners = new Set<() => void>();
  let bell: { file: number; ino: number } | null = null;
  let watcher: FSWatcher | null = null;
  let net: NodeJS.Timeout | null = null;
  let rearm: NodeJS.Timeout | null = null;
  let seen = 0;
  /** The file that is watched: another one under its name is another bell. */
  let watched = 0;
  let closed = false;

  /**
   * One listener a turn of the event loop, the last to come first: that is a call that somebody waits for, and
   * it is answered before the housekeepers, who all want to read, begin to (measured: 1.5 ms sooner).
   */
  function wake(): void {
    const round = [...listeners].reverse();
    const next = (): void => {
      const listener = round.shift();
      if (listener !== undefined && listeners.has(listener)) listener();
      if (round.length > 0) setImmediate(next);
    };
    next();
  }

  function arm(): void {
    rearm = null;
    try {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600));
      watched = statSync(path).ino;
      watcher = watchFile(path, (event) => {
        if (event === 'rename') rewatch();
        wake();
      });
      watcher.on('error', restart);
    } catch {
      // No inotify instance left, or the folder is gone: the net carries on alone, and the watch is tried again.
      restart();
    }
  }

  function restart(): void {
    watcher?.close();
    watcher = null;
    if (rearm === null && listeners.size > 0) rearm = setTimeout(arm, REARM_MS);
  }

  function isBell(ino: number): boolean {
    try {
      return statSync(path).ino === ino;
    } catch {
      return false;
    }
  }

  function openBell(): { file: number; ino: number } {
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
    return { file, ino: fstatSync(file).ino };
  }

  function rewatch(): void {
    watcher?.close();
    watcher = null;
    arm();
  }

  function start(): void {
    arm();
    seen = version();
    net = setInterval(() => {
      // While a ringer holds the old file open, its removal is no event for who watches it.
      if (watcher !== null && !isBell(watched)) rewatch();
      const current = version();
      if (current === seen) return;
      seen = current;
      wake();
    }, NET_MS);
  }

  function stop(): void {
    watcher?.close();
    watcher = null;
    if (net !== null) clearInterval(net);
    if (rearm !== null) clearTimeout(rearm);
    net = null;
    rearm = null;
  }

  return {
    ring() {
      if (closed) return;
      // What waits in this process need not take the way through the file system.
      if (listeners.size > 0) setImmediate(wake);
      try {
        // A bell that was deleted, moved or replaced rings for nobody.
        if (bell !== null && !isBell(bell.ino)) {
          closeSync(bell.file);
          bell = null;
        }
        bell ??= openBell();
        writeSync(bell.file, '!', 0);
      } catch {
        // The commit stands; whoever waits finds it by the net. A broken bell must not fail a write.
        bell = null;
      }
    },
    watch(listener) {
      listeners.add(listener);
      if (listeners.size === 1) start();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    close() {
      closed = true;
      listeners.clear();
      stop();
      if (bell !== null) closeSync(bell.file);
      bell = null;
    },
  };
}
