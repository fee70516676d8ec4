/**
 * A scripted Messages API on loopback: what the model says is written in the test, what it was sent is kept.
 * Only what Claude Code needs is served: POST /v1/messages as a stream.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One thing the model says: words, or calls of tools (several are one parallel batch). */
export type Reply = { text: string } | { calls: readonly ToolUse[] };

export interface ToolUse {
  name: string;
  input: unknown;
}

/** A request that carries tools, which is one step of the agent; the others are side calls. */
export interface ModelRequest {
  messages: { role: string; content: unknown }[];
  tools: { name: string }[];
  system: unknown;
}

/** A call of Claude Code's shell. */
export const bash = (command: string): ToolUse => ({ name: 'Bash', input: { command, description: 'work' } });

/** A call of one of our tools. */
export const hive = (tool: string, input: unknown = {}): ToolUse => ({ name: `mcp__hive__${tool}`, input });

export type Script = (request: ModelRequest, step: number) => Reply | Promise<Reply>;

export interface ModelServer {
  url: string;
  /** The steps of the agent so far. */
  requests: ModelRequest[];
  /** Everything the model was told since it last spoke, as text. */
  told(): string;
  /** Everything it was told in its last request, as text. */
  everything(): string;
}

export async function startModel(script: Script): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    serve(request, response, requests, script).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    told() {
      const messages = requests.at(-1)?.messages ?? [];
      const spoke = messages.findLastIndex((message) => message.role === 'assistant');
      return JSON.stringify(messages.slice(spoke + 1));
    },
    everything: () => JSON.stringify(requests.at(-1)?.messages ?? []),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  requests: ModelRequest[],
  script: Script,
): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  if (
    request.method !== 'POST' ||
    request.url?.startsWith('/v1/messages') !== true ||
    request.url.includes('count_tokens')
  ) {
    response.writeHead(request.method === 'HEAD' ? 200 : 404).end('{}');
    return;
  }
  const parsed = JSON.parse(body) as ModelRequest;
  const isStep = Array.isArray(parsed.tools) && parsed.tools.length > 0;
  if (isStep) requests.push(parsed);
  const reply = isStep ? await script(parsed, requests.length) : { text: 'ok' };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events(reply, requests.length))
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function events(reply: Reply, step: number): { type: string; [field: string]: unknown }[] {
  const blocks =
    'text' in reply
      ? [{ type: 'text', text: '' }]
      : reply.calls.map(({ name }, n) => ({
          type: 'tool_use',
          id: `toolu_${step}_${n}_${Date.now()}`,
          name,
          input: {},
        }));
  const deltas =
    'text' in reply
      ? [{ type: 'text_delta', text: reply.text }]
      : reply.calls.map(({ input }) => ({ type: 'input_json_delta', partial_json: JSON.stringify(input) }));
  const usage = { input_tokens: 10, output_tokens: 10 };
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${step}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-fake',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta: deltas[index] },
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: 'text' in reply ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage,
    },
    { type: 'message_stop' },
  ];
}
