/** A stand-in for a running Codex: a WebSocket server on a Unix socket that accepts `turn/interrupt`. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';

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

/** A reply to the request, or whole messages in order; undefined sends nothing. */
type Said = object | readonly object[] | undefined;

/** Answers each request with the result of `reply`. */
export async function startAppServer(home: string, reply: (message: Message) => Said): Promise<AppServer> {
  const messages: Message[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    // A ping, and each reply in two fragments: a client must cope with both.
    socket.ping('hi');
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message;
      messages.push(message);
      const said = message.id === undefined ? undefined : reply(message);
      if (said === undefined) return;
      for (const one of Array.isArray(said) ? said : [{ id: message.id, ...said }]) {
        const bytes = Buffer.from(JSON.stringify(one));
        socket.send(bytes.subarray(0, 5), { binary: false, fin: false });
        socket.send(bytes.subarray(5), { binary: false, fin: true });
      }
    });
  });
  const folder = join(home, 'app-server-control');
  mkdirSync(folder, { recursive: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(join(folder, 'app-server-control.sock'), () => resolve());
  });
  onTestFinished(async () => {
    for (const socket of sockets.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return { home, messages };
}
