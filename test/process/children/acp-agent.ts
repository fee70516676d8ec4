/**
 * An ACP agent on the official SDK. At each prompt it asks for one permission, acts if it is allowed, and calls
 * no model: `write FILE` in the prompt appends a line to that file, `form FILE` what a form was filled in with, and
 * `ask QUESTION` asks over MCP.
 */
import { appendFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

let calls = 0;
let servers: acp.McpServer[] = [];

/** Asks with the tool of its MCP server, which it takes over HTTP only. */
async function ask(question: string): Promise<void> {
  const server = servers.find((one) => 'url' in one);
  if (server === undefined) throw new Error('There is no MCP server over HTTP.');
  const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
  const transport = new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
  const client = new Client({ name: 'scripted-agent', version: '1' });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  await client.callTool({ name: 'hivemind_ask_async', arguments: { question } });
  await client.close();
}

const agent = acp
  .agent({ name: 'scripted-agent' })
  .onRequest('initialize', () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: 'scripted-agent', version: '1' },
    agentCapabilities: { mcpCapabilities: { http: process.env['ACP_ONLY'] === 'http' } },
  }))
  .onRequest('session/new', ({ params }) => {
    appendFileSync(process.env['ACP_SEEN'] ?? '/dev/null', `${JSON.stringify(params)}\n`);
    servers = params.mcpServers;
    if (process.env['ACP_ONLY'] === 'http' && servers.some((one) => !('url' in one)))
      throw acp.RequestError.invalidParams({}, 'no server on stdio');
    return { sessionId: `s-${process.pid}` };
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const [first] = params.prompt;
    const text = first?.type === 'text' ? first.text : '';
    if (text.startsWith('ask ')) {
      await ask(text.slice('ask '.length));
      return { stopReason: 'end_turn' };
    }
    const path = text.replace(/^(?:write|form) /, '');
    if (text.startsWith('form ')) {
      const how = { type: 'string' as const, oneOf: [{ const: 'x', title: 'Safe' }] };
      const answer = await client.request('elicitation/create', {
        mode: 'form',
        sessionId: params.sessionId,
        message: 'How?',
        requestedSchema: { type: 'object', properties: { how } },
      });
      appendFileSync(path, `${JSON.stringify(answer)}\n`);
      return { stopReason: 'end_turn' };
    }
    calls += 1;
    const { outcome } = await client.request('session/request_permission', {
      sessionId: params.sessionId,
      toolCall: {
        toolCallId: `call-${calls}`,
        title: `write ${path}`,
        kind: 'edit',
        rawInput: { file_path: path },
      },
      options: [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    });
    if (outcome.outcome === 'selected' && outcome.optionId === 'yes') appendFileSync(path, 'written\n');
    return { stopReason: outcome.outcome === 'cancelled' ? 'cancelled' : 'end_turn' };
  });

agent.connect(
  acp.ndJsonStream(
    Writable.toWeb(process.stdout),
    Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
  ),
);
