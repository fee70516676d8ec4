/** `codex queue`: a message for an idle session of the running daemon begins a new turn there. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

const LIMIT_MS = 10_000;

/** False where no daemon runs, or it does not know the session; never rejects. */
export function queueForCodex(
  { thread_id, message }: { thread_id: string; message: string },
  env: Readonly<Record<string, string | undefined>>,
  socket: string | null,
): Promise<boolean> {
  if (socket === null || !existsSync(socket)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const args = ['queue', '--thread', thread_id, '--message', message];
    execFile(env['HIVE_CODEX'] ?? 'codex', args, { timeout: LIMIT_MS, env: { ...env } }, (error) =>
      resolve(error === null),
    );
  });
}
