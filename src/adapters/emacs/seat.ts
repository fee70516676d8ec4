/** What the methods and notifications of one desk share: where they work, and their shapes. */
import type { OpenDesk } from '../../application/desks.ts';
import type { Following } from '../../application/feed.ts';
import type { Hive } from '../../application/hive.ts';
import type { HiveEvent } from '../../domain/events.ts';

/** What every method gets besides its parameters. */
export interface Seat {
  hive: Hive;
  /** Machine and user. */
  seat: string;
  /** What the human here is called. */
  human: string;
  pid: number;
  /** Null until `initialize`. */
  desk: OpenDesk | null;
  /** `initialize` has begun. */
  opening: boolean;
  /** Where the feed begins: what was there before, Emacs takes as a snapshot. */
  head_seq: number;
  /** What tells Emacs of events; null until `initialized`. */
  following: Following | null;
}

export type Method = (params: unknown, seat: Seat) => Promise<object | null>;
export type Methods = Readonly<Record<string, Method>>;

/** The same method, whose reply comes after every notification that it rests on, a refusal as well. */
export function afterNews(method: Method): Method {
  return async (params, seat) => {
    try {
      return await method(params, seat);
    } finally {
      await seat.following?.caughtUp();
    }
  };
}

/** Sends a notification whose params are the thing itself. Resolves when it is written. */
export type Tell = (method: string, params: object) => Promise<void>;

/** Something to be told, and what is then to be done about it. */
export type TellThen = (method: string, params: object, then?: () => Promise<unknown>) => void;

/** Finds out what is to be told of these events. */
export type Teller = (events: readonly HiveEvent[], seat: Seat, tell: TellThen) => Promise<void>;

/** The subjects of the events of some types, each once, in the order of their first event. */
export function subjectsOf(
  events: readonly HiveEvent[],
  wanted: (type: HiveEvent['type']) => boolean,
): string[] {
  const subjects = events.filter((event) => wanted(event.type)).flatMap((event) => event.subject ?? []);
  return [...new Set(subjects)];
}
