/**
 * The questions of the sessions of one opencode server, raced with the desks. The server itself accepts one reply to each
 * request, so it decides which one was first; a desk whose answer arrived there too late is notified.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hive } from '../../../application/hive.ts';
import { objectIn, type Raw, textIn } from '../../../domain/json.ts';
import type { EditorAnswer, EditorDialog } from '../dialog.ts';
import type { EditorService, OpenedDialog } from '../dialogs.ts';
import { DialogRace } from '../race.ts';
import type { EditorSession } from '../sessions.ts';
import { type Conversation, forgetOldest, idIn } from './conversations.ts';
import { type Call, callIn, permissionOf, permissionReply, questionAnswers, questionsOf } from './dialogs.ts';
import { type OpencodeServer, RefusedRequest } from './server.ts';

type Kind = 'permission' | 'question';

/** A request of a session of opencode. */
interface Question {
  id: string;
  kind: Kind;
  request: Raw;
  conversation: Conversation;
  race: DialogRace;
  /** A desk's answer is on its way to the server. */
  sending: boolean;
  /** Somebody else has answered it, and a desk that was first in the hive has been notified. */
  settled: boolean;
}

interface QuestionParts {
  hive: Hive;
  editors: EditorService;
  server: OpencodeServer;
  /** Ends everything. */
  signal: AbortSignal;
  beside: (work: () => Promise<void>) => void;
  introduced: (conversation: Conversation) => Promise<EditorSession | null>;
}

/** In ms. An answer is sent again at the next connection, or after this time; a process tries as often to act for a session. */
const RETRY_MS = 5_000;
/** How many finished requests are remembered. */
const MOST_OVER = 1_000;
/** Further requests are shown by opencode alone. */
const MOST_QUESTIONS = 200;
const ENDED = 'it has ended';

export class Questions {
  readonly #parts: QuestionParts;
  readonly #open = new Map<string, Question>();
  /** Finished requests, with the reply if it is known: a list that was read earlier may still contain them. */
  readonly #over = new Map<string, string | undefined>();
  /** True if requests were left to opencode since the last connection. */
  #isFull = false;
  /** Fires at the next connection. */
  #connected = Promise.withResolvers<void>();

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  /** The server is connected, and all its open requests are about to be read. */
  connecting(): void {
    this.#over.clear();
    this.#isFull = false;
  }

  /** All open requests of the server were read. */
  connected(): void {
    this.#connected.resolve();
    this.#connected = Promise.withResolvers<void>();
  }

  asked(kind: Kind, request: Raw, conversation: Conversation): void {
    const { hive, editors, server, beside } = this.#parts;
    const id = idIn(request, 'id');
    if (id === null || this.#open.has(id) || this.#over.has(id)) return;
    if (this.#open.size >= MOST_QUESTIONS) {
      if (!this.#isFull)
        hive.log.warn('hive attach leaves further requests to opencode.', { url: server.url });
      this.#isFull = true;
      return;
    }
    const race = new DialogRace(editors, (stop) => this.#offer(id, kind, request, conversation, stop));
    const question: Question = { id, kind, request, conversation, race, sending: false, settled: false };
    this.#open.set(id, question);
    beside(async () => {
      const answer = await race.answer();
      if (answer !== null) await this.#deliver(question, answer);
    });
  }

  async #offer(
    id: string,
    kind: Kind,
    request: Raw,
    conversation: Conversation,
    stop: AbortSignal,
  ): Promise<OpenedDialog | null> {
    let session = await this.#parts.introduced(conversation);
    // Another process acts for it; when that ends, this one does.
    while (session === null && !stop.aborted) {
      await sleep(RETRY_MS, undefined, { signal: stop }).catch(() => undefined);
      if (!stop.aborted) session = await this.#parts.introduced(conversation);
    }
    if (session === null) return null;
    await conversation.turns;
    const dialog = await this.#dialogOf(kind, request, conversation);
    return dialog === null || stop.aborted ? null : session.open(dialog, id);
  }

  async #dialogOf(kind: Kind, request: Raw, conversation: Conversation): Promise<EditorDialog | null> {
    if (kind === 'question') return questionsOf(request);
    return permissionOf(request, await this.#callOf(request, conversation), conversation.directory);
  }

  /** The call that asks. Without it the permission is shown with opencode's own description. */
  async #callOf(request: Raw, { id, directory }: Conversation): Promise<Call | null> {
    const { hive, server } = this.#parts;
    const tool = objectIn(request['tool']) ?? {};
    const [message, call] = [textIn(tool, 'messageID'), textIn(tool, 'callID')];
    if (message === null || call === null) return null;
    const path = `/session/${encodeURIComponent(id)}/message/${encodeURIComponent(message)}`;
    try {
      return callIn(await server.get(path, directory), call);
    } catch (error) {
      hive.log.warn('hive attach could not read a call.', { error: String(error) });
      return null;
    }
  }

  // ---- A desk has answered ----

  /** Sends a desk's answer, again at each connection until the server has accepted it or refused it. */
  async #deliver(question: Question, answer: EditorAnswer): Promise<void> {
    const { hive, server, signal } = this.#parts;
    const { id, race } = question;
    question.sending = true;
    while (!race.signal.aborted && !signal.aborted) {
      const next = this.#connected.promise;
      try {
        await this.#send(question, answer);
        return;
      } catch (error) {
        hive.log.warn('hive attach could not send an answer.', { url: server.url, error: String(error) });
        if (error instanceof RefusedRequest) {
          this.#open.delete(id);
          return this.#warnUndelivered(question, error.message);
        }
        const stops = AbortSignal.any([race.signal, signal]);
        await Promise.race([next, sleep(RETRY_MS, undefined, { signal: stops }).catch(() => undefined)]);
      }
    }
    if (!signal.aborted) await this.#warnUndelivered(question, ENDED);
  }

