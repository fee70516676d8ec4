/**
 * The doctor's checks of the agents' own configuration: that it is present, complete, of this version, and works. From a
 * project's files, only exactly `hive mcp` and plain `hive` in a hook are tried, so that a folder that was merely cloned
 * cannot decide what the doctor starts, with which variables and arguments, or where it sends a token.
 */
import { isAbsolute, join } from 'node:path';
import {
  type Check,
  checkBroken,
  checkNotSetUp,
  checkOk,
  type Examination,
} from '../../application/world.ts';
import type { HookClient } from '../../domain/hooks.ts';
import {
  describeVersion,
  HOOK_PROTOCOL,
  hookSettings,
  isHiveServer,
  missingIn,
  PLUGIN_SERVER,
  readHook,
  roleOfServer,
  SERVER_NAME,
  variablesOf,
} from '../../domain/installation.ts';
import type { Environment } from '../../domain/sources.ts';
import { excerpt } from '../../domain/text.ts';
import {
  entriesInside,
  ownProject,
  projectFolders,
  wholeRepository,
  withoutProject,
} from '../platform/project-path.ts';
import {
  type FoundHook,
  findHooks,
  hasHivePlugin,
  isTurnedOff,
  projectServerApproval,
  refusalPart,
  type SettingsFile,
  type SettingsFiles,
  toolPermission,
  whyNoHooks,
} from './claude.ts';
import { examineTrust } from './codex.ts';
import { readText } from './files.ts';
import { readJson, valueAt } from './json-edits.ts';
import { claudePaths, claudeSettings, codexPaths, naming } from './parts.ts';
import { readToml } from './toml-edits.ts';
import { clientVersion, tryHook, tryServer } from './try-out.ts';

/** The checks of all agents' configuration; `folder` is the project's. */
export function examineAgents(env: Environment, folder: string): Examination[] {
  return [
    { name: 'Claude Code', examine: () => examineClaude(env, folder) },
    { name: 'Codex', examine: () => examineCodex(env, folder) },
  ];
}

/** One place of a client's configuration, and our entries in it. */
interface Found {
  where: string;
  server: unknown;
  hooks: FoundHook[];
  /** The folder of the project that the files belong to; null for the person's own. */
  project: string | null;
  /** The folder in which the doctor was started. */
  here: string;
  /** Why the client does not use the server and the hooks that it has; null if it does. */
  serverOff: string | null;
  hooksOff: string | null;
  /** True if the client waits for the person to approve the server. */
  isUnapproved: boolean;
}

async function examineClaude(env: Environment, folder: string): Promise<Check[]> {
  const name = 'Claude Code';
  const init = 'hive init claude --hooks';
  const own = claudePaths(env, 'user', folder);
  const files = settingsFiles(env, folder);
  const hooksOff = whyNoHooks(files);
  const approval = projectServerApproval(files);
  const turnedOff = inFile(own.servers, '{}', (text) => isTurnedOff(text, folder));
  const found = (['user', 'project'] as const).map((scope): Found => {
    const { servers, settings } = claudePaths(env, scope, folder);
    const server = valueAt(inFile(servers, '{}', readJson), ['mcpServers', SERVER_NAME]);
    // In the home folder a project's settings are the person's own.
    const isOther = scope === 'user' || settings !== own.settings;
    const hooks = isOther ? inFile(settings, '{}', (text) => findHooks(text, 'claude-code')) : [];
    const isRejected = scope === 'project' && approval === 'rejected';
    return {
      where: scope === 'user' ? servers : folder,
      server,
      hooks,
      project: scope === 'user' ? null : folder,
      here: folder,
      serverOff: turnedOff
        ? `${own.servers} turns it off in ${folder}`
        : isRejected
          ? `"disabledMcpjsonServers" in your settings of Claude Code names it`
          : null,
      hooksOff,
      isUnapproved: scope === 'project' && approval === 'pending',
    };
  });
  const hasPlugin = inFile(own.settings, '{}', hasHivePlugin);
  const hooked = found.filter(({ hooks }) => hooks.length > 0);
  if (hasPlugin) {
    if (hooked.length > 0) return [twice(name, 'the plugin and the settings', 'hive uninit claude')];
    return [
      checkOk(name, 'by the plugin'),
      ...(hooksOff === null ? [] : [notRun(`${name} hooks`, hooksOff)]),
      examineTools(env, folder, PLUGIN_SERVER, 'hive init claude'),
      ...examineRefusal(own.settings),
    ];
  }
  if (hooked.length > 1) return [twice(name, 'your settings and the project', 'hive uninit claude')];
  const checks = await examineClient(name, 'claude-code', found, init, env);
  const served = found.find(({ server }) => isHiveServer(server));
  if (served === undefined) return checks;
  const mends = served.project === null ? 'hive init claude' : 'hive init claude --project';
  const refusal = served.project === null ? examineRefusal(own.settings) : [];
  return [...checks, examineTools(env, folder, SERVER_NAME, mends), ...refusal];
}

