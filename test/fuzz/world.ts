/** A hive for one input, removed before the next: so an input fails the same way however many came before. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { type RecordedLog, recordingLog, SEAT, SEAT_SECRET } from '../support/hive.ts';
import { trustingIn } from '../support/human-file.ts';

export interface World {
  hive: OpenedHive;
  log: RecordedLog;
  folder: string;
}

export async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-fuzz-`));
  const log = recordingLog();
  try {
    const env = trustingIn(join(folder, 'config'), { seats: [SEAT] });
    const hive = await openHive({ store: join(folder, 'hive.db'), env, log });
    hive.seats.useKey(SEAT_SECRET);
    try {
      await work({ hive, log, folder });
    } finally {
      await hive.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
