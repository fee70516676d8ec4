/**
 * Hooks that come over HTTP from another machine. The token tells whose they are: their sessions belong to the machine
 * `token:NAME`. Their reports about files and processes are about that machine, so nothing here is read or signalled
 * because of them.
 */
import type { ServerResponse } from 'node:http';
import { readEvent, sayVerdict } from '../../adapters/hooks/hook.ts';
import type { Hive } from '../../application/hive.ts';
import type { HookSurroundings } from '../../application/hook-context.ts';
import type { ProjectContext } from '../../application/world.ts';
import { HiveError, isTransient } from '../../domain/errors.ts';
import { CUT_OFF, hookClient } from '../../domain/hooks.ts';
import { objectIn, type Raw } from '../../domain/json.ts';
import { remoteId } from '../../domain/sessions.ts';
import { cleanText, excerpt } from '../../domain/text.ts';
import type { Token } from '../../domain/tokens.ts';
import { machineOf, projectOfToken, tokensOf } from './tokens.ts';

/** The served paths: one for each event, and one for the wait for what wakes an idle session. */
export const HOOK_PATH = '/hook';
export const WAKE_PATH = '/wake';

/** In bytes: the longest request that `hive serve` reads. The sender leaves out of a hook what would make it longer. */
export const MOST_BYTES: number = 1024 * 1024;

/** The only variables of the hook's environment that count: what its client reports, and what its person configured. */
export const REMOTE_VARIABLES: readonly string[] = [
  'CLAUDE_PID',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SESSION_ATTENDED',
  'HIVE_AGENT',
  'HIVE_EDITOR',
  'HIVE_SOURCE',
];

/** The output for the other machine, which sends `output_id` back once it has printed. */
interface HookReply {
  stdout: string;
  output_id: string | null;
}

/** Handles one request of a remote hook. */
export type RemoteHooks = (call: RemoteCall) => Promise<void>;

interface RemoteCall {
  response: ServerResponse;
  token: Token;
  json: unknown;
  /** Aborted when the token is revoked. */
  revoked: AbortSignal;
}

/** The rules for permissions, which are those of the human who serves. */
export type RemoteRules = Pick<HookSurroundings, 'human' | 'editTools'> & { seat: string };

/** The handler of remote hooks. */
export function createRemoteHooks(hive: Hive, rules: RemoteRules): RemoteHooks {
  /** The hooks in progress that their client can take back, by their token and the id that their sender gave them. */
  const calls = new Map<string, AbortController>();

  return async ({ response, json, ...call }) => {
    const body = record(json);
    const keyOf = (id: unknown): string => `${machineOf(call.token)} ${String(id)}`;
    const key = keyOf(body['call_id']);
    const takenBack = new AbortController();
    const gone = AbortSignal.any([takenBack.signal, goneSignal(response, call.revoked)]);
    try {
      if (typeof body['printed'] === 'string') {
        await hive.hooks.printed({ output_id: body['printed'] }, remoteId(machineOf(call.token), ''));
        return reply(response, { stdout: '', output_id: null });
      }
      if (typeof body['taken_back'] === 'string') {
        calls.get(keyOf(body['taken_back']))?.abort();
        return reply(response, { stdout: '', output_id: null });
      }
      calls.set(key, takenBack);
      reply(response, await handle(hive, rules, body, call.token, response, gone));
    } catch (error) {
      refuse(response, error);
    } finally {
      if (calls.get(key) === takenBack) calls.delete(key);
    }
  };
}

/** In ms: how often a waiting answer gets a space, which JSON ignores, because proxies end a silent connection. */
export const BREATH_MS = 25_000;
/** In ms: how long the other side may take to confirm a wake-up. Its connection may have been dead for a while. */
const RECEIVED_MS = 10_000;

/**
 * The handler of wakers: it answers as soon as there is a reason to wake the session. The other side sends
 * `wake_id` back once it has the answer; otherwise the session is woken again.
 */
