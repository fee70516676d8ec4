/** Reads and writes the files of clients, and remembers what was done to them. */
import {
  chmodSync,
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
import { stateDirectory } from '../platform/paths.ts';
import type { Environment, FileChange, Receipt } from './parts.ts';

/** Null where there is no such file. @throws HiveError `invalid_input` for what would not survive being read as text. */
export function readText(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString('utf8');
    if (Buffer.from(text).equals(bytes)) return text;
    throw new HiveError('invalid_input', `${path} is no UTF-8 text: Hive leaves it alone.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export interface Installer {
  receiptOf(path: string): Receipt | null;
  /** Does what was planned; false when the file is no longer the one that was looked at. */
  write(change: FileChange): boolean;
}

export function createInstaller(env: Environment): Installer {
  const ledger = join(stateDirectory(env), 'installed.json');
  const receipts = (): Record<string, Receipt> => {
    try {
      return JSON.parse(readFileSync(ledger, 'utf8')) as Record<string, Receipt>;
    } catch {
      // Without it everything of ours is still recognised; only the last byte is no longer promised.
      return {};
    }
  };
  const remember = (path: string, receipt: Receipt | null): void => {
    const { [path]: _old, ...others } = receipts();
    const all = receipt === null ? others : { ...others, [path]: receipt };
    mkdirSync(dirname(ledger), { recursive: true, mode: 0o700 });
    if (Object.keys(all).length === 0) rmSync(ledger, { force: true });
    else replace(ledger, JSON.stringify(all, null, 2), 0o600);
  };
  return {
    receiptOf: (path) => receipts()[path] ?? null,
    write({ path, before, after, receipt }) {
      if (readText(path) !== before) return false;
      const old = receipts()[path] ?? null;
      if (after === null) {
        rmSync(path);
        remember(path, null);
        removeFolders(path, old?.folder ?? null);
        return true;
      }
      const folder = mkdirSync(dirname(path), { recursive: true }) ?? old?.folder ?? null;
      // Remembered first: what is written and not known of could not be taken back to the byte.
      if (receipt !== null) remember(path, { ...receipt, folder });
      replace(path, after, 0o600);
      if (receipt === null) remember(path, null);
      return true;
    },
  };
}

/** Whole or not at all, with the rights it had; a link stays one, as it often is where people version such files. */
function replace(path: string, text: string, mode: number): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const beside = `${target}.hive-${process.pid}`;
  const rights = existsSync(target) ? statSync(target).mode & 0o7777 : mode;
  try {
    writeFileSync(beside, text, { mode: rights, flush: true });
    // Whatever the umask made of it.
    chmodSync(beside, rights);
    renameSync(beside, target);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** The folders that were made for a file, as far as nothing else lies in them. */
function removeFolders(path: string, first: string | null): void {
  if (first === null) return;
  try {
    for (let folder = dirname(path); folder.startsWith(first); folder = dirname(folder)) rmdirSync(folder);
  } catch {
    // Somebody else uses it.
  }
}
