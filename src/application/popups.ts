/**
 * Popups: which process of a seat shows the popup of a prompt. Each follows the feed and waits its turn:
 * the focused desk none, other desks a little, an agent's own process longer; then a compare-and-set in
 * the store lets one of them have it, once per prompt and seat. What became of it goes on the prompt's trail.
 * A storm is the seat's, too: one process holds it, and claims first as long as it does.
 */

import { HUMAN_ADDRESSEE } from '../domain/actors.ts';
import { isTransient } from '../domain/errors.ts';
import type { HiveEvent } from '../domain/events.ts';
import { concerns, namesOf, userOfSeat } from '../domain/humans.ts';
import type { Absence, Outreach } from '../domain/outreach.ts';
import {
  decide,
  holderUntil,
  isOutreachShown,
  isStormy,
  type MentionOfHuman,
  mentionPopup,
  noteArrivals,
  noticePopup,
  outreachPopup,
  outreachStormPopup,
  type Popup,
  promptPopup,
  STORM,
  type Storm,
  stormPopup,
  type Verdict,
} from '../domain/popups.ts';
import type { SuppressReason } from '../domain/preferences.ts';
import { type Moment, momentOf, type Preferences, preferencesFrom } from '../domain/preferences.ts';
import { isExpired, type Prompt } from '../domain/prompts.ts';
import { HUMAN_HANDLE } from '../domain/sessions.ts';
import { excerpt } from '../domain/text.ts';
import type { Feed } from './feed.ts';
import { deliverMentions } from './mentions.ts';
import type { Audience } from './outreach.ts';
import { settleOutreach } from './outreach.ts';
import type {
  Logger,
  Notifier,
  PopupEnd,
  PopupOutcome,
  ReadTx,
  ShownPopup,
  Store,
  WriteTx,
} from './ports.ts';
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

