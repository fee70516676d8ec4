/** An editor on the official SDK, with `hive acp` between it and a real agent. */
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { type Child, type Environment, spawnHive } from '../../support/children.ts';

/** A permission that the editor shows. */
export interface Shown {
  request: acp.RequestPermissionRequest;
  /** Answers with the first option of this kind. */
  choose(kind: acp.PermissionOptionKind): void;
  cancel(): void;
}

export interface AcpEditor {
  child: Child;
  /** The agent's id of the session. */
  sessionId: string;
  dialogs: Shown[];
  request(method: string, params: object): Promise<unknown>;
  /** Begins a turn; resolves with why it ended. */
  say(text: string): Promise<string>;
  /** Cancels the turn, and with it every permission that waits: ACP demands that. */
  cancel(): Promise<void>;
}

export interface EditorRun {
  /** The agent and its arguments. */
  command: readonly string[];
  env: Environment;
  cwd: string;
  /** Options of `hive acp`. */
  options?: readonly string[];
}

/** Starts the agent, and begins a session in `cwd`. */
export async function openEditor({ command, env, cwd, options = [] }: EditorRun): Promise<AcpEditor> {
  const child = spawnHive(['acp', ...options, '--', ...command], env);
  const dialogs: Shown[] = [];
  const { agent } = acp
    .client({ name: 'test-editor' })
    .onRequest(
      'session/request_permission',
      ({ params }) =>
        new Promise<acp.RequestPermissionResponse>((resolve) => {
          dialogs.push({
            request: params,
            choose(kind) {
              const optionId = params.options.find((option) => option.kind === kind)?.optionId ?? 'none';
              resolve({ outcome: { outcome: 'selected', optionId } });
            },
            cancel: () => resolve({ outcome: { outcome: 'cancelled' } }),
          });
        }),
    )
    .connect(
      acp.ndJsonStream(
        Writable.toWeb(child.process.stdin),
        Readable.toWeb(child.process.stdout) as unknown as ReadableStream<Uint8Array>,
      ),
    );
  await agent.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
  const { sessionId } = await agent.request('session/new', { cwd, mcpServers: [] });
  return {
    child,
    sessionId,
    dialogs,
    request: (method, params) => agent.request(method as 'session/set_mode', params as never),
    async say(text) {
      const turn = agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
      turn.catch(() => undefined);
      return (await turn).stopReason;
    },
    async cancel() {
      await agent.notify('session/cancel', { sessionId });
      for (const dialog of dialogs) dialog.cancel();
    },
  };
}
