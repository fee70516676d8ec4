/**
 * The server of opencode, as Hive uses it: its stream of events, its open requests, and the replies. A server holds several
 * projects at once, each named by its directory. Only the shape of what it sends is trusted.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { objectIn, type Raw, textIn } from '../../../domain/json.ts';
import { parseJson } from '../../../domain/json-numbers.ts';
import { cleanDeep } from '../../../domain/text.ts';

/** One event of a server. */
export interface ServerEvent {
  type: string;
  /** The project that the event is about. */
  directory: string;
  properties: Raw;
}

export type OpencodeServer = ReturnType<typeof opencodeServer>;

/** In ms. A server answers such a request from its memory. */
const REQUEST_MS = 30_000;
/** In ms. A current server sends a heartbeat every ten seconds. */
const SILENCE_MS = 60_000;
/** An event holds at most one file and its change. */
const EVENT_CHARACTERS = 32 * 1024 * 1024;
/** A message of a turn holds the calls of its tools. */
const RESPONSE_BYTES = 32 * 1024 * 1024;

export interface ServerAddress {
  url: string;
  /** The login in the form that opencode expects; null if its server has no password. */
  login: { user: string; password: string } | null;
}

export function opencodeServer({ url: given, login }: ServerAddress) {
  const url = given.replace(/\/+$/, '');
  const authorization =
    login === null
      ? {}
      : { authorization: `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}` };

  async function request(
    path: string,
    directory: string | null,
    { signal, body, method = 'GET' }: { signal: AbortSignal; body?: object | undefined; method?: string },
  ): Promise<Response> {
    const address = new URL(`${url}${path}`);
    if (directory !== null) address.searchParams.set('directory', directory);
    return fetch(address, {
      method,
      // The target of a redirect is not the server that the human named.
      redirect: 'error',
      signal,
      headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  return {
    url,

    /**
     * Reads events until the stream ends; calls `opened` once it is open. @throws Error when the server cannot be reached,
     * refuses, or has been silent for too long.
     */
    async follow(
      on: { opened: () => void; event: (event: ServerEvent) => void },
      signal: AbortSignal,
    ): Promise<void> {
      const silent = new AbortController();
      const both = AbortSignal.any([signal, silent.signal]);
      const response = await request('/global/event', null, { signal: both });
      if (!response.ok || response.body === null) throw refused(response);
      let timer: NodeJS.Timeout | null = null;
      const watch = (): void => {
        if (timer !== null) clearTimeout(timer);
        timer = setTimeout(() => silent.abort(new Error('The server has gone silent.')), SILENCE_MS);
      };
      on.opened();
      try {
        const events = response.body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(
            new EventSourceParserStream({ maxBufferSize: EVENT_CHARACTERS, onError: 'terminate' }),
          );
        for await (const { data } of events) {
          const event = eventFrom(data);
          if (event === null) continue;
          // An older server sends nothing while nothing happens.
          if (timer !== null || event.type === HEARTBEAT) watch();
          on.event(event);
        }
      } finally {
        if (timer !== null) clearTimeout(timer);
      }
    },

    /** A GET request. `directory` names the project; null means the one in which the server was started. */
    async get(path: string, directory: string | null): Promise<unknown> {
      const read = () => request(path, directory, { signal: AbortSignal.timeout(REQUEST_MS) });
      // A server may end an idle connection at the moment in which it is used again.
      const response = await read().catch((error: unknown) => {
        if (!CUT.has((error as { cause?: { code?: unknown } }).cause?.code)) throw error;
        return read();
      });
      if (!response.ok) {
        await response.body?.cancel();
        throw refused(response);
      }
      return cleanDeep(parseJson(await textOf(response)));
    },

    /** A POST request. False if its subject no longer exists. */
    async post(path: string, directory: string, body?: object): Promise<boolean> {
      const signal = AbortSignal.timeout(REQUEST_MS);
      const response = await request(path, directory, { signal, body, method: 'POST' });
      await response.body?.cancel();
      if (response.status === 404) return false;
      if (!response.ok) throw refused(response);
      return true;
    },
  };
}

const HEARTBEAT = 'server.heartbeat';
/** The connection ended before the answer came. */
const CUT: ReadonlySet<unknown> = new Set(['ECONNRESET', 'UND_ERR_SOCKET']);

function eventFrom(data: string): ServerEvent | null {
  let parsed: unknown;
  try {
    parsed = cleanDeep(parseJson(data));
  } catch {
    return null;
  }
  const raw = objectIn(parsed) ?? {};
  const payload = objectIn(raw['payload']) ?? {};
  const type = textIn(payload, 'type');
  if (type === null) return null;
  return {
    type,
    directory: textIn(raw, 'directory') ?? '',
    properties: objectIn(payload['properties']) ?? {},
  };
}

/** The whole answer of the server. @throws Error if it is longer than any answer of opencode. */
async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > RESPONSE_BYTES) throw new Error(`${new URL(response.url).pathname}: more than 32 MB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** The server answered, but refused the request. */
export class RefusedRequest extends Error {}

function refused({ status, url }: Response): Error {
  const advice =
    status === 401
      ? '. It wants its password: put that into OPENCODE_SERVER_PASSWORD and start this again'
      : '';
  return new RefusedRequest(`${new URL(url).pathname}: HTTP ${status}${advice}`);
}

/** Whether an error shows that no program listens there: then all open requests there are lost. */
export function isNobodyThere(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if ('code' in one && one.code === 'ECONNREFUSED') return true;
  return false;
}
