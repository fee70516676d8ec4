// An MCP server of somebody else's, whose one tool has a form filled in before it answers.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

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
await server.connect(new StdioServerTransport());
