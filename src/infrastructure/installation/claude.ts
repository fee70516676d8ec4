/** Hive's entries in Claude Code's files: the server in one, the hooks in another. */
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { HiveError } from '../../domain/errors.ts';
import type { HookClient } from '../../domain/hooks.ts';
import {
  coversTool,
  type HookProgram,
  hookGroup,
  hookSettings,
  hookTable,
  isHiveServer,
  PLUGIN_SERVER,
  readHook,
  roleOfServer,
  SERVER_NAME,
  serverSetting,
  toolRules,
} from '../../domain/installation.ts';
import { objectIn } from '../../domain/json.ts';
import { shellLine } from '../../domain/shell-words.ts';
import { editsInTurn } from '../../domain/text.ts';
import type { Role } from '../../domain/tokens.ts';
import { appendJson, type JsonPath, readJson, removeJson, setJson, valueAt } from './json-edits.ts';
import type { Entry, Part } from './parts.ts';

type Program = readonly string[];

const SERVER_PATH = ['mcpServers', SERVER_NAME];

/** The MCP server, in ~/.claude.json or a project's .mcp.json. */
export function claudeServer(path: string, program: Program, role: Role = 'agent'): Part {
  const entryOf = (text: string): unknown => valueAt(readJson(text), SERVER_PATH);
  const wanted = (was: string | null): unknown =>
    serverSetting('claude-code', program, role, was === null ? null : entryOf(was));
  return {
    path,
    fragment: JSON.stringify({ mcpServers: { [SERVER_NAME]: wanted(null) } }, null, 2),
    isRight: (text) => isDeepStrictEqual(entryOf(text), wanted(text)),
    entries: (text) => serverEntries(entryOf(text)),
    add(text, was) {
      refuseOther(path, entryOf(text));
      return setJson(text, SERVER_PATH, wanted(was));
    },
    remove: (text) => (isHiveServer(entryOf(text)) ? removeJson(text, SERVER_PATH) : []),
  };
}

/** @throws HiveError `invalid_input` if there is a server of this name that is not Hive's. */
export function refuseOther(path: string, entry: unknown): void {
  if (entry === undefined || isHiveServer(entry)) return;
  throw new HiveError(
    'invalid_input',
    `${path} has a server called "${SERVER_NAME}" already, and it is not this Hive: rename it first.`,
  );
}

/** The role that the server entry gives its agents; `agent` when there is no entry of ours. */
export function claudeRole(text: string | null): Role {
  return roleIn(valueAt(readJson(text?.trim() ? text : '{}'), SERVER_PATH));
}

export function roleIn(entry: unknown): Role {
  return isHiveServer(entry) ? roleOfServer(entry) : 'agent';
}

/** The hooks. Claude Code's settings.json and Codex' hooks.json have the same shape. */
export function hookPart(client: HookClient, path: string, given: HookProgram): Part {
  return {
    path,
    fragment: JSON.stringify({ hooks: hookTable(client, given) }, null, 2),
    isRight(text) {
      const ours = findHooks(text, client);
      const settings = hookSettings(client);
      return (
        ours.length === settings.length &&
        settings.every((setting) => {
          const wanted = hookGroup(client, given, setting);
          return ours.some(({ event, group }) => event === setting.event && isDeepStrictEqual(group, wanted));
        })
      );
    },
    entries: (text) =>
      findHooks(text, client).flatMap(({ event, path: where, group, entry }) =>
        (where.length === WHOLE_GROUP ? asList(valueAt(group, ['hooks'])) : [entry]).map((hook) => {
          const words = readHook(hook)?.program ?? [];
          return { kind: 'hook', event, program: words.length === 0 ? null : shellLine(words) };
        }),
      ),
    add: (text) =>
      editsInTurn(text, hookSettings(client), (setting, now) =>
        appendJson(now, ['hooks', setting.event], hookGroup(client, given, setting)),
      ),
    // From the last, so that no removal changes the position of the others.
    remove: (text) =>
      editsInTurn(text, findHooks(text, client).reverse(), ({ path: where }, now) => removeJson(now, where)),
  };
}

// ---- Permission rules ----
// Without them Claude Code asks before each call of Hive's tools, and refuses it where it cannot ask.

const ALLOW_PATH = ['permissions', 'allow'];
const OUR_RULES: ReadonlySet<unknown> = new Set([SERVER_NAME, PLUGIN_SERVER].flatMap(toolRules));

