/** The real Claude Code, headless, with Hive's MCP server and hooks, against a scripted model. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HookWay, ServerSetting } from '../../../src/domain/installation.ts';
import type { Role } from '../../../src/domain/tokens.ts';
import { childEnvironment, outputOf, ROOT, spawnChild } from '../../support/children.ts';
import { shell } from '../../support/cli.ts';
import { LOOPBACK_ONLY, type World } from './world.ts';

/** Both ways are tested: `HIVE_TEST_HOOKS=process` for the older one (vitest.config.ts). */
export const HOOK_WAY: HookWay = process.env['HIVE_TEST_HOOKS'] === 'process' ? 'process' : 'connection';

/** Where it runs, and the scripted model it talks to. */
export interface ClaudeRun extends Omit<World, 'hive'> {
  model: { url: string };
  /** Further tools that its person allows on the command line; default: Bash. Null: nothing is typed. */
  allowed?: string | null;
  /** The role of its server. */
  role?: Role;
  /** Permission rules that its person has written, such as for a coordinator's tools: `hive init` writes none for them. */
  rules?: readonly string[];
  /** MCP servers beside ours. */
  servers?: Record<string, object>;
  /** How its hooks reach Hive; default: as the suite runs. Null: it has none. */
  way?: HookWay | null;
  /** Its store is elsewhere, behind `hive serve`. */
  remote?: { url: string; token: string; token_file: string };
  env?: Record<string, string>;
}

export function claudeEnvironment({ store, folder, model, env }: ClaudeRun): Record<string, string> {
  return childEnvironment(store, {
    HOME: folder,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'fake',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Where a machine is slow, it would begin before it has our tools. A model then goes on without, a script cannot.
    MCP_CONNECTION_NONBLOCKING: '0',
    ...LOOPBACK_ONLY,
    ...env,
  });
}

/** Sets Hive up with `hive init`, as its person does, and gives the options for what this run has besides. */
export async function claudeArguments(run: ClaudeRun): Promise<string[]> {
  const { folder, allowed = 'Bash', servers } = run;
  await installHive(run);
  const mcp = join(folder, 'mcp.json');
  if (servers !== undefined) writeFileSync(mcp, JSON.stringify({ mcpServers: servers }));
  return [
    ...(servers === undefined ? [] : ['--mcp-config', mcp]),
    ...(allowed === null ? [] : ['--allowedTools', allowed]),
  ];
}

async function installHive({
  store,
  folder,
  role,
  rules = [],
  way = HOOK_WAY,
  remote,
}: ClaudeRun): Promise<void> {
  const roles = role === undefined ? [] : ['--role', role];
  const hooks = way === null ? [] : ['--hooks', way];
  const done = await shell(store, { HOME: folder }).hive('init', 'claude', ...hooks, '--yes', ...roles);
  if (done.code !== 0) throw new Error(`hive init claude ended with ${done.code}: ${done.err}`);
  if (rules.length > 0) {
    const settings = readFile(folder, '.claude/settings.json') as { permissions: { allow: string[] } };
    const allow = [...new Set([...settings.permissions.allow, ...rules])];
    writeFile(folder, '.claude/settings.json', { ...settings, permissions: { allow } });
  }
  if (remote === undefined) return;
  // The changes that a person then makes for a store on another machine (docs/operations.md).
  const { url, token, token_file } = remote;
  const options = ['--url', url, '--token-file', token_file];
  const { mcpServers, ...rest } = readFile(folder, '.claude.json') as { mcpServers: { hive: ServerSetting } };
  // Only a server on this machine can take hooks: it passes them on, like the calls.
  const hive =
    way === 'connection'
      ? { ...mcpServers.hive, args: [...mcpServers.hive.args, ...options] }
      : { type: 'http', url, headers: { Authorization: `Bearer ${token}` } };
  writeFile(folder, '.claude.json', { ...rest, mcpServers: { ...mcpServers, hive } });
  const there = (key: string, value: unknown): unknown =>
    key === 'command' ? `${String(value)} ${options.join(' ')}` : value;
  const settings = JSON.stringify(readFile(folder, '.claude/settings.json'), there);
  writeFile(folder, '.claude/settings.json', JSON.parse(settings));
}

/** A JSON file in the home of a client's person. */
export function readFile(folder: string, name: string): Record<string, unknown> {
  const path = join(folder, name);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>) : {};
}

export function writeFile(folder: string, name: string, value: object): void {
  writeFileSync(join(folder, name), JSON.stringify(value, null, 2));
}

/** A PATH as where Hive is installed: `hive` alone starts it. The plugin needs that. */
export function pathWithHive(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(join(ROOT, 'bin/hive'), join(bin, 'hive'));
  return [bin, dirname(process.execPath), process.env['PATH']].join(':');
}

export interface ClaudeResult {
  result: string;
  session_id: string;
  is_error: boolean;
}

/** Runs `claude -p PROMPT`. */
export async function runClaude(
  run: ClaudeRun,
  prompt: string,
  more: readonly string[] = [],
): Promise<ClaudeResult> {
  const args = ['-p', prompt, '--output-format', 'json', ...(await claudeArguments(run)), ...more];
  const child = spawnChild(run.clients.claude, args, claudeEnvironment(run));
  child.process.stdin.end();
  return JSON.parse(await outputOf(child)) as ClaudeResult;
}

/** The transcripts of every session so far, one after the other. The client writes them a moment after it has drawn a reply. */
export function transcriptsOf({ folder }: { folder: string }): string {
  const projects = join(folder, '.claude/projects');
  if (!existsSync(projects)) return '';
  return readdirSync(projects, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(projects, name), 'utf8'))
    .join('\n');
}
