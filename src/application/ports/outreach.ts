/** Pings, cards and reports, with what rations them and the Stop guard. */
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

/** Who reads reports. `heir`: also those of its project whose own reader is gone. */
export interface ReportReader {
  session_id: string;
  project_dir: string;
  heir: boolean;
  /** What carries them in: what it has carried already is not handed again. */
  carrier: string;
}

export interface OutreachReads extends PrunableReads {
  get(outreach_id: string): Promise<Outreach | undefined>;
  /** The card whose actions are this prompt's options. */
  byPrompt(ask_id: string): Promise<Outreach | undefined>;
  /** Newest first. */
  list(filter: OutreachFilter): Promise<Page<Outreach>>;
  /** Visible output of a session that no report has told of, oldest first. */
  unreported(session_id: string): Promise<Outreach[]>;
  /** Visible output of a turn that was not critical; where turns are not told, since the last report. */
  outputs(session_id: string, turn_id: string | null): Promise<number>;
  /** Pings and cards that are kept for a human who was away, oldest first. */
  unseen(limit: number): Promise<Outreach[]>;
  /** How many of them background sessions sent that were not critical. */
  countUnseen(): Promise<number>;
  /** Pings and cards sent before then that nobody has shown. */
  unshown(before: string): Promise<Outreach[]>;
  /** The oldest reports that wait for a reader, and how many there are in all. */
  reportsFor(reader: ReportReader, limit: number): Promise<{ items: Outreach[]; total: number }>;
  bucket(name: string): Promise<Bucket | undefined>;
  guard(session_id: string): Promise<StopGuardRecord | undefined>;
  /** When the human last took up a prompt that still waits. */
  answeringSince(): Promise<string | null>;
  /** The human's preferences at each seat that has stored some. */
  everySeat(): Promise<Record<string, unknown>[]>;
}

export interface OutreachRecords extends OutreachReads, Prunable {
  nextNumber(): Promise<number>;
  insert(item: Outreach): Promise<void>;
  update(item: Outreach): Promise<void>;
  /** Reports that wait for one session wait for another. */
  moveReader(from: string, to: string): Promise<void>;
  putBucket(bucket: Bucket): Promise<void>;
  putGuard(record: StopGuardRecord): Promise<void>;
}
