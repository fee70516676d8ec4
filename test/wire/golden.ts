/**
 * Golden frames: what goes over a wire, compared exactly with a file. Ids, times and what belongs to the
 * machine are replaced by names first; a prompt is what differs from the full one (golden-prompt.ts).
 * HIVE_UPDATE_GOLDEN=1 writes the files again; then run `npm run format`, and read the difference.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { lengthened, REFERENCES, shortened } from './golden-prompt.ts';

const FOLDER = join(import.meta.dirname, 'golden');
const ID =
  /\b(ask|response|device|desk|connection|msg|mention|ping|card|report|interrupt|turn|store)-[0-9a-z][0-9a-z-]{11,}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const SECONDS = /\b\d+(\.\d+)? s after /g;
/** Values that differ from machine to machine and run to run. */
const UNSTEADY: Readonly<Record<string, string>> = {
  seq: '<seq>',
  head_seq: '<seq>',
  notice_id: '<seq>',
  version: '<version>',
  seat: '<seat>',
  machine: '<machine>',
  pid: '<pid>',
  duration_ms: '<ms>',
  next_cursor: '<cursor>',
  previous_cursor: '<cursor>',
};

/** Names ids in the order in which they are met, `<ask 1>`, so that equal ones stay equal. */
export class Normalizer {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  normalize(value: unknown, key = ''): unknown {
    if (key in UNSTEADY && (typeof value !== 'object' || (key === 'names' && Array.isArray(value))))
      return UNSTEADY[key];
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((item) => this.normalize(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, this.normalize(item, name)]),
    );
  }

  #text(text: string): string {
    return text
      .replace(TIME, '<time>')
      .replace(SECONDS, '<seconds> s after ')
      .replace(ID, (id, kind: string) => this.#name(id, kind));
  }

  #name(id: string, kind: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.#names.set(id, `<${kind} ${count}>`);
    return `<${kind} ${count}>`;
  }
}

/** Compares with `golden/NAME.json`. A file that is missing is a failure, unless it is to be written. */
export function expectGolden(name: string, value: unknown): void {
  const slug = name.replaceAll('_', '-');
  const file = join(FOLDER, `${slug}.json`);
  const whole = new Normalizer().normalize(value);
  const short = shortened(whole, (reference) => new Normalizer().normalize(reference));
  const shown = REFERENCES.find(({ frame }) => frame === slug);
  // Where the full prompt is shown, nothing may differ from what the other frames are compared with.
  if (shown !== undefined)
    expect(JSON.stringify(short), `${slug} is the prompt that others refer to`).toMatch(
      new RegExp(`\\{"…":"${shown.like}","ask_id":"[^"]*"\\}`),
    );
  const text = JSON.stringify(shown === undefined ? short : whole);
  if (process.env['HIVE_UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(existsSync(file), `${file} is missing: run once with HIVE_UPDATE_GOLDEN=1 and read it`).toBe(true);
  expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
}

/** The names of the golden files in a folder. */
export function goldenNames(folder: string): string[] {
  return readdirSync(join(FOLDER, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .sort();
}

/** A golden frame as it goes over the wire, with every prompt in full. */
export function readGolden(name: string): unknown {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(FOLDER, `${file}.json`), 'utf8'));
  return lengthened(read(name), (frame) => {
    const { notification, result } = read(frame) as Record<string, Record<string, unknown>>;
    return (notification?.['params'] ?? result) as Record<string, unknown>;
  });
}
