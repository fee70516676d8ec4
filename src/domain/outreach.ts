/**
 * Outreach: messages that an agent sends unasked. A ping is a line for the human, a card is a small page with buttons, and a
 * report is a message from a background session to its main session. Also the rules for sending, and the budget. Pure: no
 * clock, no ids, no I/O.
 *
 *     ping, card    sent ──▶ shown | unseen ──▶ shown,  or suppressed (by a rule)
 *     report        sent ──▶ delivered
 */
import { HiveError, invalidInput } from './errors.ts';
import { atMost, boundedBytes, boundedOptional, required, visible } from './limits.ts';
import type { SuppressReason } from './preferences.ts';
import { type Bucket, MINUTE_MS, nextCreditAt, rate, takeCredit } from './rates.ts';
import { type Source, sourceLabel } from './sources.ts';
import { cleanText, excerpt, quoted } from './text.ts';

export type OutreachKind = 'ping' | 'card' | 'report';
type CardColor = 'blue' | 'green' | 'red' | 'yellow';

/** One shape for all kinds; fields of the other kinds are null or empty. Times are ISO-8601 UTC. */
export interface Outreach {
  outreach_id: string;
  /** Increases with each outreach, to order those of the same millisecond. */
  number: number;
  kind: OutreachKind;
  session_id: string;
  /** The sender's handle, as people type it. */
  agent: string;
  /** The sender's present title; null once its session was removed. */
  agent_title: string | null;
  source: Source;
  project: string;
  project_dir: string;
  /** The turn in which it was sent; null when the client reports no turns. */
  turn_id: string | null;
  message: string | null;
  title: string | null;
  description: string | null;
  color: CardColor | null;
  fields: { name: string; value: string; inline: boolean }[];
  /** The buttons. `ask`: the task that pressing one gives to the agent. */
  actions: { label: string; ask: string | null }[];
  /** The prompt whose options are the card's actions. */
  ask_id: string | null;
  critical: boolean;
  /**
   * `sent`: on its way. `unseen`: nobody was there to see it, so it is kept until the human is back. `suppressed`: refused by a
   * rule. `delivered`: a report that its reader has provably read.
   */
  status: 'sent' | 'shown' | 'unseen' | 'suppressed' | 'delivered';
  /** Which rule suppressed it, or why it was not shown at once (an `Absence`, or a sentence); kept when it is shown later. */
  reason: string | null;
  /** The budget bucket that paid for it; null when it cost nothing or was refunded. */
  charged: string | null;
  created_at: string;
  shown_at: string | null;
  shown_via: 'emacs' | 'notification' | 'cli' | null;
  /** Visible output: when a report covered it, or when the guard gave up asking for a report. */
  reported_at: string | null;
  let_go_at: string | null;
  /**
   * The reader of a report: the session that started the sender, else the project's most recently active main session. Null if
   * there was none: then the next main session of the project reads it.
   */
  to_session_id: string | null;
  handed_at: string | null;
  delivered_at: string | null;
  /** The carrier that delivered it: only that connection or hook can prove that it arrived. */
  carrier: string | null;
}

/** Bounds of what comes in, in characters unless the name says bytes. */
export const OUTREACH_LIMITS = {
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
} as const;

export const CARD_COLORS: readonly CardColor[] = ['blue', 'green', 'red', 'yellow'];

/** The sender, with its project. The application resolves it; it is never taken from the request. */
export type Sender = Pick<
  Outreach,
  'session_id' | 'agent' | 'agent_title' | 'source' | 'project' | 'project_dir' | 'turn_id'
>;

/** A ping as an agent asks for it. */
export interface PingRequest {
  message: string;
  critical?: boolean | undefined;
}

/** A card as an agent asks for it. */
export interface CardRequest {
  title: string;
  description?: string | null | undefined;
  color?: string | null | undefined;
  fields?: readonly { name: string; value: string; inline?: boolean | undefined }[] | undefined;
  actions?: readonly { label: string; ask?: string | null | undefined }[] | undefined;
}

/** A report as an agent asks for it. */
export interface ReportRequest {
  message: string;
}

