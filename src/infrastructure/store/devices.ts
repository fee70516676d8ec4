/** The statements of devices and of the codes that pair them. */
import type { DeviceRecords } from '../../application/ports.ts';
import type { Device, Pairing } from '../../domain/devices.ts';
import { damagedRows } from './checksums.ts';
import { pruneDevices } from './prune.ts';
import { decodeIntact, type Sql, statement, table } from './sql.ts';

const devices = table<Device>('devices', {
  device_id: 'plain',
  name: 'plain',
  human: 'plain',
  key: 'plain',
  paired_at: 'plain',
  confirmed_at: 'plain',
  revoked_at: 'plain',
  seen_at: 'plain',
  push: 'json',
  push_failed: 'plain',
  seat: 'plain',
});
const damagedIn = damagedRows(devices, 'devices', 'phone ');

const pairings = table<Pairing>('pairings', {
  code_digest: 'plain',
  human: 'plain',
  expires_at: 'plain',
  device_id: 'plain',
  seat: 'plain',
});

const GET = statement(() => `SELECT ${devices.list} FROM devices WHERE device_id = $1`);
const BY_KEY = statement(() => `SELECT ${devices.list} FROM devices WHERE key = $1`);
const LIST = statement(() => `SELECT ${devices.list} FROM devices ORDER BY paired_at, device_id`);
const PUT = statement(
  () => `${devices.insert()} ON CONFLICT (device_id) DO UPDATE SET ${devices.assignments}`,
);
const PAIRING = statement(() => `SELECT ${pairings.list} FROM pairings WHERE code_digest = $1`);
const PUT_PAIRING = statement(
  () => `${pairings.insert()} ON CONFLICT (code_digest) DO UPDATE SET ${pairings.assignments}`,
);
const REMOVE_EXPIRED = statement('DELETE FROM pairings WHERE expires_at <= $1');
const REMOVE_UNUSED = statement('DELETE FROM pairings WHERE device_id IS NULL');

export function deviceStatements(sql: Sql): DeviceRecords {
  return {
    async get(device_id) {
      const [row] = await sql.all(GET, [device_id]);
      return row === undefined ? undefined : devices.decode(row);
    },
    async byKey(key) {
      const [row] = await sql.all(BY_KEY, [key]);
      return row === undefined ? undefined : devices.decode(row);
    },
    damaged: (after) => damagedIn(sql, after),
    list: async () => decodeIntact(await sql.all(LIST, []), devices.decode),
    async put(device) {
      await sql.run(PUT, devices.encode(device));
    },
    async pairing(code_digest) {
      const [row] = await sql.all(PAIRING, [code_digest]);
      return row === undefined ? undefined : pairings.decode(row);
    },
    async putPairing(pairing) {
      await sql.run(PUT_PAIRING, pairings.encode(pairing));
    },
    async removeExpiredPairings(now) {
      await sql.run(REMOVE_EXPIRED, [now]);
    },
    removeUnusedPairings: () => sql.run(REMOVE_UNUSED, []),
    ...pruneDevices(sql),
  };
}
