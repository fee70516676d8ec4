/** A client of MCP 2026-07-28 that writes its requests itself, over every carrier. */
import { createInterface } from 'node:readline';
import type { Role } from '../../src/domain/tokens.ts';
import { childEnvironment, type Environment, spawnHive } from './children.ts';
import { whenFinished } from './lifetime.ts';
import { NO_STORE, tokenFileOf } from './remote.ts';
import { type Served, serve } from './serve.ts';
import { eventually } from './wait.ts';

type Json = Record<string, unknown>;

export interface ModernMessage {
  id?: unknown;
  method?: string;
  params?: Json;
  result?: Json;
  error?: { code: number; message: string; data?: Json };
}

/** A request under way. */
export interface Begun {
  /** The messages that came for it: notifications, then the answer. */
  messages: ModernMessage[];
  /** Resolves with the answer. */
  answer(): Promise<ModernMessage>;
  cancel(): void;
}

export interface ModernCaller {
  begin(method: string, params?: Json): Begun;
  ask(method: string, params?: Json): Promise<ModernMessage>;
  /** The structured result of a tool; an error is thrown with its text. */
  call(name: string, args?: Json, meta?: Json): Promise<Json>;
  /** Ends the server as its user does; what it then still says is among the messages. */
  stop(): Promise<void>;
}

/** The fields that such a client adds to each request. */
export function envelope(version = '2026-07-28'): Json {
  return {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
}

/** The params with an envelope. */
export function enveloped(params: Json = {}): Json {
  return { ...params, _meta: { ...envelope(), ...(params['_meta'] as Json | undefined) } };
}

/** A client on a connection of lines, which may also speak the older revision. */
export interface LineCaller extends ModernCaller {
  /** A request of the older revision. */
  askOlder(method: string, params?: Json): Promise<ModernMessage>;
  /** A notification of the older revision. */
  notify(method: string): void;
  /** The messages that came for no request. */
  readonly unasked: readonly ModernMessage[];
}

export const CARRIERS = ['stdio', 'HTTP', 'the bridge'] as const;
export type ModernCarrier = (typeof CARRIERS)[number];

/** A client over this carrier to a new server on the store. */
export async function connectModern(
  carrier: ModernCarrier,
  store: string,
  options: { role?: Role; env?: Environment } = {},
): Promise<ModernCaller> {
  return carrier === 'HTTP' ? overHttp(await serve(store)) : connectLines(carrier, store, options);
}

/** The same for a carrier of lines, over which a client may also speak the older revision. */
export async function connectLines(
  carrier: Exclude<ModernCarrier, 'HTTP'>,
  store: string,
  { role = 'agent', env = {} }: { role?: Role; env?: Environment } = {},
): Promise<LineCaller> {
  if (carrier === 'stdio') {
    const variables = childEnvironment(store, { HIVE_AGENT: 'agent-1', ...env });
    return overLines(['mcp', '--role', role], variables);
  }
  const served = await serve(store);
  const args = ['mcp', '--url', served.url, '--token-file', tokenFileOf(served)];
  return overLines(args, childEnvironment(NO_STORE));
}

function callerOf(begin: ModernCaller['begin'], stop: ModernCaller['stop']): ModernCaller {
  const ask: ModernCaller['ask'] = (method, params) => begin(method, params).answer();
  return {
    begin,
    ask,
    stop,
    async call(name, args = {}, _meta = {}) {
      const { result, error } = await ask('tools/call', { name, arguments: args, _meta });
      if (error !== undefined || result?.['isError'] === true)
        throw new Error(JSON.stringify(error ?? result?.['content']));
      return (result?.['structuredContent'] ?? {}) as Json;
    },
  };
}

function answerIn(messages: readonly ModernMessage[], what: string): () => Promise<ModernMessage> {
  const found = (): ModernMessage | undefined => messages.find(({ method }) => method === undefined);
  return async () => {
    await eventually(() => found() !== undefined, 10_000, `the answer to ${what}`);
    return found() as ModernMessage;
  };
}

function overLines(args: readonly string[], env: Environment): LineCaller {
  const child = spawnHive([...args], env);
  const { stdin, stdout } = child.process;
  const begun = new Map<unknown, ModernMessage[]>();
  const unasked: ModernMessage[] = [];
  let count = 0;
  createInterface(stdout).on('line', (line) => {
    const message = JSON.parse(line) as ModernMessage;
    const meta = (message.params?.['_meta'] ?? {}) as Json;
    const id = message.id ?? meta['io.modelcontextprotocol/subscriptionId'];
    (begun.get(id) ?? unasked).push(message);
  });
  const write = (message: object): void => {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const begin = (method: string, params: Json): Begun => {
    count += 1;
    const id = count;
    const messages: ModernMessage[] = [];
    begun.set(id, messages);
    write({ id, method, params });
    return {
      messages,
      answer: answerIn(messages, method),
      cancel: () => write({ method: 'notifications/cancelled', params: { requestId: id } }),
    };
  };
  const caller = callerOf(
    (method, params) => begin(method, enveloped(params)),
    async () => {
      await child.kill('SIGTERM');
    },
  );
  return {
    ...caller,
    unasked,
    askOlder: (method, params = {}) => begin(method, params).answer(),
    notify: (method) => write({ method }),
  };
}

/** The headers that a request of the new revision has. */
export function modernHeaders(token: string, method: string, params: Json): Record<string, string> {
  const name = params['name'] ?? params['uri'];
  return {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
  };
}

export function overHttp({ url, token, child }: Served): ModernCaller {
  let count = 0;
  return callerOf(
    (method, params = {}) => {
      count += 1;
      const messages: ModernMessage[] = [];
      const ending = new AbortController();
      whenFinished(() => ending.abort());
      const body = JSON.stringify({ jsonrpc: '2.0', id: count, method, params: enveloped(params) });
      const headers = modernHeaders(token, method, params);
      void read(fetch(url, { method: 'POST', headers, body, signal: ending.signal }), messages);
      return { messages, answer: answerIn(messages, method), cancel: () => ending.abort() };
    },
    async () => {
      await child.kill('SIGTERM');
    },
  );
}

/** Collects the messages of a response, which is JSON or a stream of events. */
async function read(responding: Promise<Response>, messages: ModernMessage[]): Promise<void> {
  try {
    const response = await responding;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (!isStream) return void messages.push((await response.json()) as ModernMessage);
    let text = '';
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) messages.push(JSON.parse(data) as ModernMessage);
      }
    }
  } catch (error) {
    // The test or the server has ended it.
    if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
  }
}
