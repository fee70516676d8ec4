/**
 * The requests of an ACP agent to its client, as dialogs of the hive, and their answers in the form that ACP requires. Only the
 * shape of a request is trusted, and all of it is shown. Protocol versions 1 and 2 differ in where they put the call.
 */
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { formFrom, formHeader } from '../../../domain/forms.ts';
import { objectIn, objectsIn, type Raw, textIn } from '../../../domain/json.ts';
import type { EditorAnswer, EditorDialog, EditorOption, ShownChange } from '../dialog.ts';

/** The reports on each call that has not ended, by its id: a request may contain only the id. */
export class ToolCalls {
  readonly #calls = new Map<string, Raw>();

  /** Takes in a `session/update`. */
  update(update: Raw): void {
    const kind = update['sessionUpdate'];
    if (kind !== 'tool_call' && kind !== 'tool_call_update') return;
    const id = textIn(update, 'toolCallId');
    if (id === null) return;
    if (update['status'] === 'completed' || update['status'] === 'failed') this.#calls.delete(id);
    else this.#calls.set(id, merged(this.#calls.get(id), update));
  }

  /** A call as the request describes it, with what was reported before. */
  describe(given: Raw): Raw {
    const id = textIn(given, 'toolCallId');
    return merged(id === null ? undefined : this.#calls.get(id), given);
  }

  /** The turn has ended, and with it every call. */
  clear(): void {
    this.#calls.clear();
  }
}

/**
 * A later report replaces the fields that it has, and within the input those that it names: opencode asks with less of the input
 * than it has reported before, and the place where a command runs must be shown.
 */
function merged(before: Raw | undefined, now: Raw): Raw {
  const given = Object.entries(now).filter(([, value]) => !isEmpty(value));
  const fields = { ...before, ...Object.fromEntries(given) };
  const [earlier, input] = [objectIn(before?.['rawInput']), objectIn(now['rawInput'])];
  return earlier === null || input === null ? fields : { ...fields, rawInput: { ...earlier, ...input } };
}

/** The meaning of an option by its kind, and whether it refuses. An unknown kind may allow anything. */
const OPTION_KINDS: ReadonlyMap<unknown, Pick<EditorOption, 'description' | 'refuses' | 'once'>> = new Map([
  ['allow_once', { description: 'This once', refuses: false, once: true }],
  [
    'allow_always',
    { description: 'From now on; the agent decides what this covers', refuses: false, once: false },
  ],
  ['reject_once', { description: 'Refuse this once', refuses: true, once: true }],
  ['reject_always', { description: 'Refuse from now on', refuses: true, once: false }],
]);
const UNKNOWN_KIND = { description: 'The agent does not say what this means', refuses: false, once: false };

/** Whether a value of a field is shown elsewhere, or does not affect what the call does. */
type Shown = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): value is string => typeof value === 'string';
const anything = (): boolean => true;
const oneOf = (...texts: string[]): ((value: unknown) => boolean) => {
  const known = new Set<unknown>(texts);
  return (value) => known.has(value);
};
/** The protocol's kinds of calls: an editor shows them as pictures. */
const isKindOfCall = oneOf(
  ...['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'],
);
/** An id is what the agent gets back, or what its later messages refer to. */
const isId = isText;

const CALL: Shown = {
  content: anything,
  kind: isKindOfCall,
  name: isText,
  rawInput: anything,
  sessionUpdate: isText,
  status: oneOf('pending', 'in_progress', 'completed', 'failed', 'paused', 'cancelled'),
  title: isText,
  toolCallId: isId,
};
const OPTION: Shown = { kind: (value) => OPTION_KINDS.has(value), name: isText, optionId: isId };
const REQUEST: Shown = { description: isText, options: anything, sessionId: isId, title: isText };
const SUBJECT: Shown = { toolCall: anything, type: oneOf('tool_call') };
const CHANGE: Shown = { newText: isText, oldText: isText, path: isText, type: oneOf('diff') };
const CONTENT: Shown = { content: anything, type: oneOf('content') };
const TEXT: Shown = { text: isText, type: oneOf('text') };
const TERMINAL: Shown = { terminalId: isId, type: oneOf('terminal') };

