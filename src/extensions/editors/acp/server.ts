/**
 * The MCP server of Hive for an agent in an editor that starts no programs: HTTP on loopback, within `hive acp`. Each session
 * of the agent has a secret of its own, which is kept in memory and identifies it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { Admitting, ServeMcp } from '../../../adapters/mcp/over-http.ts';
import type { Hive } from '../../../application/hive.ts';
import { MCP_PATH } from '../../../domain/installation.ts';
import type { Token } from '../../../domain/tokens.ts';
import { randomIds, randomSecrets } from '../../../infrastructure/platform/ids.ts';
import { findProject } from '../../../infrastructure/platform/project.ts';

const HOST = '127.0.0.1';
/** One agent on this machine, whose sessions last as long as its editor does. */
const LIMITS = {
  burst: 50,
  rate: 50,
  most_sessions: 500,
  most_sessions_of_token: 20,
  most_requests_of_token: 500,
  idle_ms: 24 * 3_600_000,
  most_bytes: 1024 * 1024,
};

export type AgentServer = Awaited<ReturnType<typeof startAgentServer>>;

/** Listens on a free port. `agent_pid` is the process of the agent. */
export async function startAgentServer(hive: Hive, serveMcp: ServeMcp, agent_pid: number | null) {
  const sessions = new Map<string, Token>();
  const tokens: Admitting = {
    verify: async (secret) => sessions.get(randomSecrets.digest(secret)),
    holds: async () => true,
    watch: () => () => undefined,
  };
  const project = findProject(process.cwd());
  const mcp = await serveMcp(hive, {
    ...LIMITS,
    tokens,
    hosts: new Set([HOST]),
    project,
    make_id: () => randomIds.make('connection'),
    caller: ({ agent }) => ({
      env: { HIVE_SESSION: agent },
      trusts_meta: true,
      project,
      machine: hostname(),
      parent_pid: agent_pid,
    }),
  });
  const server = createServer(mcp.listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    async begin(session_id: string) {
      const secret = randomSecrets.make();
      const digest = randomSecrets.digest(secret);
      const known = { role: 'agent' as const, projects: [], created_at: '', revoked_at: null };
      sessions.set(digest, { ...known, name: session_id, agent: session_id, digest });
      const headers = [{ name: 'Authorization', value: `Bearer ${secret}` }];
      return { url: `http://${HOST}:${port}${MCP_PATH}`, headers };
    },
    /** Lets waiting calls return first. */
    async close(): Promise<void> {
      await mcp.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
