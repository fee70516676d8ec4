/** Interrupts for tests: these helpers return once the request is on disk. */

import type { InterruptRequest } from '../../src/application/interrupts.ts';
import type { InterruptOutcome } from '../../src/domain/interrupts.ts';
import type { Turn } from '../../src/domain/turns.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, outputOf, spawnHive } from './children.ts';
import { HUMAN, introduction } from './hive.ts';
import { SESSION } from './turns.ts';
import { eventually } from './wait.ts';

/** The end of a turn that HUMAN has interrupted. */
export const INTERRUPTED = { aborted: 'interrupted', by: 'ada' } as const;

/** The human's sentence about an interrupt of HUMAN with the note "wrong branch". */
export const STOP = 'Interrupted by ada. Note: wrong branch';

/** The agent's sentence about it. */
export const PLEASE_STOP: string = `${STOP}. Stop now: call no further tool, end your turn and wait for the human. Work in progress may be half done; do not repeat it unless asked.`;

/** A registered session whose turn has begun. */
export async function beginTurn(
  hive: OpenedHive,
  session_id: string = SESSION,
  client = 'claude-code',
): Promise<Turn> {
  await hive.sessions.introduce(introduction({ session_id, client }));
  return hive.turns.start({ session_id });
}

/** Interrupts session-1 as the human by default; returns what the hive returns. */
export function interrupt(
  hive: OpenedHive,
  changes: Partial<InterruptRequest> = {},
): Promise<InterruptOutcome> {
  return hive.interrupts.interrupt({ session: SESSION, actor: HUMAN, ...changes });
}

/** Asks the current turn of a session to stop, and returns once that is on disk, where a hook finds it. */
export async function interruptStored(
  hive: OpenedHive,
  changes: Partial<InterruptRequest> = {},
): Promise<{ reply: Promise<InterruptOutcome> }> {
  const { session = SESSION } = changes;
  const requests = async (): Promise<number> => {
    const turn = await hive.turns.current(session);
    if (turn === undefined) return 0;
    return (await hive.store.read((tx) => tx.turns.interruptsOf(turn.turn_id))).length;
  };
  const before = await requests();
  const reply = interrupt(hive, changes);
  // A test that does not look at the reply leaves it waiting until its hive closes.
  reply.catch(() => undefined);
  await eventually(async () => (await requests()) > before);
  return { reply };
}

/** Waits until another process has asked this turn to stop. */
export async function requestStored(hive: OpenedHive, { turn_id }: Turn): Promise<void> {
  const pending = () => hive.store.read((tx) => tx.turns.pendingInterrupts(turn_id));
  await eventually(async () => (await pending()).length === 1, 10_000, 'the request');
}

/** One hook event of Claude Code, fired by a separate process; resolves with its output. */
export function fireHookProcess(store: string, event: Record<string, unknown>): Promise<string> {
  const child = spawnHive(['hook', '--client', 'claude-code'], childEnvironment(store));
  const said = outputOf(child);
  child.process.stdin.end(JSON.stringify({ cwd: '/', ...event }));
  return said;
}
