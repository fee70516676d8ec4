// The floor of an MCP server: an echo tool on the same SDK, written like the SDK's own examples. Not bundled.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'echo', version: '1.0.0' });
server.registerTool(
  'echo',
  { title: 'Echo', description: 'Says it back.', inputSchema: { question: z.string() } },
  async ({ question }) => ({
    structuredContent: { question },
    content: [{ type: 'text', text: JSON.stringify({ question }) }],
  }),
);
await server.connect(new StdioServerTransport());
