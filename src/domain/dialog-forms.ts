/** A form that an MCP server wants filled in (elicitation) as prompts, one a field, and the content back. Pure. */
import { type Dialog, type DialogAnswer, objectIn, type Raw, textIn } from './dialogs.ts';
import type { AskRequest } from './prompt-asking.ts';
import type { Prompt } from './prompts.ts';

export type FormDialog = Extract<Dialog, { kind: 'form' }>;

const YES = 'yes';
const NO = 'no';
const ACCEPT = 'Accept';
const DECLINE = 'Decline';
const EMPTY = 'leave empty';

interface Field {
  name: string;
  schema: Raw;
  required: boolean;
}

function fieldsOf({ schema }: FormDialog): Field[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(objectIn(schema['properties']) ?? {}).map(([name, field]) => ({
    name,
    schema: objectIn(field) ?? {},
    required: required.includes(name),
  }));
}

/** By it a form's prompts are known again. */
export function formHeader(server: string): string {
  return `${server} asks`;
}

/** One prompt a field; a form without fields, and a page to visit, ask for a yes or a no. */
export function formPrompts(dialog: FormDialog): AskRequest[] {
  const { server, message, url } = dialog;
  const header = formHeader(server);
  const page = url === null ? '' : ` It wants you to open this page, which nobody opens for you:\n\n${url}`;
  const shared = {
    kind: 'question',
    header,
    context: `The MCP server ${server} asks.${page}`,
    bind: 'turn',
  } as const;
  const fields = fieldsOf(dialog);
  if (fields.length === 0) {
    return [{ ...shared, question: message, options: [ACCEPT, DECLINE], allow_free_text: false }];
  }
  return fields.map((field) => {
    const { schema, required, name } = field;
    const label = textIn(schema, 'title') ?? name;
    const about = textIn(schema, 'description');
    const options = choicesOf(schema);
    return {
      ...shared,
      question: `${message} · ${label}${about === null ? '' : ` (${about})`}`,
      options: [...options, ...(required ? [] : [EMPTY]), DECLINE],
      allow_free_text: options.length === 0,
    };
  });
}

function choicesOf(schema: Raw): string[] {
  if (schema['type'] === 'boolean') return [YES, NO];
  const choices = schema['enum'];
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
}

/** What the server gets; null when an answer is not of the kind that its field wants. */
export function decideForm(dialog: FormDialog, prompts: readonly Prompt[]): DialogAnswer | null {
  if (prompts.some(({ decision, selected }) => decision === DECLINE && selected.length === 1))
    return { kind: 'form', action: 'decline', content: {} };
  const content: Record<string, unknown> = {};
  for (const [n, { name, schema }] of fieldsOf(dialog).entries()) {
    const { decision = null, selected = [] } = prompts[n] ?? {};
    if (decision === null) return null;
    if (decision === EMPTY && selected.length === 1) continue;
    const value = fieldValue(schema['type'], decision);
    if (value === null) return null;
    content[name] = value;
  }
  return { kind: 'form', action: 'accept', content };
}

function fieldValue(type: unknown, text: string): string | number | boolean | null {
  if (type === 'boolean') return text === YES;
  if (type !== 'number' && type !== 'integer') return text;
  const number = Number(text);
  const fits =
    text.trim() !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number));
  return fits ? number : null;
}
