/** A stand-in for the daemon of Codex: a WebSocket server on a Unix socket. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { ROOT } from './children.ts';

export interface Message {
  id?: number;
  method: string;
  params?: Record<string, unknown>;
  /** Of a reply to a request of the server. */
  result?: Record<string, unknown>;
}

export interface AppServer {
  /** CODEX_HOME. */
  readonly home: string;
  readonly messages: readonly Message[];
}

/** Messages of the real one (test/wire/fixtures). */
export const RECORDED = JSON.parse(
  readFileSync(join(ROOT, 'test/wire/fixtures/codex/control-socket.json'), 'utf8'),
) as {
  sequence: { from: string; message: Partial<Message> }[];
  refusals: { when: string; error: object }[];
  dialog: { from: string; message: Message }[];
  permission: Message & { params: Record<string, unknown> };
  edit: {
    request: Message & { params: Record<string, unknown> };
    item: Record<string, unknown> & { changes: Record<string, unknown>[] };
  };
  /** The permission of a tool of an MCP server, and a form that this server then had filled in. */
  tool: { permission: Message; form_of_its_server: Message };
};

/** The patch whose permission was recorded, by its model; the files are `FILES`. */
export const PATCH = [
  '*** Begin Patch',
  '*** Add File: made.txt',
  '+one',
  '+',
  '*** Update File: known.txt',
  '@@',
  ' a',
  '-b',
  '+B',
  '*** Delete File: gone.txt',
  '*** Update File: old.txt',
  '*** Move to: sub/new.txt',
  '@@',
  '-x',
  '+y',
  '*** End Patch',
].join('\n');
export const FILES = { 'known.txt': 'a\nb\nc\n', 'gone.txt': 'gone\n', 'old.txt': 'x\n' } as const;

/** An item of its thread: an edit that is about to make these changes, by default the recorded ones, in this folder. */
export function editItem(
  folder: string,
  id: string,
  changes: readonly object[] = RECORDED.edit.item.changes,
): Record<string, unknown> {
  const item = { ...RECORDED.edit.item, id, changes };
  return JSON.parse(JSON.stringify(item).replaceAll('/home/user/project', folder));
}

/** Its request for the permission of an edit. */
export function asksEdit(itemId: string, id: number, facts: Record<string, unknown> = {}): Message {
  const { request } = RECORDED.edit;
  return { ...request, id, params: { ...request.params, itemId, ...facts } };
}

/** Its request for the permission to run a command, with other facts where they are given. */
export function asksCommand(command: string, id: number, facts: Record<string, unknown> = {}): Message {
  const line = `/bin/bash -lc '${command.replaceAll("'", "'\\''")}'`;
  const { permission } = RECORDED;
  return { ...permission, id, params: { ...permission.params, command: line, ...facts } };
}

/** A reply to the request, or whole messages in order; undefined sends nothing. */
type Said = object | readonly object[] | undefined;

/** Answers each request with the result of `reply`. */
export async function startAppServer(
  home: string,
  reply: (message: Message) => Said | Promise<Said>,
): Promise<AppServer> {
  const messages: Message[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    // A ping, and each reply in two fragments: a client must cope with both.
    socket.ping('hi');
    socket.on('message', async (data) => {
      const message = JSON.parse(String(data)) as Message;
      messages.push(message);
      const said = message.id === undefined ? undefined : await reply(message);
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
