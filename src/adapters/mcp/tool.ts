/**
 * Tools: what a tool is, how a client lists it, what its handler gets, how its arguments are read, how long a call may wait,
 * and what stops it.
 */
import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { type ZodRawShape, z } from 'zod';
import { beside } from '../../application/background.ts';
import type { Delivered } from '../../application/delivery.ts';
import type { Hive } from '../../application/hive.ts';
import type { StopRequest } from '../../application/interrupts.ts';
import type { RunOfAsk } from '../../application/run-calls.ts';
import { type ErrorCode, HiveError, invalidInput } from '../../domain/errors.ts';
import { pleaseStop } from '../../domain/interrupts.ts';
import { LONGEST_WAIT_MS } from '../../domain/limits.ts';
import { type Message, UNVERIFIED_WARNING } from '../../domain/messages.ts';
import type { Session } from '../../domain/sessions.ts';
import type { Environment } from '../../domain/sources.ts';
import { excerpt } from '../../domain/text.ts';
import type { Turn } from '../../domain/turns.ts';
import { type Aliases, type UnknownName, understand } from '../arguments.ts';

/** The context of a tool's handler, besides its arguments. */
export interface ToolCall {
  hive: Hive;
  session: Session;
  /** How the caller can get an identity; null when it has one. */
  advice: string | null;
  /** The carrier of the results of this call (invariant 6). */
  carrier: string;
  /** Records that the settled ones among these prompts are handed to the caller, before they are returned. */
  hand(ask_ids: readonly string[]): Promise<Delivered[]>;
  /** Records that the call waits: no later call then proves that its result was read. */
  waits(): void;
  /** The turn of the call; null when none is known. */
  turn_id: string | null;
  /** Aborted when the client cancels the call or goes away, and when its turn must stop. */
  signal: AbortSignal;
  /** How many ms this call may wait: the client is not known to allow more. */
  longest_wait_ms: number;
  /** After this many ms the client disowns what the call returns, so no call waits longer; Infinity if it never does. */
  owned_ms: number;
  /** The run of this call's agent (hive run); null outside of runs. */
  ofRun(): Promise<RunOfAsk | null>;
  /** Reports to a client that asked for progress that the call is still running. */
  progress(message: string): Promise<void>;
  /** Resolves when the client has been notified of everything that it follows, as of now. */
  caughtUp(): Promise<void>;
}

/** The event for which a task waits, and the words for its client's model once it has happened. */
export interface Awaited {
  created_at: string;
  updated_at: string;
  /** The next step, as a sentence; null while it waits. */
  next: string | null;
}

/** How a tool waits in the form of a task. */
export interface Waiting<Args> {
  /** Begins a task instead of calling `handle`. Returns its id; null if this call cannot be one. */
  begin(args: Args, call: ToolCall): Promise<string | null>;
  /** A task of this tool; undefined for every other id. */
  look(id: string, caller: Pick<ToolCall, 'hive' | 'session'>): Promise<Awaited | undefined>;
}

/** An MCP tool. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: ZodRawShape;
  /** The part of the input that a client sees, if another tool describes the rest. */
  shown?: ZodRawShape;
  /** A valid call, shown to a model whose own call is not. */
  example: Readonly<Record<string, unknown>>;
  /** Agents need it so often that its schema is worth its tokens in every request. */
  always?: boolean;
  /** Other accepted names of an argument. Clients do not see them, because a tool list is read with every call. */
  aliases?: Aliases;
  /** The argument whose text others read with the name that the caller claims, if it claims one. It is Markdown. */
  claim?: string;
  /** Without any of these arguments a call covers everything; it is then refused if it has an unknown argument. */
  narrowing?: readonly string[];
  /** `speaks`: it asks, posts or reports. `decides`: it acts for the human. */
  effect: 'none' | 'speaks' | 'decides';
  handle(args: never, call: ToolCall): Promise<Record<string, unknown>>;
  /** How it waits if its client takes a task. */
  waiting?: Waiting<never>;
}

