/**
 * The questions of an ACP agent to its person, raced with the desks (../race.ts). If the client cannot show a form, only the
 * desks show it, and the form is answered in the client's place even if nobody is at a desk.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Hive } from '../../../application/hive.ts';
import { isTransient } from '../../../domain/errors.ts';
import type { Raw } from '../../../domain/json.ts';
import type { EditorDialog } from '../dialog.ts';
import type { EditorService, WithdrawReason } from '../dialogs.ts';
import { DialogRace } from '../race.ts';
import type { EditorSession } from '../sessions.ts';
import { resultOf, type ToolCalls, withdrawnResult } from './dialogs.ts';
import { type Id, key } from './wire.ts';

/** One session of the agent. */
export interface Conversation {
  acp_id: string;
  cwd: string;
  calls: ToolCalls;
  /** The session in the hive. */
  session: EditorSession;
}

/** A question of the agent, as in its request. */
export interface Asked {
  id: Id;
  method: string;
  params: Raw;
  dialog: EditorDialog;
  conversation: Conversation;
  /** The client shows it too. */
  shown: boolean;
}

/** A question of the agent that has no answer yet. */
interface Question extends Asked {
  race: DialogRace;
  /** The client answered it after a desk had. */
  outrun: boolean;
}

interface QuestionParts {
  hive: Hive;
  editors: EditorService;
  toAgent: (message: object) => Promise<void>;
  toClient: (message: object) => Promise<void>;
  beside: (work: () => Promise<void>) => void;
  /** How many ms a form that only a desk can show waits while nobody is at a desk. */
  patience_ms: number;
  /** Prints a line for the person. */
  remark: (text: string) => void;
}

export const CANCEL_REQUEST = '$/cancel_request';
export const REQUEST_CANCELLED = -32_800;
/**
 * How many ms a question waits before the desks get it. An agent such as opencode may ask first and describe its call in full
 * a few ms later, and nobody should see a question disappear and come back.
 */
const SETTLES_MS = 25;
/** How often a question is withdrawn again while the store is locked or away. */
const LATER_MS = 1_000;
export const UNSHOWN = 'A form of the agent could not be shown at a desk. It was cancelled.';

export class Questions {
  readonly #parts: QuestionParts;
  readonly #open = new Map<string, Question>();
  /** Requests that a desk has answered: the client's own answer comes too late. */
  readonly #settled = new Set<string>();
  /** Fires when the agent has gone: its session ends, and all its questions with it. */
  readonly #ended = new AbortController();

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  // ---- Messages of the two sides ----

