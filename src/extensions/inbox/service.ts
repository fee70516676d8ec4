/**
 * Devices: pairs a phone or a browser with this hive, confirms it, revokes it. A device signs in through `hive serve
 * --inbox` (http.ts). The seats in the human's file decide what a device may allow (seats.ts).
 */
import { watchAdmitted } from '../../application/feed.ts';
import { oncePerHive } from '../../application/hive.ts';
import { giveNotice } from '../../application/notices.ts';
import type { Store, WriteTx } from '../../application/ports.ts';
import type { Ids, Logger, Secrets } from '../../application/world.ts';
import type { Device, PushTarget } from '../../domain/devices.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { randomSecrets } from '../../infrastructure/platform/ids.ts';
import { type ConfirmedKeys, confirmedKeys } from './confirmed-file.ts';
import { cleanCode, codeFrom, createDevice, createPairing, isAdmitted, isUsable } from './device.ts';
import { type InboxPlace, inboxPlace } from './inbox-file.ts';

export interface DeviceParts {
  ids: Ids;
  secrets: Secrets;
  inbox: InboxPlace;
  confirmed_keys: ConfirmedKeys;
  log: Logger;
  clock?: () => number;
}

/** After this many wrong codes in one process, every open invitation ends. */
const MOST_WRONG_CODES = 20;
/** In ms. Too many wrong codes within this time make further ones wait. */
const WRONG_CODES_MS = 60_000;
const MOST_WRONG_AT_ONCE = 5;

export type DeviceService = ReturnType<typeof createDevices>;

/** The devices of a hive. */
export const devicesOf = oncePerHive(({ parts, log }) =>
  createDevices(parts.store, {
    ids: parts.ids,
    secrets: randomSecrets,
    inbox: inboxPlace(parts.env),
    confirmed_keys: confirmedKeys(parts.env),
    log,
  }),
);

