/**
 * The other ports of the application: processes, files, the desktop, randomness. ports.ts has the store. `infrastructure/`
 * implements these interfaces, and `open-hive.ts` chooses the implementations.
 */
import type { Raw } from '../domain/json.ts';
import type { Popup } from '../domain/popups.ts';

/** Random secrets, and the hashes that are stored of them. */
export interface Secrets {
  make(): string;
  digest(secret: string): string;
  /** Compares in constant time. */
  equal(a: string, b: string): boolean;
}

/** `not_set_up`: nothing is wrong, but it is not connected to Hive either, so it must not be shown as ok. */
export type CheckState = 'ok' | 'not_set_up' | 'broken';

/** The result of one check. `advice` says what to do; null when there is nothing to do. */
export interface Check {
  name: string;
  state: CheckState;
  text: string;
  advice: string | null;
}

export const checkOk = (name: string, text: string): Check => ({ name, state: 'ok', text, advice: null });

type MakeCheck = (name: string, text: string, advice: string | null) => Check;

const checkOf =
  (state: CheckState): MakeCheck =>
  (name, text, advice) => ({ name, state, text, advice });

export const checkNotSetUp: MakeCheck = checkOf('not_set_up');
export const checkBroken: MakeCheck = checkOf('broken');

/** Checks one thing, or several of a kind. A check that throws counts as failed. */
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
  /** The name of the program that a process runs; empty if unknown. */
  nameOf(pid: number): string;
  /** When a process began, as a text that no later process with this id has; null if it is gone. */
  startedAt(pid: number): string | null;
  /** How long a process has run, in ms; null if it is gone, or if that is unknown. */
  ageMs(pid: number): number | null;
  /** Sends SIGINT; false when there is no such process, or it is not ours. */
  interrupt(pid: number): boolean;
  /** Kills a process and its process group with SIGKILL. */
  kill(pid: number): void;
}

/** Files that other programs write. */
export interface Files {
  /** Waits until the names in these folders, and of the folders above, are on disk. Folders that cannot be opened are skipped. */
  flushFolders(folders: readonly string[]): void;
  /** The last `bytes` of a file, or null if it cannot be read. */
  readTail(path: string, bytes: number): string | null;
  /** When a file was last written, in ms since 1970; null if it does not exist, 0 if the time is unknown. */
  modifiedMs(path: string): number | null;
}

/** A dialog that Codex shows, as the request that its daemon sends to every client of the thread. */
export interface CodexDialog {
  method: string;
  params: Raw;
  /** The item of the thread that it is about; null if it names none. */
  item: Raw | null;
}

/** The running Codex of this user, through its control socket. */
export interface CodexControl {
  /**
   * Ends a turn at once. False if Codex cannot be reached, or refuses; null if it has not answered, and may still end the turn.
   * Never rejects, and never waits long.
   */
  interrupt(turn: { thread_id: string; client_turn_id: string }): Promise<boolean | null>;
  /** Whether the daemon hosts this thread. Never rejects, and never waits long. */
  hosts(thread_id: string): Promise<boolean>;
  /** The items of the last turn of a thread; none if the daemon does not host it. Never rejects, and never waits long. */
  items(thread_id: string): Promise<readonly Raw[]>;
  /**
   * Answers a dialog of a thread that the daemon hosts; it would load any other, which its own process could not write any more.
   * `replyTo` gets the open ones, one after the other, and returns the result of the one to answer, or null. False unless Codex
   * confirms an answer. Never rejects, and never waits long.
   */
  answer(thread_id: string, replyTo: (dialog: CodexDialog) => Promise<object | null>): Promise<boolean>;
  /** Begins a turn with this message if the session is idle. False if that is not possible; never rejects. */
  queue(message: { thread_id: string; message: string }): Promise<boolean>;
}

/** The project in which an agent works. */
export interface ProjectContext {
  /** A short name for people. */
  project: string;
  /** The identity of the project. */
  project_dir: string;
  branch: string | null;
}

/** Makes ids. An interface, so that tests can supply fixed ids. */
export interface Ids {
  /**
   * A new id, such as `ask-` and 16 characters. It is a capability: anyone who knows it may poll, so it must not be guessable.
   * The ids of one process increase.
   */
  make(prefix: string): string;
}

/** Shows popups on the desktop of the user who runs this process. */
export interface Notifier {
  /** Whether a desktop, or a program of the user's own (`command`), could be notified now. */
  reachable(command: string | null): Promise<boolean>;
  /**
   * Resolves when the popup was handed over. If it is `unwanted` by then, it is not shown. @throws Error with a sentence that
   * says why it could not be shown.
   */
  show(popup: Popup, unwanted?: AbortSignal): Promise<ShownPopup>;
  /** Removes all popups and waits until their processes have ended. */
  close(): Promise<void>;
}

export interface ShownPopup {
  /** The person's action; never rejects. If that cannot be determined, it is `closed` at once. */
  readonly outcome: Promise<PopupEnd>;
  close(): void;
}

export type PopupEnd = { kind: 'button'; index: number } | { kind: 'opened' } | { kind: 'closed' };

/** Writes one line for each call; `fields` never contain answers, tokens or environments. */
export interface Logger {
  /** Ordinary events. */
  info(message: string, fields?: Record<string, unknown>): void;
  /** Problems that were handled. */
  warn(message: string, fields?: Record<string, unknown>): void;
  /** Problems that were not handled. */
  error(message: string, fields?: Record<string, unknown>): void;
}

// ---- Rules ----

/** The list of rules in the human's own file. Each change replaces the file atomically and keeps every other byte. */
export interface RuleFile {
  /** The line of each rule, from 1; empty if the file cannot be read. */
  lines(): Promise<number[]>;
  /** Adds a rule at the end. @throws HiveError with a sentence that says why it could not. */
  add(rule: Readonly<Record<string, string>>): Promise<void>;
  /** Removes the rule at this index of the list if `isIt` confirms that it is there. @throws HiveError as `add` does. */
  remove(index: number, isIt: (rule: unknown) => boolean): Promise<void>;
}
