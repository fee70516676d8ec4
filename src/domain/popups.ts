/**
 * Popups: which events may disturb the human on the desktop, and the text of a popup. Pure. A popup is only a courtesy: its
 * subject is stored in any case, and closing a popup decides nothing.
 */
import { revealed } from './display.ts';
import type { MentionInFull } from './mentions.ts';
import { authorName } from './messages.ts';
import { cardPopupText, type Outreach } from './outreach.ts';
import { permissionLines, refusals } from './permissions.ts';
import type { SuppressReason } from './preferences.ts';
import { disturbance, type Moment, mutedBy, type Preferences } from './preferences.ts';
import { orderKey, type Prompt, type Urgency } from './prompts.ts';
import { QUOTA_BUCKETS } from './quotas.ts';
import { HOUR_MS, type Rate, rate } from './rates.ts';
import { calledBy, headedBy, type Source, sourcePrefix } from './sources.ts';
import { excerpt } from './text.ts';
import type { Authority } from './trust.ts';

/** The human's preferences, including the settings that permit something. */
export type PopupPreferences = Preferences & Authority;

/** Why no popup can be shown without a desktop. */
export const NO_BUS =
  'There is no D-Bus session bus: DBUS_SESSION_BUS_ADDRESS is not set, and /run/user has none.';

/** The subject of a popup: a prompt, a ping or card (outreach), or a mention of the human. */
export type PopupKind = 'prompt' | 'outreach' | 'mention';

/** The subject of a popup, with the fields that decide whether it is shown. */
export interface PopupSubject {
  id: string;
  created_at: string;
  urgency: Urgency;
  agent: string;
  project: string;
  project_dir: string;
}

/** A popup as plain text; the program that shows it escapes it. */
export interface Popup {
  /**
   * `storm`: several subjects. `outreach`: a ping or a card. `mention`: a mention of the human. `notice`: a follow-up to a
   * popup.
   */
  kind: 'prompt' | 'storm' | 'outreach' | 'mention' | 'notice';
  /** The id of its subject; null for several subjects. */
  subject: string | null;
  title: string;
  body: string;
  urgency: Urgency;
  /** Labels of the prompt's options, in their order; empty if a popup may not answer. */
  buttons: readonly string[];
  /** Whether a click on the body leads anywhere. */
  openable: boolean;
  sound: boolean;
  /** The user's own program that is also notified. */
  command: string | null;
  /** How many it is about; more than one is a storm. */
  count: number;
  /** The prompts among its subjects, most urgent first. */
  prompts: readonly Prompt[];
}

/** The screen of the inbox that shows a popup's subject: the part of its address after `#/`. */
export function screenOf({ kind, subject }: Pick<Popup, 'kind' | 'subject'>): string {
  if (kind === 'outreach') return 'reports';
  if (kind === 'mention') return 'messages';
  return subject === null ? '' : `ask/${subject}`;
}

/** Notification servers do not show more buttons well. */
const MAX_BUTTONS = 3;
/** In bytes: a button cuts longer labels. */
export const LONGEST_BUTTON = 60;
const TITLE_LENGTH = 120;
const BODY_LENGTH = 500;

/** Why no popup is shown at a seat; null if one is. Only do-not-disturb and quiet hours let `critical` through. */
export function whyNoPopup(
  subject: Pick<PopupSubject, 'urgency' | 'agent' | 'project' | 'project_dir'>,
  preferences: Preferences,
  seat: { focused: boolean },
  moment: Moment,
): SuppressReason | null {
  const { notify_when } = preferences;
  if (subject.urgency === 'low') return 'low_urgency';
  if (notify_when === 'never') return 'notify_never';
  if (notify_when === 'urgent' && subject.urgency !== 'critical') return 'not_urgent';
  const muted = mutedBy(preferences, subject);
  if (muted !== null) return muted;
  if (notify_when === 'unfocused' && seat.focused) return 'focused';
  return subject.urgency === 'critical' ? null : disturbance(preferences, moment);
}

