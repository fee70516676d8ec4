/**
 * The program of the user's own (a push service, a webhook): each notification as one JSON document on its
 * stdin. It runs in a shell, because the person wrote it as a shell line; agents' text reaches it as data only.
 */
import { spawn } from 'node:child_process';
import type { Popup } from '../../domain/popups.ts';
import { complaint, type Environment, finished } from './children.ts';

const LIMIT_MS = 10_000;
/** A storm of thousands is told by its count. */
const MAX_PROMPTS = 100;

/** @throws Error when it fails or takes longer than 10 s. */
export async function tellCommand(
  command: string,
  popup: Popup,
  env: Environment,
  stop: AbortSignal,
): Promise<void> {
  // A group of its own, so that whatever the shell started ends with it.
  const child = spawn(command, {
    shell: true,
    detached: process.platform !== 'win32',
    env: { ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const kill = (): void => {
    try {
      if (child.pid === undefined) return;
      if (process.platform === 'win32') child.kill('SIGKILL');
      else process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
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

function documentOf({ kind, title, body, urgency, prompts }: Popup): Record<string, unknown> {
  return {
    type: kind,
    title,
    body,
    urgency,
    count: prompts.length,
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
