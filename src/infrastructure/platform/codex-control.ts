/**
 * The control socket of a running Codex daemon (0.169): WebSocket over a Unix socket, JSON-RPC without a version field.
 * `turn/interrupt` is answered once the turn has ended, after its Interrupt hook; for a turn that is over or unknown the
 * answer is an error (test/wire/fixtures/codex/control-socket.json). Node's own WebSocket does not support Unix sockets,
 * so this uses ws. Every wait is limited, because older versions never answered a repeated interrupt.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import type { CodexControl } from '../../application/world.ts';
import type { Environment } from '../../domain/sources.ts';
import { cleanText } from '../../domain/text.ts';
import { codexSocket } from './paths.ts';

const LIMIT_MS = 3_000;
/** A longer reply is not from Codex. In bytes. */
const LONGEST_REPLY = 16 * 1024 * 1024;

/** The control socket of the daemon that this environment names. */
export function createCodexControl(env: Environment): CodexControl {
  const path = codexSocket(env);

  async function ask(request: Request, receive: Receive): Promise<boolean | null> {
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

    // A client that joins a thread gets its open dialogs, as its terminal does.
    async answer({ thread_id, answers }) {
      let answered: unknown;
      const params = { threadId: thread_id, excludeTurns: true };
      const received = await ask(
        { method: 'thread/resume', params },
        ({ id, method, params, error }, send) => {
          if (method === undefined && id === ASKED && error !== undefined) return false;
          if (method === 'serverRequest/resolved')
            return answered !== undefined && params?.['requestId'] === answered ? true : undefined;
          if (method !== 'item/tool/requestUserInput' || answered !== undefined) return undefined;
          const result = answersTo(params?.['questions'], answers);
          if (result === null || params?.['threadId'] !== thread_id) return undefined;
          answered = id;
          send({ id, result: { answers: result } });
          return undefined;
        },
      );
      return received === true;
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

/** The id of `initialize`. Codex numbers its own requests like we do, so only a message without a method is a reply. */
const INITIALIZED = 1;
const ASKED = 2;

/** Performs the handshake, sends the request, and passes on what comes back. Null if the request gets no reply in time. */
async function talk(path: string, request: Request, receive: Receive): Promise<boolean | null> {
  const { WebSocket } = await import('ws');
  const socket = new WebSocket('ws://localhost/', {
    // Not ws+unix:, because a URL changes a path that contains a space, a colon or a question mark.
    createConnection: () => connect(path),
    maxPayload: LONGEST_REPLY,
    perMessageDeflate: false,
  });
  try {
    return await new Promise<boolean | null>((resolve, reject) => {
      let asked = false;
      const timer = setTimeout(() => (asked ? resolve(null) : reject(new Error('no reply'))), LIMIT_MS);
      const finish = (end: () => void): void => {
        clearTimeout(timer);
        end();
      };
      const send = (message: object): void => socket.send(JSON.stringify(message));
      socket.on('open', () => {
        const clientInfo = { name: 'hive', title: 'Hive', version: '1' };
        // Codex regards answering dialogs as experimental.
        const capabilities = { experimentalApi: true, requestAttestation: false };
        send({ id: INITIALIZED, method: 'initialize', params: { clientInfo, capabilities } });
      });
      const take = (message: Incoming): void => {
        if (message.method === undefined && message.id === INITIALIZED) {
          send({ method: 'initialized' });
          send({ id: ASKED, ...request });
          asked = true;
          return;
        }
        const succeeded = receive(message, send);
        if (succeeded !== undefined) finish(() => resolve(succeeded));
      };
      socket.on('message', (data, isBinary) => {
        if (isBinary) return;
        try {
          take(JSON.parse(String(data)) as Incoming);
        } catch (error) {
          finish(() => reject(error));
        }
      });
      // It stays registered, because ending a socket that is still connecting is an error too.
      socket.on('error', (error) => finish(() => reject(error)));
      socket.once('close', () => finish(() => reject(new Error('closed'))));
    });
  } finally {
    socket.terminate();
  }
}

// ---- codex queue ----
// A message for an idle session of the running daemon begins a new turn there.

const QUEUE_LIMIT_MS = 10_000;

/** False when no daemon runs, or it does not know the session; never rejects. */
function queueForCodex(
  { thread_id, message }: { thread_id: string; message: string },
  env: Environment,
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
