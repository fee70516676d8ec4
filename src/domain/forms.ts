/**
 * Forms: fields that an MCP server or an agent wants filled in (elicitation). A form becomes prompts, one per field, and
 * their answers become its content. The schema is the restricted JSON Schema of MCP and ACP: a flat object of texts,
 * numbers, booleans and choices. Pure.
 */

import type { DialogAnswer } from './hooks.ts';
import { objectIn, objectsIn, type Raw, textIn } from './json.ts';
import { type AskRequest, canBePrompt, keptLabel, type Prompt, type PromptOption } from './prompts.ts';

/** A form as it was sent. */
export interface FormDialog {
  kind: 'form';
  /** The sender, for people: the name of an MCP server, or of an agent. */
  asker: string;
  /** The header of its prompts, which identifies them. */
  header: string;
  message: string;
  schema: Raw;
  /** A page to open instead of fields to fill in. */
  url: string | null;
}

const YES = 'yes';
const NO = 'no';
const ACCEPT = 'Accept';
const DECLINE = 'Decline';
const EMPTY = 'leave empty';

/** The header of the prompts of a form. */
export function formHeader(asker: string): string {
  return `${asker} asks`;
}

/** Whether a prompt is of a form of the MCP server to which a tool belongs, as Claude Code names its tools. */
export function isFormOf({ kind, header }: Pick<Prompt, 'kind' | 'header'>, tool: { name: string }): boolean {
  const server = kind === 'question' && header !== null ? /^(.*) asks$/.exec(header)?.[1] : undefined;
  return server !== undefined && tool.name.startsWith(`mcp__${server.replaceAll(/[^\w-]/g, '_')}__`);
}

/** The form that a client's hook reports for one of its MCP servers; null if it cannot be shown. */
export function mcpForm(raw: Raw): FormDialog | null {
  const server = typeof raw['mcp_server_name'] === 'string' ? raw['mcp_server_name'] : 'an MCP server';
  const given = {
    mode: raw['mode'],
    url: raw['url'],
    schema: raw['requested_schema'],
    message: raw['message'],
  };
  return formFrom(given, { asker: `The MCP server ${server}`, header: formHeader(server) });
}

/** A form in either of its modes; null if it cannot be shown. With `url`, the human opens that page. */
export function formFrom(
  { mode, url, schema, message }: Readonly<Record<'mode' | 'url' | 'schema' | 'message', unknown>>,
  asker: Pick<FormDialog, 'asker' | 'header'>,
): FormDialog | null {
  const page = mode === 'url' ? textIn({ url }, 'url') : null;
  const fields = mode === 'url' ? {} : objectIn(schema);
  if (fields === null || (mode === 'url' && page === null)) return null;
  return { kind: 'form', ...asker, message: String(message ?? ''), schema: fields, url: page };
}

// ---- Fields ----

interface Field {
  name: string;
  schema: Raw;
  required: boolean;
  /** The companion field that accepts free text instead of a choice; null if there is none. */
  own_words: string | null;
}

/** A field `X_custom` of text belongs to the choice `X`: Claude Code offers "Other" in that way. */
const OWN_WORDS = '_custom';

function fieldsOf({ schema }: FormDialog): Field[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = objectIn(schema['properties']) ?? {};
  const named = new Map(Object.entries(properties).map(([name, field]) => [name, objectIn(field) ?? {}]));
  const isCompanion = (name: string): boolean => {
    const choice = name.endsWith(OWN_WORDS) ? named.get(name.slice(0, -OWN_WORDS.length)) : undefined;
    return choice !== undefined && choicesOf(choice).length > 0 && named.get(name)?.['type'] === 'string';
  };
  return [...named]
    .filter(([name]) => !isCompanion(name))
    .map(([name, field]) => ({
      name,
      schema: field,
      required: required.includes(name),
      own_words: isCompanion(`${name}${OWN_WORDS}`) ? `${name}${OWN_WORDS}` : null,
    }));
}

export interface Previewed {
  /** Claude Code shows this next to the options while this one is selected, such as a mock-up. */
  preview: string | null;
}

/** The previews of the options, each below its label; null where there are none. */
export function previewsOf(options: readonly (Pick<PromptOption, 'label'> & Previewed)[]): string | null {
  const parts = options.flatMap(({ label, preview }) =>
    preview === null ? [] : [`${keptLabel(label)}:\n\n${preview.replaceAll(/^/gm, '    ')}`],
  );
  return parts.length === 0 ? null : parts.join('\n\n');
}

/** Where claude-agent-acp puts the preview of an option of Claude Code, for which the schema has no field. */
const PREVIEW = '_claude/askUserQuestionOption';

/** One of the values of a field that has choices. */
interface Choice extends PromptOption, Previewed {
  value: string | boolean;
}

