/** Pings, cards and reports, with their budget and the Stop guard. */
import type { Bucket, Outreach, OutreachKind } from '../../domain/outreach.ts';
import type { StopGuardRecord } from '../../domain/stop-guard.ts';
import type { Page, Prunable, PrunableReads } from './records.ts';

export interface OutreachFilter {
  kind?: OutreachKind | undefined;
  session_id?: string | undefined;
  project_dir?: string | undefined;
  limit: number;
  cursor?: string | null | undefined;
}

/** Who reads reports. `heir`: also reports of its project whose own reader is gone. */
export interface ReportReader {
  session_id: string;
  project_dir: string;
  heir: boolean;
  /** The carrier; what it has already delivered is not handed over again. */
  carrier: string;
}

export interface OutreachReads extends PrunableReads {
  get(outreach_id: string): Promise<Outreach | undefined>;
  /** The card whose actions are this prompt's options. */
  byPrompt(ask_id: string): Promise<Outreach | undefined>;
  /** Newest first. */
  list(filter: OutreachFilter): Promise<Page<Outreach>>;
  /** Visible output of a session that no report covers, oldest first. */
  unreported(session_id: string): Promise<Outreach[]>;
  /** Non-critical visible output of a turn; if turns are not reported, since the last report. */
  outputs(session_id: string, turn_id: string | null): Promise<number>;
  /** Pings and cards that are kept for a human who was away, oldest first. */
  unseen(limit: number): Promise<Outreach[]>;
  /** How many of them are non-critical and from background sessions. */
  countUnseen(): Promise<number>;
  /** Pings and cards sent before then that nobody has shown. */
  unshown(before: string): Promise<Outreach[]>;
  /** The oldest reports that wait for a reader, and how many there are in all. */
  reportsFor(reader: ReportReader, limit: number): Promise<{ items: Outreach[]; total: number }>;
  bucket(name: string): Promise<Bucket | undefined>;
  guard(session_id: string): Promise<StopGuardRecord | undefined>;
  /** When the human last opened a prompt that is still pending. */
  answeringSince(): Promise<string | null>;
  /** The human's preferences at each seat that has stored some. */
  everySeat(): Promise<Record<string, unknown>[]>;
}

export interface OutreachRecords extends OutreachReads, Prunable {
  nextNumber(): Promise<number>;
  insert(item: Outreach): Promise<void>;
  update(item: Outreach): Promise<void>;
  /** Moves the unread reports of one session to another. */
  moveReader(from: string, to: string): Promise<void>;
  putBucket(bucket: Bucket): Promise<void>;
  putGuard(record: StopGuardRecord): Promise<void>;
}
