/** Desks: presence as a lease, focus, and the preferences of the human at a seat. */
import { DESK_HEARTBEAT_MS, type Desk, leaseFrom, userOfSeat } from '../domain/humans.ts';
import {
  type PreferenceChanges,
  type Preferences,
  preferencesFrom,
  type QuietTimes,
  quietTimes,
} from '../domain/preferences.ts';
import { noteHuman } from './humans.ts';
import type { Store } from './ports.ts';
import { releaseAll } from './prompts.ts';
import { type Setter, storePreferences } from './settings.ts';
import type { Ids, Logger } from './world.ts';

export interface DeskService {
  /** Opens a desk and keeps its lease until `close` is called. */
  open(introduction: {
    seat: string;
    pid: number;
    client: string;
    /** The name of the human; default: their login name. */
    human?: string | undefined;
  }): Promise<OpenDesk>;
  online(): Promise<Desk[]>;
  preferences(seat: string): Promise<Preferences>;
  /** The quiet hours of a seat that are on or come next, by the store's clock; null when it has none. */
  quietTimes(seat: string): Promise<QuietTimes | null>;
  /** Merges what Emacs sets into what is stored; null goes back to the default. Returns the result. */
  setPreferences(seat: string, changes: PreferenceChanges, setter?: Setter): Promise<Preferences>;
}

/** A desk that this process keeps open. */
export interface OpenDesk {
  readonly desk_id: string;
  setFocused(focused: boolean): Promise<void>;
  close(): Promise<void>;
}

export function createDesks(store: Store, ids: Ids, log: Logger): DeskService {
  return {
    async open({ seat, pid, client, human = userOfSeat(seat) }) {
      const desk_id = ids.make('desk');
      await store.write(async (tx) => {
        await tx.desks.removeLapsed(tx.now);
        await tx.desks.put({
          desk_id,
          seat,
          pid,
          client,
          human,
          focused: false,
          opened_at: tx.now,
          lease_until: leaseFrom(tx.now),
        });
        await noteHuman(tx, { human, seat });
        await tx.events.append({
          type: 'desk/opened',
          session_id: null,
          subject: desk_id,
          data: { seat, client, human },
        });
      });
      let focused = false;
      const heartbeat = setInterval(() => {
        renew().catch((error: unknown) =>
          log.warn('The lease of this desk could not be renewed.', { error: String(error) }),
        );
      }, DESK_HEARTBEAT_MS);

      async function renew(): Promise<void> {
        await store.write(async (tx) => {
          const desk = await tx.desks.get(desk_id);
          if (desk !== undefined) return tx.desks.renew(desk_id, leaseFrom(tx.now));
          // Another desk removed the lease while this machine slept: take a new one.
          return tx.desks.put({
            desk_id,
            seat,
            pid,
            client,
            human,
            focused,
            opened_at: tx.now,
            lease_until: leaseFrom(tx.now),
          });
        });
      }

      return {
        desk_id,
        async setFocused(now_focused) {
          focused = now_focused;
          await store.write(async (tx) => {
            const desk = await tx.desks.get(desk_id);
            if (desk !== undefined) await tx.desks.put({ ...desk, focused, lease_until: leaseFrom(tx.now) });
          });
        },
        async close() {
          clearInterval(heartbeat);
          await store.write(async (tx) => {
            await tx.desks.remove(desk_id);
            await releaseAll(tx, await tx.claims.ofDesk(desk_id), 'desk_closed');
            await noteHuman(tx, { human, seat });
            await tx.events.append({
              type: 'desk/closed',
              session_id: null,
              subject: desk_id,
              data: { seat },
            });
          });
        },
      };
    },

    online: () => store.read((tx) => tx.desks.online(tx.now)),
    preferences: (seat) => store.read(async (tx) => preferencesFrom(await tx.desks.preferences(seat))),

    quietTimes: (seat) =>
      store.read(async (tx) => {
        const { quiet_hours } = preferencesFrom(await tx.desks.preferences(seat));
        return quiet_hours === null ? null : quietTimes(quiet_hours, tx.now);
      }),

    setPreferences: (seat, changes, setter) =>
      store.write(async (tx) => preferencesFrom(await storePreferences(tx, seat, changes, 'emacs', setter))),
  };
}
