/** What stands in for a running Codex: a WebSocket server on a Unix socket that takes `turn/interrupt`. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

export interface Message {
  id?: number;
  method: string;
  params?: Record<string, unknown>;
}

export interface AppServer {
  /** CODEX_HOME. */
  readonly home: string;
  readonly messages: readonly Message[];
}

/** A reply to the request, or whole messages, in order; nothing where it is undefined. */
type Said = object | readonly object[] | undefined;

/** Answers each request with what `reply` gives. */
export async function startAppServer(home: string, reply: (message: Message) => Said): Promise<AppServer> {
  const messages: Message[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    // A ping, and each reply in two fragments: a client has to bear both.
    socket.write(frame(0x89, Buffer.from('hi')));
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let read = unframe(rest); read !== null; read = unframe(rest)) {
        rest = rest.subarray(read.length);
        if (read.opcode !== 1) continue;
        const message = JSON.parse(read.text) as Message;
        messages.push(message);
        const said = message.id === undefined ? undefined : reply(message);
        if (said === undefined) continue;
        for (const one of Array.isArray(said) ? said : [{ id: message.id, ...said }]) {
          const bytes = Buffer.from(JSON.stringify(one));
          socket.write(frame(0x01, bytes.subarray(0, 5)));
          socket.write(frame(0x80, bytes.subarray(5)));
        }
      }
    });
  });
  const folder = join(home, 'app-server-control');
  mkdirSync(folder, { recursive: true });
  await listen(server, join(folder, 'app-server-control.sock'));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { home, messages };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve) => server.listen(path, resolve));
}

function frame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size = length < 126 ? Buffer.from([length]) : Buffer.from([126, length >> 8, length & 0xff]);
  return Buffer.concat([Buffer.from([first]), size, payload]);
}

/** One masked frame of a client; null while it is not whole. */
function unframe(bytes: Buffer): { opcode: number; text: string; length: number } | null {
  if (bytes.length < 6) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 126 ? 8 : 6;
  if (bytes.length < start) return null;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + size) return null;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + size));
  for (let n = 0; n < size; n += 1) payload[n] = (payload[n] ?? 0) ^ (mask[n % 4] ?? 0);
  return { opcode: (bytes[0] ?? 0) & 0x0f, text: payload.toString('utf8'), length: start + size };
}
