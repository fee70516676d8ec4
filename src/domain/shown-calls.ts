/**
 * A tool call in the text of its permission: how it is displayed to the person who has to permit it, and how it is read back from
 * there. The text is unambiguous: Hive's own words are at the beginning of a line, and the agent's text is indented, marked as a
 * diff or quoted as JSON. Pure.
 */
import { FILE_ARGUMENTS } from './claude-edits.ts';
import { revealedSource, spelledLine, spelledOut } from './display.ts';
import { DETAILS_BYTES, fileHeaded, type ShownEdit } from './edits.ts';
import type { HookTool } from './hooks.ts';
import { objectIn, type Raw, textIn } from './json.ts';
import type { Prompt } from './prompts.ts';
import { excerpt, INDENT, indented, marked } from './text.ts';

// ---- The display of a call ----
// One line and the details, for the person who has to permit it.

export interface ToolSummary {
  /** The question: `Run npm test?` */
  question: string;
  /**
   * Everything that a yes permits: the command or diff first, then each argument by name. Hive's own words are at the beginning
   * of a line; the agent's text is indented, marked as a diff, or quoted as JSON. Null if no desk could show it.
   */
  details: string | null;
  /** The agent's own description. It comes last and is labelled as the agent's words. */
  description: string | null;
}

/** After "PERMISSION" it takes two rows of 80 columns: the details repeat it, and have the room that it leaves. */
const LINE = 140;

/**
 * Whether the texts in a value are longer than a desk can show. Such texts are not rendered: that takes time for each character,
 * and an agent may send a megabyte.
 */
export function isTooLong(value: unknown): boolean {
  return roomAfter(value, DETAILS_BYTES, 0) < 0;
}

/** The same for arguments, whose lists and objects are shown line by line, indented by their depth. */
export function areTooLong(args: readonly unknown[]): boolean {
  return roomAfter(args, DETAILS_BYTES, JSON_INDENT) < 0;
}

const JSON_INDENT = 2;

/** How many bytes are left of `room`; negative once it is used up. */
function roomAfter(value: unknown, room: number, step: number, depth = 0): number {
  if (room < 0) return room;
  if (typeof value === 'string')
    return value.length > room ? -1 : room - new TextEncoder().encode(value).length;
  // In JSON, every other value takes at least one character and a separator.
  let left = room - 2;
  // The outermost list is the caller's; its items begin a line.
  const indent = step * Math.max(0, depth - 1);
  if (Array.isArray(value))
    for (const item of value) left = left < 0 ? left : roomAfter(item, left - indent, step, depth + 1);
  else {
    const object = objectIn(value) ?? {};
    for (const key of Object.keys(object)) {
      if (left < 0) break;
      left = roomAfter(object[key], roomAfter(key, left - indent, step), step, depth + 1);
    }
  }
  return left;
}

/** The first line of a permission; only its beginning is rendered. */
function firstLine(text: string): string {
  const line = excerpt(spelledOut(text.slice(0, 2 * LINE)), LINE);
  return text.length <= 2 * LINE || line.endsWith('…') ? line : `${line}…`;
}

/**
 * The facts that a person needs before they permit a call. `edit` is its effect on files, if that was compared. The question
 * names a file below `cwd` by its relative path, because the end tells it from other files. The details have the whole path.
 */
export function summarizeTool(
  { name, input }: Pick<HookTool, 'name' | 'input'>,
  { edit, cwd }: { edit?: ShownEdit | undefined; cwd?: string | undefined } = {},
): ToolSummary {
  // The input may be any JSON, and a client may leave it out.
  const given = objectIn(input) ?? { input };
  const { show, ...described } = describeCall(name, given, cwd);
  const { verb, what, named, description } = { ...described, ...edit };
  const rest = without(given, [...named, ...(description === null ? [] : ['description'])]);
  // The text of an edit has its own limits.
  const own = edit === undefined ? named.map((field) => given[field]) : [];
  const details = areTooLong([own, rest])
    ? null
    : [edit?.shown ?? show(), argumentLines(rest)].filter((part) => part !== '').join('\n\n');
  return { question: questionOf({ verb, what }), details, description };
}

/** The input without these fields. */
export function without(input: Raw, fields: readonly string[]): Raw {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !fields.includes(name)));
}

/** The question whether a call may be made. */
export function questionOf({ verb, what }: Pick<Described, 'verb' | 'what'>): string {
  return `${firstLine(what === null ? verb : `${verb} ${what}`)}?`;
}

interface Described {
  verb: string;
  what: string | null;
  /** Renders the command, the patch or the diff. */
  show: () => string;
  /** The arguments that this shows in full. */
  named: readonly string[];
  description: string | null;
}

