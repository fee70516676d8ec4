/** Hive as a peer: an agent over `hive mcp`, and the human's side over a real sidecar, as in Emacs. */
import { connectHive, environment, HIVE, type Server, start } from '../children.ts';
import type { Asked, Peer } from './peer.ts';

interface HiveAsked extends Asked {
  readonly ask_id: string;
}

const WAIT_MS = 25_000;

/** The key of this desk, as Emacs has one. The first key of a store is registered, and signs what is answered there. */
const SEAT_KEY = '5'.repeat(64);

export async function startHive(folder: string): Promise<Peer> {
  const desk = await openDesk(folder);
  let agent = await connectHive(folder);
  const spoken: unknown[] = [];
  const call = async (
    server: Server,
    tool: string,
    args: Record<string, unknown>,
  ): Promise<Record<string, unknown>> => {
    const result = await server.call(tool, args);
    spoken.push(args, result);
    return result;
  };
  const poll = async (server: Server, ask_id: string, wait_ms: number): Promise<string | null> => {
    const { status, decision } = await call(server, 'hivemind_poll', { ask_id, wait_ms });
    return status === 'responded' ? String(decision) : null;
  };
  return {
    name: 'Hive',
    spoken,
    tools: () => agent.tools(),
    async ask(question): Promise<HiveAsked> {
      const shown = desk.next(question);
      const { ask_id } = await call(agent, 'hivemind_ask_async', { question });
      const server = agent;
      const answered = poll(server, String(ask_id), WAIT_MS).then(
        (decision) => decision ?? new Promise<string>(() => {}),
        () => new Promise<string>(() => {}),
      );
      return {
        ask_id: String(ask_id),
        shown,
        answered,
        answer: (decision) => desk.respond(String(ask_id), decision),
      };
    },
    async restartServer() {
      process.kill(agent.pid, 'SIGKILL');
      agent = await connectHive(folder);
    },
    recover: (asked) => poll(agent, (asked as HiveAsked).ask_id, 2_000),
    async close() {
      await agent.close();
      desk.close();
    },
  };
}

interface DeskWire {
  /** Resolves when a question with this text has arrived. */
  next(question: string): Promise<void>;
  /** Resolves when the sidecar has acknowledged the answer. */
  respond(ask_id: string, decision: string): Promise<void>;
  close(): void;
}

interface Frame {
  id?: number;
  method?: string;
  error?: { message: string };
  params?: { question?: string };
}

async function openDesk(folder: string): Promise<DeskWire> {
  const sidecar = start(process.execPath, [HIVE, 'sidecar'], {
    env: environment(folder),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const replies = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  const awaited = new Map<string, () => void>();
  let last = 0;
  let buffer = Buffer.alloc(0);
  sidecar.stdout?.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (let frame = take(); frame !== null; frame = take()) receive(frame);
  });

  function take(): Frame | null {
    const end = buffer.indexOf('\r\n\r\n');
    const length = Number(/Content-Length: (\d+)/.exec(buffer.toString('latin1', 0, Math.max(end, 0)))?.[1]);
    if (end < 0 || buffer.length < end + 4 + length) return null;
    const frame = JSON.parse(buffer.toString('utf8', end + 4, end + 4 + length)) as Frame;
    buffer = buffer.subarray(end + 4 + length);
    return frame;
  }

  function receive({ id, method, params, error }: Frame): void {
    const reply = id === undefined || method !== undefined ? undefined : replies.get(id);
    if (error === undefined) reply?.resolve();
    else reply?.reject(new Error(error.message));
    if (method === 'hivemind-ask') awaited.get(params?.question ?? '')?.();
  }

  function send(message: object): void {
    const content = JSON.stringify({ jsonrpc: '2.0', ...message });
    sidecar.stdin?.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
  }

  function request(method: string, params: object): Promise<void> {
    last += 1;
    const id = last;
    const replied = new Promise<void>((resolve, reject) => replies.set(id, { resolve, reject }));
    send({ id, method, params });
    return replied;
  }

  await request('initialize', {
    protocol_version: 1,
    client: { name: 'bench', version: '1' },
    human: 'Ada',
    seat_key: SEAT_KEY,
  });
  send({ method: 'initialized', params: {} });
  return {
    next: (question) => new Promise((resolve) => awaited.set(question, resolve)),
    respond: (ask_id, decision) =>
      request('hivemind-response', { response_id: `response-${ask_id}`, ask_id, decision, by: 'Ada' }),
    close: () => void sidecar.stdin?.end(),
  };
}
