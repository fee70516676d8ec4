/** An editor and an agent of the test's own, with the ACP proxy between them. */
import { PassThrough } from 'node:stream';
import { runProxy } from '../../src/extensions/editors/acp/proxy.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { whenFinished } from './lifetime.ts';
import { eventually } from './wait.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages as they come over the wire
type Message = any;

/** One end of the proxy: what it sends, and everything that it has received. */
export interface Peer {
  send(message: object): void;
  sendLine(line: string): void;
  readonly got: Message[];
  readonly lines: string[];
  /** The first message that fits, once it is there. */
  until(fits: (message: Message) => boolean): Promise<Message>;
  end(): void;
}

export interface Proxied {
  client: Peer;
  agent: Peer;
  /** Resolves when the proxy has ended. */
  ended: Promise<void>;
  remarks: string[];
}

function peer(input: PassThrough, output: PassThrough): Peer {
  const lines: string[] = [];
  const got: Message[] = [];
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    rest += chunk.toString();
    const complete = rest.split('\n');
    rest = complete.pop() ?? '';
    for (const line of complete) {
      lines.push(line);
      try {
        got.push(JSON.parse(line));
      } catch {
        got.push(null);
      }
    }
  });
  return {
    send: (message) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    sendLine: (line) => void input.write(`${line}\n`),
    got,
    lines,
    async until(fits) {
      await eventually(() => got.some((message) => message !== null && fits(message)));
      return got.find((message) => message !== null && fits(message));
    },
    end: () => void input.end(),
  };
}

interface ProxyOptions {
  /** How long a form waits that only a desk can show. */
  patience_ms?: number;
  /** The process of the agent. */
  pid?: number | null;
  /** How many sessions earlier starts began: their ids are taken. */
  earlier?: number;
  /** The agent's program and its arguments. */
  program?: readonly string[];
  /** The session of which its environment says that an editor speaks for it. */
  package_session?: string | null;
  /** Called when the editor has gone; without it, its agent ends, too. */
  onClientGone?: () => void;
}

/** Starts the proxy. */
export function openProxy(
  hive: OpenedHive,
  {
    patience_ms = 60_000,
    pid = null,
    earlier = 0,
    program = ['fake-agent'],
    package_session = null,
    onClientGone,
  }: ProxyOptions = {},
): Proxied {
  const [fromClient, toClient, fromAgent, toAgent] = [0, 0, 0, 0].map(() => new PassThrough()) as [
    PassThrough,
    PassThrough,
    PassThrough,
    PassThrough,
  ];
  const remarks: string[] = [];
  let sessions = earlier;
  const ended = runProxy({
    hive,
    client: { input: fromClient, output: toClient },
    agent: { input: fromAgent, output: toAgent, pid, command: 'fake-agent', program },
    package_session,
    name: null,
    makeId() {
      sessions += 1;
      return `editor-${sessions}`;
    },
    mcp: {
      stdio: { command: '/bin/node', args: ['/bin/hive', 'mcp'], env: {} },
      http: async (session_id) => ({ url: `http://127.0.0.1:1/${session_id}`, headers: [] }),
    },
    patience_ms,
    onClientGone: onClientGone ?? (() => fromAgent.end()),
    remark: (text) => remarks.push(text),
  });
  whenFinished(async () => {
    fromClient.end();
    fromAgent.end();
    await ended;
  });
  return { client: peer(fromClient, toClient), agent: peer(fromAgent, toAgent), ended, remarks };
}

export interface BegunOptions extends ProxyOptions {
  /** The capabilities that the client declares. */
  capabilities?: object;
  version?: number;
  /** Fields that the agent adds to its name. */
  agent_says?: object;
  /** The session's id where the editor's own package speaks to the hive. */
  package_session?: string | null;
}

/** Starts the proxy with a session `s1` in `/demo`, in which a turn runs; the turn is the request 3. */
export async function beginAcp(
  hive: OpenedHive,
  { capabilities = {}, version = 1, agent_says = {}, ...options }: BegunOptions = {},
): Promise<Proxied> {
  const proxied = openProxy(hive, options);
  const { client, agent } = proxied;
  client.send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: version, clientCapabilities: capabilities },
  });
  await agent.until(({ id }) => id === 1);
  agent.send({
    id: 1,
    result: { protocolVersion: version, agentInfo: { name: 'fake', title: 'Fake Agent' }, ...agent_says },
  });
  await client.until(({ id }) => id === 1);
  client.send({ id: 2, method: 'session/new', params: { cwd: '/demo', mcpServers: [] } });
  await agent.until(({ id }) => id === 2);
  agent.send({ id: 2, result: { sessionId: 's1' } });
  await client.until(({ id }) => id === 2);
  client.send({ id: 3, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } });
  await agent.until(({ id }) => id === 3);
  return proxied;
}

/** Starts the proxy again, and loads the session `s1` there, as an editor does that was restarted. */
export async function loadAcp(hive: OpenedHive, options: ProxyOptions, cwd = '/demo'): Promise<Proxied> {
  const proxied = openProxy(hive, options);
  const { client, agent } = proxied;
  client.send({ id: 2, method: 'session/load', params: { sessionId: 's1', cwd, mcpServers: [] } });
  await agent.until(({ id }) => id === 2);
  agent.send({ id: 2, result: {} });
  await client.until(({ id }) => id === 2);
  return proxied;
}

const OPTIONS: readonly object[] = [
  { optionId: 'always', name: 'Always Allow', kind: 'allow_always' },
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

/** A report of the agent about its session `s1`, such as a change of a call. */
export const updated = (update: object): object => ({
  method: 'session/update',
  params: { sessionId: 's1', update },
});

/** A permission that the agent asks for under this id. */
export function permission(
  id: number,
  input: object = { command: 'make' },
  toolCall: object = {},
  options: readonly object[] = OPTIONS,
): object {
  return {
    id,
    method: 'session/request_permission',
    params: {
      sessionId: 's1',
      toolCall: { toolCallId: `call-${id}`, title: '`make`', kind: 'execute', rawInput: input, ...toolCall },
      options,
    },
  };
}

/** The answer of an editor that chose this option. */
export function selected(optionId: string): object {
  return { outcome: { outcome: 'selected', optionId } };
}
