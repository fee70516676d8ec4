/**
 * The real agents, installed at test time into a cache outside the repository: never a dependency. Where the
 * registry is out of reach the suite says so in a plain line and is skipped.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What the fixtures were recorded with; a newer client is tried by HIVE_CLIENTS="claude@x codex@y". */
const PACKAGES = {
  '@anthropic-ai/claude-agent-sdk': '0.3.330',
  '@openai/codex': '0.169.0',
} as const;

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
  if (existsSync(clients.claude) && existsSync(clients.codex)) return clients;
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: cache,
      stdio: 'inherit',
      timeout: 240_000,
    });
    return clients;
  } catch (error) {
    process.stderr.write(
      `The real agents could not be installed (${String(error).split('\n')[0]}): the client suite is skipped.\n`,
    );
    return null;
  }
}
