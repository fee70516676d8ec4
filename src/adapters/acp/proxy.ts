/**
 * The proxy between an ACP client (an editor) and an ACP agent. Whatever the agent asks its person is asked at the desks
 * as well, and the first answer wins; turns, and so interrupts and mentions, are known to the hive. Every other message is
 * passed on byte by byte, in both directions, in its order and whatever its version. If the hive cannot be reached, the two
 * talk as if there were no proxy: nothing hangs, and nothing is allowed.
 */
import type { Readable, Writable } from 'node:stream';
import type { EditorSession } from '../../application/editor-sessions.ts';
import type { OfferedDialog } from '../../application/editors.ts';
import type { Hive } from '../../application/hive.ts';
import type { EditorAnswer, EditorDialog } from '../../domain/editors.ts';
import type { Raw } from '../../domain/hooks.ts';
import { objectIn, textIn } from '../../domain/json.ts';
import { parseJson } from '../../domain/json-numbers.ts';
import {
  ELICITATION,
  elicitationOf,
  PERMISSION,
  permissionOf,
  resultOf,
  ToolCalls,
  withdrawnResult,
} from './dialogs.ts';

/** One side of the proxy. */
export interface Side {
  /** What it sends. */
  input: Readable;
  /** What it gets. */
  output: Writable;
}

export interface ProxyOptions {
  hive: Hive;
  client: Side;
  agent: Side & { pid: number | null; command: string };
  /** The name that the agent's person gave it. */
  name: string | null;
  /** Makes the id of an agent's session in the hive. */
  makeId: () => string;
  /**
   * The session's id where the editor's own package speaks to the hive (elisp/hive-agent-shell.el): that reports the turns
   * and offers the permissions, and only forms are left to the proxy.
   */
  package_session: string | null;
  /** The command of `hive mcp`, for the sessions that the client begins; null: the client adds it itself. */
  mcp: { command: string; args: string[]; env: Readonly<Record<string, string>> } | null;
  /** How many ms a form waits that only a desk can show, while nobody is at one. */
  patience_ms: number;
  /** The client has gone. The agent has no more input and should end. */
  onClientGone: () => void;
  /** Prints a line for the person, on stderr. */
  remark: (text: string) => void;
}

/** The variable with the id of an editor's session, for the MCP server that the proxy adds to it. */
const SESSION_VARIABLE = 'HIVE_SESSION';

type Id = string | number;

/** A question of the agent's that has no answer yet. */
interface Question {
  id: Id;
  method: string;
  dialog: EditorDialog;
  conversation: Conversation;
  /** The client shows it too. */
  shown: boolean;
  /** The client has answered it after a desk had. */
  outrun: boolean;
  /** Ends the wait for a desk. */
  stop: AbortController;
  offered: OfferedDialog | null;
}

/** One session of the agent. */
interface Conversation {
  acp_id: string;
  cwd: string;
  calls: ToolCalls;
  /** As the hive knows it. */
  session: EditorSession;
}

/** A request of the client's whose response the proxy needs. */
type Awaited =
  | { kind: 'initialize' }
  | { kind: 'session'; acp_id: string | null; session_id: string; cwd: string }
  | { kind: 'turn'; conversation: Conversation };

/** Requests of the client's that begin or continue a session, and so name the MCP servers of it. */
const SESSION_METHODS: ReadonlySet<string> = new Set([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
]);
const CANCEL = 'session/cancel';
const CANCEL_REQUEST = '$/cancel_request';
const REQUEST_CANCELLED = -32_800;
const UNSHOWN = 'A form of the agent could not be shown at a desk. It was cancelled.';

