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
import { objectIn, objectsIn, type Raw } from '../../domain/json.ts';
import type { Environment } from '../../domain/sources.ts';
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

  async function hosts(thread_id: string): Promise<boolean> {
    if (!existsSync(path)) return false;
    const listed = await ask({ method: 'thread/loaded/list', params: {} }, (message) => {
      const threads = message.result?.['data'];
      return isReply(message, ASKED) ? Array.isArray(threads) && threads.includes(thread_id) : undefined;
    });
    return listed === true;
  }

  return {
    interrupt({ thread_id, client_turn_id }) {
      const params = { threadId: thread_id, turnId: client_turn_id };
      return ask({ method: 'turn/interrupt', params }, (message) =>
        isReply(message, ASKED) ? message.error === undefined : undefined,
      );
    },

    hosts,

    async items(thread_id) {
      let items: readonly Raw[] = [];
      if (!(await hosts(thread_id))) return items;
      await ask(joining(thread_id), (message) => {
        if (!isReply(message, ASKED)) return undefined;
        items = itemsIn(message);
        return true;
      });
      return items;
    },

    // A client that joins a thread gets its open dialogs, as its terminal does.
    async answer(thread_id, replyTo) {
      let answered: unknown;
      let items: readonly Raw[] = [];
      const confirmed = await ask(joining(thread_id), async (message, send) => {
        const { id, method, params = {}, error } = message;
        if (isReply(message, ASKED)) {
          items = itemsIn(message);
          return error === undefined && waits(message) ? undefined : false;
        }
        if (method === 'serverRequest/resolved')
          return answered !== undefined && params['requestId'] === answered ? true : undefined;
        if (method === undefined || id === undefined || answered !== undefined) return undefined;
        const item = items.find((one) => one['id'] === params['itemId']) ?? null;
        const result = params['threadId'] === thread_id ? await replyTo({ method, params, item }) : null;
        if (result === null) return undefined;
        answered = id;
        send({ id, result });
        return undefined;
      });
      return confirmed === true;
    },

    queue: (message) => queueForCodex(message, env, path),
  };
}

/** The request that joins a running thread and returns its last turn, with the items in progress, which other requests leave out. */
function joining(threadId: string): Request {
  const initialTurnsPage = { limit: 1, itemsView: 'full' };
  return { method: 'thread/resume', params: { threadId, excludeTurns: true, initialTurnsPage } };
}

function itemsIn({ result }: Incoming): Raw[] {
  const turns = objectsIn(objectIn(result?.['initialTurnsPage'])?.['data']);
  return turns.flatMap(({ items }) => objectsIn(items));
}

/** Whether a thread that was joined waits for its person; true if Codex does not say. */
function waits({ result }: Incoming): boolean {
  const { type, activeFlags } = objectIn(objectIn(result?.['thread'])?.['status']) ?? {};
  return type === undefined || (Array.isArray(activeFlags) && activeFlags.length > 0);
}

interface Request {
  method: string;
  params: object;
}

/** A reply, a notification or a request of Codex. */
interface Incoming {
  id?: unknown;
  method?: string;
  params?: Raw;
  result?: Raw;
  error?: unknown;
}

type Outcome = boolean | undefined;

/** Receives the messages after the handshake, one after the other, until it returns whether the request succeeded. */
type Receive = (message: Incoming, send: (message: object) => void) => Outcome | Promise<Outcome>;

/** The id of `initialize`. */
const INITIALIZED = 1;
const ASKED = 2;

/** Codex numbers its own requests like we do, so only a message without a method is a reply. */
function isReply({ id, method }: Incoming, to: number): boolean {
  return method === undefined && id === to;
}

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
      const take = async (message: Incoming): Promise<void> => {
        if (isReply(message, INITIALIZED)) {
          send({ method: 'initialized' });
          send({ id: ASKED, ...request });
          asked = true;
          return;
        }
        const succeeded = await receive(message, send);
        if (succeeded !== undefined) finish(() => resolve(succeeded));
      };
      let taken = Promise.resolve();
      socket.on('message', (data, isBinary) => {
        if (isBinary) return;
        taken = taken
          .then(() => take(JSON.parse(String(data)) as Incoming))
          .catch((error: unknown) => finish(() => reject(error)));
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