/** Nothing if no project can put a server of its own in the place of the person's. */
function examineRefusal(path: string): Check[] {
  if (inFile(path, '{}', (text) => refusalPart(path).isRight(text))) return [];
  const text = 'a server called "hive" in the .mcp.json of a project takes the place of yours';
  return [checkNotSetUp('Claude Code projects', text, 'run: hive init claude')];
}

/** Whether agents may call Hive's tools without a dialog of Claude Code before each call. */
function examineTools(env: Environment, folder: string, server: string, mends: string): Check {
  const name = 'Claude Code tools';
  const { managed } = claudeSettings(env, folder);
  const found = toolPermission(settingsFiles(env, folder), server);
  switch (found.kind) {
    case 'allows':
      return checkOk(name, "agents use Hive's tools without asking you");
    case 'overruled':
      return checkOk(name, `a rule in ${found.path} makes Claude Code ask or refuse`);
    case 'managed':
      return checkNotSetUp(
        name,
        `${managed} lets only its own rules count, so Claude Code ${ASKS}`,
        'ask your administrator to add what this prints: hive init claude --print',
      );
    case 'asks':
      return checkNotSetUp(name, `Claude Code ${ASKS}`, `run: ${mends}`);
  }
}

/** Claude Code's settings that count here. */
function settingsFiles(env: Environment, folder: string): SettingsFiles {
  const fileAt = (path: string): SettingsFile => ({ path, content: inFile(path, '{}', readJson) });
  const { own, managed } = claudeSettings(env, folder);
  return { own: own.map(fileAt), managed: fileAt(managed) };
}

const ASKS = "asks you before each call of Hive's tools, and refuses it where it cannot ask";

async function examineCodex(env: Environment, folder: string): Promise<Check[]> {
  const paths = codexPaths(env);
  const config = inFile(paths.config, '', readToml);
  const hooksText = inFile(paths.hooks, '{}', (text) => text);
  const hooks = inFile(paths.hooks, '{}', (text) => findHooks(text, 'codex'));
  const server = valueAt(config, ['mcp_servers', SERVER_NAME]);
  const isOff = valueAt(server, ['enabled']) === false;
  const serverOff = isOff ? `${paths.config} has "enabled = false" for it` : null;
  const found = [
    {
      where: paths.config,
      server,
      hooks,
      project: null,
      here: folder,
      serverOff,
      hooksOff: null,
      isUnapproved: false,
    },
  ];
  const checks = await examineClient('Codex', 'codex', found, 'hive init codex', env);
  const others = projectFolders(folder)
    .map((each) => join(each, '.codex', 'config.toml'))
    .find(
      (path) =>
        path !== paths.config &&
        valueAt(inFile(path, '', readToml), ['mcp_servers', SERVER_NAME]) !== undefined,
    );
  if (others !== undefined)
    checks.push(
      checkNotSetUp(
        'Codex projects',
        `${others} has a server called "hive": if you have trusted this project, Codex uses that instead of yours`,
        'remove it there, or do not trust the project in Codex',
      ),
    );
  return hooks.length > 0 ? [...checks, await examineTrust(withoutProject(env, folder), hooksText)] : checks;
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
    return [checkNotSetUp(name, 'it cannot ask you through Hive yet', `run: ${init}`)];
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
    return checkBroken(name, 'hooks, but no MCP server: it cannot ask', `run: ${init}`);
  const { command, args, env: more } = found.server as { command: string; args: string[]; env?: Environment };
  const words = [command, ...args];
  const role = roleOfServer(found.server);
  const text = `server in ${found.where}${role === 'agent' ? '' : `, with the role ${role}`}`;
  if (found.serverOff !== null)
    return checkNotSetUp(
      name,
      `the server is turned off: ${found.serverOff}`,
      'turn it on again there, or its agents cannot ask you',
    );
  const because = reasonNotToTry(words, 'mcp', found, { env, more });
  if (because !== null) return notTried(name, text, because);
  const { ok, err } = await tryServer(words, { ...withoutProject(env, found.here), ...more });
  if (!ok) return checkBroken(name, `${text} does not start: ${err}`, `run again: ${init}`);
  if (found.isUnapproved)
    return checkNotSetUp(
      name,
      `${text}, which you have not approved yet`,
      `start claude in ${found.where} and choose "Use this MCP server"`,
    );
  return checkOk(name, text);
}

