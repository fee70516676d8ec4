// An MCP server whose only tool returns the name of what carries its result, at once or when there is a certain file in FOLDER,
// its argument.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { untilThere } from './until-there.mjs';

const [folder] = process.argv.slice(2);
const server = new McpServer({ name: 'carrier', version: '1' });
server.registerTool(
  'say',
  {
    description: 'Says something.',
    inputSchema: { carrier: z.string(), until: z.string().optional() },
    outputSchema: { text: z.string() },
    _meta: { 'anthropic/alwaysLoad': true },
  },
  async ({ carrier, until }) => {
    if (until !== undefined) await untilThere(folder, until);
    return { content: [{ type: 'text', text: 'no' }], structuredContent: { text: `⟦${carrier}⟧` } };
  },
);
await server.connect(new StdioServerTransport());
