/**
 * Installation: the entries that Hive needs in a client's own configuration. `hive init` writes them, the doctor checks for
 * them, and a test compares the plugin with them.
 */
import { type HookClient, hookClient, QUIET_TOOLS } from './hooks.ts';
import { shellLine, shellWords } from './shell-words.ts';
import { isAtLeast } from './text.ts';
import type { Role } from './tokens.ts';

/** Incremented when the data that hooks exchange with a client changes, so that the doctor finds hooks of an older Hive. */
export const HOOK_PROTOCOL = 1;

/** The name of our MCP server in every client: tools are called mcp__hive__… after it. */
export const SERVER_NAME = 'hive';

/** The same server as Claude Code names it when Hive's plugin brings it. */
export const PLUGIN_SERVER = 'plugin_hive_hive';

/**
 * The tools that every agent has. They ask, post, report and read, but decide nothing. A coordinator's additional tools are not
 * listed; a test compares this list with the tools of the server.
 */
export const AGENT_TOOLS: readonly string[] = [
  'hivemind_ask_async',
  'hivemind_poll',
  'hivemind_note',
  'hivemind_cancel',
  'hivemind_ask',
  'hivemind_status',
  'hivemind_post',
  'hivemind_read',
  'hivemind_has_unprocessed_mentions',
  'hivemind_get_unprocessed_mentions',
  'hivemind_process_mentions',
  'hivemind_sessions',
  'hivemind_ping_user',
  'hivemind_send_card',
  'hivemind_report_updates',
];

/**
 * The permission rules that let agents in Claude Code call these tools. Each tool is named, because a rule for the whole server
 * would also cover a coordinator's tools.
 */
export function toolRules(server: string): string[] {
  return AGENT_TOOLS.map((tool) => `mcp__${server}__${tool}`);
}

/** Whether a permission rule of Claude Code covers everything that `wanted`, the rule for one MCP tool, covers. */
export function coversTool(rule: unknown, wanted: string): boolean {
  if (typeof rule !== 'string') return false;
  const server = wanted.slice(0, wanted.lastIndexOf('__'));
  return rule === wanted || rule === server || rule === `${server}__*`;
}

/** The path at which `hive serve` answers MCP. */
export const MCP_PATH = '/mcp';

/** The header with which `hive mcp` reports its parent process to `hive serve`, as the hooks know it (`CLAUDE_PID`). */
export const PARENT_PID = 'hive-parent-pid';

/**
 * How a client reports an event: by calling a tool over its existing MCP connection, or by starting a process. The connection
 * costs next to nothing; a process works with every client and every event.
 */
export type HookWay = 'connection' | 'process';

/** One event that Hive listens to, and how many seconds the client waits for the hook. */
export interface HookSetting {
  event: string;
  timeout: number;
  /** The best way for this event: Claude Code is not yet connected at SessionStart, and no longer at SessionEnd. */
  way: HookWay;
  /** The tools that it covers, as a regular expression over their names; default: all tools. */
  matcher?: string;
  /** A second hook waits in parallel from this event on, for at most this many seconds, to wake the session once it is idle. */
  wakes?: number;
}

/** The tool that hooks over the connection call. It is not listed, so it costs no tokens. */
export const HOOK_TOOL = 'hook_event';

const QUICK = 10;
/** In seconds: for events during which the human may be asked while the client waits. */
const HUMAN = 600;
/** In seconds: for events of a dialog that the client also shows. A day, because the dialog has no time limit either. */
const DIALOG = 24 * 60 * 60;

/** The longest lifetime of a waker, in seconds. The setting `wake` ends it earlier, by default after eight hours. */
const WAKES = 24 * 60 * 60;

const at = (way: HookWay, timeout: number, ...events: string[]): HookSetting[] =>
  events.map((event) => ({ event, timeout, way }));

/** Matches every tool except the quiet ones. */
const LOUD = `^(?!(?:${QUIET_TOOLS.join('|')})$)`;

const CLAUDE_HOOKS: readonly HookSetting[] = [
  { event: 'SessionStart', timeout: QUICK, way: 'process', wakes: WAKES },
  ...at('process', QUICK, 'SessionEnd'),
  ...at('connection', QUICK, 'UserPromptSubmit'),
  // In a run of `hive run` it waits for the human (extensions/runs).
  ...at('connection', HUMAN, 'PreToolUse'),
  ...at('connection', QUICK, 'PostToolUse', 'PostToolUseFailure').map((setting) => ({
    ...setting,
    matcher: LOUD,
  })),
  ...at('connection', DIALOG, 'PermissionRequest', 'Elicitation'),
  ...at('connection', QUICK, 'PermissionDenied', 'ElicitationResult', 'Notification'),
  { event: 'Stop', timeout: HUMAN, way: 'connection', wakes: WAKES },
  ...at('connection', HUMAN, 'SubagentStop'),
  ...at('connection', QUICK, 'StopFailure', 'SubagentStart'),
];

