/** Paths and names on this platform: the state directory, the store, the human's file, the seat, Codex' socket. */
import { hostname, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { invalidInput } from '../../domain/errors.ts';
import type { Environment } from '../../domain/sources.ts';
import { excerpt } from '../../domain/text.ts';
import { homeOf, platform } from './platform.ts';

/** The platform's directory for state that should outlive a reboot but is not a document of the user's. */
export function stateDirectory(env: Environment): string {
  return platform.stateDirectory(env);
}

/** The file in which a person lists what is allowed without asking them (human-file.ts). */
export function trustFile(env: Environment): string {
  return join(platform.configDirectory(env), 'trust.json');
}

/** The secret key of the person's seat (seat-file.ts, hive-seat.el). */
export function seatKeyFile(env: Environment): string {
  return join(dirname(trustFile(env)), 'seat.key');
}

/** The key that marks what `hive run` may start (runs.ts). */
export function runsKeyFile(env: Environment): string {
  return join(dirname(trustFile(env)), 'runs.key');
}

/** The record of where the inbox of a store is served (inbox-file.ts). */
export function inboxFile(env: Environment, store_id: string): string {
  return join(dirname(trustFile(env)), `inbox-${store_id.replace(/[^A-Za-z0-9-]/g, '_')}.json`);
}

/** The record of the phones' keys that the person has confirmed for a store (confirmed-file.ts). */
export function confirmedFile(env: Environment, store_id: string): string {
  return join(dirname(trustFile(env)), `phones-${store_id.replace(/[^A-Za-z0-9-]/g, '_')}.json`);
}

/**
 * The store's address: `given`, else `HIVE_STORE`, as an absolute path or a postgres:// URL, else a file in the state directory.
 * It usually comes from the configuration of a client, where no shell expands anything. So a leading `~/` is expanded here. Any
 * other relative path is refused: it would depend on the folder of each process, and each would have a store of its own.
 * @throws HiveError `invalid_input`.
 */
export function storeAddress(env: Environment, given: string | undefined = undefined): string {
  if (given !== undefined) return absoluteAddress(given, env) ?? refuseAddress('The store', given);
  const variable = env['HIVE_STORE'];
  if (variable === undefined || variable === '') return join(stateDirectory(env), 'hive.db');
  return absoluteAddress(variable, env) ?? refuseAddress('HIVE_STORE', variable);
}

/**
 * An address from a command line, where a path may also be relative to the folder.
 * @throws HiveError `invalid_input`.
 */
export function addressArgument(option: string, given: string, env: Environment): string {
  const absolute = absoluteAddress(given, env);
  if (absolute !== null) return absolute;
  return PLAIN_PATH.test(given) ? resolve(given) : refuseAddress(option, given);
}

/** No URL, no list of settings, and nothing that a shell would have changed. */
const PLAIN_PATH = /^[^\s~:="'$\p{Cc}][^:="'$\p{Cc}]*(?<!\s)$/u;

/**
 * There is a #, or an @ outside a parameter, after the host: an unescaped / ? or # in a password ends the host, and a part of the
 * password would be taken for the port and shown.
 */
const CUT_PASSWORD = /^\w+:\/\/[^/?#]*(?:[^#]*#|\/[^?]*@|[^#]*[?&][^=&]*@)/;

/** Null for an address that is neither an absolute path nor a postgres:// URL. */
function absoluteAddress(given: string, env: Environment): string | null {
  if (given !== given.trim() || /\p{Cc}/u.test(given)) return null;
  if (/^postgres(ql)?:\/\//.test(given)) return CUT_PASSWORD.test(given) ? null : given;
  if (given.startsWith('~/')) return join(homeOf(env), given.slice(2));
  return isAbsolute(given) ? resolve(given) : null;
}

function refuseAddress(where: string, given: string): never {
  // A password may contain any of these characters, so more than the password may be cut out.
  const withoutPassword = given
    .replace(/(password\s*=).*/is, '$1…')
    .replace(/^(\W*[\w+]+:\/\/)?.*@/s, '$1…@');
  throw invalidInput(
    `${where} is ${excerpt(JSON.stringify(withoutPassword), 80)}, which is neither an absolute path nor a postgres:// URL. Nothing was stored. Write it like /home/ada/hive.db, ~/hive.db or postgres://USER@HOST/DATABASE, without quotes, blanks or variables; in a password / is %2F, ? is %3F, # is %23 and @ is %40.`,
    { field: where },
  );
}

/** A store's address for people and in the file of trust: a path is not resolved, and a URL has neither user nor password. */
export function storeName(address: string): string {
  if (!address.includes('://')) return address;
  const { protocol, host, pathname, searchParams } = new URL(address);
  return `${protocol}//${host}${pathname}?schema=${searchParams.get('schema') ?? 'hive'}`;
}

// ---- The seat: the person on this machine, who sees each popup once ----

/** `user@machine`. A user without a name (a bare number in a container) is identified by the number. */
export function thisSeat(): string {
  return `${userName()}@${hostname()}`;
}

/** The name of the human: `HIVE_USER`, or their login name. */
export function humanName(env: Environment): string {
  const given = env['HIVE_USER']?.trim();
  return given === undefined || given === '' ? userName() : given;
}

/** The login name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'user');
  }
}

// ---- Codex ----
// Here, and not in codex-control.ts, because a hook needs it and must not load that file.

/** The socket of the Codex daemon: `$CODEX_HOME/app-server-control/app-server-control.sock`, by default under ~/.codex. */
export function codexSocket(env: Environment): string {
  const home = env['CODEX_HOME'] || `${homeOf(env)}/.codex`;
  return `${home}/app-server-control/app-server-control.sock`;
}
