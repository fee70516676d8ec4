/**
 * A stand-in for the server of opencode, with the routes that Hive uses. It behaves as opencode 1.18.33 was seen to: the
 * first reply to a request counts, a later one gets 404, a rejection applies to all permissions of its session, and what an
 * aborted turn asked stays listed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { attachOpencode } from '../../src/extensions/editors/opencode/attach.ts';
import { opencodeServer } from '../../src/extensions/editors/opencode/server.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { whenFinished } from './lifetime.ts';
import { closeServer, listen } from './listen.ts';
import { eventually } from './wait.ts';

export interface Reply {
  id: string;
  /** The body of the reply to a permission or a question; null for a rejected question. */
  body: { reply?: string; message?: string; answers?: string[][] } | null;
  /** Whether it was the first. */
  counted: boolean;
}

export interface StandIn {
  url: string;
  /** Every reply that the server got, over HTTP or by `answer`. */
  replies: Reply[];
  /** The sessions that were aborted. */
  aborted: string[];
  /** The parents of sessions. */
  parents: Map<string, string>;
  /** A session begins a turn. */
  begin(session: string): void;
  /** The turn ends. */
  end(session: string): void;
  /** A tool asks for a permission. `permission`: fields of the request other than those of `bash`. */
  askPermission(id: string, input?: object, permission?: object, tool?: string): void;
  askQuestion(id: string, questions: object[]): void;
  /** Answers as another client of the server does. */
  answer(id: string, reply: string): void;
  /** The same, but the event of it has not come yet. */
  answerUnheard(id: string): void;
  /** Ends the connections of so many requests for a message instead of answering. */
  cutReads(count: number): void;
  /** Ends every stream of events. The next connection is answered once `resume` is called. */
  interruptStreams(): void;
  resume(): void;
  /** The program ends: nobody listens there any more. */
  close(): Promise<void>;
}

const DIRECTORY = '/demo';

export async function standIn(port = 0): Promise<StandIn> {
  const streams = new Set<ServerResponse>();
  const waiting = new Map<string, { kind: string; request: { id: string; sessionID: string } }>();
  const busy = new Set<string>();
  const calls = new Map<string, object>();
  const replies: Reply[] = [];
  const aborted: string[] = [];
  const parents = new Map<string, string>();
  let isHeld = false;
  let cuts = 0;

  const send = (type: string, properties: object): void => {
    const text = `data: ${JSON.stringify({ directory: DIRECTORY, payload: { type, properties } })}\n\n`;
    for (const stream of streams) stream.write(text);
  };

  function settle(id: string, body: Reply['body']): boolean {
    const known = waiting.get(id);
    replies.push({ id, body, counted: known !== undefined });
    if (known === undefined) return false;
    const { sessionID } = known.request;
    waiting.delete(id);
    if (known.kind === 'question')
      send(body === null ? 'question.rejected' : 'question.replied', { sessionID, requestID: id, ...body });
    else send('permission.replied', { sessionID, requestID: id, reply: body?.reply });
    if (body?.reply === 'reject')
      for (const [other, { request }] of [...waiting])
        if (request.sessionID === sessionID) {
          waiting.delete(other);
          send('permission.replied', { sessionID, requestID: other, reply: 'reject' });
        }
    return true;
  }

  const status = (session: string, type: string): void => {
    if (type === 'busy') busy.add(session);
    else busy.delete(session);
    send('session.status', { sessionID: session, status: { type } });
  };

  function post(path: readonly string[], body: Reply['body']): number {
    const [what, id = '', verb] = path;
    if (what === 'session' && verb === 'abort') {
      aborted.push(id);
      send('session.error', { sessionID: id, error: { name: 'MessageAbortedError' } });
      status(id, 'idle');
      return 200;
    }
    return settle(id, verb === 'reject' ? null : body) ? 200 : 404;
  }

  function get(path: readonly string[]): unknown {
    const [what, id, part, message] = path;
    const listed = (kind: string): object[] =>
      [...waiting.values()].filter((one) => one.kind === kind).map(({ request }) => request);
    if (what === 'path') return { directory: DIRECTORY };
    if (what === 'permission' || what === 'question') return listed(what);
    if (id === 'status') return Object.fromEntries([...busy].map((one) => [one, { type: 'busy' }]));
    if (part === 'message') return { info: {}, parts: [calls.get(message ?? '')] };
    return { id, directory: DIRECTORY, title: 'A session', parentID: parents.get(id ?? '') };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '', 'http://x').pathname.slice(1).split('/').map(decodeURIComponent);
    if (path.join('/') === 'global/event') {
      if (isHeld) return void response.writeHead(503).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `data: ${JSON.stringify({ payload: { type: 'server.connected', properties: {} } })}\n\n`,
      );
      streams.add(response);
      response.once('close', () => streams.delete(response));
      return;
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (request.method === 'POST')
      return void response.writeHead(post(path, text === '' ? null : JSON.parse(text))).end('true');
    if (path.includes('message') && cuts > 0) {
      cuts -= 1;
      return void request.socket.destroy();
    }
    response.writeHead(200).end(JSON.stringify(get(path)));
  }

  const server = createServer((request, response) => void serve(request, response));
  return {
    url: await listen(server, port),
    replies,
    aborted,
    parents,
    begin: (session) => status(session, 'busy'),
    end: (session) => status(session, 'idle'),
    askPermission(id, input = { command: 'make', description: 'build' }, permission = {}, tool = 'bash') {
      const request = {
        id,
        sessionID: 'ses_1',
        permission: 'bash',
        patterns: ['make'],
        metadata: { command: 'make' },
        always: ['make *'],
        tool: { messageID: `msg-${id}`, callID: `call-${id}` },
        ...permission,
      };
      calls.set(`msg-${id}`, {
        type: 'tool',
        tool,
        callID: `call-${id}`,
        state: { status: 'running', input },
      });
      waiting.set(id, { kind: 'permission', request });
      send('permission.asked', request);
    },
    askQuestion(id, questions) {
      const request = { id, sessionID: 'ses_1', questions };
      waiting.set(id, { kind: 'question', request });
      send('question.asked', request);
    },
    answer: (id, reply) => void settle(id, { reply }),
    answerUnheard: (id) => void waiting.delete(id),
    cutReads(count) {
      cuts = count;
    },
    interruptStreams() {
      isHeld = true;
      for (const stream of streams) stream.end();
      streams.clear();
    },
    resume() {
      isHeld = false;
    },
    close: () => closeServer(server),
  };
}

export interface Attached {
  remarks: string[];
  stop(): Promise<void>;
}

/** Attaches a server to the hive, as the process `pid`; resolves once what waits there has been read. */
export async function attach(hive: OpenedHive, url: string, pid = process.pid): Promise<Attached> {
  const remarks: string[] = [];
  const stop = new AbortController();
  const ended = attachOpencode({
    hive,
    server: opencodeServer({ url, login: null }),
    machine: 'test',
    pid,
    signal: stop.signal,
    remark: (text) => remarks.push(text),
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  whenFinished(end);
  await eventually(() => remarks.length > 0);
  return { remarks, stop: end };
}
