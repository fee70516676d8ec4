/**
 * The one file that lists what the human allows without being asked (domain/trust.ts). It has to be as safe as a
 * private key: the human owns it, and nobody else can read, write or replace it.
 */
import { closeSync, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Environment } from '../../domain/sources.ts';
import { readTrust, type Trust } from '../../domain/trust.ts';
import { READ_ONLY } from './files.ts';
import { trustFile } from './paths.ts';

/** A person does not write a file larger than this. */
const MOST_BYTES = 256 * 1024;

/** The current content of the human's file. It is read each time, so that a change takes effect at once. */
export function humanTrust(env: Environment): Trust {
  const path = trustFile(env);
  const { text, problems } = readPrivately(path);
  const isThere = text !== null || problems.length > 0;
  return readTrust({ path, text, problems, digest: isThere ? digestOf(text ?? '', problems) : null });
}

/** The text of a file that only its owner could have written, and the problems with the file. */
export function readPrivately(path: string): { text: string | null; problems: string[] } {
  try {
    const file = openSync(path, READ_ONLY);
    try {
      const found = fstatSync(file);
      if (!found.isFile()) return { text: null, problems: [`${path} is not a file.`] };
      const problems = [...strangersIn(path, found), ...strangersAround(path)];
      if (found.size > MOST_BYTES)
        problems.push(`${path} has ${found.size} bytes; Hive reads at most ${MOST_BYTES}.`);
      const content = Buffer.alloc(Math.min(found.size, MOST_BYTES));
      const length = readSync(file, content, 0, content.length, 0);
      return { text: content.toString('utf8', 0, length), problems };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { text: null, problems: [] };
    return { text: null, problems: [`${path} cannot be read (${code ?? message}).`] };
  }
}

function strangersIn(path: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>): string[] {
  const me = process.getuid?.();
  if (me === undefined) return [];
  const problems: string[] = [];
  if (uid !== me) problems.push(`${path} belongs to another user (uid ${uid}): make a file of your own.`);
  if ((mode & 0o077) !== 0) problems.push(`${path} is open to other users: run chmod 600 '${path}'.`);
  return problems;
}

/** Anyone who can write to the file's folder, or to the folder of a link to it, can replace it with another file of its owner. */
function strangersAround(path: string): string[] {
  const me = process.getuid?.();
  if (me === undefined) return [];
  const folders = new Set([dirname(path), dirname(realpathSync.native(path))]);
  return [...folders].flatMap((folder) => {
    const { mode, uid } = statSync(folder);
    if (uid !== me && uid !== 0) return [`The folder ${folder} belongs to another user (uid ${uid}).`];
    if ((mode & 0o022) === 0) return [];
    return [`The folder ${folder} can be written by other users: run chmod go-w '${folder}'.`];
  });
}

function digestOf(...parts: (string | readonly string[])[]): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', JSON.stringify(parts)).slice(0, 32);
}
