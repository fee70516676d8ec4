/** `hive mcp --url`: an agent that speaks MCP on stdio works with the `hive serve` of another machine. */
import { clientOf, eventIn, hookEnvironment, refusal } from '../../adapters/hooks/connection-hook.ts';
import type { ConnectionHook } from '../../application/hook-context.ts';
import { untilAbandoned } from '../../cli/program.ts';
import { invalidInput } from '../../domain/errors.ts';
import { MCP_PATH } from '../../domain/installation.ts';
import type { Raw } from '../../domain/json.ts';
import type { Role } from '../../domain/tokens.ts';
import { files } from '../../infrastructure/platform/files.ts';
import { runBridge } from './bridge.ts';
import { watchEsc } from './esc-watch.ts';
import { checkedRemote, sendHook } from './sending.ts';

export interface RemoteMcpOptions {
  role?: Role;
  toolTimeout?: string;
  tokenFile?: string;
  insecure?: boolean;
}

/** Passes messages and hook events on until the client is gone, and ends the process. @throws HiveError `invalid_input`, `not_allowed`. */
export async function runRemoteMcp(
  given: string,
  { role, toolTimeout: tool_timeout, tokenFile, insecure = false }: RemoteMcpOptions,
): Promise<void> {
  const stop = untilAbandoned();
  if (role !== undefined)
    throw invalidInput(
      `--role does not work with --url: the token decides. Your human makes a token with: hive token make NAME --role ${role}`,
    );
  if (tool_timeout !== undefined)
    throw invalidInput('--tool-timeout does not work with --url. Leave it out.');
  const remote = checkedRemote(given, tokenFile, insecure);
  const url = new URL(given);
  if (url.pathname === '/') url.pathname = MCP_PATH;
  const send = (event: Raw, signal: AbortSignal): ReturnType<typeof sendHook> => {
    const env = hookEnvironment(process.env);
    const cwd = env['CLAUDE_PROJECT_DIR'] ?? String(event['cwd'] ?? process.cwd());
    const call = { text: JSON.stringify(event), client: clientOf(event), env, cwd, signal };
    return sendHook({ ...remote, url: url.href }, call, () => undefined);
  };
  // If this fails, the turn ends with the next event of its session.
  const watchTurn = watchEsc(files, (event) => void send(event, stop).catch(() => undefined));
  const onHook: ConnectionHook = async (hook, signal) => {
    const event = eventIn(hook);
    watchTurn(event);
    const reply = await send(event, signal).catch((error: unknown) => {
      const denial =
        process.env['HIVE_GATE_FAIL'] === 'closed'
          ? refusal(String(event['hook_event_name']), error instanceof Error ? error.message : String(error))
          : '';
      if (denial === '') throw error;
      return { stdout: denial, printed: () => Promise.resolve() };
    });
    if (!signal.aborted) setImmediate(() => reply.printed().catch(() => undefined));
    return reply.stdout;
  };
  const { stdin: input, stdout: output } = process;
  await runBridge({ url, token_file: remote.token_file, input, output, stop, onHook });
  process.exit(0);
}
