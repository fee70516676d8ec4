/**
 * The proxy between an ACP client (an editor) and an ACP agent. The agent's questions to its person are asked at the desks
 * as well, and the first answer wins (questions.ts). The hive knows the agent's turns, and so can interrupt it and deliver
 * mentions, and the agent's sessions get the MCP server of Hive (servers.ts). Every other message is passed on unchanged, in
 * both directions, in order and in any version (wire.ts). If the hive cannot be reached, the two talk as if there were no
 * proxy: nothing hangs, and nothing is allowed.
 */
import type { Readable } from 'node:stream';
import { createBackground } from '../../../application/background.ts';
import type { Hive } from '../../../application/hive.ts';
import { objectIn, type Raw, textIn } from '../../../domain/json.ts';
import { createEditors } from '../dialogs.ts';
import { attachAgent, conversationKey, earlierSession } from '../sessions.ts';
import {
  describedAnew,
  ELICITATION,
  elicitationOf,
  PERMISSION,
  permissionOf,
  ToolCalls,
  withdrawnResult,
} from './dialogs.ts';
import {
  type Asked,
  CANCEL_REQUEST,
  type Conversation,
  Questions,
  REQUEST_CANCELLED,
  UNSHOWN,
} from './questions.ts';
import {
  cwdOf,
  type HiveServer,
  HiveServers,
  type Loaded,
  SESSION_METHODS,
  type SessionRequest,
} from './servers.ts';
import { type Id, idOf, key, line, linesOf, parse, type Side, writeTo } from './wire.ts';

export interface ProxyOptions {
  hive: Hive;
  client: Side;
  /** `program`: the agent's file and its arguments. */
  agent: Side & { pid: number | null; command: string; program: readonly string[] };
  /** The name that the agent's person gave it. */
  name: string | null;
  /** Makes the id of an agent's session in the hive. */
  makeId: () => string;
  /**
   * The session's id if the editor's own package speaks to the hive (elisp/hive-agent-shell.el): the package reports the turns
   * and offers the permissions, and the proxy handles only forms.
   */
  package_session: string | null;
  /** The MCP server of Hive, for the sessions that the client begins; null: the client adds it itself. */
  mcp: HiveServer | null;
  /** How many ms a form that only a desk can show waits while nobody is at a desk. */
  patience_ms: number;
  /** The client has gone. The agent has no more input and should end. */
  onClientGone: () => void;
  /** Prints a line for the person, on stderr. */
  remark: (text: string) => void;
}

/** A request of the client whose response the proxy needs. */
type Awaited =
  | { kind: 'initialize' }
  | SessionRequest
  | { kind: 'end'; conversation: Conversation }
  | SentPrompt;

interface SentPrompt {
  kind: 'turn';
  conversation: Conversation;
  /** The agent was told to cancel it. */
  cancelled: boolean;
}

const CANCEL = 'session/cancel';
/** Requests of the client that end a session. */
const END_METHODS: ReadonlySet<string> = new Set(['session/close', 'session/delete']);