  /** The agent asks. A request under the id of an open one replaces it: the agent no longer waits for the first one. */
  asked(asked: Asked): void {
    const { editors, beside } = this.#parts;
    const id = key(asked.id);
    const replaced = this.#open.get(id);
    const race = new DialogRace(editors, async (signal) => {
      await sleep(SETTLES_MS, undefined, { signal }).catch(() => undefined);
      const isAsked = this.#open.get(id) === question;
      return isAsked ? asked.conversation.session.open(asked.dialog) : null;
    });
    const question: Question = { ...asked, race, outrun: false };
    this.#settled.delete(id);
    this.#open.set(id, question);
    if (replaced !== undefined)
      beside(async () => {
        await this.#withdraw(replaced, 'withdrawn');
      });
    beside(() => this.#raceOrDecline(question));
  }

  /**
   * The agent describes a call anew. If the desks would now show something else for its permission, it is asked again:
   * an answer to the old text does not count for the new one. `again` reads the request in its present form.
   */
  described({ acp_id }: Conversation, again: (asked: Asked) => Asked | null): void {
    for (const question of this.#of(acp_id)) {
      const asked = question.outrun ? null : again(question);
      if (asked !== null && !isDeepStrictEqual(asked.dialog, question.dialog)) this.asked(asked);
    }
  }

  /** The client answers. Returns whether its answer goes to the agent: the store decides which answer was first. */
  async answered(id: Id): Promise<boolean> {
    if (this.#settled.delete(key(id))) return false;
    const question = this.#open.get(key(id));
    if (question === undefined) return true;
    const isFirst = await this.#withdraw(question, 'answered_elsewhere');
    // It was asked again in the meantime, or is settled.
    if (this.#open.get(key(id)) !== question) return this.answered(id);
    if (isFirst) {
      this.#open.delete(key(id));
      return true;
    }
    // A desk was first. Its answer is sent anyway, and this one is too late: `#settle` informs the client.
    question.shown = false;
    question.outrun = true;
    return false;
  }

  /** The agent no longer asks. Returns whether to keep this from the client. */
  cancelled(id: Id | null): boolean {
    const { toAgent, beside } = this.#parts;
    const question = id === null ? undefined : this.#open.get(key(id));
    if (id === null || question === undefined) return false;
    this.#open.delete(key(id));
    beside(async () => {
      await this.#withdraw(question, 'withdrawn');
    });
    if (question.shown) return false;
    const error = { code: REQUEST_CANCELLED, message: 'Withdrawn by the agent.' };
    void toAgent({ jsonrpc: '2.0', id, error });
    return true;
  }

  /** A client that cancels a turn answers the open requests in it. For the forms that the client never saw, this answers. */
  turnCancelled(acp_id: string | null): void {
    for (const question of this.#open.values())
      if (question.conversation.acp_id === acp_id && !question.shown && !question.outrun)
        this.#parts.beside(() => this.#cancelForm(question, 'interrupted'));
  }

  /** A turn has ended: its questions need no answer any more. */
  turnEnded(conversation: Conversation): void {
    for (const question of this.#of(conversation.acp_id)) {
      if (!question.shown && !question.outrun) {
        this.#parts.beside(() => this.#cancelForm(question, 'withdrawn'));
        continue;
      }
      this.#open.delete(key(question.id));
      this.#parts.beside(async () => {
        await this.#withdraw(question, 'withdrawn');
      });
    }
  }

  /** Somebody has interrupted the turn. */
  async interrupted(acp_id: string): Promise<void> {
    for (const question of this.#of(acp_id))
      if (await this.#withdraw(question, 'interrupted'))
        await this.#settle(question, withdrawnResult(question.method));
  }

  // ---- At the desks ----

  /** A request that the client does not show is always answered, even if the hive fails. */
  async #raceOrDecline(question: Question): Promise<void> {
    try {
      await this.#race(question);
    } catch (error) {
      if (!question.shown) await this.#settle(question, withdrawnResult(question.method), UNSHOWN);
      throw error;
    }
  }

  async #race(question: Question): Promise<void> {
    const { race } = question;
    await race.opened;
    if (!question.shown) this.#parts.beside(() => this.#declineUnattended(question));
    const answer = await race.answer();
    const { offered } = race;
    if (answer !== null) await this.#settle(question, resultOf(answer));
    else if (!question.shown && offered !== null && !race.signal.aborted)
      await this.#settle(
        question,
        withdrawnResult(question.method),
        offered.ask_ids.length === 0 ? UNSHOWN : null,
      );
  }

  /** A form that only a desk can show is declined once nobody has been at one for a while. */
  async #declineUnattended(question: Question): Promise<void> {
    const { editors, patience_ms } = this.#parts;
    const { signal } = question.race;
    for (;;) {
      await sleep(patience_ms, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || this.#open.get(key(question.id)) !== question) return;
      if (await editors.isAttended()) continue;
      if (!(await this.#withdraw(question, 'withdrawn'))) return;
      await this.#settle(
        question,
        { action: 'decline' },
        'No desk is open, so a form of the agent was declined.',
      );
      return;
    }
  }

  /** Answers the agent in the client's place, and takes the dialog away from the client. */
  async #settle(question: Question, result: Raw, why: string | null = null): Promise<void> {
    const { toAgent, toClient, remark } = this.#parts;
    const { id, race, shown } = question;
    if (this.#open.get(key(id)) !== question) return;
    this.#open.delete(key(id));
    // Before anything is waited for: the client may answer at any moment.
    if (shown) this.#settled.add(key(id));
    race.end();
    if (why !== null) remark(why);
    await toAgent({ jsonrpc: '2.0', id, result });
    if (question.outrun) remark('An answer in the editor came too late: a desk had answered already.');
    else if (!shown) return;
    await toClient({ jsonrpc: '2.0', method: CANCEL_REQUEST, params: { requestId: id } });
  }

  /** Withdraws what the desks show. False if a desk has answered first, and the agent gets that answer. */
  async #withdraw({ race }: Question, reason: WithdrawReason): Promise<boolean> {
    try {
      // A rule may answer it while it is being offered.
      await race.opened.catch(() => null);
      return await race.withdraw(reason);
    } catch (error) {
      this.#parts.hive.log.warn('hive acp could not withdraw a question.', { error: String(error) });
      race.end();
      if (isTransient(error)) this.#parts.beside(() => this.#withdrawLater(race, reason));
      return true;
    }
  }

  /** Until the question is off the desks, somebody might answer it there, and that answer would reach nobody. */
  async #withdrawLater(race: DialogRace, reason: WithdrawReason): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await sleep(LATER_MS, undefined, { signal }).catch(() => undefined);
      try {
        await race.withdraw(reason);
        return;
      } catch (error) {
        if (!isTransient(error)) throw error;
      }
    }
  }

  /** Answers a form that only the desks show, because its turn is over, unless a desk has answered it first. */
  async #cancelForm(question: Question, reason: 'withdrawn' | 'interrupted'): Promise<void> {
    if (await this.#withdraw(question, reason))
      await this.#settle(question, withdrawnResult(question.method));
  }

  #of(acp_id: string): Question[] {
    return [...this.#open.values()].filter(({ conversation }) => conversation.acp_id === acp_id);
  }

  // ---- The agent is gone ----

  /** Ends every wait. */
  end(): void {
    this.#ended.abort();
    for (const { race } of this.#open.values()) race.end();
  }

  async withdrawAll(): Promise<void> {
    for (const question of this.#open.values()) await this.#withdraw(question, 'withdrawn');
  }
}
