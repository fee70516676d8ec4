/**
 * A store whose file was damaged, by flipped bits or a lost end. Damage to its structure is refused with a
 * sentence that says what to do, and never causes an internal error. A prompt or a
 * message is read as it was written, or refused: a checksum covers its columns. The doctor finds missing rows.
 *
 * @module-tag durable
 * @module-tag library
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { damagedRecords } from '../../src/application/doctor.ts';
import { NO_RECEIPTS } from '../../src/domain/delivery.ts';
import { HiveError } from '../../src/domain/errors.ts';
import { agentAuthor } from '../../src/domain/messages.ts';
import { UNCOVERED_OF_MESSAGE } from '../../src/infrastructure/store/messages.ts';
import { UNCOVERED_OF_PROMPT } from '../../src/infrastructure/store/prompts.ts';
import { findDamage } from '../../src/infrastructure/store/sqlite-file.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { HUMAN, introduction, recordingLog } from '../support/hive.ts';
import { fuzz } from './fuzz.ts';

const PROMPTS = 25;

const folder = mkdtempSync(join(tmpdir(), `hive-fuzz-${process.pid}-`));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A store with history in its file, and none in a log beside it. */
let made: Promise<{ file: string; before: string }> | null = null;

async function make(): Promise<{ file: string; before: string }> {
  const file = join(folder, 'hive.db');
  const hive = await openHive({ store: file, env: {}, log: recordingLog() });
  const session = await hive.sessions.introduce(introduction());
  for (let n = 0; n < PROMPTS; n += 1) {
    const { prompt } = await hive.prompts.ask(
      { question: `Question ${n} of the store?`, options: ['yes', 'no'], context: 'context '.repeat(n) },
      session,
    );
    if (n % 2 === 0) await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
  }
  const author = agentAuthor(session, 'mcp');
  for (let n = 0; n < PROMPTS; n += 1)
    await hive.messages.post({ body: `Message ${n}: @Human, ${'and '.repeat(n)}`, author });
  const before = await contentsOf(hive);
  await hive.close();
  return { file, before };
}

/** Everything that people and agents would see: every prompt, every message, and every event. */
async function contentsOf(hive: OpenedHive): Promise<string> {
  return hive.store.read(async (tx) => {
    const { items } = await tx.prompts.list({ limit: 1_000 });
    const messages = await tx.messages.list({ limit: 1_000 });
    const events = await tx.events.after(0, 10_000);
    return JSON.stringify([items, messages.items, events]);
  });
}

type Damage = { flips: [at: number, bit: number][]; keeps: number };

function spoil(file: string, { flips, keeps }: Damage): void {
  const { size } = statSync(file);
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  for (const [at, bit] of flips) {
    const place = Math.floor(at * size);
    readSync(handle, byte, 0, 1, place);
    byte[0] = (byte[0] ?? 0) ^ (1 << bit);
    writeSync(handle, byte, 0, 1, place);
  }
  closeSync(handle);
  if (keeps < 1) truncateSync(file, Math.floor(size * keeps));
}

/** A position in the file as a fraction; doubles would nearly all be close to its beginning. */
const part = fc.nat(99_999).map((n) => n / 100_000);

const damage: fc.Arbitrary<Damage> = fc.record({
  flips: fc.array(fc.tuple(part, fc.nat(7)), { minLength: 1, maxLength: 8 }),
  keeps: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: part }),
});

const outcomes = { refused: 0, read: 0, same: 0 };

// A run that refuses everything, or reads everything, would show nothing about the damage.
afterAll(() => {
  expect(outcomes.refused).toBeGreaterThan(0);
  expect(outcomes.same).toBeGreaterThan(0);
});

fuzz('store file: a damaged one is refused with what to do, or its decisions are read as they were', 60, () =>
  fc.asyncProperty(damage, async (spoiled) => {
    made ??= make();
    const { file, before } = await made.catch((error: unknown) => {
      throw new Error('The good store could not be made.', { cause: error });
    });
    const place = mkdtempSync(join(folder, 'copy-'));
    const copy = join(place, 'hive.db');
    copyFileSync(file, copy);
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    spoil(copy, spoiled);
    let hive: OpenedHive | null = null;
    try {
      hive = await openHive({ store: copy, env: {}, log: recordingLog() });
      const after = await contentsOf(hive);
      outcomes.read += 1;
      if (after === before) outcomes.same += 1;
      else checkRead(before, after, [...(await damagedRecords(hive.store)), ...findDamage(copy)]);
    } catch (error) {
      if (!(error instanceof HiveError) || !/^store_/.test(error.code)) throw error;
      outcomes.refused += 1;
    } finally {
      await hive?.close().catch(() => undefined);
      rmSync(place, { recursive: true, force: true });
    }
  }),
);

/** Columns that may differ: no checksum covers them, or they are receipts and the agent's title, which are in other rows. */
const UNCOVERED: ReadonlySet<string> = new Set([
  'agent_title',
  ...Object.keys(UNCOVERED_OF_PROMPT),
  ...Object.keys(UNCOVERED_OF_MESSAGE),
  ...Object.keys(NO_RECEIPTS),
]);

type Rows = Record<string, unknown>[];

/** Nothing that was asked, decided or written differs, and the doctor reports rows that are gone. */
function checkRead(before: string, after: string, found: readonly string[]): void {
  const [was, is] = [before, after].map((text) => JSON.parse(text) as [Rows, Rows]);
  for (const [kind, id] of [
    [0, 'ask_id'],
    [1, 'message_id'],
  ] as const) {
    const [old, now] = [was?.[kind] ?? [], is?.[kind] ?? []];
    const known = new Map(old.map((row) => [row[id], row]));
    for (const row of now) {
      for (const field of Object.keys(row)) {
        if (UNCOVERED.has(field)) continue;
        if (JSON.stringify(row[field]) !== JSON.stringify(known.get(row[id])?.[field]))
          throw new Error(`Read wrongly: ${field} of ${row[id]} is ${JSON.stringify(row[field])}.`);
      }
    }
    if (now.length !== old.length && found.length === 0)
      throw new Error(`${old.length} rows became ${now.length}, and the doctor finds nothing.`);
  }
}