/** The fields of an object that are not shown elsewhere. A field without a value is left out. */
function restOf(raw: Raw, shown: Shown): Raw {
  const left = Object.entries(raw).filter(
    ([name, value]) => !isEmpty(value) && !(Object.hasOwn(shown, name) && shown[name]?.(value) === true),
  );
  return Object.fromEntries(left);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  const object = objectIn(value);
  return object !== null && Object.keys(object).length === 0;
}

/** The dialog of `session/request_permission`; null when its request has no such form. */
export function permissionOf(params: Raw, calls: ToolCalls, cwd: string): EditorDialog | null {
  const { options: list } = params;
  const options = objectsIn(list).flatMap((raw): EditorOption[] => {
    const [id, label] = [textIn(raw, 'optionId'), textIn(raw, 'name')];
    if (id === null || label === null) return [];
    return [{ id, label, ...(OPTION_KINDS.get(raw['kind']) ?? UNKNOWN_KIND) }];
  });
  if (!Array.isArray(list) || options.length !== list.length) return null;
  const { given, beside } = callIn(params);
  const call = calls.describe(given);
  const given_input = call['rawInput'] ?? null;
  const rawInput = objectIn(given_input);
  const input = rawInput === null ? commandOf(call) : withoutOwnDirectory(rawInput, cwd);
  const parts: readonly unknown[] = [call['content'] ?? []].flat();
  const content = objectsIn(parts);
  const notes = [
    textIn(params, 'title'),
    textIn(params, 'description'),
    textIn(call, 'title'),
    ...content.map((part) => textIn(objectIn(part['content']) ?? {}, 'text')),
  ].filter((text) => text !== null);
  const { _meta, ...others } = restOf(call, {
    ...CALL,
    // Without a name, the call is shown by its kind, whatever that is.
    ...(textIn(call, 'name') === null ? { kind: isText } : {}),
    // A command of version 2 consists of its subject.
    ...(rawInput === null ? Object.fromEntries(Object.keys(input).map((name) => [name, anything])) : {}),
    ...(given === params['subject'] ? { type: oneOf('command') } : {}),
  });
  const meta = withoutOwnTerminal(_meta, cwd);
  const rest = {
    ...others,
    ...(isEmpty(meta) ? {} : { _meta: meta }),
    // The protocol allows any JSON.
    ...(rawInput !== null || given_input === null ? {} : { rawInput: given_input }),
    ...without('content', parts.map(restOfPart)),
  };
  return {
    kind: 'permission',
    tool: { name: textIn(call, 'name') ?? textIn(call, 'kind') ?? 'other', input },
    notes: [...new Set(notes)],
    changes: content.flatMap((part) => changeOf(part) ?? []),
    rest: withRequest(rest, { ...beside, ...without('options', list.map(restOfOption)) }),
    options,
    cwd,
    // The protocol has no field for comments.
    takes_notes: false,
  };
}

/**
 * The call of a request, and the request's other fields besides the call and the options. Version 2 has a subject, which contains
 * the call or is a command itself.
 */
function callIn(params: Raw): { given: Raw; beside: Raw } {
  const { toolCall, subject, ...others } = params;
  const request = restOf(others, REQUEST);
  const call = objectIn(toolCall);
  if (call !== null) return { given: call, beside: { ...request, ...restOf({ subject }, {}) } };
  const about = objectIn(subject) ?? {};
  const inner = objectIn(about['toolCall']);
  const odd = restOf({ toolCall, ...(objectIn(subject) === null ? { subject } : {}) }, {});
  if (inner === null) return { given: about, beside: { ...request, ...odd } };
  const left = restOf(about, SUBJECT);
  return { given: inner, beside: { ...request, ...odd, ...(isEmpty(left) ? {} : { subject: left }) } };
}

/**
 * The request of a permission after its call was described anew; null if the update is about another call, or reports that
 * the call is over.
 */
export function describedAnew(params: Raw, update: Raw): Raw | null {
  const id = textIn(update, 'toolCallId');
  const { status, sessionUpdate: _, ...now } = update;
  if (id === null || status === 'completed' || status === 'failed') return null;
  const subject = objectIn(params['subject']);
  const call = objectIn(params['toolCall']);
  if (call?.['toolCallId'] === id) return { ...params, toolCall: merged(call, now) };
  const inner = objectIn(subject?.['toolCall']);
  if (call !== null || inner?.['toolCallId'] !== id) return null;
  return { ...params, subject: { ...subject, toolCall: merged(inner, now) } };
}

