/** Hive's entries in Claude Code's files: the server in one, the hooks in another. */
import { isDeepStrictEqual } from 'node:util';
import { HiveError } from '../../domain/errors.ts';
import type { HookClient } from '../../domain/hooks.ts';
import {
  type HookProgram,
  hookGroup,
  hookSettings,
  hookTable,
  isHiveServer,
  readHook,
  roleOfServer,
  SERVER_NAME,
  serverSetting,
  shellLine,
} from '../../domain/installation.ts';
import { applyEdits, type TextEdit } from '../../domain/text.ts';
import type { Role } from '../../domain/tokens.ts';
import { appendJson, type JsonPath, readJson, removeJson, setJson } from './json-edits.ts';
import type { Entry, Part } from './parts.ts';

type Program = readonly string[];

const NEW_FILE = '{\n}\n';
const SERVER_PATH = ['mcpServers', SERVER_NAME];

/** The MCP server, in ~/.claude.json or a project's .mcp.json. */
export function claudeServer(path: string, program: Program, role: Role = 'agent'): Part {
  const wanted = serverSetting('claude-code', program, role);
  const entryOf = (text: string): unknown => at(readJson(text), SERVER_PATH);
  return {
    path,
    newFile: NEW_FILE,
    fragment: JSON.stringify({ mcpServers: { [SERVER_NAME]: wanted } }, null, 2),
    isRight: (text) => isDeepStrictEqual(entryOf(text), wanted),
    entries: (text) => serverEntries(entryOf(text)),
    isEmpty: (text) => Object.keys(readJson(text)).length === 0,
    add(text) {
      const entry = entryOf(text);
      if (entry !== undefined && !isHiveServer(entry)) {
        throw new HiveError(
          'invalid_input',
          `${path} has a server called "${SERVER_NAME}" already, and it is not this Hive: rename it first.`,
        );
      }
      return setJson(text, SERVER_PATH, wanted);
    },
    remove: (text) => (isHiveServer(entryOf(text)) ? removeJson(text, SERVER_PATH) : []),
  };
}

/** The role that the server entry gives its agents; `agent` when there is no entry of ours. */
export function claudeRole(text: string | null): Role {
  const entry = at(readJson(text?.trim() ? text : '{}'), SERVER_PATH);
  return isHiveServer(entry) ? roleOfServer(entry) : 'agent';
}

/** The hooks. Claude Code's settings.json and Codex' hooks.json have the same shape. */
export function hookPart(client: HookClient, path: string, given: HookProgram): Part {
  return {
    path,
    newFile: NEW_FILE,
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
        (where.length === WHOLE_GROUP ? asList(asObject(group)['hooks']) : [entry]).map((hook) => {
          const words = readHook(hook)?.program ?? [];
          return { kind: 'hook', event, program: words.length === 0 ? null : shellLine(words) };
        }),
      ),
    isEmpty: (text) => Object.keys(readJson(text)).length === 0,
    add(text) {
      const edits: TextEdit[] = [];
      for (const setting of hookSettings(client)) {
        const group = hookGroup(client, given, setting);
        edits.push(...appendJson(applyEdits(text, edits), ['hooks', setting.event], group));
      }
      return edits;
    },
    remove(text) {
      const edits: TextEdit[] = [];
      // From the last, so that no removal changes the position of the others.
      for (const { path: where } of findHooks(text, client).reverse()) {
        edits.push(...removeJson(applyEdits(text, edits), where));
      }
      return edits;
    },
  };
}

/** A server that starts Hive, as a person reads about it; none for any other. */
export function serverEntries(server: unknown): Entry[] {
  if (!isHiveServer(server)) return [];
  const { command, args, env_vars } = server as Record<string, unknown>;
  const words = [command, ...asList(args)].filter((word) => typeof word === 'string');
  return [{ kind: 'server', command: shellLine(words), variables: asList(env_vars).length }];
}

/** Whether the settings enable Hive's plugin, which has the server and the hooks in it. */
export function hasHivePlugin(settings: string | null): boolean {
  const plugins = readJson(settings?.trim() ? settings : '{}')['enabledPlugins'];
  return Object.entries(asObject(plugins)).some(
    ([plugin, enabled]) => plugin.startsWith('hive@') && enabled === true,
  );
}

/** The length of the path of a group: hooks, event, number. */
const WHOLE_GROUP = 3;

/** One of our hooks in a file. */
export interface FoundHook {
  event: string;
  /** Its position: the whole group when nobody else has a hook in it. */
  path: JsonPath;
  group: unknown;
  /** The hook itself, as written. */
  entry: unknown;
}

/** Every hook of ours for this client, whoever wrote it and whenever. */
export function findHooks(text: string, client: HookClient): FoundHook[] {
  return Object.entries(asObject(readJson(text)['hooks'])).flatMap(([event, groups]) =>
    asList(groups).flatMap((group, n) => {
      const hooks = asList(asObject(group)['hooks']);
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

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((now, key) => asObject(now)[key], value);
}

function asObject(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
