/**
 * The desk's side of the wire: JSON-RPC 2.0 on stdio with Content-Length framing. Every method stands on
 * this screen; what it does, the file of its capability says. The sidecar tells Emacs things by notification
 * only and asks nothing (invariant 7).
 */
import type { Readable, Writable } from 'node:stream';
import {
  createMessageConnection,
  type Message,
  type MessageStrategy,
  ResponseError,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { Hive } from '../../application/hive.ts';
import { cleanDeep, excerpt } from '../../domain/text.ts';
import { RPC_CODES, toWireError } from '../errors.ts';
import { hearAnswer, keepMalformed, sentenceOf, takeAnswer } from './answers.ts';
import {
  createTraffic,
  type DeskConnection,
  ignoredIn,
  type Methods,
  type Notify,
  type Refusal,
  refusalOf,
  type Traffic,
  within,
  withParams,
} from './desk-connection.ts';
import { deskMethods, doctorMethods, initializeDesk, noticeMethods, startDeskPopups } from './desks.ts';
import { startEvents } from './events.ts';
import { FrameReader, fitted } from './frames.ts';
import { historyMethods } from './history.ts';
import { mentionMethods } from './mentions.ts';
import { messageMethods } from './messages.ts';
import { outreachMethods, tellUnseen } from './outreach.ts';
import { promptMethods } from './prompts.ts';
import { sessionMethods } from './sessions.ts';
import { turnMethods } from './turns.ts';

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
  ...doctorMethods,
};

export interface EmacsOptions {
  seat: string;
  /** What the human is called, unless Emacs says. */
  human: string;
  pid: number;
  input: Readable;
  output: Writable;
  stop: AbortSignal;
  /** Called once when the desk is open and hears of events. */
  opened?: () => void;
  /** Called once when the end has come; what came before it is still taken, and all is put away. */
  ending: () => void;
}

/** How long what came before the end of input may take, and how long the putting away. */
const LAST_MESSAGES_MS = 250;
const PUT_AWAY_MS = 600;

/** Serves one Emacs until its end of stdin, `exit`, or `stop`; resolves when everything is put away. */
export async function serveEmacs(hive: Hive, options: EmacsOptions): Promise<void> {
  const { input, output, stop } = options;
  const writer = new StreamMessageWriter(output);
  const traffic = createTraffic();
  const refuse = (refusal: Refusal): void => sendRefusal(refusal, writer, hive);
  const over = new AbortController();
  const reader = new FrameReader(input, {
    refuse: (why) => refuse(unreadable(why)),
    sift: (content) =>
      sift(content, traffic, (refusal) => {
        if (refusal !== 'ignore') refuse(refusal);
        if (isAnswer(content)) traffic.follow(keepRefused(content, refusal, seat, over.signal));
      }),
  });
  const messageStrategy = { handleMessage: counted(traffic) };
  const connection = createMessageConnection(reader, writer, undefined, { messageStrategy });
  const { seat: place, human, pid } = options;
  const seat: DeskConnection = {
    hive,
    seat: place,
    human,
    pid,
    desk: null,
    opening: false,
    head_seq: 0,
    following: null,
  };
  const tell: Notify = (method, params) => connection.sendNotification(method, fitted(cleanDeep(params)));
  let stopPopups: (() => Promise<void>) | null = null;
  let stopHeld: (() => void) | null = null;
  let told = false;

  const ended = new Promise<void>((resolve) => {
    connection.onNotification('exit', resolve);
    connection.onClose(resolve);
    // Emacs may have sent an answer and died: what came before the end is still taken.
    const atEnd = (): void => {
      options.ending();
      void within(LAST_MESSAGES_MS, traffic.settled()).then(resolve);
    };
    input.once('end', atEnd).once('close', atEnd);
    // Emacs is gone and its pipe with it; there is nobody left to tell.
    output.once('error', () => resolve());
    stop.addEventListener('abort', () => resolve(), { once: true });
  });

  const reportIgnored = createIgnoredReport(hive);
  connection.onRequest('initialize', (params: unknown) =>
    answer(hive, async () => reportIgnored('initialize', await initializeDesk(params, seat))),
  );
  connection.onNotification('initialized', () => {
    if (seat.desk === null) return;
    seat.following ??= startEvents(seat, tell);
    stopPopups ??= startDeskPopups(seat, tell);
    stopHeld ??= hive.startHeldNotices(seat.seat);
    if (!told) {
      options.opened?.();
      tellUnseen(seat, tell).catch((error: unknown) =>
        hive.log.warn('What was kept for the human could not be shown.', { error: String(error) }),
      );
    }
    told = true;
  });
  connection.onRequest('shutdown', () => null);
  for (const [name, method] of Object.entries({ ...METHODS, 'hivemind-response': takeAnswer })) {
    connection.onRequest(name, (params: unknown) =>
      answer(hive, async () => reportIgnored(name, await method(params, seat))),
    );
  }
  // Emacs may send it as a mere event (docs/protocol.md): it is stored all the same, and only nobody hears that it is.
  connection.onNotification('hivemind-response', (params: unknown) => hearAnswer(params, seat, over.signal));
  connection.onRequest((method: string) => {
    throw new ResponseError(
      RPC_CODES.methodNotFound,
      `invalid_input: There is no method "${excerpt(cleanDeep(method), 100)}".`,
    );
  });
  connection.onError(([error]) => hive.log.warn('A message failed.', { error: error.message }));
  connection.listen();

  await ended;
  options.ending();
  over.abort();
  connection.dispose();
  (stopHeld as (() => void) | null)?.();
  const stops = [seat.following, stopPopups] as ((() => Promise<void>) | null)[];
  // An Emacs that hangs takes no more bytes, and what waits for that would wait for ever.
  await within(PUT_AWAY_MS, Promise.all([...stops.map((putAway) => putAway?.()), seat.desk?.close()]));
}

/** Every string that goes to Emacs is well-formed and free of NUL: one bad one would lose the whole frame there. */
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

/** Lets through what is a request or a notification, and counts it. */
function sift(
  content: unknown,
  traffic: Traffic,
  refuse: (refusal: Refusal | 'ignore') => void,
): Message | null {
  const refusal = refusalOf(content);
  if (refusal === null) {
    traffic.came();
    return withParams(content as Message);
  }
  refuse(refusal);
  return null;
}

/** An answer in a frame that is no message is an answer all the same. */
function keepRefused(
  content: { params?: unknown },
  refusal: Refusal | 'ignore',
  seat: DeskConnection,
  ended: AbortSignal,
): Promise<void> {
  const [reason, sender_told] =
    refusal === 'ignore'
      ? ['It is not written as {ask_id, decision, by}.', false]
      : [sentenceOf(refusal.message), true];
  return keepMalformed(content.params ?? content, seat, { reason, sender_told, ended });
}

function isAnswer(content: unknown): content is { params?: unknown } {
  return (
    content !== null &&
    typeof content === 'object' &&
    'method' in content &&
    content.method === 'hivemind-response'
  );
}

/** Logs each name that was ignored once: Emacs may send it with every request. */
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

/** What cannot be read has no id to answer to: JSON-RPC 2.0 says an error with a null id, and the connection lives on. */
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
  writer
    .write(reply)
    .catch((error: unknown) => log.warn('A refusal could not be sent.', { error: String(error) }));
}
