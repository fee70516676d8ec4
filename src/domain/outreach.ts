/**
 * Outreach: what an agent sends unasked. A ping is a line for the human, a card a small page with buttons, a
 * report a message for the session that stands behind a background one. Pure: shapes and bounds; who may send
 * what and when, outreach-rules.ts says.
 *
 *     ping, card    sent ──▶ shown | unseen ──▶ shown,  or suppressed (by a rule)
 *     report        sent ──▶ delivered
 */
import { atMost, boundedBytes, boundedOptional, required, visible } from './bounds.ts';
import { invalidInput } from './errors.ts';
import { type Source, sourceLabel } from './sources.ts';
import { cleanText, excerpt } from './text.ts';

export type OutreachKind = 'ping' | 'card' | 'report';
/**
 * `sent`: on its way. `unseen`: nobody could be shown it; it is kept until the human is back. `suppressed`: a rule
 * refused it. `delivered`: a report that its reader has provably read.
 */
export type OutreachStatus = 'sent' | 'shown' | 'unseen' | 'suppressed' | 'delivered';
export type CardColor = 'blue' | 'green' | 'red' | 'yellow';

export interface CardField {
  name: string;
  value: string;
  inline: boolean;
}

export interface CardAction {
  label: string;
  /** What pressing it asks of the agent. */
  ask: string | null;
}

/** One row whatever the kind; what another kind has is null or empty. Times are ISO-8601 UTC. */
export interface Outreach {
  outreach_id: string;
  /** Grows with each: two of one millisecond still have an order. */
  number: number;
  kind: OutreachKind;
  session_id: string;
  /** The sender's handle, as people type it. */
  agent: string;
  source: Source;
  project: string;
  project_dir: string;
  /** The turn in which it was sent; null where nobody tells turns. */
  turn_id: string | null;
  message: string | null;
  title: string | null;
  description: string | null;
  color: CardColor | null;
  fields: CardField[];
  actions: CardAction[];
  /** The prompt whose options are the card's actions. */
  ask_id: string | null;
  critical: boolean;
  status: OutreachStatus;
  /** Which rule suppressed it; why it was not shown at once (an `Absence`, or a sentence), also when it is shown since. */
  reason: string | null;
  /** The bucket that paid for it; null when it cost nothing, or the token went back. */
  charged: string | null;
  created_at: string;
  shown_at: string | null;
  shown_via: 'emacs' | 'notification' | 'cli' | null;
  /** Visible output: when a report told of it, or when the guard gave up asking for one. */
  reported_at: string | null;
  let_go_at: string | null;
  /** A report's reader: the sender's parent; null is the project's last active main session. */
  to_session_id: string | null;
  handed_at: string | null;
  delivered_at: string | null;
  /** What carried it in: only that can prove that it arrived. */
  carrier: string | null;
}

export const OUTREACH_LIMITS: Readonly<
  Record<
    | 'ping'
    | 'reportBytes'
    | 'title'
    | 'description'
    | 'fields'
    | 'fieldName'
    | 'fieldValue'
    | 'actions'
    | 'actionLabel'
    | 'actionAsk',
    number
  >
> = {
  ping: 500,
  reportBytes: 8 * 1024,
  title: 200,
  description: 4_000,
  fields: 25,
  fieldName: 200,
  fieldValue: 1_000,
  actions: 5,
  actionLabel: 100,
  actionAsk: 2_000,
};

export const CARD_COLORS: readonly CardColor[] = ['blue', 'green', 'red', 'yellow'];

/** Who sends, from where: resolved by the application, never taken from the request. */
export type Sender = Pick<
  Outreach,
  'session_id' | 'agent' | 'source' | 'project' | 'project_dir' | 'turn_id'
>;

export interface PingRequest {
  message: string;
  critical?: boolean | undefined;
}

export interface CardRequest {
  title: string;
  description?: string | null | undefined;
  color?: string | null | undefined;
  fields?: readonly { name: string; value: string; inline?: boolean | undefined }[] | undefined;
  actions?: readonly { label: string; ask?: string | null | undefined }[] | undefined;
}

export interface ReportRequest {
  message: string;
}

