/**
 * The sessions of one opencode server in the hive: the process that acts for each, and their turns. A session is introduced
 * when it is first heard of, and only once: all sessions that one process has attached look alike in the store.
 */

import type { Hive } from '../../../application/hive.ts';
import { objectIn, type Raw, textIn } from '../../../domain/json.ts';
import type { EditorService } from '../dialogs.ts';
import { attachAgent, type EditorSession } from '../sessions.ts';
import { CLIENT } from './dialogs.ts';
import type { OpencodeServer } from './server.ts';

/** One session of opencode. */
export interface Conversation {
  /** Its id in opencode. */
  id: string;
  directory: string;
  /** The session in the hive; null until it is introduced, and while another process acts for it. */
  session: Promise<EditorSession | null> | null;
  /** True while a turn of it runs. */
  isRunning: boolean;
  /** The running turn was aborted. */
  isAborted: boolean;
  /** The running turn began while another process acted for the session. */
  isUnbegun: boolean;
  /** Work on the beginnings and ends of its turns, in order. */
  turns: Promise<unknown>;
}

interface ConversationParts {
  hive: Hive;
  editors: EditorService;
  server: OpencodeServer;
  machine: string;
  /** The process that acts for the sessions: they end with it. */
  pid: number;
  beside: (work: () => Promise<void>) => void;
  /** Their questions. */
  questions: {
    isAsking(conversation: Conversation): boolean;
    /** Its turn is over, and its questions need no answer any more. */
    turnEnded(conversation: Conversation): void;
    /** Takes all its questions off the desks. */
    withdrawAll(conversation: Conversation, reason: 'withdrawn' | 'interrupted'): Promise<void>;
  };
}

/** The longest chain of subagents of subagents; a longer one is an error of the server. */
const MOST_PARENTS = 10;
/** How much is kept of one server, however much it sends: the newest sessions and projects. */
const MOST_CONVERSATIONS = 200;
const MOST_DIRECTORIES = 100;
/** Longer ids are not from opencode. */
const LONGEST_ID = 200;
const LONGEST_DIRECTORY = 4_096;