/** The choices of a field or of a list field; empty if anything may be written. */
function choicesOf(schema: Raw): Choice[] {
  if (schema['type'] === 'boolean')
    return [
      { label: YES, description: null, preview: null, value: true },
      { label: NO, description: null, preview: null, value: false },
    ];
  const of = schema['type'] === 'array' ? (objectIn(schema['items']) ?? {}) : schema;
  const titled = [...objectsIn(of['oneOf']), ...objectsIn(of['anyOf'])].flatMap((one): Choice[] => {
    const value = one['const'];
    if (typeof value !== 'string') return [];
    const preview = textIn(objectIn(objectIn(one['_meta'])?.[PREVIEW]) ?? {}, 'preview');
    return [
      { label: textIn(one, 'title') ?? value, description: textIn(one, 'description'), preview, value },
    ];
  });
  const plain = Array.isArray(of['enum']) ? of['enum'].filter((value) => typeof value === 'string') : [];
  return [...titled, ...plain.map((value) => ({ label: value, description: null, preview: null, value }))];
}

// ---- As prompts ----

/** One prompt per field; none when a desk could not show them. A form without fields asks for a yes or a no. */
export function formPrompts(dialog: FormDialog): AskRequest[] {
  const { asker, header, message, url } = dialog;
  const page =
    url === null ? '' : ` It wants you to open this page; Hive does not open it for you:\n\n${url}`;
  const shared = {
    kind: 'question',
    header,
    context: `${asker} asks.${page}`,
    when_turn_aborted: 'cancelled',
  } as const;
  const fields = fieldsOf(dialog);
  if (fields.length === 0) {
    const options = [ACCEPT, DECLINE].map((label) => ({ label, description: null }));
    const agreement = { ...shared, question: message, options, allow_free_text: false };
    return canBePrompt(agreement) ? [agreement] : [];
  }
  const prompts = fields.map((field) => {
    const { schema, required, name, own_words } = field;
    const label = textIn(schema, 'title') ?? name;
    const about = textIn(schema, 'description');
    const choices = choicesOf(schema);
    const asked = {
      ...shared,
      question: `${message} · ${label}${about === null ? '' : ` (${about})`}`,
      options: [
        ...choices.map(({ label, description }) => ({ label, description })),
        ...[...(required ? [] : [EMPTY]), DECLINE].map((word) => ({ label: word, description: null })),
      ],
      multi_select: schema['type'] === 'array' && choices.length > 0,
      allow_free_text: choices.length === 0 || own_words !== null,
    };
    const context = [shared.context, previewsOf(choices)].filter((text) => text !== null).join('\n\n');
    return canBePrompt({ ...asked, context }) ? { ...asked, context } : asked;
  });
  return prompts.every(canBePrompt) ? prompts : [];
}

// ---- Answers as content ----

/** The reply to the sender of the form; null if an answer does not have the type of its field. */
export function decideForm(dialog: FormDialog, prompts: readonly Prompt[]): DialogAnswer | null {
  if (prompts.some(({ selected }) => selected.includes(DECLINE)))
    return { kind: 'form', action: 'decline', content: {} };
  const given = fieldsOf(dialog).map((field, n) => contentOf(field, prompts[n]));
  if (given.includes(null)) return null;
  // A field may have any name, even `__proto__`.
  const content = Object.fromEntries(given.flatMap((part) => Object.entries(part ?? {})));
  return { kind: 'form', action: 'accept', content };
}

/** Whether the reply contains the human's comment: a choice has a field for it if it takes free text. */
export function saysComment(answer: { kind: string; content?: Raw }, comment: string): boolean {
  return answer.kind === 'form' && Object.values(answer.content ?? {}).includes(comment);
}

/** The content of one field; null if the answer does not fit it. */
function contentOf({ name, schema, required, own_words }: Field, prompt: Prompt | undefined): Raw | null {
  const { decision = null, selected = [], comment = null } = prompt ?? {};
  if (decision === null) return null;
  if (!required && selected.length === 1 && selected[0] === EMPTY) return {};
  const choices = choicesOf(schema);
  if (selected.length > 0 && choices.length > 0) {
    const chosen = choices
      .filter(({ label }) => selected.includes(keptLabel(label)))
      .map(({ value }) => value);
    if (chosen.length !== selected.length) return null;
    const said = own_words === null || comment === null ? {} : { [own_words]: comment };
    return { [name]: schema['type'] === 'array' ? chosen : chosen[0], ...said };
  }
  if (own_words !== null) return { [own_words]: decision };
  const value = writtenValue(schema['type'], decision);
  return value === null ? null : { [name]: value };
}

/** A value that the human wrote; null when it is not of this type. */
function writtenValue(type: unknown, text: string): string | number | null {
  if (type !== 'number' && type !== 'integer') return type === 'boolean' ? null : text;
  const number = Number(text);
  const fits =
    text.trim() !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number));
  return fits ? number : null;
}
