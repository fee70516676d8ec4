/**
 * The control socket of a running Codex daemon (0.169): WebSocket over a Unix socket, JSON-RPC without a version field.
 * `turn/interrupt` is answered once the turn has ended, after its Interrupt hook; for a turn that is over or unknown the
 * answer is an error (test/wire/fixtures/codex/control-socket.json). Node's own WebSocket does not support Unix sockets,
 * so the few frames needed are made here. Every wait is limited, because older versions never answered a repeated
 * interrupt.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import type { CodexControl } from '../../application/ports.ts';
import { cleanText } from '../../domain/text.ts';
import { codexSocket } from './paths.ts';
import { encodeFrame, FrameReader } from './websocket-frames.ts';

const LIMIT_MS = 3_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** The control socket of the daemon that this environment names. */
export function createCodexControl(env: Environment): CodexControl {
  const path = codexSocket(env);

  async function ask(request: Request, receive: Receive): Promise<boolean> {
    if (path === null) return false;
    try {
      return await talk(path, request, receive);
    } catch {
      return false;
    }
  }

  return {
    interrupt({ thread_id, client_turn_id }) {
      const params = { threadId: thread_id, turnId: client_turn_id };
      return ask({ method: 'turn/interrupt', params }, ({ id, method, error }) =>
        method === undefined && id === ASKED ? error === undefined : undefined,
      );
    },

    // A client that joins a thread is shown its open dialogs, as its terminal is.
    answer({ thread_id, answers }) {
      let answered: unknown;
      const params = { threadId: thread_id, excludeTurns: true };
      return ask({ method: 'thread/resume', params }, ({ id, method, params, error }, send) => {
        if (method === undefined && id === ASKED && error !== undefined) return false;
        if (method === 'serverRequest/resolved')
          return answered !== undefined && params?.['requestId'] === answered ? true : undefined;
        if (method !== 'item/tool/requestUserInput' || answered !== undefined) return undefined;
        const result = answersTo(params?.['questions'], answers);
        if (result === null || params?.['threadId'] !== thread_id) return undefined;
        answered = id;
        send({ id, result: { answers: result } });
        return undefined;
      });
    },

    queue: (message) => queueForCodex(message, env, path),
  };
}

/** The answers by question id; null when the questions are not those that were answered. */
function answersTo(
  questions: unknown,
  answers: ReadonlyMap<string, readonly string[]>,
): Record<string, { answers: readonly string[] }> | null {
  if (!Array.isArray(questions) || questions.length !== answers.size) return null;
  const found: Record<string, { answers: readonly string[] }> = {};
  for (const { id, question } of questions as { id: string; question: string }[]) {
    const given = answers.get(cleanText(String(question)));
    if (given === undefined) return null;
    found[id] = { answers: given };
  }
  return found;
}

interface Request {
  method: string;
  params: object;
}

/** A reply, a notification or a request of Codex. */
interface Incoming {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  error?: unknown;
}

/** Receives the messages after the handshake, until it returns whether the request succeeded. */
type Receive = (message: Incoming, send: (message: object) => void) => boolean | undefined;

/** Codex numbers its own requests like we do, so only a message without a method is a reply. */
const INITIALIZED = 1;
const ASKED = 2;

/** Performs the handshake, sends the request, and passes on what comes back. */
async function talk(path: string, request: Request, receive: Receive): Promise<boolean> {
  const socket = await upgrade(path);
  try {
    return await new Promise<boolean>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no reply')), LIMIT_MS);
      const send = (message: object): void => void socket.write(encodeFrame('text', JSON.stringify(message)));
      const reader = new FrameReader((frame) => {
        if (frame.kind === 'ping') socket.write(encodeFrame('pong', frame.payload));
        if (frame.kind !== 'text') return;
        const message = JSON.parse(frame.payload.toString('utf8')) as Incoming;
        if (message.method === undefined && message.id === INITIALIZED) {
          send({ method: 'initialized' });
          send({ id: ASKED, ...request });
          return;
        }
        const succeeded = receive(message, send);
        if (succeeded === undefined) return;
        clearTimeout(timer);
        resolve(succeeded);
      });
      const fail = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      socket.on('data', (chunk: Buffer) => {
        try {
          reader.push(chunk);
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)));
        }
      });
      socket.once('error', fail);
      socket.once('close', () => fail(new Error('closed')));
      const clientInfo = { name: 'hive', title: 'Hive', version: '1' };
      // Codex regards answering dialogs as experimental.
      const capabilities = { experimentalApi: true, requestAttestation: false };
      send({ id: INITIALIZED, method: 'initialize', params: { clientInfo, capabilities } });
    });
  } finally {
    socket.destroy();
  }
}

/** RFC 6455, section 4.1: an HTTP upgrade with a key; the server proves that it has read it. */
async function upgrade(path: string): Promise<Duplex> {
  const [{ request }, { createHash, randomBytes }] = await Promise.all([
    import('node:http'),
    import('node:crypto'),
  ]);
  const key = randomBytes(16).toString('base64');
  const expected = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return new Promise((resolve, reject) => {
    const asking = request({
      socketPath: path,
      agent: false,
      path: '/',
      timeout: LIMIT_MS,
      headers: {
        host: 'localhost',
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
      },
    });
    asking.once('upgrade', (response, socket, head) => {
      if (response.headers['sec-websocket-accept'] !== expected) {
        socket.destroy();
        reject(new Error('this is not a WebSocket'));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asking.once('response', (response) => {
      response.destroy();
      reject(new Error(`the upgrade was refused: ${response.statusCode}`));
    });
    asking.once('timeout', () => asking.destroy(new Error('no answer')));
    asking.once('error', reject);
    asking.end();
  });
}

// ---- codex queue ----
// A message for an idle session of the running daemon begins a new turn there.

const QUEUE_LIMIT_MS = 10_000;

/** False when no daemon runs, or it does not know the session; never rejects. */
function queueForCodex(
  { thread_id, message }: { thread_id: string; message: string },
  env: Readonly<Record<string, string | undefined>>,
  socket: string | null,
): Promise<boolean> {
  if (socket === null || !existsSync(socket)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const args = ['queue', '--thread', thread_id, '--message', message];
    execFile(env['HIVE_CODEX'] ?? 'codex', args, { timeout: QUEUE_LIMIT_MS, env: { ...env } }, (error) =>
      resolve(error === null),
    );
  });
}
