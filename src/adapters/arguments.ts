/**
 * Arguments: a caller's input translated into the names of a schema, the same for every tool and method. `ask-id`,
 * `askId` and `ASK_ID` are `ask_id`, and null counts as missing unless it has a meaning of its own. A list, a number or a
 * boolean that a model writes as text is read as what it is. Names that the schema does not have are listed, because zod
 * would drop them silently.
 */
import { z } from 'zod';
import { invalidInput } from '../domain/errors.ts';
import { isFields } from '../domain/json.ts';
import { editDistance } from '../domain/names.ts';
import { excerpt } from '../domain/text.ts';

/** A name that the schema does not have. */
export interface UnknownName {
  /** Its path, in the caller's own spelling: `agent_id`, `options[0].desc`. */
  path: string;
  /** The name that was probably meant, in the schema's spelling; null when none is similar. */
  meant: string | null;
}

/** An input as it was understood. */
export interface Understood {
  /** The input in the schema's spelling. Unknown names are still in it: a strict schema refuses them itself. */
  given: unknown;
  unknown: readonly UnknownName[];
  /** The input with unknown names replaced by those that were probably meant. */
  corrected: unknown;
}

/** Other accepted names of an argument, besides its spellings: `{buttons: 'actions'}`. */
export type Aliases = Readonly<Record<string, string>>;

/** In characters. A longer name is cut where it is quoted. */
const LONGEST_NAME = 60;

/** The writer of an input. */
interface Writer {
  aliases?: Aliases | undefined;
  /** A model: it may write a list, a number or a boolean as text. */
  isModel?: boolean;
}

/** Translates an input. @throws HiveError `invalid_input` when two spellings of one argument have different values. */
export function understand(
  schema: z.ZodType,
  given: unknown,
  { aliases = {}, isModel = false }: Writer = {},
): Understood {
  const unknown: UnknownName[] = [];
  const [taken, corrected] = walk({ schema, aliases, isModel, unknown, path: '' }, given);
  return { given: taken, unknown, corrected };
}

/** A position in the input. */
interface Position {
  schema: z.ZodType | undefined;
  aliases: Aliases;
  isModel: boolean;
  unknown: UnknownName[];
  path: string;
}

/** The value as it was understood, and with probable names corrected. */
type Both = readonly [taken: unknown, corrected: unknown];

function walk(position: Position, written: unknown): Both {
  const value = position.isModel ? asMeant(position.schema, written) : written;
  if (Array.isArray(value)) {
    const element = elementOf(position.schema);
    if (element === undefined) return [value, value];
    const meant = position.isModel
      ? listAsMeant(element, value).map((item) => itemAsMeant(element, item))
      : value;
    const items = meant.map((item: unknown, index) =>
      walk({ ...position, schema: element, aliases: {}, path: `${position.path}[${index}]` }, item),
    );
    return [items.map(([taken]) => taken), items.map(([, corrected]) => corrected)];
  }
  const object = objectOf(position.schema);
  if (object === undefined || !isFields(value)) return [value, value];
  return walkObject(object, position, value);
}

function walkObject(object: z.ZodObject, position: Position, value: Record<string, unknown>): Both {
  const names = namesOf(object, position.aliases);
  const shape = object.shape as Record<string, z.ZodType>;
  /** The key that gave each argument its value. */
  const givers = new Map<string, string>();
  const taken = new Map<string, unknown>();
  const corrected = new Map<string, unknown>();
  const strangers: [string, unknown][] = [];
  const entries = Object.entries(value);
  if (entries.length > MOST_FIELDS)
    throw invalidInput(
      `There are ${entries.length} arguments; at most ${MOST_FIELDS} are read. Nothing was done.`,
    );
  for (const [key, item] of entries) {
    const name = key.length > LONGEST_NAME ? undefined : names.get(fold(key));
    if (name === undefined) {
      if (item !== null) strangers.push([key, item]);
      continue;
    }
    const schema = shape[name];
    const meant = position.isModel ? asMeant(schema, item) : item;
    if (meant === null && schema?.safeParse(null).success !== true) continue;
    const [own, mended] = walk({ ...position, schema, aliases: {}, path: join(position.path, key) }, meant);
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
    // A strict schema refuses it with its own message.
    if (object.def.catchall instanceof z.ZodNever) continue;
    position.unknown.push({ path: join(position.path, key), meant });
    if (meant !== null) corrected.set(meant, item);
  }
  return [Object.fromEntries(taken), Object.fromEntries(corrected)];
}

/** Per object. No call needs as many, and each one is compared with every known name. */
const MOST_FIELDS = 1_000;

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

/** The names of an object's arguments, keyed without case and punctuation. */
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

/** The schema itself, without optional, nullable and default wrappers. */
function bare(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault)
    inner = inner.unwrap() as z.ZodType;
  return inner;
}

/** The object schema that is possible here. A record's keys are data, not names. */
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

// ---- Text that is a list, a number or a boolean ----
// Models, and clients that can only send text, write `"[\"a\",\"b\"]"`, `"5000"` and `"True"`. A text is read as something else
// only where the schema allows no text, so nothing that a human reads changes; the one exception is `optionAsMeant`.

