/**
 * The board: what this process has on the human's desktop. It shows, gathers a storm into one popup, makes
 * room for the storm of another process, takes down what is settled, and carries a click to the service that
 * every answer goes through.
 */
import { type Popup, promptPopup, STORM, stormPopup } from '../domain/popups.ts';
import { type Preferences, preferencesFrom } from '../domain/preferences.ts';
import type { Prompt } from '../domain/prompts.ts';
import { answerFromPopups } from './popup-answers.ts';
import type { PopupParts, PopupParty } from './popups.ts';
import type { PopupEnd, PopupOutcome, ShownPopup } from './ports.ts';

export interface PopupBoard {
  /** Shows prompts that were claimed together, of a storm that this process then holds; returns before they are on the screen. */
  show(prompts: readonly Prompt[], storm: boolean): void;
  /** Another process shows the storm of the seat: what it stands for goes here. */
  giveWay(): void;
  /** The prompt is settled: its popup goes. */
  takeDown(ask_id: string): void;
  close(): Promise<void>;
}

/** Writes what became of popups on the trail of their prompts; of how many, because nobody had done so. */
export type RecordPopups = (
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

export function createPopupBoard(parts: PopupParts, party: PopupParty, record: RecordPopups): PopupBoard {
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
