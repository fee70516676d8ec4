/**
 * Hooks: what an agent's client reports at each step, and what it may receive in return. Independent of the client;
 * adapters/hooks/ translates both ways, exactly as each client wants it.
 */
import type { Raw } from './json.ts';
import { subagentId } from './sessions.ts';
import type { Source } from './sources.ts';
import { timeAfter } from './times.ts';

export type HookClient = 'claude-code' | 'codex';

/** The client with this name; null for any other value. */
export function hookClient(name: unknown): HookClient | null {
  return name === 'codex' || name === 'claude-code' ? name : null;
}

/** The tool call that an event is about. */
export interface HookTool {
  name: string;
  input: unknown;
  /** The same id that the tool call carries over MCP; absent in a PermissionRequest. */
  use_id: string | null;
  response: unknown;
  /** Which of our own tools this is, matched by exact server and tool; null for any other. */
  own: string | null;
}

/** One hook event of a client. */
export interface HookEvent {
  client: HookClient;
  /** As the clients name it; both use the same names: SessionStart, PreToolUse, Stop, … */
  name: string;
  session_id: string;
  /** The subagent in which the event happened, whose session is `SESSION:AGENT_ID`; null outside of subagents. */
  agent_id: string | null;
  /** `prompt_id` of Claude Code, outside of subagents; `turn_id` of Codex. */
  client_turn_id: string | null;
  cwd: string;
  transcript_path: string | null;
  /** The client's own process, if it reports one. */
  pid: number | null;
  source: Source;
  /** Whether a person sits at the client's terminal; null if the client does not report it. */
  attended: boolean | null;
  tool: HookTool | null;
  /** The ids of the calls that a PostToolBatch closes; null if it does not name them. */
  batch: string[] | null;
  prompt: string | null;
  /** SessionStart: startup, resume, clear, compact, fork. SessionEnd: its reason. */
  reason: string | null;
  stop_hook_active: boolean;
  /** Subagents that this event shows to run in the background. */
  background_agents: string[];
  /** All subagents that still run; null if this event does not list them. */
  running_agents: readonly string[] | null;
  /** The event as received, for fields that only one capability needs. */
  raw: Readonly<Record<string, unknown>>;
}

/** The session of an event: that of the subagent in which it happened, else the client's. */
export function sessionOf({ session_id, agent_id }: Pick<HookEvent, 'session_id' | 'agent_id'>): string {
  return agent_id === null ? session_id : subagentId(session_id, agent_id);
}

/** A wait of a hook, outside of any transaction. */
export interface HookWait {
  ask_ids: readonly string[];
  wait_ms: number;
  /** True: ends when all are answered, or one can no longer be answered. False: the first answer ends it. */
  all?: boolean;
  /** Whether the wait ends when the last desk closes, because nobody else could answer. */
  needs_desk?: boolean;
  /** Whether the client also shows the dialog in its terminal, where it stays when the wait is over. */
  in_terminal?: boolean;
}

/** A wait that is over. */
export interface Waited extends HookWait {
  /** Whether the client no longer reads an answer: it withdrew its question, or its connection has ended. */
  abandoned: boolean;
  /** Whether the connection has ended. The terminal may still show the dialog, or be gone. */
  cut_off: boolean;
}

/** The abort reason of a wait whose client connection has ended. */
export const CUT_OFF = 'the connection has ended';

/** How an aborted wait ended. */
export function endedBy(signal: AbortSignal | undefined): Pick<Waited, 'abandoned' | 'cut_off'> {
  return { abandoned: signal?.aborted === true, cut_off: signal?.reason === CUT_OFF };
}

/** The reply to the client. Everything is optional; usually it is empty. */
export interface Verdict {
  /** Texts the model reads in addition. */
  context: string[];
  /** PreToolUse: the tool does not run, and the model reads this. */
  deny: string | null;
  /** PreToolUse of `claude -p`: the client ends, and makes this call again when it is resumed. */
  defer: string | null;
  /** The turn ends here; a client that cannot do that reads `deny`. */
  end_turn: string | null;
  /**
   * Stop, SubagentStop: the agent goes on and reads this, which never contains an answer (domain/stop-guard.ts).
   * UserPromptSubmit: the prompt is refused with this text.
   */
  block: string | null;
  /** Stop, SubagentStop: an interrupt waits for this turn to end, so no guard may hold the agent. */
  no_hold: boolean;
  /** Whether printing this delivers something, which counts as delivered only once it is printed. */
  carries: boolean;
  /** Nothing is printed before these prompts have settled, or the time is up (application/hooks.ts). */
  wait: HookWait | null;
  /** Shown to the person at the client's terminal. */
  notice: string | null;
  /** The answer to the client's own dialog. */
  decision: DialogAnswer | null;
}

