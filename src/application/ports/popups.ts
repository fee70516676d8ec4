/** Popups: which process of a seat holds the lease of each, and the storm that some of them are part of. */
import type { PopupKind, Storm } from '../../domain/popups.ts';

/** `leased`: its holder has yet to show it. */
export type PopupOutcome = 'leased' | 'sent' | 'suppressed' | 'failed';

/** The popups of one kind at one seat: what a storm is counted over. */
export interface PopupScope {
  seat: string;
  kind: PopupKind;
}

/** What is written when a process takes a lease. */
export interface PopupLease extends PopupScope {
  /** The id of what the popup is about. */
  subject: string;
  /** The process: a desk, or a connection of an agent. */
  held_by: string;
}

export interface PopupReads {
  /** The state of a popup; undefined while nobody holds its lease. */
  outcome(subject: string, seat: string): Promise<PopupOutcome | undefined>;
  /** The latest storm, however long ago; null if there was none. */
  storm(scope: PopupScope): Promise<Storm | null>;
  /** The unsettled subjects of a storm's popup, in the order of their leases. */
  inStorm(scope: PopupScope, storm: Storm): Promise<{ subject: string; outcome: PopupOutcome }[]>;
  /** Whether any subject of a storm is unsettled. */
  stormWaits(scope: PopupScope, storm: Storm): Promise<boolean>;
  /** How many leases were taken after that time and not suppressed; `first` is the time of the oldest. */
  recent(scope: PopupScope, after: string): Promise<{ count: number; first: string | null }>;
}

export interface PopupRecords extends PopupReads {
  /** Takes the lease of a popup at a seat; false when somebody has it already. */
  lease(lease: PopupLease, now: string): Promise<boolean>;
  /** Takes over a lease that was taken before that time and whose popup was never shown; false if there is none. */
  takeOver(lease: PopupLease, now: string, before: string): Promise<boolean>;
  /** Records on a lease that it was taken in a storm. */
  joinStorm(subject: string, seat: string, since: string): Promise<void>;
  /** Records the outcome of a leased popup; false when it is already recorded. */
  settle(
    subject: string,
    seat: string,
    outcome: Exclude<PopupOutcome, 'leased'>,
    reason: string | null,
  ): Promise<boolean>;
}