/** Declares a tool so that its handler's arguments have the type of its input. */
export function tool<Input extends ZodRawShape>(
  definition: Omit<Tool, 'input' | 'example' | 'aliases' | 'narrowing' | 'handle' | 'waiting'> & {
    input: Input;
    example: Readonly<Partial<z.input<z.ZodObject<Input>>>>;
    aliases?: Readonly<Record<string, keyof Input & string>>;
    narrowing?: readonly (keyof Input & string)[];
    handle(args: z.infer<z.ZodObject<Input>>, call: ToolCall): Promise<Record<string, unknown>>;
    waiting?: Waiting<z.infer<z.ZodObject<Input>>>;
  },
): Tool {
  return definition as unknown as Tool;
}

// ---- The list of tools ----
// A client reads this about our tools before it calls one. A model pays for this text with every request, so it is short:
// the tools that an agent needs again and again are always loaded, the others only if the client cannot load a tool
// on demand, and no schema is in the list twice. A test counts the tokens.

/** Claude Code sends the model these tools at once, and only the names of the others until the model looks one up. */
const LOADED_ALWAYS = { _meta: { 'anthropic/alwaysLoad': true } };

const DESCRIPTIONS = new WeakMap<Tool, ListedTool>();

/** A tool as `tools/list` shows it. */
export function listed(tool: Tool): ListedTool {
  const made = DESCRIPTIONS.get(tool) ?? describeTool(tool);
  DESCRIPTIONS.set(tool, made);
  return made;
}

function describeTool({ name, title, description, input, shown = input, always, effect }: Tool): ListedTool {
  return {
    name,
    title,
    description,
    inputSchema: listedSchema(shown),
    annotations: {
      // An agent that only plans may ask, and must answer a mention that holds it. In plan mode Claude Code runs only tools
      // that are read only, and a message changes nothing in the agent's work.
      readOnlyHint: effect !== 'decides',
      destructiveHint: false,
      idempotentHint: effect === 'none',
      openWorldHint: false,
    },
    ...(always === true ? LOADED_ALWAYS : {}),
  };
}

/** The schema without what a model cannot use: it does not count characters, and a refusal names the limit. */
function listedSchema(shape: z.ZodRawShape): ListedTool['inputSchema'] {
  const { $schema: _, ...schema } = z.toJSONSchema(z.object(shape), {
    io: 'input',
    override({ jsonSchema }) {
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
    },
  });
  return schema as ListedTool['inputSchema'];
}

// ---- Arguments ----
// Every spelling of a name is accepted, and null counts as missing (../arguments.ts). An unknown argument is never
// dropped silently: it is refused where leaving it out would change what the call means, and otherwise mentioned in
// the result.

/** The arguments of a call, after reading. */
export interface TakenArguments {
  args: Record<string, unknown>;
  /** The arguments that the tool does not know and went without. */
  ignored: readonly string[];
  /** A sentence about them; null when there are none. */
  note: string | null;
  /** The name by which the call claims to come from somebody; null if it claims none. */
  claim: string | null;
}

/** Names for the caller. No argument ever sets it (invariant 9). */
const IDENTITIES: ReadonlySet<string> = new Set(
  ['agent_id', 'agent', 'session_id', 'session', 'claude_id', 'client_id', 'thread_id', 'user', 'by'].map(
    plain,
  ),
);

/** The ones that name an agent: one connection may run several. */
const CLAIMS: readonly string[] = ['agent_id', 'agent', 'claude_id'].map(plain);
const CLAIM_CHARACTERS = 60;

/** The agent that the ignored arguments name, on one line and without anything that could be a mention or markup. */
function claimIn(given: unknown, ignored: readonly string[]): string | null {
  const path = ignored.find((name) => CLAIMS.includes(plain(name)));
  // Only a call with arguments has ignored any.
  const claim = path === undefined ? undefined : (given as Record<string, unknown>)[path];
  if (typeof claim !== 'string') return null;
  const clean = excerpt(claim.replaceAll(/[^\p{L}\p{N} ._:/-]/gu, ''), CLAIM_CHARACTERS);
  return clean === '' ? null : clean;
}

