/**
 * The states in which a disk may be after a power cut. A recording (`recorder.c`) is replayed call by call; at any point of it those
 * are drawn in which the file system may be found:
 *
 *   data    since the last flush of a file nothing, everything, everything up to a torn write, or for each sector anything
 *           that was in it since; its size may be any that it had since
 *   names   by journal: a prefix of what happened to names, at least up to what a flush needs (ext4, XFS);
 *           strictly: each change of a name alone, and only the flush of its folder makes it certain (POSIX)
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from '../chaos/random.ts';

export const SECTOR = 512;

const KINDS = [
  '',
  'create',
  'write',
  'truncate',
  'sync',
  'link',
  'rename',
  'unlink',
  'mkdir',
  'rmdir',
  'say',
] as const;

/** One recorded call; `say` is output of a program, on its stdout. `at` is where its record ends in the trace, in bytes. */
export interface Call {
  kind: Exclude<(typeof KINDS)[number], ''>;
  pid: number;
  file: bigint;
  offset: number;
  path: string;
  path2: string;
  data: Buffer;
  at: number;
}

/** The calls that name a file by its number alone. */
const NAMED_BY_FILE: ReadonlySet<Call['kind']> = new Set(['write', 'truncate', 'sync', 'link', 'rename']);

const HEAD = 32;

/** The calls in a trace, in order; a last record that was cut off by a kill is left out. */
export function callsIn(trace: Buffer): Call[] {
  const calls: Call[] = [];
  for (let start = 0; start + HEAD <= trace.length; ) {
    const length = trace.readUInt32LE(start);
    if (start + length > trace.length) break;
    const kind = KINDS[trace[start + 4] ?? 0];
    if (kind === undefined || kind === '') throw new Error(`There is no call of kind ${trace[start + 4]}.`);
    const first = start + HEAD;
    const second = first + trace.readUInt16LE(start + 6);
    const data = second + trace.readUInt16LE(start + 8);
    calls.push({
      kind,
      pid: trace.readUInt32LE(start + 12),
      file: trace.readBigUInt64LE(start + 16),
      offset: Number(trace.readBigUInt64LE(start + 24)),
      path: trace.toString('utf8', first, second),
      path2: trace.toString('utf8', second, data),
      data: trace.subarray(data, start + length),
      at: start + length,
    });
    start += length;
  }
  return calls;
}

type Change = { offset: number; data: Buffer } | { size: number };

/** A file or folder. Of a file, what is certainly on disk, and the changes since, in order. */
interface Node {
  id: number;
  folder: boolean;
  bytes: Buffer;
  size: number;
  changes: Change[];
  /** Counts the flushes that changed something: names the content together with `id`. */
  version: number;
}

type NameChange =
  | { kind: 'put'; path: string; node: Node }
  | { kind: 'remove'; path: string }
  | { kind: 'move'; path: string; to: string; node: Node };

/** By path, below the recorded folder. */
type Names = Map<string, Node>;

interface NameModel {
  certain: Names;
  pending: NameChange[];
}

export type NameModelName = 'journal' | 'strict';
export const NAME_MODELS: readonly NameModelName[] = ['journal', 'strict'];
const DATA = ['none', 'all', 'torn', 'sectors', 'mixed'] as const;
const WHICH_NAMES = ['none', 'all', 'some'] as const;

/** A disk as it may be found: its files with their contents, and its folders. */
export interface State {
  /** How it was drawn, for a report. */
  how: string;
  files: ReadonlyMap<string, Buffer>;
  folders: readonly string[];
  /** The same for the same state. */
  digest: string;
}

export interface Disk {
  apply(call: Call): void;
  /** Draws one state; the first few `turn`s are the plain ones. */
  draw(random: Random, turn: number): State;
  /** The state in which nothing is missing, which is what the running machine sees. */
  live(): State;
}

/**
 * `root`: the recorded folder as it is before the recording, all of it on disk. `foreign`: others, who are not recorded, make and
 * remove files there, too; what happens to these is left out.
 */
