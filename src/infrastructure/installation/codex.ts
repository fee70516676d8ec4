/** Hive's entries in Codex' config.toml: the server, and the trust in our hooks if the person gave it. Also checks that trust. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Check, checkBroken, checkOk } from '../../application/world.ts';
import {
  HOOK_TOOL,
  type HookEntry,
  isHiveServer,
  readHookCommand,
  SERVER_NAME,
  serverSetting,
} from '../../domain/installation.ts';
import type { Environment } from '../../domain/sources.ts';
import type { Role } from '../../domain/tokens.ts';
import { findHooks, refuseOther, roleIn, serverEntries } from './claude.ts';
import { readText } from './files.ts';
import { valueAt } from './json-edits.ts';
import { codexPaths, type Entry, type Part } from './parts.ts';
import {
  appendToml,
  hasTable,
  linesOf,
  markedTables,
  othersIn,
  readToml,
  removeToml,
  type TomlTable,
} from './toml-edits.ts';
import { converse } from './try-out.ts';

const SERVER_PATH = ['mcp_servers', SERVER_NAME];

/** The part of config.toml. `trust` comes from `trustOf`; an empty list leaves the hooks untrusted. */
export function codexConfig(
  path: string,
  program: readonly string[],
  trust: readonly TomlTable[],
  role: Role = 'agent',
): Part {
  const server = (was: string): TomlTable => {
    const present = valueAt(readToml(was), SERVER_PATH);
    const { command, args, env_vars = [] } = serverSetting('codex', program, role, present);
    const values = { command, args, env_vars };
    return { path: SERVER_PATH, values, others: othersIn(was, SERVER_PATH, Object.keys(values)) };
  };
  const isTrust = (where: readonly string[]): boolean => where[0] === 'hooks';
  return {
    path,
    fragment: linesOf(server('')),
    isRight: (text) =>
      (isForeign(text) || hasTable(readToml(text), server(text))) &&
      trust.every((table) => hasTable(readToml(text), table)) &&
      markedTables(text).filter(isTrust).length === trust.length,
    entries: (text) => [
      ...serverEntries(valueAt(readToml(text), SERVER_PATH)),
      ...markedTables(text)
        .filter(isTrust)
        .map((): Entry => ({ kind: 'trust' })),
    ],
    add(text, was) {
      const existing = valueAt(readToml(text), SERVER_PATH);
      refuseOther(path, existing);
      return appendToml(text, [...(existing === undefined ? [server(was ?? '')] : []), ...trust]);
    },
    remove: removeToml,
  };
}

/** The role that the server entry gives its agents; `agent` when there is no entry of ours. */
export function codexRole(text: string): Role {
  return roleIn(valueAt(readToml(text), SERVER_PATH));
}

/** Whether the server's table was written by somebody else, for example by `codex mcp add`: Hive then leaves it alone. */
export function isForeign(text: string): boolean {
  const marked = markedTables(text).some((path) => isDeepStrictEqual(path, SERVER_PATH));
  return !marked && isHiveServer(valueAt(readToml(text), SERVER_PATH));
}

/** The trust tables in config.toml that have our mark and are valid for these hooks. */
export function trustIn(config: string, hooks: readonly TomlTable[]): TomlTable[] {
  const parsed = readToml(config);
  const marked = markedTables(config);
  return hooks.filter(
    ({ path, values }) =>
      marked.some((where) => isDeepStrictEqual(where, path)) &&
      isDeepStrictEqual({ ...(valueAt(parsed, path) as object) }, { ...values }),
  );
}

/**
 * The entry that Codex (0.169) writes once a person has trusted a hook: its position, and a hash of its definition as compact
 * JSON with sorted keys. A hook that is moved or changed is untrusted again, and silently skipped.
 */