/** A field with the values that are not empty; no field if all are empty. */
function without(name: string, values: readonly unknown[]): Raw {
  const left = values.filter((value) => !isEmpty(value));
  return left.length === 0 ? {} : { [name]: left };
}

/** Text of the request itself has its own name, which no field of the call has. */
function withRequest(rest: Raw, beside: Raw): Raw {
  if (isEmpty(beside)) return rest;
  let name = 'request';
  while (Object.hasOwn(rest, name)) name = `_${name}`;
  return { ...rest, [name]: beside };
}

/** The rest of an option, with its name. */
function restOfOption(option: unknown): Raw {
  const raw = objectIn(option) ?? {};
  const left = restOf(raw, OPTION);
  return isEmpty(left) ? {} : { name: raw['name'], ...left };
}

/** The call of a request that carries a command and no input; otherwise there is no input. */
function commandOf(call: Raw): Raw {
  const { command, args, cwd } = call;
  return typeof command === 'string'
    ? { command, ...(args === undefined ? {} : { args }), ...(cwd === undefined ? {} : { cwd }) }
    : {};
}

/** Codex names the directory of each call, even that of the session, which is shown with every call. */
function withoutOwnDirectory(input: Raw, cwd: string): Raw {
  if (input['cwd'] !== cwd) return input;
  const { cwd: _, ...others } = input;
  return others;
}

/** Codex names the directory once more for the terminal of the output. */
function withoutOwnTerminal(meta: unknown, cwd: string): unknown {
  const raw = objectIn(meta);
  return raw === null ? meta : restOf(raw, { terminal_info: isOwn });

  function isOwn(info: unknown): boolean {
    const terminal = objectIn(info);
    return (
      terminal !== null && isEmpty(restOf(terminal, { cwd: (value) => value === cwd, terminal_id: isId }))
    );
  }
}

/** The rest of a part of the content: neither shown as text or as a change, nor only the place where the output appears. */
function restOfPart(part: unknown): unknown {
  const raw = objectIn(part);
  if (raw === null) return part;
  const { type } = raw;
  if (type === 'terminal') return named(raw, TERMINAL);
  if (changeOf(raw) !== null) return named(raw, CHANGE);
  const inner = objectIn(raw['content']);
  if (type !== 'content' || inner === null || inner['type'] !== 'text' || !isText(inner['text'])) return raw;
  const content = restOf(inner, TEXT);
  const left = { ...restOf(raw, CONTENT), ...(isEmpty(content) ? {} : { content }) };
  return isEmpty(left) ? {} : { type, ...left };

  /** The rest, with the kind of the part and the file that it is about. */
  function named(whole: Raw, shown: Shown): Raw {
    const left = restOf(whole, shown);
    const { path } = whole;
    return isEmpty(left) ? {} : { type, ...(path === undefined ? {} : { path }), ...left };
  }
}

/** A change of a file; null for a part that is something else. */
function changeOf(part: Raw): ShownChange | null {
  const path = textIn(part, 'path');
  const { newText: after, oldText: before = null } = part;
  if (part['type'] !== 'diff' || path === null || typeof after !== 'string') return null;
  return before === null || typeof before === 'string' ? { path, before, after } : null;
}

/** The dialog of `elicitation/create`; null if nothing of it can be shown. */
export function elicitationOf(params: Raw, agent: string): EditorDialog | null {
  const { mode, url, message, requestedSchema: schema } = params;
  return formFrom({ mode, url, schema, message }, { asker: `The agent ${agent}`, header: formHeader(agent) });
}

/** The result of `session/request_permission` or `elicitation/create`. */
export function resultOf(answer: EditorAnswer): RequestPermissionResponse | Raw {
  switch (answer.kind) {
    case 'chosen':
      return { outcome: { outcome: 'selected', optionId: answer.option_id } };
    case 'form':
      return answer.action === 'accept'
        ? { action: 'accept', content: answer.content }
        : { action: 'decline' };
    case 'refused':
      return { outcome: { outcome: 'cancelled' } };
  }
}

/** The result of a request that was withdrawn. */
export function withdrawnResult(method: string): RequestPermissionResponse | Raw {
  return method === ELICITATION ? { action: 'cancel' } : { outcome: { outcome: 'cancelled' } };
}

/** The methods that an agent calls when it asks its person. */
export const PERMISSION = 'session/request_permission';
export const ELICITATION = 'elicitation/create';
