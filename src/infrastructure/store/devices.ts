/** The statements of devices and of the codes that pair them. */
import type { DeviceRecords } from '../../application/ports.ts';
import type { Device, Pairing } from '../../domain/devices.ts';
import { columns, many, one, type Sql, statement, table } from './sql.ts';

const devices = table<Device>(
  'devices',
  columns({
    plain: 'device_id name human key paired_at confirmed_at revoked_at seen_at push_failed seat',
    json: 'push',
  }),
);

const pairings = table<Pairing>(
  'pairings',
  columns({ plain: 'code_digest human expires_at device_id seat' }),
);

const BY_KEY = statement(() => `${devices.select} WHERE key = $1`);
const LIST = statement(() => `${devices.select} ORDER BY paired_at, device_id`);
const REMOVE_EXPIRED = statement('DELETE FROM pairings WHERE expires_at <= $1');
const REMOVE_UNUSED = statement('DELETE FROM pairings WHERE device_id IS NULL');

export function deviceStatements(sql: Sql): DeviceRecords {
  return {
    get: (device_id) => devices.get(sql, device_id),
    byKey: (key) => one(sql, BY_KEY, [key], devices.decode),
    damaged: (after) => devices.damaged(sql, after, 'phone '),
    list: () => many(sql, LIST, [], devices.decode),
    put: (device) => devices.put(sql, device),
    pairing: (code_digest) => pairings.get(sql, code_digest),
    putPairing: (pairing) => pairings.put(sql, pairing),
    removeExpiredPairings: (now) => sql.change(REMOVE_EXPIRED, [now]),
    removeUnusedPairings: () => sql.run(REMOVE_UNUSED, []),
  };
}
