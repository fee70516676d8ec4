/**
 * Methods and notifications of the connection to Emacs: the context that each gets, and how parameters are read. Every
 * capability has its own in a file of its name; those of the core are listed in connection.ts.
 */
import { z } from 'zod';
import type { OpenDesk } from '../../application/desks.ts';
import type { Following } from '../../application/feed.ts';
import type { Hive } from '../../application/hive.ts';
import type { HumanActor } from '../../domain/actors.ts';
import { HiveError } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import { cleanText } from '../../domain/text.ts';
import { type UnknownName, understand } from '../arguments.ts';

/** The context of every method, besides its parameters. */
export interface DeskConnection {
  hive: Hive;
  /** Machine and user. */
  seat: string;
  /** The name of the human here. */
  human: string;
  /** The channel of the human's actions here. */
  via: 'emacs' | 'inbox';
  /** The device at the other end, whose answers it signs; null in Emacs, whose sidecar signs them. */
  device: { key: string } | null;
  pid: number;
  /** Throws `not_allowed` when an agent turns out to have started this sidecar: its session may have been registered later. */
  check: () => Promise<void>;
  /** Null before `initialize`. */
  desk: OpenDesk | null;
  /** `initialize` has begun. */
  opening: boolean;
  /** Where the feed begins; Emacs gets everything before that as a snapshot. */
  head_seq: number;
  /** The feed that sends events to Emacs; null before `initialized`. */
  following: Following | null;
  notify: Notify;
}

/** The person who types in this Emacs, or on this device, is the human; a desk needs no further confirmation. */
export function humanAt(
  { human, via }: Pick<DeskConnection, 'human' | 'via'>,
  by: string | null | undefined,
): HumanActor {
  return { kind: 'human', by: cleanText(by ?? human), via, confirmed: true };
}

type Handle = (params: unknown, connection: DeskConnection) => Promise<object | null>;

/** One JSON-RPC method, with what docs/internals/protocol.md says about it. */
export type Method = Handle & {
  /** The shape of its params; null if it has none. */
  readonly params: z.ZodType | null;
  /** A description, in sentences. */
  readonly says: string;
};
export type Methods = Readonly<Record<string, Method>>;

/** The same method, but its reply (or its error) comes after every notification that it is based on. */
export function afterEvents(method: Method): Method {
  return described(method.params, method.says, async (params, connection) => {
    try {
      return await method(params, connection);
    } finally {
      await connection.following?.caughtUp();
    }
  });
}

/** A method that reads its params itself. */
export function described(params: z.ZodType | null, says: string, handle: Handle): Method {
  return Object.assign((given: unknown, connection: DeskConnection) => handle(given, connection), {
    params,
    says,
  });
}

/** Every notification that Emacs may receive. */
export const NOTIFICATIONS = [
  'hivemind-ask',
  'prompt/changed',
  'message/posted',
  'mention/changed',
  'outreach/received',
  'outreach/changed',
  'session/changed',
  'turn/changed',
  'phone/changed',
  'desk/open_prompt',
  'desk/preferences_changed',
  'desk/notice',
  'desk/resync',
  'dialog/answered',
  'session/interrupt',
  'session/wake',
] as const;

export type NotificationName = (typeof NOTIFICATIONS)[number];

/** Sends a notification whose params are the thing itself. Resolves when it is written. */
export type Notify = (method: NotificationName, params: object) => Promise<void>;

/** Queues a notification, and what to do once it is sent. */
export type NotifyThen = (method: NotificationName, params: object, then?: () => Promise<unknown>) => void;

/** Determines the notifications for these events. */
export type EventNotifier = (
  events: readonly HiveEvent[],
  connection: DeskConnection,
  notify: NotifyThen,
) => Promise<void>;

/** The additions of one extension to the connection. The names of its notifications are in `NOTIFICATIONS`. */
export interface EmacsExtension {
  methods: Methods;
  /** Its notifications come after those of the core. */
  notify?: EventNotifier;
  /** The connection has ended. */
  close?: (connection: DeskConnection) => Promise<void>;
}

/** The subjects of the events of some types, each once, in the order of their first event. */
export function subjectsOf(
  events: readonly HiveEvent[],
  wanted: (type: HiveEvent['type']) => boolean,
): string[] {
  const subjects = events.filter((event) => wanted(event.type)).flatMap((event) => event.subject ?? []);
  return [...new Set(subjects)];
}

// ---- Parameters ----
// Any spelling of a name is accepted, and null counts as missing (../arguments.ts). A name that this sidecar does not
// know is not an error, because Emacs may be newer; the reply lists it in `ignored_params`.

const MOST_NAMED = 10;

/** A method whose params have this shape, and what it does, in sentences. */
export function takes<Schema extends z.ZodType>(
  schema: Schema,
  says: string,
  handle: (params: z.infer<Schema>, connection: DeskConnection) => Promise<object | null>,
): Method {
  return described(schema, says, async (params, connection) => {
    const { given, unknown } = understand(schema, params ?? {});
    const parsed = schema.safeParse(given);
    if (!parsed.success) {
      const hints = unknown.slice(0, MOST_NAMED).map(hint);
      throw new z.ZodError([
        ...parsed.error.issues,
        ...hints.map((message) => ({ code: 'custom' as const, path: [], message, input: undefined })),
      ]);
    }
    if (unknown.length === 0) return handle(parsed.data, connection);
    const reply = await handle(parsed.data, connection).catch((error: unknown) => {
      throw withHints(error, unknown);
    });
    return { ...reply, ignored_params: unknown.slice(0, MOST_NAMED).map(({ path }) => path) };
  });
}

/** The same, refused when an agent has started the sidecar: for actions in the human's name. */
export function acts<Schema extends z.ZodType>(...definition: Parameters<typeof takes<Schema>>): Method {
  const method = takes(...definition);
  return described(method.params, method.says, async (params, connection) => {
    await connection.check();
    return method(params, connection);
  });
}

const NOTHING = z.object({});

/** A method without params. */
export function withoutParams(
  says: string,
  handle: (connection: DeskConnection) => Promise<object | null>,
): Method {
  const method = takes(NOTHING, says, (_params, connection) => handle(connection));
  return described(null, says, method);
}

/** When something is missing, a name that was not understood is the likely reason, so the error mentions it. */
function withHints(error: unknown, unknown: readonly UnknownName[]): unknown {
  if (!(error instanceof HiveError)) return error;
  const hints = unknown.slice(0, MOST_NAMED).map((one) => ` ${hint(one)}.`);
  return new HiveError(error.code, `${error.message}${hints.join('')}`, error.details);
}

function hint({ path, meant }: UnknownName): string {
  return `There is no parameter "${path}"${meant === null ? '' : `; "${meant}" is probably meant`}`;
}

/** The names that a reply lists as ignored. */
export function ignoredIn(reply: object | null): readonly string[] {
  const names = (reply as { ignored_params?: unknown } | null)?.ignored_params;
  return Array.isArray(names) ? names : [];
}
