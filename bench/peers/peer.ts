/** The interface of every system that lets an agent ask a human, so that they can be compared. */

/** A tool as a server lists it. */
export interface ListedTool {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
  _meta?: Record<string, unknown> | undefined;
}

/** A question that an agent has asked. */
export interface Asked {
  /** Resolves when the human's side has it. */
  readonly shown: Promise<void>;
  /** Resolves with the answer as the agent's client received it; never, if the system lost it. */
  readonly answered: Promise<string>;
  /** The human answers; resolves when the human's side considers that done. */
  answer(text: string): Promise<void>;
}

/** One running system: an agent's client, its server, and the human's side, played by the bench. */
export interface Peer {
  readonly name: string;
  tools(): Promise<readonly ListedTool[]>;
  /** The arguments that the model has written and the results that it has read, in order. */
  readonly spoken: readonly unknown[];
  ask(question: string): Promise<Asked>;
  /** kill -9 of the server that the agent's client has started; the client starts another. */
  restartServer(): Promise<void>;
  /**
   * The agent's copy of the answer to `asked` after its server was killed and restarted, by whatever means the
   * system offers; null when there is none.
   */
  recover(asked: Asked): Promise<string | null>;
  close(): Promise<void>;
}

/** Whether `promise` settles within `ms`; what it settles with, else null. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([promise.catch(() => null), late]).finally(() => clearTimeout(timer));
}
