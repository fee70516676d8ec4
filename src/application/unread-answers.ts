/**
 * Answers that could not be accepted, because they are malformed or match no question. A human wrote them, so they are kept as
 * received, every desk is notified, and the doctor shows them until their question is answered or a week has passed.
 */
import type { HiveEvent } from '../domain/events.ts';
import { cleanDeep, cleanText, excerpt, isTooDeep } from '../domain/text.ts';
import { giveNotice } from './notices.ts';
import type { ReadTx, Store } from './ports.ts';
import { type Check, checkBroken } from './world.ts';

/** An answer as it was received. */
export interface UnreadAnswer {
  /** Its origin; the same answer from the same origin is kept once. */
  from: string;
  /** The answer as it was sent. */
  params: unknown;
  /** A sentence that says why it, or a part of it, could not be accepted. */
  reason: string;
  /** Whether the answer itself was accepted, and only a part of it was not. */
  taken?: boolean;
  /** Whether its sender got an error. */
  sender_told: boolean;
}

/** The mark of the notice, for programs. */
const NOTICE = 'unread_answer';
/** In characters: longer than the longest answer with its comment. Longer text is cut. */
const MOST_KEPT = 160 * 1024;
/** How many notices are searched for the same answer, because repeated frames come close together. */
const LOOKED_BACK = 100;
const SHOWN_MS = 7 * 24 * 60 * 60 * 1_000;
/** How many notices the doctor reads at once, and how many answers it shows. */
const PAGE = 200;
const MOST_SHOWN = 10;

export function createUnreadAnswers(store: Store) {
  return {
    /** Keeps an answer; resolves when it is on disk. */
    keep: ({ from, params, reason, taken = false, sender_told }: UnreadAnswer): Promise<void> =>
      store.write(async (tx) => {
        const sent = written(params);
        const ask_id = askIdIn(params);
        const before = await tx.events.notices(LOOKED_BACK);
        const again = before.some(
          ({ data }) => data['notice'] === NOTICE && data['from'] === from && data['sent'] === sent,
        );
        if (again) return;
        const answer = `answer${ask_id === null ? '' : ` to ${ask_id}`}`;
        await giveNotice(tx, {
          severity: taken ? 'warning' : 'error',
          text: taken
            ? `An ${answer} was accepted, but not all of it. ${reason} M-x hive-notices shows what was sent.`
            : `An ${answer} could not be accepted. ${reason} It is kept: M-x hive-notices and hive doctor show it. Please answer again.`,
          data: { notice: NOTICE, ask_id, from, sent, taken, sender_told },
        });
      }),
  };
}

/** The answer as storable JSON. */
function written(params: unknown): string {
  if (isTooDeep(params)) return 'something that is nested too deeply to be written down';
  const text = JSON.stringify(cleanDeep(params)) ?? 'nothing';
  return text.length <= MOST_KEPT ? text : `${text.slice(0, MOST_KEPT).toWellFormed()}…`;
}

/** The ask_id in an answer; null if there is none. */
function askIdIn(params: unknown): string | null {
  if (params === null || typeof params !== 'object') return null;
  const found = Object.entries(params).find(
    ([name]) => name.toLowerCase().replaceAll(/[-_]/g, '') === 'askid',
  );
  return typeof found?.[1] === 'string' && found[1] !== '' ? excerpt(cleanText(found[1]), 200) : null;
}

/** The doctor's checks, one for each answer that still needs attention. */
export async function checkUnreadAnswers(store: Store): Promise<Check[]> {
  return store.read(async (tx) => {
    const open: HiveEvent[] = [];
    let before: number | undefined;
    for (;;) {
      const notices = await tx.events.notices(PAGE, before);
      const young = notices.filter(({ at }) => Date.parse(tx.now) - Date.parse(at) < SHOWN_MS);
      for (const notice of young) if (await asksForMore(tx, notice)) open.push(notice);
      if (young.length < PAGE) break;
      before = notices.at(-1)?.seq;
    }
    return open.slice(0, MOST_SHOWN).map(toCheck);
  });
}

async function asksForMore(tx: ReadTx, { data }: HiveEvent): Promise<boolean> {
  if (data['notice'] !== NOTICE || data['taken'] === true) return false;
  const prompt = typeof data['ask_id'] === 'string' ? await tx.prompts.get(data['ask_id']) : undefined;
  return prompt === undefined || prompt.status === 'pending';
}

function toCheck({ at, data }: HiveEvent): Check {
  const ask_id = typeof data['ask_id'] === 'string' ? data['ask_id'] : null;
  const about = ask_id === null ? '' : ` to ${ask_id}`;
  const text = `one${about} of ${at} could not be accepted: ${excerpt(String(data['sent']), 300)}`;
  const advice =
    ask_id === null
      ? 'find its question with hive list, and answer again; M-x hive-notices shows it in full'
      : `answer again: hive respond ${ask_id}, or in Emacs; M-x hive-notices shows it in full`;
  return checkBroken('Answer', text, advice);
}
