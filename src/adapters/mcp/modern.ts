/**
 * MCP 2026-07-28 in front of a server of the SDK's first version, which speaks up to 2025-11-25. A client of the new revision
 * makes no handshake: each of its requests carries an envelope in `_meta` that says which revision it speaks and who it is
 * (modelcontextprotocol.io/specification/2026-07-28, "basic"). Such a request is translated to the older revision, and so is
 * its answer; a message without an envelope is not touched. There is no second list of tools or resources. Once the SDK
 * speaks both revisions, these files can be deleted: modern.ts, modern-lines.ts, modern-http.ts.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { isFields } from '../../domain/json.ts';
import { behind, TASK, TASKS, takesTasks } from './modern-tasks.ts';

/** The revision with envelopes. */
export const MODERN = '2026-07-28';
/** The newest revision that the SDK speaks: what is translated to. */
const TRANSLATED_TO = '2025-11-25';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION_KEY = `${PREFIX}protocolVersion`;
const CLIENT_KEY = `${PREFIX}clientInfo`;
const CAPABILITIES_KEY = `${PREFIX}clientCapabilities`;
const LOG_LEVEL_KEY = `${PREFIX}logLevel`;
const SERVER_KEY = `${PREFIX}serverInfo`;
const SUBSCRIPTION_KEY = `${PREFIX}subscriptionId`;

/** The part of `_meta` that is the envelope; the server does not see it. */
const ENVELOPE: ReadonlySet<string> = new Set([VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY, LOG_LEVEL_KEY]);

/** Methods that the new revision no longer has. */
const REMOVED: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);

/**
 * How many ms a client may keep an answer. The tools and the instructions are the same for as long as the process runs; after
 * an update of Hive a client should see the new ones soon. The state of a question changes at any time.
 */
const TTL_MS: Readonly<Record<string, number>> = {
  'server/discover': 5 * 60_000,
  'tools/list': 5 * 60_000,
  'resources/list': 5 * 60_000,
  'resources/templates/list': 5 * 60_000,
  'prompts/list': 5 * 60_000,
  'resources/read': 0,
};

const CODES = {
  method_not_found: -32601,
  invalid_params: -32602,
  header_mismatch: -32020,
  unsupported_version: -32022,
} as const;
/** Of the older revision; the new one calls it invalid params. */
const RESOURCE_NOT_FOUND = -32002;

type Json = Readonly<Record<string, unknown>>;

/** The error of an answer. */
export interface Failure {
  code: number;
  message: string;
  data?: Json;
}

/** The client's view of the server, from the answer to the handshake. */
interface Greeting {
  capabilities: {
    readonly tools?: Json;
    readonly prompts?: Json;
    readonly resources?: Json;
  };
  serverInfo: Json;
  instructions?: string;
}

/** Gets the answer to a request, and the notifications that belong to it. */
export type Reply = (message: JSONRPCMessage) => void;

/** The envelope of a message; null for one of an older revision. */
export function envelopeOf(message: JSONRPCMessage): Json | null {
  if (!('method' in message)) return null;
  const meta = fieldsIn(message.params?.['_meta']);
  return VERSION_KEY in meta ? meta : null;
}

/** Whether a client of the new revision calls a removed method: it is refused for that, whatever its envelope contains. */
export function isRemoved(message: JSONRPCMessage): boolean {
  return 'method' in message && REMOVED.has(message.method) && envelopeOf(message) !== null;
}

/** Why this envelope cannot be served; null if it can. */
export function refuseEnvelope(envelope: Json): Failure | null {
  const requested = envelope[VERSION_KEY];
  if (typeof requested !== 'string') return invalid(`${VERSION_KEY} in _meta is a string.`);
  if (requested !== MODERN)
    return {
      code: CODES.unsupported_version,
      message: `The revision ${requested} of MCP is not supported in an envelope; ${MODERN} is.`,
      data: { supported: [MODERN], requested },
    };
  if (!isFields(envelope[CAPABILITIES_KEY])) return invalid(`${CAPABILITIES_KEY} in _meta is a JSON object.`);
  const client = envelope[CLIENT_KEY];
  if (client !== undefined && !isFields(client)) return invalid(`${CLIENT_KEY} in _meta is a JSON object.`);
  return null;
}

/** The error for params that do not fit the revision. */
export function invalid(message: string): Failure {
  return { code: CODES.invalid_params, message };
}

/** The error for a header that contradicts the body. */
export function headerMismatch(message: string): Failure {
  return { code: CODES.header_mismatch, message };
}

/** The name and version of the client, as its envelope has them. */
export function clientIn(envelope: Json): { name: string; version: string } {
  const { name, version } = fieldsIn(envelope[CLIENT_KEY]);
  return { name: String(name ?? ''), version: String(version ?? '') };
}

interface OpenRequest {
  id: RequestId;
  method: string;
  params: Json;
  reply: Reply;
}

interface Subscription {
  id: RequestId;
  /** Null until it is acknowledged, which comes before everything else. */
  reply: Reply | null;
  /** The lists whose changes were asked for and are offered. */
  lists: Readonly<Record<string, true>>;
  uris: readonly string[];
}