/** Whether a popup is shown only because it is critical. */
export function breaksQuiet(
  { urgency }: Pick<PopupSubject, 'urgency'>,
  preferences: Preferences,
  moment: Moment,
): boolean {
  return urgency === 'critical' && disturbance(preferences, moment) !== null;
}

/** How many critical popups may break through a seat's quiet time: an agent that calls everything critical cannot break it for long. */
export const QUIET_RATE: Rate = rate(3, HOUR_MS);

/** The bucket that pays for them. */
export function quietBucket(seat: string): string {
  return `${QUOTA_BUCKETS}quiet:${seat}`;
}

/** How often the human is notified that the popups of their seat cannot be shown. */
export const BROKEN_RATE: Rate = rate(1, 24 * HOUR_MS);

/** The bucket of these notices. */
export function brokenBucket(seat: string): string {
  return `${QUOTA_BUCKETS}broken:${seat}`;
}

export function promptSubject(prompt: Prompt): PopupSubject {
  const { ask_id, created_at, urgency, agent, project, project_dir } = prompt;
  return { id: ask_id, created_at, urgency, agent, project, project_dir };
}

// ---- One popup, for one thing or for many ----

/** One subject, in the words of its popup. */
export interface Told {
  /** Its id. */
  subject: string;
  /** The title: its author and why. */
  who: string;
  what: string;
  /** The line for it in a popup about several. */
  line: string;
  urgency: Urgency;
  buttons: readonly string[];
  /** The prompt, if the subject is one. */
  prompt: Prompt | null;
}

/** How many lines a popup about several subjects shows. */
const NAMED = 3;

/** The title of a popup about several subjects, and the words that count those without a line. */
const SEVERAL: Readonly<Record<PopupKind, readonly [title: string, rest: string]>> = {
  prompt: ['questions wait for you', 'agents more'],
  outreach: ['messages from agents', 'more'],
  mention: ['mentions of you', 'more'],
};

/** The popup of one subject, or of several of a kind. Questions are in the order of lists and are counted by agent. */
export function popupOf(
  kind: PopupKind,
  told: readonly [Told, ...Told[]],
  preferences: PopupPreferences,
  openable = false,
): Popup {
  const sorted = told.toSorted(byOrder);
  const common = {
    urgency: mostUrgent(told),
    openable,
    sound: preferences.sound,
    command: preferences.notify_command,
    count: told.length,
    prompts: sorted.flatMap(({ prompt }) => prompt ?? []),
  };
  const [{ subject, who, what, buttons }, ...others] = told;
  if (others.length === 0)
    return { kind, subject, title: excerpt(who, TITLE_LENGTH), body: what, buttons, ...common };
  const [title, rest] = SEVERAL[kind];
  const lines = kind === 'prompt' ? counted(sorted) : told.map(({ line }) => line);
  const shown = lines.slice(0, NAMED).map((line) => excerpt(line, TITLE_LENGTH));
  if (lines.length > NAMED) shown.push(`and ${lines.length - NAMED} ${rest}`);
  return {
    kind: kind === 'prompt' ? 'storm' : kind,
    subject: null,
    title: `${told.length} ${title}`,
    body: shown.join('\n'),
    buttons: [],
    ...common,
  };
}

/** A line for each asking agent with the number of its questions, the agent of the first question first. */
function counted(told: readonly Told[]): string[] {
  return [...Map.groupBy(told, ({ line }) => line)].map(([line, ofOne]) => `${ofOne.length} from ${line}`);
}

/** Sorts prompts as in lists, and leaves other subjects in their order. */
function byOrder({ prompt: one }: Told, { prompt: other }: Told): number {
  if (one === null || other === null) return 0;
  return orderKey(one) < orderKey(other) ? -1 : 1;
}