interface PopupParts {
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
function humanOf({ human, seat }: Pick<PopupParty, 'human' | 'seat'>): string {
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
      debounce: true,
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

// ---------------------------------------------------------------------------
// Claims of popups: in one transaction a process of a seat gets what it is to show, at most once a prompt and
// seat, and learns whether that is a storm. All of it follows from the claims in the store, so that it does not matter
// how many processes serve the seat, nor which of them dies.

/** A claim of which nothing was heard for so long is that of a process that died over it. */
export const LOST_CLAIM_MS = 10_000;

/** What one look at the store gave this process. */
interface Claims {
  /** Claimed now, to be shown. */
  shown: readonly Prompt[];
  /** Not to be had yet, and when to look again (milliseconds since the epoch). */
  again: ReadonlyMap<string, number>;
  /** Whether what is shown belongs to a storm, which this process then holds. */
  storm: boolean;
}

const NOTHING: Claims = { shown: [], again: new Map(), storm: false };

/** Claims the popups of these prompts; `suppress` puts on the trail what is claimed and not wanted. */
async function claimPopups(
  tx: WriteTx,
  ids: readonly string[],
  party: PopupParty,
  suppress: (tx: WriteTx, prompt: Prompt, outcome: 'suppressed', reason: SuppressReason) => Promise<unknown>,
): Promise<Claims> {
  const { seat, name } = party;
  const names = namesOf({ seat, human: humanOf(party) });
  const standing = await tx.popups.storm(seat);
  const clock = Date.parse(tx.now);
  const again = new Map<string, number>();
  if (standing !== null && standing.held_by !== name && clock < holderUntil(standing)) {
    for (const ask_id of ids) again.set(ask_id, Date.now() + holderUntil(standing) - clock);
    return { ...NOTHING, again };
  }
  const preferences = preferencesFrom(await tx.desks.preferences(seat));
  const desks = await tx.desks.online(tx.now);
  const focused = desks.some((desk) => desk.seat === seat && desk.focused);
  const shown: Prompt[] = [];
  for (const ask_id of ids) {
    const prompt = await tx.prompts.get(ask_id);
    if (prompt === undefined || prompt.status !== 'pending' || isExpired(prompt, tx.now)) continue;
    // Another's question pops up there; here once it is escalated.
    if (!concerns(prompt, names, tx.now)) continue;
    if (!(await claimOne(tx, ask_id, party))) {
      // Whoever has it may die before it is on the screen.
      if ((await tx.popups.outcome(ask_id, seat)) === 'claimed')
        again.set(ask_id, Date.now() + LOST_CLAIM_MS);
      continue;
    }
    const verdict = decide(prompt, preferences, { focused }, momentOf(new Date()));
    if (verdict.show) shown.push(prompt);
    else await suppress(tx, prompt, 'suppressed', verdict.reason);
  }
  return { shown, again, storm: await joinStorm(tx, seat, standing, shown) };
}

async function claimOne(tx: WriteTx, ask_id: string, { seat, name }: PopupParty): Promise<boolean> {
  if (await tx.prompts.claimPopup(ask_id, seat, name, tx.now)) return true;
  return tx.popups.takeOver(ask_id, seat, name, tx.now, before(tx, LOST_CLAIM_MS));
}

/** Whether these new claims belong to a storm, and notes so on them. */
async function joinStorm(
  tx: WriteTx,
  seat: string,
  standing: Storm | null,
  claimed: readonly Prompt[],
): Promise<boolean> {
  const latest = claimed
    .map(({ created_at }) => created_at)
    .toSorted()
    .at(-1);
  if (latest === undefined) return false;
  const { count, first } = await tx.popups.recent(seat, before(tx, STORM.window_ms));
  if (!isStormy(standing, count, latest, tx.now)) return false;
  // One that is over stands on the screen as long as something of it waits: it grows into the new one.
  const grows = standing !== null && (await tx.popups.stormWaits(seat, standing));
  const since = grows ? standing.since : (first ?? tx.now);
  for (const { ask_id } of claimed) await tx.popups.joinStorm(ask_id, seat, since);
  return true;
}

function before(tx: WriteTx, ms: number): string {
  return new Date(Date.parse(tx.now) - ms).toISOString();
}

// ---------------------------------------------------------------------------
// The board: what this process has on the human's desktop. It shows, gathers a storm into one popup, makes
// room for the storm of another process, takes down what is settled, and carries a click to the service that
// every answer goes through.

interface PopupBoard {
  /** Shows prompts that were claimed together, of a storm that this process then holds; returns before they are on the screen. */
  show(prompts: readonly Prompt[], storm: boolean): void;
  /** Another process shows the storm of the seat: what it stands for goes here. */
  giveWay(): void;
  /** The prompt is settled: its popup goes. */
  takeDown(ask_id: string): void;
  close(): Promise<void>;
}

/** Writes what became of popups on the trail of their prompts; of how many, because nobody had done so. */
type RecordPopups = (
  prompts: readonly Prompt[],
  outcome: Exclude<PopupOutcome, 'claimed'>,
  reason: string | null,
  data?: Record<string, unknown>,
) => Promise<number>;

/** One popup on the screen, and the prompts of it that still wait. */
interface Card {
  waiting: Map<string, Prompt>;
  shown: Promise<ShownPopup>;
}

/** A storm is shown when nothing more has come for so long. */
const STORM_QUIET_MS = 300;
/** Each popup that can be clicked is a process that waits: beyond so many the oldest goes. */
const MAX_CARDS = 20;
/** Why claimed popups were not shown, on the trail. */
const ENDED = 'The process that was to show it has ended.';

function createPopupBoard(parts: PopupParts, party: PopupParty, record: RecordPopups): PopupBoard {
  const { store, notifier, log } = parts;
  const { seat, name, open } = party;
  const cards = new Set<Card>();
  /** Claimed in a storm and not shown yet, and since when. */
  let gathered: Prompt[] = [];
  let gatheredSince = 0;
  let flush: NodeJS.Timeout | null = null;
  const stopping = new AbortController();
  const answer = answerFromPopups(parts, party, stopping.signal);
  const working = new Set<Promise<void>>();

  function run(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => log.warn('A popup came to nothing.', { error: String(error) }))
      .finally(() => working.delete(guarded));
    working.add(guarded);
  }

  const readPreferences = async (): Promise<Preferences> =>
    preferencesFrom(await store.read((tx) => tx.desks.preferences(seat)));

  /** Puts a popup on the screen; it can be taken down from now on. `failure` says why it could not be put there. */
  async function put(
    prompts: readonly Prompt[],
    make: (preferences: Preferences) => Popup | Promise<Popup>,
  ): Promise<{ card: Card; failure: string | null }> {
    let popup: Popup | undefined;
    const shown = readPreferences().then(async (preferences) => {
      if (stopping.signal.aborted) throw new Error(ENDED);
      popup = await make(preferences);
      return notifier.show(popup);
    });
    const card: Card = { waiting: new Map(prompts.map((prompt) => [prompt.ask_id, prompt])), shown };
    cards.add(card);
    const [oldest] = cards;
    if (cards.size > MAX_CARDS && oldest !== undefined) remove(oldest);
    try {
      const { outcome } = await shown;
      run(outcome.then((end) => popup && finish(card, popup, end)));
      return { card, failure: null };
    } catch (error) {
      cards.delete(card);
      return { card, failure: error instanceof Error ? error.message : String(error) };
    }
  }

  function remove(card: Card): void {
    cards.delete(card);
    card.shown.then(
      (shown) => shown.close(),
      () => undefined,
    );
  }

  /** A prompt whose options are the buttons of a card shows that card. */
  const popupOf = async (prompt: Prompt, wishes: Preferences): Promise<Popup> =>
    promptPopup(prompt, wishes, open !== null, await store.read((tx) => tx.outreach.byPrompt(prompt.ask_id)));

  async function showOne(prompt: Prompt): Promise<void> {
    const { card, failure } = await put([prompt], (wishes) => popupOf(prompt, wishes));
    const recorded = await record([prompt], failure === null ? 'sent' : 'failed', failure);
    // Meanwhile a storm has taken it up, here or elsewhere: that is its popup.
    if (recorded === 0) remove(card);
  }

  /** Everything of the seat's storm that still waits becomes one popup, also what other processes have claimed. */
  async function showStorm(): Promise<void> {
    flush = null;
    const arrived = gathered;
    gathered = [];
    const { storm, found } = await store.read(async (tx) => {
      const storm = await tx.popups.storm(seat);
      const claims = storm?.held_by === name ? await tx.popups.inStorm(seat, storm) : [];
      const found = await Promise.all(
        claims.map(async ({ ask_id, outcome }) => ({ outcome, prompt: await tx.prompts.get(ask_id) })),
      );
      return { storm, found };
    });
    // Lost to another process, which found this one hanging and counts what was gathered here.
    if (storm?.held_by !== name) return;
    const unshown = found.flatMap(({ prompt, outcome }) => (prompt && outcome === 'claimed' ? [prompt] : []));
    const pending = found.flatMap(({ prompt }) => prompt ?? []);
    const waits = new Set(pending.map((prompt) => prompt.ask_id));
    const settled = arrived.filter((prompt) => !waits.has(prompt.ask_id));
    if (settled.length > 0) await record(settled, 'suppressed', 'settled');
    const [first] = pending;
    if (first === undefined || unshown.length === 0) return;
    clear(waits);
    const { failure } = await put(pending, (wishes) =>
      pending.length === 1 ? popupOf(first, wishes) : stormPopup(pending, wishes, open !== null),
    );
    const count = pending.length;
    if (failure === null) await record(unshown, 'sent', null, { count });
    // Of others' prompts nothing is said: they may be on the screen.
    else await record(arrived, 'failed', failure, { count });
    await makeRoom();
  }

  /** Takes down what a storm's one popup stands for. */
  function clear(inStorm: ReadonlySet<string>): void {
    for (const card of cards)
      if ([...card.waiting.keys()].some((ask_id) => inStorm.has(ask_id))) remove(card);
  }

  async function makeRoom(): Promise<void> {
    const claims = await store.read(async (tx) => {
      const storm = await tx.popups.storm(seat);
      return storm === null || storm.held_by === name ? [] : tx.popups.inStorm(seat, storm);
    });
    clear(new Set(claims.map(({ ask_id }) => ask_id)));
  }

  async function finish(card: Card, popup: Popup, end: PopupEnd): Promise<void> {
    cards.delete(card);
    const prompt = card.waiting.values().next().value ?? popup.prompts[0];
    // A popup that was closed, ignored or timed out decides nothing (invariant 3).
    if (prompt === undefined || end.kind === 'closed') return;
    if (end.kind === 'opened') return open?.(prompt.ask_id);
    const label = popup.buttons[end.index];
    if (label !== undefined) await answer(prompt, label);
  }

  return {
    show(prompts, storm) {
      if (!storm) {
        for (const prompt of prompts) run(showOne(prompt));
        return;
      }
      const now = Date.now();
      if (gathered.length === 0) gatheredSince = now;
      gathered.push(...prompts);
      if (flush !== null) clearTimeout(flush);
      const left = gatheredSince + STORM.window_ms - now;
      flush = setTimeout(() => run(showStorm()), Math.max(0, Math.min(STORM_QUIET_MS, left)));
    },

    giveWay() {
      run(makeRoom());
    },

    takeDown(ask_id) {
      for (const card of cards) {
        if (card.waiting.delete(ask_id) && card.waiting.size === 0) remove(card);
      }
    },

    async close() {
      stopping.abort();
      if (flush !== null) {
        clearTimeout(flush);
        run(record(gathered, 'failed', ENDED).then(() => undefined));
      }
      for (const card of cards) remove(card);
      await notifier.close();
      // What was on its way to the screen is taken down as soon as it stands, and that is waited for as well.
      while (working.size > 0) await Promise.all(working);
    },
  };
}

// ---------------------------------------------------------------------------
// An answer that was clicked on a popup goes to the service that every answer goes through; a click that did
// not become the answer is told to the person.

const ANSWER_TRIES = 10;
const ANSWER_RETRY_MS = 1_000;

/** Gives what answers with the label of a button; it resolves when everything about that is said. */
function answerFromPopups(
  { store, prompts: service, notifier, log }: PopupParts,
  { seat, human }: PopupParty,
  stopping: AbortSignal,
): (prompt: Prompt, label: string) => Promise<void> {
  const readPreferences = async (): Promise<Preferences> =>
    preferencesFrom(await store.read((tx) => tx.desks.preferences(seat)));

  async function answer(prompt: Prompt, label: string): Promise<void> {
    const response_id = `popup-${crypto.randomUUID()}`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { popup_permissions } = await readPreferences();
        const { outcome, prompt: standing } = await service.respond({
          ask_id: prompt.ask_id,
          selected: [label],
          response_id,
          actor: {
            kind: 'human',
            by: humanOf({ human, seat }),
            via: 'notification',
            confirmed: popup_permissions,
          },
        });
        if (outcome === 'lost')
          await tell(prompt, `${standing.by ?? 'Somebody'} answered "${standing.decision ?? ''}" before.`);
        if (outcome === 'late')
          await tell(
            prompt,
            `It was ${standing.status} before; "${label}" is kept as a late answer for the agent.`,
          );
        return;
      } catch (error) {
        // The person has clicked and believes it done: a busy store is tried again, anything else is said.
        if (isTransient(error) && attempt < ANSWER_TRIES && !stopping.aborted) {
          await sleep(ANSWER_RETRY_MS, stopping);
          continue;
        }
        log.warn('An answer from a popup was not taken.', { ask_id: prompt.ask_id, error: String(error) });
        await tell(
          prompt,
          `"${label}" was not taken: ${error instanceof Error ? error.message : String(error)}`,
        );
        return;
      }
    }
  }

  async function tell(prompt: Prompt, sentence: string): Promise<void> {
    if (stopping.aborted) return;
    const { outcome } = await notifier.show(
      noticePopup(prompt, excerpt(sentence, 400), await readPreferences()),
    );
    await outcome;
  }

  return answer;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