const NOTHING_SHOWN = { show: () => '', named: [], description: null } as const;

/** The tool with which Codex types into a command that it has left running. */
const TYPING = 'write_stdin';

/** The tool with which Codex edits files. */
export const PATCH = 'apply_patch';

/** Tools that change files. */
export const EDIT_TOOLS: ReadonlySet<string> = new Set([...FILE_ARGUMENTS.keys(), PATCH]);
/** Tools that read a file or a folder: a link in its path may lead anywhere. */
export const READ_TOOLS: ReadonlySet<string> = new Set(['Read', 'NotebookRead', 'Grep', 'Glob', 'LS']);

/** The command that a call runs, or its patch; null for a tool that works on files, where an argument of that name runs nothing. */
function commandOf(name: string, input: Raw): string | null {
  const isOnFiles = READ_TOOLS.has(name) || (EDIT_TOOLS.has(name) && name !== PATCH);
  return isOnFiles ? null : textIn(input, 'command');
}

/** A call in words, without its arguments. */
export function describeCall(name: string, input: Raw, cwd: string | undefined): Described {
  const path = textIn(input, 'file_path', 'notebook_path');
  const file = path !== null && cwd !== undefined ? relativeTo(cwd, path) : path;
  const command = commandOf(name, input);
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name);
  // If the name has another `__`, it is unclear where the server's name ends.
  const isClear = mcp !== null && /^mcp__(.+)__(.+)$/.exec(name)?.[1] === mcp[1];
  if (mcp !== null)
    return { ...NOTHING_SHOWN, verb: 'Call', what: isClear ? `${mcp[2]} of ${mcp[1]}` : name };
  const typed = name === TYPING ? textIn(input, 'chars') : null;
  if (typed !== null)
    return { ...NOTHING_SHOWN, verb: 'Type into a running command:', what: typed.slice(0, 2 * LINE + 1) };
  if (command !== null) {
    const patch = name === PATCH;
    return {
      verb: patch ? 'Apply a patch' : 'Run',
      // Only its beginning is shown there.
      what: patch ? patchedFiles(command) : command.slice(0, 2 * LINE + 1),
      show: () => indented(patch ? revealedSource(command) : spelledOut(command)),
      named: ['command'],
      description: textIn(input, 'description'),
    };
  }
  if (file !== null && name === 'Read') return { ...NOTHING_SHOWN, verb: 'Read', what: file };
  if (file !== null) {
    const verb = name === 'Write' ? 'Write' : 'Change';
    return { ...NOTHING_SHOWN, verb, what: file, ...diff(input) };
  }
  const url = textIn(input, 'url');
  return url === null
    ? { ...NOTHING_SHOWN, verb: 'Use', what: name }
    : { ...NOTHING_SHOWN, verb: 'Fetch', what: url };
}

function relativeTo(folder: string, path: string): string {
  const rest = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : '';
  return rest === '' || rest.split('/').includes('..') ? path : rest;
}

function patchedFiles(patch: string): string | null {
  let files = '';
  for (const [, file] of patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)) {
    files += files === '' ? `to ${file}` : `, ${file}`;
    // Only the beginning is shown.
    if (files.length > 2 * LINE) break;
  }
  return files === '' ? null : files;
}

/** Old lines as `-`, new lines as `+`. Edits of a list are left to the arguments, which show all of their fields. */
function diff(input: Raw): Pick<Described, 'show' | 'named'> {
  const added = ['new_string', 'content', 'new_source'].find((field) => textIn(input, field) !== null);
  const named = [textIn(input, 'old_string') === null ? [] : 'old_string', added ?? []].flat();
  const part = (field: string): string =>
    marked(field === 'old_string' ? '- ' : '+ ', revealedSource(String(input[field])));
  return { show: () => named.map(part).join('\n'), named };
}

/** Not one of the names that begin a line of Hive's own (`factsOf`). */
const PLAIN_NAME = /^(?!(?:Tool|Directory)$)[A-Za-z_][\w-]*$/;

/** The name of an argument or of another field, in quotes if it could be taken for words of Hive. */
export function fieldName(name: string): string {
  return PLAIN_NAME.test(name) ? name : spelledOut(JSON.stringify(name));
}

/** Each argument by its name, whether Hive knows it or not. */
export function argumentLines(input: Raw): string {
  return Object.entries(input).map(argumentLine).join('\n');
}

