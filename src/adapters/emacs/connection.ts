/**
 * The connection to one Emacs: JSON-RPC 2.0 on stdio with Content-Length framing. The methods of the core and the senders of
 * notifications are listed on this screen; each is in the file of its capability, those of extensions in their folders.
 * The sidecar sends Emacs notifications only, and never a request (invariant 7).
 */
import type { Readable, Writable } from 'node:stream';
import {
  createMessageConnection,
  type Message,
  type MessageStrategy,
  ResponseError,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { beside } from '../../application/background.ts';
import type { Following } from '../../application/feed.ts';
import type { Hive } from '../../application/hive.ts';
import { HiveError } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import { cleanDeep, excerpt } from '../../domain/text.ts';
import { RPC_CODES, toWireError } from '../errors.ts';
import {
  deskMethods,
  doctorMethods,
  initializeDesk,
  noticeMethods,
  notifyNotices,
  notifyPreferences,
  startDeskPopups,
} from './desks.ts';
import { FrameReader, fitted } from './frames.ts';
import { historyMethods } from './history.ts';
import { mentionMethods, notifyMentions } from './mentions.ts';
import { messageMethods, notifyMessages } from './messages.ts';
import {
  type DeskConnection,
  type EmacsExtension,
  type EventNotifier,
  ignoredIn,
  type Methods,
  type Notify,
  type NotifyThen,
} from './method.ts';
import { notifyOutreach, notifyUnseen, outreachMethods } from './outreach.ts';
import { keepMalformed, notifyPrompts, promptMethods, receiveResponse, sentenceOf } from './prompts.ts';
import { ruleMethods } from './rules.ts';
import { notifySessions, sessionMethods } from './sessions.ts';
import { statsMethods } from './stats.ts';
import { notifyTurns, turnMethods } from './turns.ts';

/** The methods of the core. */
export const METHODS: Methods = {
  ...promptMethods,
  ...messageMethods,
  ...mentionMethods,
  ...sessionMethods,
  ...turnMethods,
  ...outreachMethods,
  ...noticeMethods,
  ...deskMethods,
  ...historyMethods,
  ...ruleMethods,
  ...statsMethods,
  ...doctorMethods,
};

/** Every method that Emacs may call. */
export function methodsWith(extensions: readonly EmacsExtension[]): Methods {
  return Object.assign({}, METHODS, ...extensions.map(({ methods }) => methods));
}

/** In a batch of events the core sends prompts first and notices last; extensions come after it. */
const EVENT_NOTIFIERS: readonly EventNotifier[] = [
  notifyPrompts,
  notifyMessages,
  notifyMentions,
  notifyOutreach,
  notifySessions,
  notifyTurns,
  notifyPreferences,
  notifyNotices,
];

export interface EmacsOptions {
  seat: string;
  /** The name of the human, unless Emacs says otherwise. */
  human: string;
  pid: number;
  /** Throws `not_allowed` when an agent is an ancestor of this process. */
  check: () => Promise<void>;
  input: Readable;
  output: Writable;
  stop: AbortSignal;
  extensions: readonly EmacsExtension[];
  /** Called once when the desk is open and receives events. */
  opened?: () => void;
  /** Called once when the input has ended; messages from before that are still handled, then everything is closed. */
  ending: () => void;
  /** How many ms those messages may take; LAST_MESSAGES_MS if not given. */
  last_messages_ms?: number;
}

/** In ms: how long messages from before the end of input may take, and how long closing may take. */
const LAST_MESSAGES_MS = 250;
const CLOSING_MS = 600;

/** Serves one Emacs until the end of its stdin, `exit`, or `stop`; resolves when everything is closed. */
export async function serveEmacs(hive: Hive, options: EmacsOptions): Promise<void> {
  const { input, output, stop, extensions } = options;
  const writer = new StreamMessageWriter(output);
  const traffic = createTraffic();
  const refuse = (refusal: Refusal): void => sendRefusal(refusal, writer, hive);
  const over = new AbortController();
  const reader = new FrameReader(input, {
    refuse: (why) => refuse(unreadable(why)),
    sift: (content) =>
      sift(content, traffic, (refusal) => {
        if (refusal !== 'ignore') refuse(refusal);
        if (isAnswer(content)) traffic.follow(keepRefused(content, refusal, connection, over.signal));
      }),
  });
  const messageStrategy = { handleMessage: counted(traffic) };
  const rpc = createMessageConnection(reader, writer, undefined, { messageStrategy });
  const { seat, human, pid, check } = options;
  const notify: Notify = (method, params) => rpc.sendNotification(method, fitted(cleanDeep(params)));
  const connection: DeskConnection = {
    hive,
    seat,
    human,
    via: 'emacs',
    device: null,
    pid,
    check,
    desk: null,
    opening: false,
    head_seq: 0,
    following: null,
    notify,
  };
  let stopPopups: (() => Promise<void>) | null = null;
  let stopHeld: (() => void) | null = null;
  let announced = false;

  const ended = new Promise<void>((resolve) => {
    rpc.onNotification('exit', resolve);
    rpc.onClose(resolve);
    // Emacs may have sent an answer and died: messages from before the end are still handled.
    const atEnd = (): void => {
      options.ending();
      void within(options.last_messages_ms ?? LAST_MESSAGES_MS, traffic.settled()).then(resolve);
    };
    input.once('end', atEnd).once('close', atEnd);
    // Emacs is gone and its pipe with it; nobody is left to notify.
    output.once('error', () => resolve());
    stop.addEventListener('abort', () => resolve(), { once: true });
  });

  const reportIgnored = createIgnoredReport(hive);
  rpc.onRequest('initialize', (params: unknown) =>
    answer(hive, async () => reportIgnored('initialize', await initializeDesk(params, connection))),
  );
  rpc.onNotification('initialized', () => {
    if (connection.desk === null) return;
    connection.following ??= startEvents(connection, notify, extensions);
    stopPopups ??= startDeskPopups(connection, notify);
    stopHeld ??= hive.startHeldNotices(connection.seat);
    if (!announced) {
      options.opened?.();
      const show = (): Promise<void> => notifyUnseen(connection, notify);
      void beside(hive.log, 'Pings and cards kept for the human could not be shown.', show);
    }
    announced = true;
  });
  rpc.onRequest('shutdown', () => null);
  for (const [name, method] of Object.entries(methodsWith(extensions))) {
    rpc.onRequest(name, (params: unknown) =>
      answer(hive, async () => reportIgnored(name, await method(params, connection))),
    );
  }
  // Emacs may send it as a notification (docs/internals/protocol.md): it is stored, too, but without a reply.
  rpc.onNotification('hivemind-response', (params: unknown) =>
    receiveResponse(params, connection, over.signal),
  );
  rpc.onRequest((method: string) => {
    throw new ResponseError(
      RPC_CODES.methodNotFound,
      `invalid_input: There is no method "${excerpt(cleanDeep(method), 100)}".`,
    );
  });
  rpc.onError(([error]) => hive.log.warn('A message failed.', { error: error.message }));
  rpc.listen();

  await ended;
  options.ending();
  over.abort();
  rpc.dispose();
  (stopHeld as (() => void) | null)?.();
  const stops = [connection.following, stopPopups] as ((() => Promise<void>) | null)[];
  // An Emacs that hangs reads no more bytes, and a write to it would wait for ever.
  await within(
    CLOSING_MS,
    Promise.all([
      ...stops.map((end) => end?.()),
      ...extensions.map(({ close }) => close?.(connection)),
      connection.desk?.close(),
    ]),
  );
}

/** Every string for Emacs is well-formed and free of NUL: one bad string would lose the whole frame there. */
async function answer(hive: Hive, work: () => Promise<object | null>): Promise<object | null> {
  try {
    return fitted(cleanDeep(await work()));
  } catch (error) {
    const { code, message, data } = toWireError(error);
    if (code === RPC_CODES.internal) {
      hive.log.error('A request from Emacs failed.', {
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
    throw new ResponseError(code, cleanDeep(message), cleanDeep(data));
  }
}

/** Lets requests and notifications through, and counts them. */
function sift(
  content: unknown,
  traffic: Traffic,
  refuse: (refusal: Refusal | 'ignore') => void,
): Message | null {
  const refusal = refusalOf(content);
  if (refusal === null) {
    traffic.came();
    const { params } = content as { params?: object | null };
    return { ...(content as Message), params: params ?? {} } as Message;
  }
  refuse(refusal);
  return null;
}

/** Keeps an answer in a frame that is not a valid message. */
function keepRefused(
  content: { params?: unknown },
  refusal: Refusal | 'ignore',
  connection: DeskConnection,
  ended: AbortSignal,
): Promise<void> {
  const [reason, sender_told] =
    refusal === 'ignore'
      ? ['It is not written as {ask_id, decision, by}.', false]
      : [sentenceOf(refusal.message), true];
  return keepMalformed(content.params ?? content, connection, { reason, sender_told, ended });
}

function isAnswer(content: unknown): content is { params?: unknown } {
  return (
    content !== null &&
    typeof content === 'object' &&
    'method' in content &&
    content.method === 'hivemind-response'
  );
}

/** Logs each ignored name once, because Emacs may send it with every request. */
function createIgnoredReport({ log }: Hive): (method: string, reply: object | null) => object | null {
  const reported = new Set<string>();
  return (method, reply) => {
    const ignored = ignoredIn(reply).filter((name) => !reported.has(`${method} ${name}`));
    for (const name of ignored) reported.add(`${method} ${name}`);
    if (ignored.length > 0 && reported.size <= MOST_REPORTED)
      log.warn('Emacs sent parameters that this sidecar does not know; they were ignored.', {
        method,
        ignored,
      });
    return reply;
  };
}

const MOST_REPORTED = 1_000;

function counted(traffic: Traffic): MessageStrategy['handleMessage'] {
  return async (message, next) => {
    try {
      await next(message);
    } finally {
      traffic.done();
    }
  };
}

/** The refusal of an unreadable frame. It has a null id, as JSON-RPC 2.0 requires; the connection stays open. */
function unreadable(why: string): Refusal {
  return {
    id: null,
    code: RPC_CODES.parse,
    message: `invalid_input: A frame could not be read as JSON-RPC: it is ${why}.`,
  };
}

function sendRefusal({ id, code, message }: Refusal, writer: StreamMessageWriter, { log }: Hive): void {
  log.warn('A frame from Emacs was refused.', { message });
  const reply = { jsonrpc: '2.0', id, error: { code, message, data: { code: 'invalid_input' } } } as Message;
  void beside(log, 'A refusal could not be sent.', () => writer.write(reply));
}

// ---- Notifications ----
// Each thing that changed, in its current state, once per batch of events.

/** Follows the feed from the handshake on, until the returned function is called. */
export function startEvents(
  connection: DeskConnection,
  notify: Notify,
  extensions: readonly EmacsExtension[],
): Following {
  const notifiers = [...EVENT_NOTIFIERS, ...extensions.flatMap((extension) => extension.notify ?? [])];
  /** Everything up to this event has been sent. */
  let sent = connection.head_seq;
  /** The rest of the work after a notification, such as a receipt. */
  const afterwards: (() => Promise<unknown>)[] = [];

  async function notifyAll(events: readonly HiveEvent[]): Promise<void> {
    // Everything is read before anything is sent: if the store failed in between, the batch would be sent twice.
    const found: Parameters<NotifyThen>[] = [];
    for (const notifier of notifiers) await notifier(events, connection, (...one) => void found.push(one));
    for (const [method, params, then] of found) {
      await notify(method, params);
      if (then !== undefined) afterwards.push(then);
    }
  }

  return connection.hive.feed.follow({
    cursor: sent,
    async onEvents(events) {
      const unsent = events.filter(({ seq }) => seq > sent);
      await notifyAll(unsent);
      sent = unsent.at(-1)?.seq ?? sent;
      for (let next = afterwards[0]; next !== undefined; next = afterwards[0]) {
        await next().catch((error: unknown) => {
          // Tried again with the next batch, unless retention has removed the prompt.
          if (!(error instanceof HiveError) || error.code !== 'prompt_not_found') throw error;
        });
        afterwards.shift();
      }
    },
    // Events were removed before Emacs saw them, so it takes a new snapshot.
    async onResync(head) {
      await notify('desk/resync', { head_seq: head });
      sent = head;
    },
  });
}

// ---- Invalid messages ----
// Checked before a frame counts as a request: JSON-RPC 2.0 has shapes that vscode-jsonrpc drops silently or fails on (a
// batch, an invalid id, a cancellation without an id).

/** An error reply; the id is null when the frame had none to answer to. */
interface Refusal {
  id: string | number | null;
  code: number;
  message: string;
}

/** The fault of a message: null when there is none, 'ignore' when nobody waits for an answer. */
function refusalOf(message: unknown): Refusal | 'ignore' | null {
  if (Array.isArray(message))
    return invalid(null, 'Batches are not supported: send each request in its own frame');
  if (message === null || typeof message !== 'object') return invalid(null, 'A request is an object');
  const { jsonrpc, id, method, params } = message as Record<string, unknown>;
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  if (jsonrpc !== '2.0') return invalid(known, '"jsonrpc" must be "2.0"');
  // The sidecar sends no requests, so a reply answers nothing.
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
  // None of our requests takes long enough to be cancelled.
  return method.startsWith('$/') && id === undefined ? 'ignore' : null;
}

function invalid(id: Refusal['id'], what: string): Refusal {
  return { id, code: RPC_CODES.invalidRequest, message: sentence(what) };
}

function sentence(what: string): string {
  return `invalid_input: ${what}.`;
}

// ---- Pending work ----

type Traffic = ReturnType<typeof createTraffic>;

/** The messages being handled, so that an end of input does not cut them off. */
function createTraffic() {
  let open = 0;
  let wake: (() => void) | null = null;
  const traffic = {
    /** A message has arrived. */
    came(): void {
      open += 1;
    },
    /** It has been handled, including its reply. */
    done(): void {
      open -= 1;
      if (open === 0) wake?.();
    },
    /** Counts this work until it is done; it must never reject. */
    follow(work: Promise<void>): void {
      traffic.came();
      void work.finally(() => traffic.done());
    },
    /** Resolves when everything that arrived is done. */
    async settled(): Promise<void> {
      if (open === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
  };
  return traffic;
}

/** Resolves with `work`, or after `limit_ms` without it; a failure is ignored. */
async function within(limit_ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit_ms);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}
