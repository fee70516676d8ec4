/**
 * Who may send what, and when: the rules for a background session, in their order, and the sentences of a
 * refusal. Pure. A refusal says which rule, when it will pass, and what is possible instead.
 */
import { type Bucket, type BudgetSize, nextTokenAt, takeToken } from './budget.ts';
import { HiveError } from './errors.ts';
import type { Outreach, OutreachKind } from './outreach.ts';
import type { SuppressReason } from './popups.ts';
import { disturbance, type Moment, type Preferences } from './preferences.ts';
import type { Source } from './sources.ts';

/** In the order in which they are asked; `critical` passes all but the first. */
export type OutreachRule = 'allow_ping' | 'outputs_per_turn' | 'human_busy' | 'budget';

/** Why nobody can be shown anything now: no desk and no desktop, or no desk and a human who wants no popups now. */
export type Absence = 'nobody_there' | SuppressReason;

/**
 * `on_ping`: visible output that is not reported yet holds the Stop. `always`: every turn owes a report.
 * `freely`: reports are welcome, nothing is held. `remind`: a reminder, nothing is held. `blocked`: no reports.
 */
export type ReportPolicy = 'on_ping' | 'always' | 'freely' | 'remind' | 'blocked';
export const REPORT_POLICIES: readonly ReportPolicy[] = ['on_ping', 'always', 'freely', 'remind', 'blocked'];

/** What the human may set, for every session and for a single one. */
export interface OutreachSettings {
  /** Whether a background session may show anything at all. */
  allow_ping: boolean;
  report_policy: ReportPolicy;
  /** Pings and cards together; 0 is no limit. */
  outputs_per_turn: number;
  /** Whether quiet hours, do-not-disturb and answering hold pings back. */
  mind_busy: boolean;
  budget_capacity: number;
  budget_refill_minutes: number;
  /** Whether a Stop is held for urgent mentions, and for answers that were not collected. */
  hold_for_mentions: boolean;
  hold_for_answers: boolean;
}

/**
 * The defaults ration a runaway loop, not work: the bucket holds more than every recorded session together sends when
 * each pings after every step and at every end of a turn (test/unit/outreach-budget.test.ts).
 */
export const DEFAULT_OUTREACH_SETTINGS: OutreachSettings = {
  allow_ping: true,
  report_policy: 'on_ping',
  outputs_per_turn: 0,
  mind_busy: false,
  budget_capacity: 120,
  budget_refill_minutes: 1,
  hold_for_mentions: true,
  hold_for_answers: true,
};

/** What is set; a missing key follows the wider setting. */
export type OutreachOverrides = { [Key in keyof OutreachSettings]?: OutreachSettings[Key] };
/** A missing key leaves what stands, null goes back to the wider setting. */
export type OutreachChanges = { [Key in keyof OutreachSettings]?: OutreachSettings[Key] | null | undefined };

export function applyOutreachChanges(stands: OutreachOverrides, changes: OutreachChanges): OutreachOverrides {
  const known = Object.keys(DEFAULT_OUTREACH_SETTINGS);
  return Object.fromEntries(
    Object.entries({ ...stands, ...defined(changes) }).filter(
      ([key, value]) => known.includes(key) && value !== null && value !== undefined,
    ),
  );
}

/** What holds for a session. */
export function outreachSettings(everywhere: OutreachOverrides, own: OutreachOverrides): OutreachSettings {
  return { ...DEFAULT_OUTREACH_SETTINGS, ...everywhere, ...own };
}

