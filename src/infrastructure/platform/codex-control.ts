/**
 * The control socket of a running Codex daemon (0.169): WebSocket over a Unix socket, JSON-RPC without a version
 * field. `turn/interrupt` on it is answered once the turn has ended, after its Interrupt hook; a turn that is over or
 * unknown gets an error (test/wire/fixtures/codex/control-socket.json). Node's own WebSocket knows no Unix sockets, so
 * the few frames that are needed are made here; everything is bounded, since older versions left a repeated
 * interrupt unanswered for good.
 */
import type { Duplex } from 'node:stream';
import type { CodexControl } from '../../application/ports.ts';
import { queueForCodex } from './codex-queue.ts';
import { encodeFrame, FrameReader } from './websocket-frames.ts';

const LIMIT_MS = 3_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** `$CODEX_HOME/app-server-control/app-server-control.sock`, by default under ~/.codex. */
function socketPath(env: Environment): string | null {
  const home = env['CODEX_HOME'] ?? (env['HOME'] === undefined ? null : `${env['HOME']}/.codex`);
  return home === null ? null : `${home}/app-server-control/app-server-control.sock`;
}

export function createCodexControl(env: Environment): CodexControl {
  return {
    async interrupt({ thread_id, client_turn_id }) {
      const path = socketPath(env);
      if (path === null) return false;
      try {
        return await talk(path, { threadId: thread_id, turnId: client_turn_id });
      } catch {
        return false;
      }
    },
    queue: (message) => queueForCodex(message, env, socketPath(env)),
  };
}

/** A reply, a notification or a request of Codex. */
interface Incoming {
  id?: unknown;
  method?: string;
  error?: unknown;
}

/** Shakes hands, asks, and waits for the one reply. */
async function talk(path: string, params: object): Promise<boolean> {
  const socket = await upgrade(path);
  try {
    return await new Promise<boolean>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no reply')), LIMIT_MS);
      const send = (message: object): void => void socket.write(encodeFrame('text', JSON.stringify(message)));
      const reader = new FrameReader((frame) => {
        if (frame.kind === 'ping') socket.write(encodeFrame('pong', frame.payload));
        if (frame.kind !== 'text') return;
        const reply = JSON.parse(frame.payload.toString('utf8')) as Incoming;
        // Notifications come at any time, and its own requests count their ids as we do.
        if (reply.method !== undefined) return;
        if (reply.id === 1) {
          send({ method: 'initialized' });
          send({ id: 2, method: 'turn/interrupt', params });
        } else if (reply.id === 2) {
          clearTimeout(timer);
          resolve(reply.error === undefined);
        }
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
      send({ id: 1, method: 'initialize', params: { clientInfo } });
    });
  } finally {
    socket.destroy();
  }
}

/** RFC 6455, section 4.1: an HTTP upgrade with a key that the server has to have read. */
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
        reject(new Error('this is no WebSocket'));
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
