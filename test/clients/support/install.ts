/**
 * The real agents, and the tools of MCP's own project, installed at test time into a cache outside the repository:
 * never a dependency. Where they cannot be installed, the suite fails and says why: nothing would have been tested.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

type Packages = Readonly<Record<string, string>>;

/** The versions with which the fixtures were recorded. */
const PINNED: Packages = {
  '@anthropic-ai/claude-agent-sdk': '0.3.330',
  '@openai/codex': '0.169.0',
};

/** `newest` takes what the registry has, and a version that one: `HIVE_TEST_CLAUDE=newest npm run test:clients`. */
const CHOSEN_BY: Packages = {
  '@anthropic-ai/claude-agent-sdk': 'HIVE_TEST_CLAUDE',
  '@openai/codex': 'HIVE_TEST_CODEX',
};

function chosenAgents(): Packages {
  const chosen = Object.entries(PINNED).map(([name, pinned]) => {
    const wanted = process.env[CHOSEN_BY[name] ?? ''] ?? pinned;
    return [name, wanted === 'newest' ? newestOf(name) : wanted];
  });
  return Object.fromEntries(chosen) as Packages;
}

function newestOf(name: string): string {
  return execFileSync('npm', ['view', name, 'version'], { encoding: 'utf8', timeout: 60_000 }).trim();
}

/** Agents for editors. */
const EDITORS: Packages = {
  'opencode-ai': '1.18.33',
  '@agentclientprotocol/claude-agent-acp': '0.101.0',
};

/** Codex behind ACP. It runs the Codex of `PINNED`, so the one that it depends on is left out. */
const CODEX_ACP: Packages = { '@agentclientprotocol/codex-acp': '2.6.0' };

const TOOLS: Packages = {
  '@modelcontextprotocol/client': '2.4.0',
  '@modelcontextprotocol/conformance': '0.2.0-alpha.12',
  '@modelcontextprotocol/inspector': '2.12.0',
};

export interface Clients {
  claude: string;
  codex: string;
  /** The program that `codex` starts. */
  codexProgram: string;
  /** Where the packages lie, for the Agent SDK. */
  modules: string;
}

/** Agents for editors: opencode, and Claude Code and Codex behind ACP. */
export interface EditorAgents {
  opencode: string;
  claudeAcp: string;
  codexAcp: string;
}

/** The programs that look at an MCP server from outside. */
export interface McpTools {
  /** A client that speaks MCP 2026-07-28: the modules to import, for HTTP and for stdio. */
  client: { http: string; stdio: string };
  conformance: string;
  inspector: string;
}

const cache =
  process.env['HIVE_CLIENTS_CACHE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hive-clients');

/**
 * The programs, installed if need be.
 * @throws Error when they cannot be installed here.
 */
export function installClients(): Clients {
  const agents = chosenAgents();
  const versions = Object.values(agents);
  // Another suite may use the pinned ones at the same time.
  const place = versions.join() === Object.values(PINNED).join() ? cache : join(cache, versions.join('+'));
  const modules = join(place, 'node_modules');
  const claude = join(
    modules,
    `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`,
    'claude',
  );
  const codex = join(modules, '.bin/codex');
  const vendor = join(modules, `@openai/codex-${process.platform}-${process.arch}`, 'vendor');
  provide(place, agents, [claude, codex], 'The real agents');
  const [target = ''] = readdirSync(vendor);
  return { claude, codex, codexProgram: join(vendor, target, 'bin/codex'), modules };
}

export function installEditorAgents(): EditorAgents {
  const place = join(cache, 'editors');
  const modules = join(place, 'node_modules');
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const opencode = join(modules, `opencode-${platform}`, 'bin/opencode');
  const claudeAcp = join(modules, '@agentclientprotocol/claude-agent-acp/dist/index.js');
  provide(place, EDITORS, [opencode, claudeAcp], 'The agents for editors');
  const codexPlace = join(place, 'codex');
  const codexAcp = join(codexPlace, 'node_modules/@agentclientprotocol/codex-acp/dist/index.js');
  provide(codexPlace, CODEX_ACP, [codexAcp], 'The agents for editors', '--omit=optional');
  return { opencode, claudeAcp, codexAcp };
}

export function installTools(): McpTools {
  const place = join(cache, 'tools');
  const modules = join(place, 'node_modules');
  const [conformance, inspector] = [join(modules, '.bin/conformance'), join(modules, '.bin/mcp-inspector')];
  const clients = join(modules, '@modelcontextprotocol/client/dist');
  const client = { http: join(clients, 'index.mjs'), stdio: join(clients, 'stdio.mjs') };
  provide(place, TOOLS, [conformance, inspector, client.http], 'The MCP tools');
  return { client, conformance, inspector };
}

function provide(
  place: string,
  packages: Packages,
  programs: readonly string[],
  what: string,
  ...options: string[]
): void {
  const modules = join(place, 'node_modules');
  const isInstalled = ([name, version]: [string, string]): boolean =>
    installedVersion(modules, name) === version;
  if (programs.every(existsSync) && Object.entries(packages).every(isInstalled)) return;
  try {
    install(place, packages, options);
  } catch (error) {
    throw new Error(`${what} cannot be installed here, so nothing that needs them can be tested.`, {
      cause: error,
    });
  }
}

function installedVersion(modules: string, name: string): string | null {
  try {
    return (JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as { version: string })
      .version;
  } catch {
    return null;
  }
}

/** Beside the cache first, then into place: two suites that start at once find all of it or none. */
function install(folder: string, packages: Packages, options: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  const modules = join(folder, 'node_modules');
  const place = mkdtempSync(join(folder, 'install-'));
  try {
    writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
    const quiet = [
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--fetch-retries=1',
      '--fetch-timeout=60000',
    ];
    execFileSync('npm', ['install', ...quiet, ...options], {
      cwd: place,
      stdio: 'inherit',
      timeout: 240_000,
    });
    rmSync(modules, { recursive: true, force: true });
    renameSync(join(place, 'node_modules'), modules);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
