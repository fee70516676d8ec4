/**
 * The desk's side of the wire: JSON-RPC 2.0 on stdio with Content-Length framing. Every method stands on
 * this screen; what it does, the file of its capability says. The sidecar tells Emacs things by notification
 * only and asks nothing (invariant 7).
 */
import type { Readable, Writable } from 'node:stream';
import {
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { OpenDesk } from '../../application/desks.ts';
import type { Hive } from '../../application/hive.ts';
import { cleanDeep } from '../../domain/text.ts';
import { RPC_CODES, toWireError } from '../errors.ts';
import { deskMethods, initializeDesk } from './desks.ts';
import { doctorMethods } from './doctor.ts';
import { startEvents } from './events.ts';
import { mentionMethods } from './mentions.ts';
import { messageMethods } from './messages.ts';
import { outreachMethods } from './outreach.ts';
import { startDeskPopups } from './popups.ts';
import { promptMethods } from './prompts.ts';
import { sessionMethods } from './sessions.ts';
import { turnMethods } from './turns.ts';

/** What every method gets besides its parameters. */
export interface Seat {
  hive: Hive;
  /** Machine and user. */
  seat: string;
  pid: number;
  /** Null until `initialize`. */
  desk: OpenDesk | null;
  /** Where the feed begins: what was there before, Emacs takes as a snapshot. */
  head_seq: number;
}

export type Method = (params: unknown, seat: Seat) => Promise<object | null>;
export type Methods = Readonly<Record<string, Method>>;

const METHODS: Methods = {
  ...promptMethods,
  ...messageMethods,
  ...mentionMethods,
  ...sessionMethods,
  ...turnMethods,
  ...outreachMethods,
  ...deskMethods,
  ...doctorMethods,
};

/** Sends a notification whose params are the thing itself. Resolves when it is written. */
export type Tell = (method: string, params: object) => Promise<void>;

/** Serves one Emacs until its end of stdin, `exit`, or `stop`; resolves when everything is put away. */
export async function serveEmacs(
  hive: Hive,
  options: { seat: string; pid: number; input: Readable; output: Writable; stop: AbortSignal },
): Promise<void> {
  const { input, output, stop } = options;
  const writer = new StreamMessageWriter(output);
  const connection = createMessageConnection(new StreamMessageReader(input), writer);
  const seat: Seat = { hive, seat: options.seat, pid: options.pid, desk: null, head_seq: 0 };
  const tell: Tell = (method, params) => connection.sendNotification(method, cleanDeep(params));
  let stopEvents: (() => Promise<void>) | null = null;
  let stopPopups: (() => Promise<void>) | null = null;

  const ended = new Promise<void>((resolve) => {
    connection.onNotification('exit', resolve);
    connection.onClose(resolve);
    input.once('end', resolve);
    // Emacs is gone and its pipe with it; there is nobody left to tell.
    output.once('error', () => resolve());
    stop.addEventListener('abort', () => resolve(), { once: true });
  });

  connection.onRequest('initialize', (params: unknown) => answer(hive, () => initializeDesk(params, seat)));
  connection.onNotification('initialized', () => {
    stopEvents ??= startEvents(seat, tell);
    stopPopups ??= startDeskPopups(seat, tell);
  });
  connection.onRequest('shutdown', () => null);
  for (const [name, method] of Object.entries(METHODS)) {
    connection.onRequest(name, (params: unknown) => answer(hive, () => method(params ?? {}, seat)));
  }
  // ADR-003 has it as an event; sent so, it is stored all the same, and only nobody hears that it is.
  connection.onNotification('hivemind-response', (params: unknown) => {
    answer(hive, () => promptMethods['hivemind-response'](params, seat)).catch((error: unknown) => {
      hive.log.warn('An answer that came as a notification was not taken.', { error: String(error) });
    });
  });
  answerMalformedFrames(connection, writer, hive);
  connection.listen();

  await ended;
  connection.dispose();
  await (stopEvents as (() => Promise<void>) | null)?.();
  await (stopPopups as (() => Promise<void>) | null)?.();
  await seat.desk?.close();
}

/** Every string that goes to Emacs is well-formed and free of NUL: one bad one would lose the whole frame there. */
async function answer(hive: Hive, work: () => Promise<object | null>): Promise<object | null> {
  try {
    return cleanDeep(await work());
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

/** What cannot be read has no id to answer to: JSON-RPC 2.0 says an error with a null id, and the connection lives on. */
function answerMalformedFrames(connection: MessageConnection, writer: StreamMessageWriter, hive: Hive): void {
  connection.onError(([error]) => {
    hive.log.warn('A frame from Emacs could not be read.', { error: error.message });
    const reply = {
      jsonrpc: '2.0',
      id: null,
      error: { code: RPC_CODES.parse, message: 'invalid_input: The frame could not be read as JSON-RPC.' },
    };
    writer
      .write(reply)
      .catch((failure: unknown) => hive.log.warn('A refusal could not be sent.', { error: String(failure) }));
  });
}
