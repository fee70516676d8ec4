/**
 * The real agents, installed at test time into a cache outside the repository: never a dependency. Where the
 * registry is out of reach the suite says so in a plain line and is skipped.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What the fixtures were recorded with. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@anthropic-ai/claude-agent-sdk': '0.3.330',
  '@openai/codex': '0.169.0',
};

export interface Clients {
  claude: string;
  codex: string;
  /** Where the packages lie, for the Agent SDK. */
  modules: string;
}

const cache =
  process.env['HIVE_CLIENTS_CACHE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hive-clients');

/** The programs, installed if need be; null when they cannot be had here. */
export function installClients(): Clients | null {
  const modules = join(cache, 'node_modules');
  const clients: Clients = {
    claude: join(modules, `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`, 'claude'),
    codex: join(modules, '.bin/codex'),
    modules,
  };
  if (isComplete(clients)) return clients;
  try {
    install(modules);
  } catch (error) {
    const [why] = String(error).split('\n');
    process.stderr.write(`The real agents cannot be installed here (${why}): the client suite is skipped.\n`);
    return null;
  }
  return clients;
}

function isComplete({ claude, codex, modules }: Clients): boolean {
  return (
    existsSync(claude) &&
    existsSync(codex) &&
    Object.entries(PACKAGES).every(([name, version]) => installedVersion(modules, name) === version)
  );
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
function install(modules: string): void {
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(join(cache, 'install-'));
  try {
    writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
    const quiet = [
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--fetch-retries=1',
      '--fetch-timeout=60000',
    ];
    execFileSync('npm', ['install', ...quiet], { cwd: place, stdio: 'inherit', timeout: 240_000 });
    rmSync(modules, { recursive: true, force: true });
    renameSync(join(place, 'node_modules'), modules);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