/**
 * The arguments with the caller's claim added to the text that others read: "Agent-7 says it is worker-2." The readers judge the
 * claim; it never changes who the caller is (invariant 9).
 */
export function withClaim(
  { claim: field }: Pick<Tool, 'claim'>,
  { args, claim }: TakenArguments,
  { handle, session_id }: Pick<Session, 'handle' | 'session_id'>,
): Record<string, unknown> {
  if (field === undefined || claim === null || claim === handle || claim === session_id) return args;
  const text = args[field];
  const said = `${handle} says it is ${claim}.`;
  return { ...args, [field]: typeof text === 'string' ? `${said}\n\n${text}` : said };
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

const MOST_NAMED = 10;
/** In characters. Up to this length the corrected call is shown whole; in a longer one only the change is shown. */
const LONGEST_CALL = 400;
/** In characters, for each text in a longer call. */
const LONGEST_TEXT = 60;

/** Reads the arguments of a call. @throws HiveError `invalid_input`, with a call that would be accepted. */
export function takeArguments(tool: Tool, written: unknown): TakenArguments {
  const schema = schemaOf(tool);
  const { given, unknown, corrected } = understand(schema, written ?? {}, {
    aliases: tool.aliases,
    isModel: true,
  });
  const meant = unknown.find((one) => one.meant !== null);
  if (meant !== undefined) throw misspelled(tool, meant, corrected);
  const strange = unknown.find(({ path }) => !IDENTITIES.has(plain(path)));
  if (strange !== undefined && reachesAll(tool, given)) throw tooWide(tool, strange);
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const wrong = parsed.error.issues.slice(0, 5).map((issue) => explain(issue, given));
    throw invalidInput(sentences(...wrong, 'Nothing was done.', wayOut(tool, mended(tool, given))));
  }
  const paths = unknown.map(({ path }) => path);
  const claim = claimIn(written, paths);
  const shown = claim !== null && tool.claim !== undefined;
  return {
    args: parsed.data,
    ignored: paths.slice(0, MOST_NAMED),
    note: describeIgnored(paths, shown),
    claim,
  };
}

const SCHEMAS = new WeakMap<Tool, z.ZodObject>();

function schemaOf(tool: Tool): z.ZodObject {
  const schema = SCHEMAS.get(tool) ?? z.object(tool.input);
  SCHEMAS.set(tool, schema);
  return schema;
}

/** Whether nothing narrows the call, so that it covers everything. */
function reachesAll({ narrowing = [] }: Tool, given: unknown): boolean {
  return narrowing.length > 0 && !narrowing.some((name) => Object.hasOwn(given as object, name));
}

function misspelled(tool: Tool, { path, meant }: UnknownName, corrected: unknown): Error {
  const { name } = tool;
  const right = mended(tool, corrected);
  const isShort = right !== null && `${name} ${JSON.stringify(right.args)}`.length <= LONGEST_CALL;
  const way = isShort ? wayOut(tool, right) : `Call ${name} again with "${meant}" instead.`;
  return invalidInput(
    `${name} has no argument "${path}"; you probably mean "${meant}". Nothing was done. ${way}`,
    { argument: path, meant },
  );
}

/** Arguments that a tool takes, instead of the given ones. */
interface Mended {
  args: unknown;
  /** True if some of them are from the example, and not from the caller. */
  isExample: boolean;
}

/** A call that would work, as the last sentence of a refusal. */
function wayOut(tool: Tool, right: Mended | null): string | null {
  return right === null ? null : `${right.isExample ? 'For example:' : 'Call'} ${callOf(tool, right.args)}.`;
}