export function createRemoteWakes(hive: Hive, { seat }: RemoteRules): RemoteHooks {
  /** By `wake_id`: the wake-ups that were sent but not confirmed yet. */
  const sent = new Map<string, () => void>();

  function untilReceived(wake_id: string): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (received: boolean): void => {
        clearTimeout(limit);
        sent.delete(wake_id);
        resolve(received);
      };
      const limit = setTimeout(() => done(false), RECEIVED_MS).unref();
      sent.set(wake_id, () => done(true));
    });
  }

  return async ({ response, json, token, revoked }) => {
    const received = record(json)['received'];
    if (typeof received === 'string') {
      sent.get(received)?.();
      return reply(response, { stdout: '', output_id: null });
    }
    const gone = goneSignal(response, revoked);
    let endWait = (): void => undefined;
    try {
      const machine = machineOf(token);
      const { session_id } = readEvent(record(record(json)['event']), {}, 'claude-code');
      endWait = beginWait(response);
      const text = await hive.wakes.untilWanted({
        session_id: remoteId(machine, session_id),
        speaker: { machine, pid: null, above: [] },
        seat,
        signal: gone,
        async deliver(text) {
          await checkToken(hive, token);
          if (gone.aborted) return false;
          endWait();
          const wake_id = crypto.randomUUID();
          response.end(JSON.stringify({ text, wake_id }));
          return untilReceived(wake_id);
        },
      });
      if (text !== null || response.writableEnded) return;
      await checkToken(hive, token);
      response.end(JSON.stringify({ text }));
    } catch (error) {
      refuse(response, error);
    } finally {
      endWait();
    }
  };
}

/**
 * Begins an answer that waits, until the returned function is called. Its head tells the other side that this waits for the human,
 * and that the server does not hang.
 */
function beginWait(response: ServerResponse): () => void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.flushHeaders();
  const breath = setInterval(() => response.write(' '), BREATH_MS);
  return () => clearInterval(breath);
}

/** Aborted when the answer cannot arrive any more, or is no longer allowed. The client may still show the dialog of its hook. */
function goneSignal(response: ServerResponse, revoked: AbortSignal): AbortSignal {
  const gone = new AbortController();
  // The response's own end, and not that of its socket, which many more requests may use.
  response.once('close', () => gone.abort(CUT_OFF));
  return AbortSignal.any([gone.signal, revoked]);
}

/** For the end of a wait, during which a human may have revoked the token. @throws HiveError `not_allowed`. */
async function checkToken(hive: Hive, token: Token): Promise<void> {
  if (!(await tokensOf(hive).holds(token)))
    throw new HiveError(
      'not_allowed',
      `The token "${token.name}" was revoked. Ask your human for a new one.`,
    );
}

/** Answers with a domain error. @throws any other. */
function refuse(response: ServerResponse, error: unknown): void {
  if (!(error instanceof HiveError)) throw error;
  if (response.writableEnded) return;
  const message = JSON.stringify({ error: { code: error.code, message: error.message } });
  const status = error.code === 'not_allowed' ? 403 : isTransient(error) ? 503 : 400;
  if (!response.headersSent) response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(message);
}

async function handle(
  hive: Hive,
  rules: RemoteRules,
  body: Raw,
  token: Token,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<HookReply> {
  const env = Object.fromEntries(
    REMOTE_VARIABLES.flatMap((name) => {
      const value = record(body['env'])[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
  const machine = machineOf(token);
  const read = readEvent(record(body['event']), env, hookClient(body['client']));
  const title = body['client_title'];
  const event = { ...read, session_id: remoteId(machine, read.session_id), transcript_path: null };
  const verdict = await hive.hooks.handle(event, {
    ...rules,
    env,
    machine,
    // There is no process on this machine, so no ancestors are found.
    pid: 0,
    findProject: () => projectOfToken(token, projectOf(record(body['project']))),
    readTail: () => null,
    ...(title === null ? { client_title: null } : {}),
    ...(typeof title === 'string' ? { client_title: excerpt(cleanText(title.slice(0, 1_000)), 200) } : {}),
    seats: () => hive.trust.file().seats,
    async withoutTimeLimit(work) {
      const endWait = beginWait(response);
      const result = await work(gone).finally(endWait);
      await checkToken(hive, token);
      return result;
    },
  });
  return { stdout: sayVerdict(event, verdict), output_id: verdict.output_id };
}

function reply(response: ServerResponse, answer: HookReply): void {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(answer));
}

function record(value: unknown): Raw {
  return objectIn(value) ?? {};
}

function projectOf(given: Raw): ProjectContext {
  const word = (name: string): string | null =>
    typeof given[name] === 'string' ? cleanText(String(given[name])).slice(0, 1_000) : null;
  return {
    project: word('project') ?? 'remote',
    project_dir: word('project_dir') ?? 'remote',
    branch: word('branch'),
  };
}
