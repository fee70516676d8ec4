/**
 * A server of opencode, attached to the hive: what its agents ask is asked at the desks as well, and the first answer
 * wins. The server itself decides who is first: it accepts one reply to each request. Turns, and so interrupts, are known to
 * the hive. What waits in the server is read again at each connection, so nothing depends on an event that was missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { carrierOf, type OfferedDialog } from '../../../application/editors.ts';
import type { Hive } from '../../../application/hive.ts';
import type { ProjectContext } from '../../../application/hook-context.ts';
import type { EditorAnswer, EditorDialog } from '../../../domain/editors.ts';
import type { Raw } from '../../../domain/hooks.ts';
import { objectIn, objectsIn, textIn } from '../../../domain/json.ts';
import type { Place } from '../../../domain/permission-rules.ts';
import type { Session } from '../../../domain/sessions.ts';
import type { Turn } from '../../../domain/turns.ts';
import {
  type Call,
  CLIENT,
  callIn,
  permissionOf,
  permissionReply,
  questionAnswers,
  questionsOf,
} from './dialogs.ts';
import { isNobodyThere, type OpencodeServer, RefusedRequest, type ServerEvent } from './server.ts';

export interface AttachOptions {
  hive: Hive;
  server: OpencodeServer;
  machine: string;
  /** The process that speaks for the sessions: they end with it. */
  pid: number;
  findProject: (directory: string) => ProjectContext;
  placeAt: (directory: string) => Place;
  /** Ends it. */
  signal: AbortSignal;
  /** Prints for the person that the connection is there or lost. */
  remark: (text: string) => void;
}

/** One session of opencode. */
interface Conversation {
  /** Its id in opencode. */
  id: string;
  directory: string;
  session: Promise<Session> | null;
  /** The running turn, once it is stored; undefined while none runs. */
  turn: Promise<Turn | null> | undefined;
  /** Ends what waits for the turn to be interrupted. */
  turn_stop: AbortController;
  /** The turn was aborted. */
  aborted: boolean;
}

/** Something that a session of opencode asks. */
interface Question {
  id: string;
  kind: 'permission' | 'question';
  request: Raw;
  conversation: Conversation;
  /** Ends the wait for a desk. */
  stop: AbortController;
  offered: OfferedDialog | null;
  /** A desk's answer is on its way to the server. */
  sending: boolean;
  /** Somebody else has answered it, and a desk that was first in the hive has been informed. */
  settled: boolean;
}

/** Waits between attempts to connect: the first, and the longest. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 30_000;
/** An answer is sent again at the next connection, or after this. */
const RETRY_MS = 5_000;
/** A subagent of a subagent…: a longer chain is an error of the server. */
const MOST_PARENTS = 10;
/** What is kept of one server, however much it sends: the newest sessions, projects, and requests that are over. */
const MOST_CONVERSATIONS = 200;
const MOST_DIRECTORIES = 100;
const MOST_OVER = 1_000;
/** Beyond these, opencode alone shows what it asks. */
const MOST_QUESTIONS = 200;
/** Longer ones are not of opencode. */
const LONGEST_ID = 200;
const LONGEST_DIRECTORY = 4_096;
const SENTENCES = {
  attached: (url: string) => `Attached to ${url}.`,
  lost: (url: string, why: string) => `Cannot reach ${url} (${why}); trying again until you stop this.`,
  undelivered: (ask_id: string, why: string) =>
    `Your answer to ${ask_id} did not reach opencode (${why}), so it allowed nothing there.`,
  ended: 'it has ended',
} as const;