// ---------------------------------------------------------------------------
// Popups of what only wants to be seen: pings, cards, mentions of the human. As with those of prompts
// (popups.ts) the desks of a seat go first and one process has it, once a seat; what became of it is settled
// by its kind. Many at once are one popup.

/** What became of a popup. */
type Became = { outcome: 'sent' } | { outcome: 'suppressed' | 'failed'; reason: string };

/** One kind of thing that is announced. */
interface Announced<T> {
  /** The id of what an event says has come; null for any other event. */
  arrived(event: HiveEvent): string | null;
  /** The thing, as long as a popup of it makes sense. */
  find(tx: ReadTx, id: string): Promise<T | undefined>;
  idOf(item: T): string;
  verdict(item: T, preferences: Preferences, seat: { focused: boolean }, moment: Moment): Verdict;
  /** One popup for one or many. */
  popup(items: readonly [T, ...T[]], preferences: Preferences): Popup;
  /** `alone`: no desk is open, so that nobody else shows it. */
  settle(tx: WriteTx, id: string, became: Became, alone: boolean): Promise<void>;
}
/** How long to wait after the store refused. */
const RETRY_MS = 1_000;
const TRIES = 10;

/** Runs until the returned function is called. */
function startAnnouncements<T>(
  { store, feed, notifier, log }: Pick<PopupParts, 'store' | 'feed' | 'notifier' | 'log'>,
  party: PopupParty,
  kind: Announced<T>,
): () => Promise<void> {
  const { seat, name } = party;
  const timers = new Set<NodeJS.Timeout>();
  const working = new Set<Promise<void>>();
  let recent: number[] = [];
  /** Claimed in a storm and not shown yet. */
  let gathered: T[] = [];
  let stopped = false;

  function run(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => log.warn('A popup came to nothing.', { error: String(error) }))
      .finally(() => working.delete(guarded));
    working.add(guarded);
  }

  function after(ms: number, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!stopped) run(work());
    }, ms);
    timers.add(timer);
  }

  async function claimAndShow(ids: readonly string[], tries = TRIES): Promise<void> {
    try {
      // A look costs no lock: mostly another process of the seat was first.
      const items = await store.read((tx) => Promise.all(ids.map((id) => kind.find(tx, id))));
      if (items.some((item) => item !== undefined)) show(await store.write((tx) => claim(tx, ids)));
    } catch (error) {
      if (tries <= 1) throw error;
      after(RETRY_MS, () => claimAndShow(ids, tries - 1));
    }
  }

  /** Those that this process is to show. Emacs may have said them already: the popup is beside that. */
  async function claim(tx: WriteTx, ids: readonly string[]): Promise<T[]> {
    const preferences = preferencesFrom(await tx.desks.preferences(seat));
    const desks = await tx.desks.online(tx.now);
    const focused = desks.some((desk) => desk.seat === seat && desk.focused);
    const claimed: T[] = [];
    for (const id of ids) {
      const item = await kind.find(tx, id);
      if (item === undefined || !(await tx.prompts.claimPopup(id, seat, name, tx.now))) continue;
      const verdict = kind.verdict(item, preferences, { focused }, momentOf(new Date(tx.now)));
      if (verdict.show) claimed.push(item);
      else await settle(tx, id, { outcome: 'suppressed', reason: verdict.reason }, desks.length === 0);
    }
    return claimed;
  }

  async function settle(tx: WriteTx, id: string, became: Became, alone: boolean): Promise<void> {
    const reason = became.outcome === 'sent' ? null : became.reason;
    await tx.prompts.setPopupOutcome(id, seat, became.outcome, reason);
    await kind.settle(tx, id, became, alone);
  }

  function show(items: readonly T[]): void {
    if (items.length === 0) return;
    const arrivals = noteArrivals(recent, items.length, Date.now());
    recent = arrivals.recent;
    if (!arrivals.storm && gathered.length === 0) {
      for (const item of items) run(put([item]));
      return;
    }
    if (gathered.length === 0) after(STORM.window_ms, showStorm);
    gathered.push(...items);
  }

  async function showStorm(): Promise<void> {
    const items = gathered;
    gathered = [];
    await put(items);
  }

  async function put([first, ...more]: readonly T[]): Promise<void> {
    if (first === undefined) return;
    const preferences = preferencesFrom(await store.read((tx) => tx.desks.preferences(seat)));
    let became: Became = { outcome: 'sent' };
    try {
      await notifier.show(kind.popup([first, ...more], preferences));
    } catch (error) {
      became = { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
    await store.write(async (tx) => {
      const alone = (await tx.desks.online(tx.now)).length === 0;
      for (const item of [first, ...more]) await settle(tx, kind.idOf(item), became, alone);
    });
  }

  const following = (async () => {
    const cursor = party.cursor ?? (await store.read((tx) => tx.events.head()));
    return feed.follow({
      cursor,
      debounce: true,
      async onEvents(events) {
        const arrived = events.flatMap((event) => kind.arrived(event) ?? []);
        if (arrived.length === 0) return;
        const patience = await patienceOf(store, party);
        for (let from = 0; from < arrived.length; from += BATCH)
          after(patience, () => claimAndShow(arrived.slice(from, from + BATCH)));
      },
      // What was lost sight of stands in the list; a popup for it now would be old news.
      onResync: async () => undefined,
    });
  })();
  following.catch((error: unknown) => log.warn('Popups could not be started.', { error: String(error) }));

  return async () => {
    stopped = true;
    for (const timer of timers) clearTimeout(timer);
    const unfollow = await following.catch(() => null);
    await unfollow?.();
    await Promise.all(working);
  };
}

// ---------------------------------------------------------------------------
// Popups of mentions of the human: each once a seat, as its wishes have it.

async function findOpen(tx: ReadTx, mention_id: string): Promise<MentionOfHuman | undefined> {
  const mention = await tx.mentions.get(mention_id);
  if (mention?.session_id !== HUMAN_ADDRESSEE || mention.status !== 'unprocessed') return undefined;
  const author =
    mention.from_session_id === null ? undefined : await tx.sessions.get(mention.from_session_id);
  return { ...mention, source: author?.source ?? 'main' };
}

function mentionsOfHuman(seat: string): Announced<MentionOfHuman> {
  return {
    arrived: ({ type, subject, data }) =>
      type === 'mention/created' && data['handle'] === HUMAN_HANDLE ? subject : null,
    find: findOpen,
    idOf: (mention) => mention.mention_id,
    verdict: ({ priority, project, project_dir }, preferences, where, moment) =>
      decide(
        {
          urgency: priority === 'urgent' ? 'critical' : 'normal',
          project: project ?? '',
          project_dir: project_dir ?? '',
        },
        preferences,
        where,
        moment,
      ),
    popup: mentionPopup,
    async settle(tx, mention_id, became) {
      const mention = became.outcome === 'sent' ? await findOpen(tx, mention_id) : undefined;
      if (mention !== undefined) await deliverMentions(tx, [mention], `popup:${seat}`);
    },
  };
}

/** Runs until the returned function is called. */
export function startMentionPopups(
  parts: Pick<PopupParts, 'store' | 'feed' | 'notifier' | 'log'>,
  party: PopupParty,
): () => Promise<void> {
  return startAnnouncements(parts, party, mentionsOfHuman(party.seat));
}

// ---------------------------------------------------------------------------
// Popups of pings and of cards without buttons (announcements.ts); what became of one settles the ping.
// A card with buttons is shown by its prompt.

const SENT: Announced<Outreach> = {
  arrived: ({ type, subject, data }) =>
    (type === 'outreach/sent' || type === 'outreach/unseen') &&
    data['kind'] !== 'report' &&
    data['ask_id'] === null
      ? subject
      : null,
  async find(tx, outreach_id) {
    const item = await tx.outreach.get(outreach_id);
    const waits = item?.status === 'sent' || item?.status === 'shown' || item?.status === 'unseen';
    return waits ? item : undefined;
  },
  idOf: (item) => item.outreach_id,
  verdict: isOutreachShown,
  popup: (items, preferences) =>
    items.length === 1 ? outreachPopup(items[0], preferences) : outreachStormPopup(items, preferences),
  async settle(tx, outreach_id, became, alone) {
    if (became.outcome === 'sent') {
      await settleOutreach(tx, outreach_id, { status: 'shown', shown_via: 'notification' });
      return;
    }
    // With a desk open Emacs shows it; with none this was the only way.
    if (alone) await settleOutreach(tx, outreach_id, { status: 'unseen', reason: became.reason });
  },
};

/** Runs until the returned function is called. */
export function startOutreachPopups(
  parts: Pick<PopupParts, 'store' | 'feed' | 'notifier' | 'log'>,
  party: PopupParty,
): () => Promise<void> {
  const stopAnnouncing = startAnnouncements(parts, party, SENT);
  const stopCards = settleCards(parts, party);
  return async () => {
    await stopAnnouncing();
    await stopCards();
  };
}

/** The popup of its prompt showed a card that has buttons. */
function settleCards(
  { store, feed, log }: Pick<PopupParts, 'store' | 'feed' | 'log'>,
  { name, cursor }: PopupParty,
): () => Promise<void> {
  const following = (async () => {
    return feed.follow({
      debounce: true,
      cursor: cursor ?? (await store.read((tx) => tx.events.head())),
      async onEvents(events) {
        for (const { type, subject, data } of events) {
          const shown = type === 'prompt/popup' && data['claimed_by'] === name && data['outcome'] === 'sent';
          if (shown && subject !== null) await settleCard(store, subject);
        }
      },
      onResync: async () => undefined,
    });
  })();
  following.catch((error: unknown) => log.warn('Cards could not be followed.', { error: String(error) }));
  return async () => {
    const unfollow = await following.catch(() => null);
    await unfollow?.();
  };
}

async function settleCard(store: Store, ask_id: string): Promise<void> {
  const card = await store.read((tx) => tx.outreach.byPrompt(ask_id));
  if (card?.status !== 'sent' && card?.status !== 'unseen') return;
  const where = { status: 'shown', shown_via: 'notification' } as const;
  await store.write((tx) => settleOutreach(tx, card.outreach_id, where));
}

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
