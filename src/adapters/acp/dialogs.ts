/**
 * What an ACP agent asks its client, as dialogs of the hive, and their answers as ACP wants them. Of a request nothing is
 * believed but its shape, and all of it is shown. Protocol versions 1 and 2 differ in where they put the call.
 */
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { EditorAnswer, EditorDialog, EditorOption, ShownChange } from '../../domain/editors.ts';
import { formFrom, formHeader } from '../../domain/forms.ts';
import type { Raw } from '../../domain/hooks.ts';
import { objectIn, objectsIn, textIn } from '../../domain/json.ts';

/** What has been reported of each call that has not ended, by its id: a request may name no more than the id. */
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

/** A later report replaces the fields that it has. */
function merged(before: Raw | undefined, now: Raw): Raw {
  const given = Object.entries(now).filter(([, value]) => value !== undefined && value !== null);
  return { ...before, ...Object.fromEntries(given) };
}

/** What an option means, and whether it refuses, by its kind. An unknown kind may allow anything. */
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

/** Fields of a call that are shown in a place of their own, whatever they are. */
const PLACED_FIELDS: ReadonlySet<string> = new Set([
  '_meta',
  'content',
  'rawInput',
  'sessionUpdate',
  'toolCallId',
]);
/** Texts that are shown as such, or that say nothing about what the call does. */
const DISPLAYED_TEXTS: ReadonlySet<string> = new Set(['kind', 'name', 'status', 'title', 'type']);

function isDisplayed(name: string, value: unknown): boolean {
  return PLACED_FIELDS.has(name) || (DISPLAYED_TEXTS.has(name) && typeof value === 'string');
}

/** The dialog of `session/request_permission`; null when its request has no such form. */
export function permissionOf(params: Raw, calls: ToolCalls, cwd: string): EditorDialog | null {
  const options = objectsIn(params['options']).flatMap((raw): EditorOption[] => {
    const [id, label] = [textIn(raw, 'optionId'), textIn(raw, 'name')];
    if (id === null || label === null) return [];
    return [{ id, label, ...(OPTION_KINDS.get(raw['kind']) ?? UNKNOWN_KIND) }];
  });
  // Version 2 has a subject, which contains the call or is a command itself.
  const subject = objectIn(params['subject']) ?? {};
  const given = objectIn(params['toolCall']) ?? objectIn(subject['toolCall']) ?? subject;
  if (options.length !== objectsIn(params['options']).length) return null;
  const call = calls.describe(given);
  const given_input = call['rawInput'] ?? null;
  const rawInput = objectIn(given_input);
  const input = rawInput === null ? commandOf(call) : withoutOwnDirectory(rawInput, cwd);
  const parts: readonly unknown[] = [call['content'] ?? []].flat();
  const content = objectsIn(parts);
  const said = [
    textIn(params, 'title'),
    textIn(params, 'description'),
    textIn(call, 'title'),
    ...content.map((part) => textIn(objectIn(part['content']) ?? {}, 'text')),
  ].filter((text) => text !== null);
  const others = parts.filter((part) => !isShownAsSuch(objectIn(part) ?? {}));
  const rest = Object.entries(call).filter(
    ([name, value]) =>
      !isDisplayed(name, value) &&
      !(rawInput === null && Object.hasOwn(input, name)) &&
      !(Array.isArray(value) && value.length === 0),
  );
  return {
    kind: 'permission',
    tool: { name: textIn(call, 'name') ?? textIn(call, 'kind') ?? 'other', input },
    said: [...new Set(said)],
    changes: content.flatMap((part) => changeOf(part) ?? []),
    rest: Object.fromEntries([
      ...rest,
      // The protocol allows any JSON.
      ...(rawInput !== null || given_input === null ? [] : [['rawInput', given_input] as const]),
      ...(others.length === 0 ? [] : [['content', others] as const]),
    ]),
    options,
    cwd,
    // The protocol has no room for words.
    takes_notes: false,
  };
}

/** The call of a request that carries a command and no input; otherwise there is no input. */
function commandOf(call: Raw): Raw {
  const { command, args, cwd } = call;
  return typeof command === 'string'
    ? { command, ...(args === undefined ? {} : { args }), ...(cwd === undefined ? {} : { cwd }) }
    : {};
}

/** Codex names the directory of each call, also that of the session, which is shown with every call. */
function withoutOwnDirectory(input: Raw, cwd: string): Raw {
  if (input['cwd'] !== cwd) return input;
  const { cwd: _, ...others } = input;
  return others;
}

/** Whether a part of the content is shown as text or as a change, or says only where the output appears. */
function isShownAsSuch(part: Raw): boolean {
  const { type } = part;
  if (type === 'terminal') return true;
  const inner = objectIn(part['content']);
  if (type === 'content' && inner?.['type'] === 'text') return typeof inner['text'] === 'string';
  return changeOf(part) !== null;
}

const FIELDS_OF_CHANGE: ReadonlySet<string> = new Set(['_meta', 'newText', 'oldText', 'path', 'type']);

/** A change of a file; null for a part that says more than that, or something else. */
function changeOf(part: Raw): ShownChange | null {
  const path = textIn(part, 'path');
  const { newText: after, oldText: before = null } = part;
  if (part['type'] !== 'diff' || path === null || typeof after !== 'string') return null;
  if (before !== null && typeof before !== 'string') return null;
  return Object.keys(part).every((name) => FIELDS_OF_CHANGE.has(name)) ? { path, before, after } : null;
}

/** The dialog of `elicitation/create`; null where nothing can be shown of it. */
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

/** The result of a request that nobody answers any more. */
export function withdrawnResult(method: string): RequestPermissionResponse | Raw {
  return method === ELICITATION ? { action: 'cancel' } : { outcome: { outcome: 'cancelled' } };
}

/** The methods that an agent calls when it asks its person. */
export const PERMISSION = 'session/request_permission';
export const ELICITATION = 'elicitation/create';
