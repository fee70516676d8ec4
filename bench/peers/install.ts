/** Peers from npm, installed at run time into a cache outside the repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const FEEDBACK = { name: 'mcp-feedback-enhanced', version: '1.2.23' } as const;
export const VIBE = { name: 'mcp-vibepowerpack', version: '1.2.10' } as const;
const PACKAGES = [...[FEEDBACK, VIBE].map(({ name, version }) => `${name}@${version}`), 'ws@8'];

/** Where the program of a peer lies, installed if need be. @throws when the registry is out of reach. */
export function installPeer({ name }: { name: string }): string {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hive-peers');
  const program = join(cache, 'node_modules', name, 'dist/index.js');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  writeFileSync(join(cache, 'package.json'), '{"private": true}\n');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES], {
    cwd: cache,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return program;
}
