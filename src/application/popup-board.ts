/**
 * The board: what this process has on the human's desktop. It shows, gathers a storm into one popup, takes
 * down what is settled, and carries a click to the service that every answer goes through.
 */
import { isTransient } from '../domain/errors.ts';
import { noteArrivals, noticePopup, type Popup, promptPopup, STORM, stormPopup } from '../domain/popups.ts';
import { type Preferences, preferencesFrom } from '../domain/preferences.ts';
import type { Prompt } from '../domain/prompts.ts';
import { excerpt } from '../domain/text.ts';
import { humanOf, type PopupParts, type PopupParty } from './popups.ts';
import type { PopupEnd, PopupOutcome, ShownPopup } from './ports.ts';

export interface PopupBoard {
  /** Shows prompts that were claimed together; returns before they are on the screen. */
  show(prompts: readonly Prompt[]): void;
  /** The prompt is settled: its popup goes. */
  takeDown(ask_id: string): void;
  close(): Promise<void>;
}

/** Writes what became of popups on the trail of their prompts. */
export type RecordPopups = (
  prompts: readonly Prompt[],
  outcome: Exclude<PopupOutcome, 'claimed'>,
  reason: string | null,
  data?: Record<string, unknown>,
) => Promise<void>;

/** One popup on the screen, and the prompts of it that still wait. */
interface Card {
  waiting: Map<string, Prompt>;
  at: number;
  isStorm: boolean;
  shown: Promise<ShownPopup>;
}

/** A storm is shown when nothing more has come for so long. */
const STORM_QUIET_MS = 300;
/** Each popup that can be clicked is a process that waits: beyond so many the oldest goes. */
const MAX_CARDS = 20;
const ANSWER_TRIES = 10;
const ANSWER_RETRY_MS = 1_000;

export function createPopupBoard(
  { store, prompts: service, notifier, log }: PopupParts,
  { seat, human, open }: PopupParty,
  record: RecordPopups,
): PopupBoard {
  const cards = new Set<Card>();
  /** Claimed in a storm and not shown yet, and since when. */
  let gathered: Prompt[] = [];
  let gatheredSince = 0;
  let recent: number[] = [];
  let flush: NodeJS.Timeout | null = null;
  const stopping = new AbortController();
  const working = new Set<Promise<void>>();

  function run(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => log.warn('A popup came to nothing.', { error: String(error) }))
      .finally(() => working.delete(guarded));
    working.add(guarded);
  }

  const readPreferences = async (): Promise<Preferences> =>
    preferencesFrom(await store.read((tx) => tx.desks.preferences(seat)));

  /** Puts a popup on the screen and says why it could not be put there; null when it is. */
  async function put(popup: Popup): Promise<string | null> {
    const waiting = new Map(popup.prompts.map((prompt) => [prompt.ask_id, prompt]));
    const card: Card = {
      waiting,
      at: Date.now(),
      isStorm: popup.kind === 'storm',
      shown: notifier.show(popup),
    };
    cards.add(card);
    const [oldest] = cards;
    if (cards.size > MAX_CARDS && oldest !== undefined) remove(oldest);
    try {
      const { outcome } = await card.shown;
      run(outcome.then((end) => finish(card, popup, end)));
      return null;
    } catch (error) {
      cards.delete(card);
      return error instanceof Error ? error.message : String(error);
    }
  }

  function remove(card: Card): void {
    cards.delete(card);
    card.shown.then(
      (shown) => shown.close(),
      () => undefined,
    );
  }

  async function showOne(prompt: Prompt): Promise<void> {
    const failure = await put(promptPopup(prompt, await readPreferences(), open !== null));
    await record([prompt], failure === null ? 'sent' : 'failed', failure);
  }

  /** Everything of the storm that still waits becomes one popup, together with what it has swallowed before. */
  async function showStorm(): Promise<void> {
    flush = null;
    const arrived = gathered;
    gathered = [];
    const swallowed = [...cards].filter((card) => card.isStorm || card.at > gatheredSince - STORM.window_ms);
    const ids = new Set([
      ...swallowed.flatMap((card) => [...card.waiting.keys()]),
      ...arrived.map((prompt) => prompt.ask_id),
    ]);
    for (const card of swallowed) remove(card);
    const found = await store.read((tx) => Promise.all([...ids].map((ask_id) => tx.prompts.get(ask_id))));
    const pending = found.filter((prompt) => prompt?.status === 'pending') as Prompt[];
    const [first] = pending;
    let failure: string | null = null;
    if (first !== undefined) {
      const preferences = await readPreferences();
      const make = pending.length === 1 ? promptPopup.bind(null, first) : stormPopup.bind(null, pending);
      failure = await put(make(preferences, open !== null));
    }
    const waits = new Set(pending.map((prompt) => prompt.ask_id));
    const shown = arrived.filter((prompt) => waits.has(prompt.ask_id));
    const settled = arrived.filter((prompt) => !waits.has(prompt.ask_id));
    if (shown.length > 0)
      await record(shown, failure === null ? 'sent' : 'failed', failure, { count: pending.length });
    if (settled.length > 0) await record(settled, 'suppressed', 'settled');
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
        if (isTransient(error) && attempt < ANSWER_TRIES && !stopping.signal.aborted) {
          await sleep(ANSWER_RETRY_MS, stopping.signal);
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
    if (stopping.signal.aborted) return;
    const { outcome } = await notifier.show(
      noticePopup(prompt, excerpt(sentence, 400), await readPreferences()),
    );
    run(outcome.then(() => undefined));
  }

  return {
    show(prompts) {
      const now = Date.now();
      const arrivals = noteArrivals(recent, prompts.length, now);
      recent = arrivals.recent;
      if (!arrivals.storm && gathered.length === 0) {
        for (const prompt of prompts) run(showOne(prompt));
        return;
      }
      if (gathered.length === 0) gatheredSince = now;
      gathered.push(...prompts);
      if (flush !== null) clearTimeout(flush);
      const left = gatheredSince + STORM.window_ms - now;
      flush = setTimeout(() => run(showStorm()), Math.max(0, Math.min(STORM_QUIET_MS, left)));
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
        run(record(gathered, 'failed', 'The process that was to show it has ended.'));
      }
      for (const card of cards) remove(card);
      await notifier.close();
      await Promise.all(working);
    },
  };
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
