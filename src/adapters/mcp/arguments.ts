/**
 * A tool's arguments on their way in. Every spelling of a name is taken and null is absent (../arguments.ts). What is
 * left over is never dropped without a word: it is refused where leaving it out would change what the call means, and
 * said in the result where the call is as good without it.
 */
import { z } from 'zod';
import { invalidInput } from '../../domain/errors.ts';
import { type UnknownName, understand } from '../arguments.ts';
import { sentences } from './result.ts';
import type { Tool } from './tool.ts';

export interface TakenArguments {
  args: Record<string, unknown>;
  /** What the tool did not know and was done without. */
  ignored: readonly string[];
  /** A sentence about them; null when there are none. */
  note: string | null;
}

/** Who calls is never said by an argument (invariant 9). */
const IDENTITIES: ReadonlySet<string> = new Set(
  ['agent_id', 'agent', 'session_id', 'session', 'claude_id', 'client_id', 'thread_id', 'user', 'by'].map(
    plain,
  ),
);

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

const MOST_NAMED = 10;
/** A call is shown whole up to here; a longer one only as far as it changes. */
const LONGEST_CALL = 400;

/** @throws HiveError `invalid_input`, with the right call where it can be told. */
export function takeArguments(tool: Tool, written: unknown): TakenArguments {
  const schema = schemaOf(tool);
  const { given, unknown, corrected } = understand(schema, written ?? {}, tool.aliases);
  const meant = unknown.find((one) => one.meant !== null);
  if (meant !== undefined) throw misspelled(tool, meant, corrected);
  const strange = unknown.find(({ path }) => !IDENTITIES.has(plain(path)));
  if (strange !== undefined && reachesAll(tool, given)) throw tooWide(tool, strange);
  const parsed = schema.safeParse(given);
  if (!parsed.success)
    throw invalidInput(sentences(...parsed.error.issues.slice(0, 5).map((issue) => explain(issue, given))));
  const paths = unknown.map(({ path }) => path);
  return { args: parsed.data, ignored: paths.slice(0, MOST_NAMED), note: noteOn(paths) };
}

const SCHEMAS = new WeakMap<Tool, z.ZodObject>();

function schemaOf(tool: Tool): z.ZodObject {
  const schema = SCHEMAS.get(tool) ?? z.object(tool.input);
  SCHEMAS.set(tool, schema);
  return schema;
}

/** Whether nothing narrows the call, so that it would look at everything. */
function reachesAll({ narrowing = [] }: Tool, given: unknown): boolean {
  return narrowing.length > 0 && !narrowing.some((name) => Object.hasOwn(given as object, name));
}

function misspelled({ name }: Tool, { path, meant }: UnknownName, corrected: unknown): Error {
  const call = `${name} ${JSON.stringify(corrected)}`;
  const way = call.length <= LONGEST_CALL ? `Call ${call}.` : `Call ${name} again with "${meant}" instead.`;
  return invalidInput(
    `${name} has no argument "${path}"; "${meant}" is probably meant. Nothing was done. ${way}`,
    { argument: path, meant },
  );
}

function tooWide({ name, narrowing = [], input }: Tool, { path }: UnknownName): Error {
  const known = Object.keys(input).join(', ');
  return invalidInput(
    `${name} has no argument "${path}", and without ${narrowing.join(' or ')} it looks at everything, which is probably not what you meant. Nothing was done. Its arguments are ${known}: call ${name} {"${narrowing[0]}": …}, or ${name} {} for everything.`,
    { argument: path },
  );
}

/** One thing that does not fit, as a sentence that names the argument. */
function explain({ path, message }: z.core.$ZodIssue, given: unknown): string {
  const where = path.reduce<string>(
    (before, step) =>
      typeof step === 'number' ? `${before}[${step}]` : `${before}${before && '.'}${String(step)}`,
    '',
  );
  const value = path.reduce<unknown>(
    (before, step) => (before as Record<PropertyKey, unknown> | undefined)?.[step],
    given,
  );
  if (value === undefined) return `The argument "${where}" is missing.`;
  return `"${where}" does not fit: ${message}${/[.!?]$/.test(message) ? '' : '.'}`;
}

function noteOn(paths: readonly string[]): string | null {
  if (paths.length === 0) return null;
  const named = paths.slice(0, MOST_NAMED).map((path) => `"${path}"`);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  return sentences(
    `Ignored, because this tool has no such argument: ${named.join(', ')}${more}.`,
    paths.some((path) => IDENTITIES.has(plain(path)))
      ? 'Who you are is known from your client, not from an argument.'
      : null,
  );
}