/** The kinds of values. */
type Kind = 'text' | 'list' | 'number' | 'boolean' | 'object';

/** The kinds of value that a schema allows. An unknown schema may allow text. */
function kindsOf(schema: z.ZodType | undefined): ReadonlySet<Kind> {
  const plain = bare(schema);
  if (plain instanceof z.ZodUnion)
    return new Set((plain.options as readonly z.ZodType[]).flatMap((option) => [...kindsOf(option)]));
  if (plain instanceof z.ZodArray) return new Set(['list']);
  if (plain instanceof z.ZodNumber) return new Set(['number']);
  if (plain instanceof z.ZodBoolean) return new Set(['boolean']);
  return new Set([plain instanceof z.ZodObject ? 'object' : 'text']);
}

/** The value converted to the kind that its schema allows; a doubtful one stays as it was written. */
function asMeant(schema: z.ZodType | undefined, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const kinds = kindsOf(schema);
  if (kinds.has('text')) return kinds.has('object') ? optionAsMeant(schema, value) : value;
  const read = readText(value);
  const isPossible = read === null || (read !== undefined && kinds.has(kindOf(read)));
  return isPossible ? read : value;
}

/**
 * Where an object or a text is allowed, as in the options of a question, a text that spells an object with one of our names is
 * read as that object. Nobody wants such JSON on a button; other JSON may be just what the question is about.
 */
function optionAsMeant(schema: z.ZodType | undefined, text: string): unknown {
  const object = objectOf(schema);
  const read = text.trimStart().startsWith('{') ? readText(text) : undefined;
  if (object === undefined || !isFields(read)) return text;
  const names = Object.keys(object.shape);
  const isOurs = (key: string): boolean => namesOf(object, {}).has(fold(key)) || nearest(key, names) !== null;
  return Object.keys(read).some(isOurs) ? read : text;
}

/** A list whose only item is the text of a list is that list. */
function listAsMeant(element: z.ZodType, items: readonly unknown[]): readonly unknown[] {
  const [only] = items;
  if (items.length !== 1 || typeof only !== 'string' || !only.trimStart().startsWith('[')) return items;
  const read = readText(only);
  if (!Array.isArray(read) || read.length === 0) return items;
  const fits = (item: unknown): boolean =>
    element.safeParse(understand(element, itemAsMeant(element, item), { isModel: true }).given).success;
  return read.every(fits) ? read : items;
}

/** Among objects that need only one text, as the buttons of a card need a label, a text becomes such an object. */
function itemAsMeant(element: z.ZodType, item: unknown): unknown {
  const object = bare(element);
  const meant = asMeant(element, item);
  if (typeof meant !== 'string' || !(object instanceof z.ZodObject)) return meant;
  const needed = Object.entries(object.shape as Record<string, z.ZodType>).filter(
    ([, one]) => !(one instanceof z.ZodOptional),
  );
  const [[name, schema] = []] = needed;
  return needed.length === 1 && name !== undefined && kindsOf(schema).has('text') ? { [name]: meant } : meant;
}

/** The value that a text spells in JSON or in Python; null for a blank text; undefined when it spells none. */
function readText(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '' || /^(?:none|undefined)$/i.test(trimmed)) return null;
  if (/^(?:true|false|null)$/i.test(trimmed)) return JSON.parse(trimmed.toLowerCase());
  try {
    return JSON.parse(trimmed);
  } catch {
    return undefined;
  }
}

function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number' | 'boolean';
  return typeof value === 'string' ? 'text' : 'object';
}

/** Words that people and models use for one another. Only names that a schema has are ever suggested. */
const KIN: readonly (readonly string[])[] = [
  ['ask_id', 'id', 'prompt_id', 'question_id', 'request_id'],
  ['ask_ids', 'ids', 'prompt_ids'],
  ['question', 'body', 'message', 'title', 'prompt', 'text', 'content', 'msg'],
  ['context', 'description', 'details', 'background', 'body', 'text', 'message', 'content'],
  ['options', 'choices', 'answers', 'alternatives'],
  ['actions', 'buttons', 'choices', 'options'],
  ['urgency', 'priority', 'severity', 'importance'],
  ['critical', 'urgent', 'urgency', 'priority'],
  ['timeout_ms', 'timeout', 'timeout_s', 'ttl', 'expires_in'],
  ['wait_ms', 'timeout_ms', 'timeout', 'wait', 'timeout_s', 'seconds', 'block', 'blocking'],
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

/** The argument that an unknown name most probably means. */
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
/** Longer than any of our names; it bounds the comparison. */
const LONGEST_COMPARED = 40;

/** The edit distance between two names, infinite when they are not similar; short names may differ less. */
function slipsBetween(given: string, candidate: string): number {
  if (given.length > LONGEST_COMPARED || given.length < 3) return Number.POSITIVE_INFINITY;
  if (candidate.startsWith(given)) return 0;
  if (candidate.length >= 4 && given.startsWith(candidate)) return 1;
  const slips = editDistance(given, candidate);
  return slips <= (candidate.length <= 5 ? 1 : MOST_SLIPS) ? slips : Number.POSITIVE_INFINITY;
}
