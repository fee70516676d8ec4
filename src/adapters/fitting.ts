/** Lists that must fit into a limit: that of a frame to Emacs, or of a result that a model reads. */
import type { MessagePage } from '../application/ports.ts';

/** How many of these, from the first on, fit into this many bytes of JSON; at least one. */
export function countThatFits(items: readonly unknown[], bytes: number): number {
  let room = bytes;
  const first = items.findIndex((item) => {
    room -= Buffer.byteLength(JSON.stringify(item)) + 1;
    return room < 0;
  });
  return first === -1 ? items.length : Math.max(1, first);
}

/** A page of messages, read again with fewer when it does not fit. `forward` pages keep their beginning, others their end. */
export async function readFitting(
  read: (limit: number) => Promise<MessagePage>,
  { limit, bytes, forward }: { limit: number; bytes: number; forward: boolean },
): Promise<MessagePage> {
  const page = await read(limit);
  const count = countThatFits(forward ? page.items : page.items.toReversed(), bytes);
  return count === page.items.length ? page : read(count);
}
