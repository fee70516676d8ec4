/**
 * What a caller wrote, brought into the words of a schema, once for every tool and method. `ask-id`, `askId` and
 * `ASK_ID` are `ask_id`, and null is absent wherever null means nothing of its own. Names that the schema does not
 * know are listed, because zod would drop them without a word.
 */
import { z } from 'zod';
import { invalidInput } from '../domain/errors.ts';
import { editDistance } from '../domain/sessions.ts';
import { excerpt } from '../domain/text.ts';

/** A name that the schema does not have. */
export interface UnknownName {
  /** Where it was, in the caller's own spelling: `agent_id`, `options[0].desc`. */
  path: string;
  /** What was probably meant, in the schema's spelling; null when nothing comes near. */
  meant: string | null;
}

export interface Understood {
  /** The input in the schema's spelling. Unknown names are still in it: a strict schema refuses them itself. */
  given: unknown;
  unknown: readonly UnknownName[];
  /** The input with what was probably meant in the place of what was written. */
  corrected: unknown;
}

/** Other names that are taken for an argument, beside its spellings: `{buttons: 'actions'}`. */
export type Aliases = Readonly<Record<string, string>>;

/** Longer names are cut where they are quoted. */
const LONGEST_NAME = 60;

/** @throws HiveError `invalid_input` when one argument is given twice, under two spellings and with two values. */
export function understand(schema: z.ZodType, given: unknown, aliases: Aliases = {}): Understood {
  const unknown: UnknownName[] = [];
  const [taken, corrected] = walk({ schema, aliases, unknown, path: '' }, given);
  return { given: taken, unknown, corrected };
}

interface Place {
  schema: z.ZodType | undefined;
  aliases: Aliases;
  unknown: UnknownName[];
  path: string;
}

/** The value as it was understood, and as it was probably meant. */
type Both = readonly [taken: unknown, corrected: unknown];

function walk(place: Place, value: unknown): Both {
  if (Array.isArray(value)) {
    const element = elementOf(place.schema);
    if (element === undefined) return [value, value];
    const items = value.map((item: unknown, index) =>
      walk({ ...place, schema: element, aliases: {}, path: `${place.path}[${index}]` }, item),
    );
    return [items.map(([taken]) => taken), items.map(([, corrected]) => corrected)];
  }
  const object = objectOf(place.schema);
  if (object === undefined || !isObject(value)) return [value, value];
  return walkObject(object, place, value);
}

function walkObject(object: z.ZodObject, place: Place, value: Record<string, unknown>): Both {
  const names = namesOf(object, place.aliases);
  const shape = object.shape as Record<string, z.ZodType>;
  /** Which key gave an argument its value. */
  const givers = new Map<string, string>();
  const taken = new Map<string, unknown>();
  const corrected = new Map<string, unknown>();
  const strangers: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const name = names.get(fold(key));
    if (name === undefined) {
      if (item !== null) strangers.push([key, item]);
      continue;
    }
    const schema = shape[name];
    if (item === null && schema?.safeParse(null).success !== true) continue;
    const [own, mended] = walk({ ...place, schema, aliases: {}, path: join(place.path, key) }, item);
    const giver = givers.get(name);
    if (giver !== undefined && JSON.stringify(taken.get(name)) !== JSON.stringify(own))
      throw twice(giver, key);
    givers.set(name, key);
    taken.set(name, own);
    corrected.set(name, mended);
  }
  for (const [key, item] of strangers) {
    const meant = nearest(
      key,
      Object.keys(shape).filter((name) => !corrected.has(name)),
    );
    taken.set(key, item);
    // A strict schema refuses it in words of its own.
    if (object.def.catchall instanceof z.ZodNever) continue;
    place.unknown.push({ path: join(place.path, key), meant });
    if (meant !== null) corrected.set(meant, item);
  }
  return [Object.fromEntries(taken), Object.fromEntries(corrected)];
}

function twice(one: string, other: string): Error {
  const [first, second] = [one, other].map((name) => `"${excerpt(name, LONGEST_NAME)}"`);
  return invalidInput(
    `${first} and ${second} are the same argument, with two different values: give one of them.`,
  );
}

function join(path: string, key: string): string {
  const name = excerpt(key, LONGEST_NAME);
  return path === '' ? name : `${path}.${name}`;
}

const NAMES = new WeakMap<z.ZodObject, Map<string, string>>();

