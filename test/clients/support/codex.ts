/** The real Codex, `codex exec`, with Hive's MCP server and hooks, against a scripted model. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookTable, serverSetting } from '../../../src/domain/installation.ts';
import { type Child, childEnvironment, HIVE, outputOf, spawnChild } from '../../support/children.ts';
import { HOOK_WAY } from './claude.ts';
import { LOOPBACK_ONLY, type World } from './world.ts';

/** Where it runs, and the scripted model it talks to. */
export interface CodexRun extends Omit<World, 'hive'> {
  model: { url: string };
  env?: Record<string, string>;
  /** Without Hive's MCP server and hooks: a proxy adds what it needs. */
  bare?: boolean;
  /** More options of its `hive mcp`. */
  options?: readonly string[];
  /** Its store is elsewhere, behind `hive serve`: the options of its server and its hooks. */
  remote?: readonly string[];
  /** The model's name; Codex offers its tools by it. */
  model_name?: string;
  /** Whether its person is asked before a command leaves the sandbox. */
  asks?: boolean;
}

export function codexHome({ folder }: Pick<CodexRun, 'folder'>): string {
  return join(folder, '.codex');
}

export function codexEnvironment(run: CodexRun): Record<string, string> {
  return childEnvironment(run.store, {
    HOME: run.folder,
    CODEX_HOME: codexHome(run),
    FAKE_KEY: 'fake',
    HIVE_CODEX: run.clients.codex,
    ...LOOPBACK_ONLY,
    ...run.env,
  });
}

/** Writes its configuration: a provider on loopback, our server with the store in its environment, our hooks. */
export function configureCodex(run: CodexRun): void {
  const home = codexHome(run);
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, 'config.toml'),
    [
      `approval_policy = "${run.asks === true ? 'on-request' : 'never'}"`,
      `sandbox_mode = "${run.asks === true ? 'read-only' : 'danger-full-access'}"`,
      ...providerSettings(run.model.url, run.model_name),
      ...(run.bare === true ? [] : hiveServer(run)),
    ].join('\n'),
  );
  if (run.bare === true) return;
  const hooks = hookTable('codex', { program: [process.execPath, HIVE], way: HOOK_WAY });
  const there = (key: string, value: unknown): unknown =>
    key === 'command' ? [value, ...(run.remote ?? [])].join(' ') : value;
  writeFileSync(join(home, 'hooks.json'), JSON.stringify({ hooks }, there));
}

/** Codex offers this model apply_patch as a tool that takes the patch as it is. */
export const FREEFORM_MODEL = 'gpt-5.5';

/** The settings that make a model on loopback its model. */
export function providerSettings(url: string, name = 'gpt-fake'): string[] {
  return [
    `model = ${toml(name)}`,
    'model_provider = "fake"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    // Otherwise it first asks whether to take a newer model.
    '[notice.model_migrations]',
    `${toml(FREEFORM_MODEL)} = "gpt-6-sol"`,
    '[model_providers.fake]',
    'name = "fake"',
    `base_url = ${toml(url)}`,
    'wire_api = "responses"',
    'env_key = "FAKE_KEY"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    'supports_websockets = false',
    '',
  ];
}

const toml = (value: unknown): string => JSON.stringify(value);

function hiveServer({ options = [], remote = [] }: CodexRun): string[] {
  return [
    '[mcp_servers.hive]',
    // Otherwise the first step of the model may come before our server has started, and be offered none of its tools.
    'required = true',
    `command = ${toml(process.execPath)}`,
    `args = ${toml([HIVE, 'mcp', ...options, ...remote])}`,
    'startup_timeout_sec = 120',
    'tool_timeout_sec = 3600',
    `env_vars = ${toml(serverSetting('codex', ['hive']).env_vars)}`,
  ];
}

export interface CodexResult {
  /** The events that `codex exec --json` prints. */
  events: { type: string; [field: string]: unknown }[];
  thread_id: string;
}

export function startCodex(
  run: CodexRun,
  prompt: string,
  more: readonly string[] = [],
): { child: Child; done: Promise<CodexResult> } {
  configureCodex(run);
  const args = [
    'exec',
    '--json',
    '--skip-git-repo-check',
    '--dangerously-bypass-hook-trust',
    ...more,
    prompt,
  ];
  const child = spawnChild(run.clients.codex, args, codexEnvironment(run));
  child.process.stdin.end();
  const done = outputOf(child).then((output) => {
    const events = output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as CodexResult['events'][number]);
    const started = events.find(({ type }) => type === 'thread.started');
    return { events, thread_id: String(started?.['thread_id']) };
  });
  return { child, done };
}

export async function runCodex(
  run: CodexRun,
  prompt: string,
  more: readonly string[] = [],
): Promise<CodexResult> {
  return startCodex(run, prompt, more).done;
}
