/**
 * `mcp-feedback-enhanced` from npm, installed at run time into a cache outside the repository; the bench plays the
 * panel that its editor extension brings: a WebSocket server which its MCP server finds by a file in the home folder.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { environment } from '../children.ts';
import type { Asked, Peer } from './peer.ts';

const VERSION = '1.2.23';

/** The path of the program, installed if necessary. @throws when the registry cannot be reached. */
function install(): string {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hive-peers');
  const program = join(cache, 'node_modules/mcp-feedback-enhanced/dist/index.js');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  writeFileSync(join(cache, 'package.json'), '{"private": true}\n');
  const wanted = [`mcp-feedback-enhanced@${VERSION}`, 'ws@8'];
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...wanted], {
    cwd: cache,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return program;
}

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
  const program = install();
  const panel = await openPanel(program, folder);
  let { client, pid } = await connect(program, folder);
  return {
    name: `mcp-feedback-enhanced ${VERSION}`,
    async ask(question): Promise<Asked> {
      const seen = panel.next();
      const answered = client
        .callTool({
          name: 'interactive_feedback',
          arguments: { project_directory: folder, summary: question, timeout: 60 },
        })
        .then(
          ({ content }) => (content as { text: string }[])[0]?.text.replace('User Feedback:\n', '') ?? '',
        );
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
    // What it offers a new server is `feedback://pending`: a comment that its panel has kept, had it one to keep.
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
    reply({ type: 'connection_established', version: VERSION });
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
