/**
 * Parts: Hive's part of one file of a client, what `hive init` and `hive uninit` would change in it, and where each client
 * keeps its files. The changes are planned here and shown to a person; `files.ts` writes them after a yes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HiveError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/sources.ts';
import { applyEdits, revertEdits, type TextEdit } from '../../domain/text.ts';
import { homeOf } from '../platform/platform.ts';

/** One of Hive's entries in a file, as it is described to a person. */
export type Entry =
  | { kind: 'server'; command: string; variables: number; entry: unknown }
  /** `program` is null for a hook over the connection. */
  | { kind: 'hook'; event: string; program: string | null }
  /** The trust in one hook of Codex. */
  | { kind: 'trust' }
  /** A command that a person types into Claude Code, such as `/post`. */
  | { kind: 'command'; command: string }
  /** A permission rule of Claude Code. */
  | { kind: 'rule'; rule: string }
  /** The names of Hive's servers that Claude Code takes from no project. */
  | { kind: 'refusal' }
  | { kind: 'line'; text: string };

/** Hive's part of one file. */
export interface Part {
  path: string;
  /** Our part alone, for a person who pastes it. */
  fragment: string;
  /** Whether our part is complete and current, without entries of an older Hive. */
  isRight(text: string): boolean;
  /** Our own entries in a text, from any version of Hive. */
  entries(text: string): Entry[];
  /**
   * Adds our part to a text that has none of it. `was` is the text before our part was removed, null without one: a person's
   * settings in our part are kept.
   */
  add(text: string, was: string | null): TextEdit[];
  /**
   * Removes what is recognized as ours. `written` is the record of our edits, null if there is none: a person may have
   * written the same permission rule.
   */
  remove(text: string, written: readonly TextEdit[] | null): TextEdit[];
}

/** A change that was made to a file, kept so that exactly it can be undone. */
export interface Receipt {
  /** Hash of the file as we left it: while it matches, the edits are undone to the byte. */
  hash: string;
  edits: TextEdit[];
  /** Whether the file did not exist before. */
  created: boolean;
  /** The first folder that had to be created for it. */
  folder: string | null;
}

/** A planned change of a file. A null text means no file. */
export interface FileChange {
  path: string;
  before: string | null;
  after: string | null;
  /** The note to keep; null when nothing of ours is left. */
  receipt: Receipt | null;
}

/** The change that sets Hive up; null when there is nothing to do. */
export function planInit(part: Part, text: string | null, receipt: Receipt | null): FileChange | null {
  if (text !== null && text.trim() !== '' && naming(part, () => part.isRight(text))) return null;
  return naming(part, () => {
    const base = text === null ? null : withoutOurs(part, text, receipt);
    // An empty file is not valid JSON, so it is treated as a new file.
    const first = start(part, base?.trim() === '' ? base : null, base);
    const was = text?.trim() ? text : null;
    const edits = [...first, ...part.add(applyEdits(base ?? '', first), was)];
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

/** The change that removes Hive; null when there is nothing of ours. */
export function planUninit(part: Part, text: string | null, receipt: Receipt | null): FileChange | null {
  if (text === null) return null;
  const after = naming(part, () => withoutOurs(part, text, receipt));
  return after === text ? null : { path: part.path, before: text, after, receipt: null };
}

/**
 * The file without our part: exactly as it was if nobody else has changed it; otherwise without what is recognized as ours.
 * A file that did not exist before is removed, unless somebody else has written in it since, even between two inits.
 */
function withoutOurs(part: Part, text: string, receipt: Receipt | null): string | null {
  const left =
    receipt !== null && isAsWritten(text, receipt)
      ? revertEdits(text, receipt.edits)
      : applyEdits(text, text.trim() === '' ? [] : part.remove(text, receipt?.edits ?? null));
  return left !== text && receipt?.created === true && isEmpty(left) ? null : left;
}

/** Whether a file is as Hive has written it. */
export function isAsWritten(text: string, receipt: Receipt | null): boolean {
  return receipt?.hash === hashOf(text);
}

/** The content of a new file before our part is added. */
function start({ path }: Part, empty: string | null, base: string | null): TextEdit[] {
  if ((base !== null && empty === null) || !path.endsWith('.json')) return [];
  return [{ offset: 0, removed: empty ?? '', inserted: '{\n}\n' }];
}

/** Whether nothing is left in a file; a comment counts as content. */
function isEmpty(text: string): boolean {
  return /^(?:\{\s*\})?$/.test(text.trim());
}

/** Adds the file's path to errors of `work` that do not mention it. */
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

// ---- Paths of the clients' configuration ----
// Determined as the programs themselves do.

/** For one person everywhere, or for everybody who works on one project. */
export type Scope = 'user' | 'project';

/** Claude Code's files: it keeps servers and hooks apart. `commands`: the folder of the commands that a person has made. */
export function claudePaths(env: Environment, scope: Scope, folder: string) {
  const isProject = scope === 'project';
  const moved = env['CLAUDE_CONFIG_DIR'];
  const config = isProject ? join(folder, '.claude') : (moved ?? join(homeOf(env), '.claude'));
  return {
    servers: isProject ? join(folder, '.mcp.json') : join(moved ?? homeOf(env), '.claude.json'),
    settings: join(config, 'settings.json'),
    commands: join(config, 'commands'),
  };
}

/** Every settings file of Claude Code that counts for a session in this folder. */
export function claudeSettings(env: Environment, folder: string): { own: string[]; managed: string } {
  const user = claudePaths(env, 'user', folder).settings;
  const project = claudePaths(env, 'project', folder).settings;
  const own = [user, project, join(dirname(project), 'settings.local.json')];
  const managed =
    process.platform === 'darwin' ? '/Library/Application Support/ClaudeCode' : '/etc/claude-code';
  return { own: [...new Set(own)], managed: join(managed, 'managed-settings.json') };
}

/** Codex' files. */
export function codexPaths(env: Environment) {
  // Empty counts as not set, as for Codex.
  const home = env['CODEX_HOME'] || join(homeOf(env), '.codex');
  return { config: join(home, 'config.toml'), hooks: join(home, 'hooks.json') };
}

/**
 * The init file that Emacs reads, or the one to create. Emacs uses ~/.config/emacs only without ~/.emacs.d and ~/.emacs, so a
 * file in the wrong folder would disable a whole configuration (`startup--xdg-or-homedot` in its startup.el).
 */
export function emacsInitFile(env: Environment): string {
  const home = homeOf(env);
  // With the slash, a file of this name does not count, as in Emacs.
  const [usual, xdg] = [join(home, '.emacs.d/'), `${env['XDG_CONFIG_HOME'] ?? join(home, '.config')}/emacs/`];
  const [plain, lisp] = [join(home, '.emacs'), join(home, '.emacs.el')];
  if (![usual, plain].some((file) => existsSync(file)) && existsSync(xdg)) return join(xdg, 'init.el');
  // A compiled file is read before its source, and before the file in the folder.
  if ([lisp, `${lisp}c`].some((file) => existsSync(file))) return lisp;
  return existsSync(plain) ? plain : join(usual, 'init.el');
}