/** A ping, card or report that an agent wants to send, checked. The application adds the reader of a report. */
export type OutreachContent = Partial<
  Pick<
    Outreach,
    'message' | 'critical' | 'title' | 'description' | 'color' | 'fields' | 'actions' | 'to_session_id'
  >
>;

/** A new ping, card or report. `own`: its id and number. */
export function newOutreach(
  kind: OutreachKind,
  content: OutreachContent,
  sender: Sender,
  own: Pick<Outreach, 'outreach_id' | 'number'>,
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
    ...content,
  };
}

/** The contents of a ping. @throws HiveError `invalid_input` with a sentence that names the field and its bound. */
export function pingContent({ message, critical = false }: PingRequest): OutreachContent {
  return { message: required('message', message, OUTREACH_LIMITS.ping), critical };
}

export type CardContent = Pick<Outreach, 'title' | 'description' | 'color' | 'fields' | 'actions'>;

/**
 * The contents of a card, checked. Its labels must differ, because a label is the answer to the card's prompt.
 * @throws HiveError `invalid_input` with a sentence that names the field and its bound.
 */
export function cardContent(request: CardRequest): CardContent {
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
    title: required('title', request.title, OUTREACH_LIMITS.title),
    description: boundedOptional('description', request.description, OUTREACH_LIMITS.description),
    color: known,
    fields,
    actions,
  };
}

/** The contents of a report. @throws HiveError `invalid_input` with a sentence that names the field and its bound. */
export function reportContent({ message }: ReportRequest): OutreachContent {
  const given = visible('message', cleanText(message));
  return { message: boundedBytes('message', given, OUTREACH_LIMITS.reportBytes) };
}

/** One line that describes it: `ping "…"`, `card "…"`. */
export function describeOutreach({ kind, title, message }: Outreach): string {
  return `${kind} "${excerpt(title ?? message ?? '', 80)}"`;
}

/** The text of a card below its title, as plain text: the context of its prompt. */
export function cardText({ description, fields }: Pick<Outreach, 'description' | 'fields'>): string {
  const lines = fields.map(({ name, value }) => `${name}: ${value}`);
  return [description, lines.join('\n')].filter((part) => part !== null && part !== '').join('\n\n');
}

/** The most fields that fit into a popup. */
const POPUP_FIELDS = 5;

/** A whole card as a popup shows it: title, text, fields and source. No line is longer than `length`. */
export function cardPopupText({ title, description, fields, source }: Outreach, length: number): string {
  const lines = fields.slice(0, POPUP_FIELDS).map(({ name, value }) => `${name}: ${value}`);
  if (fields.length > POPUP_FIELDS) lines.push(`and ${fields.length - POPUP_FIELDS} more`);
  return [title, description, ...lines, sourceLabel(source)]
    .filter((line) => line !== null && line !== '')
    .map((line) => excerpt(line ?? '', length))
    .join('\n');
}

// ---- Rules: who may send what, and when ----
// The rules for a background session, in order, and the sentences of a refusal. A refusal names the rule, when it will pass, and
// an alternative.

/** The rules, in the order in which they are checked; `critical` passes all but the first. */
export type OutreachRule = 'allow_ping' | 'budget';

/** Why nobody can see anything now: no desk is open, and there is no desktop or the human wants no popups now. */
export type Absence = 'nobody_there' | SuppressReason;

/**
 * `on_ping`: unreported visible output holds the Stop. `always`: every turn must report.
 * `freely`: reports are welcome, nothing is held. `remind`: a reminder, nothing is held. `blocked`: no reports.
 */
export type ReportPolicy = 'on_ping' | 'always' | 'freely' | 'remind' | 'blocked';
export const REPORT_POLICIES: readonly ReportPolicy[] = ['on_ping', 'always', 'freely', 'remind', 'blocked'];

/** The settings of outreach, for every session and for a single one. */
export interface OutreachSettings {
  /** Whether a background session may show anything at all. */
  allow_ping: boolean;
  report_policy: ReportPolicy;
}

export const DEFAULT_OUTREACH_SETTINGS: OutreachSettings = { allow_ping: true, report_policy: 'on_ping' };

