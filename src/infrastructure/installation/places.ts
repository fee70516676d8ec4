/** Where each client reads its configuration, as the programs themselves do. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** For one person everywhere, or for everybody who works on one project. */
export type Scope = 'user' | 'project';

export function homeOf(env: Environment): string {
  return env['HOME'] ?? env['USERPROFILE'] ?? homedir();
}

/** Claude Code keeps servers and hooks apart. */
export interface ClaudePlaces {
  servers: string;
  settings: string;
}

export function claudePlaces(env: Environment, scope: Scope, folder: string): ClaudePlaces {
  if (scope === 'project') {
    return { servers: join(folder, '.mcp.json'), settings: join(folder, '.claude', 'settings.json') };
  }
  const moved = env['CLAUDE_CONFIG_DIR'];
  const config = moved ?? join(homeOf(env), '.claude');
  return { servers: join(moved ?? homeOf(env), '.claude.json'), settings: join(config, 'settings.json') };
}

export interface CodexPlaces {
  config: string;
  hooks: string;
}

export function codexPlaces(env: Environment): CodexPlaces {
  const home = env['CODEX_HOME'] ?? join(homeOf(env), '.codex');
  return { config: join(home, 'config.toml'), hooks: join(home, 'hooks.json') };
}

/** The file that Emacs would read (its manual, "The Emacs Initialization File"), else the one to make. */
export function emacsInitFile(env: Environment): string {
  const home = homeOf(env);
  const xdg = join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'emacs', 'init.el');
  const read = [join(home, '.emacs.el'), join(home, '.emacs'), join(home, '.emacs.d', 'init.el'), xdg];
  return read.find((file) => existsSync(file)) ?? join(home, '.emacs.d', 'init.el');
}