/**
 * The arguments as given; invalid ones are converted if their meaning is clear, left out if they are optional, and otherwise
 * taken from the example. Null if the call would then mean something else, without a list that was given.
 */
function mended(tool: Tool, given: unknown): Mended | null {
  const schema = schemaOf(tool);
  const example = { args: tool.example, isExample: true };
  const { error } = schema.safeParse(given);
  if (error === undefined) return { args: given, isExample: false };
  if (given === null || typeof given !== 'object') return example;
  let isExample = false;
  const wrong = new Set(error.issues.map(({ path }) => String(path[0])));
  const args = Object.fromEntries(
    Object.entries(given).filter(([name]) => name in tool.input && !wrong.has(name)),
  );
  for (const name of wrong) {
    const schema = tool.input[name];
    const value = (given as Record<string, unknown>)[name];
    const form = otherForms(value, schema).find((form) => z.safeParse(schema ?? z.never(), form).success);
    if (form !== undefined) args[name] = form;
    else if (value !== undefined && isList(schema)) return null;
    else if (!z.safeParse(schema ?? z.never(), undefined).success) {
      args[name] = tool.example[name];
      isExample = true;
    }
  }
  return schema.safeParse(args).success ? { args, isExample } : example;
}

/** In characters. A longer text is one item: nobody means a list of names by it. */
const LONGEST_LIST = 2_000;

/** A model's likely meaning: one item instead of a list, several items in one text, numbers as labels, or too long a wait. */
function otherForms(value: unknown, schema: z.core.$ZodType | undefined): unknown[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return [Math.min(value, mostOf(schema)), String(value), [String(value)]];
  if (Array.isArray(value)) return [value.map((item) => (typeof item === 'number' ? String(item) : item))];
  if (typeof value !== 'string' || value.length > LONGEST_LIST) return [[value]];
  const words = value.split(/[\s,;]+/).filter((word) => word !== '');
  if (words.length > 1 && words.every((word) => /^[a-z]+-\w{4,}$/.test(word))) return [words];
  // "this, that" may be one item or two.
  return /[,;|\n]/.test(value) ? [] : [[value]];
}

function isList(schema: z.core.$ZodType | undefined): boolean {
  return (schema instanceof z.ZodOptional ? schema.unwrap() : schema) instanceof z.ZodArray;
}

