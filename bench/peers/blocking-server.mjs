// The obvious first attempt: an MCP tool that blocks until somebody answers, with questions in memory and a page to answer
// them at. `GET /next` waits for a question, `POST /answer` gives {id, answer}. It prints its port on stderr.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const open = new Map();
const unseen = [];
let looking = null;

function show() {
  if (looking === null || unseen.length === 0) return;
  looking.end(JSON.stringify(unseen.shift()));
  looking = null;
}

const page = createServer((request, response) => {
  if (request.url === '/next') {
    looking = response;
    show();
    return;
  }
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const { id, answer } = JSON.parse(body);
    const waiting = open.get(id);
    open.delete(id);
    waiting?.(answer);
    response.writeHead(waiting ? 200 : 404).end();
  });
});
page.listen(0, '127.0.0.1', () => process.stderr.write(`${page.address().port}\n`));

const server = new McpServer({ name: 'ask', version: '1.0.0' });
server.registerTool(
  'ask_user',
  { description: 'Ask the user and wait for the answer.', inputSchema: { question: z.string() } },
  async ({ question }) => {
    const id = crypto.randomUUID();
    const answered = new Promise((resolve) => open.set(id, resolve));
    unseen.push({ id, question });
    show();
    return { content: [{ type: 'text', text: await answered }] };
  },
);
await server.connect(new StdioServerTransport());
