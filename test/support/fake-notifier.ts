/** A fake desktop that records what is shown on it, and leases that can be made older. */
import { DatabaseSync } from 'node:sqlite';
import type { Notifier, PopupEnd } from '../../src/application/world.ts';
import type { Popup } from '../../src/domain/popups.ts';

export interface FakeCard extends Popup {
  end(end: PopupEnd): void;
  closed: boolean;
}

export interface FakeNotifier extends Notifier {
  readonly cards: FakeCard[];
  /** How long a popup takes to appear. */
  delay: Promise<void>;
  readonly isClosed: boolean;
}

export function fakeNotifier(): FakeNotifier {
  const cards: FakeCard[] = [];
  let isClosed = false;
  return {
    cards,
    delay: Promise.resolve(),
    get isClosed() {
      return isClosed;
    },
    reachable: async () => true,
    async show(popup) {
      const { promise: outcome, resolve: end } = Promise.withResolvers<PopupEnd>();
      const card = { ...popup, end, closed: false };
      cards.push(card);
      await this.delay;
      return {
        outcome,
        close() {
          card.closed = true;
          end({ kind: 'closed' });
        },
      };
    },
    async close() {
      isClosed = true;
      for (const { end } of cards) end({ kind: 'closed' });
    },
  };
}

/** The cards on the screen. */
export function standing(...notifiers: readonly FakeNotifier[]): FakeCard[] {
  return notifiers.flatMap(({ cards }) => cards.filter(({ closed }) => !closed));
}

/** Makes the lease of every popup older by this much. */
export function ageLeases(store: string, ms: number): void {
  moveLeases(store, (time) => new Date(Date.parse(time) - ms).toISOString());
}

/** Renews the lease of every popup, so that a slow machine makes no difference. Returns the time. */
export function refreshLeases(store: string): number {
  const now = new Date();
  moveLeases(store, () => now.toISOString());
  return now.getTime();
}

/** When the lease of a popup was taken, in milliseconds since the epoch; at a single seat. */
export function leasedAt(store: string, subject: string): number {
  const database = new DatabaseSync(store, { readOnly: true });
  try {
    const row = database.prepare('SELECT leased_at FROM popups WHERE subject = ?').get(subject);
    return Date.parse(String(row?.['leased_at']));
  } finally {
    database.close();
  }
}

function moveLeases(store: string, move: (time: string) => string): void {
  const database = new DatabaseSync(store, { timeout: 5_000 });
  try {
    database.function('move', (time) => (time === null ? null : move(String(time))));
    database.exec('UPDATE popups SET leased_at = move(leased_at), storm = move(storm)');
  } finally {
    database.close();
  }
}