/**
 * The requests of new clients to one server. `deliver` passes a message of the older revision to the server. `tasks`: clients that
 * take tasks get them.
 */
export function createModernClients(
  deliver: (message: JSONRPCMessage) => void,
  { tasks = false }: { tasks?: boolean } = {},
) {
  /** By our own ids, because those of several clients may be equal. */
  const open = new Map<RequestId, OpenRequest>();
  const subscriptions = new Set<Subscription>();
  let greeting: Promise<Greeting | Failure> | null = null;
  let serverInfo: Json = {};
  let count = 0;

  /** Sends the server a request of the older revision. Returns the id that it has there. */
  function ask(method: string, params: Json, answer: Pick<OpenRequest, 'id' | 'reply'>): RequestId {
    count += 1;
    const id = `modern-${count}`;
    open.set(id, { method, params, ...answer });
    deliver({ jsonrpc: '2.0', id, method, params } as JSONRPCMessage);
    return id;
  }

  /** Introduces the client, once for all its requests. After a failure the next request tries again. */
  function greet(envelope: Json): Promise<Greeting | Failure> {
    greeting ??= new Promise((resolve) => {
      const params = {
        protocolVersion: TRANSLATED_TO,
        clientInfo: clientIn(envelope),
        capabilities: envelope[CAPABILITIES_KEY],
      };
      const reply = (message: JSONRPCMessage): void => {
        if ('error' in message) {
          greeting = null;
          resolve(message.error as Failure);
          return;
        }
        const { result } = message as unknown as { result: Greeting };
        serverInfo = result.serverInfo;
        deliver({ jsonrpc: '2.0', method: 'notifications/initialized' });
        resolve(result);
      };
      ask('initialize', params, { id: '', reply });
    });
    return greeting;
  }

  /** Subscribes to the requested changes that the server offers. Returns how to end that; null if it has ended already. */
  async function subscribe(
    { id, params }: JSONRPCRequest,
    reply: Reply,
    { capabilities }: Greeting,
  ): Promise<(() => void) | null> {
    const wanted = params?.['notifications'];
    if (!isFields(wanted)) {
      reply(refusal(id, invalid('params.notifications of subscriptions/listen is a JSON object.')));
      return null;
    }
    const lists = listsGranted(wanted, capabilities);
    // Registered now, so that another subscription that ends does not take its resources away.
    const subscription: Subscription = { id, reply: null, lists, uris: urisGranted(wanted, capabilities) };
    subscriptions.add(subscription);
    subscription.uris = await followed(subscription.uris);
    const { uris } = subscription;
    const notifications = { ...lists, ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }) };
    reply({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications, _meta: { [SUBSCRIPTION_KEY]: id } },
    });
    if (Object.keys(notifications).length === 0) {
      subscriptions.delete(subscription);
      reply(subscriptionEnded(id));
      return null;
    }
    subscription.reply = reply;
    return () => unsubscribe(subscription);
  }

  /** The resources among these that the server agrees to follow. */
  async function followed(uris: readonly string[]): Promise<readonly string[]> {
    const agreed = uris.map(
      (uri) =>
        new Promise<string[]>((resolve) => {
          const reply = (answer: JSONRPCMessage): void => resolve('error' in answer ? [] : [uri]);
          ask('resources/subscribe', { uri }, { id: '', reply });
        }),
    );
    return (await Promise.all(agreed)).flat();
  }

  function unsubscribe(ended: Subscription): void {
    subscriptions.delete(ended);
    const wanted = new Set([...subscriptions].flatMap(({ uris }) => uris));
    for (const uri of ended.uris) if (!wanted.has(uri)) ask('resources/unsubscribe', { uri }, UNHEARD);
  }

  function subscriptionEnded(id: RequestId): JSONRPCMessage {
    const _meta = { [SUBSCRIPTION_KEY]: id, [SERVER_KEY]: serverInfo };
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } };
  }

  /** An answer in the form of the new revision. */
  function translated(answer: JSONRPCMessage, { id, method, params }: OpenRequest): JSONRPCMessage {
    if ('error' in answer) {
      const { error } = answer;
      const code = error.code === RESOURCE_NOT_FOUND ? CODES.invalid_params : error.code;
      const data = method === 'resources/read' ? { data: { uri: params['uri'] } } : {};
      return { jsonrpc: '2.0', id, error: { ...error, code, ...data } };
    }
    const { result } = answer as unknown as { result: Json };
    return { jsonrpc: '2.0', id, result: completed(method, result) };
  }

  function completed(method: string, result: Json): Record<string, unknown> {
    const ttlMs = TTL_MS[method];
    const task = fieldsIn(result['_meta'])[TASK];
    if (isFields(task)) return { resultType: 'task', ...task, _meta: { [SERVER_KEY]: serverInfo } };
    return {
      resultType: 'complete',
      // The tools depend on the role of the client.
      ...(ttlMs === undefined ? {} : { ttlMs, cacheScope: 'private' }),
      ...result,
      _meta: { [SERVER_KEY]: serverInfo, ...fieldsIn(result['_meta']) },
    };
  }

  function discovered(
    { capabilities, instructions }: Greeting,
    offersTasks: boolean,
  ): Record<string, unknown> {
    return completed('server/discover', {
      supportedVersions: [MODERN],
      capabilities: offersTasks ? { ...capabilities, extensions: { [TASKS]: {} } } : capabilities,
      ...(instructions === undefined ? {} : { instructions }),
    });
  }

  return {
    /** Handles a request with an envelope. Returns how to cancel it. */
    request(request: JSONRPCRequest, reply: Reply): () => void {
      const { id, method } = request;
      const envelope = envelopeOf(request) ?? {};
      const problem = refuseEnvelope(envelope) ?? (REMOVED.has(method) ? NO_METHOD : null);
      if (problem !== null) {
        reply(refusal(id, problem));
        return () => undefined;
      }
      let cancel: (() => void) | null = null;
      let isCancelled = false;
      void (async () => {
        const greeted = await greet(envelope);
        if (isCancelled) return;
        if ('code' in greeted) return reply(refusal(id, greeted));
        const withTasks = tasks && takesTasks(envelope[CAPABILITIES_KEY]);
        if (method === 'server/discover')
          return reply({ jsonrpc: '2.0', id, result: discovered(greeted, withTasks) });
        if (method === 'subscriptions/listen') {
          cancel = await subscribe(request, reply, greeted);
          if (isCancelled) cancel?.();
          return;
        }
        const params = withoutEnvelope(request.params);
        const asked = ask(...(withTasks ? behind(method, params) : ([method, params] as const)), {
          id,
          reply,
        });
        cancel = () => {
          if (!open.delete(asked)) return;
          deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: asked } });
        };
      })();
      return () => {
        isCancelled = true;
        cancel?.();
      };
    },

    /**
     * Passes on what the server sends; `related` is the request to which a notification belongs. False for a message that is
     * for a client of an older revision.
     */
    send(message: JSONRPCMessage, related?: RequestId): boolean {
      if ('method' in message) {
        const changes = changesIn(message);
        if (changes === null) {
          const request = related === undefined ? undefined : open.get(related);
          request?.reply(message);
          return request !== undefined;
        }
        for (const { id, reply, ...covered } of subscriptions)
          if (changes(covered))
            reply?.({ ...message, params: { ...message.params, _meta: { [SUBSCRIPTION_KEY]: id } } });
        return greeting !== null;
      }
      const request = message.id === undefined ? undefined : open.get(message.id);
      if (request === undefined) return false;
      open.delete(message.id as RequestId);
      request.reply(request.method === 'initialize' ? message : translated(message, request));
      return true;
    },

    /** The client has greeted in the older revision after all: it gets notifications without a subscription. */
    leave(): void {
      greeting = null;
    },

    /** Ends the subscriptions with their answers. */
    end(): void {
      for (const { id, reply } of subscriptions) reply?.(subscriptionEnded(id));
      subscriptions.clear();
    },
  };
}

