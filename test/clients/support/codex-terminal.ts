/** The interactive Codex in a real terminal, hosted by Codex' own daemon: typed at with keys, read off the screen. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { trustOf } from '../../../src/infrastructure/installation/codex.ts';
import { endProcess, remainingProcesses } from '../../support/children.ts';
import { openTerminal } from '../../support/tmux.ts';
import { PATIENCE_MS, within } from '../../support/wait.ts';
import { type ChatTerminal, chatIn } from './chat-terminal.ts';
import { type CodexRun, codexEnvironment, codexHome, configureCodex } from './codex.ts';

/** Starts it with our server and hooks, which are trusted, and waits until it takes a message. */
export async function openCodex(run: CodexRun, args: readonly string[] = []): Promise<ChatTerminal> {
  configureCodex(run);
  trustHooks(run);
  const codex = await startTerminal(run, args);
  await codex.until(READY, 20_000);
  return codex;
}

/** Its screen when it takes a message. */
export const READY = /Ask Codex to do anything/;

/** Starts it with these arguments, and with what its home holds. */
export async function startTerminal(run: CodexRun, args: readonly string[] = []): Promise<ChatTerminal> {
  const place = join(run.folder, 't');
  mkdirSync(place, { recursive: true });
  const env = { ...codexEnvironment(run), TERM: 'xterm-256color', TMPDIR: place };
  startDaemon(run, env);
  const command = ['env', '-C', run.folder, run.clients.codex, ...args];
  const terminal = await openTerminal(place, env, command, { columns: 120, lines: 40 });
  onTestFinished(() => terminal.close());
  return chatIn(terminal);
}

/** As a person does with `hive init codex`: a daemon has no flag to trust them without that. */
export function trustHooks(run: CodexRun): void {
  const home = codexHome(run);
  const hooks = join(home, 'hooks.json');
  for (const { path, values } of trustOf(hooks, readFileSync(hooks, 'utf8'))) {
    const [, , key] = path;
    const lines = ['', `[hooks.state.${JSON.stringify(key)}]`, `trusted_hash = "${values['trusted_hash']}"`];
    appendFileSync(join(home, 'config.toml'), lines.join('\n'));
  }
}

/** Starts the daemon, as the terminal would; ended with all that it started when the test has finished. */
function startDaemon(run: CodexRun, env: Record<string, string>): void {
  onTestFinished(async () => {
    // When asked to stop, it may wait half a minute for its threads, and its updater continues by itself.
    for (const line of remainingProcesses()) endProcess(Number.parseInt(line, 10));
    await within(() => remainingProcesses().length === 0, 5_000);
  });
  const options = { env, cwd: run.folder, timeout: PATIENCE_MS, stdio: 'pipe' } as const;
  execFileSync(run.clients.codex, ['app-server', 'daemon', 'start'], options);
}
