/** A queue of one: the next piece of work starts when the one before has ended, however it ended. */
export interface Queue {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Whether nothing runs or waits. */
  readonly idle: boolean;
  /** Resolves when everything queued has ended, what was queued meanwhile included. */
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