export class Conversations {
  readonly #parts: ConversationParts;
  readonly #known = new Map<string, Conversation>();
  /** The projects that the server has shown. */
  readonly directories = new Set<string>();
  readonly #speakers: Map<string, string>;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.#speakers = speakersIn(parts.hive);
  }

  find(id: string | null): Conversation | undefined {
    return id === null ? undefined : this.#known.get(id);
  }

  in(directory: string): Conversation[] {
    return [...this.#known.values()].filter((one) => one.directory === directory);
  }

  /** The session with this id, which is known from now on. If there are too many, the oldest idle one is forgotten. */
  of(id: string, directory: string): Conversation {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (directory.length <= LONGEST_DIRECTORY) this.directories.add(directory);
    forgetOldest(this.directories, MOST_DIRECTORIES);
    if (this.#known.size >= MOST_CONVERSATIONS) {
      const all = [...this.#known.values()];
      const idle = all.find((one) => !one.isRunning && !this.#parts.questions.isAsking(one));
      this.remove([idle ?? all[0]].flatMap((one) => one ?? []));
    }
    const turns = Promise.resolve();
    const state = { isRunning: false, isAborted: false, isUnbegun: false };
    const one = { id, directory, session: null, ...state, turns };
    this.#known.set(id, one);
    return one;
  }

  /** The session in the hive; null while another process acts for it. */
  async introduced(conversation: Conversation, depth = 0): Promise<EditorSession | null> {
    conversation.session ??= this.#introduce(conversation, depth);
    try {
      const session = await conversation.session;
      if (session === null) conversation.session = null;
      return session;
    } catch (error) {
      conversation.session = null;
      throw error;
    }
  }

  async #introduce(conversation: Conversation, depth: number): Promise<EditorSession | null> {
    const { hive, editors, server, pid } = this.#parts;
    const { id, directory } = conversation;
    const session_id = sessionId(id);
    if (await this.#isAnothers(session_id)) return null;
    if ((this.#speakers.get(session_id) ?? server.url) !== server.url) return null;
    this.#speakers.set(session_id, server.url);
    const info = objectIn(await server.get(`/session/${encodeURIComponent(id)}`, directory)) ?? {};
    const parent = depth < MOST_PARENTS ? idIn(info, 'parentID') : null;
    const agent = {
      session_id,
      client_session_id: null,
      client: CLIENT,
      name: null,
      pid,
      cwd: directory,
      parent_session_id: parent === null ? null : await this.#parentId(parent, directory, depth + 1),
    };
    const session = attachAgent(hive, editors, agent, { interrupt: () => this.#interrupt(conversation) });
    await session.describe(agent);
    if (conversation.isUnbegun && conversation.isRunning) await session.beginTurn(null);
    conversation.isUnbegun = false;
    return session;
  }

  /** A parent that is being introduced is not waited for: a hostile server may name two sessions as each other's parents. */
  async #parentId(id: string, directory: string, depth: number): Promise<string | null> {
    const parent = this.of(id, directory);
    if (parent.session !== null) return sessionId(id);
    return (await this.introduced(parent, depth))?.about().session_id ?? null;
  }

  async #isAnothers(session_id: string): Promise<boolean> {
    const { hive, pid, machine } = this.#parts;
    const find = async (): Promise<boolean> => {
      const known = await hive.sessions.find(session_id);
      return known !== undefined && known.state !== 'ended' && known.pid !== pid;
    };
    if (!(await find())) return false;
    await hive.sessions.sweep(machine);
    return find();
  }

  // ---- Turns ----

  hasStatus(conversation: Conversation, status: unknown): void {
    const type = objectIn(status)?.['type'];
    if (type === 'idle') this.endTurn(conversation);
    else if (type === 'busy' && !conversation.isRunning) this.#beginTurn(conversation);
  }

  #beginTurn(conversation: Conversation): void {
    conversation.isRunning = true;
    conversation.isAborted = false;
    this.#inTurn(conversation, async (session) => {
      conversation.isUnbegun = session === null;
      await session?.beginTurn(null);
    });
  }

  endTurn(conversation: Conversation): void {
    const { isRunning, isAborted } = conversation;
    conversation.isRunning = false;
    this.#parts.questions.turnEnded(conversation);
    if (isRunning)
      this.#inTurn(conversation, async (session) => session?.endTurn(isAborted ? 'cancelled' : null));
  }

  /** Does work on the turns of a session, after all earlier work on them. A failure concerns this step alone. */
  #inTurn(conversation: Conversation, work: (session: EditorSession | null) => Promise<void>): void {
    const done = conversation.turns.then(async () => {
      conversation.isUnbegun = false;
      await work(await this.introduced(conversation));
    });
    conversation.turns = done.catch(() => undefined);
    this.#parts.beside(() => done);
  }

  /** Stops the agent: somebody has interrupted its turn. */
  async #interrupt(conversation: Conversation): Promise<void> {
    const { server, questions } = this.#parts;
    const { id, directory } = conversation;
    await server.post(`/session/${encodeURIComponent(id)}/abort`, directory);
    await questions.withdrawAll(conversation, 'interrupted');
  }

  // ---- Until they are gone ----

  /** These sessions are gone, and their questions are lost. */
  remove(gone: readonly Conversation[]): void {
    const { server, questions, beside } = this.#parts;
    for (const conversation of gone) {
      this.#known.delete(conversation.id);
      beside(async () => {
        const session_id = sessionId(conversation.id);
        try {
          await questions.withdrawAll(conversation, 'withdrawn');
          await conversation.turns;
          const session = await conversation.session;
          await session?.close(true);
        } finally {
          if (!this.#known.has(conversation.id) && this.#speakers.get(session_id) === server.url)
            this.#speakers.delete(session_id);
        }
      });
    }
  }

  removeAll(): void {
    this.remove([...this.#known.values()]);
  }
}

/**
 * The server that acts for each session. All sessions that one process has attached look alike in the store, and a program that
 * listens at the port of one server might name the sessions of another.
 */
function speakersIn(hive: Hive): Map<string, string> {
  const known = SPEAKERS.get(hive) ?? new Map<string, string>();
  SPEAKERS.set(hive, known);
  return known;
}

const SPEAKERS = new WeakMap<Hive, Map<string, string>>();

/** The id of a session of opencode in the hive. */
function sessionId(id: string): string {
  return `editor-${id
    .replace(/^ses_/, '')
    .replace(/[^\w-]/g, '_')
    .slice(0, 64)}`;
}

/** Whether opencode makes such ids. */
export function isId(id: string): boolean {
  return id.length <= LONGEST_ID;
}

/** An id of opencode; null for anything else. */
export function idIn(raw: Raw, field: string): string | null {
  const id = textIn(raw, field);
  return id !== null && isId(id) ? id : null;
}

/** Sets and maps are in the order in which they were filled. */
export function forgetOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}