/** For a request of ours whose answer nobody waits for. */
const UNHEARD = { id: '', reply: (): void => undefined };

const NO_METHOD: Failure = {
  code: CODES.method_not_found,
  message: `MCP ${MODERN} has no such method.`,
};

/** Notifications that only a subscription gets, by the flag that asks for them. */
const CHANGES: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
};

/** Whether a subscription gets this notification of a change; null for another notification. */
function changesIn(message: {
  method: string;
  params?: Json | undefined;
}): ((covered: Pick<Subscription, 'lists' | 'uris'>) => boolean) | null {
  const flag = CHANGES[message.method];
  if (flag !== undefined) return ({ lists }) => lists[flag] === true;
  if (message.method !== 'notifications/resources/updated') return null;
  const uri = String(message.params?.['uri']);
  return ({ uris }) => uris.includes(uri);
}

/** The lists whose changes a client asks for and the server announces. */
function listsGranted(
  wanted: Json,
  { tools, prompts, resources }: Greeting['capabilities'],
): Record<string, true> {
  const lists = { toolsListChanged: tools, promptsListChanged: prompts, resourcesListChanged: resources };
  return Object.fromEntries(
    Object.entries(lists).flatMap(([flag, capability]) =>
      wanted[flag] === true && capability?.['listChanged'] === true ? [[flag, true as const]] : [],
    ),
  );
}

/** The resources that a client asks to follow, if the server supports that. */
function urisGranted(wanted: Json, { resources }: Greeting['capabilities']): string[] {
  const uris = wanted['resourceSubscriptions'];
  if (resources?.['subscribe'] !== true || !Array.isArray(uris)) return [];
  return [...new Set(uris.filter((uri) => typeof uri === 'string'))];
}

function withoutEnvelope(params: Json | undefined): Record<string, unknown> {
  const rest = Object.entries(fieldsIn(params?.['_meta'])).filter(([name]) => !ENVELOPE.has(name));
  return { ...params, _meta: Object.fromEntries(rest) };
}

/** The answer that refuses a request. */
export function refusal(id: RequestId, error: Failure): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error };
}

/** The fields of a value; none if it is no object. */
function fieldsIn(value: unknown): Json {
  return isFields(value) ? value : {};
}
