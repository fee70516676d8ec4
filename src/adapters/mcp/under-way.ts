/**
 * Which calls of a connection are under way. A call proves that the client has read what was returned before
 * it (invariant 6); of a call that has not returned yet it proves nothing, whatever that one has handed over.
 */
export interface CallsUnderWay {
  begin(): CallUnderWay;
}

export interface CallUnderWay {
  /** Everything handed over before this instant had been returned when this call came. */
  readonly proves_until: string;
  end(): void;
}

/** `now` is asked once a call, when it comes. */
export function createCallsUnderWay(now: () => string = () => new Date().toISOString()): CallsUnderWay {
  const arrivals = new Set<{ at: string }>();
  return {
    begin() {
      const arrival = { at: now() };
      arrivals.add(arrival);
      const [oldest = arrival] = arrivals;
      return { proves_until: oldest.at, end: () => arrivals.delete(arrival) };
    },
  };
}