/** Passes messages until the agent has ended; resolves once nothing of the agent is pending in the hive. */
export async function runProxy(options: ProxyOptions): Promise<void> {
  const { hive, client, agent } = options;
  const awaited = new Map<string, Awaited>();
  const conversations = new Map<string, Conversation>();
  const background = createBackground(hive.log);
  const editors = createEditors(hive);
  let agentName = agent.command;
  let version = 1;
  /** The client can show no forms, so only the desks do. */
  let formsAreOurs = false;
  let clientShowsPages = false;

  const toAgent = (message: unknown): Promise<void> => writeTo(agent.output, line(message));
  const toClient = (message: unknown): Promise<void> => writeTo(client.output, line(message));

  /** Does work in the background. A failure concerns only the hive: the two sides continue. */
  function beside(work: () => Promise<void>): void {
    background.run('hive acp could not reach the hive.', work);
  }

  const questions = new Questions({ ...options, editors, toAgent, toClient, beside });
  const makeId = (): string => options.package_session ?? options.makeId();
  const servers = new HiveServers({ ...options, makeId, agentName: () => agentName });

  // ---- From the client ----

  async function fromClient(bytes: Buffer): Promise<void> {
    const message = parse(bytes);
    const id = idOf(message?.['id']);
    const method = textIn(message ?? {}, 'method');
    if (message === null || (method === null && id === null)) return writeTo(agent.output, bytes);
    // The answer waits until the store has decided which one was first.
    if (method === null && id !== null)
      return (await questions.answered(id)) ? writeTo(agent.output, bytes) : undefined;
    const params = objectIn(message['params']) ?? {};
    if (method === CANCEL) {
      const acp_id = textIn(params, 'sessionId');
      promptsCancelled(acp_id);
      questions.turnCancelled(acp_id);
    }
    if (method === CANCEL_REQUEST) {
      const cancelled = awaited.get(key(idOf(params['requestId']) ?? ''));
      if (cancelled?.kind === 'turn') cancelled.cancelled = true;
    }
    if (id !== null && SESSION_METHODS.has(method ?? '')) {
      const session = servers.begin(message, params, await loaded(method, params));
      awaited.set(key(id), session);
      if (session.carriers.length === 0) return writeTo(agent.output, bytes);
      return toAgent(await servers.withServer(session));
    }
    const changed = id === null ? null : requestOfClient(id, method ?? '', params);
    if (changed === null) return writeTo(agent.output, bytes);
    return toAgent({ ...message, params: changed });
  }

  /**
   * A session that is loaded stays the same one, while it is open and in a later start of the agent; a fork is another session.
   * Null if the client begins one.
   */
  async function loaded(method: string | null, params: Raw): Promise<Loaded | null> {
    const acp_id = textIn(params, 'sessionId');
    if (acp_id === null || method === 'session/fork') return null;
    const open = conversations.get(acp_id)?.session.about();
    if (open !== undefined) return { session_id: open.session_id, conversation: open.conversation ?? null };
    if (options.package_session !== null) return null;
    try {
      const conversation = conversationOf(acp_id, cwdOf(params));
      const { session_id, isKnown } = await earlierSession(hive, conversation, agent.pid);
      return { session_id, conversation: isKnown && session_id === null ? null : conversation };
    } catch (error) {
      hive.log.warn('hive acp could not look up a session that is loaded.', { error: String(error) });
      return { session_id: null, conversation: null };
    }
  }

  function conversationOf(acp_id: string, cwd: string): string {
    return conversationKey({ program: agent.program, id: acp_id, cwd });
  }

  /** Records a request of the client; returns its new parameters if they change. */
  function requestOfClient(id: Id, method: string, params: Raw): Raw | null {
    if (method === 'initialize') {
      awaited.set(key(id), { kind: 'initialize' });
      return withForms(params);
    }
    const conversation = conversations.get(textIn(params, 'sessionId') ?? '');
    if (END_METHODS.has(method) && conversation !== undefined)
      awaited.set(key(id), { kind: 'end', conversation });
    if (method === 'session/prompt') {
      if (conversation !== undefined) {
        leaveCancelled(conversation);
        const isWorking = isPrompted(conversation);
        awaited.set(key(id), { kind: 'turn', conversation, cancelled: false });
        if (!isWorking && version === 1) beginTurn(conversation, String(id));
      }
    }
    return null;
  }

  /** Offers forms in the client's place. In version 2 a client reports its abilities in another way: nothing is added there. */
  function withForms(params: Raw): Raw | null {
    const capabilities = objectIn(params['clientCapabilities']);
    if (params['protocolVersion'] !== 1) return null;
    const elicitation = objectIn(capabilities?.['elicitation']);
    if (objectIn(elicitation?.['form']) !== null) return null;
    formsAreOurs = true;
    clientShowsPages = objectIn(elicitation?.['url']) !== null;
    return { ...params, clientCapabilities: { ...capabilities, elicitation: { ...elicitation, form: {} } } };
  }

  // ---- From the agent ----

  async function fromAgent(bytes: Buffer): Promise<void> {
    const message = parse(bytes);
    const id = idOf(message?.['id']);
    const method = textIn(message ?? {}, 'method');
    const params = objectIn(message?.['params']) ?? {};
    if (method === null && id !== null) {
      const again = offeredAgain(id, message ?? {});
      if (again !== null) return toAgent(await servers.withServer(again));
      responseOfAgent(id, message ?? {});
    } else if (method === 'session/update') updateOfAgent(params);
    else if (method === CANCEL_REQUEST && questions.cancelled(idOf(params['requestId']))) return;
    else if (id !== null && (method === PERMISSION || method === ELICITATION)) {
      const asked = askedIn(id, method, params);
      if (asked !== null) questions.asked(asked);
      if (!isShown(method, params)) return asked === null ? cancelUnshown(id) : undefined;
    }
    return writeTo(client.output, bytes);
  }

  /** If a request that begins a session was refused: the request to send again. Null for every other response. */
  function offeredAgain(id: Id, message: Raw): SessionRequest | null {
    const known = awaited.get(key(id));
    const again = known?.kind === 'session' ? servers.again(known, message) : null;
    if (again !== null) awaited.set(key(id), again);
    return again;
  }

  function responseOfAgent(id: Id, message: Raw): void {
    const known = awaited.get(key(id));
    if (known === undefined) return;
    if (known.kind === 'turn') forgetUnanswered(known);
    awaited.delete(key(id));
    const result = objectIn(message['result']);
    if (known.kind === 'turn') {
      const isCancelled = objectIn(message['error'])?.['code'] === REQUEST_CANCELLED;
      const stop_reason = isCancelled ? 'cancelled' : textIn(result ?? {}, 'stopReason');
      if (version === 1) promptAnswered(known.conversation, stop_reason);
      return;
    }
    if (result === null) return;
    switch (known.kind) {
      case 'end':
        leave(known.conversation);
        break;
      case 'initialize':
        initialized(result);
        break;
      case 'session':
        sessionBegan(known, textIn(result, 'sessionId') ?? known.acp_id);
        break;
    }
  }

  function initialized(result: Raw): void {
    const info = objectIn(result['agentInfo']) ?? objectIn(result['info']) ?? {};
    agentName = textIn(info, 'title') ?? textIn(info, 'name') ?? agentName;
    if (typeof result['protocolVersion'] === 'number') version = result['protocolVersion'];
    servers.initialized(result, version);
  }

  function sessionBegan(known: SessionRequest, acp_id: string | null): void {
    if (acp_id === null) return;
    const { session_id, cwd, loaded } = known;
    servers.began(known);
    const described = {
      session_id,
      client_session_id: acp_id,
      client: agentName,
      name: options.name,
      pid: agent.pid,
      cwd,
      conversation: loaded === null ? conversationOf(acp_id, cwd) : loaded.conversation,
    };
    const open = conversations.get(acp_id);
    if (open !== undefined && open.session.about().session_id === session_id) {
      open.cwd = cwd;
      beside(async () => void (await open.session.describe(described)));
      return;
    }
    if (open !== undefined) leave(open);
    const session = attachAgent(hive, editors, described, { interrupt: () => interrupt(acp_id) });
    conversations.set(acp_id, { acp_id, cwd, calls: new ToolCalls(), session });
  }

  /** The client has closed a session. */
  function leave(conversation: Conversation): void {
    conversations.delete(conversation.acp_id);
    questions.turnEnded(conversation);
    // The editor's own package reports the end of its session itself.
    beside(() => conversation.session.close(options.package_session === null));
  }

  function updateOfAgent(params: Raw): void {
    const conversation = conversations.get(textIn(params, 'sessionId') ?? '');
    const update = objectIn(params['update']) ?? {};
    if (conversation === undefined) return;
    conversation.calls.update(update);
    questions.described(conversation, ({ id, method, params }) => {
      const now = method === PERMISSION ? describedAnew(params, update) : null;
      return now === null ? null : askedIn(id, method, now);
    });
    if (version === 1 || update['sessionUpdate'] !== 'state_update') return;
    // Version 2: the response to a prompt only says that it was accepted.
    if (update['state'] === 'running') beginTurn(conversation, null);
    if (update['state'] === 'idle') endTurn(conversation, textIn(update, 'stopReason'));
  }

  /** The question to the person in a request; null if the desks do not show it. */
  function askedIn(id: Id, method: string, params: Raw): Asked | null {
    const conversation = conversations.get(textIn(params, 'sessionId') ?? '');
    if (conversation === undefined || (options.package_session !== null && method === PERMISSION))
      return null;
    const dialog =
      method === PERMISSION
        ? permissionOf(params, conversation.calls, conversation.cwd)
        : elicitationOf(params, agentName);
    const shown = isShown(method, params);
    return dialog === null ? null : { id, method, params, dialog, conversation, shown };
  }

  /** Whether the client shows what the agent asks. */
  function isShown(method: string, params: Raw): boolean {
    return method === PERMISSION || !formsAreOurs || (clientShowsPages && params['mode'] === 'url');
  }

  /** A form that neither the client nor a desk can show, such as one of no session. */
  function cancelUnshown(id: Id): Promise<void> {
    options.remark(UNSHOWN);
    return toAgent({ jsonrpc: '2.0', id, result: withdrawnResult(ELICITATION) });
  }

  // ---- Turns ----

  /** Stops the agent: somebody has interrupted its turn. */
  async function interrupt(acp_id: string): Promise<void> {
    promptsCancelled(acp_id);
    await toAgent({ jsonrpc: '2.0', method: CANCEL, params: { sessionId: acp_id } });
    await questions.interrupted(acp_id);
  }

  function promptsCancelled(acp_id: string | null): void {
    for (const one of awaited.values())
      if (one.kind === 'turn' && one.conversation.acp_id === acp_id) one.cancelled = true;
  }

  /** An agent that has answered a prompt will not answer one that was cancelled before it, which would keep the turn open. */
  function forgetUnanswered(answered: SentPrompt): void {
    for (const [id, one] of awaited) {
      if (one === answered) return;
      if (one.kind === 'turn' && one.conversation === answered.conversation && one.cancelled)
        awaited.delete(id);
    }
  }

  /** After a cancelled turn the next prompt begins another one, even if the agent never answers the cancelled prompts. */
  function leaveCancelled(conversation: Conversation): void {
    const cancelled = [...awaited].filter(
      ([, one]) => one.kind === 'turn' && one.conversation === conversation && one.cancelled,
    );
    for (const [id] of cancelled) awaited.delete(id);
    if (cancelled.length > 0 && version === 1) endTurn(conversation, 'cancelled');
  }

  /** Whether the agent has a prompt of this session that it has not answered. */
  function isPrompted(conversation: Conversation): boolean {
    return [...awaited.values()].some((one) => one.kind === 'turn' && one.conversation === conversation);
  }

  /** A prompt that the agent accepts while it works on another one is part of that turn, unless the turn was cancelled. */
  function promptAnswered(conversation: Conversation, stop_reason: string | null): void {
    const goesOn = isPrompted(conversation);
    if (goesOn && stop_reason !== 'cancelled') return;
    endTurn(conversation, stop_reason);
    if (goesOn) beginTurn(conversation, null);
  }

  function beginTurn(conversation: Conversation, client_turn_id: string | null): void {
    if (options.package_session === null) void conversation.session.beginTurn(client_turn_id);
  }

  function endTurn(conversation: Conversation, stop_reason: string | null): void {
    conversation.calls.clear();
    questions.turnEnded(conversation);
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
    // No answer reaches the agent any more.
    for (const conversation of conversations.values()) leave(conversation);
    options.onClientGone();
  });
  await pass(agent.input, fromAgent);
  questions.end();
  const open = [...conversations.values()];
  // A prompt that the client sends now begins no turn: nobody would end it.
  conversations.clear();
  for (const { session } of open) session.stop();
  background.run('hive acp could not end its turns.', endAll);
  await background.ended();

  async function endAll(): Promise<void> {
    await questions.withdrawAll();
    for (const { session } of open) await session.close();
  }
}
