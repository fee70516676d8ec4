/**
 * Sessions of agents in an editor, for the programs that act for the editor (`hive acp`, a desk): who the agent is, whether its
 * own hooks report it, its turns, and how it is stopped and woken. The editor stops a turn that the hive interrupts.
 */
import { beside } from '../../application/background.ts';
import type { Hive } from '../../application/hive.ts';
import { refuse } from '../../domain/actors.ts';
import { digestOf } from '../../domain/permissions.ts';
import type { Session } from '../../domain/sessions.ts';
import type { Turn } from '../../domain/turns.ts';
import type { EditorDialog } from './dialog.ts';
import { carrierOf, type EditorService, type OpenedDialog } from './dialogs.ts';

/** An agent as its editor describes it. */
export interface EditorAgent {
  /** Its id in the hive: `editor-…`. */
  session_id: string;
  /** The agent's own id of the conversation, under which its hooks would report it; null if the editor does not know it. */
  client_session_id: string | null;
  client: string;
  /** The name that the agent's person gave it. */
  name: string | null;
  pid: number | null;
  cwd: string;
  /** The parent session, for a subagent. */
  parent_session_id?: string | null;
  /** The conversation that it serves, by which a later start finds the session again (`conversationKey`); null if none may. */
  conversation?: string | null;
}

/** A conversation of an agent, as its editor names it. */
export interface AgentConversation {
  /** The agent's program and its arguments. */
  program: readonly string[];
  /** The agent's own id. */
  id: string;
  cwd: string;
}

/** The digest by which a conversation is known. Another program, or another directory, makes it another conversation. */
export function conversationKey(conversation: AgentConversation): string {
  return digestOf(conversation);
}

/**
 * The session that served this conversation before, for an agent in this process that loads it. Null while another process serves
 * it, below another agent than before, and for an id that an agent has given to several sessions. `isKnown`: a session has served
 * it.
 */
export async function earlierSession(
  hive: Hive,
  conversation: string,
  pid: number | null,
): Promise<{ session_id: string | null; isKnown: boolean }> {
  const { machine, store } = hive.parts;
  // After a crash, nobody has recorded the end of the earlier one.
  await hive.sessions.sweep(machine);
  const found = await store.read((tx) => tx.sessions.ofConversation(machine, conversation));
  const [first] = found;
  if (first === undefined) return { session_id: null, isKnown: false };
  const above = pid === null ? [] : await hive.sessions.above({ machine, pid });
  const isFree =
    found.length === 1 &&
    first.state === 'ended' &&
    first.parent_session_id === (above[0]?.session_id ?? null);
  return { session_id: isFree ? first.session_id : null, isKnown: true };
}

/** Actions that the hive may ask of the editor. */
export interface EditorActions {
  /** Stop the running turn. */
  interrupt(by: string): Promise<void>;
  /** Give the idle agent this text as a prompt; missing if the editor cannot. */
  wake?: (text: string) => Promise<void>;
}

export interface EditorSession {
  /** The editor's latest description of its agent. */
  about(): EditorAgent;
  /** The editor has learned more about its agent. */
  describe(agent: EditorAgent): Promise<Session>;
  /** Offers a dialog at the desks; null if the agent's own hooks do that. */
  open(dialog: EditorDialog, key?: string): Promise<OpenedDialog | null>;
  /** A turn begins. A running turn is replaced, unless it has the same id. */
  beginTurn(client_turn_id: string | null): Promise<Turn | null>;
  /** The turn has ended, with this stop reason of ACP. */
  endTurn(stop_reason: string | null): Promise<void>;
  /** Ends every wait at once. */
  stop(): void;
  /** The editor no longer acts for this agent: ends its turn, and its session if no process shows when that ends. */
  close(isGone?: boolean): Promise<void>;
}

/** A client whose hooks report a turn does so within this many ms after its prompt. */
const HOOKED_TURN_MS = 10_000;