function mostUrgent(told: readonly Pick<Told, 'urgency'>[]): Urgency {
  const ranks: readonly Urgency[] = ['critical', 'normal', 'low'];
  return ranks.find((rank) => told.some(({ urgency }) => urgency === rank)) ?? 'normal';
}

/**
 * A prompt in the words of a popup. A permission gets buttons only if its human has turned that on, and an allowing button only
 * if the popup shows all of its text. The prompt of a card's buttons shows the whole `card`.
 */
export function tellPrompt(
  prompt: Prompt,
  preferences: Pick<PopupPreferences, 'popup_permissions'>,
  card?: Outreach,
): Told {
  const { question, options, multi_select, kind, urgency } = prompt;
  const labels = options.map(({ label }) => label);
  const answerable =
    labels.length <= MAX_BUTTONS &&
    labels.every(isButton) &&
    !multi_select &&
    (kind === 'question' || preferences.popup_permissions);
  const whole = kind === 'permission' ? wholePermission(prompt) : null;
  return {
    subject: prompt.ask_id,
    who: titleOf(prompt),
    what:
      card === undefined
        ? answerable && whole !== null
          ? whole
          : excerpt(question, BODY_LENGTH)
        : cardPopupText(card, BODY_LENGTH),
    line: headedBy(prompt),
    urgency,
    buttons: !answerable
      ? []
      : kind === 'question' || (whole !== null && card === undefined)
        ? labels
        : refusals(prompt),
    prompt,
  };
}

function titleOf(prompt: Prompt): string {
  const { header, kind } = prompt;
  const asks = kind === 'permission' ? ' asks permission' : '';
  return `${headedBy(prompt, asks)}${header === null ? '' : ` · ${header}`}`;
}

/** Whether a button shows all of this label. */
function isButton(label: string): boolean {
  return new TextEncoder().encode(revealed(label)).length <= LONGEST_BUTTON;
}

/**
 * A popup surely shows a text of this size in full, with its title. Measured with dunst in the font of the tests: it shows 16
 * lines, each with room for 24 letters as wide as W.
 */
const SURELY = { lines: 12, columns: 24 } as const;

/** The most lines that a text takes: a line breaks between words, and a longer word is broken. */
function linesOf(text: string): number {
  const { columns } = SURELY;
  let count = 1;
  let used = 0;
  for (const word of text.split(/(?<= )/)) {
    if (used > 0 && used + word.trimEnd().length > columns) {
      count += 1;
      used = 0;
    }
    used += word.length;
    for (; used > columns; used -= columns) count += 1;
  }
  return count;
}

/**
 * The whole text of a permission; null unless a popup surely shows all of it. If null, the popup has no button that may allow
 * something (invariant 13).
 */
export function wholePermission(prompt: Prompt): string | null {
  // The buttons show the labels; the popup shows the descriptions, which may allow more than the label.
  const refusing = refusals(prompt);
  const described = prompt.options.filter(
    ({ label, description }) => description !== null && !refusing.includes(label),
  );
  const lines = permissionLines({ ...prompt, options: described }).filter((line) => line.trim() !== '');
  // Revealed hidden characters make a line longer, and wide characters take two columns, so neither is surely shown.
  const plain = lines.every((line) => /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2026]*$/.test(line));
  const title = revealed(excerpt(titleOf(prompt), TITLE_LENGTH));
  const count = [title, ...lines].reduce((sum, line) => sum + linesOf(line), 0);
  return plain && count <= SURELY.lines ? lines.join('\n') : null;
}

/** The notice for a person whose click was not accepted as the answer. */
export function noticePopup(prompt: Prompt, sentence: string, preferences: PopupPreferences): Popup {
  const told: Told = {
    subject: prompt.ask_id,
    who: `About your answer to ${headedBy({ ...prompt, source: null })}`,
    what: excerpt(sentence, BODY_LENGTH),
    line: sentence,
    urgency: 'normal',
    buttons: [],
    prompt,
  };
  return { ...popupOf('prompt', [told], preferences), kind: 'notice' };
}

