/**
 * Waits: while a process waits for an answer on behalf of an agent, the question counts as blocking the agent. A wait is a lease,
 * so a process that dies does not leave its agent marked as blocked. Renewing a lease appends no event; there are events only for
 * the beginning and end of blocking.
 */
import { endedBy } from '../domain/hooks.ts';
import { isReceiver, leavePromptToTerminal, type Prompt, promptEvent } from '../domain/prompts.ts';
import { leaseOfWait, STANDING_LEASE, WAIT_HEARTBEAT_MS } from '../domain/waits.ts';
import { writeDue } from './expiry.ts';
import type { Parts } from './parts.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import type { Ids } from './world.ts';

/** A session that waits, and its questions. */
export interface Waiter {
  /** The session that waits. Only its own questions, and those of its subagents, block it. */
  session_id: string;
  ask_ids: readonly string[];
  /** How long at most, in ms. */
  wait_ms: number;
  /** Ends the wait early, when the agent goes on. */
  signal?: AbortSignal | undefined;
  /** The process of a hook whose dialog a terminal shows as well, so that it stays open even if this process is killed. */
  hook_pid?: number | undefined;
}

/** The wait of a hook whose dialog is also in a terminal, with the hook's process. */
const HOOK_WAIT = /^hook-(?<pid>\d+)-/;

export function createWaits({ store, processes, machine }: Pick<Parts, 'store' | 'processes' | 'machine'>) {
  return {
    /** Leaves the dialogs of this machine whose hook was killed to their terminals, without waiting for the lease to end. */
    async leaveKilled(): Promise<void> {
      const killed = await store.read(async (tx) => {
        const dead = (await tx.waits.ofHooks()).filter(({ wait_id }) => {
          const pid = pidOf(wait_id);
          return pid !== null && !processes.alive(pid);
        });
        const own = await Promise.all(
          dead.map(async ({ ask_id }) => (await machineOf(tx, ask_id)) === machine),
        );
        return dead.filter((_, at) => own[at]);
      });
      if (killed.length === 0) return;
      await store.write(async (tx) => {
        for (const { wait_id } of killed)
          for (const ask_id of await tx.waits.end(wait_id)) await endHookWait(tx, ask_id);
      });
    },

    /** Ends the waits whose lease has run out, such as those of dead processes. Returns how many questions had one. */
    lapseDue: () =>
      writeDue(
        store,
        (tx) => tx.waits.lapses,
        async (tx, ask_ids) => {
          for (const ask_id of ask_ids) await lapseWait(tx, ask_id);
        },
      ),
  };
}

/** The process of a hook, from the id of its wait; null if the id names none. */
function pidOf(wait_id: string): number | null {
  const pid = HOOK_WAIT.exec(wait_id)?.groups?.['pid'];
  return pid === undefined ? null : Number(pid);
}

/** The machine of the session that asks. Its hooks run there. */
async function machineOf(tx: ReadTx, ask_id: string): Promise<string | undefined> {
  const prompt = await tx.prompts.intact(ask_id);
  return prompt === undefined ? undefined : (await tx.sessions.get(prompt.session_id))?.machine;
}

/** Runs `wait`. Until it ends, and for a short time afterwards, the questions count as blocking their agent. */
export async function markedAsBlocking<T>(
  { store, ids }: { store: Store; ids: Ids },
  { session_id, ask_ids, wait_ms, signal, hook_pid }: Waiter,
  wait: () => Promise<T>,
): Promise<T> {
  const wait_id = ids.make(hook_pid === undefined ? 'wait' : `hook-${hook_pid}`);
  const end = performance.now() + wait_ms;
  const beat = (): Promise<void> =>
    unlessItFails(() =>
      store.writeUnflushed((tx) => {
        const lease_until = leaseOfWait(end - performance.now(), tx.now);
        return renew(tx, { session_id, ask_ids }, { wait_id, lease_until });
      }),
    );
  await beat();
  const heartbeat = setInterval(() => void beat(), WAIT_HEARTBEAT_MS);
  try {
    return await wait();
  } finally {
    clearInterval(heartbeat);
    // If only the connection ended, the terminal may still show the dialog, which then still blocks its agent.
    if (signal?.aborted === true && !(hook_pid !== undefined && endedBy(signal).cut_off))
      await unlessItFails(() => store.writeUnflushed((tx) => endWait(tx, wait_id)));
  }
}

