/**
 * Hooks: what an agent's client tells at each step, and what it may be told in return. Independent of the
 * client; adapters/hooks/ translates both ways, exactly as each client wants it.
 */
import type { DialogAnswer } from './dialogs.ts';
import type { Source } from './sources.ts';

export type HookClient = 'claude-code' | 'codex';

export interface HookTool {
  name: string;
  input: unknown;
  /** Equals what the tool call carries over MCP; absent in a PermissionRequest. */
  use_id: string | null;
  response: unknown;
  /** Which of our own tools this is, by exact server and tool; null for any other. */
  own: string | null;
}

export interface HookEvent {
  client: HookClient;
  /** As the clients name it; both use the same names: SessionStart, PreToolUse, Stop … */
  name: string;
  session_id: string;
  /** Set inside a subagent, whose session is then `SESSION:AGENT_ID`. */
  agent_id: string | null;
  /** `prompt_id` of Claude Code, `turn_id` of Codex. */
  client_turn_id: string | null;
  cwd: string;
  transcript_path: string | null;
  /** The client's own process, where it tells. */
  pid: number | null;
  source: Source;
  /** A person sits at the client's terminal; null where the client does not tell. */
  attended: boolean | null;
  tool: HookTool | null;
  /** The ids of the calls that a PostToolBatch closes. */
  batch: string[];
  prompt: string | null;
  /** SessionStart: startup, resume, clear, compact, fork. SessionEnd: its reason. */
  reason: string | null;
  stop_hook_active: boolean;
  /** Subagents that this event shows to run in the background. */
  background_agents: string[];
  /** The event as it came, for what only one capability wants. */
  raw: Readonly<Record<string, unknown>>;
}

/** What a hook may wait for, outside of any transaction. */
export interface HookWait {
  ask_ids: readonly string[];
  wait_ms: number;
  /** All of them are wanted: it ends when they are answered, or one of them can be no more. Else the first ends it. */
  all?: boolean;
  /** Ends with the last desk: nobody else could answer. */
  needs_desk?: boolean;
}

/** A wait that is over. */
export interface Waited extends HookWait {
  /** The client has taken its question back and reads no answer. */
  abandoned: boolean;
}

/** What is told to the client. Everything is optional; nothing at all is the usual answer. */
export interface Verdict {
  /** Texts the model reads beside what it does. */
  context: string[];
  /** PreToolUse: the tool does not run, and the model reads this. */
  deny: string | null;
  /** The turn ends here; a client that cannot do that is told by `deny`. */
  end_turn: string | null;
  /** Stop, SubagentStop: the agent goes on, and reads this. UserPromptSubmit: the prompt is refused with this. */
  block: string | null;
  /** Stop, SubagentStop: an interrupt waits for this very end, so no guard may hold the agent. */
  let_go: boolean;
  /** With this something is handed over: it counts as said only once it has been printed. */
  carries: boolean;
  /** Nothing is said before these prompts have settled, or the time is up (application/hooks.ts). */
  wait: HookWait | null;
  /** Shown to the person at the client's terminal. */
  notice: string | null;
  /** The answer to the client's own dialog. */
  decision: DialogAnswer | null;
}

export const NO_OPINION: Verdict = {
  context: [],
  deny: null,
  end_turn: null,
  block: null,
  let_go: false,
  carries: false,
  wait: null,
  notice: null,
  decision: null,
};

/** Whether nothing at all is printed for this verdict, and nobody waited for. */
export function isSilent({ context, let_go: _, carries, ...opinions }: Verdict): boolean {
  return context.length === 0 && !carries && Object.values(opinions).every((opinion) => opinion === null);
}

/** Two opinions as one: context adds up, of the rest the first stands. */
export function mergeVerdicts(first: Verdict, second: Partial<Verdict> | null): Verdict {
  if (second === null) return first;
  const let_go = first.let_go || second.let_go === true;
  return {
    context: [...first.context, ...(second.context ?? [])],
    deny: first.deny ?? second.deny ?? null,
    end_turn: first.end_turn ?? second.end_turn ?? null,
    block: let_go ? null : (first.block ?? second.block ?? null),
    let_go,
    carries: first.carries || second.carries === true,
    wait: let_go ? null : (first.wait ?? second.wait ?? null),
    notice: first.notice ?? second.notice ?? null,
    decision: first.decision ?? second.decision ?? null,
  };
}

/** A prompt that starts so was written by the client itself: a wake-up, or a background agent that finished. */
const TASK_NOTIFICATION = '<task-notification>';

/** Whether a UserPromptSubmit brings the words of a person. */
export function isHumanPrompt(event: HookEvent): boolean {
  return (
    event.name === 'UserPromptSubmit' &&
    event.agent_id === null &&
    event.prompt !== null &&
    !event.prompt.trimStart().startsWith(TASK_NOTIFICATION)
  );
}

/** Within one batch of parallel calls hooks follow each other at once; the model has not spoken in between. */
const SAME_STEP_MS = 1_000;
const AFTER_READING: ReadonlySet<string> = new Set([
  'Stop',
  'SubagentStop',
  'UserPromptSubmit',
  'SessionStart',
]);

/**
 * Until when what hooks printed for a session has provably been read, given that this event fires now; null
 * when it proves nothing. A further tool call proves it only if it cannot be of the same batch.
 */
export function readUntil({ name }: HookEvent, now: string): string | null {
  if (AFTER_READING.has(name)) return now;
  if (name !== 'PreToolUse') return null;
  return new Date(Date.parse(now) - SAME_STEP_MS).toISOString();
}

/** The events whose context reaches the model: where something can be carried in. */
export function takesContext({ name, tool }: HookEvent): boolean {
  if (name === 'PostToolUse') return tool?.own !== 'hivemind_poll';
  return name === 'PostToolUseFailure' || name === 'UserPromptSubmit' || name === 'SessionStart';
}
