/** The real Claude Code, headless, with Hive's MCP server and hooks, against a scripted model. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type HookWay, hookTable, serverSetting } from '../../../src/domain/installation.ts';
import type { Role } from '../../../src/domain/tokens.ts';
import { type Child, childEnvironment, HIVE, outputOf, ROOT, spawnChild } from '../../support/children.ts';
import { LOOPBACK_ONLY, type World } from './world.ts';

const program = [process.execPath, HIVE];

/** Both ways are tested: `HIVE_TEST_HOOKS=process` for the older one (vitest.config.ts). */
export const HOOK_WAY: HookWay = process.env['HIVE_TEST_HOOKS'] === 'process' ? 'process' : 'connection';

/** Where it runs, and the scripted model it talks to. */
export interface ClaudeRun extends Omit<World, 'hive'> {
  model: { url: string };
  /** What it may do unasked. */
  allowed?: string;
  /** The role of its server. */
  role?: Role;
  /** MCP servers beside ours. */
  servers?: Record<string, object>;
  /** How its hooks reach Hive; default: as the suite runs. */
  way?: HookWay;
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
    ...LOOPBACK_ONLY,
    ...env,
  });
}

/** Writes the configuration as `hive init` does, and gives the arguments that use it. */
export function claudeArguments(run: ClaudeRun): string[] {
  const { folder, allowed = 'mcp__hive Bash', servers = {} } = run;
  const mcp = join(folder, 'mcp.json');
  const settings = join(folder, 'settings.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(mcp, JSON.stringify({ mcpServers: { hive: serverOf(run), ...servers } }));
  writeFileSync(settings, JSON.stringify({ hooks: hooksOf(run) }));
  return ['--mcp-config', mcp, '--strict-mcp-config', '--settings', settings, '--allowedTools', allowed];
}

function serverOf({ remote, role, way = HOOK_WAY }: ClaudeRun): object {
  if (remote === undefined) return serverSetting('claude-code', program, role);
  const { url, token, token_file } = remote;
  // Only a server on this machine can take hooks: it passes them on, like the calls.
  if (way === 'connection')
    return { command: process.execPath, args: [HIVE, 'mcp', '--url', url, '--token-file', token_file] };
  return { type: 'http', url, headers: { Authorization: `Bearer ${token}` } };
}

function hooksOf({ remote, way = HOOK_WAY }: ClaudeRun): unknown {
  const hooks = hookTable('claude-code', { program, way });
  if (remote === undefined) return hooks;
  const there = ` --url ${remote.url} --token-file ${remote.token_file}`;
  return JSON.parse(
    JSON.stringify(hooks, (key, value: unknown) => (key === 'command' ? `${String(value)}${there}` : value)),
  );
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

/** Starts `claude -p PROMPT`. */
export function startClaude(
  run: ClaudeRun,
  prompt: string,
  more: readonly string[] = [],
): { child: Child; done: Promise<ClaudeResult> } {
  const args = ['-p', prompt, '--output-format', 'json', ...claudeArguments(run), ...more];
  const child = spawnChild(run.clients.claude, args, claudeEnvironment(run));
  child.process.stdin.end();
  const done = outputOf(child).then((output) => JSON.parse(output) as ClaudeResult);
  return { child, done };
}

export async function runClaude(
  run: ClaudeRun,
  prompt: string,
  more: readonly string[] = [],
): Promise<ClaudeResult> {
  return startClaude(run, prompt, more).done;
}
