// Imported into every process of a run: its clock is shifted by the milliseconds in HIVE_CHAOS_CLOCK's
// file, which is read again every 20 ms, so that a step of the clock meets a process in the middle of its work.
import fs, { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const file = process.env.HIVE_CHAOS_CLOCK;
const RealDate = Date;
let shift = 0;
let read = Number.NEGATIVE_INFINITY;

function now() {
  const since = performance.now();
  if (since - read > 20) {
    read = since;
    shift = Number(readFileSync(file, 'utf8')) || 0;
  }
  return RealDate.now() + shift;
}

class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }

  static now() {
    return now();
  }
}

if (file !== undefined) globalThis.Date = ShiftedDate;

// After the power was cut the machine has started again: it is then what HIVE_CHAOS_BOOT's file says.
const boot = process.env.HIVE_CHAOS_BOOT;
if (boot !== undefined) {
  const read = fs.readFileSync;
  fs.readFileSync = (path, ...more) =>
    read(path === '/proc/sys/kernel/random/boot_id' ? boot : path, ...more);
  syncBuiltinESMExports();
}
