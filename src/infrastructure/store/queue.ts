/** Runs one piece of work at a time: the next starts when the previous one has ended, with or without an error. */
export interface Queue {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Whether nothing is running or waiting. */
  readonly idle: boolean;
  /** Resolves when everything queued has ended, including work that is queued in the meantime. */
  drained(): Promise<void>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  function ended(): void {
    unfinished -= 1;
  }
  return {
    run(work) {
      unfinished += 1;
      const next = last.then(work, work);
      last = next.then(ended, ended);
      return next;
    },
    get idle() {
      return unfinished === 0;
    },
    async drained() {
      let waited: unknown;
      do {
        waited = last;
        await waited;
      } while (waited !== last);
    },
  };
}
