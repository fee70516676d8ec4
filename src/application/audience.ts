/**
 * Whether anybody could be shown what an agent sends now. A desk shows it; where none is open, the popups of
 * this process do, unless the human wants none now or there is no desktop. An agent is told at once when it
 * speaks to an empty room.
 */
import { isOutreachShown } from '../domain/outreach-popups.ts';
import type { Absence } from '../domain/outreach-rules.ts';
import { momentOf, preferencesFrom } from '../domain/preferences.ts';
import type { PopupParty } from './popups.ts';
import type { Notifier, Store } from './ports.ts';

/** Why nobody would be shown it; null when somebody would. */
export type Audience = (sent: {
  critical: boolean;
  project: string;
  project_dir: string;
}) => Promise<Absence | null>;

/** `parties` are those for whom this process shows popups at the moment. */
export function createAudience(
  { store, notifier }: { store: Store; notifier: Pick<Notifier, 'reachable'> },
  parties: () => Iterable<Pick<PopupParty, 'seat'>>,
): Audience {
  return async (sent) => {
    let absence: Absence = 'nobody_there';
    const { desks, wishes, now } = await store.read(async (tx) => ({
      desks: await tx.desks.online(tx.now),
      wishes: await Promise.all(
        [...parties()].map(async ({ seat }) => preferencesFrom(await tx.desks.preferences(seat))),
      ),
      now: tx.now,
    }));
    if (desks.length > 0) return null;
    for (const preferences of wishes) {
      const verdict = isOutreachShown(sent, preferences, { focused: false }, momentOf(new Date(now)));
      if (!verdict.show) absence = verdict.reason;
      else if (await notifier.reachable(preferences.notify_command)) return null;
    }
    return absence;
  };
}