  async #send(question: Question, answer: EditorAnswer): Promise<void> {
    const { id, kind, request, conversation, race } = question;
    const { editors, server } = this.#parts;
    const body =
      kind === 'permission' ? permissionReply(answer) : { answers: questionAnswers(request, answer) };
    const verb = 'answers' in body && body.answers === null ? 'reject' : 'reply';
    const path = `/${kind}/${encodeURIComponent(id)}/${verb}`;
    const sent = verb === 'reply' ? body : undefined;
    const isAccepted = await server.post(path, conversation.directory, sent);
    this.#open.delete(id);
    const other = this.#over.get(id);
    this.#noteOver(id, other);
    if (race.offered === null) return;
    if (isAccepted) await editors.acted(race.offered.session.session_id, id);
    else if (!question.settled) await race.withdraw('answered_elsewhere', other);
  }

  async #warnUndelivered({ race: { offered } }: Question, why: string): Promise<void> {
    const session_id = offered?.session.session_id ?? null;
    const [ask_id = ''] = offered?.ask_ids ?? [];
    const text = `Your answer to ${ask_id} did not reach opencode (${why}), so it allowed nothing there.`;
    const data = { notice: 'late_answer', ask_id };
    await this.#parts.hive.notices.give({ severity: 'warning', session_id, text, data });
  }

  // ---- It was answered in opencode, or is no longer asked ----

  /** `#deliver` informs a desk that was first in the hive. */
  isOver(id: string, reply?: string): void {
    this.#noteOver(id, reply);
    const question = this.#open.get(id);
    // This may be our own reply. If it is not, the server will refuse ours.
    if (question === undefined || question.sending) return;
    this.#open.delete(id);
    question.settled = true;
    this.#parts.beside(async () => {
      await question.race.withdraw('answered_elsewhere', reply);
    });
  }

  #noteOver(id: string, reply: string | undefined): void {
    this.#over.set(id, reply);
    forgetOldest(this.#over, MOST_OVER);
  }

  /** The ids of the open requests in a project. */
  idsIn(directory: string): string[] {
    const open = [...this.#open.values()].filter(({ conversation }) => conversation.directory === directory);
    return open.map(({ id }) => id);
  }

  isAsking(conversation: Conversation): boolean {
    return this.#of(conversation).length > 0;
  }

  turnEnded(conversation: Conversation): void {
    for (const { id } of this.#of(conversation)) this.isOver(id);
  }

  async withdrawAll(conversation: Conversation, reason: 'withdrawn' | 'interrupted'): Promise<void> {
    const all = this.#of(conversation);
    for (const { id } of all) this.#open.delete(id);
    for (const { race } of all) {
      await race.withdraw(reason);
      // A desk's answer that is still being sent reaches nobody any more.
      if (reason === 'withdrawn') race.end();
    }
  }

  #of(conversation: Conversation): Question[] {
    return [...this.#open.values()].filter((question) => question.conversation === conversation);
  }
}