/** The rules that let agents call Hive's tools on this server unasked. With null, no rule is added, and none is missing. */
export function rulePart(path: string, server: string | null): Part {
  const wanted = server === null ? [] : toolRules(server);
  return {
    path,
    fragment: JSON.stringify({ permissions: { allow: wanted } }, null, 2),
    isRight: (text) => missingRules(text, wanted).length === 0,
    entries: (text) =>
      allowRules(text).flatMap((rule) =>
        OUR_RULES.has(rule) ? [{ kind: 'rule' as const, rule: String(rule) }] : [],
      ),
    add: (text) =>
      editsInTurn(text, missingRules(text, wanted), (rule, now) => appendJson(now, ALLOW_PATH, rule)),
    remove(text, written) {
      const rules = allowRules(text);
      // A person may have the same rule, so without a record only the whole set counts as ours.
      const isOurs = (rule: unknown): boolean =>
        written === null
          ? missingRules(text, toolRules(serverOf(rule)), false).length === 0
          : written.some(({ inserted }) => inserted.includes(JSON.stringify(rule)));
      return editsInTurn(text, [...rules.entries()].reverse(), ([n, rule], now) =>
        OUR_RULES.has(rule) && isOurs(rule) ? removeJson(now, [...ALLOW_PATH, n]) : [],
      );
    },
  };
}

// ---- Servers of projects ----
// A server in a project's .mcp.json takes the place of the person's own of that name, and claude -p starts it unasked. Under Hive's
// name it would get every event of the hooks, and could answer agents and permissions in the human's place.

const REFUSED_PATH = ['disabledMcpjsonServers'];
/** Hooks know the server of the plugin as the first of its names. Its tools have the same names with each of them. */
const REFUSED_NAMES: readonly unknown[] = [
  SERVER_NAME,
  ...['plugin:hive:hive', 'plugin:hive_hive', 'plugin_hive:hive', PLUGIN_SERVER],
];

/** Has Claude Code take Hive's server from no project. It belongs into the person's own settings. */
export function refusalPart(path: string): Part {
  const names = (text: string): unknown[] => asList(valueAt(readJson(text), REFUSED_PATH));
  const missing = (text: string): unknown[] => REFUSED_NAMES.filter((name) => !names(text).includes(name));
  return {
    path,
    fragment: JSON.stringify({ disabledMcpjsonServers: REFUSED_NAMES }, null, 2),
    isRight: (text) => missing(text).length === 0,
    entries: (text) => (missing(text).length === 0 ? [{ kind: 'refusal' }] : []),
    add: (text) => editsInTurn(text, missing(text), (name, now) => appendJson(now, REFUSED_PATH, name)),
    // A person may have refused one of them, so only the whole set counts as ours.
    remove: (text) =>
      editsInTurn(
        text,
        missing(text).length === 0 ? [...names(text).entries()].reverse() : [],
        ([n, name], now) => (REFUSED_NAMES.includes(name) ? removeJson(now, [...REFUSED_PATH, n]) : []),
      ),
  };
}

/** One of Claude Code's settings files. */
export interface SettingsFile {
  path: string;
  content: Readonly<Record<string, unknown>>;
}

/** The files that count for a session, weakest first; `managed` is the administrator's. */
export interface SettingsFiles {
  own: readonly SettingsFile[];
  managed: SettingsFile;
}

/**
 * How Claude Code treats a call of a tool of Hive. `allows`: runs it. `asks`: asks, and refuses if it cannot ask.
 * `overruled`: asks because of a rule in `path`, which takes precedence over rules that allow. `managed`: asks because the
 * administrator's settings let only their own rules count.
 */
export type ToolPermission = { kind: 'allows' | 'asks' | 'managed' } | { kind: 'overruled'; path: string };

/** Decides by all settings files that apply here. */
export function toolPermission({ own, managed }: SettingsFiles, server: string): ToolPermission {
  const wanted = toolRules(server);
  const covers = ({ content }: SettingsFile, list: string, rule: string): boolean =>
    asList(valueAt(content, ['permissions', list])).some((present) => coversTool(present, rule));
  const onlyManaged = managed.content['allowManagedPermissionRulesOnly'] === true;
  const counting = onlyManaged ? [managed] : [managed, ...own];
  for (const file of counting) {
    if (wanted.some((rule) => covers(file, 'ask', rule) || covers(file, 'deny', rule)))
      return { kind: 'overruled', path: file.path };
  }
  if (wanted.every((rule) => counting.some((file) => covers(file, 'allow', rule)))) return { kind: 'allows' };
  return { kind: onlyManaged ? 'managed' : 'asks' };
}

/** Why Claude Code runs none of a person's hooks, in words; null if it does run them. */
export function whyNoHooks({ own, managed }: SettingsFiles): string | null {
  if (managed.content['allowManagedHooksOnly'] === true) return `${managed.path} has "allowManagedHooksOnly"`;
  // As Claude Code reads them: a later file overrides earlier ones, and any value other than a no turns the hooks off.
  const decisive = [...own, managed].findLast(
    ({ content }) => ![undefined, null, 'false'].includes(content['disableAllHooks'] as null),
  );
  return decisive === undefined || decisive.content['disableAllHooks'] === false
    ? null
    : `${decisive.path} has "disableAllHooks"`;
}