export function createDevices(
  store: Store,
  { ids, secrets, inbox, confirmed_keys, log, clock = () => performance.now() }: DeviceParts,
) {
  /** The times of the last wrong codes, in ms of `clock`. */
  let wrong: number[] = [];
  /** How many wrong codes there were since the open codes last ended. */
  let tried = 0;

  async function change(
    device: string,
    what: DeviceChange,
    transition: (device: Device, now: string) => Device,
  ): Promise<Device> {
    return store.write(async (tx) => {
      const found = await findIn(await tx.devices.list(), device);
      const changed = transition(found, tx.now);
      if (changed !== found) await record(tx, changed, what);
      return changed;
    });
  }

  /** Handles a wrong code. Many of them mean that somebody is guessing: then all open codes are invalidated. */
  async function refuseCode(): Promise<never> {
    wrong = [...wrong, clock()].slice(-MOST_WRONG_AT_ONCE);
    tried += 1;
    if (tried >= MOST_WRONG_CODES) {
      tried = 0;
      await store.write(async (tx) => {
        if ((await tx.devices.removeUnusedPairings()) === 0) return;
        const text =
          'Somebody tried many wrong pairing codes on the inbox, so the codes that were open no longer count. If it was not you, see who can reach hive serve.';
        await giveNotice(tx, { severity: 'warning', text, data: { notice: 'pairing' } });
      });
    }
    throw new HiveError(
      'pairing_refused',
      'This pairing code is not valid (any more): a code can be used once, within 10 minutes. Make a new one with `hive phone add` or M-x hive-phone.',
    );
  }

  return {
    /**
     * Makes a pairing code for a device of this human, at this seat; null if another human asks for it. It is shown now and never
     * again: 8 characters (device.ts has how they are shown).
     */
    async invite(human: string, seat: string | null = null) {
      // Not from an id, because the ids of one process grow.
      const code = codeFrom(secrets.digest(secrets.make()));
      const pairing = await store.write(async (tx) => {
        await tx.devices.removeExpiredPairings(tx.now);
        const made = createPairing({ code_digest: secrets.digest(code), human, seat }, tx.now);
        await tx.devices.putPairing(made);
        return made;
      });
      return { code, expires_at: pairing.expires_at };
    },

    /**
     * Uses a code. The device can do nothing before `confirm`.
     * @throws HiveError `pairing_refused` for an unknown, used or expired code, `too_many` after too many of these, `invalid_input`.
     */
    async pair({ code: typed, name, key }: { code: string; name: string; key: string }): Promise<Device> {
      const since = clock() - WRONG_CODES_MS;
      if (wrong.filter((at) => at > since).length >= MOST_WRONG_AT_ONCE)
        throw new HiveError('too_many', 'Too many wrong pairing codes: wait a minute, then try again.');
      const code = cleanCode(typed);
      if (code === null) return refuseCode();
      const device = await store.write(async (tx) => {
        const pairing = await tx.devices.pairing(secrets.digest(code));
        if (pairing === undefined || !isUsable(pairing, tx.now)) return null;
        if ((await tx.devices.byKey(key)) !== undefined)
          throw invalidInput('This key was paired before: a device makes a new key each time.');
        const device_id = ids.make('device');
        const made = createDevice({ ...pairing, device_id, name, key }, tx.now);
        await tx.devices.putPairing({ ...pairing, device_id });
        await record(tx, made, 'paired');
        return made;
      });
      return device ?? refuseCode();
    },

    /** The device that has used this code; undefined until one has. */
    paired: (code: string): Promise<Device | undefined> =>
      store.read(async (tx) => {
        const pairing = await tx.devices.pairing(secrets.digest(cleanCode(code) ?? code));
        return pairing?.device_id == null ? undefined : tx.devices.get(pairing.device_id);
      }),

    /**
     * Admits the device: its human has compared the phrases, one of which was made from this key. @throws HiveError
     * `device_not_found`, `not_allowed` if it was revoked, or if the store has another key by now.
     */
    async confirm({ device_id, key }: Pick<Device, 'device_id' | 'key'>, by: string): Promise<Device> {
      const confirmed = await change(device_id, { change: 'confirmed', by }, (device, now) => {
        if (device.key !== key) throw anotherKey(device);
        if (device.revoked_at !== null)
          throw new HiveError('not_allowed', `${device.name} was revoked: pair it again.`, { device_id });
        return device.confirmed_at === null ? { ...device, confirmed_at: now } : device;
      });
      try {
        confirmed_keys.write(store.store_id, device_id, confirmed);
      } catch (error) {
        // `requireConfirmed` refuses the device if there is no record.
        log.warn(
          `The key of ${confirmed.name} could not be recorded on this machine. The phone can still answer questions. To let it allow permissions, revoke it, and pair it again.`,
          { error: (error as Error).message },
        );
      }
      return confirmed;
    },

    /** @throws HiveError `not_allowed` unless this is the device, with the key, that its human has confirmed on this machine. */
    requireConfirmed(device: Pick<Device, 'device_id' | 'key' | 'name'>): void {
      const { device_id, name } = device;
      const known = confirmed_keys.read(store.store_id, device_id);
      if (known === null)
        throw new HiveError(
          'not_allowed',
          `Hive has no record on this machine that you confirmed ${name}, so it cannot tell whether the store has its own key. Revoke it, and pair it again here.`,
          { device_id },
        );
      if (known.key !== device.key || known.name !== name) throw anotherKey(device);
    },

    /** Ends its access at once; it would have to be paired again. Takes an id or a name. @throws HiveError `device_not_found`. */
    revoke: (device: string, by: string): Promise<Device> =>
      change(device, { change: 'revoked', by }, (found, now) =>
        found.revoked_at === null ? { ...found, revoked_at: now, push: null } : found,
      ),

    list: (): Promise<Device[]> => store.read((tx) => tx.devices.list()),

    /** The device with this id or name. @throws HiveError `device_not_found`, also if several have the name. */
    find: (device: string): Promise<Device> =>
      store.read(async (tx) => findIn(await tx.devices.list(), device)),

    /** The device, if it is admitted now. */
    admitted: (device_id: string): Promise<Device | undefined> =>
      store.read(async (tx) => {
        const device = await tx.devices.get(device_id);
        return device !== undefined && isAdmitted(device) ? device : undefined;
      }),

    /** Records that it signed in. */
    seen: (device_id: string): Promise<void> =>
      store.write(async (tx) => {
        const device = await tx.devices.get(device_id);
        if (device !== undefined) await tx.devices.put({ ...device, seen_at: tx.now });
      }),

    /** Sets where its notifications go; null for nowhere, with the failure as a sentence in `why`. */
    setPush: (device_id: string, push: PushTarget | null, why: string | null = null): Promise<void> =>
      store.write(async (tx) => {
        const devices = await tx.devices.list();
        const found = devices.find((device) => device.device_id === device_id);
        if (found === undefined || !isAdmitted(found)) return;
        const other = devices.find((device) => device !== found && device.push?.endpoint === push?.endpoint);
        if (push !== null && other !== undefined) {
          // Otherwise one device could have notifications for its human shown on another human's phone.
          if (other.human !== found.human)
            throw new HiveError('not_allowed', 'This subscription belongs to another device.');
          // The same browser, paired again.
          await record(tx, { ...other, push: null, push_failed: null }, { change: 'push' });
        }
        const change = why === null ? 'push' : 'push_failed';
        const changed = { ...found, push, push_failed: why };
        await record(tx, changed, { change, ...(why !== null && { why }) });
      }),

    /** This subscription no longer works, unless the device has another one by now. */
    endPush: (device_id: string, endpoint: string, why: string): Promise<void> =>
      store.write(async (tx) => {
        const found = await tx.devices.get(device_id);
        if (found?.push?.endpoint !== endpoint) return;
        await record(tx, { ...found, push: null, push_failed: why }, { change: 'push_failed', why });
      }),

    /** Records that pushes to this subscription, which is kept, fail; with `why` null, that they arrive again. */
    notePush: (device_id: string, endpoint: string, why: string | null): Promise<void> =>
      store.write(async (tx) => {
        const found = await tx.devices.get(device_id);
        if (found?.push?.endpoint !== endpoint || found.push_failed === why) return;
        const change = why === null ? { change: 'push' as const } : { change: 'push_failed' as const, why };
        await record(tx, { ...found, push_failed: why }, change);
      }),

    /** Calls `listener` with all devices now, and when something may have changed, until the returned function is called. */
    watch: (listener: (devices: readonly Device[]) => void): (() => void) =>
      watchAdmitted(store, log, (tx) => tx.devices.list(), listener),

    /** The address at which this human's own machine serves the inbox of this store; null if it is not served now. */
    served: (): string | null => inbox.read(store.store_id),

    /** Records that this process serves the inbox at that address, until the returned function is called. @throws if that fails. */
    servedAt: (address: string): (() => void) => inbox.write(store.store_id, address),
  };
}