/**
 * How many pings and cards all background sessions together may show. This stops a runaway loop and never limits real work: it is
 * more than all recorded sessions together would send if each pinged after every step and at the end of every turn
 * (test/unit/outreach-budget.test.ts).
 */
export const BUDGET = rate(120, 120 * MINUTE_MS);

export const BUDGET_BUCKET = '*';

/** The settings given at one level; a missing key inherits from the wider level. */
export type OutreachOverrides = { [Key in keyof OutreachSettings]?: OutreachSettings[Key] };
/** A missing key leaves the current value; null goes back to the wider level. */
export type OutreachChanges = { [Key in keyof OutreachSettings]?: OutreachSettings[Key] | null | undefined };

/** The overrides after these changes. Keys that are not outreach settings are dropped. */
export function applyOutreachChanges(
  current: OutreachOverrides,
  changes: OutreachChanges,
): OutreachOverrides {
  const known = Object.keys(DEFAULT_OUTREACH_SETTINGS);
  return Object.fromEntries(
    Object.entries({ ...current, ...defined(changes) }).filter(
      ([key, value]) => known.includes(key) && value !== null && value !== undefined,
    ),
  );
}

/** The effective settings of a session. */
export function outreachSettings(everywhere: OutreachOverrides, own: OutreachOverrides): OutreachSettings {
  return { ...DEFAULT_OUTREACH_SETTINGS, ...everywhere, ...own };
}