export function trustOf(hooksFile: string, text: string): TomlTable[] {
  return findHooks(text, 'codex').map(({ event, path, group }) => {
    const name = event.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
    const { matcher, hooks } = group as { matcher?: string; hooks: HookEntry[] };
    const [, , n = 0, , m = 0] = path;
    const hook = hooks[Number(m)];
    const defined = hook?.type === 'command' ? { async: false, ...hook } : hook;
    const definition = JSON.stringify(sortedKeys({ event_name: name, hooks: [defined], matcher }));
    const hash = createHash('sha256').update(definition).digest('hex');
    return {
      path: ['hooks', 'state', `${hooksFile}:${name}:${n}:${m}`],
      values: { trusted_hash: `sha256:${hash}` },
    };
  });
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortedKeys(inner)]));
}

// ---- Whether Codex runs our hooks ----
// It silently skips hooks that nobody has trusted, or that have changed since.

const NAME = 'Codex trust';
const ADVICE = 'run hive init codex in a terminal, or look at /hooks in Codex';

/** Asks Codex itself if it is installed; otherwise checks its files. */
export async function examineTrust(env: Environment, hooksText: string): Promise<Check> {
  const asked = await queryCodex(env);
  if (asked === null) {
    const { config, hooks } = codexPaths(env);
    const wanted = trustOf(hooks, hooksText);
    const missing = wanted.length - trustIn(readText(config) ?? '', wanted).length;
    if (missing > 0) return skips(missing, wanted.length);
    return checkOk(NAME, 'written in config.toml (no codex here to ask)');
  }
  const { skipped, ours, problems } = asked;
  if (problems.length > 0) return checkBroken(NAME, `Codex says: ${problems.join('; ')}`, ADVICE);
  if (skipped > 0) return skips(skipped, ours);
  return checkOk(NAME, 'Codex runs all of them');
}

/** If none is trusted, that step is still to be done; if only some are, they have changed since. */
function skips(skipped: number, all: number): Check {
  const isNew = skipped === all;
  const hooks = isNew ? `Hive's ${all} hooks` : `${skipped} of Hive's ${all} hooks`;
  const text = `Codex skips ${hooks}, because they are not trusted or turned off`;
  return { name: NAME, state: isNew ? 'not_set_up' : 'broken', text, advice: ADVICE };
}

interface ListedHook {
  command?: string;
  /** Only for a hook over the connection. */
  server?: string;
  tool?: string;
  enabled: boolean;
  trustStatus: string;
}

interface Listing {
  hooks: ListedHook[];
  errors: unknown[];
}

/** Asks its app server (0.169) for `hooks/list`; null when none answers. */
async function queryCodex(
  env: Environment,
): Promise<{ skipped: number; ours: number; problems: string[] } | null> {
  const send = (message: object): string => `${JSON.stringify(message)}\n`;
  const clientInfo = { name: 'hive', title: 'Hive', version: '1' };
  let listings: Listing[] | null = null;
  await converse(['codex', 'app-server'], env, {
    input: send({ id: 1, method: 'initialize', params: { clientInfo } }),
    reply(line) {
      const message = parse(line);
      if (message.id === 1) {
        const list = { id: 2, method: 'hooks/list', params: { cwds: [process.cwd()] } };
        return send({ method: 'initialized' }) + send(list);
      }
      if (message.id !== 2) return undefined;
      listings = message.result?.data ?? null;
      return 'done';
    },
  });
  const found = listings as Listing[] | null;
  if (found === null) return null;
  const ours = found
    .flatMap(({ hooks }) => hooks)
    .filter(
      ({ command, server, tool }) =>
        readHookCommand(command)?.client === 'codex' || (server === SERVER_NAME && tool === HOOK_TOOL),
    );
  const skipped = ours.filter(({ enabled, trustStatus }) => !enabled || trustStatus !== 'trusted');
  const problems = found.flatMap(({ errors }) => errors.map((error) => JSON.stringify(error)));
  if (ours.length === 0) problems.push('it does not see our hooks');
  return { skipped: skipped.length, ours: ours.length, problems };
}

function parse(line: string): { id?: unknown; result?: { data?: Listing[] } } {
  try {
    return JSON.parse(line) as ReturnType<typeof parse>;
  } catch {
    return {};
  }
}