/** Somebody who can write the store has replaced a key, or a whole device, with another one. */
function anotherKey({ name, device_id }: Pick<Device, 'name' | 'device_id'>): HiveError {
  return new HiveError(
    'not_allowed',
    `The store has another key for ${name} than the one whose phrase you compared: somebody who can write the store has changed it. Revoke it, and pair it again.`,
    { device_id },
  );
}

interface DeviceChange {
  change: 'paired' | 'confirmed' | 'revoked' | 'push' | 'push_failed';
  by?: string;
  why?: string;
}

/** Stores a device and announces it: processes that serve the inbox then end the streams of a revoked device. */
async function record(tx: WriteTx, device: Device, what: DeviceChange | 'paired'): Promise<void> {
  await tx.devices.put(device);
  const { device_id, name, human } = device;
  const data = { name, human, ...(what === 'paired' ? { change: what } : what) };
  await tx.events.append({ type: 'device/changed', subject: device_id, data });
}

function findIn(devices: readonly Device[], given: string): Device {
  const byId = devices.find(({ device_id }) => device_id === given);
  if (byId !== undefined) return byId;
  const named = devices.filter(({ name, revoked_at }) => name === given && revoked_at === null);
  const [only] = named;
  if (only !== undefined && named.length === 1) return only;
  const why = only === undefined ? `There is no phone "${given}".` : `Several phones are called "${given}".`;
  throw new HiveError('device_not_found', `${why} See their ids with: hive phone list`);
}
