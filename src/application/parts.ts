/** The parts of a hive (open-hive.ts). Each service takes the parts that it needs. */
import type { EditTools } from '../domain/edits.ts';
import type { Place } from '../domain/places.ts';
import type { Seat, SeatKey } from '../domain/seats.ts';
import type { Environment } from '../domain/sources.ts';
import type { Trust } from '../domain/trust.ts';
import type { Feed } from './feed.ts';
import type { Store } from './ports.ts';
import type {
  CodexControl,
  Examination,
  Files,
  Ids,
  Logger,
  Notifier,
  Processes,
  ProjectContext,
  RuleFile,
} from './world.ts';

export interface Parts {
  store: Store;
  feed: Feed;
  ids: Ids;
  processes: Processes;
  log: Logger;
  notifier: Notifier;
  files: Files;
  /** The daemon of Codex on this machine; loaded when a turn is interrupted, a dialog answered or an idle session woken. */
  codex: () => Promise<CodexControl>;
  /** Reads and compares the files of an agent that works in `cwd`; loaded when an edit of Codex is answered. */
  editTools: (cwd: string) => Promise<EditTools>;
  env: Environment;
  /** This machine's name, as sessions have it. Files, processes and sockets of other machines cannot be reached. */
  machine: string;
  /** This process. */
  pid: number;
  /** The name of the seat, user@machine. */
  seat: string;
  findProject: (directory: string) => ProjectContext;
  /** Resolves a directory of this machine as it is now; loaded when rules are tried. */
  placeAt: () => Promise<(directory: string) => Place>;
  /** The present content of the human's file. */
  trust: () => Trust;
  /** The rules in that file; loaded when they are listed or changed, with a parser that keeps the person's formatting. */
  ruleFile: () => Promise<RuleFile>;
  /** Writes a seat into that file, replacing one with the same key. @throws with a sentence that says why it could not. */
  addSeat: (seat: Seat) => Promise<void>;
  /** Removes the seat with this key from that file. @throws as `addSeat` does. */
  removeSeat: (key: string) => Promise<void>;
  /** Returns the key with this public part in the person's SSH agent. */
  agentKey: (key: string) => SeatKey;
  /** The doctor's checks of the machine; loaded when it is asked. */
  examinations: () => Promise<readonly Examination[]>;
}
