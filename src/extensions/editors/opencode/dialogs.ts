/**
 * The questions of opencode to its person, as dialogs of the hive, and their answers in the form that opencode expects. A
 * permission is for a pattern; what is shown is the whole call of the tool that asks for it, because that is what runs.
 */

import { spelledLine } from '../../../domain/display.ts';
import { type FormDialog, formHeader } from '../../../domain/forms.ts';
import { objectIn, objectsIn, type Raw, textIn } from '../../../domain/json.ts';
import { PROMPT_LIMITS } from '../../../domain/prompts.ts';
import type { EditorAnswer, EditorOption, EditorPermission } from '../dialog.ts';

export const CLIENT = 'opencode';

// ---- Permissions ----

const ONCE: EditorOption = {
  id: 'once',
  label: 'Allow once',
  description: 'This once',
  refuses: false,
  once: true,
};
const REJECT: EditorOption = {
  id: 'reject',
  label: 'Reject',
  description: 'Refuse this, and what else this session waits for. Anything you type is sent to the agent',
  refuses: true,
  once: true,
};

/** The call of a tool, as described in the message that contains it. */
export interface Call {
  tool: string;
  input: Raw;
}

/** The call with this id among the parts of a message; null when it is not there. */
export function callIn(message: unknown, call_id: string): Call | null {
  for (const part of objectsIn(objectIn(message)?.['parts'])) {
    const tool = textIn(part, 'tool');
    if (part['type'] !== 'tool' || part['callID'] !== call_id || tool === null) continue;
    const input = objectIn(objectIn(part['state'])?.['input']);
    return input === null ? null : { tool, input };
  }
  return null;
}

/** The dialog of `permission.asked`; null when it has no such form. `call` is the call of the tool that asks, if it is known. */
export function permissionOf(request: Raw, call: Call | null, cwd: string): EditorPermission | null {
  const permission = textIn(request, 'permission');
  if (permission === null) return null;
  const metadata = objectIn(request['metadata']) ?? {};
  // The results that opencode computes from the call are not shown in addition to it.
  const { diff: _diff, filepath: _file, ...more } = metadata;
  return {
    kind: 'permission',
    tool: call === null ? { name: permission, input: metadata } : toolOf(permission, call),
    notes: [`It asks for ${permission}: ${textsIn(request['patterns']).join(', ')}`],
    changes: [],
    rest: call === null ? {} : unlike(more, call.input),
    options: [ONCE, ...alwaysFor(textsIn(request['always'])), REJECT],
    cwd,
    takes_notes: true,
  };
}

/** Offered only if everything that it covers can be displayed. */
function alwaysFor(patterns: readonly string[]): EditorOption[] {
  const description = `Until opencode ends, for everything that matches: ${patterns.map(spelledLine).join(', ')}`;
  if (patterns.length === 0 || description.length > PROMPT_LIMITS.optionDescription) return [];
  return [{ id: 'always', label: 'Allow always', description, refuses: false, once: false }];
}

/** The fields that differ from those of the call, which is shown anyway. */
function unlike(fields: Raw, input: Raw): Raw {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => !Object.hasOwn(input, name) || JSON.stringify(input[name]) !== JSON.stringify(value),
    ),
  );
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

interface KnownTool {
  /** The permission's name in opencode. */
  permission: string;
  /** The tool's name in Hive. */
  name: string;
  /** The names of its fields in Hive. */
  fields?: ReadonlyMap<string, string>;
}

/** Tools whose arguments Hive understands, by their names in opencode. */
const KNOWN: ReadonlyMap<string, KnownTool> = new Map([
  ['bash', { permission: 'bash', name: 'Bash' }],
  [
    'edit',
    {
      permission: 'edit',
      name: 'Edit',
      fields: new Map([
        ['filePath', 'file_path'],
        ['oldString', 'old_string'],
        ['newString', 'new_string'],
        ['replaceAll', 'replace_all'],
      ]),
    },
  ],
  ['write', { permission: 'edit', name: 'Write', fields: new Map([['filePath', 'file_path']]) }],
  ['apply_patch', { permission: 'edit', name: 'apply_patch', fields: new Map([['patchText', 'command']]) }],
  ['read', { permission: 'read', name: 'Read', fields: new Map([['filePath', 'file_path']]) }],
  ['webfetch', { permission: 'webfetch', name: 'WebFetch' }],
]);

/**
 * The tool as people and their rules know it. A permission for something other than the call itself (such as a directory
 * outside the project) keeps opencode's name for it, so that no rule about the tool answers it.
 */
function toolOf(permission: string, { tool, input }: Call): EditorPermission['tool'] {
  const known = KNOWN.get(tool);
  if (known?.permission !== permission) return { name: permission, input: { tool, input } };
  return { name: known.name, input: renamed(input, known.fields ?? new Map()) };
}

const MARK = 'its ';

/**
 * The fields under their new names. If the new name belongs to another field already, that field gets a mark, and so does one
 * that looks as if it had the mark, so that no field replaces another.
 */
function renamed(input: Raw, fields: ReadonlyMap<string, string>): Raw {
  const taken = new Set(fields.values());
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const isAnother = taken.has(name) || name.startsWith(MARK);
      return [fields.get(name) ?? (isAnother ? `${MARK}${name}` : name), value];
    }),
  );
}

/** The body of the reply to a permission. */
export function permissionReply(answer: EditorAnswer): { reply: string; message?: string } {
  if (answer.kind !== 'chosen') return { reply: REJECT.id };
  const { option_id: reply, note } = answer;
  // Only a refusal can carry a comment.
  return note !== null && reply === REJECT.id ? { reply, message: note } : { reply };
}

// ---- Questions ----

/** The dialog of `question.asked`; null if nothing of it can be shown. */
export function questionsOf(request: Raw): FormDialog | null {
  const questions = objectsIn(request['questions']);
  if (questions.length === 0) return null;
  const fields = questions.flatMap((question, n): (readonly [string, Raw])[] => {
    const choices = objectsIn(question['options']).flatMap((option): Raw[] => {
      const label = textIn(option, 'label');
      return label === null
        ? []
        : [{ const: label, title: label, description: textIn(option, 'description') }];
    });
    const field = {
      title: textIn(question, 'question') ?? '?',
      ...schemaOf(choices, question['multiple'] === true),
    };
    const own = choices.length > 0 && question['custom'] !== false;
    return [[`q${n}`, field] as const, ...(own ? [[`q${n}_custom`, { type: 'string' }] as const] : [])];
  });
  const headers = questions.map((question) => textIn(question, 'header')).filter((text) => text !== null);
  return {
    kind: 'form',
    asker: `The agent ${CLIENT}`,
    header: formHeader(CLIENT),
    message: headers.join(', ') || CLIENT,
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields),
      required: fields.map(([name]) => name),
    },
    url: null,
  };
}

function schemaOf(choices: readonly Raw[], multiple: boolean): Raw {
  if (choices.length === 0) return { type: 'string' };
  return multiple ? { type: 'array', items: { anyOf: choices } } : { type: 'string', oneOf: choices };
}

/** The answers to a question, in its order; null when it is declined. */
export function questionAnswers(request: Raw, answer: EditorAnswer): string[][] | null {
  if (answer.kind !== 'form' || answer.action !== 'accept') return null;
  return objectsIn(request['questions']).map((_, n) => {
    // Own words stand for an answer, or are a comment after it.
    const given = [answer.content[`q${n}`], answer.content[`q${n}_custom`]].flat();
    return given.filter((one) => typeof one === 'string');
  });
}
