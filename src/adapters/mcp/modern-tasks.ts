/**
 * Waiting as a task: the extension io.modelcontextprotocol/tasks of MCP 2026-07-28. A client that declares it gets a task
 * instead of a call that waits. It looks at the task every few seconds, and wakes its idle session when the task is over.
 * Claude Code disowns the result of a task (invariant 18), so the result only names the call that fetches the answer, and
 * nothing is handed over. No state is kept for a task: its id names the event that it waits for.
 */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { Hive } from '../../application/hive.ts';
import type { Session } from '../../domain/sessions.ts';
import type { Awaited, Tool } from './tool.ts';

type Json = Readonly<Record<string, unknown>>;

/** The extension, as clients and servers name it among their capabilities. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/**
 * A field of `_meta` in translated messages. In a call: the client takes a task instead of waiting for the result. In a result:
 * the task.
 */
export const TASK = 'hive/task';

/** How often a client looks at a task, in ms. */
const POLL_MS = 2_000;
const INVALID_PARAMS = -32602;

function described(taskId: string, { created_at, updated_at, next }: Awaited): Record<string, unknown> {
  const times = { createdAt: created_at, lastUpdatedAt: updated_at, ttlMs: null, pollIntervalMs: POLL_MS };
  if (next === null) return { taskId, ...times, status: 'working', statusMessage: 'Waiting.' };
  const result = { resultType: 'complete', content: [{ type: 'text', text: next }] };
  return { taskId, ...times, status: 'completed', result };
}

const request = <Method extends string>(method: Method) =>
  z.object({
    method: z.literal(method),
    // Without an id, the answer is that there is no such task: the validator's own report is not a sentence.
    params: z.looseObject({ taskId: z.string().catch(''), _meta: z.looseObject({}).optional() }),
  });

/** The SDK's first version has its own tasks under the same names, so the translated methods have other names. */
const BEHIND: Readonly<Record<string, string>> = {
  'tasks/get': 'hive/tasks/get',
  'tasks/cancel': 'hive/tasks/cancel',
};

/** Whether a client takes tasks, by the capabilities in its envelope. */
export function takesTasks(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: unknown };
  return extensions !== null && typeof extensions === 'object' && TASKS in extensions;
}

/** A request of such a client as the translation passes it to the server. */
export function behind(method: string, params: Record<string, unknown>): [string, Record<string, unknown>] {
  if (method !== 'tools/call') return [BEHIND[method] ?? method, params];
  return [method, { ...params, _meta: { ...(params['_meta'] as Json | undefined), [TASK]: true } }];
}

/** Answers requests about tasks; `callerOf` finds the caller, from the `_meta` of the request. */
export function offerTasks(
  server: McpServer,
  hive: Hive,
  { tools, callerOf }: { tools: readonly Tool[]; callerOf: (meta: Json) => Promise<Session> },
) {
  /** Tasks that were cancelled, until the same event is waited for again. */
  const cancelled = new Set<string>();

  async function find(taskId: string, meta: Json): Promise<Awaited> {
    const session = await callerOf(meta);
    for (const { waiting } of tools) {
      const found = await waiting?.look(taskId, { hive, session });
      if (found !== undefined) return found;
    }
    throw Object.assign(new Error(`There is no task ${JSON.stringify(taskId)}.`), { code: INVALID_PARAMS });
  }

  server.server.setRequestHandler(request('hive/tasks/get'), async ({ params }) => {
    const { taskId, _meta = {} } = params;
    const task = described(taskId, await find(taskId, _meta));
    return cancelled.has(taskId) ? { ...task, status: 'cancelled', result: undefined } : task;
  });
  // Its client no longer waits. The question stays open, as it does when a call that waits is cut short.
  server.server.setRequestHandler(request('hive/tasks/cancel'), async ({ params }) => {
    const { taskId, _meta = {} } = params;
    const { next } = await find(taskId, _meta);
    if (next === null) cancelled.add(taskId);
    return {};
  });
  return {
    /** The result of a call that has become a task. */
    begun(id: string): { content: []; _meta: Record<string, unknown> } {
      cancelled.delete(id);
      const now = new Date().toISOString();
      const task = described(id, { created_at: now, updated_at: now, next: null });
      return { content: [], _meta: { [TASK]: task } };
    },
  };
}
