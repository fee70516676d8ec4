/**
 * The ports of the application besides the store: other processes, files, the desktop, randomness. `infrastructure/` implements
 * these interfaces, and `open-hive.ts` chooses the implementations.
 */
import type { Popup } from '../domain/popups.ts';

/** Random secrets, and the hashes that are stored of them. */
export interface Secrets {
  make(): string;
  digest(secret: string): string;
  /** Compares in constant time. */
  equal(a: string, b: string): boolean;
}

/** `not_set_up`: nothing is wrong, but it is not connected to Hive either, so it must not be taken for ok. */
export type CheckState = 'ok' | 'not_set_up' | 'broken';

/** The result of one check. `advice` says what to do; null when there is nothing to do. */
export interface Check {
  name: string;
  state: CheckState;
  text: string;
  advice: string | null;
}

/** Checks one thing, or several of a kind. A check that throws is itself a finding. */
export interface Examination {
  name: string;
  examine(): Promise<Check[]>;
}

/** Other processes of this machine. */
export interface Processes {
  alive(pid: number): boolean;
  /** The ids of the processes that `pid` descends from, nearest first. */
  ancestors(pid: number): number[];
  /** The variables that a process was started with; none where they cannot be read. */
  environment(pid: number): Readonly<Record<string, string>>;
  /** The name of the program that a process runs; empty if that cannot be known. */
  nameOf(pid: number): string;
  /** When a process began, as a text; null if it is gone. Together with the pid it identifies the process. */
  startedAt(pid: number): string | null;
  /** How long a process has run, in ms; null if it is gone, or if that cannot be known. */
  ageMs(pid: number): number | null;
  /** Sends SIGINT; false when there is no such process, or it is not ours. */
  interrupt(pid: number): boolean;
  /** Ends a process and all of the group that it leads, with SIGKILL. */
  kill(pid: number): void;
}

/** Files that belong to others. */
export interface Files {
  /** Waits until the names in these folders, and of the folders above, are on disk. What cannot be opened is left out. */
  flushFolders(folders: readonly string[]): void;
  /** The last `bytes` of a file, or null if it cannot be read. */
  readTail(path: string, bytes: number): string | null;
  /** When a file was last written, in ms since 1970; null if there is none, 0 if that cannot be known. */
  modifiedMs(path: string): number | null;
}

/** The running Codex of this user, through its control socket. */
export interface CodexControl {
  /**
   * Ends a turn at once. False if Codex cannot be reached, or refuses; null if it has not answered, and may still end the turn.
   * Never rejects, and never waits long.
   */
  interrupt(turn: { thread_id: string; client_turn_id: string }): Promise<boolean | null>;
  /**
   * Answers the questions that its dialog shows, by their text. False if that dialog is no longer open; never rejects, and
   * never waits long.
   */
  answer(dialog: { thread_id: string; answers: ReadonlyMap<string, readonly string[]> }): Promise<boolean>;
  /** Begins a turn with this message if the session is idle. False if that is not possible; never rejects. */
  queue(message: { thread_id: string; message: string }): Promise<boolean>;
}

/** Makes ids; an interface, so that tests can fix them. */
export interface Ids {
  /** A new id: `ask-` and 16 characters. It is a capability: anyone who knows it may poll, so nobody can guess it. A process makes ids that grow. */
  make(prefix: string): string;
}

/** Shows popups on the desktop of the user who runs this process. */
export interface Notifier {
  /** Whether a desktop, or a program of the user's own (`command`), could be notified now. */
  reachable(command: string | null): Promise<boolean>;
  /**
   * Resolves when the popup was handed over; one that is no longer wanted by then is not. @throws Error with a sentence that
   * says why that was not possible.
   */
  show(popup: Popup, unwanted?: AbortSignal): Promise<ShownPopup>;
  /** Takes down all popups and waits until their processes have ended. */
  close(): Promise<void>;
}

export interface ShownPopup {
  /** The person's action; never rejects. If that cannot be known, it is `closed` at once. */
  readonly outcome: Promise<PopupEnd>;
  close(): void;
}

export type PopupEnd = { kind: 'button'; index: number } | { kind: 'opened' } | { kind: 'closed' };

/** One line a call; `fields` never contain answers, tokens or environments. */
export interface Logger {
  /** Ordinary events. */
  info(message: string, fields?: Record<string, unknown>): void;
  /** Faults that were dealt with. */
  warn(message: string, fields?: Record<string, unknown>): void;
  /** Faults that were not. */
  error(message: string, fields?: Record<string, unknown>): void;
}

// ---- Rules ----

/** The list of rules in the human's own file. Each change replaces the file at once and leaves every other byte as it was. */
export interface RuleFile {
  /** The line of each rule, from 1; empty if the file cannot be read. */
  lines(): Promise<number[]>;
  /** Adds a rule at the end. @throws HiveError with a sentence that says why it could not. */
  add(rule: Readonly<Record<string, string>>): Promise<void>;
  /** Removes the rule at this place of the list if `isIt` says that it is there. @throws HiveError as `add` does. */
  remove(index: number, isIt: (rule: unknown) => boolean): Promise<void>;
}