/** A poll or hook must not fail because its wait could not be recorded. */
async function unlessItFails(record: () => Promise<void>): Promise<void> {
  await record().catch(() => undefined);
}

async function renew(
  tx: WriteTx,
  { session_id, ask_ids }: Pick<Waiter, 'session_id' | 'ask_ids'>,
  lease: { wait_id: string; lease_until: string },
): Promise<void> {
  for (const ask_id of ask_ids) {
    const prompt = await tx.prompts.intact(ask_id);
    if (prompt?.status !== 'pending' || !isReceiver(prompt, session_id)) continue;
    await tx.waits.put({ ask_id, ...lease });
    if (prompt.blocked_since === null) await recordBlocked(tx, prompt, tx.now);
    // The machine slept for longer than the lease.
    if (prompt.terminal_since !== null) await recordTerminal(tx, { ...prompt, terminal_since: null });
  }
}

/** Ends one wait; its agent goes on. */
export async function endWait(tx: WriteTx, wait_id: string): Promise<void> {
  for (const ask_id of await tx.waits.end(wait_id)) await unblockUnlessWaited(tx, ask_id);
}

async function unblockUnlessWaited(tx: WriteTx, ask_id: string): Promise<void> {
  if (await tx.waits.isWaited(ask_id, tx.now)) return;
  const prompt = await tx.prompts.intact(ask_id);
  if (prompt?.status === 'pending' && prompt.blocked_since !== null) await recordBlocked(tx, prompt, null);
}

async function lapseWait(tx: WriteTx, ask_id: string): Promise<void> {
  const lapsed = await tx.waits.removeLapsed(ask_id, tx.now);
  if (lapsed.some((wait_id) => HOOK_WAIT.test(wait_id))) await endHookWait(tx, ask_id);
  else await unblockUnlessWaited(tx, ask_id);
}

/** The hook that waited for this dialog was killed, and its client may still show the dialog. */
async function endHookWait(tx: WriteTx, ask_id: string): Promise<void> {
  await unblockUnlessWaited(tx, ask_id);
  const prompt = await tx.prompts.intact(ask_id);
  if (prompt !== undefined) await leaveToTerminal(tx, prompt);
}

/**
 * Records that no hook waits for this dialog any more. It blocks its agent until an event shows that its terminal has closed
 * it.
 */
export async function leaveToTerminal(tx: WriteTx, prompt: Prompt): Promise<void> {
  const left = leavePromptToTerminal(prompt, tx.now);
  if (left !== prompt) await recordTerminal(tx, left);
}

async function recordTerminal(tx: WriteTx, prompt: Prompt): Promise<void> {
  const { terminal_since } = prompt;
  await tx.prompts.setTerminal(prompt);
  await tx.events.append(promptEvent('prompt/left_to_terminal', prompt, { terminal_since }));
}

/** The wait of a client's dialog, which needs no process. */
export const DIALOG_WAIT = 'dialog';

/** Makes the question block its agent from `since` until it is settled, whether or not a process waits. */
export async function blockUntilSettled(
  tx: WriteTx,
  prompt: Prompt,
  { wait_id, since }: { wait_id: string; since: string },
): Promise<void> {
  if (prompt.status !== 'pending') return;
  await tx.waits.put({ ask_id: prompt.ask_id, wait_id, lease_until: STANDING_LEASE });
  if (prompt.blocked_since === null) await recordBlocked(tx, prompt, since);
}

/** Ends the waits for the questions of an ended session, except for those of sleeping runs. */
export async function sessionIsGone(tx: WriteTx, ask_ids: readonly string[]): Promise<void> {
  for (const ask_id of ask_ids) {
    await tx.waits.endOfSession(ask_id);
    await unblockUnlessWaited(tx, ask_id);
  }
}

async function recordBlocked(tx: WriteTx, prompt: Prompt, blocked_since: string | null): Promise<void> {
  const type = blocked_since === null ? 'prompt/unblocked' : 'prompt/blocked';
  await tx.prompts.setBlocked({ ...prompt, blocked_since });
  await tx.events.append(promptEvent(type, prompt, { blocked_since }));
}
