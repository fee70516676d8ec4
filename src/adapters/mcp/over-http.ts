/**
 * The interface between MCP over HTTP, which is part of `hive serve`, and those who offer it elsewhere: `hive acp` offers it to
 * an editor's agent that starts no programs.
 */
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Hive } from '../../application/hive.ts';
import type { Token } from '../../domain/tokens.ts';
import type { Connection } from './server.ts';

/** The check of who may connect. */
export interface Admitting {
  /** The token with this secret; undefined when it is unknown or revoked. */
  verify(secret: string): Promise<Token | undefined>;
  /** Whether this token still admits calls with the secret that it was verified with. */
  holds(token: Token): Promise<boolean>;
  /** Calls `listener` with the digests of all valid tokens when they may have changed, until the returned function is called. */
  watch(listener: (valid: ReadonlySet<string>) => void): () => void;
}

export interface GuardOptions {
  tokens: Admitting;
  /** Host names allowed in Host and Origin, without port. */
  hosts: ReadonlySet<string>;
  /** How many requests a token may make at once, and how many it gets back per second. */
  burst: number;
  rate: number;
}

export interface HttpOptions extends GuardOptions {
  /** Sessions at the same time; one more is refused. */
  most_sessions: number;
  /** How many of these one token may have, so that one agent leaves room for the others. */
  most_sessions_of_token: number;
  /** How many requests and streams of one token may be in progress, so that one token leaves connections for the others. */
  most_requests_of_token: number;
  /** Called with the socket of each request that was admitted with a token. */
  onAdmitted?: (socket: Socket) => void;
  /** A session without a request and without an open stream for this many ms is closed. */
  idle_ms: number;
  /** The most bytes a request body may have. */
  most_bytes: number;
  project: { project: string; project_dir: string; branch: string | null };
  make_id: () => string;
  /** The kind of caller with a token; by default an agent on another machine. */
  caller?: (token: Token) => CallerOfToken;
  /** Other handlers behind the same guard, for POST only, by path. */
  routes?: Readonly<Record<string, Route>>;
}

export type CallerOfToken = Pick<Connection, 'env' | 'trusts_meta' | 'project' | 'machine' | 'parent_pid'>;

type Route = (call: {
  response: ServerResponse;
  token: Token;
  json: unknown;
  /** Aborted when the token is revoked or gets a new secret. */
  revoked: AbortSignal;
}) => Promise<void>;

export interface McpOverHttp {
  listener: RequestListener;
  /** Lets waiting calls return, then closes every session. */
  close(): Promise<void>;
  readonly sessions: number;
}

/** Listens to nothing yet: `listener` is for a server of the caller's. */
export type ServeMcp = (hive: Hive, options: HttpOptions) => Promise<McpOverHttp>;
