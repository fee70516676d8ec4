/**
 * Agents' MCP servers that died. A client that sends its hooks over the connection then continues without them. The next
 * server of that client, or its next hook that runs as a process, notices this and reports it once.
 */
import { isRemote, remoteId, type Session } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import type { HookHandler } from './hook-context.ts';
import { isReused } from './identity.ts';
import { giveNotice } from './notices.ts';
import type { Connection, WriteTx } from './ports.ts';
import { endSession } from './sessions.ts';
import type { Processes } from './world.ts';

/** Forgets a connection. If it was the only identity of its caller, that session ends. */
export async function closeConnection(tx: WriteTx, connection_id: string): Promise<void> {
  const machine = (await tx.sessions.connection(connection_id))?.machine;
  await tx.sessions.closeConnection(connection_id);
  const own = machine !== undefined && isRemote(machine) ? remoteId(machine, connection_id) : connection_id;
  const session = await tx.sessions.get(own);
  if (session !== undefined) await endSession(tx, session);
}

/** Closes connections whose process is gone. A server that ends normally closes its own connection, so these have died. */
export async function closeDead(tx: WriteTx, machine: string, processes: Processes): Promise<void> {
  for (const connection of await tx.sessions.connections(machine)) {
    if (!processes.alive(connection.pid)) await closeLost(tx, connection, processes);
  }
}

/** The handler of the few events that can arrive from a process although the connection is gone. */
export const noticeLostServer: HookHandler = async ({ tx, event, session, surroundings, processes }) => {
  if (!BY_PROCESS.has(event.name)) return null;
  for (const connection of await tx.sessions.connections(surroundings.machine)) {
    if (isServerOf(connection, session) && !processes.alive(connection.pid))
      await closeLost(tx, connection, processes);
  }
  return null;
};

const BY_PROCESS: ReadonlySet<string> = new Set(['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'Stop']);

function isServerOf({ session_id, parent_pid }: Connection, session: Session): boolean {
  return session_id === session.session_id || (parent_pid !== null && parent_pid === session.pid);
}

/** Closes the connection of a dead server, and notifies the human unless the client is gone as well and so has lost nothing. */
async function closeLost(tx: WriteTx, connection: Connection, processes: Processes): Promise<void> {
  const { connection_id, machine, parent_pid, session_id } = connection;
  await closeConnection(tx, connection_id);
  if (parent_pid === null || !processes.alive(parent_pid)) return;
  const session =
    (session_id === null ? undefined : await tx.sessions.get(session_id)) ??
    (await tx.sessions.hookedByProcess(machine, parent_pid));
  if (session === undefined || session.state === 'ended' || session.hooks_seen_at === null) return;
  if (await isReused(tx, session, processes)) return;
  await giveNotice(tx, {
    severity: 'warning',
    text: `The Hive server of ${labelled(session)} died. Without it, hooks that go over its connection do not run: a mention or an interrupt may not hold this agent. If its client does not start the server again, start the client again.`,
    session_id: session.session_id,
    data: { notice: 'server_lost', pid: connection.pid },
  });
}
