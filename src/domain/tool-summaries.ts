/** What a tool is about to do, for a person who is to permit it: one line, and the details. Pure. */
import { objectIn, objectsIn, type Raw, textIn } from './dialogs.ts';
import type { HookTool } from './hooks.ts';
import { excerpt } from './text.ts';

export interface ToolSummary {
  /** As a question: `Run npm test?` */
  question: string;
  /** Command, diff or arguments in full, as far as a desk takes it. */
  details: string;
}

/** A prompt's context holds 64 KB; the rest of it is for what stands around the details. */
const DETAILS_CHARACTERS = 14_000;
const LINE = 600;

export function summarizeTool({ name, input }: HookTool): ToolSummary {
  const given = objectIn(input) ?? {};
  const { verb, what, details } = describe(name, given);
  const line = what === null ? verb : `${verb} ${what}`;
  return { question: `${excerpt(line, LINE)}?`, details: cut(details) };
}

/** What a rule is compared with: the command, the file, the address; else the arguments as JSON. */
export function mainText({ input }: HookTool): string {
  const given = objectIn(input) ?? {};
  return (
    textIn(given, 'command', 'file_path', 'notebook_path', 'path', 'url', 'query') ?? JSON.stringify(given)
  );
}

function describe(name: string, input: Raw): { verb: string; what: string | null; details: string } {
  const file = textIn(input, 'file_path', 'notebook_path');
  const command = textIn(input, 'command');
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name);
  if (mcp !== null) return { verb: 'Call', what: `${mcp[2]} of ${mcp[1]}`, details: pretty(input) };
  if (name === 'apply_patch' && command !== null)
    return { verb: 'Apply a patch', what: patchedFiles(command), details: command };
  if (command !== null) return { verb: 'Run', what: command, details: commandDetails(command, input) };
  if (file !== null && name === 'Read') return { verb: 'Read', what: file, details: '' };
  if (file !== null) return { verb: name === 'Write' ? 'Write' : 'Change', what: file, details: diff(input) };
  const url = textIn(input, 'url');
  if (url !== null) return { verb: 'Fetch', what: url, details: pretty(input) };
  return { verb: 'Use', what: name, details: Object.keys(input).length === 0 ? '' : pretty(input) };
}

function commandDetails(command: string, input: Raw): string {
  const why = textIn(input, 'description');
  return [why, command].filter((part) => part !== null).join('\n\n');
}

function patchedFiles(patch: string): string | null {
  const files = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((match) => match[1]);
  return files.length === 0 ? null : `to ${files.join(', ')}`;
}

/** Old lines out, new lines in; several edits of one file one after the other. */
function diff(input: Raw): string {
  const edits = [input, ...objectsIn(input['edits'])];
  const parts = edits.map((edit) => {
    const removed = textIn(edit, 'old_string');
    const added = textIn(edit, 'new_string', 'content', 'new_source');
    return [marked('-', removed), marked('+', added)].filter((part) => part !== null).join('\n');
  });
  return parts.filter((part) => part !== '').join('\n\n');
}

function marked(mark: string, text: string | null): string | null {
  return text === null
    ? null
    : text
        .split('\n')
        .map((line) => `${mark} ${line}`)
        .join('\n');
}

function pretty(input: Raw): string {
  return JSON.stringify(input, null, 2);
}

function cut(details: string): string {
  const characters = Array.from(details);
  if (characters.length <= DETAILS_CHARACTERS) return details;
  const rest = characters.length - DETAILS_CHARACTERS;
  return `${characters.slice(0, DETAILS_CHARACTERS).join('')}\n… ${rest} more characters are in the agent's own terminal.`;
}
