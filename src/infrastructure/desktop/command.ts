/**
 * The user's own notification program (a push service, a webhook): it gets each notification as one JSON document on its
 * stdin. It runs in a shell, because the person wrote it as a shell line; text of agents reaches it only as data. The
 * helpers that start programs for the desktop are here, too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { type Popup, screenOf } from '../../domain/popups.ts';
import type { Environment } from '../../domain/sources.ts';

const LIMIT_MS = 10_000;
/** The most prompts listed in a document; a larger storm is described by its count. */
const MAX_PROMPTS = 100;

/** Runs the program with a popup. @throws Error when it fails or takes longer than 10 s. */
export async function runNotifyCommand(
  command: string,
  popup: Popup,
  env: Environment,
  stop: AbortSignal,
): Promise<void> {
  // A process group of its own, so that everything the shell started ends with it.
  const child = spawn(command, {
    shell: true,
    detached: true,
    env: { ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const kill = (): void => {
    try {
      if (child.pid === undefined) return;
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  const timer = setTimeout(kill, LIMIT_MS);
  stop.addEventListener('abort', kill, { once: true });
  // A program that does not read its stdin closes the pipe on us.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(documentOf(popup))}\n`);
  const end = await finished(child);
  clearTimeout(timer);
  stop.removeEventListener('abort', kill);
  if (end.code !== 0) throw new Error(complaint(end, 'notify_command'));
}

function documentOf(popup: Popup): Record<string, unknown> {
  const { kind, title, body, urgency, count, prompts } = popup;
  return {
    type: kind,
    title,
    body,
    urgency,
    count,
    screen: screenOf(popup),
    prompts: prompts.slice(0, MAX_PROMPTS).map((prompt) => ({
      ask_id: prompt.ask_id,
      agent: prompt.agent,
      source: prompt.source,
      project: prompt.project,
      kind: prompt.kind,
      urgency: prompt.urgency,
      header: prompt.header,
      question: prompt.question,
      options: prompt.options.map((option) => option.label),
      created_at: prompt.created_at,
    })),
  };
}

// ---- Programs for the desktop ----
// Each is limited in time, and none outlives us.

/** How a program ended. */
export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** How many characters of a program's output are kept. */
const KEPT = 4_096;

/** Resolves when the program has ended and its pipes are drained; never rejects. */
export function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    if (stdout.length < KEPT) stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    if (stderr.length < KEPT) stderr += chunk.toString();
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, stdout, stderr: error.message }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Why a program failed, on one line. */
export function complaint({ code, stderr }: Finished, program: string): string {
  const words = stderr.replace(/\s+/g, ' ').trim().slice(0, 300);
  return words === '' ? `${program} ended with code ${code ?? 'none'}.` : `${program}: ${words}`;
}