/** Every name of an object's arguments by what is left of it without case and punctuation. */
function namesOf(object: z.ZodObject, aliases: Aliases): ReadonlyMap<string, string> {
  const known = NAMES.get(object) ?? new Map(Object.keys(object.shape).map((name) => [fold(name), name]));
  NAMES.set(object, known);
  const others = Object.entries(aliases);
  if (others.length === 0) return known;
  return new Map([...others.map(([alias, name]) => [fold(alias), name] as const), ...known]);
}

/** `ask_id`, `ask-id`, `askId` and `:ask-id` are one name. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The schema itself, without what only says that it may be absent. */
function bare(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault)
    inner = inner.unwrap() as z.ZodType;
  return inner;
}

/** What may be an object here. A record's keys are data, not names. */
function objectOf(schema: z.ZodType | undefined): z.ZodObject | undefined {
  return among(schema, (one): one is z.ZodObject => one instanceof z.ZodObject);
}

function elementOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  return among(schema, (one): one is z.ZodArray => one instanceof z.ZodArray)?.element as
    | z.ZodType
    | undefined;
}

function among<Found extends z.ZodType>(
  schema: z.ZodType | undefined,
  is: (one: z.ZodType) => one is Found,
): Found | undefined {
  const plain = bare(schema);
  if (plain === undefined) return undefined;
  if (is(plain)) return plain;
  if (!(plain instanceof z.ZodUnion)) return undefined;
  for (const option of plain.options as readonly z.ZodType[]) {
    const found = among(option, is);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Words that people and models use for one another. Only what a schema has is ever suggested. */
const KIN: readonly (readonly string[])[] = [
  ['ask_id', 'id', 'prompt_id', 'question_id', 'request_id'],
  ['ask_ids', 'ids', 'prompt_ids'],
  ['question', 'body', 'message', 'title', 'prompt', 'text', 'content', 'msg'],
  ['context', 'description', 'details', 'background', 'body', 'text', 'message', 'content'],
  ['options', 'choices', 'answers', 'alternatives'],
  ['actions', 'buttons', 'choices', 'options'],
  ['urgency', 'priority', 'severity', 'importance'],
  ['critical', 'urgent', 'urgency', 'priority'],
  ['wait_ms', 'timeout_ms', 'timeout', 'wait', 'timeout_s', 'seconds'],
  ['decision', 'answer', 'response', 'reply', 'choice'],
  ['selected', 'selection', 'choices'],
  ['comment', 'note', 'remark', 'reason'],
  ['from', 'author', 'sender', 'agent'],
  ['to', 'recipient', 'recipients', 'human', 'assignee'],
  ['after', 'since', 'cursor'],
  ['query', 'search', 'q', 'filter', 'text'],
  ['limit', 'max', 'count', 'page_size'],
  ['mention_ids', 'ids', 'id', 'mention_id', 'message_id', 'message_ids'],
  ['reply_to', 'in_reply_to', 'message_id', 'parent'],
  ['session', 'session_id', 'agent', 'agent_id', 'handle', 'target'],
  ['color', 'colour'],
  ['name', 'title', 'key'],
  ['label', 'text', 'title', 'name', 'value'],
  ['value', 'text', 'content'],
];

/** The argument that a stranger's name most probably means. */
function nearest(name: string, candidates: readonly string[]): string | null {
  const given = fold(name);
  const kin = KIN.flatMap((words) =>
    words.some((word) => fold(word) === given) ? words.filter((word) => candidates.includes(word)) : [],
  );
  if (kin[0] !== undefined) return kin[0];
  const ranked = candidates
    .map((candidate) => ({ candidate, slips: slipsBetween(given, fold(candidate)) }))
    .sort((a, b) => a.slips - b.slips);
  return ranked[0] !== undefined && ranked[0].slips <= MOST_SLIPS ? ranked[0].candidate : null;
}

const MOST_SLIPS = 2;
/** Longer than any name of ours, and a bound to what is compared. */
const LONGEST_COMPARED = 40;

/** How far one name is from another; a name of few letters may miss fewer of them. */
function slipsBetween(given: string, candidate: string): number {
  if (given.length > LONGEST_COMPARED || given.length < 3) return Number.POSITIVE_INFINITY;
  if (candidate.startsWith(given)) return 0;
  if (candidate.length >= 4 && given.startsWith(candidate)) return 1;
  const slips = editDistance(given, candidate);
  return slips <= (candidate.length <= 5 ? 1 : MOST_SLIPS) ? slips : Number.POSITIVE_INFINITY;
}