/** Acts for an agent whose dialogs `editors` offers. Its session is introduced with the first report about it. */
export function attachAgent(
  hive: Hive,
  editors: EditorService,
  first: EditorAgent,
  actions: EditorActions,
): EditorSession {
  const { sessions, turns, interrupts, delivery, wakes, feed, log } = hive;
  const { machine, seat, placeAt, store } = hive.parts;
  let agent = first;
  let introduction: Promise<Session> | null = null;
  /** The running turn, once it is stored; null if hooks report it. */
  let turn: Promise<Turn | null> = Promise.resolve(null);
  /** Ends what waits for the turn to be interrupted. */
  let turnStop = new AbortController();
  let wakeStop = new AbortController();

  /** Why the agent in this process cannot be that of a session; null if it may be. */
  async function refusalToBe(session_id: string, pid: number): Promise<string | null> {
    const known = await sessions.find(session_id);
    if (known === undefined || (known.pid === pid && known.machine === machine)) return null;
    return sessions.refusalToSpeak(session_id, { machine, pid });
  }

  async function introduce(): Promise<Session> {
    const { cwd, client_session_id: _, pid, conversation = null, ...introduced } = agent;
    // `hive acp` of this editor may know the process.
    const known = pid === null ? await sessions.find(agent.session_id) : undefined;
    if (pid !== null) refuse(await refusalToBe(agent.session_id, pid));
    const session = await sessions.introduce({
      ...hive.findProject(cwd),
      ...introduced,
      pid: pid ?? known?.pid ?? null,
      source: 'main',
      machine,
      parent_session_id: agent.parent_session_id ?? null,
    });
    if (conversation !== null)
      await store.write((tx) => tx.sessions.nameConversation(session.session_id, conversation));
    return session;
  }

  function introduced(): Promise<Session> {
    introduction ??= introduce().catch((error: unknown) => {
      introduction = null;
      throw error;
    });
    return introduction;
  }

  /** The session that hooks report for this agent; undefined if none do. */
  async function hooked(): Promise<Session | undefined> {
    // An agent may give its session the id of another agent's session; only its process proves that it is the same agent.
    if (agent.client_session_id === null || agent.pid === null) return undefined;
    const known = await sessions.find(agent.client_session_id);
    if (known === undefined || known.hooks_seen_at === null || known.state === 'ended') return undefined;
    if ((await refusalToBe(known.session_id, agent.pid)) !== null) return undefined;
    if (introduction !== null) {
      // It was introduced before its first hook ran.
      introduction = null;
      await sessions.end(agent.session_id);
    }
    return known;
  }

  /** Stops the agent when somebody interrupts its turn, including a turn that its hooks began. */
  async function watchTurn(signal: AbortSignal): Promise<void> {
    const running = (await turn) ?? (await hookedTurn(signal));
    if (running === null || signal.aborted) return;
    const request = await interrupts.untilInterrupted(running.turn_id, signal);
    if (request !== null && !signal.aborted) await actions.interrupt(request.by);
  }

  async function hookedTurn(signal: AbortSignal): Promise<Turn | null> {
    const find = async (): Promise<Turn | undefined> => {
      const session = await hooked();
      return session === undefined ? undefined : turns.current(session.session_id);
    };
    return (await feed.until(find, { wait_ms: HOOKED_TURN_MS, signal })) ?? null;
  }

  /** Waits for interrupts and news while the agent is idle. The wait of an earlier turn ends. */
  function watchIdle(): void {
    const { wake } = actions;
    wakeStop.abort();
    if (wake === undefined) return;
    wakeStop = new AbortController();
    const { signal } = wakeStop;
    void beside(log, 'An idle agent in an editor cannot be woken.', async () => {
      const deliver = async (text: string): Promise<boolean> => {
        if (!signal.aborted) await wake(text);
        return !signal.aborted;
      };
      let woken: string | null = '';
      while (woken !== null && !signal.aborted) {
        const session_id = (await hooked())?.session_id ?? agent.session_id;
        woken = await wakes.untilWanted({ session_id, seat, signal, deliver });
      }
    });
  }

  return {
    about: () => agent,

    async describe(now) {
      agent = now;
      introduction = null;
      const session = (await hooked()) ?? (await introduced());
      watchIdle();
      return session;
    },

    async open(dialog, key) {
      if ((await hooked()) !== undefined) return null;
      const session = await introduced();
      await turn;
      const place = (await placeAt())(agent.cwd);
      return editors.open({ session, dialog, place, key });
    },

    beginTurn(client_turn_id) {
      turnStop.abort();
      turnStop = new AbortController();
      const { signal } = turnStop;
      turn = (async () => {
        if ((await hooked()) !== undefined) return null;
        const { session_id, handle: by } = await introduced();
        return turns.start({ session_id, client_turn_id, by });
      })().catch((error: unknown) => {
        log.warn('A turn of an agent in an editor could not be recorded.', { error: String(error) });
        return null;
      });
      void beside(log, 'A turn of an agent in an editor is not watched.', () => watchTurn(signal));
      return turn;
    },

    async endTurn(stop_reason) {
      turnStop.abort();
      const ending = turn;
      turn = Promise.resolve(null);
      const session = await hooked();
      const running =
        (await ending) ??
        (session === undefined ? null : ((await turns.current(session.session_id)) ?? null));
      if (running !== null) {
        const isOurs = running.session_id === agent.session_id;
        // Hooks also end a turn that they began, unless it was cancelled: then no hook runs.
        if (isOurs || stop_reason === 'cancelled')
          await turns.end(running.turn_id, stop_reason === 'cancelled' ? { aborted: 'interrupted' } : {});
        if (isOurs) await delivery.collect(carrierOf(agent));
      }
      watchIdle();
    },

    stop() {
      turnStop.abort();
      wakeStop.abort();
    },

    async close(isGone = false) {
      turnStop.abort();
      wakeStop.abort();
      const running = await turn;
      if (running !== null) {
        const now = await turns.get(running.turn_id);
        if (now.state === 'in_progress') await turns.end(running.turn_id, { aborted: 'ended' });
      }
      const session = introduction === null ? null : await introduction;
      if (session !== null && (isGone || session.pid === null)) await sessions.end(session.session_id);
    },
  };
}
