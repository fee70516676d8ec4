/** What the methods and notifications of one desk share: where they work, and their shapes. */
import type { Message } from 'vscode-jsonrpc/node';
import { z } from 'zod';
import type { OpenDesk } from '../../application/desks.ts';
import type { Following } from '../../application/feed.ts';
import type { Hive } from '../../application/hive.ts';
import { HiveError } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import { type UnknownName, understand } from '../arguments.ts';
import { RPC_CODES } from '../errors.ts';

/** What every method gets besides its parameters. */
export interface DeskConnection {
  hive: Hive;
  /** Machine and user. */
  seat: string;
  /** What the human here is called. */
  human: string;
  pid: number;
  /** Null until `initialize`. */
  desk: OpenDesk | null;
  /** `initialize` has begun. */
  opening: boolean;
  /** Where the feed begins: what was there before, Emacs takes as a snapshot. */
  head_seq: number;
  /** What tells Emacs of events; null until `initialized`. */
  following: Following | null;
}

export type Method = (params: unknown, seat: DeskConnection) => Promise<object | null>;
export type Methods = Readonly<Record<string, Method>>;

/** The same method, whose reply comes after every notification that it rests on, a refusal as well. */
export function afterNews(method: Method): Method {
  return async (params, seat) => {
    try {
      return await method(params, seat);
    } finally {
      await seat.following?.caughtUp();
    }
  };
}

/** Everything that Emacs may be told unasked. */
export const NOTIFICATIONS = [
  'hivemind-ask',
  'prompt/changed',
  'message/posted',
  'mention/changed',
  'outreach/received',
  'outreach/changed',
  'session/changed',
  'turn/changed',
  'desk/open_prompt',
  'desk/preferences_changed',
  'desk/notice',
  'desk/resync',
] as const;

export type NotificationName = (typeof NOTIFICATIONS)[number];

/** Sends a notification whose params are the thing itself. Resolves when it is written. */
export type Notify = (method: NotificationName, params: object) => Promise<void>;

/** Something to be told, and what is then to be done about it. */
export type NotifyThen = (method: NotificationName, params: object, then?: () => Promise<unknown>) => void;

/** Finds out what is to be told of these events. */
export type EventNotifier = (
  events: readonly HiveEvent[],
  seat: DeskConnection,
  tell: NotifyThen,
) => Promise<void>;

/** The subjects of the events of some types, each once, in the order of their first event. */
export function subjectsOf(
  events: readonly HiveEvent[],
  wanted: (type: HiveEvent['type']) => boolean,
): string[] {
  const subjects = events.filter((event) => wanted(event.type)).flatMap((event) => event.subject ?? []);
  return [...new Set(subjects)];
}

// ---------------------------------------------------------------------------
// The parameters of a method: any spelling of a name is taken, and null is absent (../arguments.ts). A name that this
// sidecar does not know is no error, because Emacs may be newer; the reply names it in `ignored_params`.

const MOST_NAMED = 10;

/** A method whose params have this shape. */
export function takes<Schema extends z.ZodType>(
  schema: Schema,
  handle: (params: z.infer<Schema>, seat: DeskConnection) => Promise<object | null>,
): Method {
  return async (params, seat) => {
    const { given, unknown } = understand(schema, params ?? {});
    const parsed = schema.safeParse(given);
    if (!parsed.success)
      throw new z.ZodError([...parsed.error.issues, ...unknown.slice(0, MOST_NAMED).map(issueOf)]);
    if (unknown.length === 0) return handle(parsed.data, seat);
    const reply = await handle(parsed.data, seat).catch((error: unknown) => {
      throw withHints(error, unknown);
    });
    return { ...reply, ignored_params: unknown.slice(0, MOST_NAMED).map(({ path }) => path) };
  };
}

const NOTHING = z.object({});

/** A method without params. */
export function takesNothing(handle: (seat: DeskConnection) => Promise<object | null>): Method {
  return takes(NOTHING, (_params, seat) => handle(seat));
}