/** More than `count` popups within `window_ms` are a storm. */
export const STORM = { count: 3, window_ms: 2_000 } as const;

/** A storm of popups of one kind at a seat, according to the leases in the store. */
export interface Storm {
  /** The process whose single popup represents all of them. */
  held_by: string;
  /** The times of its oldest and newest lease. */
  since: string;
  at: string;
}

/**
 * Until this time, only the process that shows the storm takes leases. Later any process may take over, in case that one is
 * dead or hangs.
 */
export function stormOwnedUntil({ at }: Storm): number {
  return Date.parse(at) + STORM.window_ms;
}

/** `newest` is the time of the newest subject that is leased now. */
interface Arrival {
  newest: string;
  now: string;
}

/**
 * Whether the subjects that are leased now belong to a storm: there are too many, or a storm is going on. `recent` is the number
 * of the seat's leases in the window, including these.
 */
export function isStormy(standing: Storm | null, recent: number, arrival: Arrival): boolean {
  return recent > STORM.count || goesOn(standing, arrival);
}

/**
 * Whether a storm includes the subjects that are leased now. A storm that is long over includes nothing more, not even an old
 * question that is new at this seat.
 */
export function goesOn(standing: Storm | null, { newest, now }: Arrival): boolean {
  if (standing === null) return false;
  const until = stormOwnedUntil(standing);
  return Date.parse(newest) < until && Date.parse(now) < until + STORM.window_ms;
}

// ---- Mentions of the human ----

/** A mention of the human, with the source and title of its author; the title is null for an author without a session. */
export type MentionOfHuman = MentionInFull & { source: Source; agent_title: string | null };

export function mentionSubject(mention: MentionOfHuman): PopupSubject {
  const { mention_id, created_at, priority, from_handle, project, project_dir } = mention;
  return {
    id: mention_id,
    created_at,
    urgency: priority === 'urgent' ? 'critical' : 'normal',
    agent: from_handle,
    project: project ?? '',
    project_dir: project_dir ?? '',
  };
}

export function tellMention(mention: MentionOfHuman): Told {
  const { source, body } = mention;
  const called = calledAuthor(mention);
  const author = { agent: '', agent_title: called, source, project: mention.project ?? '' };
  return {
    subject: mention.mention_id,
    who: headedBy(author, ' mentions you'),
    what: excerpt(body, BODY_LENGTH),
    line: `${sourcePrefix(source)}${called}: ${body}`,
    urgency: mentionSubject(mention).urgency,
    buttons: [],
    prompt: null,
  };
}

/** The author's title, or else its name. */
function calledAuthor({ agent_title, from_handle, as_handle }: MentionOfHuman): string {
  return authorName({ from_handle: agent_title ?? from_handle, as_handle });
}

// ---- Pings and cards ----
// They follow the same preferences as prompts.

export function outreachSubject(item: Outreach): PopupSubject {
  const { outreach_id, created_at, agent, project, project_dir } = item;
  return { id: outreach_id, created_at, urgency: urgencyOf(item), agent, project, project_dir };
}

function urgencyOf({ critical }: Pick<Outreach, 'critical'>): Urgency {
  return critical ? 'critical' : 'normal';
}

/** A ping or a card in the words of a popup. The source label comes before the name; a card also has it in its footer. */
export function tellOutreach(item: Outreach): Told {
  const { kind, message, source } = item;
  return {
    subject: item.outreach_id,
    who: headedBy(item),
    what: kind === 'card' ? cardPopupText(item, BODY_LENGTH) : excerpt(message ?? '', BODY_LENGTH),
    line: `${sourcePrefix(source)}${calledBy(item)}: ${item.title ?? message ?? ''}`,
    urgency: urgencyOf(item),
    buttons: [],
    prompt: null,
  };
}
