/**
 * Events: the append-only log that is both audit trail and change feed (invariant 10). `seq` strictly increases in
 * commit order, with gaps allowed. An event records what happened to which thing; the thing itself is read from the store.
 */
export const EVENT_TYPES = [
  'prompt/created',
  'prompt/noted',
  'prompt/responded',
  'prompt/late_response',
  'prompt/lost_response',
  'prompt/expired',
  'prompt/cancelled',
  'prompt/amended',
  'prompt/offered',
  'prompt/seen',
  'prompt/handed',
  'prompt/collected',
  'prompt/snoozed',
  'prompt/claimed',
  'prompt/released',
  'prompt/escalated',
  'prompt/moved',
  'prompt/orphaned',
  'prompt/blocked',
  'prompt/unblocked',
  'prompt/left_to_terminal',
  'prompt/left_to_human',
  'prompt/expiring',
  'prompt/popup',
  'session/started',
  'session/changed',
  'session/ended',
  'session/woken',
  'turn/changed',
  'turn/steered',
  'turn/interrupt',
  'turn/stopped_again',
  'turn/abort_handed',
  'message/posted',
  'mention/created',
  'mention/delivered',
  'mention/processed',
  'mention/expired',
  'mention/moved',
  'mention/cleared',
  'outreach/sent',
  'outreach/shown',
  'outreach/suppressed',
  'outreach/unseen',
  'outreach/handed',
  'outreach/delivered',
  'popup/storm',
  'push/failed',
  'stop/guarded',
  'loop/changed',
  'desk/changed',
  'desk/notice',
  'edit/allowed',
  'edit/compared',
  'desk/preferences_changed',
  'token/changed',
  'trust/changed',
  'rule/changed',
  'seat/registered',
  'device/changed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** An event before the store appends it to the log. */
export interface NewEvent {
  type: EventType;
  /** The session that it concerns; missing: none. */
  session_id?: string | null;
  /** The id of the thing it is about: an ask_id, a message_id, a turn_id, …; missing: nothing that has one. */
  subject?: string | null;
  data: Record<string, unknown>;
}

/** One entry of the log. */
export interface HiveEvent extends Required<NewEvent> {
  seq: number;
  at: string;
}
