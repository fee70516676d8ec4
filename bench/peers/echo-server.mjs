// The floor of an MCP server: one tool that echoes, on the same SDK, as its own examples write it. Not bundled.
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
