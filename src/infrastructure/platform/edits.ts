/** Files that a tool is about to edit: reading them as they are now, and comparing two texts. */
import { closeSync, fstatSync, openSync, readFileSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, inflateSync } from 'node:zlib';
import { applyPatch, createPatch, OMIT_HEADERS } from 'diff';
import { directoryOfPatch } from '../../domain/codex-patches.ts';
import { type EditTools, type FileState, versionInTranscript } from '../../domain/edits.ts';
import { READ_ONLY } from './files.ts';

/** A file of 5,000 lines has a tenth of this. */
const MOST_BYTES = 2 * 1024 * 1024;

/** The time to compare grows with the square of this. Texts that differ in more lines have little in common. */
const MOST_EDITS = 500;

/** The tools for an agent that works in `cwd` on this machine. */
export function editToolsAt(cwd: string): EditTools {
  return {
    versionIn: (client, path) => foundIn(path, END_BYTES, (lines) => versionInTranscript(client, lines)),
    directoryOfPatch: (path, patch) =>
      foundIn(path, TURN_BYTES, (lines) => directoryOfPatch(lines, patch, cwd)),
    read: (path) =>
      // After a link, some clients go up from the link and others from its target.
      path.split('/').includes('..')
        ? { kind: 'unread', why: 'has .. in its path', link: null }
        : readText(resolve(cwd, path)),
    realPath: (path) => realPath(resolve(cwd, path)),
    packed,
    unpacked,
    compare: unifiedDiff,
    patched,
  };
}

/** The tools for an agent on another machine, whose files are not here. */
export const EDIT_TOOLS_ELSEWHERE: EditTools = {
  versionIn: async () => null,
  directoryOfPatch: async () => null,
  read: () => ({ kind: 'unread', why: 'is on another machine', link: null }),
  realPath: (path) => path,
  packed,
  unpacked,
  compare: unifiedDiff,
  patched,
};

/** In bytes, for a packed text: the store keeps it as long as it keeps the question. */
const MOST_PACKED = 64 * 1024;

function packed(text: string): string | null {
  const short = deflateSync(text).toString('base64');
  return short.length <= MOST_PACKED ? short : null;
}

function unpacked(short: string): string {
  return inflateSync(Buffer.from(short, 'base64')).toString('utf8');
}

/** In ms. A client on a busy machine writes its transcript only after it has asked. Shorter than the time of a hook. */
const TRANSCRIPT_LAG_MS = 1_200;
const TRANSCRIPT_RETRY_MS = 50;

/** Looks for something in both ends of a transcript; null if it is not there in time. */
async function foundIn(
  path: string,
  bytes: number,
  find: (lines: readonly string[]) => string | null,
): Promise<string | null> {
  const began = performance.now();
  for (;;) {
    const found = find(endsOf(path, bytes).join('\n').split('\n'));
    if (found !== null || performance.now() - began >= TRANSCRIPT_LAG_MS) return found;
    await sleep(TRANSCRIPT_RETRY_MS);
  }
}

/** In bytes, at each end of a transcript: longer than a line that names the version. */
const END_BYTES = 256 * 1024;

/** The same for what Codex writes in most turns. */
const TURN_BYTES = 4 * 1024 * 1024;

/** The beginning and the end of a file; nothing if it cannot be read. */
function endsOf(path: string, bytes: number): string[] {
  try {
    const file = openSync(path, READ_ONLY);
    try {
      const about = fstatSync(file);
      if (!about.isFile()) return [];
      const places = about.size <= bytes ? [0] : [0, about.size - bytes];
      return places.map((place) => {
        const part = Buffer.alloc(Math.min(bytes, about.size));
        return part.toString('utf8', 0, readSync(file, part, 0, part.length, place));
      });
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
}

function readText(path: string): FileState {
  const link = linkOf(path);
  const unread = (why: string): FileState => ({ kind: 'unread', why, link });
  let file: number;
  try {
    file = openSync(path, READ_ONLY);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { kind: 'missing', link } : unread(`cannot be read (${code})`);
  }
  try {
    const about = fstatSync(file);
    if (!about.isFile()) return unread('is not a plain file');
    if (about.size > MOST_BYTES) return unread(`is large (${about.size} bytes)`);
    const text = textOf(readFileSync(file));
    return text === null ? unread(`is binary (${about.size} bytes)`) : { kind: 'text', text, link };
  } catch (error) {
    return unread(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'no reason'})`);
  } finally {
    closeSync(file);
  }
}

/** The text of a file; null if it is not UTF-8 text. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function linkOf(path: string): string | null {
  const real = realPath(path);
  return real === path ? null : real;
}

/** A longer chain of links is a circle. */
const MOST_LINKS = 40;

/** The path without links, even if the file, or the target of a link, does not exist yet. */
function realPath(path: string, links = MOST_LINKS): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    if (folder === path) return path;
    const here = join(realPath(folder, links), basename(path));
    const target = links === 0 ? null : targetOf(here);
    return target === null ? here : realPath(resolve(dirname(here), target), links - 1);
  }
}

function targetOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** A unified diff without the two lines that name the files; empty when nothing changes. */
export function unifiedDiff(before: string, after: string, context: number): string {
  const limits = { context, maxEditLength: MOST_EDITS, headerOptions: OMIT_HEADERS };
  return (createPatch('', before, after, '', '', limits) ?? replacing(before, after, context)).replace(
    /\n$/,
    '',
  );
}

function patched(text: string, diff: string): string | null {
  try {
    const made = applyPatch(text, diff, { autoConvertLineEndings: false });
    return made === false ? null : made;
  } catch {
    // It is no unified diff.
    return null;
  }
}

/** One hunk that covers everything except the common lines at the beginning and at the end of both texts. */
function replacing(before: string, after: string, context: number): string {
  const [old, made] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, made.length);
  let start = 0;
  while (start < most && old[start] === made[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === made.at(-1 - end)) end += 1;
  const [above, below] = [Math.min(start, context), Math.min(end, context)];
  const place = (lines: readonly string[]): string => {
    const count = lines.length - start - end + above + below;
    return `${count === 0 ? 0 : start - above + 1},${count}`;
  };
  const between = (lines: readonly string[]): readonly string[] => lines.slice(start, lines.length - end);
  return [
    `@@ -${place(old)} +${place(made)} @@`,
    ...marked(' ', old.slice(start - above, start)),
    ...marked('-', between(old)),
    ...marked('+', between(made)),
    ...marked(' ', old.slice(old.length - end, old.length - end + below)),
  ].join('\n');
}

/** The lines of a text. A last line without an end is marked, because that is a difference. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => mark + line);
}
