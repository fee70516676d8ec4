/** Reads and writes the files of clients, and remembers what was changed in them. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { HiveError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/sources.ts';
import { isLink, syncPath } from '../platform/files.ts';
import { stateDirectory } from '../platform/paths.ts';
import type { FileChange, Receipt } from './parts.ts';

/**
 * The text of a file; null when it does not exist.
 * @throws HiveError `invalid_input` when it is not valid UTF-8, or cannot be read.
 */
export function readText(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString('utf8');
    if (Buffer.from(text).equals(bytes)) return text;
    throw new HiveError('invalid_input', `${path} is not UTF-8 text: Hive leaves it alone.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw refusal(path, error, 'read');
  }
}

/** A sentence for an error of the file system, which names the file and, if it is a link, its target. */
export function refusal(path: string, error: unknown, verb: 'read' | 'written'): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const why = /^E[A-Z]+: (.*?), /.exec(error.message)?.[1] ?? error.message;
  return new HiveError(
    'invalid_input',
    `${path}${linkOf(path)} cannot be ${verb} (${why}).${verb === 'read' ? ' Nothing was changed.' : ''}`,
  );
}

function linkOf(path: string): string {
  for (let part = path; part !== dirname(part); part = dirname(part)) {
    if (!isLink(part)) continue;
    const target = existsSync(part) ? realpathSync(part) : 'nothing';
    return part === path ? `, a link to ${target},` : `, where ${part} is a link to ${target},`;
  }
  return '';
}

export type Installer = ReturnType<typeof createInstaller>;

/** Changes files, and remembers in the state directory what it changed. */
export function createInstaller(env: Environment) {
  const file = join(stateDirectory(env), 'installed.json');
  const receipts = (): Record<string, Receipt> => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Receipt>;
    } catch {
      // Without the records everything of ours is still recognized, but the exact bytes can no longer be restored.
      return {};
    }
  };
  return {
    /** The change that was made to this file; null when none was. */
    receiptOf: (path: string): Receipt | null => receipts()[path] ?? null,
    /**
     * Makes all planned changes, or none. Returns the path of a file that has changed since it was planned; null if all were made.
     * @throws HiveError `invalid_input` for a file that cannot be written.
     */
    write(changes: readonly FileChange[]): string | null {
      const changed = changes.find(({ path, before }) => readText(path) !== before);
      if (changed !== undefined) return changed.path;
      const records = new Map(Object.entries(receipts()));
      const drafts: Draft[] = [];
      try {
        // The steps that can fail for want of space or permission come first: after that, only names change.
        for (const { path, after, receipt } of changes) {
          const draft = draftFor(path, after);
          drafts.push(draft);
          const folder = draft.made ?? records.get(path)?.folder ?? null;
          if (receipt !== null) records.set(path, { ...receipt, folder });
        }
        const folders = new Map(changes.map(({ path }) => [path, records.get(path)?.folder ?? null]));
        for (const { path, receipt } of changes) if (receipt === null) records.delete(path);
        const text = records.size === 0 ? null : JSON.stringify(Object.fromEntries(records), null, 2);
        const record = text === null && !existsSync(file) ? [] : [draftFor(file, text, 0o700)];
        // Recorded first: a change that is not recorded could not be undone to the byte.
        const isAdded = changes.some(({ receipt }) => receipt !== null);
        drafts.splice(isAdded ? 0 : drafts.length, 0, ...record);
        putInPlace(drafts);
        for (const { path, after } of changes)
          if (after === null) removeFolders(dirname(path), folders.get(path) ?? null);
      } catch (error) {
        for (const { draft, made, path } of drafts) {
          if (draft !== null) rmSync(draft, { force: true });
          removeFolders(dirname(path), made);
        }
        throw error;
      }
      return null;
    },
  };
}

// ---- All or nothing ----
// Each file is written completely under another name next to it. Then the names change, one after the other.

interface Draft {
  path: string;
  /** The file itself, if `path` is a link: people often keep such files elsewhere. */
  target: string;
  /** The complete new file; null if there will be none. */
  draft: string | null;
  before: { text: Buffer; mode: number } | null;
  /** The first folder that was made for it. */
  made: string | null;
}

/** @throws HiveError `invalid_input` if the file cannot be written or removed. */
function draftFor(path: string, text: string | null, folder_mode = 0o777): Draft {
  let draft: string | null = null;
  let made: string | null = null;
  try {
    made = makeFolder(dirname(path), folder_mode);
    // A dangling link is refused: its target, such as a checkout, may appear later.
    const target = existsSync(path) || isLink(path) ? realpathSync(path) : path;
    const before = existsSync(target)
      ? { text: readFileSync(target), mode: statSync(target).mode & 0o7777 }
      : null;
    const mode = before?.mode ?? 0o600;
    if (text === null) accessSync(dirname(target), constants.W_OK);
    else {
      draft = `${target}.${process.pid}`;
      rmSync(draft, { force: true });
      writeFileSync(draft, text, { mode, flag: 'wx', flush: true });
      // Set again, because the umask applies to a new file.
      chmodSync(draft, mode);
    }
    return { path, target, draft, before, made };
  } catch (error) {
    if (draft !== null) rmSync(draft, { force: true });
    removeFolders(dirname(path), made);
    throw refusal(path, error, 'written');
  }
}

/** If a name cannot be changed after all, those before it are changed back. */
function putInPlace(drafts: readonly Draft[]): void {
  const done: Draft[] = [];
  for (const one of drafts) {
    const { path, target, draft } = one;
    try {
      if (draft === null) rmSync(target, { force: true });
      else renameSync(draft, target);
      done.unshift(one);
      syncPath(dirname(target));
    } catch (error) {
      for (const { target: there, before } of done) {
        if (before === null) rmSync(there, { force: true });
        else writeFileSync(there, before.text, { mode: before.mode, flush: true });
      }
      throw refusal(path, error, 'written');
    }
  }
}

/** Returns the first folder that had to be made; its name and those below it are on disk. */
function makeFolder(folder: string, mode: number): string | null {
  const made = mkdirSync(folder, { recursive: true, mode }) ?? null;
  if (made !== null)
    for (let below = folder; below.startsWith(made); below = dirname(below)) syncPath(dirname(below));
  return made;
}

/** Removes a folder and those above it up to the first one that was made, if they are empty. */
export function removeFolders(last: string, first: string | null): void {
  if (first === null) return;
  try {
    for (let folder = last; folder.startsWith(first); folder = dirname(folder)) rmdirSync(folder);
  } catch {
    // Somebody else uses it.
  }
}
