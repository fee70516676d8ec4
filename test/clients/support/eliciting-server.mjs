// An MCP server of somebody else's: two tools have a form filled in before they answer, one of them in a hurry, another has a page
// visited, and one only reads.
import { writeFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'shop', version: '1' });
server.registerTool('order', { description: 'Order something.' }, async () => {
  const requestedSchema = {
    type: 'object',
    properties: { sure: { type: 'boolean' }, count: { type: 'integer', title: 'How many' } },
    required: ['sure', 'count'],
  };
  const filled = await server.server.elicitInput({ message: 'Order now?', requestedSchema });
  return { content: [{ type: 'text', text: JSON.stringify(filled) }] };
});
server.registerTool('hurry', { description: 'Order something now or never.' }, async () => {
  const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } };
  const filled = await server.server.elicitInput({ message: 'Now?', requestedSchema }, { timeout: 1_000 });
  return { content: [{ type: 'text', text: JSON.stringify(filled) }] };
});
server.registerTool('pay', { description: 'Pay for it.' }, async () => {
  const page = { mode: 'url', url: 'http://127.0.0.1:9/pay?order=1', elicitationId: 'pay-1' };
  const visited = await server.server.elicitInput({ ...page, message: 'Pay 3 euros there?' });
  return { content: [{ type: 'text', text: JSON.stringify(visited) }] };
});
const reads = { inputSchema: { what: z.string() }, annotations: { readOnlyHint: true } };
server.registerTool('look', { description: 'Look at it.', ...reads }, async ({ what }) => ({
  content: [{ type: 'text', text: `saw ${what}` }],
}));
const { TOOLS_LISTED: listed } = process.env;
const transport = new StdioServerTransport();
const send = transport.send.bind(transport);
transport.send = async (message) => {
  await send(message);
  // From here on its client knows what the tools are.
  if (message.result?.tools !== undefined && listed !== undefined) writeFileSync(listed, '');
};
await server.connect(transport);