function mostOf(schema: z.core.$ZodType | undefined): number {
  const number = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return number instanceof z.ZodNumber
    ? (number.maxValue ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
}

/** A call as a model reads it, with long texts cut. */
function callOf({ name }: Tool, args: unknown): string {
  const call = `${name} ${JSON.stringify(args)}`;
  if (call.length <= LONGEST_CALL) return call;
  return `${name} ${JSON.stringify(args, (_, value) => (typeof value === 'string' ? excerpt(value, LONGEST_TEXT) : value))}`;
}

/** The tool that lists the kind of thing that a model named wrongly. */
const WHERE_TO_LOOK: Readonly<Partial<Record<ErrorCode, string>>> = {
  prompt_not_found: 'Your open questions: hivemind_poll {}.',
  session_not_found: 'Who is here: hivemind_sessions {}.',
  message_not_found: 'The latest messages: hivemind_read {}.',
  mention_not_found: 'Your mentions: hivemind_get_unprocessed_mentions {}.',
};

/** A sentence with a call that works instead of the one that was refused; null when the refusal itself names one. */
export function rightCall({ code, message }: HiveError, tool: Tool): string | null {
  if (/\bhivemind_\w+ \{/.test(message)) return null;
  return (
    WHERE_TO_LOOK[code] ?? (code === 'invalid_input' ? `For example: ${callOf(tool, tool.example)}.` : null)
  );
}

/** The refusal of a tool that does not exist: names the most similar tool and a call of it, or all tools. */
export function noSuchTool(name: string, tools: readonly Tool[]): Pick<HiveError, 'code' | 'message'> {
  const asked = wordsOf(name);
  const likeness = ({ name, title, description }: Tool): number =>
    [name, name, title, description].filter((text) => [...wordsOf(text)].some((word) => asked.has(word)))
      .length;
  const [best] = tools.toSorted((a, b) => likeness(b) - likeness(a));
  const way =
    best === undefined || likeness(best) === 0
      ? `The tools are ${tools.map((tool) => tool.name).join(', ')}.`
      : `You probably mean ${best.name}: call ${callOf(best, best.example)}.`;
  return { code: 'invalid_input', message: `There is no tool ${excerpt(name, LONGEST_TEXT)}. ${way}` };
}

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  return new Set(words.filter((word) => !/^(hive|hivemind|mcp|the|for|get|and|you|your)$/.test(word)));
}

function tooWide({ name, narrowing = [], input }: Tool, { path }: UnknownName): Error {
  const known = Object.keys(input).join(', ');
  return invalidInput(
    `${name} has no argument "${path}", and without ${narrowing.join(' or ')} it covers everything, which is probably not what you meant. Nothing was done. Its arguments are ${known}: call ${name} {"${narrowing[0]}": …}, or ${name} {} for everything.`,
    { argument: path },
  );
}

/** One invalid argument, as a sentence that names it. */
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

function describeIgnored(paths: readonly string[], shown: boolean): string | null {
  if (paths.length === 0) return null;
  const named = paths.slice(0, MOST_NAMED).map((path) => `"${path}"`);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  return sentences(
    `Ignored, because this tool has no such argument: ${named.join(', ')}${more}.`,
    paths.some((path) => IDENTITIES.has(plain(path)))
      ? `You are identified by your client, not by an argument.${shown ? ' Others see it as the name that you claim.' : ''}`
      : null,
  );
}

// ---- Results ----

/** In bytes: how long a result may be so that a client passes all of it to its model. Claude Code cuts at 25,000 tokens. */
export const RESULT_BYTES: number = 48 * 1024;

/** Sentences as one text; null parts are left out. */
export function sentences(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ');
}

/** A warning for the model about unverified messages; null when there are none among these. */
export function unverifiedWarning(items: readonly Pick<Message, 'author'>[]): string | null {
  return items.some(({ author }) => author === 'unverified') ? UNVERIFIED_WARNING : null;
}

// ---- Waiting ----
// A client that hears nothing assumes that a call is dead, most after a minute, and does not say when. So a call waits at
// most 25 s, unless the client is known to allow more.

interface LocalClient {
  /** `clientInfo.name` of the initialize request. */
  client: string;
  /** The client's own environment; null for a client on another machine. */
  env: Environment | null;
}

interface ClientOfCall extends LocalClient {
  /** The call has a progress token, so the client can learn that the call is still running. */
  hears_progress: boolean;
  /** How long the client allows a call, as set by the human; null if they set nothing. */
  tool_timeout_ms: number | null;
}

/** Clients assume that a call is dead when it reports nothing for about a minute. */
const PROGRESS_MS = 15_000;
/** The time in ms that the result needs to reach the client before its limit. */
const MARGIN_MS = 5_000;
/**
 * Claude Code ends a call after `MCP_TOOL_TIMEOUT`, which is more than a day unless it is set; progress does not extend
 * that. It also ends a call that reports nothing for some minutes; progress does extend that.
 */
const CLAUDE_CODE_MS = 100_000_000;

/** How many ms a call of this client may wait. */
export function longestWait({ client, env, hears_progress, tool_timeout_ms }: ClientOfCall): number {
  const owned_ms = ownedFor({ client, env });
  if (tool_timeout_ms !== null) return Math.min(beforeItsTime(tool_timeout_ms), owned_ms);
  if (client !== 'claude-code' || env === null) return LONGEST_WAIT_MS;
  const allowed = Math.min(beforeItsTime(milliseconds(env['MCP_TOOL_TIMEOUT']) ?? CLAUDE_CODE_MS), owned_ms);
  return hears_progress ? allowed : Math.min(allowed, LONGEST_WAIT_MS);
}

/** In ms. An interactive Claude Code then moves a call to the background, unless `CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS` is set. */
const BACKGROUND_MS = 120_000;

/**
 * How many ms a call of this client may take before its result is disowned (invariant 18). An interactive Claude Code moves
 * it to the background, and tells its model that the result "must NOT be treated as approval or consent"
 * (docs/agents.md, "Who speaks for the human").
 */
export function ownedFor({ client, env }: LocalClient): number {
  if (client !== 'claude-code') return Number.POSITIVE_INFINITY;
  // On another machine it may be interactive.
  if (env === null) return beforeItsTime(BACKGROUND_MS);
  // `claude -p` and the Agent SDK, unless they are told to do the same.
  const waits = /^sdk-/.test(env['CLAUDE_CODE_ENTRYPOINT'] ?? '') && !env['CLAUDE_AUTO_BACKGROUND_TASKS'];
  const after = env['CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS'];
  if (waits || (after !== undefined && /^\s*0+\s*$/.test(after))) return Number.POSITIVE_INFINITY;
  return beforeItsTime(milliseconds(after) ?? BACKGROUND_MS);
}

function beforeItsTime(limit_ms: number): number {
  return Math.max(limit_ms - MARGIN_MS, Math.floor(limit_ms / 2));
}

function milliseconds(text: string | undefined): number | null {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** Runs something slow, and reports to the client from time to time that the call is still running. */
export async function keepingAlive<Result>(
  { progress, hive }: Pick<ToolCall, 'progress' | 'hive'>,
  message: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const alive = setInterval(
    () => void beside(hive.log, 'Progress could not be sent.', () => progress(message)),
    PROGRESS_MS,
  );
  return work().finally(() => clearInterval(alive));
}

// ---- Calls in a turn that must stop ----
// They return at once, whatever they were waiting for, with the reason. Then the model stops by itself, or the hook after
// the call stops it.

type Result = Record<string, unknown>;

/** Calls that finish sooner than this are not watched: the next call notices the interrupt. */
const WATCH_AFTER_MS = 20;

/**
 * Runs a tool inside its turn, undefined if none is known. Any of `ends` ends the call. `work` gets the turn, or null, and the
 * signals that end it, including the stop of the turn.
 */
export async function runInTurn(
  { hive, turn, ends }: { hive: Hive; turn: Turn | undefined; ends: readonly AbortSignal[] },
  work: (turn_id: string | null, ends: readonly AbortSignal[]) => Promise<Result>,
): Promise<Result> {
  if (turn === undefined) return work(null, ends);
  const { turn_id } = turn;
  const before = await hive.interrupts.stopRequestFor(turn_id);
  if (before !== null) return interrupted(before);

  const over = new AbortController();
  const stop = new AbortController();
  let request: StopRequest | null = null;
  const watch = async (): Promise<void> => {
    request = await hive.interrupts.untilInterrupted(turn_id, over.signal);
    if (request !== null) stop.abort();
  };
  const failure = 'An interrupt could not be watched for.';
  const timer = setTimeout(() => void beside(hive.log, failure, watch, { turn_id }), WATCH_AFTER_MS);
  try {
    const result = await work(turn_id, [...ends, stop.signal]);
    return request === null ? result : interrupted(request, result);
  } catch (error) {
    // The tool ran in a turn that was stopped in the meantime.
    const isOver = error instanceof HiveError && error.code === 'turn_not_current';
    const after = isOver ? await hive.interrupts.stopRequestFor(turn_id) : null;
    if (after === null) throw error;
    return interrupted(after);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

function interrupted(request: StopRequest, result: Result = {}): Result {
  return {
    ...result,
    status: 'interrupted',
    interrupted_by: request.by,
    note: request.note,
    next: pleaseStop(request),
  };
}