/** The answer to a client's dialog. Each adapter translates it for its client. */
export type DialogAnswer =
  | { kind: 'allow'; input: Raw | null; permissions: readonly Raw[] }
  | { kind: 'deny'; message: string; interrupt: boolean }
  | { kind: 'form'; action: 'accept' | 'decline'; content: Raw };

/** The verdict that prints nothing. */
export const NO_OPINION: Verdict = {
  context: [],
  deny: null,
  defer: null,
  end_turn: null,
  block: null,
  no_hold: false,
  carries: false,
  wait: null,
  notice: null,
  decision: null,
};

/** Whether this verdict prints nothing and waits for nobody. */
export function isSilent({ context, no_hold: _, carries, ...opinions }: Verdict): boolean {
  return context.length === 0 && !carries && Object.values(opinions).every((opinion) => opinion === null);
}

/** Whether the prompt or call of this event is refused, so that the model reads only the reason. */
export function isRefused({ block, deny, end_turn }: Pick<Verdict, 'block' | 'deny' | 'end_turn'>): boolean {
  return block !== null || deny !== null || end_turn !== null;
}

/** Merges two verdicts: contexts are concatenated; for any other field the first that is set wins. */
export function mergeVerdicts(first: Verdict, second: Partial<Verdict> | null): Verdict {
  if (second === null) return first;
  const no_hold = first.no_hold || second.no_hold === true;
  return {
    context: [...first.context, ...(second.context ?? [])],
    deny: first.deny ?? second.deny ?? null,
    defer: first.defer ?? second.defer ?? null,
    end_turn: first.end_turn ?? second.end_turn ?? null,
    block: no_hold ? null : (first.block ?? second.block ?? null),
    no_hold,
    carries: first.carries || second.carries === true,
    wait: no_hold ? null : (first.wait ?? second.wait ?? null),
    notice: first.notice ?? second.notice ?? null,
    decision: first.decision ?? second.decision ?? null,
  };
}

/** The client itself writes prompts with this beginning: a wake-up, or a background agent that finished. */
const TASK_NOTIFICATION = '<task-notification>';

/** Whether a UserPromptSubmit contains the words of a person. */
export function isHumanPrompt(event: HookEvent): boolean {
  return (
    event.name === 'UserPromptSubmit' &&
    event.agent_id === null &&
    event.prompt !== null &&
    !event.prompt.trimStart().startsWith(TASK_NOTIFICATION)
  );
}

/** Within one batch of parallel calls hooks follow each other immediately; the model has not spoken in between. */
export const SAME_STEP_MS = 1_000;
const AFTER_READING: ReadonlySet<string> = new Set([
  'Stop',
  'SubagentStop',
  'UserPromptSubmit',
  'SessionStart',
]);

/**
 * The time until which the model has provably read what hooks printed for its session, given that this event fires
 * now; null when it proves nothing. Another tool call proves it only if it cannot belong to the same batch.
 */
export function readUntil({ name }: HookEvent, now: string): string | null {
  if (AFTER_READING.has(name)) return now;
  if (name !== 'PreToolUse') return null;
  return timeAfter(now, -SAME_STEP_MS);
}

/**
 * Claude Code's tools that only read, which make up most calls. No hook is registered for their return: a hook costs the agent
 * time, and the hook before the call can deliver the same text, which the model reads together with the result.
 */
export const QUIET_TOOLS: readonly string[] = ['Read', 'Glob', 'Grep', 'LS'];

/** Whether a call of this tool fires no hook when it returns. */
export function isQuiet({ client, tool }: Pick<HookEvent, 'client' | 'tool'>): boolean {
  return client === 'claude-code' && tool !== null && QUIET_TOOLS.includes(tool.name);
}

/** Whether context returned for this event reaches the model, so that it can deliver something. */
export function acceptsContext(event: HookEvent): boolean {
  const { name, tool } = event;
  if (name === 'PreToolUse') return isQuiet(event);
  if (name === 'PostToolUse') return tool?.own !== 'hivemind_poll';
  return name === 'PostToolUseFailure' || name === 'UserPromptSubmit' || name === 'SessionStart';
}
