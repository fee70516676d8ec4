/** What PostgreSQL and the network say, as sentences and codes of ours (PostgreSQL, Appendix A: error codes). */
import { HiveError } from '../../domain/errors.ts';

const LOCK_TIMEOUT = '55P03';
const QUERY_CANCELED = '57014';
const SERIALIZATION = '40001';
const DEADLOCK = '40P01';
const READ_ONLY = '25006';
const IDLE_IN_TRANSACTION = '25P03';
/** Classes: 08 connection, 53 insufficient resources, 57P server going or not there yet, 28 and 3D who and where. */
const CONNECTION = /^(08|57P|58)/;
const RESOURCES = /^53/;
const REFUSED = /^(28|3D|42501)/;

const TOO_SLOW: ReadonlySet<string> = new Set([
  LOCK_TIMEOUT,
  QUERY_CANCELED,
  SERIALIZATION,
  DEADLOCK,
  IDLE_IN_TRANSACTION,
]);

/** A HiveError for what the server or the network refused; our own errors pass unchanged. */
export function translatePostgresError(error: unknown, where: string): unknown {
  if (error instanceof HiveError || !(error instanceof Error)) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  const said = error.message;
  if (TOO_SLOW.has(code)) {
    return new HiveError(
      'store_busy',
      `The store ${where} did not get to it in time (${said}). Nothing was written; try again.`,
    );
  }
  if (code === '53100')
    return new HiveError(
      'store_full',
      `The server of the store ${where} has no room left. Nothing was written; make room and try again.`,
    );
  if (REFUSED.test(code))
    return new HiveError(
      'store_unavailable',
      `The server refuses the store ${where} (${said}). Check user, password, database and grants.`,
    );
  if (RESOURCES.test(code) || code === READ_ONLY || isConnectionLost(error)) {
    return new HiveError(
      'store_unavailable',
      `The store ${where} cannot be reached (${said}). What was not acknowledged may not be written; try again.`,
    );
  }
  return error;
}

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOENT',
]);
/** The client library says these in words only. */
const NETWORK_WORDS =
  /connection terminated|timeout expired|timeout exceeded|query read timeout|client was closed|not queryable|connection error/i;

/** Whether the connection is gone, or says nothing any more: then it is of no further use. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return CONNECTION.test(code) || NETWORK_CODES.has(code) || NETWORK_WORDS.test(error.message);
}
