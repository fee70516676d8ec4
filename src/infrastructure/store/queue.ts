/** A queue of one: the next piece of work starts when the one before has ended, however it ended. */
export interface Queue {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when everything queued has ended, what was queued meanwhile included. */
  drained(): Promise<void>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(work) {
      const next = last.then(work, work);
      last = next.catch(() => undefined);
      return next;
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
