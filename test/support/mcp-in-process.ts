/** An MCP client and server in one process, for tests that stop the clock or delay services. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { onTestFinished } from 'vitest';
import { type Connection, createMcpServer } from '../../src/adapters/mcp/server.ts';
import type { Role } from '../../src/domain/tokens.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { letCoordinate } from './coordinators.ts';
import { caller, type McpCaller } from './mcp-client.ts';

/** The connection of `agent-1`, until `stopping`. */
export function agentConnection(stopping: AbortSignal = new AbortController().signal): Connection {
  return {
    env: { HIVE_AGENT: 'agent-1' },
    connection_id: 'connection-1',
    project: { project: 'demo', project_dir: '/demo', branch: null },
    machine: 'test',
    parent_pid: null,
    trusts_meta: true,
    stopping,
  };
}

interface InProcess {
  /** The name that the client gives itself. */
  name?: string;
  connection?: Partial<Connection>;
  /** False: its human has not let it coordinate, although its server has that role. */
  granted?: boolean;
}

/** A client with its own session, `agent-1`. */
export async function connectInProcess(
  hive: OpenedHive,
  role: Role = 'agent',
  { name = 'test', connection = {}, granted = role === 'coordinator' }: InProcess = {},
): Promise<Client> {
  const client = new Client({ name, version: '1' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  // The role is given to a process, so that of a coordinator has to be known.
  const parent_pid = role === 'coordinator' ? process.pid : null;
  await createMcpServer(hive, { ...agentConnection(), parent_pid, ...connection }, role).connect(there);
  await client.connect(here);
  onTestFinished(() => client.close());
  if (granted) await letCoordinate(hive, client);
  return client;
}

/** A caller of tools in this process. */
export type CallerInProcess = Pick<McpCaller, 'client' | 'call'>;

/** The same as a caller of tools, where the process of `hive mcp` is not what the test is about. */
export async function callInProcess(
  hive: OpenedHive,
  role: Role = 'agent',
  options: InProcess = {},
): Promise<CallerInProcess> {
  const client = await connectInProcess(hive, role, options);
  return { client, call: caller(client) };
}
