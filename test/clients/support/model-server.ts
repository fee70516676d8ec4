/**
 * A scripted model on loopback, for any API. The test says what the model replies, and the server keeps what it
 * was sent. An API says which requests are for its model, which of them are steps of the agent, and how a reply is
 * streamed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One event of a stream. */
export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

export interface ModelApi<Request, Reply> {
  /** Whether a POST to this path is for the model; everything else is not found. */
  takes(path: string): boolean;
  /** Whether it is one step of the agent; the others are side calls. */
  isStep(request: Request): boolean;
  /** The reply to a side call. */
  aside: Reply;
  /** The words to the model and by it, in order. */
  conversation(request: Request): readonly unknown[];
  /** Whether the model itself said this part of it. */
  isModels(part: unknown): boolean;
  stream(reply: Reply, step: number): StreamEvent[];
}

export interface ModelServer<Request> {
  url: string;
  /** The steps of the agent so far. */
  requests: Request[];
  /** Everything that the model received since its last reply, as text. */
  told(): string;
  /** Everything in its last request, as text. */
  everything(): string;
  /** @throws what the script threw first. */
  close(): void;
}

/** Serves until it is closed; `script` says what the model replies at each step, from 1. */
export async function serveModel<Request, Reply>(
  api: ModelApi<Request, Reply>,
  script: (request: Request, step: number) => Reply | Promise<Reply>,
): Promise<ModelServer<Request>> {
  const requests: Request[] = [];
  let newest: { conversation: string; reply: Promise<Reply> } | null = null;
  let failure: Error | null = null;
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      // After "your request is wrong" no client tries again.
      response.writeHead(400).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (request.method !== 'POST' || !api.takes(request.url ?? '')) {
      response.writeHead(request.method === 'HEAD' ? 200 : 404).end('{}');
      return;
    }
    const parsed = JSON.parse(body) as Request;
    const reply = api.isStep(parsed) ? await replyTo(parsed) : api.aside;
    const step = requests.length;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of api.stream(reply, step))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  }

  /** A client that lost a reply sends its request again: that is the same step. */
  function replyTo(request: Request): Promise<Reply> {
    const conversation = JSON.stringify(api.conversation(request));
    if (newest?.conversation !== conversation) {
      const step = requests.push(request);
      const reply = (async () => script(request, step))();
      reply.catch((error: unknown) => {
        failure ??= error as Error;
      });
      newest = { conversation, reply };
    }
    return newest.reply;
  }

  const last = (): readonly unknown[] => {
    const request = requests.at(-1);
    return request === undefined ? [] : api.conversation(request);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    told: () => JSON.stringify(last().slice(last().findLastIndex(api.isModels) + 1)),
    everything: () => JSON.stringify(last()),
    close() {
      server.closeAllConnections();
      server.close();
      if (failure !== null) throw failure;
    },
  };
}