function defined(changes: OutreachChanges): OutreachChanges {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

export function budgetSize({ budget_capacity, budget_refill_minutes }: OutreachSettings): BudgetSize {
  return { capacity: budget_capacity, refill_ms: budget_refill_minutes * 60_000 };
}

/** Why the human is not to be disturbed, and until when as far as anybody knows. */
export interface Busy {
  reason: 'do_not_disturb' | 'quiet_hours' | 'answering';
  until: string | null;
}

/** How long after taking up a prompt the human counts as answering it. */
export const ANSWERING_MS = 120_000;

/** Whether the human of some seats is busy: only when none of them may be disturbed, or they are answering. */
export function humanBusy(
  seats: readonly Preferences[],
  answering_since: string | null,
  moment: Moment,
): Busy | null {
  const disturbed = seats.map((preferences) => disturbedUntil(preferences, moment));
  const [first] = disturbed;
  if (first !== undefined && first !== null && !disturbed.includes(null)) return first;
  if (answering_since === null) return null;
  const until = new Date(Date.parse(answering_since) + ANSWERING_MS).toISOString();
  return until > moment.now ? { reason: 'answering', until } : null;
}

function disturbedUntil(preferences: Preferences, moment: Moment): Busy | null {
  const reason = disturbance(preferences, moment);
  const { do_not_disturb, quiet_hours } = preferences;
  if (reason === 'do_not_disturb')
    return { reason, until: typeof do_not_disturb === 'string' ? do_not_disturb : null };
  return reason === null || quiet_hours === null
    ? null
    : { reason, until: endOfQuiet(quiet_hours.to, quiet_hours.from, moment) };
}

/** The next time that the clock shows the end of the quiet hours; null where they never end. */
function endOfQuiet(to: string, from: string, { now, minute_of_day }: Moment): string | null {
  if (to === from) return null;
  const [hours = '0', minutes = '0'] = to.split(':');
  const left = (Number(hours) * 60 + Number(minutes) - minute_of_day + 1_440) % 1_440;
  const at = new Date(Date.parse(now) + left * 60_000);
  at.setUTCSeconds(0, 0);
  return at.toISOString();
}

/** What the rules look at. */
export interface RuleState {
  kind: 'ping' | 'card';
  source: Source;
  critical: boolean;
  settings: OutreachSettings;
  /** Visible output of this turn that was not critical; where turns are not told, since the last report. */
  outputs: number;
  turn_known: boolean;
  busy: Busy | null;
  bucket: Bucket;
  /** Why nobody would be shown it now: then it costs nothing. Null when somebody would. */
  absence: Absence | null;
  /** What of background sessions is kept already for a human who is away. */
  unseen: number;
  now: string;
}

export interface Refusal {
  rule: OutreachRule;
  sentence: string;
  /** When it will pass; null when that is not a matter of time. */
  passes_at: string | null;
}

/** `bucket` as it stands after what was charged; null when nothing is to be charged. */
export type RuleOpinion = { refusal: Refusal } | { refusal: null; bucket: Bucket | null };

/** The rules for what a background session shows; what others show is free. */
export function askRules(state: RuleState): RuleOpinion {
  const { kind, source, critical, settings, outputs, busy, bucket, absence, unseen, now } = state;
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
      'your human allows no pings and cards from this session.',
      'That changes only when they allow it; critical does not pass it.',
    );
  // Critical passes the rest, and is counted apart.
  if (critical) return { refusal: null, bucket: { ...bucket, critical: bucket.critical + 1 } };
  if (settings.outputs_per_turn > 0 && outputs >= settings.outputs_per_turn) {
    const many =
      settings.outputs_per_turn === 1 ? 'one visible output' : `${settings.outputs_per_turn} visible outputs`;
    return refuse(
      'outputs_per_turn',
      `this turn has had its ${many}; pings and cards share it.`,
      state.turn_known ? 'It passes with your next turn.' : 'It passes after your next report.',
    );
  }
  if (settings.mind_busy && busy !== null) {
    return refuse(
      'human_busy',
      `your human is busy (${BUSY_WORDS[busy.reason]}).`,
      busy.until === null ? 'It passes when they are back.' : `It passes at ${busy.until}.`,
      busy.until,
    );
  }
  const size = budgetSize(settings);
  if (absence !== null) {
    // What nobody sees costs nothing; as much as the bucket holds is kept for when they are back.
    if (unseen < size.capacity) return { refusal: null, bucket: null };
    return refuse(
      'budget',
      `nobody is there to see it, and ${unseen} pings and cards are kept for your human already.`,
      'It passes when they are back.',
    );
  }
  const charged = takeToken(bucket, size, now);
  if (charged !== null) return { refusal: null, bucket: charged };
  const at = nextTokenAt(bucket, size, now);
  return refuse(
    'budget',
    `the ${size.capacity} pings and cards that background sessions may show are used up; one comes back ${every(settings.budget_refill_minutes)}.`,
    at === null ? 'It passes when your human grants some.' : `It passes at ${at}.`,
    at,
  );
}

function every(minutes: number): string {
  return minutes === 1 ? 'every minute' : `every ${minutes} minutes`;
}

const BUSY_WORDS: Readonly<Record<Busy['reason'], string>> = {
  do_not_disturb: 'do not disturb',
  quiet_hours: 'quiet hours',
  answering: 'answering a question just now',
};

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

/** The refusal of a kind that this source does not have; null when it has it. */
export function refusalBySource(kind: OutreachKind, source: Source): string | null {
  if (kind === 'ping' && source !== 'bg')
    return `hivemind_ping_user is only available in background sessions, and this is ${WHERE[source]}: your human reads what you write here. Use hivemind_send_card for something that should stand out, hivemind_ask_async for a question.`;
  if (kind === 'report' && source === 'main')
    return 'hivemind_report_updates is only available in background sessions and forks, and this is the main session, to which they report: tell your human here, or use hivemind_send_card.';
  return null;
}

/** The refusal of a report by a session that may send none. */
export const REPORTS_BLOCKED =
  'This session may send no reports (report_policy blocked): your human has set it so. Go on without one; nothing is held for it.';

export function outreachRefused(sentence: string, details: Record<string, unknown> = {}): HiveError {
  return new HiveError('outreach_refused', sentence, details);
}

const ABSENCE_WORDS: Readonly<Record<Absence, string>> = {
  nobody_there: 'no Emacs is open and no desktop can be reached',
  low_urgency: 'no Emacs is open',
  notify_never: 'no Emacs is open, and they want no popups',
  focused: 'no Emacs is open',
  muted_project: 'no Emacs is open, and they muted this project',
  do_not_disturb: 'no Emacs is open, and they are not to be disturbed now',
  quiet_hours: 'no Emacs is open, and these are their quiet hours',
  settled: 'no Emacs is open',
};

/** What an agent is told whose ping or card nobody sees. */
export function unseenSentence({
  kind,
  source,
  reason,
}: Pick<Outreach, 'kind' | 'source' | 'reason'>): string {
  const why = Object.entries(ABSENCE_WORDS).find(([absence]) => absence === reason)?.[1];
  // Others pay nothing and owe nothing in any case.
  const free = source === 'bg' ? ' It cost nothing, and you owe no report for it.' : '';
  return `Nobody is there to see this ${kind}${why === undefined ? '' : `: ${why}`}. It is kept, and your human sees it when they are back.${free}`;
}
