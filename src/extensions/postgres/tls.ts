/**
 * TLS to a PostgreSQL server: the meaning of `sslmode` and its related parameters, which is the same as for libpq, and a
 * sentence for each problem with a certificate. The client library would give some modes another meaning, with a warning.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { HiveError, invalidInput } from '../../domain/errors.ts';

/** A way to connect: with TLS and these options, or without. */
export type Way = ConnectionOptions | false;

type Environment = Readonly<Record<string, string | undefined>>;

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];

/** The parameters that are read here; the client library gets none of them. */
export const TLS_PARAMETERS: readonly string[] = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey'];

/** The authorities of the system, instead of those in a file. */
const SYSTEM = 'system';

/**
 * Takes the parameters of TLS out of the address, and returns the ways to connect, in the order in which to try them. Files are
 * read each time, because an administrator may replace them while Hive runs. Variables such as PGSSLMODE apply if the address
 * names nothing. Unlike with libpq, an address without a mode means no TLS.
 * @throws HiveError `invalid_input` for a mode that does not exist or cannot check what it promises; when the ways are asked for,
 *   `store_unavailable` for a file that cannot be read.
 */
export function takeTls(url: URL, name: string, env: Environment): () => readonly Way[] {
  const given = (key: string): string | undefined => {
    const value = url.searchParams.get(key) ?? env[`PG${key.toUpperCase()}`];
    return value === undefined || value === '' ? undefined : value;
  };
  const mode = modeOf(given('sslmode') ?? (given('ssl') === 'true' ? 'require' : 'disable'), name);
  const authority = given('sslrootcert') ?? usualAuthority(env);
  const [cert, key] = [given('sslcert'), given('sslkey')];
  for (const parameter of TLS_PARAMETERS) url.searchParams.delete(parameter);
  if (mode === 'disable') return () => [false];
  if (mode === 'verify-ca' && (authority === undefined || authority === SYSTEM))
    throw invalidInput(
      `sslmode=verify-ca in ${name} checks only who has signed the server's certificate, so it needs the one authority that may: add sslrootcert=/path/ca.pem, or use sslmode=verify-full.`,
    );
  return () => {
    const own = {
      ...(cert === undefined ? {} : { cert: fileOf('sslcert', cert) }),
      ...(key === undefined ? {} : { key: fileOf('sslkey', key) }),
    };
    const secure = { ...own, ...checkOf(mode, authority) };
    if (mode === 'allow') return [false, secure];
    return mode === 'prefer' ? [secure, false] : [secure];
  };
}

function modeOf(text: string, name: string): Mode {
  const mode = MODES.find((one) => one === text);
  if (mode === undefined)
    throw invalidInput(
      `sslmode=${text} in ${name} does not exist. Use ${MODES.slice(0, -1).join(', ')} or verify-full, as for psql; only verify-full keeps others on the network out.`,
    );
  return mode;
}

/** The file in which libpq looks for an authority if none is named. */
function usualAuthority(env: Environment): string | undefined {
  const file = join(env['HOME'] ?? homedir(), '.postgresql/root.crt');
  return existsSync(file) ? file : undefined;
}

/** The checks of a mode. With an authority, `require` means `verify-ca`, as in libpq. */
function checkOf(mode: Mode, authority: string | undefined): ConnectionOptions {
  const ca = authority === undefined || authority === SYSTEM ? {} : { ca: fileOf('sslrootcert', authority) };
  if (mode === 'verify-full') return ca;
  if (mode === 'verify-ca' || (mode === 'require' && 'ca' in ca))
    return { ...ca, checkServerIdentity: () => undefined };
  return { rejectUnauthorized: false };
}

function fileOf(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new HiveError(
      'store_unavailable',
      `The file that ${parameter} of the store names cannot be read (${(error as Error).message}). Put it there, or correct ${parameter} in HIVE_STORE.`,
    );
  }
}

// ---- Errors ----

const NO_AUTHORITY: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
  'CERT_SIGNATURE_FAILURE',
]);
/** The other codes of Node and OpenSSL for a certificate or a handshake that fails. */
const OF_TLS = /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|INVALID_|PATH_LENGTH_EXCEEDED|EPROTO$)/;
/** The client library reports it only as text. */
const OFFERS_NONE = 'The server does not support SSL connections';
/** `pg_hba.conf` has no line for this connection, but perhaps one for the other way. */
const NO_LINE = '28000';

/** The sentence for an error of TLS; null for any other error. */
export function tlsProblem(error: Error, where: string): string | null {
  const code = String((error as { code?: unknown }).code ?? '');
  const message = error.message;
  if (message === OFFERS_NONE)
    return `The server of the store ${where} offers no TLS, and sslmode demands it. Turn on ssl at the server; sslmode=disable is for a network where nobody else can listen.`;
  if (NO_AUTHORITY.has(code))
    return `The certificate of the store ${where} is signed by no authority that Hive may trust (${message}). Name the file of the right one: sslrootcert=/path/ca.pem in HIVE_STORE. If it is named, somebody else may be answering in place of the server.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of the store ${where} belongs to another host (${message}). Use a name of the certificate in HIVE_STORE, or give the server a certificate for this name.`;
  if (code === 'CERT_HAS_EXPIRED')
    return `The certificate of the store ${where} has expired, or the one of its authority (sslrootcert). Renew it at the server, and check the clock of this machine.`;
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of the store ${where} is not valid yet. Check the clocks of this machine and of the server.`;
  if (OF_TLS.test(code))
    return `The TLS connection to the store ${where} failed (${message}). Check the certificates: sslrootcert, sslcert and sslkey in HIVE_STORE, and those of the server.`;
  return null;
}

/** Whether the next way of connecting may succeed after an error like this. */
export function isAboutTls(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { code?: unknown }).code === NO_LINE || tlsProblem(error, '') !== null;
}
