/**
 * What the doctor checks in the agents' own configuration: that it is present, complete, of this version, and works. A
 * command in a project's files is run only when it is plain `hive`, so that a folder that was merely cloned cannot decide
 * what the doctor starts.
 */
import type { Check, Examination } from '../../application/ports.ts';
import type { HookClient } from '../../domain/hooks.ts';
import {
  HOOK_PROTOCOL,
  hookSettings,
  isHiveServer,
  readHook,
  roleOfServer,
  SERVER_NAME,
} from '../../domain/installation.ts';
import { type FoundHook, findHooks } from './claude.ts';
import { examineTrust } from './codex.ts';
import { readText } from './files.ts';
import { readJson } from './json-edits.ts';
import { claudePaths, codexPaths, type Environment } from './parts.ts';
import { readToml, tomlAt } from './toml-edits.ts';
import { tryHook, tryServer } from './try-out.ts';

/** The checks of all agents' configuration; `folder` is the project's. */
export function examineAgents(env: Environment, folder: string): Examination[] {
  return [
    { name: 'Claude Code', examine: () => examineClaude(env, folder) },
    { name: 'Codex', examine: () => examineCodex(env) },
  ];
}

/** One place of a client's configuration, with what it has of ours. */
interface Found {
  where: string;
  server: unknown;
  hooks: FoundHook[];
  /** The person's own configuration, not a project's. */
  isOwn: boolean;
}

async function examineClaude(env: Environment, folder: string): Promise<Check[]> {
  const name = 'Claude Code';
  const init = 'hive init claude --hooks';
  const found = (['user', 'project'] as const).map((scope): Found => {
    const { servers, settings } = claudePaths(env, scope, folder);
    const server = tomlAt(jsonOf(servers), ['mcpServers', SERVER_NAME]);
    // In the home folder a project's settings are the person's own.
    const isOther = scope === 'user' || settings !== claudePaths(env, 'user', folder).settings;
    const hooks = isOther ? findHooks(readText(settings) ?? '{}', 'claude-code') : [];
    return { where: scope === 'user' ? servers : folder, server, hooks, isOwn: scope === 'user' };
  });
  const plugins = jsonOf(claudePaths(env, 'user', folder).settings)['enabledPlugins'];
  const hasPlugin = Object.entries((plugins ?? {}) as object).some(
    ([plugin, enabled]) => plugin.startsWith('hive@') && enabled === true,
  );
  const hooked = found.filter(({ hooks }) => hooks.length > 0);
  if (hasPlugin) {
    if (hooked.length > 0) return [twice(name, 'the plugin and the settings', 'hive uninit claude')];
    return [{ name, ok: true, text: 'by the plugin', advice: null }];
  }
  if (hooked.length > 1) return [twice(name, 'your settings and the project', 'hive uninit claude --user')];
  return examineClient(name, 'claude-code', found, init, env);
}

async function examineCodex(env: Environment): Promise<Check[]> {
  const paths = codexPaths(env);
  const config = readToml(readText(paths.config) ?? '');
  const hooksText = readText(paths.hooks) ?? '{}';
  const hooks = findHooks(hooksText, 'codex');
  const server = tomlAt(config, ['mcp_servers', SERVER_NAME]);
  const found = [{ where: paths.config, server, hooks, isOwn: true }];
  const checks = await examineClient('Codex', 'codex', found, 'hive init codex', env);
  return hooks.length > 0 ? [...checks, await examineTrust(env, hooksText)] : checks;
}

async function examineClient(
  name: string,
  client: HookClient,
  found: readonly Found[],
  init: string,
  env: Environment,
): Promise<Check[]> {
  const served = found.find(({ server }) => isHiveServer(server));
  const hooked = found.find(({ hooks }) => hooks.length > 0);
  if (served === undefined && hooked === undefined)
    return [{ name, ok: true, text: `not set up here (${init} does)`, advice: null }];
  return Promise.all([
    examineServer(name, served, init, env),
    examineHooks(`${name} hooks`, client, hooked, init, env),
  ]);
}

async function examineServer(
  name: string,
  found: Found | undefined,
  init: string,
  env: Environment,
): Promise<Check> {
  if (found === undefined)
    return { name, ok: false, text: 'hooks, but no MCP server: it cannot ask', advice: `run: ${init}` };
  const { command, args, env: more } = found.server as { command: string; args: string[]; env?: Environment };
  const words = [command, ...args];
  const role = roleOfServer(found.server);
  const text = `server in ${found.where}${role === 'agent' ? '' : `, with the role ${role}`}`;
  if (!mayRun(words, 'mcp', found)) return { name, ok: true, text: `${text} (not tried)`, advice: null };
  const { ok, err } = await tryServer(words, { ...env, ...more });
  return ok
    ? { name, ok, text, advice: null }
    : { name, ok, text: `${text} does not start: ${err}`, advice: `run again: ${init}` };
}

async function examineHooks(
  name: string,
  client: HookClient,
  found: Found | undefined,
  init: string,
  env: Environment,
): Promise<Check> {
  if (found === undefined)
    return { name, ok: true, text: `none: answers come only to an agent that polls (${init})`, advice: null };
  const hooks = found.hooks.flatMap(({ event, entry }) => {
    const hook = readHook(entry);
    return hook === null ? [] : [{ event, ...hook }];
  });
  const again = `run again: ${init}`;
  if (hooks.some(({ protocol }) => protocol !== HOOK_PROTOCOL))
    return { name, ok: false, text: 'written by another version of Hive', advice: again };
  const missing = hookSettings(client).filter(
    ({ event }) => hooks.filter((hook) => hook.event === event).length !== 1,
  );
  if (missing.length > 0) {
    const events = missing.map(({ event }) => event).join(', ');
    return { name, ok: false, text: `not once each: ${events}`, advice: again };
  }
  const programs = new Map(hooks.map(({ program }) => [program.join('\0'), program]));
  for (const program of programs.values()) {
    // A hook over the connection starts nothing; the server that it calls is tried by itself.
    if (program.length === 0) continue;
    if (!mayRun([...program, 'hook'], 'hook', found))
      return { name, ok: true, text: `${hooks.length} events (not tried)`, advice: null };
    const { ok, err } = await tryHook(program, client, env);
    if (!ok) return { name, ok, text: `does not run: ${err}`, advice: again };
  }
  const connected = hooks.filter(({ program }) => program.length === 0).length;
  const text = `${hooks.length} events${connected === 0 ? '' : `, ${connected} of them over the connection`}`;
  return { name, ok: true, text, advice: null };
}

function mayRun(words: readonly string[], command: string, { isOwn }: Found): boolean {
  return isOwn || (words[0] === 'hive' && words[1] === command);
}

function twice(name: string, where: string, undo: string): Check {
  const text = `hooks in ${where}: each event would come twice`;
  return { name, ok: false, text, advice: `remove one of the two, for example: ${undo}` };
}

function jsonOf(path: string): Record<string, unknown> {
  return readJson(readText(path) ?? '{}');
}
