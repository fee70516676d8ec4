/** A desktop that remembers what was put on it, and what may be made older than it is. */
import { DatabaseSync } from 'node:sqlite';
import type { Notifier, PopupEnd } from '../../src/application/ports.ts';
import type { Popup } from '../../src/domain/popups.ts';

export interface FakeCard extends Popup {
  end(end: PopupEnd): void;
  closed: boolean;
}

export interface FakeNotifier extends Notifier {
  readonly cards: FakeCard[];
  /** How long a popup takes to stand. */
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

/** What is on the screen. */
export function standing(...notifiers: readonly FakeNotifier[]): FakeCard[] {
  return notifiers.flatMap(({ cards }) => cards.filter(({ closed }) => !closed));
}

/** Makes every claim of a popup so much older. */
export function ageClaims(store: string, ms: number): void {
  moveClaims(store, (time) => new Date(Date.parse(time) - ms).toISOString());
}

/** Makes every claim of a popup as if it were of this moment, however slow the machine. Returns that moment. */
export function refreshClaims(store: string): number {
  const now = new Date();
  moveClaims(store, () => now.toISOString());
  return now.getTime();
}

/** When the popup of a prompt was claimed, in milliseconds since the epoch; at a single seat. */
export function claimedAt(store: string, ask_id: string): number {
  const database = new DatabaseSync(store, { readOnly: true });
  try {
    const row = database.prepare('SELECT claimed_at FROM popups WHERE ask_id = ?').get(ask_id);
    return Date.parse(String(row?.['claimed_at']));
  } finally {
    database.close();
  }
}

function moveClaims(store: string, move: (time: string) => string): void {
  const database = new DatabaseSync(store, { timeout: 5_000 });
  try {
    database.function('move', (time) => (time === null ? null : move(String(time))));
    database.exec('UPDATE popups SET claimed_at = move(claimed_at), storm = move(storm)');
  } finally {
    database.close();
  }
}
