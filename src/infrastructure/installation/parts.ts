/**
 * One file of a client and what of it is ours: what `hive init` would make of it, and what `hive uninit`. Decided here
 * and shown to a person; written by `files.ts` when they have said yes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HiveError } from '../../domain/errors.ts';
import { applyEdits, revertEdits, type TextEdit } from '../../domain/text.ts';

export interface Part {
  path: string;
  /** What a file holds that did not exist before ours is added. */
  newFile: string;
  /** Ours alone, for a person who pastes it. */
  fragment: string;
  /** Ours is there as it should be, and nothing of an older Hive beside it. */
  isRight(text: string): boolean;
  isEmpty(text: string): boolean;
  /** Puts ours into a text that has none of it. */
  add(text: string): TextEdit[];
  /** Takes out what is recognised as ours. */
  remove(text: string): TextEdit[];
}

/** What was done to a file, kept so that exactly that can be taken back. */
export interface Receipt {
  /** Of the file as it was left: while it is that, the edits are undone to the byte. */
  hash: string;
  edits: TextEdit[];
  /** The file did not exist. */
  created: boolean;
  /** The first folder that had to be made for it. */
  folder: string | null;
}

/** Null stands for no file. */
export interface FileChange {
  path: string;
  before: string | null;
  after: string | null;
  /** What to remember; null when nothing of ours is left. */
  receipt: Receipt | null;
}

/** Null when there is nothing to do. */
export function planInit(part: Part, text: string | null, receipt: Receipt | null): FileChange | null {
  if (text !== null && text.trim() !== '' && naming(part, () => part.isRight(text))) return null;
  return naming(part, () => {
    const base = text === null ? null : takeBack(part, text, receipt);
    // An empty file is no JSON: it gets what a new one gets.
    const first = start(part, base?.trim() === '' ? base : null, base);
    const edits = [...first, ...part.add(applyEdits(base ?? '', first))];
    const after = applyEdits(base ?? '', edits);
    if (!part.isRight(after)) {
      throw new HiveError(
        'invalid_input',
        'It is written in a way that Hive cannot add to; change it by hand.',
      );
    }
    const created = base === null || (receipt?.created ?? false);
    const folder = receipt?.folder ?? null;
    return { path: part.path, before: text, after, receipt: { hash: hashOf(after), edits, created, folder } };
  });
}

/** Null when there is nothing of ours. */
export function planUninit(part: Part, text: string | null, receipt: Receipt | null): FileChange | null {
  if (text === null) return null;
  const after = naming(part, () => takeBack(part, text, receipt));
  return after === text ? null : { path: part.path, before: text, after, receipt: null };
}

/** The file without ours: to the byte as it was while nobody else has changed it, else by what is recognised. */
function takeBack(part: Part, text: string, receipt: Receipt | null): string | null {
  if (receipt?.hash === hashOf(text)) return receipt.created ? null : revertEdits(text, receipt.edits);
  const edits = text.trim() === '' ? [] : part.remove(text);
  const left = applyEdits(text, edits);
  return edits.length > 0 && receipt?.created === true && part.isEmpty(left) ? null : left;
}

function start(part: Part, empty: string | null, base: string | null): TextEdit[] {
  if (base !== null && empty === null) return [];
  return part.newFile === '' ? [] : [{ offset: 0, removed: empty ?? '', inserted: part.newFile }];
}

/** Errors say which file they are about. */
export function naming<T>({ path }: { path: string }, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof HiveError) || error.message.includes(path)) throw error;
    throw new HiveError(error.code, `${path}: ${error.message}`);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

// ---------------------------------------------------------------------------
// Where each client reads its configuration, as the programs themselves do.

export type Environment = Readonly<Record<string, string | undefined>>;

/** For one person everywhere, or for everybody who works on one project. */
export type Scope = 'user' | 'project';

function homeOf(env: Environment): string {
  return env['HOME'] ?? env['USERPROFILE'] ?? homedir();
}

/** Claude Code keeps servers and hooks apart. */
interface ClaudePaths {
  servers: string;
  settings: string;
}

export function claudePaths(env: Environment, scope: Scope, folder: string): ClaudePaths {
  if (scope === 'project') {
    return { servers: join(folder, '.mcp.json'), settings: join(folder, '.claude', 'settings.json') };
  }
  const moved = env['CLAUDE_CONFIG_DIR'];
  const config = moved ?? join(homeOf(env), '.claude');
  return { servers: join(moved ?? homeOf(env), '.claude.json'), settings: join(config, 'settings.json') };
}

interface CodexPaths {
  config: string;
  hooks: string;
}

export function codexPaths(env: Environment): CodexPaths {
  const home = env['CODEX_HOME'] ?? join(homeOf(env), '.codex');
  return { config: join(home, 'config.toml'), hooks: join(home, 'hooks.json') };
}

/** The file that Emacs would read (its manual, "The Emacs Initialization File"), else the one to make. */
export function emacsInitFile(env: Environment): string {
  const home = homeOf(env);
  const xdg = join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'emacs', 'init.el');
  const read = [join(home, '.emacs.el'), join(home, '.emacs'), join(home, '.emacs.d', 'init.el'), xdg];
  return read.find((file) => existsSync(file)) ?? join(home, '.emacs.d', 'init.el');
}
