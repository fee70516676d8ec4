/** The interactive Claude Code in a real terminal: typed at with keys, read off the screen. */
import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { endProcess, outputOf, remainingProcesses, spawnChild } from '../../support/children.ts';
import { tempFolder } from '../../support/temp.ts';
import { openTerminal } from '../../support/tmux.ts';
import { within } from '../../support/wait.ts';
import { type ChatTerminal, chatIn } from './chat-terminal.ts';
import { type ClaudeRun, claudeArguments, claudeEnvironment, readFile, writeFile } from './claude.ts';

/** Starts it with our server and hooks, and waits until it takes a message. */
export async function openClaude(run: ClaudeRun, more: readonly string[] = []): Promise<ChatTerminal> {
  const claude = await startTerminal(run, [...(await claudeArguments(run)), ...more]);
  await claude.until(/❯/, 30_000);
  return claude;
}

/** Starts it with these arguments, and with what its home and its project hold. */
export async function startTerminal(run: ClaudeRun, args: readonly string[]): Promise<ChatTerminal> {
  seedHome(run);
  const env = { ...claudeEnvironment(run), TERM: 'xterm-256color', TMPDIR: run.folder };
  // Without it the client may start in its auto mode, in which another model judges.
  const asking = args.includes('--permission-mode') ? [] : ['--permission-mode', 'default'];
  const command = [run.clients.claude, ...args, ...asking];
  const terminal = await openTerminal(tempFolder(), env, ['env', '-C', run.folder, ...command], {
    columns: 120,
    lines: 40,
  });
  onTestFinished(async () => {
    await terminal.close();
    // It tidies up when its terminal goes, hooks and all: its folder must outlive that.
    await within(() => remainingProcesses().length === 0, 5_000);
  });
  return chatIn(terminal);
}

/** Starts it in the background, below a daemon of the client, with this prompt. */
export async function startInBackground(run: ClaudeRun, prompt: string): Promise<void> {
  const args = [...(await claudeArguments(run)), '--permission-mode', 'default', '--bg', prompt];
  seedHome(run);
  endDaemon();
  await outputOf(spawnChild(run.clients.claude, args, claudeEnvironment(run)));
}

/** Ends what a daemon of the client runs in the background, when the test is over. */
export function endDaemon(): void {
  onTestFinished(async () => {
    const left = remainingProcesses();
    for (const line of left) endProcess(Number.parseInt(line, 10));
    await within(() => remainingProcesses().length === 0, 5_000);
    // Its sockets, which it keeps outside of its home and does not remove.
    for (const [sockets] of left.join('\n').matchAll(/\/[^ ]*\/cc-daemon-\d+\/\w+/g))
      rmSync(sockets, { recursive: true, force: true });
  });
}

/** Writes the settings for which it would otherwise ask when it starts for the first time. */
function seedHome({ folder }: ClaudeRun): void {
  writeFile(folder, '.claude.json', {
    ...readFile(folder, '.claude.json'),
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['fake'], rejected: [] },
    projects: { [folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  });
}