/**
 * Codex does not restart a server that has died. So only the hooks of every step go over the connection, and each turn
 * begins and ends with a process, which delivers what a dead server could not.
 *
 * Codex hides its own dialog while a PermissionRequest hook waits, so that one is short. The last two get 3 s at most:
 * Codex counts a higher value as 3, and a trust hash over the higher one would not match.
 */
const CODEX_HOOKS: readonly HookSetting[] = [
  ...at('process', QUICK, 'SessionStart', 'UserPromptSubmit'),
  ...at('connection', QUICK, 'PreToolUse', 'PostToolUse'),
  ...at('process', 30, 'PermissionRequest'),
  ...at('process', QUICK, 'Stop', 'SubagentStart', 'SubagentStop'),
  ...at('process', 3, 'SessionEnd', 'Interrupt'),
];

/** The events that Hive listens to in this client. */
export function hookSettings(client: HookClient): readonly HookSetting[] {
  return client === 'codex' ? CODEX_HOOKS : CLAUDE_HOOKS;
}

/** One hook as a client's file has it. */
export type HookEntry =
  | { type: 'command'; command: string; timeout: number; asyncRewake?: true }
  | { type: 'mcp_tool'; server: string; tool: string; input: Record<string, string>; timeout: number };

/** A client's configuration for one event. */
export interface HookGroup {
  matcher?: string;
  hooks: HookEntry[];
}

/** The values for a client's file of hooks. */
export interface HookProgram {
  /** How Hive is started: `["hive"]`, or Node and a file. */
  program: readonly string[];
  /** The name of our MCP server in this client: a plugin's has the plugin's name in it. */
  server?: string;
  /** `process` if the client is too old for hooks over the connection, or its server is on another machine. */
  way?: HookWay;
  /** A failing hook blocks the call that it guards. These hooks must be processes, because a dead server cannot block. */
  fails_closed?: boolean;
}

/** The name of a client in `hive init`, given its name over MCP; null for a client that Hive cannot set up. */
export function initName(client: string): 'claude' | 'codex' | null {
  if (client === 'claude-code') return 'claude';
  return client.startsWith('codex') ? 'codex' : null;
}

/** The first version of each client whose hooks can go over the connection. */
const FIRST_WITH_CONNECTION: Readonly<Record<HookClient, string>> = {
  'claude-code': '2.1.118',
  codex: '0.148.0',
};

/** Whether this version of a client can send its hooks over the connection. */
export function knowsConnection(client: HookClient, version: string): boolean {
  return isAtLeast(version, FIRST_WITH_CONNECTION[client]);
}

/** The first version of Claude Code that goes on after a Stop with additional context (adapters/hooks/hook.ts). */
const FIRST_HELD = '2.1.163';

/** The doctor's sentence on what this version of a client lacks; null for nothing. */
export function missingIn(client: HookClient, version: string): string | null {
  if (client !== 'claude-code' || isAtLeast(version, FIRST_HELD)) return null;
  return `Claude Code ${version} cannot be held when it stops: that needs ${FIRST_HELD}`;
}

/**
 * The versions of each client with which Hive was tried, newest last. test/clients/fixtures/carriers.json has what they write
 * around a text; its test compares the versions with this list.
 */
export const TRIED: Readonly<Record<HookClient, readonly string[]>> = {
  'claude-code': ['2.1.330', '2.1.332'],
  codex: ['0.169.0', '0.171.0'],
};

/** The doctor's sentence on the version of a client. */
export function describeVersion(client: HookClient, version: string): string {
  const tried = TRIED[client];
  return `version ${version}${tried.includes(version) ? '' : `; Hive was tried only with ${tried.join(' and ')}`}`;
}

/** The configuration of one event. */
export function hookGroup(client: HookClient, given: HookProgram, setting: HookSetting): HookGroup {
  const { program, server = SERVER_NAME, way = 'connection', fails_closed = false } = given;
  const command = hookCommand(client, program);
  const { event, timeout } = setting;
  const guards = event === 'PreToolUse' || event === 'UserPromptSubmit';
  const process = way === 'process' || setting.way === 'process' || (fails_closed && guards);
  const hook: HookEntry = process
    ? { type: 'command', command, timeout }
    : { type: 'mcp_tool', server, tool: HOOK_TOOL, input: hookInput(client, event), timeout };
  // Codex rejects the whole file if it has one unknown value, so it gets only the fields that it needs.
  if (client === 'codex') return { hooks: [hook] };
  const { matcher = '' } = setting;
  if (setting.wakes === undefined) return { matcher, hooks: [hook] };
  const waker: HookEntry = {
    type: 'command',
    command: `${command} --wake`,
    timeout: setting.wakes,
    asyncRewake: true,
  };
  return { matcher, hooks: [hook, waker] };
}

