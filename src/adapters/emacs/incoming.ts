/**
 * What came in a frame, before it is taken for a request: JSON-RPC 2.0 knows shapes that vscode-jsonrpc
 * drops without a word or fails on (a batch, an id that is none, a cancellation without an id).
 */
import type { Message } from 'vscode-jsonrpc/node';
import { RPC_CODES } from '../errors.ts';

/** An error reply; the id is null where the frame had none that can be answered to. */
export interface Refusal {
  id: string | number | null;
  code: number;
  message: string;
}

/** What is wrong with a message, null when nothing is, 'ignore' where nobody waits for an answer. */
export function refusalOf(message: unknown): Refusal | 'ignore' | null {
  if (Array.isArray(message))
    return invalid(null, 'Batches are not taken: send each request in a frame of its own');
  if (message === null || typeof message !== 'object') return invalid(null, 'A request is an object');
  const { jsonrpc, id, method, params } = message as Record<string, unknown>;
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  if (jsonrpc !== '2.0') return invalid(known, '"jsonrpc" must be "2.0"');
  // The sidecar asks Emacs nothing, so a reply answers nothing.
  if (method === undefined && ('result' in message || 'error' in message)) return 'ignore';
  if (typeof method !== 'string') return invalid(known, 'A request has a "method"');
  if (id !== undefined && known === null) return invalid(null, 'An "id" is a string or a number');
  if (params !== undefined && params !== null && (typeof params !== 'object' || Array.isArray(params))) {
    const refusal = {
      id: known,
      code: RPC_CODES.invalidParams,
      message: sentence('Parameters are taken by name'),
    };
    return id === undefined ? 'ignore' : refusal;
  }
  // No request of ours takes long enough to be cancelled.
  return method.startsWith('$/') && id === undefined ? 'ignore' : null;
}

/** The same message with parameters, be they none. */
export function withParams(message: Message): Message {
  const { params } = message as { params?: object | null };
  return { ...message, params: params ?? {} } as Message;
}

function invalid(id: Refusal['id'], what: string): Refusal {
  return { id, code: RPC_CODES.invalidRequest, message: sentence(what) };
}

function sentence(what: string): string {
  return `invalid_input: ${what}.`;
}
