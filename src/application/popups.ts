/**
 * Popups: which process of a seat shows the popup of a prompt. Each follows the feed and waits its turn:
 * the focused desk none, other desks a little, an agent's own process longer; then a compare-and-set in
 * the store lets one of them have it, once per prompt and seat. What became of it goes on the prompt's trail.
 * A storm is the seat's, too: one process holds it, and claims first as long as it does.
 */
import { userOfSeat } from '../domain/desks.ts';
import type { HiveEvent } from '../domain/events.ts';
import { concerns, namesOf } from '../domain/humans.ts';
import type { SuppressReason } from '../domain/popups.ts';
import type { Prompt } from '../domain/prompts.ts';
import type { Feed } from './feed.ts';
import { createPopupBoard } from './popup-board.ts';
import { claimPopups, NOTHING } from './popup-claims.ts';
import type { Logger, Notifier, PopupOutcome, Store, WriteTx } from './ports.ts';
import type { PromptService } from './prompts.ts';
import { createRetries } from './retries.ts';

/** Who shows popups in this process. */
export interface PopupParty {
  /** Machine and user. */
  seat: string;
  /** What the human of the seat is called; default: as they have logged in. */
  human?: string | undefined;
  /** Who claims, for the trail: a desk, or a connection of an agent. */
  name: string;
  /** The desk of this process; null when there is none, which lets every desk of the seat go first. */
  desk_id: string | null;
  /** Opens a prompt where the human sits; null when this process has no such place. */
  open: ((ask_id: string) => Promise<void>) | null;
  /** Where to begin in the feed; the head of now when missing. */
  cursor?: number | undefined;
}

export interface PopupParts {
  store: Store;
  feed: Feed;
  prompts: PromptService;
  notifier: Notifier;
  log: Logger;
}

/** How long a desk lets the focused one go first. */
export const OTHER_DESK_MS = 300;
/** How long a process without a desk lets the desks go first. */
export const NO_DESK_MS = 2_000;
/** How many prompts one transaction claims or records. */
const BATCH = 100;

/** After these a prompt wants to be seen: it is new, or is everybody's now. */
const SHOWS: ReadonlySet<string> = new Set(['prompt/created', 'prompt/escalated']);
const SETTLES: ReadonlySet<string> = new Set(['prompt/responded', 'prompt/expired', 'prompt/cancelled']);

/** In whose name this party acts. */
export function humanOf({ human, seat }: Pick<PopupParty, 'human' | 'seat'>): string {
  return human ?? userOfSeat(seat);
}

/** How long this process lets others go first. */
export async function patienceOf(store: Store, { seat, desk_id }: PopupParty): Promise<number> {
  if (desk_id === null) return NO_DESK_MS;
  const desks = await store.read((tx) => tx.desks.online(tx.now));
  const focused = desks.filter((desk) => desk.seat === seat && desk.focused);
  return focused.length === 0 || focused.some((desk) => desk.desk_id === desk_id) ? 0 : OTHER_DESK_MS;
}

/** Runs until the returned function is called, which takes down what is still shown. */
export function startPopups(parts: PopupParts, party: PopupParty): () => Promise<void> {
  const { store, feed, log } = parts;
  const { seat, name } = party;
  const names = namesOf({ seat, human: humanOf(party) });
  const due = new Map<string, number>();
  const board = createPopupBoard(parts, party, async (prompts, outcome, reason, data) => {
    // A storm of thousands must not keep everybody else from the store for its whole length.
    let recorded = 0;
    for (let from = 0; from < prompts.length; from += BATCH)
      recorded += await store.write(async (tx) => {
        let count = 0;
        for (const prompt of prompts.slice(from, from + BATCH))
          if (await record(tx, prompt, outcome, reason, data)) count += 1;
        return count;
      });
    return recorded;
  });
  const retries = createRetries(log, {
    fails: 'Popups could not be claimed and will be tried again.',
    works: 'Popups can be claimed again.',
  });
  let timer: NodeJS.Timeout | null = null;
  let claiming: Promise<void> = Promise.resolve();
  let stopped = false;

  /** Once a claim: false when another process has done so, whose storm it went into. */
  async function record(
    tx: WriteTx,
    prompt: Prompt,
    outcome: Exclude<PopupOutcome, 'claimed'>,
    reason: SuppressReason | string | null,
    data: Record<string, unknown> = {},
  ): Promise<boolean> {
    if (!(await tx.prompts.setPopupOutcome(prompt.ask_id, seat, outcome, reason))) return false;
    await tx.events.append({
      type: 'prompt/popup',
      session_id: prompt.session_id,
      subject: prompt.ask_id,
      data: { outcome, reason, seat, claimed_by: name, ...data },
    });
    return true;
  }

  function schedule(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (stopped || due.size === 0) return;
    let next = Number.POSITIVE_INFINITY;
    for (const at of due.values()) next = Math.min(next, at);
    timer = setTimeout(
      () => {
        timer = null;
        claiming = claiming.then(claimDue).catch((error: unknown) => {
          const later = Date.now() + retries.failed(error);
          for (const [ask_id, at] of due) due.set(ask_id, Math.max(at, later));
          schedule();
        });
      },
      Math.max(0, next - Date.now()),
    );
  }

  async function claimDue(): Promise<void> {
    if (stopped) return;
    const now = Date.now();
    const ids = [...due]
      .filter(([, at]) => at <= now)
      .map(([ask_id]) => ask_id)
      .slice(0, BATCH);
    // A look costs no lock: most processes of a seat find that another was first, or that it is answered.
    const waits = await store.read(async (tx) => {
      const found = await Promise.all(ids.map((ask_id) => tx.prompts.get(ask_id)));
      return found.some((prompt) => prompt?.status === 'pending' && concerns(prompt, names, tx.now));
    });
    const { shown, again, storm } = waits
      ? await store.write((tx) => claimPopups(tx, ids, party, record))
      : NOTHING;
    retries.worked();
    for (const ask_id of ids) {
      const at = again.get(ask_id);
      if (at === undefined) due.delete(ask_id);
      else due.set(ask_id, at);
    }
    schedule();
    if (shown.length > 0) board.show(shown, storm);
  }

  function isStormOfAnother({ type, data }: HiveEvent): boolean {
    if (type !== 'prompt/popup' || data['seat'] !== seat || data['claimed_by'] === name) return false;
    return data['count'] !== undefined && data['outcome'] === 'sent';
  }

  const following = (async () => {
    const cursor = party.cursor ?? (await store.read((tx) => tx.events.head()));
    return feed.follow({
      cursor,
      calm: true,
      async onEvents(events) {
        const created = events.filter((event) => SHOWS.has(event.type));
        const at = created.length === 0 ? 0 : Date.now() + (await patienceOf(store, party));
        for (const { type, subject, data } of events) {
          if (subject === null) continue;
          if (SHOWS.has(type)) due.set(subject, at);
          if (SETTLES.has(type)) board.takeDown(subject);
          if (SETTLES.has(type) || (type === 'prompt/popup' && data['seat'] === seat)) due.delete(subject);
        }
        schedule();
        if (events.some(isStormOfAnother)) board.giveWay();
      },
      // What was lost sight of waits in the list; a popup for it now would be old news.
      onResync: async () => undefined,
    });
  })();
  following.catch((error: unknown) => log.warn('Popups could not be started.', { error: String(error) }));

  return async () => {
    stopped = true;
    if (timer !== null) clearTimeout(timer);
    const unfollow = await following.catch(() => null);
    await unfollow?.();
    // What is being claimed at this moment still comes to the board, which is to see it through.
    await claiming;
    await board.close();
  };
}