function argumentLine([name, value]: [string, unknown]): string {
  const [first, ...more] = spelledOut(JSON.stringify(value, null, JSON_INDENT) ?? 'null').split('\n');
  return [`${fieldName(name)}: ${first}`, ...more.map((line) => `${INDENT}${line}`)].join('\n');
}

/** Whether a desk can show all of it. A desk must not allow what it cannot show (invariant 13). */
export function fits(details: string): boolean {
  return new TextEncoder().encode(details).length <= DETAILS_BYTES;
}

/** The beginning of the line with the directory. */
export const DIRECTORY = 'Directory: ';
/** The line before the agent's own description of a call. */
export const DESCRIPTION = "The agent's own description of it:";

/** Paths are never longer than this. */
const LONGEST_NAME = 4_096;

function nameLine(name: string): string {
  return name.length <= LONGEST_NAME ? spelledLine(name) : `${spelledLine(name.slice(0, LONGEST_NAME))}…`;
}

/** The lines with the tool and the directory in which it would run; null if that is not known. */
export function factsOf(tool: string, cwd: string | null): string {
  return `Tool: ${nameLine(tool)}\n${DIRECTORY}${cwd === null ? 'not known' : nameLine(cwd)}`;
}

// ---- A call, read back ----
// So rules can be tried on the history without a second copy of each call. This permits nothing: a rule decides about the call that
// is about to run, never about the call read back.

/** A call as far as its permission displayed it. */
export interface ShownCall {
  tool: HookTool;
  /** The directory in which the agent worked. */
  cwd: string;
}

/** The line that names the tool is the last one of this form, because the agent's own words after it are indented. */
const FACTS = /(?:^|\n)Tool: [^\n]*\nDirectory: ([^\n]*)(?=\n|$)/g;
const FINGERPRINT = /^(.+?) [0-9a-f]{64}(?: with [0-9a-f]{64})?(?: for .*)?$/s;
const ARGUMENT = /^([A-Za-z_][\w-]*|"(?:[^"\\]|\\.)*"): (.*)$/;
/** Text with a spelled-out character is not the text of the call. */
const SPELLED_OUT = /<U\+[0-9A-F]{4,6}>/;

/**
 * The call of a permission; null for a plan, for a call that was too long to be displayed, and for text with spelled-out
 * characters.
 */
export function shownCall({
  kind,
  dialog,
  fingerprint,
  context,
}: Pick<Prompt, 'kind' | 'dialog' | 'fingerprint' | 'context'>): ShownCall | null {
  const name = FINGERPRINT.exec(fingerprint)?.[1];
  const facts = [...(context ?? '').matchAll(FACTS)].at(-1);
  if (kind !== 'permission' || !dialog || name === undefined || facts === undefined) return null;
  const cwd = facts[1] ?? '';
  const details = (context ?? '').slice(0, facts.index);
  const args = argumentsIn(details);
  const input = args === null ? null : { ...fileIn(name, details), ...args };
  // A quoted directory has a line break or a quote in its name.
  if (
    input === null ||
    Object.keys(input).length === 0 ||
    cwd.startsWith('"') ||
    SPELLED_OUT.test(`${name}${cwd}${details}`)
  )
    return null;
  return { tool: { name, input, use_id: null, response: null, own: null }, cwd };
}

/** The file of an edit, which its heading shows instead of an argument line. */
function fileIn(tool: string, details: string): Raw {
  const field = FILE_ARGUMENTS.get(tool);
  const file = field === undefined ? null : fileHeaded(details);
  return field === undefined || file === null ? {} : { [field]: file };
}

/** The other arguments in the details of a permission; null if they cannot be read. */
function argumentsIn(details: string): Raw | null {
  const lines = details.split('\n');
  const found = new Map<string, unknown>();
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const block = following(lines, at);
    // Only a command is an indented paragraph after a blank line; other indented lines belong to the argument above them.
    if (block > at && (lines[at - 1] ?? '') === '') {
      if (found.has('command')) return null;
      found.set('command', textOf(lines.slice(at, block)));
      at = block;
      continue;
    }
    const [, name, first = ''] = ARGUMENT.exec(line) ?? [];
    at += 1;
    if (name === undefined) continue;
    const end = following(lines, at);
    try {
      const key = name.startsWith('"') ? String(JSON.parse(name)) : name;
      found.set(key, JSON.parse([first, textOf(lines.slice(at, end))].join('\n')));
    } catch {
      return null;
    }
    at = end;
  }
  return Object.fromEntries(found);
}

/** The index after the indented lines. */
function following(lines: readonly string[], from: number): number {
  let end = from;
  while (lines[end]?.startsWith(INDENT) === true) end += 1;
  return end;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => line.slice(INDENT.length)).join('\n');
}
