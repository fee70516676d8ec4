/**
 * A scripted Responses API on loopback, for Codex: what the model says is written in the test, what it was sent
 * is kept.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One thing the model says: words, or calls of tools. */
export type Reply = { text: string } | { calls: readonly FunctionCall[] };

export interface FunctionCall {
  name: string;
  namespace?: string;
  arguments: unknown;
}

/** A call of Codex's shell. */
export const shell = (cmd: string): FunctionCall => ({ name: 'exec_command', arguments: { cmd } });

/** A call of one of our tools. */
export const hive = (name: string, args: unknown = {}): FunctionCall => ({
  name,
  namespace: 'mcp__hive',
  arguments: args,
});

export interface ResponsesRequest {
  input: { type?: string; role?: string; [field: string]: unknown }[];
  tools: unknown[];
}

export interface ResponsesServer {
  url: string;
  requests: ResponsesRequest[];
  /** Everything the model was told since it last spoke, as text. */
  told(): string;
  everything(): string;
}

export type Script = (request: ResponsesRequest, step: number) => Reply | Promise<Reply>;

export async function startResponses(script: Script): Promise<ResponsesServer> {
  const requests: ResponsesRequest[] = [];
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
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    told() {
      const input = requests.at(-1)?.input ?? [];
      const spoke = input.findLastIndex(({ type, role }) => type === 'function_call' || role === 'assistant');
      return JSON.stringify(input.slice(spoke + 1));
    },
    everything: () => JSON.stringify(requests.at(-1)?.input ?? []),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  requests: ResponsesRequest[],
  script: Script,
): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  if (request.method !== 'POST' || request.url?.endsWith('/responses') !== true) {
    response.writeHead(404).end('{}');
    return;
  }
  const parsed = JSON.parse(body) as ResponsesRequest;
  // Without tools it is a side call, for a title of the session.
  const isStep = parsed.tools.length > 0;
  if (isStep) requests.push(parsed);
  const step = requests.length;
  const reply = isStep ? await script(parsed, step) : { text: 'a title' };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events(reply, step))
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function events(reply: Reply, step: number): { type: string; [field: string]: unknown }[] {
  const id = `resp_${step}`;
  const items =
    'text' in reply
      ? [
          {
            type: 'message',
            id: `msg_${step}`,
            role: 'assistant',
            content: [{ type: 'output_text', text: reply.text, annotations: [] }],
          },
        ]
      : reply.calls.map(({ name, namespace, arguments: args }, n) => ({
          type: 'function_call',
          id: `fc_${step}_${n}`,
          call_id: `call_${step}_${n}`,
          name,
          ...(namespace === undefined ? {} : { namespace }),
          arguments: JSON.stringify(args),
        }));
  const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
  return [
    { type: 'response.created', response: { id } },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { id, usage } },
  ];
}
