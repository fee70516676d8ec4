/**
 * `mcp-feedback-enhanced` from npm; the bench plays the
 * panel that its editor extension brings: a WebSocket server which its MCP server finds by a file in the home folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { environment } from '../children.ts';
import { FEEDBACK, installPeer } from './install.ts';
import type { Asked, Peer } from './peer.ts';

/** The part of the `ws` package that the panel uses. */
interface Socket {
  on(event: 'message', listener: (data: Buffer) => void): void;
  send(text: string): void;
}
interface SocketServer {
  on(event: 'connection', listener: (socket: Socket) => void): void;
}
type Ws = { WebSocketServer: new (options: { server: HttpServer; path: string }) => SocketServer };

interface Request {
  type: string;
  session_id: string;
}

export async function startFeedback(folder: string): Promise<Peer> {
  const program = installPeer(FEEDBACK);
  const panel = await openPanel(program, folder);
  let { client, pid } = await connect(program, folder);
  const spoken: unknown[] = [];
  return {
    name: `${FEEDBACK.name} ${FEEDBACK.version}`,
    spoken,
    tools: async () => (await client.listTools()).tools,
    async ask(question): Promise<Asked> {
      const seen = panel.next();
      const args = { project_directory: folder, summary: question, timeout: 60 };
      spoken.push(args);
      const answered = client
        .callTool({ name: 'interactive_feedback', arguments: args })
        .then(({ content }) => {
          const text = (content as { text: string }[])[0]?.text ?? '';
          spoken.push(text);
          return text.replace('User Feedback:\n', '');
        });
      answered.catch(() => undefined);
      return {
        shown: seen.then(() => undefined),
        answered,
        async answer(feedback) {
          const { session_id, reply } = await seen;
          reply({ type: 'feedback_result', session_id, feedback, images: [] });
        },
      };
    },
    async restartServer() {
      process.kill(pid, 'SIGKILL');
      ({ client, pid } = await connect(program, folder));
    },
    // It offers a new server only `feedback://pending`: a comment that its panel has kept, if there is one.
    recover: async () => null,
    async close() {
      await client.close();
      panel.close();
    },
  };
}

async function connect(program: string, folder: string): Promise<{ client: Client; pid: number }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program],
    env: environment(folder),
    cwd: folder,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0 };
}

interface Panel {
  next(): Promise<{ session_id: string; reply: (message: object) => void }>;
  close(): void;
}

async function openPanel(program: string, folder: string): Promise<Panel> {
  const { WebSocketServer } = createRequire(program)('ws') as Ws;
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as { port: number };
  let waiting: ((request: { session_id: string; reply: (message: object) => void }) => void) | null = null;
  new WebSocketServer({ server: http, path: '/ws' }).on('connection', (socket) => {
    const reply = (message: object): void => socket.send(JSON.stringify(message));
    reply({ type: 'connection_established', version: FEEDBACK.version });
    socket.on('message', (data) => {
      const { type, session_id } = JSON.parse(data.toString()) as Request;
      if (type === 'feedback_request') waiting?.({ session_id, reply });
    });
  });
  const servers = join(folder, '.config/mcp-feedback-enhanced/servers');
  mkdirSync(servers, { recursive: true });
  const told = {
    port,
    pid: process.pid,
    parentPid: process.ppid,
    workspaces: [folder],
    timestamp: Date.now(),
  };
  writeFileSync(join(servers, `${process.pid}.json`), JSON.stringify(told));
  return {
    next: () =>
      new Promise((resolve) => {
        waiting = resolve;
      }),
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}
