/** Suspending a process that uses a store, so that others can go on using it. */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { eventually } from './wait.ts';

/** Stops a process at a moment when it is not writing to this SQLite store: otherwise nobody could write until it goes on. */
export async function suspend(pid: number, store: string): Promise<void> {
  const database = new DatabaseSync(store, { timeout: 0 });
  try {
    await eventually(async () => {
      process.kill(pid, 'SIGSTOP');
      await eventually(() => isStopped(pid), undefined, `process ${pid} to stop`);
      if (isFree(database)) return true;
      process.kill(pid, 'SIGCONT');
      return false;
    });
  } finally {
    database.close();
  }
}

function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

/** Whether nobody is writing to it. */
function isFree(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
  } catch {
    return false;
  }
  database.exec('ROLLBACK');
  return true;
}
