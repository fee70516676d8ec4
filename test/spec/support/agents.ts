/** Agents as a source document sees them: a session of Claude Code with its MCP connection and its hooks. */
import { childEnvironment, type Environment, outputOf, spawnHive } from '../../support/children.ts';
import type { Ran } from '../../support/cli.ts';
import { clientAt, clientSocket, FAKE_CLIENT } from '../../support/fake-client.ts';
import { connectMcp, type McpCaller } from '../../support/mcp-client.ts';
import { isTold, type RpcClient } from '../../support/sidecar.ts';

// biome-ignore lint/suspicious/noExplicitAny: results are of many shapes, and the assertions say which
export type Loose = any;

export interface Agent extends McpCaller {
  readonly session_id: string;
  readonly handle: string;
  /** The title under which people see it. */
  title(): Promise<string>;
  /** A tool, with its structured result. */
  use(name: string, args?: Record<string, unknown>): Promise<Loose>;
  /** One event into a real `hive hook`: what it printed as JSON, `{}` where it printed nothing. */
  hook(name: string, fields?: Record<string, unknown>, env?: Environment): Promise<Loose>;
  /** `hive ARGS…` in its own shell. */
  shell(...args: string[]): Promise<Ran>;
  /** Wakes it when it is idle: a `hive hook --wake` beside it. Resolves to its exit code and its output. */
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
  { env = {}, coordinates = false }: { env?: Environment; coordinates?: boolean } = {},
): Promise<Agent> {
  const own = { CLAUDE_CODE_SESSION_ID: session_id, ...env };
  const socket = clientSocket();
  const wrap = (program: string, words: readonly string[]) => asChild(program, words, socket);
  const mcp = await connectMcp({ store, coordinates, env: own, client: 'claude-code', wrap });
  const client = clientAt(store, socket, mcp.pid);
  const { you } = (await mcp.call('hivemind_has_unprocessed_mentions')) as { you: string };
  const hook: Agent['hook'] = async (name, fields = {}, more = {}) => {
    const event = { prompt_id: 'prompt-1', session_id, hook_event_name: name, ...fields };
    const { code, out, err } = await client.hook(event, { ...env, ...more });
    if (code !== 0) throw new Error(`The hook ended with ${code}: ${err}`);
    return out === '' ? {} : JSON.parse(out);
  };
  return {
    ...mcp,
    session_id,
    handle: you,
    async title() {
      const { sessions } = (await client.hive(['sessions', '--json'], { env: own })).json();
      return sessions.find((one: Loose) => one.session_id === session_id).title;
    },
    use: (name, args) => mcp.call(name, args),
    hook,
    shell: (...args) => client.hive(args, { env: own }),
    waiter() {
      const event = { session_id, hook_event_name: 'Stop' };
      const waiting = client.hook(event, { CLAUDE_CODE_SESSION_ATTENDED: '1' }, '--wake');
      return { ended: waiting.then(({ code, err }) => ({ code, said: err })) };
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
  const socket = clientSocket();
  return connectMcp({
    store,
    env: { HIVE_AGENT: name },
    wrap: (program, args) => asChild(program, args, socket),
  });
}

/** Each session is a separate process, as with Claude Code: `hive mcp` and its hooks are its children. */
function asChild(
  program: string,
  args: readonly string[],
  socket: string,
): { program: string; args: string[] } {
  const mortal = ['setpriv', '--pdeathsig', 'KILL', program, ...args];
  return { program: process.execPath, args: [FAKE_CLIENT, socket, ...mortal] };
}

/** One hook event of Claude Code as a process that no client started; what it printed. */
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

/** The params of the first such notification to a desk, now or soon. Ask for it after its cause. */
export async function told(
  desk: RpcClient,
  method: string,
  test: (params: Loose) => boolean = () => true,
): Promise<Loose> {
  return (await desk.seen(isTold(method, test), 15_000)).params;
}
