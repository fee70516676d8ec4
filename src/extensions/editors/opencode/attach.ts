/**
 * A server of opencode, attached to the hive: the questions of its agents are asked at the desks as well (questions.ts), and the
 * hive knows their sessions and turns, so it can interrupt them (conversations.ts). The open requests of the server are read
 * again at each connection, so nothing depends on an event that was missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackground } from '../../../application/background.ts';
import type { Hive } from '../../../application/hive.ts';
import { objectIn, objectsIn, type Raw, textIn } from '../../../domain/json.ts';
import { createEditors } from '../dialogs.ts';
import { Conversations, idIn, isId } from './conversations.ts';
import { Questions } from './questions.ts';
import { isNobodyThere, type OpencodeServer, type ServerEvent } from './server.ts';

export interface AttachOptions {
  hive: Hive;
  server: OpencodeServer;
  machine: string;
  /** The process that acts for the sessions: they end with it. */
  pid: number;
  /** Ends it. */
  signal: AbortSignal;
  /** Tells the person that the connection was made or lost. */
  remark: (text: string) => void;
}

/** In ms, between attempts to connect: the first pause, and the longest. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 30_000;

/** Follows a server until `signal` fires, through any number of connections. Then nothing of it is pending in the hive. */
export async function attachOpencode(options: AttachOptions): Promise<void> {
  const { hive, server, signal, remark } = options;
  const background = createBackground(hive.log);
  const editors = createEditors(hive);

  /** Does work in the background. A failure concerns one question or turn: the others continue. */
  function beside(work: () => Promise<void>): void {
    background.run('hive attach could not finish something.', work, { url: server.url });
  }

  const introduced: Conversations['introduced'] = (conversation) => conversations.introduced(conversation);
  const questions = new Questions({ hive, editors, server, signal, beside, introduced });
  const conversations = new Conversations({ ...options, editors, beside, questions });
  const { directories } = conversations;

  function onEvent({ type, directory, properties }: ServerEvent): void {
    const session = idIn(properties, 'sessionID');
    const request = idIn(properties, 'requestID');
    const conversation = conversations.find(session);
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
        if (request !== null) questions.isOver(request, textIn(properties, 'reply') ?? undefined);
        break;
      case 'session.status':
        if (session !== null)
          conversations.hasStatus(conversations.of(session, directory), properties['status']);
        break;
      case 'session.error':
        if (conversation !== undefined && objectIn(properties['error'])?.['name'] === 'MessageAbortedError')
          conversation.isAborted = true;
        break;
      case 'session.deleted':
        if (conversation !== undefined) conversations.remove([conversation]);
        break;
      case 'server.instance.disposed':
        conversations.remove(conversations.in(directory));
        break;
    }
  }

  function asked(kind: 'permission' | 'question', request: Raw, directory: string): void {
    const session = idIn(request, 'sessionID');
    if (session !== null) questions.asked(kind, request, conversations.of(session, directory));
  }

  /** Reads the open requests and the running turns of every known project. Events continue to arrive in the meantime. */
  async function readAll(): Promise<void> {
    const start = textIn(objectIn(await server.get('/path', null)) ?? {}, 'directory');
    if (start !== null) directories.add(start);
    for (const directory of directories) {
      const before = questions.idsIn(directory);
      const running = conversations.in(directory).filter(({ isRunning }) => isRunning);
      const permissions = objectsIn(await server.get('/permission', directory));
      const asking = objectsIn(await server.get('/question', directory));
      const statuses = objectIn(await server.get('/session/status', directory)) ?? {};
      // The questions of an aborted turn stay listed for ever, but nobody waits for them any more.
      const isLive = (request: Raw): boolean => Object.hasOwn(statuses, String(request['sessionID']));
      const waiting = new Set([...permissions, ...asking].filter(isLive).map((request) => request['id']));
      for (const id of before) if (!waiting.has(id)) questions.isOver(id);
      for (const conversation of running)
        if (!Object.hasOwn(statuses, conversation.id)) conversations.endTurn(conversation);
      for (const [id, status] of Object.entries(statuses))
        if (isId(id)) conversations.hasStatus(conversations.of(id, directory), status);
      for (const request of permissions.filter(isLive)) asked('permission', request, directory);
      for (const request of asking.filter(isLive)) asked('question', request, directory);
    }
  }

  let pause_ms = 0;
  let isLost = false;
  while (!signal.aborted) {
    const link = new AbortController();
    try {
      const opened = (): void => {
        questions.connecting();
        beside(async () => {
          try {
            await readAll();
          } catch (error) {
            return link.abort(error);
          }
          pause_ms = 0;
          isLost = false;
          remark(`Attached to ${server.url}.`);
          questions.connected();
        });
      };
      await server.follow({ opened, event: onEvent }, AbortSignal.any([signal, link.signal]));
    } catch (error) {
      if (signal.aborted) break;
      if (isNobodyThere(error)) conversations.removeAll();
      if (!isLost)
        remark(`Cannot reach ${server.url} (${reasonOf(error)}); trying again until you stop this.`);
      isLost = true;
    }
    pause_ms = Math.min(Math.max(pause_ms * 2, FIRST_PAUSE_MS), LAST_PAUSE_MS);
    // Randomised, so that many desks do not reconnect at the same moment.
    await sleep(pause_ms * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
  }
  conversations.removeAll();
  await background.ended();
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