function make(
  kind: OutreachKind,
  sender: Sender,
  own: { outreach_id: string; number: number },
  now: string,
): Outreach {
  return {
    ...own,
    kind,
    ...sender,
    message: null,
    title: null,
    description: null,
    color: null,
    fields: [],
    actions: [],
    ask_id: null,
    critical: false,
    status: 'sent',
    reason: null,
    charged: null,
    created_at: now,
    shown_at: null,
    shown_via: null,
    reported_at: null,
    let_go_at: null,
    to_session_id: null,
    handed_at: null,
    delivered_at: null,
    carrier: null,
  };
}

type Own = { outreach_id: string; number: number };

/** @throws HiveError `invalid_input` with a sentence that names the field and its bound. */
export function createPing(request: PingRequest, sender: Sender, own: Own, now: string): Outreach {
  const message = required('message', request.message, OUTREACH_LIMITS.ping);
  return { ...make('ping', sender, own, now), message, critical: request.critical ?? false };
}

/** @throws HiveError `invalid_input` with a sentence that names the field and its bound. */
export function createCard(request: CardRequest, sender: Sender, own: Own, now: string): Outreach {
  const { color = null } = request;
  const known = CARD_COLORS.find((one) => one === color) ?? null;
  if (color !== null && known === null)
    throw invalidInput(`There is no colour "${excerpt(color, 40)}": use ${CARD_COLORS.join(', ')}.`, {
      field: 'color',
    });
  const fields = atMost('fields', request.fields ?? [], OUTREACH_LIMITS.fields).map((field) => ({
    name: required('name of a field', field.name, OUTREACH_LIMITS.fieldName),
    value: required('value of a field', field.value, OUTREACH_LIMITS.fieldValue),
    inline: field.inline ?? false,
  }));
  const actions = atMost('actions', request.actions ?? [], OUTREACH_LIMITS.actions).map((action) => ({
    label: required('label of an action', action.label, OUTREACH_LIMITS.actionLabel).trim(),
    ask: boundedOptional('ask of an action', action.ask, OUTREACH_LIMITS.actionAsk),
  }));
  if (new Set(actions.map(({ label }) => label)).size < actions.length)
    throw invalidInput('Two actions have the same label: labels must differ.', { field: 'actions' });
  return {
    ...make('card', sender, own, now),
    title: required('title', request.title, OUTREACH_LIMITS.title),
    description: boundedOptional('description', request.description, OUTREACH_LIMITS.description),
    color: known,
    fields,
    actions,
  };
}

/** @throws HiveError `invalid_input` with a sentence that names the field and its bound. */
export function createReport(
  request: ReportRequest,
  sender: Sender,
  own: Own & { to_session_id: string | null },
  now: string,
): Outreach {
  const given = visible('message', cleanText(request.message));
  const message = boundedBytes('message', given, OUTREACH_LIMITS.reportBytes);
  const { to_session_id, ...id } = own;
  return { ...make('report', sender, id, now), message, to_session_id };
}

/** Visible output that no report has told of yet. What was not shown at once owes none: its agent was told so. */
export function isUnreported({ kind, status, reason, reported_at, let_go_at }: Outreach): boolean {
  return (
    kind !== 'report' &&
    (status === 'sent' || status === 'shown') &&
    reason === null &&
    reported_at === null &&
    let_go_at === null
  );
}

/** One line that says what was sent: `ping "…"`, `card "…"`. */
export function describeOutreach({ kind, title, message }: Outreach, length = 80): string {
  return `${kind} "${excerpt(title ?? message ?? '', length)}"`;
}

/** What a card says below its title, as plain text: the context of its prompt. */
export function cardText({ description, fields }: Outreach): string {
  const lines = fields.map(({ name, value }) => `${name}: ${value}`);
  return [description, lines.join('\n')].filter((part) => part !== null && part !== '').join('\n\n');
}

/** A popup has room for so many fields. */
const POPUP_FIELDS = 5;

/** A whole card as a popup shows it: title, text and fields, and where it comes from. No line is longer than `length`. */
export function cardPopupText({ title, description, fields, source }: Outreach, length: number): string {
  const lines = fields.slice(0, POPUP_FIELDS).map(({ name, value }) => `${name}: ${value}`);
  if (fields.length > POPUP_FIELDS) lines.push(`and ${fields.length - POPUP_FIELDS} more`);
  return [title, description, ...lines, sourceLabel(source)]
    .filter((line) => line !== null && line !== '')
    .map((line) => excerpt(line ?? '', length))
    .join('\n');
}