/** The hooks of every event, as written under "hooks" in a client's file. */
export function hookTable(client: HookClient, given: HookProgram): Record<string, HookGroup[]> {
  return Object.fromEntries(
    hookSettings(client).map((setting) => [setting.event, [hookGroup(client, given, setting)]]),
  );
}

/**
 * Variables by which a project or an editor affects every Node process started from it. They may name files that only its own
 * programs find, print output, or write into its folders, so Hive's processes run without them.
 */
const OF_OTHER_PROGRAMS: readonly string[] = ['NODE_OPTIONS', 'NODE_V8_COVERAGE'];

/** A command prefix that removes these variables in any shell. */
const WITHOUT_THEM: readonly string[] = ['env', ...OF_OTHER_PROGRAMS.flatMap((name) => ['-u', name])];

function hookCommand(client: HookClient, program: readonly string[]): string {
  const hook = ['hook', '--client', client, '--protocol', String(HOOK_PROTOCOL)];
  return shellLine([...WITHOUT_THEM, ...program, ...hook]);
}

// ---- The arguments of a hook over the connection ----
// The client fills in `${field}` from the event: text as it is, anything else as JSON, and nothing for a field that the
// event lacks. Codex drops a hook with a field that its event lacks, so it gets only what is always there.

const IN_EVERY_EVENT = ['hook_event_name', 'session_id', 'cwd', 'transcript_path'];
const OF_A_CALL = ['tool_name', 'tool_input', 'tool_use_id'];
const IN_EVENT: Readonly<Record<string, readonly string[]>> = {
  UserPromptSubmit: ['prompt'],
  PreToolUse: OF_A_CALL,
  PostToolUse: [...OF_A_CALL, 'tool_response'],
  PostToolUseFailure: OF_A_CALL,
  PermissionRequest: ['tool_name', 'tool_input', 'permission_suggestions'],
  PermissionDenied: OF_A_CALL,
  Elicitation: ['mcp_server_name', 'mode', 'message', 'url', 'requested_schema'],
  ElicitationResult: ['mcp_server_name', 'mode'],
  Notification: ['notification_type', 'message'],
  Stop: ['stop_hook_active', 'background_tasks'],
  SubagentStop: ['stop_hook_active', 'background_tasks'],
};

/** The arguments of the call that a client makes for an event. */
function hookInput(client: HookClient, event: string): Record<string, string> {
  const ids = client === 'codex' ? ['turn_id'] : ['prompt_id', 'agent_id', 'agent_type', 'permission_mode'];
  const fields = [...IN_EVERY_EVENT, ...ids, ...(IN_EVENT[event] ?? [])];
  return {
    client,
    protocol: String(HOOK_PROTOCOL),
    ...Object.fromEntries(fields.map((field) => [field, `\${${field}}`])),
  };
}

/** A client's configuration for our MCP server. */
export interface ServerSetting {
  command: string;
  args: string[];
  /** Claude Code: variables that it sets for the server. */
  env?: Record<string, string>;
  /** Codex: variables that it passes on from its own environment, in addition to the few that it always passes. */
  env_vars?: string[];
}

/**
 * The variables that `hive mcp` reads and Codex would not pass on by itself: those of which docs/environment.md says
 * that all of Hive, the clients or `hive mcp` read them. A test compares the two.
 */
const CODEX_ENVIRONMENT = [
  'HIVE_STORE',
  'HIVE_LISTEN_URL',
  'HIVE_LOG',
  'HIVE_AGENT',
  'HIVE_PARENT',
  'HIVE_USER',
  'HIVE_SOURCE',
  'HIVE_RUN',
  'HIVE_CODEX',
  'CODEX_HOME',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'NODE_DISABLE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'PGHOST',
  'PGPORT',
  'PGDATABASE',
  'PGUSER',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSSLMODE',
  'PGSSLROOTCERT',
  'PGSSLCERT',
  'PGSSLKEY',
  'PGOPTIONS',
  'PGCONNECT_TIMEOUT',
];

/**
 * The configuration of our MCP server for this client. Settings that a person made in `present`, the existing entry, are kept,
 * such as a timeout, variables, and options of `hive mcp`.
 */
