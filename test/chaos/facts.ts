/**
 * The knowledge of the workers, one line of JSON each, in a file of each worker's own. `tried` is written before the
 * act, everything else after it was acknowledged. The texts of questions, answers and messages are unique, so
 * that stored records can be told apart by them.
 */

export type Fact =
  /** About to ask, answer, amend or post; `text` is the key of the question, the decision, or the body. */
  | { did: 'tried'; what: 'ask' | 'answer' | 'amend' | 'post'; text: string }
  /** Acknowledged: the question is stored. */
  | { did: 'asked'; key: string; ask_id: string }
  /** Acknowledged: what became of an answer; `standing` is the decision that the answerer was shown as the current one. */
  | {
      did: 'answered';
      ask_id: string;
      decision: string;
      accepted: boolean;
      late: boolean;
      status: string;
      standing: string | null;
    }
  | { did: 'amended'; ask_id: string; decision: string }
  | { did: 'cancelled'; ask_id: string; accepted: boolean; status: string }
  | { did: 'seen'; ask_id: string }
  | { did: 'posted'; message_id: string; body: string }
  | { did: 'processed'; mention_ids: string[] }
  | { did: 'interrupted'; turn_id: string; outcome: string; abort_reason: string | null }
  /** The asker has read the status of its question; `text` is everything it got about the answer. */
  | {
      did: 'told';
      ask_id: string;
      status: string;
      decision: string | null;
      text: string;
      via: 'poll' | 'hook';
    }
  /** The asker has read that its question is pending. */
  | { did: 'unsettled'; ask_id: string }
  /** A hook was asked whether a tool may run. `reason` is what the agent reads. */
  | { did: 'hooked'; tool: string; held: boolean; reason: string }
  /** A follower begins to read after this event; what it saw follows, through all its lives. */
  | { did: 'followed'; after: number }
  | { did: 'saw'; seq: number }
  /** A desk opened: it is notified of events after `head_seq`; its notifications follow. */
  | { did: 'opened'; head_seq: number }
  | { did: 'heard'; method: string; id: string; status: string | null }
  /** An act was refused or failed. `code` is the error's, `lost` where the process went away in the middle of it. */
  | { did: 'failed'; what: string; code: string; message: string };

/** The facts that one worker wrote, in its order. */
export interface WorkerLog {
  worker: string;
  facts: readonly Fact[];
}

/** Rows as they lie in the store; JSON columns are parsed, nothing else is changed. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** The store after the run, read past the program that wrote it. */
export interface Snapshot {
  prompts: readonly StoredRow[];
  responses: readonly StoredRow[];
  /** In the order of `seq`. */
  events: readonly StoredRow[];
  messages: readonly StoredRow[];
  mentions: readonly StoredRow[];
  turns: readonly StoredRow[];
  /** The engine's verdict on the file: `ok`, or what is wrong with it. */
  integrity: string;
}

export interface Evidence {
  logs: readonly WorkerLog[];
  store: Snapshot;
  /** The power was cut at some time. */
  cut?: boolean;
  /** The workers that could not do their last acts after all faults were removed, and why. */
  stuck?: readonly string[];
}

/** All facts of one kind, from every worker. */
export function factsOf<Did extends Fact['did']>(
  { logs }: Pick<Evidence, 'logs'>,
  did: Did,
): Extract<Fact, { did: Did }>[] {
  return logs.flatMap(({ facts }) =>
    facts.filter((fact): fact is Extract<Fact, { did: Did }> => fact.did === did),
  );
}
