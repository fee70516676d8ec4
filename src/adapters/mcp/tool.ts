/** What a tool is, and what its handler gets. */
import { type ZodRawShape, z } from 'zod';
import type { Delivered } from '../../application/delivery.ts';
import type { Hive } from '../../application/hive.ts';
import { invalidInput } from '../../domain/errors.ts';
import { type Message, UNVERIFIED_NOTE } from '../../domain/messages.ts';
import { LONGEST_WAIT_MS } from '../../domain/prompts.ts';
import type { Session } from '../../domain/sessions.ts';
import { type Aliases, type UnknownName, understand } from '../arguments.ts';

/** What a tool's handler gets besides its arguments. */
export interface ToolCall {
  hive: Hive;
  session: Session;
  /** How the caller can have an identity; null when it has one. */
  advice: string | null;
  /** What this call's results are handed over by (invariant 6). */
  carrier: string;
  /** Stamps what is settled among these prompts as handed over to the caller, before it is returned. */
  hand(ask_ids: readonly string[]): Promise<Delivered[]>;
  /** The turn in which it is made; null where none is known. */
  turn_id: string | null;
  /** Aborted when the client cancels the call or goes away, and when its turn is to stop. */
  signal: AbortSignal;
  /** So long this call may wait: the client allows no more, or is not known to. */
  longest_wait_ms: number;
  /** Tells a client that asked for it that the call is alive. */
  progress(message: string): Promise<void>;
  /** Resolves when the client has been told of what it subscribed to, up to what is stored now. */
  caughtUp(): Promise<void>;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  input: ZodRawShape;
  /** Other names that are taken for an argument. Clients are not told of them: a tool list is read with every call. */
  aliases?: Aliases;
  /** Without any of these the call looks at everything; then an argument that the tool does not know is refused, not ignored. */
  narrowing?: readonly string[];
  /** Changes nothing that anyone would mind. */
  readOnly: boolean;
  handle(args: never, call: ToolCall): Promise<Record<string, unknown>>;
}

/** Declares a tool so that its handler's arguments have the type of its input. */
export function tool<Input extends ZodRawShape>(
  definition: Omit<Tool, 'input' | 'aliases' | 'narrowing' | 'handle'> & {
    input: Input;
    aliases?: Readonly<Record<string, keyof Input & string>>;
    narrowing?: readonly (keyof Input & string)[];
    handle(args: z.infer<z.ZodObject<Input>>, call: ToolCall): Promise<Record<string, unknown>>;
  },
): Tool {
  return definition as unknown as Tool;
}

// ---------------------------------------------------------------------------
// A tool's arguments on their way in. Every spelling of a name is taken and null is absent (../arguments.ts). What is
// left over is never dropped without a word: it is refused where leaving it out would change what the call means, and
// said in the result where the call is as good without it.

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

// ---------------------------------------------------------------------------
// What results have in common.

/** What a client passes on to its model whole: Claude Code cuts results at 25,000 tokens. */
export const RESULT_BYTES: number = 48 * 1024;

/** Sentences as one text; what is null is left out. */
export function sentences(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ');
}

/** What a model has to know of unverified messages, where there is one among these. */
export function unverifiedNote(items: readonly Pick<Message, 'author'>[]): string | null {
  return items.some(({ author }) => author === 'unverified') ? UNVERIFIED_NOTE : null;
}

// ---------------------------------------------------------------------------
// How long a call may wait. A client that hears nothing takes a call for dead: most after a minute, and no server is told
// when. So a call waits 25 s at most, except where it is known that the client allows more.

interface ClientOfCall {
  /** `clientInfo.name` of the initialize request. */
  client: string;
  /** The client's own environment; null for a client of another machine. */
  env: Readonly<Record<string, string | undefined>> | null;
  /** It gave a progress token with the call, so it hears that the call is alive. */
  hears_progress: boolean;
  /** What the human said that the client allows a call; null when nothing was said. */
  tool_timeout_ms: number | null;
}

/** Clients count a call dead that shows no sign of life for a minute or so. */
const PROGRESS_MS = 15_000;
/** What the result needs to reach the client before its time is up. */
const MARGIN_MS = 5_000;
/**
 * Claude Code ends a call after `MCP_TOOL_TIMEOUT`, which is more than a day unless it is set. Progress does not extend
 * that. It also ends a call that says nothing for some minutes; progress does extend that.
 */
const CLAUDE_CODE_MS = 100_000_000;

export function longestWait({ client, env, hears_progress, tool_timeout_ms }: ClientOfCall): number {
  if (tool_timeout_ms !== null) return beforeItsTime(tool_timeout_ms);
  if (client !== 'claude-code' || env === null) return LONGEST_WAIT_MS;
  const allowed = beforeItsTime(milliseconds(env['MCP_TOOL_TIMEOUT']) ?? CLAUDE_CODE_MS);
  return hears_progress ? allowed : Math.min(allowed, LONGEST_WAIT_MS);
}

function beforeItsTime(limit_ms: number): number {
  return Math.max(limit_ms - MARGIN_MS, Math.floor(limit_ms / 2));
}

function milliseconds(text: string | undefined): number | null {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** Does something that takes long, and tells the client in between that the call is alive. */
export async function keepingAlive<Result>(
  { progress, hive }: Pick<ToolCall, 'progress' | 'hive'>,
  message: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const alive = setInterval(() => {
    progress(message).catch((error: unknown) =>
      hive.log.warn('Progress could not be sent.', { error: String(error) }),
    );
  }, PROGRESS_MS);
  return work().finally(() => clearInterval(alive));
}