async function examineHooks(
  name: string,
  client: HookClient,
  found: Found | undefined,
  init: string,
  env: Environment,
): Promise<Check> {
  if (found === undefined)
    return checkNotSetUp(name, 'none, so only an agent that polls gets its answers', `run: ${init}`);
  const hooks = found.hooks.flatMap(({ event, entry }) => {
    const hook = readHook(entry);
    return hook === null ? [] : [{ event, ...hook }];
  });
  const again = `run again: ${init}`;
  if (hooks.some(({ protocol }) => protocol !== HOOK_PROTOCOL))
    return checkBroken(name, 'written by another version of Hive', again);
  const missing = hookSettings(client).filter(
    ({ event }) => hooks.filter((hook) => hook.event === event).length !== 1,
  );
  if (missing.length > 0) {
    const events = missing.map(({ event }) => event).join(', ');
    return checkBroken(name, `not once each: ${events}`, again);
  }
  const programs = new Map(hooks.map(({ program }) => [program.join('\0'), program]));
  for (const program of programs.values()) {
    // A hook over the connection starts nothing; the server that it calls is tried separately.
    if (program.length === 0) continue;
    const because = reasonNotToTry([...program, 'hook'], 'hook', found, { env, more: undefined });
    if (because !== null) return notTried(name, `${hooks.length} events`, because);
    const { ok, err } = await tryHook(program, client, withoutProject(env, found.here));
    if (!ok) return checkBroken(name, `does not run: ${err}`, again);
  }
  if (found.hooksOff !== null) return notRun(name, found.hooksOff);
  const connected = hooks.filter(({ program }) => program.length === 0).length;
  const text = `${hooks.length} events${connected === 0 ? '' : `, ${connected} of them over the connection`}`;
  // Only a program from outside the project is started.
  const version = await clientVersion(client, withoutProject(env, found.here));
  if (version === null) return checkOk(name, text);
  const missing_in_it = missingIn(client, version);
  return missing_in_it === null
    ? checkOk(name, `${text}; ${describeVersion(client, version)}`)
    : checkBroken(name, missing_in_it, 'update Claude Code: claude update');
}

/** Why the doctor does not start what a configuration names; null if it may. `more`: the variables that it sets. */
function reasonNotToTry(
  [program = '', ...args]: readonly string[],
  command: string,
  { project, here }: Found,
  { env, more }: { env: Environment; more: Environment | undefined },
): string | null {
  if (project === null) {
    const entry = isAbsolute(program) ? undefined : entriesInside(env, ownProject(here))[0];
    return entry === undefined ? null : `PATH leads into the project: ${excerpt(entry, EXCERPT_LENGTH)}`;
  }
  if (program !== 'hive')
    return `the project starts ${excerpt(program, EXCERPT_LENGTH)} instead of plain hive`;
  if (args.length !== 1 || args[0] !== command)
    return `the project adds arguments: ${excerpt(args.join(' '), EXCERPT_LENGTH)}`;
  const variables = variablesOf(more);
  if (variables.length > 0)
    return `the project sets variables: ${excerpt(variables.join(', '), EXCERPT_LENGTH)}`;
  // Otherwise the project contains the hive that is found, or the Node that runs it.
  const [inside] = entriesInside(env, wholeRepository(project));
  return inside === undefined ? null : `PATH leads into the project: ${excerpt(inside, EXCERPT_LENGTH)}`;
}

const EXCERPT_LENGTH = 60;

function notTried(name: string, text: string, because: string): Check {
  return checkOk(name, `${text} (not tried: ${because})`);
}

function twice(name: string, where: string, undo: string): Check {
  const text = `hooks in ${where}: each event would come twice`;
  return checkBroken(name, text, `remove one of the two, for example: ${undo}`);
}

/** Hooks that are present, but that the client does not run. */
function notRun(name: string, because: string): Check {
  const advice = 'turn them on again there, or only an agent that polls gets its answers';
  return checkNotSetUp(name, `they do not run: ${because}`, advice);
}

/** The result of `read` for a file. An error names the file; a file that does not exist counts as empty. */
function inFile<T>(path: string, empty: string, read: (text: string) => T): T {
  const text = readText(path);
  return naming({ path }, () => read(text?.trim() ? text : empty));
}