/** Follows a server until `signal` fires, through any number of connections. Then nothing of it waits in the hive. */
export async function attachOpencode(options: AttachOptions): Promise<void> {
  const { hive, server, signal, remark } = options;
  const conversations = new Map<string, Conversation>();
  const questions = new Map<string, Question>();
  /** Requests that are over, with the reply if it is known: what was read before may still list them. */
  const over = new Map<string, string | undefined>();
  /** The projects that the server has shown. */
  const directories = new Set<string>();
  const speakers = speakersIn(hive);
  /** Requests were left to opencode since the last connection. */
  let isFull = false;
  const background = new Set<Promise<void>>();
  /** Fires at the next connection. */
  let connected = Promise.withResolvers<void>();

  /** Work beside the events. What fails concerns one question or turn: the others go on. */
  function beside(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) =>
        hive.log.warn('hive attach could not finish something.', { url: server.url, error: String(error) }),
      )
      .finally(() => background.delete(running));
    background.add(running);
  }

  // ---- Events ----

  function onEvent({ type, directory, properties }: ServerEvent): void {
    const session = idIn(properties, 'sessionID');
    const request = idIn(properties, 'requestID');
    const conversation = session === null ? undefined : conversations.get(session);
    switch (type) {
      case 'permission.asked':
        asked('permission', properties, directory);
        break;
      case 'question.asked':
        asked('question', properties, directory);
        break;
      case 'permission.replied':
      case 'question.replied':
      case 'question.rejected':
        if (request !== null) isOver(request, textIn(properties, 'reply') ?? undefined);
        break;
      case 'session.status':
        if (session !== null) hasStatus(conversationOf(session, directory), properties['status']);
        break;
      case 'session.error':
        if (conversation !== undefined && objectIn(properties['error'])?.['name'] === 'MessageAbortedError')
          conversation.aborted = true;
        break;
      case 'session.deleted':
        if (conversation !== undefined) isGone([conversation]);
        break;
      case 'server.instance.disposed':
        isGone([...conversations.values()].filter((one) => one.directory === directory));
        break;
    }
  }

  function conversationOf(id: string, directory: string): Conversation {
    const known = conversations.get(id);
    if (known !== undefined) return known;
    if (directory.length <= LONGEST_DIRECTORY) directories.add(directory);
    forgetOldest(directories, MOST_DIRECTORIES);
    if (conversations.size >= MOST_CONVERSATIONS) {
      const all = [...conversations.values()];
      const idle = all.find((one) => one.turn === undefined && asksOf(one).length === 0);
      isGone([idle ?? all[0]].flatMap((one) => one ?? []));
    }
    const turn_stop = new AbortController();
    const one: Conversation = { id, directory, session: null, turn: undefined, turn_stop, aborted: false };
    conversations.set(id, one);
    return one;
  }

  /** Reads what waits there and what runs, in every project that is known. Events go on coming in the meantime. */
  async function readAll(): Promise<void> {
    const start = textIn(objectIn(await server.get('/path', null)) ?? {}, 'directory');
    if (start !== null) directories.add(start);
    for (const directory of directories) {
      const before = [...questions.values()].filter((one) => one.conversation.directory === directory);
      const running = [...conversations.values()].filter(
        (one) => one.directory === directory && one.turn !== undefined,
      );
      const permissions = objectsIn(await server.get('/permission', directory));
      const asking = objectsIn(await server.get('/question', directory));
      const statuses = objectIn(await server.get('/session/status', directory)) ?? {};
      // What an aborted turn asked stays listed for good. Nobody waits for it any more.
      const isLive = (request: Raw): boolean => Object.hasOwn(statuses, String(request['sessionID']));
      const waiting = new Set([...permissions, ...asking].filter(isLive).map((request) => request['id']));
      for (const question of before) if (!waiting.has(question.id)) isOver(question.id, undefined);
      for (const conversation of running)
        if (!Object.hasOwn(statuses, conversation.id)) endTurn(conversation);
      for (const [id, status] of Object.entries(statuses))
        if (id.length <= LONGEST_ID) hasStatus(conversationOf(id, directory), status);
      for (const request of permissions.filter(isLive)) asked('permission', request, directory);
      for (const request of asking.filter(isLive)) asked('question', request, directory);
    }
  }

  // ---- Questions ----

  function asked(kind: Question['kind'], request: Raw, directory: string): void {
    const [id, session] = [idIn(request, 'id'), idIn(request, 'sessionID')];
    if (id === null || session === null || questions.has(id) || over.has(id)) return;
    if (questions.size >= MOST_QUESTIONS) {
      if (!isFull) hive.log.warn('hive attach leaves further requests to opencode.', { url: server.url });
      isFull = true;
      return;
    }
    const conversation = conversationOf(session, directory);
    const question = {
      id,
      kind,
      request,
      conversation,
      stop: new AbortController(),
      offered: null,
      sending: false,
      settled: false,
    };
    questions.set(id, question);
    beside(() => offer(question));
  }

  async function offer(question: Question): Promise<void> {
    const { id, conversation, stop } = question;
    const session = await introduced(conversation);
    if (session === null) return;
    await conversation.turn;
    const dialog = await dialogOf(question);
    if (dialog === null || stop.signal.aborted) return;
    const place = options.placeAt(conversation.directory);
    const { offered, answer } = await hive.editors.open({ session, dialog, place, key: id });
    question.offered = offered;
    // It may have been answered there in the meantime.
    if (stop.signal.aborted || questions.get(id) !== question) {
      await hive.editors.withdraw(offered, 'answered_elsewhere');
      return;
    }
    if (answer !== null) return deliver(question, answer);
    if (offered.ask_ids.length === 0) return;
    const given = await hive.editors.untilAnswered(offered, stop.signal);
    if (given !== null) await deliver(question, given);
  }

  async function dialogOf({ kind, request, conversation }: Question): Promise<EditorDialog | null> {
    if (kind === 'question') return questionsOf(request);
    return permissionOf(request, await callOf(request, conversation), conversation.directory);
  }

  /** The call that asks. Without it the permission is shown as opencode describes it. */
  async function callOf(request: Raw, { id, directory }: Conversation): Promise<Call | null> {
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

  /** Sends a desk's answer, again at each connection until the server has accepted it or refused it. */
  async function deliver(question: Question, answer: EditorAnswer): Promise<void> {
    const { id, kind, request, conversation, stop, offered } = question;
    const body =
      kind === 'permission' ? permissionReply(answer) : { answers: questionAnswers(request, answer) };
    const verb = 'answers' in body && body.answers === null ? 'reject' : 'reply';
    const [ask_id = ''] = offered?.ask_ids ?? [];
    question.sending = true;
    while (!stop.signal.aborted && !signal.aborted) {
      const next = connected.promise;
      try {
        const path = `/${kind}/${encodeURIComponent(id)}/${verb}`;
        const isAccepted = await server.post(
          path,
          conversation.directory,
          verb === 'reply' ? body : undefined,
        );
        questions.delete(id);
        const other = over.get(id);
        noteOver(id, other);
        if (offered === null) return;
        if (isAccepted) await hive.editors.acted(offered.session.session_id, id);
        else if (!question.settled) await hive.editors.withdraw(offered, 'answered_elsewhere', other);
        return;
      } catch (error) {
        hive.log.warn('hive attach could not send an answer.', { url: server.url, error: String(error) });
        if (error instanceof RefusedRequest) {
          questions.delete(id);
          return giveWarning(question, SENTENCES.undelivered(ask_id, error.message));
        }
        await Promise.race([next, sleepUntil(stop.signal, signal)]);
      }
    }
    if (!signal.aborted) await giveWarning(question, SENTENCES.undelivered(ask_id, SENTENCES.ended));
  }

  async function giveWarning({ offered }: Question, text: string): Promise<void> {
    const session_id = offered?.session.session_id ?? null;
    const data = { notice: 'late_answer', ask_id: offered?.ask_ids[0] };
    await hive.notices.give({ severity: 'warning', session_id, text, data });
  }

  function noteOver(id: string, reply: string | undefined): void {
    over.set(id, reply);
    forgetOldest(over, MOST_OVER);
  }

  /** It was answered in opencode, or is no longer asked. `deliver` informs a desk that was first in the hive. */
  function isOver(id: string, reply: string | undefined): void {
    noteOver(id, reply);
    const question = questions.get(id);
    // This may be our own reply. If it is not, the server refuses ours.
    if (question === undefined || question.sending) return;
    questions.delete(id);
    question.settled = true;
    beside(() => withdraw(question, 'answered_elsewhere', reply));
  }

  async function withdraw(
    { offered, stop }: Question,
    reason: 'answered_elsewhere' | 'withdrawn' | 'interrupted',
    reply?: string,
  ): Promise<void> {
    if (offered === null) return stop.abort();
    const { accepted } = await hive.editors.withdraw(offered, reason, reply);
    if (accepted) stop.abort();
  }

  // ---- Sessions and turns ----

  /** The session in the hive; null while another process speaks for it. */
  async function introduced(conversation: Conversation, depth = 0): Promise<Session | null> {
    const { id, directory } = conversation;
    const session_id = sessionId(id);
    if (conversation.session === null) {
      if (await isAnothers(session_id)) return null;
      if ((speakers.get(session_id) ?? server.url) !== server.url) return null;
      speakers.set(session_id, server.url);
    }
    conversation.session ??= (async () => {
      const info = objectIn(await server.get(`/session/${encodeURIComponent(id)}`, directory)) ?? {};
      const parent = depth < MOST_PARENTS ? idIn(info, 'parentID') : null;
      const parent_session_id = parent === null ? null : await parentId(parent, directory, depth + 1);
      return hive.sessions.introduce({
        ...options.findProject(directory),
        session_id,
        client: CLIENT,
        source: 'main',
        machine: options.machine,
        pid: options.pid,
        parent_session_id,
      });
    })();
    try {
      return await conversation.session;
    } catch (error) {
      conversation.session = null;
      throw error;
    }
  }

  /** One that is being introduced is not waited for: a hostile server may name sessions as each other's parents. */
  async function parentId(id: string, directory: string, depth: number): Promise<string | null> {
    const parent = conversationOf(id, directory);
    if (parent.session !== null) return sessionId(id);
    return (await introduced(parent, depth))?.session_id ?? null;
  }

  async function isAnothers(session_id: string): Promise<boolean> {
    const find = async (): Promise<boolean> => {
      const known = await hive.sessions.find(session_id);
      return known !== undefined && known.state !== 'ended' && known.pid !== options.pid;
    };
    if (!(await find())) return false;
    await hive.sessions.sweep(options.machine);
    return find();
  }

  function hasStatus(conversation: Conversation, status: unknown): void {
    const type = objectIn(status)?.['type'];
    if (type === 'idle') endTurn(conversation);
    else if (type === 'busy' && conversation.turn === undefined) beginTurn(conversation);
  }

  function beginTurn(conversation: Conversation): void {
    const stop = new AbortController();
    conversation.turn_stop = stop;
    conversation.aborted = false;
    conversation.turn = (async () => {
      const session = await introduced(conversation);
      if (session === null) return null;
      return hive.turns.start({ session_id: session.session_id, by: session.handle });
    })().catch((error: unknown) => {
      hive.log.warn('hive attach could not record a turn.', { error: String(error) });
      return null;
    });
    beside(() => watchTurn(conversation, stop.signal));
  }

  /** Stops the agent when somebody interrupts its turn. */
  async function watchTurn(conversation: Conversation, stop: AbortSignal): Promise<void> {
    const turn = await conversation.turn;
    if (turn == null || stop.aborted) return;
    const request = await hive.interrupts.untilInterrupted(turn.turn_id, stop);
    if (request === null || stop.aborted) return;
    await server.post(`/session/${encodeURIComponent(conversation.id)}/abort`, conversation.directory);
    for (const question of asksOf(conversation)) {
      questions.delete(question.id);
      await withdraw(question, 'interrupted');
    }
  }

  function endTurn(conversation: Conversation): void {
    const { turn, aborted } = conversation;
    conversation.turn_stop.abort();
    conversation.turn = undefined;
    for (const question of asksOf(conversation)) isOver(question.id, undefined);
    if (turn === undefined) return;
    beside(async () => {
      const running = await turn;
      if (running === null) return;
      await hive.turns.end(running.turn_id, aborted ? { aborted: 'interrupted' } : {});
      await hive.delivery.collect(carrierOf(running));
    });
  }

  function asksOf(conversation: Conversation): Question[] {
    return [...questions.values()].filter((question) => question.conversation === conversation);
  }

  /** These sessions are gone, and what they asked is lost. */
  function isGone(gone: readonly Conversation[]): void {
    for (const conversation of gone) {
      conversations.delete(conversation.id);
      conversation.turn_stop.abort();
      const lost = asksOf(conversation);
      for (const question of lost) {
        questions.delete(question.id);
        question.stop.abort();
      }
      beside(async () => {
        const session_id = sessionId(conversation.id);
        try {
          for (const question of lost) await withdraw(question, 'withdrawn');
          await conversation.turn;
          if (conversation.session !== null) await hive.sessions.end((await conversation.session).session_id);
        } finally {
          if (!conversations.has(conversation.id) && speakers.get(session_id) === server.url)
            speakers.delete(session_id);
        }
      });
    }
  }

  // ---- Until it is stopped ----

  let pause_ms = 0;
  let isLost = false;
  while (!signal.aborted) {
    const link = new AbortController();
    try {
      const opened = (): void => {
        over.clear();
        isFull = false;
        beside(async () => {
          try {
            await readAll();
          } catch (error) {
            return link.abort(error);
          }
          pause_ms = 0;
          isLost = false;
          remark(SENTENCES.attached(server.url));
          connected.resolve();
          connected = Promise.withResolvers<void>();
        });
      };
      await server.follow({ opened, event: onEvent }, AbortSignal.any([signal, link.signal]));
    } catch (error) {
      if (signal.aborted) break;
      if (isNobodyThere(error)) isGone([...conversations.values()]);
      if (!isLost) remark(SENTENCES.lost(server.url, reasonOf(error)));
      isLost = true;
    }
    pause_ms = Math.min(Math.max(pause_ms * 2, FIRST_PAUSE_MS), LAST_PAUSE_MS);
    // Scattered, so that many desks do not come back at one moment.
    await sleep(pause_ms * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
  }
  isGone([...conversations.values()]);
  while (background.size > 0) await Promise.allSettled(background);
}

/**
 * Which server speaks for each session. All that one process has attached look alike in the store, and whoever listens
 * at the port of one might name the sessions of another.
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

/** An id of opencode; null for anything else. */
function idIn(raw: Raw, field: string): string | null {
  const id = textIn(raw, field);
  return id !== null && id.length <= LONGEST_ID ? id : null;
}

/** Sets and maps are in the order in which they were filled. */
function forgetOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Resolves before the next attempt, or when one of these fires. */
async function sleepUntil(...signals: readonly AbortSignal[]): Promise<void> {
  await sleep(RETRY_MS, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
}
