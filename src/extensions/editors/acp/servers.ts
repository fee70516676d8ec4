/**
 * The MCP server of Hive in the sessions that a client begins. It is added to the request, in a way that the agent accepts.
 * If the request is refused with it, the request is sent again without it.
 */
import { spelledLine } from '../../../domain/display.ts';
import { objectIn, type Raw, textIn } from '../../../domain/json.ts';
import { excerpt } from '../../../domain/text.ts';

/** The ways in which an agent can be given the MCP server of Hive. */
export interface HiveServer {
  /** The command of `hive mcp`, which the agent starts. */
  stdio: { command: string; args: string[]; env: Readonly<Record<string, string>> };
  /** Serves a session over HTTP, for an agent that starts no programs. */
  http: (session_id: string) => Promise<{ url: string; headers: { name: string; value: string }[] }>;
}

/** How an agent reaches an MCP server. */
type Carrier = keyof HiveServer;

/** The agents that ignore an MCP server on stdio, silently, although version 1 requires them to accept it. */
const ONLY_HTTP: ReadonlySet<string> = new Set(['Copilot']);

/** The variable with the id of an editor's session, for the MCP server that the proxy adds to it. */
const SESSION_VARIABLE = 'HIVE_SESSION';

/** Requests of the client that begin or continue a session, and so name its MCP servers. */
export const SESSION_METHODS: ReadonlySet<string> = new Set([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
]);
/** The agent begins no session before its person has logged in. */
const AUTH_REQUIRED = -32_000;

/** A session that the client loads. */
export interface Loaded {
  /** Its id in the hive; null if the hive does not know it, or another process serves it. */
  session_id: string | null;
  /** The conversation that it serves in the hive (`conversationKey`); null if it cannot be found by that. */
  conversation: string | null;
}

/** A request of the client that begins or continues a session. */
export interface SessionRequest {
  kind: 'session';
  acp_id: string | null;
  session_id: string;
  /** Null: the request begins another conversation. */
  loaded: Loaded | null;
  cwd: string;
  /** As the client sent it. */
  request: Raw;
  /** The ways in which our server can be offered, beginning with the present one; empty without our server. */
  carriers: readonly Carrier[];
  /** The agent's words when it refused our server; null if it did not. */
  refused: string | null;
}

/** In characters, for the agent's reason. */
const LONGEST_REASON = 200;

/** How an agent of version 1 accepts MCP servers: all must accept stdio, and it reports whether it also accepts HTTP. */
function carriersOf(initialized: Raw, agent: string): Carrier[] {
  const capabilities = objectIn(initialized['agentCapabilities']);
  const http: Carrier[] = objectIn(capabilities?.['mcpCapabilities'])?.['http'] === true ? ['http'] : [];
  return ONLY_HTTP.has(agent) ? http : ['stdio', ...http];
}

/** In version 2 an agent names each way. */
function carriersOfDraft(initialized: Raw): Carrier[] {
  const session = objectIn(objectIn(initialized['capabilities'])?.['session']);
  const named = objectIn(session?.['mcp']);
  return (['stdio', 'http'] as const).filter((carrier) => objectIn(named?.[carrier]) !== null);
}

/** The directory of a session. */
export function cwdOf(params: Raw): string {
  return textIn(params, 'cwd') ?? process.cwd();
}

interface ServerParts {
  /** Null: the client adds the server itself. */
  mcp: HiveServer | null;
  makeId: () => string;
  /** The agent's name, if it is known. */
  agentName: () => string;
  remark: (text: string) => void;
}

export class HiveServers {
  readonly #parts: ServerParts;
  /** The protocol version on which agent and client have agreed. */
  #version = 1;
  /** The ways in which the agent accepts servers, the best one first. */
  #carriers: readonly Carrier[] = ['stdio'];

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /** The agent has reported its capabilities. */
  initialized(result: Raw, version: number): void {
    this.#version = version;
    this.#carriers = version === 1 ? carriersOf(result, this.#parts.agentName()) : carriersOfDraft(result);
  }

  /** Records a request that begins or continues a session; with our server, unless the client has one of that name. */
  begin(request: Raw, params: Raw, loaded: Loaded | null): SessionRequest {
    const { mcp, makeId, agentName, remark } = this.#parts;
    const servers = this.#serversIn(params);
    const isOurs = mcp !== null && servers?.every((one) => objectIn(one)?.['name'] !== 'hive') === true;
    if (isOurs && this.#carriers.length === 0)
      remark(`${spelledLine(agentName())} takes no MCP servers, so it has no tools of Hive.`);
    return {
      kind: 'session',
      acp_id: textIn(params, 'sessionId'),
      session_id: loaded?.session_id ?? makeId(),
      loaded,
      cwd: cwdOf(params),
      request,
      carriers: isOurs ? this.#carriers : [],
      refused: null,
    };
  }

  /**
   * The request to send again, with our server over HTTP or without it: a request that is also refused without it was not
   * refused because of the server. Null for every other response.
   */
  again(known: SessionRequest, message: Raw): SessionRequest | null {
    const error = objectIn(message['error']);
    if (known.carriers.length === 0 || error === null || error['code'] === AUTH_REQUIRED) return null;
    return { ...known, carriers: known.carriers.slice(1), refused: textIn(error, 'message') ?? '' };
  }

  /** Tells the person if the agent has refused our server, and its session began without it. */
  began({ refused, carriers }: SessionRequest): void {
    const { agentName, remark } = this.#parts;
    if (refused === null || carriers.length > 0) return;
    const why = spelledLine(excerpt(refused, LONGEST_REASON));
    remark(
      `${spelledLine(agentName())} refused the MCP server of Hive (${why}), so it runs without the tools of Hive.`,
    );
  }

  /** The servers that a request names; version 2 omits the list if there are none. Null if it is not a list. */
  #serversIn(params: Raw): readonly unknown[] | null {
    const servers = params['mcpServers'] ?? (this.#version === 1 ? null : []);
    return Array.isArray(servers) ? servers : null;
  }

  /** The request with our server, offered in the present way; unchanged if no way is left. */
  async withServer({ request, session_id, carriers: [carrier] }: SessionRequest): Promise<Raw> {
    const params = objectIn(request['params']) ?? {};
    const { mcp, remark } = this.#parts;
    if (mcp === null || carrier === undefined) return request;
    const { env, ...program } = mcp.stdio;
    const variables = Object.entries({ ...env, [SESSION_VARIABLE]: session_id });
    const unserved = (error: unknown): null => {
      remark(
        `The tools of Hive cannot be served over HTTP (${String(error)}), so the agent runs without them.`,
      );
      return null;
    };
    const served = carrier === 'http' ? await mcp.http(session_id).catch(unserved) : null;
    if (carrier === 'http' && served === null) return request;
    const server =
      carrier === 'http'
        ? { type: 'http', name: 'hive', ...served }
        : {
            ...(this.#version === 1 ? {} : { type: 'stdio' }),
            name: 'hive',
            ...program,
            env: variables.map(([name, value]) => ({ name, value })),
          };
    return { ...request, params: { ...params, mcpServers: [...(this.#serversIn(params) ?? []), server] } };
  }
}
