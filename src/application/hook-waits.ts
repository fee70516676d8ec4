/** When a hook has waited enough: looked at again and again while it waits, so it reads and writes nothing. */
import type { HookWait } from '../domain/hooks.ts';
import { wasInterrupted } from '../domain/interrupts.ts';
import { isExpired, type Prompt } from '../domain/prompts.ts';
import type { ReadTx } from './ports.ts';

export async function isOver(tx: ReadTx, wait: HookWait, turn_id: string | null): Promise<boolean> {
  const { ask_ids, all = false, needs_desk = false } = wait;
  const found = await Promise.all(ask_ids.map((ask_id) => tx.prompts.get(ask_id)));
  const prompts = found.filter((prompt): prompt is Prompt => prompt !== undefined);
  const isOpen = (prompt: Prompt): boolean => prompt.status === 'pending' && !isExpired(prompt, tx.now);
  const open = prompts.filter(isOpen);
  if (open.length === 0) return true;
  const settled = prompts.filter((prompt) => !isOpen(prompt));
  if (all ? settled.some(({ status }) => status !== 'responded') : settled.length > 0) return true;
  if (turn_id !== null && (await isToStop(tx, turn_id))) return true;
  return needs_desk && (await tx.desks.online(tx.now)).length === 0;
}

async function isToStop(tx: ReadTx, turn_id: string): Promise<boolean> {
  const turn = await tx.turns.get(turn_id);
  if (turn === undefined) return false;
  return wasInterrupted(turn) || (await tx.turns.pendingInterrupts(turn_id)).length > 0;
}
