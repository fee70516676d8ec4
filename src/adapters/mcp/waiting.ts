/**
 * How long a call may wait. A client that hears nothing takes a call for dead: most after a minute, and no server is told
 * when. So a call waits 25 s at most, except where it is known that the client allows more.
 */
import { LONGEST_WAIT_MS } from '../../domain/prompt-limits.ts';
import type { ToolCall } from './tool.ts';

export interface ClientOfCall {
  /** `clientInfo.name` of the initialize request. */
  client: string;
  /** The client's own environment; null for a client of another machine. */
  env: Readonly<Record<string, string | undefined>> | null;
  /** It gave a progress token with the call, so it hears that the call is alive. */
  hears_progress: boolean;
  /** What the human said that the client allows a call; null when nothing was said. */
  tool_timeout_ms: number | null;
}

/** Clients count a call dead that shows no sign of life for a minute or so. */
const PROGRESS_MS = 15_000;
/** What the result needs to reach the client before its time is up. */
const MARGIN_MS = 5_000;
/**
 * Claude Code ends a call after `MCP_TOOL_TIMEOUT`, which is more than a day unless it is set. Progress does not extend
 * that. It also ends a call that says nothing for some minutes; progress does extend that.
 */
const CLAUDE_CODE_MS = 100_000_000;

export function longestWait({ client, env, hears_progress, tool_timeout_ms }: ClientOfCall): number {
  if (tool_timeout_ms !== null) return beforeItsTime(tool_timeout_ms);
  if (client !== 'claude-code' || env === null) return LONGEST_WAIT_MS;
  const allowed = beforeItsTime(milliseconds(env['MCP_TOOL_TIMEOUT']) ?? CLAUDE_CODE_MS);
  return hears_progress ? allowed : Math.min(allowed, LONGEST_WAIT_MS);
}

function beforeItsTime(limit_ms: number): number {
  return Math.max(limit_ms - MARGIN_MS, Math.floor(limit_ms / 2));
}

function milliseconds(text: string | undefined): number | null {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** Does something that takes long, and tells the client in between that the call is alive. */
export async function keepingAlive<Result>(
  { progress, hive }: Pick<ToolCall, 'progress' | 'hive'>,
  message: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const alive = setInterval(() => {
    progress(message).catch((error: unknown) =>
      hive.log.warn('Progress could not be sent.', { error: String(error) }),
    );
  }, PROGRESS_MS);
  return work().finally(() => clearInterval(alive));
}