/** Whether a person has turned off Hive's server for a project. Claude Code records that in the file of the servers. */
export function isTurnedOff(servers: string, folder: string): boolean {
  return asList(valueAt(readJson(servers), ['projects', folder, 'disabledMcpServers'])).includes(SERVER_NAME);
}

/** The person's answer when Claude Code asked whether to use Hive's server from the project's .mcp.json. */
export function projectServerApproval({ own, managed }: SettingsFiles): 'approved' | 'rejected' | 'pending' {
  const names = (list: string): boolean =>
    [managed, ...own].some(({ content }) => asList(content[list]).includes(SERVER_NAME));
  if (names('disabledMcpjsonServers')) return 'rejected';
  const isEach = [managed, ...own].some(({ content }) => content['enableAllProjectMcpServers'] === true);
  return isEach || names('enabledMcpjsonServers') ? 'approved' : 'pending';
}

function serverOf(rule: unknown): string {
  return String(rule).startsWith(`mcp__${PLUGIN_SERVER}__`) ? PLUGIN_SERVER : SERVER_NAME;
}

function allowRules(text: string): unknown[] {
  return asList(valueAt(readJson(text), ALLOW_PATH));
}

function missingRules(text: string, wanted: readonly string[], wide = true): string[] {
  const rules = allowRules(text);
  return wanted.filter(
    (rule) => !rules.some((present) => (wide ? coversTool(present, rule) : present === rule)),
  );
}

// ---- Commands ----

/** The commands that `hive init` writes; the plugin has more. */
export const COMMANDS = ['check-mentions', 'post'] as const;

/** A command of the plugin as a file of the person's own. The permission rules cover its tools, so it names none. */
export function commandPart(path: string, text: string): Part {
  const content = text.replace(/^allowed-tools: .*\n/m, '');
  return {
    path,
    fragment: content,
    isRight: (now) => now === content,
    entries: (now) => (now === content ? [{ kind: 'command', command: `/${basename(path, '.md')}` }] : []),
    add: (now) => (now === '' ? [{ offset: 0, removed: '', inserted: content }] : []),
    remove: (now) => (now === content ? [{ offset: 0, removed: now, inserted: '' }] : []),
  };
}

/** Several parts that belong in one file of Claude Code. */
export function inOneFile(first: Part, ...more: Part[]): Part {
  const parts = [first, ...more];
  return {
    ...first,
    fragment: JSON.stringify(Object.assign({}, ...parts.map(({ fragment }) => readJson(fragment))), null, 2),
    isRight: (text) => parts.every((part) => part.isRight(text)),
    entries: (text) => parts.flatMap((part) => part.entries(text)),
    add: (text, was) => editsInTurn(text, parts, (part, now) => part.add(now, was)),
    remove: (text, written) => editsInTurn(text, parts, (part, now) => part.remove(now, written)),
  };
}

/** A server that starts Hive, as it is described to a person; empty for any other. */
export function serverEntries(server: unknown): Entry[] {
  if (!isHiveServer(server)) return [];
  const { command, args, env_vars } = server as Record<string, unknown>;
  const words = [command, ...asList(args)].filter((word) => typeof word === 'string');
  return [{ kind: 'server', command: shellLine(words), variables: asList(env_vars).length, entry: server }];
}

/** Whether the settings enable Hive's plugin, which contains the server and the hooks. */
export function hasHivePlugin(settings: string | null): boolean {
  const plugins = readJson(settings?.trim() ? settings : '{}')['enabledPlugins'];
  return Object.entries(objectIn(plugins) ?? {}).some(
    ([plugin, enabled]) => plugin.startsWith('hive@') && enabled === true,
  );
}

/** The length of the path of a group: hooks, event, number. */
const WHOLE_GROUP = 3;

/** One of our hooks in a file. */
export interface FoundHook {
  event: string;
  /** Its position: the whole group if it has no hook of anybody else. */
  path: JsonPath;
  group: unknown;
  /** The hook itself, as written. */
  entry: unknown;
}

/** Every hook of ours for this client, from any version of Hive. */
export function findHooks(text: string, client: HookClient): FoundHook[] {
  return Object.entries(objectIn(readJson(text)['hooks']) ?? {}).flatMap(([event, groups]) =>
    asList(groups).flatMap((group, n) => {
      const hooks = asList(valueAt(group, ['hooks']));
      const found = hooks.flatMap((hook, m) => {
        const isOurs = readHook(hook)?.client === client;
        return isOurs ? [{ event, path: ['hooks', event, n, 'hooks', m], group, entry: hook }] : [];
      });
      const [first] = found;
      if (first === undefined || found.length < hooks.length) return found;
      return [{ ...first, path: ['hooks', event, n] }];
    }),
  );
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
