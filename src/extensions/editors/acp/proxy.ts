/**
 * The proxy between an ACP client (an editor) and an ACP agent. Whatever the agent asks its person is asked at the desks
 * as well, and the first answer wins; turns, and so interrupts and mentions, are known to the hive. Every other message is
 * passed on byte by byte, in both directions, in its order and whatever its version. If the hive cannot be reached, the two
 * talk as if there were no proxy: nothing hangs, and nothing is allowed.
 */
import type { Readable, Writable } from 'node:stream';
import type { EditorSession } from '../../../application/editor-sessions.ts';
import type { OfferedDialog } from '../../../application/editors.ts';
import type { Hive } from '../../../application/hive.ts';
import { spelledLine } from '../../../domain/display.ts';
import type { EditorAnswer, EditorDialog } from '../../../domain/editors.ts';
import type { Raw } from '../../../domain/hooks.ts';
import { objectIn, textIn } from '../../../domain/json.ts';
import { parseJson } from '../../../domain/json-numbers.ts';
import { excerpt } from '../../../domain/text.ts';
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
  /** Read from it. */
  input: Readable;
  /** Written to it. */
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
  /** The MCP server of Hive, for the sessions that the client begins; null: the client adds it itself. */
  mcp: HiveServer | null;
  /** How many ms a form waits that only a desk can show, while nobody is at one. */
  patience_ms: number;
  /** The client has gone. The agent has no more input and should end. */
  onClientGone: () => void;
  /** Prints a line for the person, on stderr. */
  remark: (text: string) => void;
}

/** The MCP server of Hive as an agent can be given it. */
export interface HiveServer {
  /** The command of `hive mcp`, which the agent starts. */
  stdio: { command: string; args: string[]; env: Readonly<Record<string, string>> };
  /** Serves a session over HTTP, for an agent that starts no programs. */
  http: (session_id: string) => Promise<{ url: string; headers: { name: string; value: string }[] }>;
}

/** How an agent reaches an MCP server. */
type Carrier = keyof HiveServer;

/** The agents that ignore an MCP server on stdio, without a word to their client, although version 1 demands that they take it. */
const ONLY_HTTP: ReadonlySet<string> = new Set(['Copilot']);

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
type Awaited = { kind: 'initialize' } | SessionRequest | { kind: 'turn'; conversation: Conversation };

interface SessionRequest {
  kind: 'session';
  acp_id: string | null;
  session_id: string;
  cwd: string;
  /** As the client sent it. */
  request: Raw;
  /** How our server can be offered, beginning with how it is offered now; empty without it. */
  carriers: readonly Carrier[];
  /** What the agent said when it refused our server; null if it did not. */
  refused: string | null;
}

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
/** The agent begins no session before its person has logged in. */
const AUTH_REQUIRED = -32_000;
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
  /** How the agent takes MCP servers, the best one first. */
  let carriers: readonly Carrier[] = ['stdio'];
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
    if (id !== null && SESSION_METHODS.has(method ?? '')) return beginSession(id, message, params, bytes);
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

  /** Passes on a request that begins or continues a session, with our MCP server unless the client has one of that name. */
  async function beginSession(id: Id, request: Raw, params: Raw, bytes: Buffer): Promise<void> {
    const session_id = options.package_session ?? options.makeId();
    const servers = serversIn(params);
    const isOurs =
      options.mcp !== null && servers?.every((one) => objectIn(one)?.['name'] !== 'hive') === true;
    const session: SessionRequest = {
      kind: 'session',
      acp_id: textIn(params, 'sessionId'),
      session_id,
      cwd: textIn(params, 'cwd') ?? process.cwd(),
      request,
      carriers: isOurs ? carriers : [],
      refused: null,
    };
    awaited.set(key(id), session);
    if (isOurs && carriers.length === 0)
      remark(`${spelledLine(agentName)} takes no MCP servers, so it has no tools of Hive.`);
    if (session.carriers.length === 0) return writeTo(agent.output, bytes);
    return toAgent(await withServer(session));
  }

  /** The servers that a request names; version 2 leaves the list out where there are none. Null for what is no list. */
  function serversIn(params: Raw): readonly unknown[] | null {
    const servers = params['mcpServers'] ?? (version === 1 ? null : []);
    return Array.isArray(servers) ? servers : null;
  }

  /** The request with our server in the way that it is offered now; as the client sent it without one. */
  async function withServer({ request, session_id, carriers: [carrier] }: SessionRequest): Promise<Raw> {
    const params = objectIn(request['params']) ?? {};
    const { mcp } = options;
    if (mcp === null || carrier === undefined) return request;
    const { env, ...program } = mcp.stdio;
    const variables = Object.entries({ ...env, [SESSION_VARIABLE]: session_id });
    const served = carrier === 'http' ? await mcp.http(session_id).catch(unserved) : null;
    if (carrier === 'http' && served === null) return request;
    const server =
      carrier === 'http'
        ? { type: 'http', name: 'hive', ...served }
        : {
            ...(version === 1 ? {} : { type: 'stdio' }),
            name: 'hive',
            ...program,
            env: variables.map(([name, value]) => ({ name, value })),
          };
    return { ...request, params: { ...params, mcpServers: [...(serversIn(params) ?? []), server] } };
  }

  function unserved(error: unknown): null {
    remark(
      `The tools of Hive cannot be served over HTTP (${String(error)}), so the agent runs without them.`,
    );
    return null;
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
    if (method === null && id !== null) {
      if (await offeredAgain(id, message ?? {})) return;
      responseOfAgent(id, message ?? {});
    } else if (method === 'session/update') updateOfAgent(params);
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

  /**
   * Sends a refused request again, with our server over HTTP or without it: what is refused without it, too, was not refused
   * because of the server. False for every other response.
   */
  async function offeredAgain(id: Id, message: Raw): Promise<boolean> {
    const known = awaited.get(key(id));
    const error = objectIn(message['error']);
    if (known?.kind !== 'session' || known.carriers.length === 0 || error === null) return false;
    if (error['code'] === AUTH_REQUIRED) return false;
    const again = { ...known, carriers: known.carriers.slice(1), refused: textIn(error, 'message') ?? '' };
    awaited.set(key(id), again);
    await toAgent(await withServer(again));
    return true;
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
      carriers = version === 1 ? carriersOf(result, agentName) : carriersOfDraft(result);
      return;
    }
    const acp_id = textIn(result, 'sessionId') ?? known.acp_id;
    if (acp_id === null) return;
    const { session_id, cwd, refused } = known;
    if (refused !== null && known.carriers.length === 0)
      remark(
        `${spelledLine(agentName)} refused the MCP server of Hive (${spelledLine(excerpt(refused, LONGEST_REASON))}), so it runs without the tools of Hive.`,
      );
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

/** In characters, of what an agent says. */
const LONGEST_REASON = 200;

/** How an agent of version 1 takes MCP servers: every one must take them on stdio, and it says whether also over HTTP. */
function carriersOf(initialized: Raw, agent: string): Carrier[] {
  const capabilities = objectIn(initialized['agentCapabilities']);
  const http: Carrier[] = objectIn(capabilities?.['mcpCapabilities'])?.['http'] === true ? ['http'] : [];
  return ONLY_HTTP.has(agent) ? http : ['stdio', ...http];
}

/** In version 2 it names each way. */
function carriersOfDraft(initialized: Raw): Carrier[] {
  const session = objectIn(objectIn(initialized['capabilities'])?.['session']);
  const named = objectIn(session?.['mcp']);
  return (['stdio', 'http'] as const).filter((carrier) => objectIn(named?.[carrier]) !== null);
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