function issueOf(unknown: UnknownName): z.core.$ZodIssue {
  return { code: 'custom', path: [], message: hint(unknown), input: undefined };
}

/** Where something is missing, a name that was not understood is likely to be the reason. */
function withHints(error: unknown, unknown: readonly UnknownName[]): unknown {
  if (!(error instanceof HiveError)) return error;
  const hints = unknown.slice(0, MOST_NAMED).map((one) => ` ${hint(one)}.`);
  return new HiveError(error.code, `${error.message}${hints.join('')}`, error.details);
}

function hint({ path, meant }: UnknownName): string {
  return `There is no parameter "${path}"${meant === null ? '' : `; "${meant}" is probably meant`}`;
}

/** The names that a reply says were ignored. */
export function ignoredIn(reply: object | null): readonly string[] {
  const names = (reply as { ignored_params?: unknown } | null)?.ignored_params;
  return Array.isArray(names) ? names : [];
}

// ---------------------------------------------------------------------------
// What came in a frame, before it is taken for a request: JSON-RPC 2.0 knows shapes that vscode-jsonrpc
// drops without a word or fails on (a batch, an id that is none, a cancellation without an id).

/** An error reply; the id is null where the frame had none that can be answered to. */
export interface Refusal {
  id: string | number | null;
  code: number;
  message: string;
}

/** What is wrong with a message, null when nothing is, 'ignore' where nobody waits for an answer. */
export function refusalOf(message: unknown): Refusal | 'ignore' | null {
  if (Array.isArray(message))
    return invalid(null, 'Batches are not taken: send each request in a frame of its own');
  if (message === null || typeof message !== 'object') return invalid(null, 'A request is an object');
  const { jsonrpc, id, method, params } = message as Record<string, unknown>;
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  if (jsonrpc !== '2.0') return invalid(known, '"jsonrpc" must be "2.0"');
  // The sidecar asks Emacs nothing, so a reply answers nothing.
  if (method === undefined && ('result' in message || 'error' in message)) return 'ignore';
  if (typeof method !== 'string') return invalid(known, 'A request has a "method"');
  if (id !== undefined && known === null) return invalid(null, 'An "id" is a string or a number');
  if (params !== undefined && params !== null && (typeof params !== 'object' || Array.isArray(params))) {
    const refusal = {
      id: known,
      code: RPC_CODES.invalidParams,
      message: sentence('Parameters are taken by name'),
    };
    return id === undefined ? 'ignore' : refusal;
  }
  // No request of ours takes long enough to be cancelled.
  return method.startsWith('$/') && id === undefined ? 'ignore' : null;
}

/** The same message with parameters, be they none. */
export function withParams(message: Message): Message {
  const { params } = message as { params?: object | null };
  return { ...message, params: params ?? {} } as Message;
}

function invalid(id: Refusal['id'], what: string): Refusal {
  return { id, code: RPC_CODES.invalidRequest, message: sentence(what) };
}

function sentence(what: string): string {
  return `invalid_input: ${what}.`;
}

// ---------------------------------------------------------------------------
// traffic

/** What is on its way through a connection, so that an end of input does not cut off what came before it. */
export interface Traffic {
  /** A message has come in. */
  came(): void;
  /** It has been dealt with, reply and all. */
  done(): void;
  /** Counts this until it is done; it never fails. */
  follow(work: Promise<void>): void;
  /** Resolves when everything that came is done. */
  settled(): Promise<void>;
}

export function createTraffic(): Traffic {
  let open = 0;
  let wake: (() => void) | null = null;
  const traffic: Traffic = {
    came() {
      open += 1;
    },
    done() {
      open -= 1;
      if (open === 0) wake?.();
    },
    follow(work) {
      traffic.came();
      void work.finally(() => traffic.done());
    },
    async settled() {
      if (open === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
  };
  return traffic;
}

/** Resolves with `work`, or after `limit_ms` without it; what fails then is nobody's business any more. */
export async function within(limit_ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit_ms);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}
