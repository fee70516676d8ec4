/** An agent for a terminal: a client with a `hive mcp` of its own, which asks once and then says what is typed at it. */
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { HIVE } from '../../support/children.ts';

const name = process.argv[2] ?? '';
const client = new Client({ name: 'terminal', version: '1.0.0' });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [HIVE, 'mcp'],
    env: { ...(process.env as Record<string, string>), HIVE_AGENT: name },
  }),
);
const asked = { question: `Which port for ${name}?`, options: ['80', '443'] };
await client.callTool({ name: 'hivemind_ask_async', arguments: asked });
console.log(`${name} has asked`);
for await (const line of createInterface({ input: process.stdin })) console.log(`${name} has read <${line}>`);
await client.close();
