/**
 * Installation: the entries in an agent's own configuration once Hive is set up there. One description: `hive init`
 * writes it, the doctor checks for it, and a test compares the plugin with it.
 */
import type { HookClient } from './hooks.ts';
import type { Role } from './tokens.ts';

/** Incremented when what the hooks exchange with a client changes, so that the doctor finds hooks of an older Hive. */
export const HOOK_PROTOCOL = 1;

/** The name of our MCP server in every client: tools are called mcp__hive__… after it. */
export const SERVER_NAME = 'hive';

/** One event that Hive listens to, and how many seconds the client waits for the hook. */
export interface HookSetting {
  event: string;
  timeout: number;
  /** From this event on an idle session may be woken: a second hook waits beside it, for at most this many seconds. */
  wakes?: number;
}

const QUICK = 10;
/** For events where the human may be asked while the client waits. */
const HUMAN = 600;

/** The default lifetime of a waiter, in seconds. */
const WAKES = 8 * 60 * 60;

const at = (timeout: number, ...events: string[]): HookSetting[] =>
  events.map((event) => ({ event, timeout }));

const CLAUDE_HOOKS: readonly HookSetting[] = [
  { event: 'SessionStart', timeout: QUICK, wakes: WAKES },
  ...at(QUICK, 'SessionEnd', 'UserPromptSubmit'),
  ...at(QUICK, 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch'),
  ...at(HUMAN, 'PermissionRequest', 'Elicitation'),
  ...at(QUICK, 'PermissionDenied', 'ElicitationResult', 'Notification'),
  { event: 'Stop', timeout: HUMAN, wakes: WAKES },
  ...at(HUMAN, 'SubagentStop'),
  ...at(QUICK, 'StopFailure', 'SubagentStart'),
];

/**
 * Codex hides its own dialog while a PermissionRequest hook waits, so that one is short. The last two get 3 s at most:
 * Codex counts a higher value as 3, and a trust hash over the higher one would not match.
 */
const CODEX_HOOKS: readonly HookSetting[] = [
  ...at(QUICK, 'SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'),
  ...at(30, 'PermissionRequest'),
  ...at(QUICK, 'Stop', 'SubagentStart', 'SubagentStop'),
  ...at(3, 'SessionEnd', 'Interrupt'),
];

/** The events that Hive listens to in this client. */
export function hookSettings(client: HookClient): readonly HookSetting[] {
  return client === 'codex' ? CODEX_HOOKS : CLAUDE_HOOKS;
}

/** A client's configuration for one event. */
export interface HookGroup {
  matcher?: string;
  hooks: { type: 'command'; command: string; timeout: number; asyncRewake?: true }[];
}

/** The configuration of one event. `program` is how Hive is started: `["hive"]`, or Node and a file. */
export function hookGroup(client: HookClient, program: readonly string[], setting: HookSetting): HookGroup {
  const command = hookCommand(client, program);
  const group: HookGroup = { hooks: [{ type: 'command', command, timeout: setting.timeout }] };
  // Codex drops the whole file over one unknown value, so it gets no more than it needs.
  if (client === 'codex') return group;
  if (setting.wakes !== undefined) {
    const waker = { type: 'command' as const, command: `${command} --wake`, timeout: setting.wakes };
    group.hooks.push({ ...waker, asyncRewake: true });
  }
  return { matcher: '', ...group };
}

/** The hooks of every event, as written under "hooks" in a client's file. */
export function hookTable(client: HookClient, program: readonly string[]): Record<string, HookGroup[]> {
  return Object.fromEntries(
    hookSettings(client).map((setting) => [setting.event, [hookGroup(client, program, setting)]]),
  );
}

function hookCommand(client: HookClient, program: readonly string[]): string {
  return shellLine([...program, 'hook', '--client', client, '--protocol', String(HOOK_PROTOCOL)]);
}

/** A client's configuration for our MCP server. */
export interface ServerSetting {
  command: string;
  args: string[];
  /** Claude Code: the model sees our tools at once, instead of having to search for them first. */
  alwaysLoad?: boolean;
  /** Codex: what it passes on from its own environment, beside the few variables that it always passes. */
  env_vars?: string[];
}

/**
 * What `hive mcp` reads from its environment and Codex would keep from it: whatever docs/environment.md says
 * that all of Hive, the clients or `hive mcp` read. A test compares the two. The old variables of settings are here
 * for as long as they work.
 */
const CODEX_ENVIRONMENT = [
  'HIVE_STORE',
  'HIVE_LISTEN_URL',
  'HIVE_LOG',
  'HIVE_AGENT',
  'HIVE_PARENT',
  'HIVE_USER',
  'HIVE_SOURCE',
  'HIVE_MENTION_TTL',
  'HIVE_ESCALATE',
  'HIVE_GATE',
  'HIVE_WAKE',
  'HIVE_WAKE_ALL',
  'HIVE_CODEX',
  'CODEX_HOME',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
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
  'PGOPTIONS',
  'PGCONNECT_TIMEOUT',
];

/** The configuration of our MCP server for this client. */
export function serverSetting(
  client: HookClient,
  program: readonly string[],
  role: Role = 'agent',
): ServerSetting {
  const [command = 'hive', ...rest] = program;
  const server = { command, args: [...rest, 'mcp', ...(role === 'agent' ? [] : ['--role', role])] };
  return client === 'codex' ? { ...server, env_vars: CODEX_ENVIRONMENT } : { ...server, alwaysLoad: true };
}

/** One of our hook commands, parsed. */
export interface OurHook {
  client: HookClient;
  program: string[];
  /** Null in commands written before they had this option. */
  protocol: number | null;
}

/** Parses a hook command; null for one that is not ours, or that is more than one plain command. */
export function readHookCommand(command: unknown): OurHook | null {
  const words = typeof command === 'string' ? shellWords(command) : null;
  if (words === null) return null;
  const hook = words.indexOf('hook');
  const program = words.slice(0, Math.max(0, hook));
  const options = words.slice(hook + 1);
  const client = optionOf(options, '--client');
  if (!isHive(program) || (client !== 'codex' && client !== 'claude-code')) return null;
  const protocol = optionOf(options, '--protocol');
  return { client, program, protocol: protocol === null ? null : Number(protocol) };
}

/** Whether a server entry starts Hive, whoever wrote it. */
export function isHiveServer(entry: unknown): boolean {
  if (entry === null || typeof entry !== 'object') return false;
  const { command, args } = entry as { command?: unknown; args?: unknown };
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  const mcp = words.indexOf('mcp');
  return mcp > 0 && isHive(words.slice(0, mcp));
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

/** A command line that a POSIX shell splits into these words. */
export function shellLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** The words of one plain command; null for a line with which a shell would do more than run it. */
export function shellWords(line: string): string[] | null {
  const word = /(?:[\w@%+=:,./-]|'[^']*'|"[^"$`\\]*"|\\['" ])+/y;
  const words: string[] = [];
  for (let at = 0; at < line.length; ) {
    word.lastIndex = at;
    const found = word.exec(line);
    if (found === null) return null;
    words.push(found[0].replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_all, a, b, c) => a ?? b ?? c));
    at = word.lastIndex;
    while (line[at] === ' ') at += 1;
    if (at === word.lastIndex && at < line.length) return null;
  }
  return words;
}