export function serverSetting(
  client: HookClient,
  program: readonly string[],
  role: Role = 'agent',
  present: unknown = null,
): ServerSetting {
  const [command = 'hive', ...rest] = program;
  // With alwaysLoad each of our tools would cost every request of a model.
  const { alwaysLoad: _, ...kept } = (isHiveServer(present) ? present : {}) as Partial<ServerSetting> & {
    alwaysLoad?: unknown;
  };
  const server = { ...kept, command, args: [...rest, 'mcp', ...mcpOptions(present, role)] };
  if (client === 'claude-code') return { ...server, env: { ...kept.env, ...EMPTIED } };
  const others = (Array.isArray(kept.env_vars) ? kept.env_vars : []).filter(
    (name) => !CODEX_ENVIRONMENT.includes(name),
  );
  return { ...server, env_vars: [...CODEX_ENVIRONMENT, ...others] };
}

/** The words after `mcp`: those of the existing entry, unless its role is another one. */
function mcpOptions(present: unknown, role: Role): string[] {
  const words = isHiveServer(present) ? wordsOf(present) : [];
  const options = words.slice(words.indexOf('mcp') + 1);
  if (roleOfServer(present) === role) return options;
  const others = options.filter((word, n) => !/^--role(?:=|$)/.test(word) && options[n - 1] !== '--role');
  return role === 'agent' ? others : ['--role', role, ...others];
}

/** Empties the variables of other programs. Only Claude Code needs it, because Codex passes on listed variables only. */
const EMPTIED: Record<string, string> = Object.fromEntries(OF_OTHER_PROGRAMS.map((name) => [name, '']));

/** The variables that a server entry sets, except for those that Hive itself empties. */
export function variablesOf(env: unknown): string[] {
  const set = env !== null && typeof env === 'object' ? Object.entries(env) : [];
  return set.filter(([name, value]) => EMPTIED[name] !== value).map(([name]) => name);
}

/** One of our hooks, parsed. */
export interface OurHook {
  client: HookClient;
  /** How it starts Hive; empty for a hook over the connection. */
  program: string[];
  /** Null in commands from before this option existed. */
  protocol: number | null;
}

/** Parses a hook command; null for one that is not ours, or that is more than one plain command. */
export function readHookCommand(command: unknown): OurHook | null {
  const words = typeof command === 'string' ? shellWords(command) : null;
  if (words === null) return null;
  const hook = words.indexOf('hook');
  const begins = WITHOUT_THEM.every((word, n) => words[n] === word) ? WITHOUT_THEM.length : 0;
  const program = words.slice(begins, Math.max(begins, hook));
  const options = words.slice(hook + 1);
  const client = hookClient(optionOf(options, '--client'));
  if (!isHive(program) || client === null) return null;
  const protocol = optionOf(options, '--protocol');
  return { client, program, protocol: protocol === null ? null : Number(protocol) };
}

/** Parses an entry of a client's file; null for one that is not ours. */
export function readHook(entry: unknown): OurHook | null {
  const { type, command, tool, input } = (entry ?? {}) as Record<string, unknown>;
  if (type !== 'mcp_tool') return readHookCommand(command);
  const { client: name, protocol } = (input ?? {}) as Record<string, unknown>;
  const client = hookClient(name);
  if (tool !== HOOK_TOOL || client === null) return null;
  return { client, program: [], protocol: Number(protocol) };
}

/** Whether a server entry starts Hive, whoever wrote it. */
export function isHiveServer(entry: unknown): boolean {
  if (entry === null || typeof entry !== 'object') return false;
  const words = wordsOf(entry);
  const mcp = words.indexOf('mcp');
  return mcp > 0 && isHive(words.slice(0, mcp));
}

/** The command line of a server entry. */
function wordsOf(entry: unknown): string[] {
  const { command, args } = (entry ?? {}) as { command?: unknown; args?: unknown };
  return [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
}

/** The role that a server entry gives its agent. */
export function roleOfServer(entry: unknown): Role {
  const { args } = (entry ?? {}) as { args?: unknown };
  const words = Array.isArray(args) ? args.filter((word) => typeof word === 'string') : [];
  const role = optionOf(words, '--role') ?? words.find((word) => word.startsWith('--role='))?.slice(7);
  return role === 'coordinator' ? role : 'agent';
}

function isHive(program: readonly string[]): boolean {
  return program.some((word) => /(?:^|[/\\])hive(?:-sidecar)?(?:\.cmd)?$/.test(word));
}

function optionOf(options: readonly string[], name: string): string | null {
  const at = options.indexOf(name);
  return at < 0 ? null : (options[at + 1] ?? null);
}
