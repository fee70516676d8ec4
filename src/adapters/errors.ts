/** The one table that maps domain errors to the wires: JSON-RPC errors, and `code: sentence` in an MCP result. */
import { z } from 'zod';
import { type ErrorCode, HiveError, isTransient, sentence } from '../domain/errors.ts';

/** JSON-RPC 2.0, section 5.1; -32000 to -32099 are ours. */
export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Trying again later can help: an outbox keeps the answer. */
  transient: -32001,
  /** Trying again will not help: an outbox sets the answer aside and shows it. */
  definite: -32002,
} as const;

/** An error as JSON-RPC carries it. */
export interface WireError {
  code: number;
  /** Begins with the string code, because Emacs' jsonrpc drops `data`. */
  message: string;
  data: Record<string, unknown> & { code: ErrorCode };
}

/** Any error as a client receives it. Of an unexpected error the client only learns that it happened; the log has the details. */
export function toWireError(error: unknown): WireError {
  if (error instanceof HiveError) {
    const code =
      error.code === 'invalid_input'
        ? RPC_CODES.invalidParams
        : isTransient(error)
          ? RPC_CODES.transient
          : RPC_CODES.definite;
    return { code, message: `${error.code}: ${error.message}`, data: { code: error.code, ...error.details } };
  }
  if (error instanceof z.ZodError) {
    return {
      code: RPC_CODES.invalidParams,
      message: `invalid_input: ${sentence(error.issues.map(inWords).join(' '))}`,
      data: { code: 'invalid_input' },
    };
  }
  return {
    code: RPC_CODES.internal,
    message: 'internal: Hive failed on this request; its log says why. Nothing was acknowledged.',
    data: { code: 'internal' },
  };
}

/** Our own messages are sentences; those of zod do not name the parameter. */
function inWords({ message, path }: z.core.$ZodIssue): string {
  if (path.length === 0 || message.endsWith('.')) return message;
  const why = message.replace('Invalid input: ', '');
  return `"${path.join('.')}" was not accepted: ${why[0]?.toLowerCase()}${why.slice(1)}.`;
}
