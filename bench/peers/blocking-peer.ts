/** The obvious server (blocking-server.mjs) at work; the bench plays its page. */
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { environment } from '../children.ts';
import type { Asked, Peer } from './peer.ts';

const SERVER = join(import.meta.dirname, 'blocking-server.mjs');

interface Connection {
  client: Client;
  pid: number;
  page: string;
}

export async function startBlocking(folder: string): Promise<Peer> {
  let { client, pid, page } = await connect(folder);
  const spoken: unknown[] = [];
  return {
    name: 'a blocking tool',
    spoken,
    tools: async () => (await client.listTools()).tools,
    async ask(question): Promise<Asked> {
      const args = { question };
      spoken.push(args);
      const at = page;
      const seen = fetch(`${at}/next`).then((response) => response.json() as Promise<{ id: string }>);
      const answered = client.callTool({ name: 'ask_user', arguments: args }).then(({ content }) => {
        const text = (content as { text: string }[])[0]?.text ?? '';
        spoken.push(text);
        return text;
      });
      // Unheard until the bench listens: a server that is killed loses it.
      answered.catch(() => undefined);
      return {
        shown: seen.then(() => undefined),
        answered,
        async answer(text) {
          const { id } = await seen;
          await fetch(`${at}/answer`, { method: 'POST', body: JSON.stringify({ id, answer: text }) });
        },
      };
    },
    async restartServer() {
      process.kill(pid, 'SIGKILL');
      ({ client, pid, page } = await connect(folder));
    },
    // There is nothing to ask it for: its questions were in its memory.
    recover: async () => null,
    close: () => client.close(),
  };
}

async function connect(folder: string): Promise<Connection> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [SERVER],
    env: environment(folder),
    stderr: 'pipe',
  });
  const port = new Promise<string>((resolve) =>
    transport.stderr?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
  );
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0, page: `http://127.0.0.1:${await port}` };
}
