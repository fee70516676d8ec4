/** `hive hook --url`: sends an event to the `hive serve` of another machine, or waits there for a reason to wake a session. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptedEvent, readRaw } from '../../adapters/hooks/hook.ts';
import type { RemoteReply, SentHook } from '../../application/hook-context.ts';
import { HiveError, invalidInput, TRANSIENT } from '../../domain/errors.ts';
import { CUT_OFF, type HookClient } from '../../domain/hooks.ts';
import { excessOf } from '../../domain/json.ts';
import { isTooDeep, TOO_DEEP } from '../../domain/text.ts';
import { isReadableByOthers } from '../../domain/tokens.ts';
import { clientTitle } from '../../domain/transcripts.ts';
import { files, readFileOnly } from '../../infrastructure/platform/files.ts';
import { findProject } from '../../infrastructure/platform/project.ts';
import { BREATH_MS, HOOK_PATH, MOST_BYTES, REMOTE_VARIABLES, WAKE_PATH } from './remote-hook.ts';

/** A certificate was refused before anything was sent (nodejs.org/api/tls.html, "X509 certificate error codes"). */
const UNTRUSTED = /CERT|^UNABLE_TO_/;

/** The advice if the certificate of a server is not accepted; null for any other error. */
export function untrusted(host: string, code: unknown): string | null {
  return UNTRUSTED.test(String(code))
    ? `The certificate of ${host} is not accepted here (${code}). Nothing was done. Tell your human: for a certificate of their own, NODE_EXTRA_CA_CERTS of this process names the file of its authority.`
    : null;
}

/** @throws HiveError `invalid_input` if the file contains no token, whose text is not shown. */
export function tokenIn(path: string): string {
  let token: string;
  try {
    token = readFileOnly(path).trim();
  } catch (error) {
    throw invalidInput(`The token file ${path} cannot be read (${(error as Error).message}).`);
  }
  if (token === '')
    throw invalidInput(
      `The token file ${path} is empty. Make a new secret with hive token rotate NAME on the machine that runs hive serve, and write it into this file.`,
    );
  if (/^[!-~]+$/.test(token)) return token;
  throw invalidInput(
    `The token file ${path} contains something other than one token. Write into it what hive token make or hive token rotate prints, and nothing else.`,
  );
}

export interface RemoteHook {
  url: string;
  token_file: string;
}

/** In ms: when an event is sent once more that came too soon after others. The server then takes 50 requests again. */
const ONCE_MORE_MS = 1_000;

/** The server has had too many requests of this token in this moment. */
class TooManyRequests extends Error {}

/** In ms: how long the report that a hook was printed or taken back may take, because the client is waiting for the hook. */
const REPORT_MS = 500;

/** The options of a remote hook. @throws HiveError `invalid_input`. */
export function remoteOf(args: readonly string[]): RemoteHook {
  const option = (name: string): string | undefined =>
    args.includes(name) ? args[args.indexOf(name) + 1] : undefined;
  return checkedRemote(option('--url'), option('--token-file'), args.includes('--insecure'));
}

/** The values of `--url`, `--token-file` and `--insecure`. @throws HiveError `invalid_input`. */
export function checkedRemote(
  url: string | undefined,
  token_file: string | undefined,
  insecure: boolean,
): RemoteHook {
  if (url === undefined) throw invalidInput('--url needs an address.');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw invalidInput(`--url ${url} is not an http:// or https:// address.`);
  if (token_file === undefined) throw invalidInput('--url needs --token-file FILE.');
  if (!insecure && isReadableByOthers(new URL(url)))
    throw invalidInput(
      `Over plain HTTP, anybody on the network between here and ${url} can read the token. Give --url an https address, use a tunnel to 127.0.0.1, or add --insecure.`,
    );
  return { url, token_file };
}

