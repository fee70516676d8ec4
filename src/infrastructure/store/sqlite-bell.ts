/**
 * The doorbell of a SQLite store: a file that is written after each commit and watched by all waiters. It carries no data
 * (invariant 10). The order matters: a waiter arms the watch, reads the state and sleeps; a writer commits and then rings. Watching
 * the -wal file instead would always be one commit late (measured). A slow poll of `data_version` covers lost wake-ups, and
 * processes that get no watch (there are 128 inotify instances per user).
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

/** The interval of the slow poll in ms; a lost wake-up costs no more than this. */
const POLL_MS = 500;
/** In ms: how soon a broken watch is armed again. */
const REARM_MS = 1_000;

/** Wakes every process that waits. `version` changes whenever another connection has committed. */
export function createDoorbell(path: string, version: () => number) {
  const listeners = new Set<() => void>();
  let bell: { file: number; ino: number } | null = null;
  let watcher: FSWatcher | null = null;
  let pollTimer: NodeJS.Timeout | null = null;
  let rearm: NodeJS.Timeout | null = null;
  let seen = 0;
  /** The identity of the watched file: another file of the same name is another bell. */
  let watched = 0;
  let closed = false;

  /**
   * Wakes one listener per turn of the event loop, the newest first: that is a call with somebody waiting for it, and it is
   * answered before the background readers start (measured: 1.5 ms sooner).
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
      // There are no more inotify instances, or the folder is gone. The slow poll continues, and the watch is tried again.
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
    pollTimer = setInterval(() => {
      // While a writer holds the old file open, its removal is not reported to a watcher.
      if (watcher !== null && !isBell(watched)) rewatch();
      const current = version();
      if (current === seen) return;
      seen = current;
      wake();
    }, POLL_MS);
  }

  function stop(): void {
    watcher?.close();
    watcher = null;
    if (pollTimer !== null) clearInterval(pollTimer);
    if (rearm !== null) clearTimeout(rearm);
    pollTimer = null;
    rearm = null;
  }

  return {
    ring(): void {
      if (closed) return;
      // Waiters in this process need not wait for the file system.
      if (listeners.size > 0) setImmediate(wake);
      try {
        // Nobody watches a bell that has been deleted, moved or replaced.
        if (bell !== null && !isBell(bell.ino)) {
          closeSync(bell.file);
          bell = null;
        }
        bell ??= openBell();
        writeSync(bell.file, '!', 0);
      } catch {
        // The commit is done, and waiters find it with the slow poll. A broken bell must not fail a write.
        bell = null;
      }
    },
    watch(listener: () => void): () => void {
      listeners.add(listener);
      if (listeners.size === 1) start();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    close(): void {
      closed = true;
      listeners.clear();
      stop();
      if (bell !== null) closeSync(bell.file);
      bell = null;
    },
  };
}
