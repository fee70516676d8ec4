/** Agents as a source document sees them: a session of Claude Code with its MCP connection and its hooks. */
import { childEnvironment, type Environment, outputOf, spawnHive } from '../../support/children.ts';
import { connectMcp, type McpCaller } from '../../support/mcp-client.ts';
import { isTold, type RpcClient } from '../../support/sidecar.ts';

// biome-ignore lint/suspicious/noExplicitAny: results are of many shapes, and the assertions say which
export type Loose = any;

export interface Agent extends McpCaller {
  readonly session_id: string;
  readonly handle: string;
  /** A tool, with its structured result. */
  use(name: string, args?: Record<string, unknown>): Promise<Loose>;
  /** One event into a real `hive hook`: what it printed as JSON, `{}` where it printed nothing. */
  hook(name: string, fields?: Record<string, unknown>, env?: Environment): Promise<Loose>;
  /** What wakes it when it idles: a `hive hook --wake` beside it. Resolves to its exit code and what it said. */
  waiter(): { ended: Promise<{ code: number | null; said: string }> };
  /** The PreToolUse event of a tool: `deny`, with the reason, or `pass`, with the context. */
  tries(tool?: string, input?: Record<string, unknown>, env?: Environment): Promise<Attempt>;
}

export interface Attempt {
  verdict: 'deny' | 'pass';
  text: string;
}

/** Starts the MCP connection of a session; its handle is `Claude-` and the first five characters of its id. */
export async function startAgent(
  store: string,
  session_id: string,
  { env = {}, args = [] }: { env?: Environment; args?: readonly string[] } = {},
): Promise<Agent> {
  const own = { CLAUDE_CODE_SESSION_ID: session_id, ...env };
  const mcp = await connectMcp({ store, args, env: own, client: 'claude-code', wrap: asChild });
  const { you } = (await mcp.call('hivemind_has_unprocessed_mentions')) as { you: string };
  const hook: Agent['hook'] = (name, fields = {}, more = {}) =>
    fireHook(
      store,
      { session_id, hook_event_name: name, ...fields },
      { CLAUDE_PID: String(mcp.pid), ...env, ...more },
    );
  return {
    ...mcp,
    session_id,
    handle: you,
    use: (name, args) => mcp.call(name, args),
    hook,
    waiter() {
      const env = childEnvironment(store, { CLAUDE_PID: String(mcp.pid), CLAUDE_CODE_SESSION_ATTENDED: '1' });
      const child = spawnHive(['hook', '--client', 'claude-code', '--wake'], env);
      child.process.stdin.end(JSON.stringify({ session_id, cwd: '/', hook_event_name: 'Stop' }));
      return { ended: child.exited.then(({ code }) => ({ code, said: child.stderr() })) };
    },
    async tries(tool = 'Bash', input = { command: 'ls' }, more = {}) {
      const event = { tool_name: tool, tool_input: input, tool_use_id: `toolu_${tool}` };
      const { hookSpecificOutput: output } = await hook('PreToolUse', event, more);
      return output?.permissionDecision === 'deny'
        ? { verdict: 'deny', text: output.permissionDecisionReason }
        : { verdict: 'pass', text: output?.additionalContext ?? '' };
    },
  };
}

/** An agent of any other client, known by the name that `HIVE_AGENT` gives it. */
export function startNamed(store: string, name: string): Promise<McpCaller> {
  return connectMcp({ store, env: { HIVE_AGENT: name }, wrap: asChild });
}

/** Each session is a process of its own, as Claude Code is: `hive mcp` is its child, and its hooks tell its id. */
function asChild(program: string, args: readonly string[]): { program: string; args: string[] } {
  const mortal = ['setpriv', '--pdeathsig', 'KILL', program, ...args];
  return { program: 'sh', args: ['-c', '"$@"; exit $?', 'claude', ...mortal] };
}

/** One hook event of Claude Code as a process of its own; what it printed. */
export async function fireHook(
  store: string,
  event: Record<string, unknown>,
  env: Environment = {},
): Promise<Loose> {
  const child = spawnHive(['hook', '--client', 'claude-code'], childEnvironment(store, env));
  const printed = outputOf(child);
  child.process.stdin.end(JSON.stringify({ cwd: '/', prompt_id: 'prompt-1', ...event }));
  const text = await printed;
  return text === '' ? {} : JSON.parse(text);
}

/** What a desk is told, now or soon: the params of the first such notification. To be asked for after what causes it. */
export async function told(
  desk: RpcClient,
  method: string,
  test: (params: Loose) => boolean = () => true,
): Promise<Loose> {
  return (await desk.seen(isTold(method, test), 15_000)).params;
}
