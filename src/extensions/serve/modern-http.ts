/**
 * MCP 2026-07-28 (modern.ts) over HTTP: each POST is independent. It is answered with JSON, or with a stream if
 * notifications precede the answer; a client that closes the connection cancels its request
 * (modelcontextprotocol.io/specification/2026-07-28/basic/transports).
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import {
  clientIn,
  createModernClients,
  envelopeOf,
  type Failure,
  headerMismatch,
  invalid,
  MODERN,
  refusal,
  refuseEnvelope,
} from '../../adapters/mcp/modern.ts';

/** The body of a POST in the new revision. */
export type ModernPost =
  | { kind: 'request'; request: JSONRPCRequest; client: { name: string; version: string } }
  | { kind: 'notification' }
  | { kind: 'refused'; answer: JSONRPCMessage };

/** The POST as one of the new revision, according to its envelope or its header; null for an older one. */
export function readModernPost({ headers }: IncomingMessage, json: unknown): ModernPost | null {
  if (Array.isArray(json) || !isRequestOrNotification(json)) return null;
  const envelope = envelopeOf(json);
  if (envelope === null && headerOf(headers, 'mcp-protocol-version') !== MODERN) return null;
  if (!('id' in json)) return { kind: 'notification' };
  const request = json as JSONRPCRequest;
  const problem = problemOf(headers, request);
  if (problem !== null || envelope === null)
    return { kind: 'refused', answer: refusal(request.id, problem ?? NO_ENVELOPE) };
  return { kind: 'request', request, client: clientIn(envelope) };
}

function isRequestOrNotification(json: unknown): json is JSONRPCMessage & { method: string } {
  return json !== null && typeof json === 'object' && 'method' in json;
}

const NO_ENVELOPE: Failure = invalid(
  `MCP-Protocol-Version is ${MODERN}, and the request has no envelope in _meta.`,
);

/** Methods whose subject is also in the header Mcp-Name, with the param that names it. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** The fault of the envelope, or a header that contradicts the body: proxies rely on headers. */
function problemOf(headers: IncomingHttpHeaders, request: JSONRPCRequest): Failure | null {
  const envelope = envelopeOf(request);
  if (envelope === null) return NO_ENVELOPE;
  const version = headerOf(headers, 'mcp-protocol-version');
  const claimed = envelope['io.modelcontextprotocol/protocolVersion'];
  if (version !== undefined && version !== claimed)
    return headerMismatch(`MCP-Protocol-Version is ${version}, and the envelope says ${String(claimed)}.`);
  const problem = refuseEnvelope(envelope);
  if (problem !== null) return problem;
  if (version === undefined) return headerMismatch('The header MCP-Protocol-Version is missing.');
  const { method, params } = request;
  const named_method = headerOf(headers, 'mcp-method');
  if (named_method !== method)
    return headerMismatch(`The method is ${method}, and the header Mcp-Method ${shown(named_method)}.`);
  const subject = params?.[NAMED_BY[method] ?? ''];
  if (typeof subject !== 'string') return null;
  const named = decoded(headerOf(headers, 'mcp-name'));
  return named === subject
    ? null
    : headerMismatch(`The body names ${subject}, and the header Mcp-Name ${shown(named)}.`);
}

function shown(header: string | undefined): string {
  return header === undefined ? 'is missing' : `says ${header}`;
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
}

/** A name that does not fit a header is written as `=?base64?…?=`. */
function decoded(value: string | undefined): string | undefined {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/i.exec(value ?? '')?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

/** Answers a POST that is refused. */
export function refuseModern(response: ServerResponse, answer: JSONRPCMessage): void {
  respond(response, 400, answer);
}

export type ModernEndpoint = ReturnType<typeof createModernEndpoint>;

/** One server for the requests of one client. */
export function createModernEndpoint(server: McpServer) {
  const responses = new Set<ServerResponse>();
  const clients = createModernClients((message) => transport.onmessage?.(message));
  const transport: Transport = {
    async start() {},
    async close() {
      transport.onclose?.();
    },
    async send(message, options) {
      clients.send(message, options?.relatedRequestId);
    },
  };
  const connected = server.connect(transport);

  return {
    async handle(request: JSONRPCRequest, response: ServerResponse): Promise<void> {
      await connected;
      if (response.closed) return;
      responses.add(response);
      const cancel = clients.request(request, (message) => {
        if ('method' in message) writeEvent(response, eventOf(message));
        else finish(response, message);
      });
      response.once('close', () => {
        responses.delete(response);
        if (!response.writableFinished) cancel();
      });
    },
    /**
     * Writes a comment to open responses, so that neither the client nor a proxy takes them for dead. This turns a
     * response into a stream.
     */
    keepAlive(): void {
      for (const response of responses) writeEvent(response, ': \n\n');
    },
    /** Ends the subscriptions with their answers. */
    end: clients.end,
    async close(): Promise<void> {
      clients.end();
      await server.close();
      // The server no longer answers what it was doing.
      for (const response of responses) response.destroy();
    },
  };
}

/** The first event turns the response into a stream. */
function writeEvent(response: ServerResponse, event: string): void {
  if (!response.headersSent)
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
  response.write(event);
}

const METHOD_NOT_FOUND = -32601;

function finish(response: ServerResponse, answer: JSONRPCMessage): void {
  if (response.headersSent) response.end(eventOf(answer));
  else respond(response, 'error' in answer && answer.error.code === METHOD_NOT_FOUND ? 404 : 200, answer);
}

function respond(response: ServerResponse, status: number, answer: JSONRPCMessage): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(answer));
}

function eventOf(message: JSONRPCMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}