/** Passes messages until the agent has ended; resolves once nothing of it waits in the hive. */
export async function runProxy(options: ProxyOptions): Promise<void> {
  const { hive, client, agent, remark } = options;
  const awaited = new Map<string, Awaited>();
  const questions = new Map<string, Question>();
  /** Requests that a desk has answered: the client's own answer comes too late. */
  const settled = new Set<string>();
  const conversations = new Map<string, Conversation>();
  const background = new Set<Promise<void>>();
  let agentName = agent.command;
  let version = 1;
  /** The client can show no forms, so only the desks do. */
  let formsAreOurs = false;

  const toAgent = (message: unknown): Promise<void> => writeTo(agent.output, line(message));
  const toClient = (message: unknown): Promise<void> => writeTo(client.output, line(message));

  /** Work beside the messages. What fails concerns the hive only: the two sides go on. */
  function beside(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) =>
        hive.log.warn('hive acp could not reach the hive.', { error: String(error) }),
      )
      .finally(() => background.delete(running));
    background.add(running);
  }

  // ---- From the client ----

  async function fromClient(bytes: Buffer): Promise<void> {
    const message = parse(bytes);
    const id = idOf(message?.['id']);
    const method = textIn(message ?? {}, 'method');
    if (message === null || (method === null && id === null)) return writeTo(agent.output, bytes);
    if (method === null && id !== null) return answerOfClient(id, bytes);
    const params = objectIn(message['params']) ?? {};
    if (method === CANCEL) cancelOfClient(params);
    const changed = id === null ? null : requestOfClient(id, method ?? '', params);
    if (changed === null) return writeTo(agent.output, bytes);
    return toAgent({ ...message, params: changed });
  }

  /** Notes a request of the client's; returns its new parameters if they change. */
  function requestOfClient(id: Id, method: string, params: Raw): Raw | null {
    if (method === 'initialize') {
      awaited.set(key(id), { kind: 'initialize' });
      return withForms(params);
    }
    if (SESSION_METHODS.has(method)) {
      const session_id = options.package_session ?? options.makeId();
      const cwd = textIn(params, 'cwd') ?? process.cwd();
      awaited.set(key(id), { kind: 'session', acp_id: textIn(params, 'sessionId'), session_id, cwd });
      return withMcp(params, session_id);
    }
    if (method === 'session/prompt') {
      const conversation = conversations.get(textIn(params, 'sessionId') ?? '');
      if (conversation !== undefined) {
        awaited.set(key(id), { kind: 'turn', conversation });
        if (version === 1 && options.package_session === null)
          void conversation.session.beginTurn(String(id));
      }
    }
    return null;
  }

  /** A client that cancels a turn answers what waits in it. For the forms that it never saw, the proxy does. */
  function cancelOfClient(params: Raw): void {
    const acp_id = textIn(params, 'sessionId');
    for (const question of questions.values())
      if (question.conversation.acp_id === acp_id && !question.shown && !question.outrun)
        beside(() => cancelForm(question, 'interrupted'));
  }

  /** Offers forms in the client's place. Version 2 says otherwise what a client can show: there nothing is added. */
  function withForms(params: Raw): Raw | null {
    const capabilities = objectIn(params['clientCapabilities']);
    if (params['protocolVersion'] !== 1) return null;
    const elicitation = objectIn(capabilities?.['elicitation']);
    if (objectIn(elicitation?.['form']) !== null) return null;
    formsAreOurs = true;
    return { ...params, clientCapabilities: { ...capabilities, elicitation: { ...elicitation, form: {} } } };
  }

  /** Adds `hive mcp` to the servers of a session, unless the client has one of that name. */
  function withMcp(params: Raw, session_id: string): Raw | null {
    const servers = params['mcpServers'];
    if (options.mcp === null || !Array.isArray(servers)) return null;
    if (servers.some((server) => objectIn(server)?.['name'] === 'hive')) return null;
    const { command, args, env } = options.mcp;
    const variables = Object.entries({ ...env, [SESSION_VARIABLE]: session_id });
    const hiveMcp = {
      ...(version === 1 ? {} : { type: 'stdio' }),
      name: 'hive',
      command,
      args,
      env: variables.map(([name, value]) => ({ name, value })),
    };
    return { ...params, mcpServers: [...servers, hiveMcp] };
  }

  /** The client's answer to a question of the agent's. It waits until the store has said who was first. */
  async function answerOfClient(id: Id, bytes: Buffer): Promise<void> {
    if (settled.delete(key(id))) return;
    const question = questions.get(key(id));
    if (question === undefined) return writeTo(agent.output, bytes);
    if (await withdraw(question, 'answered_elsewhere')) {
      questions.delete(key(id));
      return writeTo(agent.output, bytes);
    }
    // A desk was first. Its answer leaves by itself, and this one comes too late: `settle` informs the client.
    question.shown = false;
    question.outrun = true;
  }

  // ---- From the agent ----

  async function fromAgent(bytes: Buffer): Promise<void> {
    const message = parse(bytes);
    const id = idOf(message?.['id']);
    const method = textIn(message ?? {}, 'method');
    const params = objectIn(message?.['params']) ?? {};
    if (method === null && id !== null) responseOfAgent(id, message ?? {});
    else if (method === 'session/update') updateOfAgent(params);
    else if (method === CANCEL_REQUEST && cancelOfAgent(params)) return;
    else if (id !== null && (method === PERMISSION || method === ELICITATION)) {
      const question = questionOf(id, method, params);
      if (question !== null) {
        // A request under the id of an open one takes its place, so nobody waits for the first one any more.
        const replaced = questions.get(key(id));
        settled.delete(key(id));
        questions.set(key(id), question);
        if (replaced !== undefined)
          beside(async () => {
            await withdraw(replaced, 'withdrawn');
          });
        beside(() => offerOrDecline(question));
        if (!question.shown) return;
      }
    }
    return writeTo(client.output, bytes);
  }

  function responseOfAgent(id: Id, message: Raw): void {
    const known = awaited.get(key(id));
    if (known === undefined) return;
    awaited.delete(key(id));
    const result = objectIn(message['result']);
    if (known.kind === 'turn') {
      if (version === 1) endTurn(known.conversation, textIn(result ?? {}, 'stopReason'));
      return;
    }
    if (result === null) return;
    if (known.kind === 'initialize') {
      const info = objectIn(result['agentInfo']) ?? objectIn(result['info']) ?? {};
      agentName = textIn(info, 'title') ?? textIn(info, 'name') ?? agentName;
      if (typeof result['protocolVersion'] === 'number') version = result['protocolVersion'];
      return;
    }
    const acp_id = textIn(result, 'sessionId') ?? known.acp_id;
    if (acp_id === null) return;
    const { session_id, cwd } = known;
    const described = {
      session_id,
      client_session_id: acp_id,
      client: agentName,
      name: options.name,
      pid: agent.pid,
      cwd,
    };
    const session = hive.editorSessions.attach(described, { interrupt: () => interrupt(acp_id) });
    conversations.set(acp_id, { acp_id, cwd, calls: new ToolCalls(), session });
  }

  function updateOfAgent(params: Raw): void {
    const conversation = conversations.get(textIn(params, 'sessionId') ?? '');
    const update = objectIn(params['update']) ?? {};
    if (conversation === undefined) return;
    conversation.calls.update(update);
    if (version === 1 || update['sessionUpdate'] !== 'state_update') return;
    // Version 2: the response to a prompt only says that it was accepted.
    if (update['state'] === 'running' && options.package_session === null)
      void conversation.session.beginTurn(null);
    if (update['state'] === 'idle') endTurn(conversation, textIn(update, 'stopReason'));
  }

  /** The agent no longer asks. Returns whether to keep this from the client. */
  function cancelOfAgent(params: Raw): boolean {
    const id = idOf(params['requestId']);
    const question = id === null ? undefined : questions.get(key(id));
    if (id === null || question === undefined) return false;
    questions.delete(key(id));
    beside(async () => {
      await withdraw(question, 'withdrawn');
    });
    if (question.shown) return false;
    const error = { code: REQUEST_CANCELLED, message: 'Withdrawn by the agent.' };
    void toAgent({ jsonrpc: '2.0', id, error });
    return true;
  }

  function questionOf(id: Id, method: string, params: Raw): Question | null {
    const conversation = conversations.get(textIn(params, 'sessionId') ?? '');
    if (conversation === undefined || (options.package_session !== null && method === PERMISSION))
      return null;
    const dialog =
      method === PERMISSION
        ? permissionOf(params, conversation.calls, conversation.cwd)
        : elicitationOf(params, agentName);
    if (dialog === null) return null;
    const shown = method === PERMISSION || !formsAreOurs;
    return {
      id,
      method,
      dialog,
      conversation,
      shown,
      outrun: false,
      stop: new AbortController(),
      offered: null,
    };
  }

  // ---- At the desks ----

  /** What the client does not show is always answered, also where the hive fails. */
  async function offerOrDecline(question: Question): Promise<void> {
    try {
      await offer(question);
    } catch (error) {
      if (!question.shown) await settle(question, withdrawnResult(question.method), UNSHOWN);
      throw error;
    }
  }

  async function offer(question: Question): Promise<void> {
    const { id, dialog, conversation, stop } = question;
    let answer: EditorAnswer | null = null;
    const opened = await conversation.session.open(dialog);
    if (opened !== null) {
      question.offered = opened.offered;
      answer = opened.answer;
      // The client may have answered by now, or the agent given up.
      if (questions.get(key(id)) !== question) {
        await hive.editors.withdraw(opened.offered, 'answered_elsewhere');
        return;
      }
    }
    const { offered } = question;
    if (!question.shown) beside(() => declineUnattended(question));
    if (answer === null && offered !== null && offered.ask_ids.length > 0)
      answer = await hive.editors.untilAnswered(offered, stop.signal);
    if (answer !== null) await settle(question, resultOf(answer));
    else if (!question.shown && offered !== null && !stop.signal.aborted)
      await settle(question, withdrawnResult(question.method), offered.ask_ids.length === 0 ? UNSHOWN : null);
  }

  /** A form that only a desk can show is declined once nobody has been at one for a while. */
  async function declineUnattended(question: Question): Promise<void> {
    const { signal } = question.stop;
    for (;;) {
      await pause(options.patience_ms, signal);
      if (signal.aborted || questions.get(key(question.id)) !== question) return;
      if (await hive.editors.isAttended()) continue;
      if (question.offered !== null && !(await withdraw(question, 'withdrawn'))) return;
      await settle(question, { action: 'decline' }, 'No desk is open, so a form of the agent was declined.');
      return;
    }
  }

  /** Answers the agent in the client's place, and takes the dialog away from the client. */
  async function settle(question: Question, result: Raw, why: string | null = null): Promise<void> {
    const { id, stop, shown } = question;
    if (questions.get(key(id)) !== question) return;
    questions.delete(key(id));
    stop.abort();
    if (why !== null) remark(why);
    await toAgent({ jsonrpc: '2.0', id, result });
    if (question.outrun) remark('An answer in the editor came too late: a desk had answered already.');
    else if (!shown) return;
    else settled.add(key(id));
    await toClient({ jsonrpc: '2.0', method: CANCEL_REQUEST, params: { requestId: id } });
  }

  /** Withdraws what the desks show. False if a desk has answered first, and the agent gets that answer. */
  async function withdraw(
    question: Question,
    reason: 'answered_elsewhere' | 'withdrawn' | 'interrupted',
  ): Promise<boolean> {
    if (question.offered === null) return true;
    try {
      const { accepted } = await hive.editors.withdraw(question.offered, reason);
      if (accepted) question.stop.abort();
      return accepted;
    } catch (error) {
      hive.log.warn('hive acp could not withdraw a question.', { error: String(error) });
      question.stop.abort();
      return true;
    }
  }

  /** Answers a form that only the desks show, because its turn is over; a desk that was first has answered it. */
  async function cancelForm(question: Question, reason: 'withdrawn' | 'interrupted'): Promise<void> {
    if (await withdraw(question, reason)) await settle(question, withdrawnResult(question.method));
  }

  // ---- Sessions and turns ----

  /** Stops the agent: somebody has interrupted its turn. */
  async function interrupt(acp_id: string): Promise<void> {
    await toAgent({ jsonrpc: '2.0', method: CANCEL, params: { sessionId: acp_id } });
    for (const question of [...questions.values()])
      if (question.conversation.acp_id === acp_id && (await withdraw(question, 'interrupted')))
        await settle(question, withdrawnResult(question.method));
  }

  function endTurn(conversation: Conversation, stop_reason: string | null): void {
    conversation.calls.clear();
    for (const question of [...questions.values()]) {
      if (question.conversation !== conversation) continue;
      if (!question.shown && !question.outrun) {
        beside(() => cancelForm(question, 'withdrawn'));
        continue;
      }
      questions.delete(key(question.id));
      beside(async () => {
        await withdraw(question, 'withdrawn');
      });
    }
    if (options.package_session === null) beside(() => conversation.session.endTurn(stop_reason));
  }

  // ---- Until one side is gone ----

  async function pass(from: Readable, each: (bytes: Buffer) => Promise<void>): Promise<void> {
    try {
      for await (const bytes of linesOf(from)) await each(bytes);
    } catch {
      // A stream that breaks has ended.
    }
  }
  void pass(client.input, fromClient).then(() => {
    agent.output.end();
    options.onClientGone();
  });
  await pass(agent.input, fromAgent);
  for (const question of questions.values()) question.stop.abort();
  for (const { session } of conversations.values()) session.stop();
  await Promise.allSettled(background);
  await endAll().catch((error: unknown) =>
    hive.log.warn('hive acp could not end its turns.', { error: String(error) }),
  );

  async function endAll(): Promise<void> {
    for (const question of questions.values()) await withdraw(question, 'withdrawn');
    for (const { session } of conversations.values()) await session.close();
  }
}

function key(id: Id): string {
  return JSON.stringify(id);
}

function idOf(value: unknown): Id | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/** A message; null for a line that is none, or one of a batch: it is passed on as it is. */
function parse(bytes: Buffer): Raw | null {
  try {
    return objectIn(parseJson(bytes.toString('utf8')));
  } catch {
    return null;
  }
}

function line(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}

// ---- Lines of bytes ----
// What is only passed on is never decoded, and a long message is copied once.

const NEWLINE = 0x0a;

/** Each line of a stream with its newline; the last one also without. Waits for the reader of each line. */
async function* linesOf(input: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of input) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      parts.push(bytes.subarray(from, at + 1));
      yield parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
      parts = [];
      from = at + 1;
    }
    if (from < bytes.length) parts.push(bytes.subarray(from));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

/** Writes to a stream; resolves when there is room for more, or the stream has ended. */
function writeTo(output: Writable, bytes: Uint8Array | string): Promise<void> {
  if (output.destroyed || output.writableEnded || output.write(bytes)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of ['drain', 'close', 'error'] as const) output.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'error'] as const) output.once(event, done);
  });
}
