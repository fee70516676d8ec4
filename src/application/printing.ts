/**
 * Between commit and print: what a hook hands over is stamped before it is printed (invariant 1), so a hook
 * that is killed in between has stamped what nobody will read. It says beforehand that it is about to print,
 * and afterwards that it has. Where it never said so, nothing proves anything, and all is handed again.
 */
import { hookCarrier, releaseCarried } from './delivery.ts';
import { releaseTold } from './interrupt-stations.ts';
import type { Ids, WriteTx } from './ports.ts';
import { releaseReports } from './reports.ts';

/** A hook lives two seconds at most: one that has not printed by then never will. */
const LOST_AFTER_MS = 2_500;

/** Whether an event of this session proves what was handed before: not while another hook may still print it. */
export async function settlePrints(tx: WriteTx, session_id: string): Promise<boolean> {
  const prints = await tx.prints.of(session_id);
  if (prints.length === 0) return true;
  const lost_before = new Date(Date.parse(tx.now) - LOST_AFTER_MS).toISOString();
  // A clock that was set back would have it wait for ever.
  const lost = prints.filter(({ at }) => at < lost_before || at > tx.now);
  if (lost.length > 0) {
    const carrier = hookCarrier(session_id);
    await releaseCarried(tx, carrier);
    await releaseReports(tx, carrier);
    await releaseTold(tx, session_id);
  }
  for (const { print_id } of lost) await tx.prints.remove(print_id);
  return lost.length === prints.length;
}

/** To be told before the transaction ends that hands something over; the id is for saying that it was printed. */
export async function announcePrint(tx: WriteTx, session_id: string, ids: Ids): Promise<string> {
  const print_id = ids.make('print');
  await tx.prints.insert({ print_id, session_id, at: tx.now });
  return print_id;
}