/** `onWait` is called when the other side has accepted the event and waits for the human. */
export async function sendHook(
  remote: RemoteHook,
  { text, client, env, cwd, signal }: SentHook,
  onWait: () => void,
): Promise<RemoteReply> {
  const variables = Object.fromEntries(
    REMOTE_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  const given = readRaw(text);
  // The other side cannot read the files of this machine. The title is left out of the JSON if they contain none.
  const client_title = titleOf(given, client);
  const about = { client, env: variables, project: findProject(cwd), client_title };
  const call_id = crypto.randomUUID();
  const body = { event: acceptedEvent(given, (event) => refusalOf({ event, ...about })), ...about, call_id };
  const over = signal === undefined ? undefined : onceTakenBack(remote, call_id, signal);
  const send = (): ReturnType<typeof post> =>
    post(remote, body, onWait, over === undefined ? {} : { signal: over });
  const { stdout, output_id } = await send().catch(async (error: unknown) => {
    if (!(error instanceof TooManyRequests) || signal?.aborted === true) throw error;
    // An agent that makes many calls at once must not pass its guards with the last of them.
    await sleep(ONCE_MORE_MS);
    return send();
  });
  return {
    stdout: typeof stdout === 'string' ? stdout : '',
    async printed() {
      if (typeof output_id === 'string') await report(remote, { printed: output_id });
    },
  };
}

async function report(remote: RemoteHook, body: object): Promise<void> {
  await Promise.race([post(remote, body, () => undefined), sleep(REPORT_MS)]);
}

/**
 * Aborted when the client has taken the call back, and the server knows: a connection that only ends leaves the dialog in its
 * terminal. Without a report if the client itself is gone.
 */
function onceTakenBack(remote: RemoteHook, call_id: string, signal: AbortSignal): AbortSignal {
  const over = new AbortController();
  async function takeBack(): Promise<void> {
    if (signal.reason !== CUT_OFF) await report(remote, { taken_back: call_id }).catch(() => undefined);
    over.abort();
  }
  signal.addEventListener('abort', () => void takeBack(), { once: true });
  return over.signal;
}

/** Why the server would refuse to read a body; null if it would not. */
function refusalOf(body: object): string | null {
  if (isTooDeep(body)) return TOO_DEEP;
  const text = JSON.stringify(body);
  const isTooLong = Buffer.byteLength(text) > MOST_BYTES;
  return isTooLong
    ? `The hook event is too large for the server: at most ${MOST_BYTES} bytes.`
    : excessOf(text);
}

function titleOf(event: unknown, client: HookClient | null): string | null | undefined {
  const { session_id, transcript_path: path } = (event ?? {}) as Record<string, unknown>;
  const transcript_path = typeof path === 'string' ? path : null;
  return clientTitle(
    { client: client ?? 'claude-code', session_id: String(session_id), transcript_path },
    files.readTail,
  );
}

/** Temporary refusals: too many requests, and a proxy that does not find its server. */
const TOO_MANY = 429;
const PASSING: ReadonlySet<number> = new Set([404, 408, TOO_MANY]);

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** In ms. A waiting server sends something more often than this; otherwise the connection is dead, as after a laptop's sleep. */
const SILENCE_MS = 3 * BREATH_MS;
/** In ms: how long confirming a wake-up may take; less than the server waits for it. */
const RECEIVED_MS = 5_000;

/** Waits at the other side for a reason to wake this session; null if there will be none. @throws Error when it is refused. */
export async function awaitWake(
  remote: RemoteHook,
  event: unknown,
  signal: AbortSignal,
): Promise<string | null> {
  let pause_ms = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    try {
      const onHead = (): void => {
        pause_ms = FIRST_PAUSE_MS;
      };
      const { text, wake_id } = await post(remote, { event }, onHead, {
        path: WAKE_PATH,
        signal,
        silence_ms: SILENCE_MS,
      });
      if (typeof text !== 'string') return null;
      await received(remote, wake_id);
      return text;
    } catch (error) {
      // The server refuses, its certificate is refused, or there is no token for it: trying again would not help.
      if (error instanceof HiveError) throw error;
      // The server is away, or a proxy has ended the wait. Asking again loses nothing.
      await sleep(pause_ms, undefined, { signal }).catch(() => undefined);
      pause_ms = Math.min(LONGEST_PAUSE_MS, pause_ms * 2);
    }
  }
  return null;
}

/** If this fails, the session is woken once more: better twice than never. */
async function received(remote: RemoteHook, wake_id: unknown): Promise<void> {
  const signal = AbortSignal.timeout(RECEIVED_MS);
  const sending = post(remote, { received: wake_id }, () => undefined, { path: WAKE_PATH, signal });
  await sending.catch(() => undefined);
}

function post(
  { url, token_file }: RemoteHook,
  body: object,
  onHead: () => void,
  { path = HOOK_PATH, signal, silence_ms }: { path?: string; signal?: AbortSignal; silence_ms?: number } = {},
): Promise<Record<string, unknown>> {
  const target = new URL(path, url);
  const token = tokenIn(token_file);
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(
      target,
      {
        method: 'POST',
        agent: false,
        ...(signal === undefined ? {} : { signal }),
        ...(silence_ms === undefined ? {} : { timeout: silence_ms }),
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      },
      (response) => {
        const { statusCode: status = 0 } = response;
        if (status === 200) onHead();
        let received = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          received += text;
        });
        response.once('error', reject);
        response.once('end', () => {
          const answer = parse(received);
          const failure = answer?.['error'] as { code?: unknown; message?: unknown } | undefined;
          if (status === 200 && answer !== null && failure === undefined) return resolve(answer);
          const isFinal =
            status === 200
              ? answer !== null && !TRANSIENT.has(failure?.code)
              : status < 500 && !PASSING.has(status);
          const said =
            failure === undefined
              ? `${target.host} answers (${status}), but not as hive serve does: is it running there, and is the address right?`
              : `${target.host} refused the event (${status}): ${failure.message}`;
          const passing = status === TOO_MANY ? new TooManyRequests(said) : new Error(said);
          reject(isFinal ? new HiveError('not_allowed', said) : passing);
        });
      },
    );
    request.once('timeout', () => request.destroy(new Error('it does not reply')));
    request.once('error', (error: NodeJS.ErrnoException) => {
      const refusal = untrusted(target.host, error.code);
      reject(
        refusal === null
          ? new Error(`${target.host} cannot be reached (${error.message}).`)
          : new HiveError('not_allowed', refusal),
      );
    });
    request.end(JSON.stringify(body));
  });
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
