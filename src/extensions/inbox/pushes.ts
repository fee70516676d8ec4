/**
 * Pushes: the subjects that a phone is notified of through Web Push, and when. Pure. A push is a popup of the device, so
 * popups.ts decides whether it is shown at all, and about storms. The service worker of the page shows it.
 */

import type { PushTarget } from '../../domain/devices.ts';
import { revealed } from '../../domain/display.ts';
import { type Popup, type PopupKind, screenOf } from '../../domain/popups.ts';
import type { Preferences } from '../../domain/preferences.ts';
import type { Urgency } from '../../domain/prompts.ts';
import { calledBy } from '../../domain/sources.ts';
import { excerpt } from '../../domain/text.ts';

/** The content of a push, as JSON: something to show, or the tags of notifications to remove. */
export interface PushMessage {
  show: PushedPopup | null;
  close: readonly string[];
}

/** A notification on the phone. It replaces one with the same tag. */
export interface PushedPopup {
  tag: string;
  /** Its subject; `storm`: many questions and permissions. */
  kind: 'question' | 'permission' | 'storm' | 'outreach' | 'mention';
  /** The prompt that it is about, if it is about one. */
  ask_id: string | null;
  /** The screen of the page that a tap opens. */
  screen: string;
  agent: string | null;
  title: string;
  body: string;
  /** The options of a question, if they all fit; pressing one answers. */
  buttons: readonly string[];
  critical: boolean;
}

/** Sends encrypted pushes to phones. */
export interface PushSender {
  /** The public key of this hive, which a page subscribes with: base64url. */
  readonly key: string;
  /** Why nothing may be sent there, as a sentence; null if it may. */
  refusal(target: PushTarget): string | null;
  /** One try; never rejects. */
  send(target: PushTarget, message: PushMessage, signal: AbortSignal): Promise<PushReply>;
}

/** The most buttons that phones show. */
const MOST_BUTTONS = 2;
const LONGEST_BUTTON = 60;
const LONGEST_TITLE = 120;
const LONGEST_BODY = 300;
/**
 * Every push service accepts 4,096 bytes, encrypted (RFC 8030, 7.2); encryption adds 103. The texts above are
 * shorter, unless all of them are written in characters of four bytes.
 */
export const MOST_PUSH_BYTES = 3_500;
const DAY_S = 86_400;
/** The tag of the one notification for many of a kind. */
export const STORM_TAGS = { prompt: 'storm', outreach: 'outreach-storm', mention: 'mention-storm' } as const;

/** The push of a popup. */
export function pushOf(popup: Popup): PushMessage {
  const { kind, subject, title, body, buttons, urgency, prompts } = popup;
  const single = subject === null ? null : (prompts[0] ?? null);
  const about = kind === 'outreach' || kind === 'mention' ? kind : 'prompt';
  const show: PushedPopup = {
    tag: subject ?? STORM_TAGS[about],
    kind: about === 'prompt' ? (single?.kind ?? 'storm') : about,
    ask_id: single?.ask_id ?? null,
    screen: screenOf(popup),
    agent: single === null ? null : revealed(excerpt(calledBy(single), LONGEST_BUTTON)),
    title: revealed(excerpt(title, LONGEST_TITLE)),
    body: revealed(lines(body)),
    buttons: single?.kind === 'question' ? fitting(buttons) : [],
    critical: urgency === 'critical',
  };
  return { show: shortened(show), close: [] };
}

/** Takes back what was shown under these tags. */
export function closingOf(tags: readonly string[]): PushMessage {
  return { show: null, close: tags };
}

/** A storm's popup has a line for each agent. */
function lines(body: string): string {
  const kept = body.split('\n').map((line) => excerpt(line, LONGEST_BODY));
  const text = kept.join('\n');
  return Array.from(text).length <= LONGEST_BODY ? text : excerpt(text, LONGEST_BODY);
}

/** The labels, if a phone shows all of them exactly as they are; otherwise none, because the human would not see every option. */
function fitting(labels: readonly string[]): readonly string[] {
  const fits = (label: string): boolean =>
    Array.from(label).length <= LONGEST_BUTTON && revealed(label) === label && !/[\t\n]/.test(label);
  return labels.length <= MOST_BUTTONS && labels.every(fits) ? labels : [];
}

function shortened(show: PushedPopup): PushedPopup {
  let length = LONGEST_BODY;
  let fits = show;
  while (bytesOf({ show: fits, close: [] }) > MOST_PUSH_BYTES && length > 1) {
    length = Math.floor(length / 2);
    const shorter = (text: string): string => revealed(excerpt(text, length));
    fits = {
      ...fits,
      title: shorter(show.title),
      body: shorter(show.body),
      agent: show.agent === null ? null : shorter(show.agent),
    };
  }
  return fits;
}