function defined(changes: OutreachChanges): OutreachChanges {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

/** The fields that the rules read. */
export interface RuleState {
  kind: 'ping' | 'card';
  source: Source;
  critical: boolean;
  settings: OutreachSettings;
  bucket: Bucket;
  /** Why nobody would see it now, in which case it costs nothing. Null if somebody would. */
  absence: Absence | null;
  /** How many pings and cards of background sessions are already kept for a human who is away. */
  unseen: number;
  now: string;
}

/** A rule's refusal. */
export interface Refusal {
  rule: OutreachRule;
  sentence: string;
  /** When it will pass; null when that is not a question of time. */
  passes_at: string | null;
}

/**
 * Checks the rules for visible output of a background session; for other sessions it is free. `bucket` is the state after
 * charging; null when nothing is charged.
 */
export function decideByRules(
  state: RuleState,
): { refusal: Refusal } | { refusal: null; bucket: Bucket | null } {
  const { kind, source, critical, settings, bucket, absence, unseen, now } = state;
  if (source !== 'bg') return { refusal: null, bucket: null };
  const refuse = (rule: OutreachRule, why: string, passes: string, passes_at: string | null = null) => ({
    refusal: {
      rule,
      passes_at,
      sentence: `The ${kind} was not shown (rule ${rule}): ${why} ${passes} ${instead(settings)}`,
    },
  });
  if (!settings.allow_ping)
    return refuse(
      'allow_ping',
      'your human does not allow pings and cards from this session.',
      'Only your human can change that; critical makes no difference.',
    );
  // A critical one passes the other rules; it has a quota of its own (quotas.ts).
  if (critical) return { refusal: null, bucket: null };
  if (absence !== null) {
    // A ping that nobody sees costs nothing. As many as the bucket holds are kept until the human is back.
    if (unseen < BUDGET.capacity) return { refusal: null, bucket: null };
    return refuse(
      'budget',
      `nobody is there to see it, and ${unseen} pings and cards are kept for your human already.`,
      'You can send it when they are back.',
    );
  }
  const charged = takeCredit(bucket, BUDGET, now);
  if (charged !== null) return { refusal: null, bucket: charged };
  const at = nextCreditAt(bucket, BUDGET, now);
  return refuse(
    'budget',
    `the ${BUDGET.capacity} pings and cards that background sessions may show are used up; one comes back every minute.`,
    `You can send it at ${at}.`,
    at,
  );
}

function instead({ report_policy }: OutreachSettings): string {
  return report_policy === 'blocked'
    ? 'Go on without it.'
    : 'A report is always possible: hivemind_report_updates {"message": "…"}.';
}

const WHERE: Readonly<Record<Source, string>> = {
  main: 'the main session',
  bg: 'a background session',
  fork: 'an interactive fork',
};

/** The sentence that refuses a kind this source cannot send; null when it can. */
export function refusalBySource(kind: OutreachKind, source: Source): string | null {
  if (kind === 'ping' && source !== 'bg')
    return `hivemind_ping_user is only available in background sessions, and this is ${WHERE[source]}: your human reads what you write here. Use hivemind_send_card for something that should stand out, hivemind_ask_async for a question.`;
  if (kind === 'report' && source === 'main')
    return 'hivemind_report_updates is only available in background sessions and forks, and this is the main session, to which they report: tell your human here, or use hivemind_send_card.';
  return null;
}

/** The refusal of a report by a session that may not send any. */
export const REPORTS_BLOCKED =
  'This session may not send reports (report_policy blocked): your human set this. Go on without one; nothing is held for it.';

/** The error for a refused ping, card or report. */
export function outreachRefused(sentence: string, details: Record<string, unknown>): HiveError {
  return new HiveError('outreach_refused', sentence, details);
}

const ABSENCE_WORDS: Readonly<Record<Absence, string>> = {
  nobody_there: 'no Emacs is open and no desktop can be reached',
  low_urgency: 'no Emacs is open',
  not_urgent: 'no Emacs is open, and only what is critical pops up',
  notify_never: 'no Emacs is open, and your human has turned popups off',
  focused: 'no Emacs is open',
  muted_project: 'no Emacs is open, and your human has muted this project',
  muted_agent: 'no Emacs is open, and your human has muted this agent',
  do_not_disturb: 'no Emacs is open, and do-not-disturb is on',
  quiet_hours: 'no Emacs is open, and these are quiet hours',
  quiet_criticals: 'no Emacs is open, and no more critical ones are shown at this quiet time',
  settled: 'no Emacs is open',
};

/** The sentence for an agent whose ping or card nobody sees. */
export function unseenSentence({
  kind,
  source,
  reason,
}: Pick<Outreach, 'kind' | 'source' | 'reason'>): string {
  const why = Object.entries(ABSENCE_WORDS).find(([absence]) => absence === reason)?.[1];
  // Sessions of other sources pay nothing and report nothing in any case.
  const free = source === 'bg' ? ' It uses no budget, and you need not report it.' : '';
  return `Nobody is there to see this ${kind}${why === undefined ? '' : `: ${why}`}. It is kept, and your human will see it when they are back.${free}`;
}

// ---- Reports as their reader sees them ----
// How many reports are shown at once, and their text. The store's query selects the reports for a reader.

/** The most reports shown at once; the rest are counted and follow. */
export const REPORTS_AT_ONCE = 10;
/** Context beyond 10,000 characters reaches a model only as a file (measured). The rest is left to other hook handlers. */
const CONTEXT_CHARACTERS = 9_500;

/** One report as its reader sees it. `repeated`: it was delivered before and nothing proved that it was read. */
export function describeReport(report: Outreach, repeated: boolean): string {
  const { outreach_id, agent, source, created_at, message } = report;
  const label = sourceLabel(source);
  const again = repeated ? ' (repeated: this may have reached you before)' : '';
  return `Report from ${agent}${label === null ? '' : ` (${label})`} at ${created_at} [${outreach_id}]${again}:\n${quoted(message ?? '')}`;
}

/** How many of these texts fit into the context in addition to the text already written. */
export function fittingReports(texts: readonly string[], written: readonly string[]): number {
  let left = CONTEXT_CHARACTERS - written.reduce((sum, text) => sum + text.length + 2, 0);
  let count = 0;
  for (const text of texts.slice(0, REPORTS_AT_ONCE)) {
    left -= text.length + 2;
    // A single text that is too long is still sent if there is nothing else: the client puts the excess into a file.
    if (left < 0 && (count > 0 || written.length > 0)) break;
    count += 1;
  }
  return count;
}

/** The line that counts the reports not shown now. */
export function moreReports(count: number): string {
  return `${count} more report${count === 1 ? ' waits' : 's wait'} for you and will follow with your next steps.`;
}
