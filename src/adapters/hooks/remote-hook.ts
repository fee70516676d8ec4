/**
 * Hooks that come over HTTP from another machine. The token says whose they are: their sessions belong to the machine
 * `token:NAME`. What they report about files and processes is about that machine, so nothing here is read or signalled
 * because of it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hive } from '../../application/hive.ts';
import type { HookSettings, ProjectContext } from '../../application/hook-context.ts';
import { HiveError } from '../../domain/errors.ts';
import { NO_OPINION } from '../../domain/hooks.ts';
import { cleanText } from '../../domain/text.ts';
import type { Token } from '../../domain/tokens.ts';
import type { Raw } from './event.ts';
import { readHook, sayVerdict } from './hook.ts';

/** The one path that is served. */
export const HOOK_PATH = '/hook';

/** The only variables of the hook's environment that count: what its client reports, and what its person configured. */
export const REMOTE_VARIABLES: readonly string[] = [
  'CLAUDE_PID',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SESSION_ATTENDED',
  'HIVE_SOURCE',
  'HIVE_GATE',
  'HIVE_GATE_PROMPT',
  'HIVE_PERMISSIONS',
  'HIVE_STOP_GUARD',
  'HIVE_STOP_WAIT_S',
];

/** What to print on the other machine; it sends `output_id` back once it has printed. */
interface HookReply {
  stdout: string;
  output_id: string | null;
}

/** Handles one request of a remote hook. */
export type RemoteHooks = (call: {
  request: IncomingMessage;
  response: ServerResponse;
  token: Token;
  json: unknown;
}) => Promise<void>;

/** Which permission rules apply: those of the human who serves. */
export type RemoteRules = Pick<HookSettings, 'seat' | 'human'>;

/** The handler of remote hooks. */
export function createRemoteHooks(hive: Hive, rules: RemoteRules): RemoteHooks {
  return async ({ request, response, token, json }) => {
    const body = record(json);
    const gone = new AbortController();
    request.socket.once('close', () => gone.abort());
    try {
      if (typeof body['printed'] === 'string') {
        await hive.hooks.printed({ ...NO_OPINION, output_id: body['printed'] });
        return reply(response, { stdout: '', output_id: null });
      }
      reply(response, await handle(hive, rules, body, token, response, gone.signal));
    } catch (error) {
      if (!(error instanceof HiveError)) throw error;
      const message = JSON.stringify({ error: { code: error.code, message: error.message } });
      if (!response.headersSent)
        response.writeHead(error.code === 'not_allowed' ? 403 : 400, { 'Content-Type': 'application/json' });
      response.end(message);
    }
  };
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
  const client = body['client'] === 'codex' || body['client'] === 'claude-code' ? body['client'] : null;
  const event = { ...readHook(JSON.stringify(body['event']), env, client), transcript_path: null };
  const verdict = await hive.hooks.handle(event, {
    ...rules,
    env,
    machine: `token:${token.name}`,
    // No process on this machine, so nothing is found above it.
    pid: 0,
    findProject: () => projectOf(record(body['project'])),
    readTail: () => null,
    seats: () => hive.trust.file().seats,
    async withoutTimeLimit(work) {
      // The head of the answer tells the other side that this waits for the human, and that the server does not hang.
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.flushHeaders();
      return work(gone);
    },
  });
  return { stdout: sayVerdict(event, verdict), output_id: verdict.output_id };
}

function reply(response: ServerResponse, said: HookReply): void {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(said));
}

function record(value: unknown): Raw {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Raw) : {};
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