export function openDisk(root: string, { foreign = false } = {}): Disk {
  let ids = 0;
  const live: Names = new Map();
  const byFile = new Map<bigint, Node>();
  const models: Record<NameModelName, NameModel> = {
    journal: { certain: new Map(), pending: [] },
    strict: { certain: new Map(), pending: [] },
  };
  const makeNode = (folder: boolean, bytes: Buffer = Buffer.alloc(0)): Node => {
    ids += 1;
    return { id: ids, folder, bytes, size: bytes.length, changes: [], version: 0 };
  };

  byFile.set(statSync(root, { bigint: true }).ino, makeNode(true));
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const path = join(root, name);
    const { ino } = statSync(path, { bigint: true });
    const folder = statSync(path).isDirectory();
    const node = byFile.get(ino) ?? makeNode(folder, folder ? undefined : readFileSync(path));
    byFile.set(ino, node);
    for (const names of [live, models.journal.certain, models.strict.certain]) names.set(path, node);
  }

  function nodeOf({ kind, file, path }: Call): Node {
    const node = byFile.get(file);
    if (node === undefined) throw new Error(`${kind} of a file that was never made: ${file} ${path}`);
    return node;
  }

  function rename(change: NameChange): void {
    applyTo(live, change);
    for (const model of Object.values(models)) model.pending.push(change);
  }

  function flush(node: Node, path: string): void {
    if (node.changes.length > 0) {
      applyChanges(node);
      node.version += 1;
    }
    const { journal, strict } = models;
    const concerns = (change: NameChange): boolean =>
      node.folder ? foldersOf(change).includes(path) : 'node' in change && change.node === node;
    const last = journal.pending.findLastIndex(concerns);
    for (const change of journal.pending.splice(0, last + 1)) applyTo(journal.certain, change);
    if (!node.folder) return;
    const left: NameChange[] = [];
    for (const change of strict.pending)
      if (foldersOf(change).every((folder) => folder === path)) applyTo(strict.certain, change);
      else left.push(change);
    strict.pending = left;
  }

  function apply(call: Call): void {
    const { kind, file, path, path2, offset, data } = call;
    if (kind === 'say' || (foreign && NAMED_BY_FILE.has(kind) && !byFile.has(file))) return;
    if (kind === 'create' || kind === 'mkdir') {
      const node = makeNode(kind === 'mkdir');
      // A number may have belonged to a file that is gone.
      byFile.set(file, node);
      rename({ kind: 'put', path, node });
    } else if (kind === 'write') nodeOf(call).changes.push({ offset, data });
    else if (kind === 'truncate') nodeOf(call).changes.push({ size: offset });
    else if (kind === 'sync') flush(nodeOf(call), path);
    else if (kind === 'link') rename({ kind: 'put', path: path2, node: nodeOf(call) });
    else if (kind === 'rename') rename({ kind: 'move', path, to: path2, node: nodeOf(call) });
    else rename({ kind: 'remove', path });
  }

  /** Whether all folders above have their names. */
  function reachable(names: Names, folder: string): boolean {
    return folder === root || (names.get(folder)?.folder === true && reachable(names, dirname(folder)));
  }

  function stateOf(how: string, names: Names, contentOf: (node: Node) => Content): State {
    const files = new Map<string, Buffer>();
    const folders: string[] = [];
    const digest = createHash('sha1');
    const contents = new Map<Node, Content>();
    for (const [path, node] of [...names].sort(([one], [other]) => (one < other ? -1 : 1))) {
      // The memory that processes share is gone with them.
      if (!reachable(names, dirname(path)) || path.endsWith('-shm')) continue;
      digest.update(`\0${path}\0`);
      if (node.folder) {
        folders.push(path);
        continue;
      }
      const content = contents.get(node) ?? contentOf(node);
      contents.set(node, content);
      files.set(path, content.bytes);
      digest.update(content.name ?? createHash('sha1').update(content.bytes).digest('hex'));
    }
    return { how, files, folders, digest: digest.digest('hex') };
  }

  return {
    apply,
    live: () => stateOf('everything', live, (node) => contentUpTo(node, node.changes.length)),
    draw(random, turn) {
      const model = NAME_MODELS[turn % 2] ?? 'strict';
      const which = WHICH_NAMES[turn < 12 ? Math.floor(turn / 2) % 2 : random.between(0, 3)] ?? 'some';
      const data = DATA[turn < 12 ? Math.floor(turn / 4) % 3 : random.between(0, DATA.length)] ?? 'mixed';
      const { certain, pending } = models[model];
      const names: Names = new Map(certain);
      for (const change of chosen(pending, { model, which, random })) applyTo(names, change);
      return stateOf(`names: ${which} by ${model}; data: ${data}`, names, (node) =>
        contentAs(data === 'mixed' ? random.pick(DATA.slice(0, 4)) : data, node, random),
      );
    },
  };
}

function chosen(
  pending: readonly NameChange[],
  { model, which, random }: { model: NameModelName; which: (typeof WHICH_NAMES)[number]; random: Random },
): readonly NameChange[] {
  if (which === 'none') return [];
  if (which === 'all') return pending;
  if (model === 'journal') return pending.slice(0, random.between(0, pending.length + 1));
  return pending.filter(() => random.chance(0.5));
}

/** The folders whose names a change touches. */
function foldersOf(change: NameChange): string[] {
  return change.kind === 'move' ? [dirname(change.path), dirname(change.to)] : [dirname(change.path)];
}

function applyTo(names: Names, change: NameChange): void {
  if (change.kind === 'put') names.set(change.path, change.node);
  else names.delete(change.path);
  if (change.kind !== 'move') return;
  names.set(change.to, change.node);
  // The contents of a folder move with it.
  for (const [path, node] of [...names])
    if (path.startsWith(`${change.path}/`)) {
      names.delete(path);
      names.set(change.to + path.slice(change.path.length), node);
    }
}

/** `name` is the same for the same content, and saves reading it. */
interface Content {
  bytes: Buffer;
  name: string | null;
}

