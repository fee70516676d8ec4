/**
 * The envelope of an MCP message: everything around the arguments of a tool. Clients in a language without optional fields
 * write null for a value that they leave out, so null counts as left out. An invalid message gets the JSON-RPC error for its
 * fault, because a client that gets no answer waits for ever.
 */
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  RELATED_TASK_META_KEY,
} from '@modelcontextprotocol/sdk/types.js';
import { isFields } from '../../domain/json.ts';
import { isRemoved } from './modern.ts';

/** The answer to an invalid message. Its id is null if none could be read. */
export interface Refusal {
  jsonrpc: '2.0';
  id: string | number | null;
  error: { code: number; message: string };
}

/** A message for the protocol layer, or the answer instead of it. */
export type Envelope = { message: JSONRPCMessage } | { refusal: Refusal };

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

type Fields = Record<string, unknown>;

/** The answer to a line or a body that is not JSON. */
export function notJson(): Refusal {
  return refusal(null, PARSE_ERROR, 'This is not JSON: send each message as one JSON object.');
}

/**
 * The messages of a line: one, or those of a batch. Each request of a batch gets an answer of its own: protocol 2025-03-26
 * has batches, and later revisions leave a server no other way to answer the ids in them.
 */
export function readEnvelopes(value: unknown): Envelope[] {
  if (!Array.isArray(value)) return [readEnvelope(value)];
  if (value.length === 0)
    return [{ refusal: refusal(null, INVALID_REQUEST, 'This batch is empty: send a message.') }];
  return value.map(readEnvelope);
}

/** Reads a parsed message, which it may change. */
export function readEnvelope(value: unknown): Envelope {
  if (!isFields(value))
    return { refusal: refusal(null, INVALID_REQUEST, 'A message is a JSON object with "jsonrpc": "2.0".') };
  const written_id = value['id'];
  dropNulls(value);
  const problem = problemOf(value, written_id);
  if (problem !== null) return { refusal: refusal(idIn(value), ...problem) };
  // The protocol layer silently drops a message with any other field.
  for (const name of Object.keys(value)) if (!KNOWN.has(name)) delete value[name];
  if (value['method'] === 'initialize') introduce(value);
  const read = value as unknown as JSONRPCMessage;
  const wrong = value['id'] === undefined || isRemoved(read) ? null : wrongRequest(value);
  return wrong === null ? { message: read } : { refusal: refusal(idIn(value), INVALID_PARAMS, wrong) };
}

const KNOWN: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);

type Problem = [code: number, message: string];

/** Why this is not a valid message; null if it is one. */
function problemOf(message: Fields, written_id: unknown): Problem | null {
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0') return [INVALID_REQUEST, 'A message has "jsonrpc": "2.0".'];
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id))
    return [INVALID_REQUEST, 'The id of a message is a string or an integer.'];
  if (method === undefined)
    return 'result' in message || 'error' in message
      ? null
      : [INVALID_REQUEST, 'A message has a method, or is an answer with a result or an error.'];
  if (typeof method !== 'string') return [INVALID_REQUEST, 'The method of a message is a string.'];
  if (params !== undefined && !isFields(params))
    return [INVALID_PARAMS, 'The params of a message are a JSON object.'];
  if (id !== undefined && !hasMeta(message, params?.['_meta']))
    return [
      INVALID_PARAMS,
      'The _meta of a request is a JSON object; its progressToken is a string or an integer.',
    ];
  if (written_id === null && !method.startsWith('notifications/'))
    return [INVALID_REQUEST, 'The id of a request is a string or an integer, not null.'];
  return null;
}

const LISTS: ReadonlySet<string> = new Set(['tools/list', 'resources/list', 'resources/templates/list']);
const OF_RESOURCES: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
]);

/** A fault in the params of a request, as a sentence; the protocol layer would answer with the report of its validator. */
function wrongRequest(request: Fields): string | null {
  const method = String(request['method']);
  const { name, uri, cursor, task } = (request['params'] ?? {}) as Fields;
  if (method === 'initialize' && !isInitializeRequest(request))
    return 'initialize needs a protocolVersion, which is a string; its capabilities and clientInfo are JSON objects with the fields of MCP.';
  if (method === 'tools/call' && typeof name !== 'string')
    return 'tools/call needs the name of a tool, which is a string: {"name": "hivemind_status", "arguments": {}}.';
  if (method === 'tools/call' && !(task === undefined || (isFields(task) && isCount(task['ttl']))))
    return 'The task of tools/call is a JSON object whose ttl is a number. Leave the task out.';
  if (OF_RESOURCES.has(method) && !(typeof uri === 'string' && URL.canParse(uri)))
    return `${method} needs the uri of a resource, such as hive://prompts/ASK_ID.`;
  if (LISTS.has(method) && cursor !== undefined && cursor !== '')
    return `There is no page of ${method} with this cursor: the list has one page. Leave the cursor out.`;
  return null;
}

const isCount = (value: unknown): boolean => value === undefined || typeof value === 'number';

/** Whether the protocol layer understands the `_meta` of a request; it silently drops what it does not understand. */
function hasMeta(request: Fields, meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isFields(meta)) return false;
  const token = meta['progressToken'];
  if (token !== undefined && typeof token !== 'string' && !Number.isSafeInteger(token)) return false;
  return meta[RELATED_TASK_META_KEY] === undefined || isJSONRPCRequest(request);
}

function refusal(id: Refusal['id'], code: number, message: string): Refusal {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** The id to answer with, including one that no request may have, as long as the client can recognize it. */
function idIn({ id }: Fields): Refusal['id'] {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/**
 * Removes every field that is null, except within the arguments of a tool, where null may have a meaning (../arguments.ts).
 * Without recursion: a message may be nested without bound.
 */
function dropNulls(message: Fields): void {
  const open: unknown[] = [message];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (isObject(item)) open.push(item);
      continue;
    }
    const fields = next as Fields;
    for (const [name, value] of Object.entries(fields)) {
      if (value === null) delete fields[name];
      else if (isObject(value) && !(name === 'arguments' && fields === message['params'])) open.push(value);
    }
  }
}

/** Adds what a client left out about itself and its capabilities, so that it is accepted. */
function introduce(message: Fields): void {
  if (isInitializeRequest(message) || !isFields(message['params'] ?? {})) return;
  const { capabilities = {}, clientInfo = {}, ...rest } = (message['params'] ?? {}) as Fields;
  const named = isFields(clientInfo) ? { name: '', version: '', ...clientInfo } : clientInfo;
  message['params'] = { ...rest, capabilities, clientInfo: named };
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}