function bytesOf(message: PushMessage): number {
  return new TextEncoder().encode(JSON.stringify(message)).length;
}

/**
 * How a push service treats a push. `ttl_s`: for how many seconds it keeps the push while the phone cannot be reached. A later push
 * with the same `topic` replaces one that was not delivered yet, so taking something back replaces a push that has not arrived.
 */
export function deliveryOf({ show, close }: PushMessage) {
  const tag = show?.tag ?? (close.length === 1 ? (close[0] ?? '') : '');
  return {
    ttl_s: DAY_S,
    urgency: show?.critical === true ? ('high' as const) : ('normal' as const),
    topic: /^[A-Za-z0-9_-]{1,32}$/.test(tag) ? tag : null,
  };
}

// ---- When ----

/** The desks of a human. */
export interface Attendance {
  /** Whether one of them has the focus now. */
  attended: boolean;
  /** When one of them was last seen with the focus, in ms by the clock of `msUntilPush`; null for never. */
  last_ms: number | null;
}

/** A subject to push, its age, and the state of the desks. */
export interface PushCase {
  kind: PopupKind;
  urgency: Urgency;
  age_ms: number;
  attendance: Attendance;
}

/**
 * In how many ms something may be pushed; 0 is now, null is never. A ping or a card that came while its human was at a desk,
 * or before they came back to one, was announced there, and nothing about it stays open. The clock of `now_ms` is never set.
 */
export function msUntilPush(
  { kind, urgency, age_ms, attendance: { attended, last_ms } }: PushCase,
  { phone_after }: Pick<Preferences, 'phone_after'>,
  now_ms: number,
): number | null {
  if (urgency === 'critical' || phone_after === 0) return 0;
  if (kind === 'outreach' && (attended || (last_ms !== null && now_ms - last_ms <= age_ms))) return null;
  const after = phone_after * 1000;
  if (attended) return after;
  return last_ms === null ? 0 : Math.max(0, last_ms + after - now_ms);
}

// ---- Failures ----

/** The reply of a push service; a null status means that it could not be reached, or did not answer in time. */
export interface PushReply {
  status: number | null;
  /** The header of that name. */
  retry_after: string | null;
  /** The fault, for the trail; for a refusal, the beginning of the service's explanation. */
  text: string;
}

/** `gone`: this subscription never works again. */
export type PushOutcome =
  | { kind: 'sent' }
  | { kind: 'gone'; why: string }
  | { kind: 'retry'; in_ms: number; why: string }
  | { kind: 'failed'; why: string };

/** The words of Apple, Google and Mozilla for a subscription that belongs to another key. */
const OTHER_KEY =
  /VapidPkHashMismatch|do(?:es)? not correspond to the (?:credentials|key)|key mismatch|mismatched key/i;

/** How many ms to wait before each further try, unless the service demands something else. */
export const PUSH_RETRIES_MS: readonly number[] = [1_000, 5_000, 20_000];
/** In ms. A server that asks for a longer wait gets no further try. */
const LONGEST_WAIT_MS = 60_000;

/** The outcome of a push after its `tried`th try. */
export function afterPush(
  { status, retry_after, text }: PushReply,
  tried: number,
  now_ms: number,
  retries: readonly number[] = PUSH_RETRIES_MS,
): PushOutcome {
  if (status !== null && status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 404 || status === 410)
    return { kind: 'gone', why: 'The browser has given up its subscription to notifications.' };
  const detail = text === '' ? '.' : `: ${text}`;
  // Then only a new subscription helps, with the present key of this hive.
  if (status !== null && status >= 400 && status < 500 && OTHER_KEY.test(text))
    return {
      kind: 'gone',
      why: `The subscription was made for another key of this hive (${status}${detail})`,
    };
  const why = status === null ? text : `The push service answered ${status}${detail}`;
  const usual = retries[tried - 1];
  if ((status !== null && status !== 429 && status < 500) || usual === undefined)
    return { kind: 'failed', why };
  const asked = retry_after === null ? null : msOf(retry_after, now_ms);
  const in_ms = Math.max(usual, asked ?? 0);
  return in_ms > LONGEST_WAIT_MS ? { kind: 'failed', why } : { kind: 'retry', in_ms, why };
}

/** Seconds, or a date (RFC 9110, 10.2.3); null for anything else. */
function msOf(retry_after: string, now_ms: number): number | null {
  if (/^\d{1,9}$/.test(retry_after)) return Number(retry_after) * 1000;
  const at = Date.parse(retry_after);
  return Number.isNaN(at) ? null : Math.max(0, at - now_ms);
}