function contentAs(data: (typeof DATA)[number], node: Node, random: Random): Content {
  const { changes } = node;
  if (data === 'none' || changes.length === 0) return contentUpTo(node, 0);
  if (data === 'all') return contentUpTo(node, changes.length);
  if (data === 'torn') return torn(node, random);
  return anySectors(node, random);
}

function contentUpTo(node: Node, count: number): Content {
  const name = `${node.id}.${node.version}.${count}`;
  if (count === 0) return { bytes: node.bytes.subarray(0, node.size), name };
  const copy = copyOf(node);
  for (const change of node.changes.slice(0, count)) alter(copy, change);
  return { bytes: copy.bytes.subarray(0, copy.size), name };
}

/** In order, and the last write ends within itself, at the end of a sector of the disk. */
function torn(node: Node, random: Random): Content {
  const count = random.between(0, node.changes.length);
  const copy = copyOf(node);
  for (const change of node.changes.slice(0, count)) alter(copy, change);
  const next = node.changes[count];
  if (next !== undefined && 'data' in next) {
    const first = Math.ceil((next.offset + 1) / SECTOR) * SECTOR;
    const ends = [];
    for (let end = first; end < next.offset + next.data.length; end += SECTOR) ends.push(end);
    const end = ends.length === 0 ? next.offset : random.pick(ends);
    alter(copy, { offset: next.offset, data: next.data.subarray(0, end - next.offset) });
  }
  return { bytes: copy.bytes.subarray(0, copy.size), name: null };
}

/** Each sector as it was after any of the changes, and the file as long as it was after any of them. */
function anySectors(node: Node, random: Random): Content {
  const { changes } = node;
  const longest = { bytes: Buffer.from(node.bytes.subarray(0, node.size)), size: node.size };
  let size = node.size;
  const sizes = [size];
  const touched = new Map<number, number[]>();
  for (const [index, change] of changes.entries()) {
    if ('size' in change) size = change.size;
    else {
      size = Math.max(size, change.offset + change.data.length);
      const last = Math.floor((change.offset + Math.max(0, change.data.length - 1)) / SECTOR);
      for (let sector = Math.floor(change.offset / SECTOR); sector <= last; sector += 1)
        touched.set(sector, [...(touched.get(sector) ?? []), index]);
    }
    sizes.push(size);
  }
  for (const [sector, indices] of touched) {
    // How many of the changes have reached this sector.
    const reached = random.between(0, indices.length + 1);
    const from = sector * SECTOR;
    for (const index of indices.slice(0, reached)) {
      const change = changes[index];
      if (change === undefined || !('data' in change)) continue;
      const start = Math.max(change.offset, from);
      const end = Math.min(change.offset + change.data.length, from + SECTOR);
      alter(longest, {
        offset: start,
        data: change.data.subarray(start - change.offset, end - change.offset),
      });
    }
  }
  alter(longest, { size: random.chance(0.5) ? size : random.pick(sizes) });
  return { bytes: longest.bytes.subarray(0, longest.size), name: null };
}

function copyOf({ bytes, size }: Node): { bytes: Buffer; size: number } {
  return { bytes: Buffer.from(bytes.subarray(0, size)), size };
}

/** All changes of a file become what is on disk. */
function applyChanges(node: Node): void {
  for (const change of node.changes) alter(node, change);
  node.changes = [];
}

/** Makes one change; `bytes` may be longer than `size`. */
function alter(file: { bytes: Buffer; size: number }, change: Change): void {
  if ('size' in change) {
    if (change.size > file.size) reserve(file, change.size);
    else file.bytes.fill(0, change.size, Math.min(file.size, file.bytes.length));
    file.size = change.size;
    return;
  }
  const end = change.offset + change.data.length;
  reserve(file, end);
  change.data.copy(file.bytes, change.offset);
  file.size = Math.max(file.size, end);
}

function reserve(file: { bytes: Buffer }, size: number): void {
  if (file.bytes.length >= size) return;
  const larger = Buffer.alloc(Math.max(size, Math.min(2 * file.bytes.length, size + (1 << 20))));
  file.bytes.copy(larger);
  file.bytes = larger;
}

/** Puts a state where the recorded folder was. */
export function restore(state: State, root: string): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  mkdirSync(root, { recursive: true, mode: 0o700 });
  for (const folder of state.folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [path, bytes] of state.files) writeFileSync(path, bytes, { mode: 0o600 });
}

/** The contents of a folder, as a state. */
export function stateIn(root: string): Pick<State, 'files'> {
  const files = new Map<string, Buffer>();
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const path = join(root, name);
    if (statSync(path).isFile() && !path.endsWith('-shm')) files.set(path, readFileSync(path));
  }
  return { files };
}

/** In what a replay differs from what is on the disk: nothing, if every change was recorded. */
export function differences(replayed: Pick<State, 'files'>, found: Pick<State, 'files'>): string[] {
  const paths = new Set([...replayed.files.keys(), ...found.files.keys()]);
  return [...paths].filter((path) => {
    const [one, other] = [replayed.files.get(path), found.files.get(path)];
    return one === undefined || other === undefined || !one.equals(other);
  });
}
