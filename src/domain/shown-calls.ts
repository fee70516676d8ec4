/**
 * Reads the tool call of a stored permission back from the text that displayed it (dialogs.ts). The text is unambiguous: Hive's
 * own words are at the beginning of a line, and the agent's text is indented, marked as a diff or quoted as JSON. So rules can be
 * tried on the history without a second copy of each call. This permits nothing: a rule decides about the call that is about to
 * run, never about the call read back. Pure.
 */
import type { HookTool } from './hooks.ts';
import type { Prompt } from './prompts.ts';
import { INDENT } from './text.ts';

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
  const input = argumentsIn(details);
  // A quoted directory has a line break or a quote in its name.
  if (input === null || cwd.startsWith('"') || SPELLED_OUT.test(`${name}${cwd}${details}`)) return null;
  return { tool: { name, input, use_id: null, response: null, own: null }, cwd };
}

/** The arguments in the details of a permission; null if they cannot be read. */
function argumentsIn(details: string): Record<string, unknown> | null {
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
  return found.size === 0 ? null : Object.fromEntries(found);
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
