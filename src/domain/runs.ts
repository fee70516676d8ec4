/**
 * Runs: headless agents that Hive starts, ends while their human thinks, and starts again with the answer. Pure: no
 * clock, no ids, no I/O. What a start executes is kept in a file of the human's (infrastructure/platform/runs.ts).
 */
import { HiveError, invalidInput } from './errors.ts';
import type { HookTool } from './hooks.ts';

/** A call of the agent's that needs the human, until the client reports that the call is over. */
export interface RunCall {
  /** The client's id of the call; a call that is repeated after a resume has the same id. */
  call_id: string;
  ask_id: string;
  /** The start of the run whose agent made it. */
  start: number;
  /** The client was asked to end, and to repeat this call when it is resumed. */
  deferred: boolean;
  /** The answer was given to this call. If its agent died after that, the call may have run. */
  given: boolean;
}

export type RunStatus = 'working' | 'sleeping' | 'ended';

/** Which process looks after a run's agent. With `started`, the process cannot be confused with a later one. */
export interface RunKeeper {
  machine: string;
  pid: number;
  started: string | null;
}

export interface Run {
  run_id: string;
  /** The session of the agent, chosen before its first start. */
  session_id: string;
  status: RunStatus;
  /** Whose run it is: only this person's processes resume it. */
  seat: string;
  machine: string;
  /** The digest of the file that says what to start. */
  digest: string;
  /** How long a call waits for its human before it is deferred. */
  patience_ms: number;
  /** Counts the starts of the agent. Only the agent of the last start gets an answer. */
  start: number;
  /** The last start whose agent made a call. */
  heard: number;
  /** How many starts ended without saying why. */
  crashes: number;
  keeper: RunKeeper | null;
  agent: RunKeeper | null;
  calls: readonly RunCall[];
  /** How the agent ended; null while the run lasts, or if nobody saw it. */
  exit_code: number | null;
  /** Why a run ended although it could have continued. */
  problem: string | null;
  created_at: string;
  changed_at: string;
}

/** An agent that dies this often without an explanation is not started again. */
export const MOST_CRASHES = 10;

const SIGNALLED = 128;

/** Whether a call of the run was deferred, so that the client repeats it by itself. */
export function isDeferred({ calls }: Pick<Run, 'calls'>): boolean {
  return calls.some(({ deferred }) => deferred);
}

/** The run after its agent has ended. `exit_code` is null if a signal ended it, or if nobody saw the end. */
export function agentEnded(run: Run, exit_code: number | null, now: string): Run {
  if (run.status !== 'working') return run;
  // A program that a signal stopped may report that with its exit code.
  const code = exit_code === null || exit_code >= SIGNALLED ? run.exit_code : exit_code;
  const over: Run = { ...run, keeper: null, agent: null, exit_code: code, changed_at: now };
  if (code === 0 && !isDeferred(run)) return { ...over, status: 'ended' };
  if (isDeferred(run) && run.heard === run.start) return { ...over, status: 'sleeping', exit_code: null };
  // It should have repeated a deferred call and could not: the conversation does not contain that call.
  const calls = run.calls.map((call) => ({ ...call, deferred: false }));
  // A failed first start is final; a later one may not have found its conversation.
  const isFinal = run.start === 1 || run.heard === run.start;
  if (code !== null && !isDeferred(run) && isFinal) return { ...over, status: 'ended' };
  const crashes = run.crashes + 1;
  if (crashes > MOST_CRASHES)
    return { ...over, status: 'ended', crashes, problem: `Its agent died ${crashes} times.` };
  return { ...over, status: 'sleeping', exit_code: null, crashes, calls };
}

/** The run at its next start. */
export function nextStart(run: Run, keeper: RunKeeper, now: string): Run {
  const start = run.start + 1;
  return { ...run, status: 'working', start, keeper, agent: null, exit_code: null, changed_at: now };
}

// ---- Which start an agent belongs to ----
// These are in the agent's environment, which its hooks inherit. They permit nothing.

export const RUN_VARIABLE = 'HIVE_RUN';
/** What the command line of the run allows, one entry a line. */
export const ALLOWED_VARIABLE = 'HIVE_RUN_ALLOWED';

export interface RunStart {
  run_id: string;
  start: number;
}

export function writeStart({ run_id, start }: RunStart): string {
  return `${run_id}:${start}`;
}

/** Null if there is no run, or if its text is not in our format. */
export function readStart(text: string | undefined): RunStart | null {
  const found = /^(run-[0-9a-z]+):(\d{1,9})$/.exec(text ?? '');
  return found === null ? null : { run_id: found[1] ?? '', start: Number(found[2]) };
}

// ---- The command line of Claude Code ----

/** The program that a start executes, and its arguments. */
export interface RunCommand {
  program: string;
  /** Without the prompt, the session, and `-p`. */
  options: readonly string[];
  prompt: string;
}

const PRINT = new Set(['-p', '--print']);
/** Options that choose the conversation, which the run does itself. */
const OF_CONVERSATION =
  /^(?:-c|--continue|-r|--resume|--session-id|--fork-session|--no-session-persistence)(?:=|$)/;

/** Reads `claude -p PROMPT …`. @throws HiveError `invalid_input` with a sentence that says what to change. */
export function readCommand(words: readonly string[]): RunCommand {
  const [program = '', ...rest] = words;
  if (!/(?:^|[/\\])claude(?:\.(?:exe|cmd))?$/.test(program))
    throw invalidInput(
      `hive run starts Claude Code only, because no other client can end while it waits. Write: hive run -- claude -p "…"`,
    );
  const at = rest.findIndex((word) => PRINT.has(word));
  const prompt = rest[at + 1];
  if (at < 0 || prompt === undefined || prompt.startsWith('-'))
    throw invalidInput('Write the prompt right after -p: hive run -- claude -p "…" OPTIONS');
  const options = [...rest.slice(0, at), ...rest.slice(at + 2)];
  const wrong = options.find((word) => OF_CONVERSATION.test(word));
  if (wrong !== undefined)
    throw invalidInput(`hive run chooses the conversation itself: leave ${wrong} out.`);
  return { program, options, prompt };
}

/** What the agent reads when it starts again without a call that it could repeat by itself. */
const GO_ON = 'You were stopped from outside. Continue from where you left off.';

/** The arguments of a start. @throws HiveError `store_unsafe` if the id of the conversation, which the store holds, is an option. */
export function argumentsOf({ options, prompt }: RunCommand, run: Run): string[] {
  if (!/^\w[\w-]*$/.test(run.session_id))
    throw new HiveError(
      'store_unsafe',
      `"${run.session_id}" is no id of a conversation: somebody changed the store.`,
    );
  if (run.start === 1 || run.heard === 0) return ['-p', prompt, '--session-id', run.session_id, ...options];
  return isDeferred(run)
    ? ['-p', '--resume', run.session_id, ...options]
    : ['-p', GO_ON, '--resume', run.session_id, ...options];
}

// ---- Which calls need a human ----
// A hook cannot know whether the client will ask for a permission, and once the client asks, a call cannot be deferred.
// So Hive asks for everything that the command line does not clearly allow. The client may still ask for the rest.

/** Built into Claude Code and never asked about. */
const HARMLESS: ReadonlySet<string> = new Set([
  'Read',
  'Glob',
  'Grep',
  'LS',
  'NotebookRead',
  'TodoWrite',
  'TodoRead',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TaskOutput',
  'BashOutput',
  'ToolSearch',
  'Agent',
  'Task',
  'Skill',
  'EnterPlanMode',
  'ExitPlanMode',
  'AskUserQuestion',
  'StructuredOutput',
  'ListMcpResourcesTool',
  'ReadMcpResourceTool',
]);

const EDITS = ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'];
const EVERYTHING = '*';

/** What the options of Claude Code allow. */
export function allowedBy(options: readonly string[]): string[] {
  const allowed: string[] = [];
  for (let at = 0; at < options.length; at += 1) {
    const word = options[at] ?? '';
    const [name = '', inline] = word.split(/=(.*)/s);
    if (name === '--dangerously-skip-permissions') allowed.push(EVERYTHING);
    if (name === '--permission-mode') allowed.push(...allowedInMode(inline ?? options[at + 1] ?? ''));
    if (name !== '--allowedTools' && name !== '--allowed-tools') continue;
    if (inline !== undefined) allowed.push(...rulesIn(inline));
    else
      while (options[at + 1]?.startsWith('-') === false) {
        at += 1;
        allowed.push(...rulesIn(options[at] ?? ''));
      }
  }
  return [...new Set(allowed)];
}

function allowedInMode(mode: string): readonly string[] {
  if (mode === 'acceptEdits') return EDITS;
  // In the other modes the client decides by itself and asks nobody.
  return mode === 'default' || mode === 'manual' ? [] : [EVERYTHING];
}

/** `Bash(git log:*) Edit,mcp__github` as single rules: spaces and commas within parentheses belong to the rule. */
function rulesIn(text: string): string[] {
  return text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
}

/** Whether Hive asks the human about a call, before the client does. */
export function needsHuman({ name, input, own }: HookTool, allowed: readonly string[]): boolean {
  if (own !== null || HARMLESS.has(name)) return false;
  const command = (input as { command?: unknown } | null)?.command;
  return !allowed.some((rule) => {
    const [, tool = '', inner] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
    if (tool === EVERYTHING) return true;
    if (inner === undefined)
      return tool === name || (tool.startsWith('mcp__') && name.startsWith(`${tool}__`));
    if (tool !== name || typeof command !== 'string') return false;
    // Only for a single plain command: the client judges the parts of any other command.
    if (/[;&|<>`$\n(){}]/.test(command)) return false;
    const prefix = inner.endsWith(':*') ? inner.slice(0, -2) : null;
    return prefix === null ? command === inner : command === prefix || command.startsWith(`${prefix} `);
  });
}

// ---- Whether a call is the only one of its step ----

/** How much of the end of a transcript is read to find out. */
export const STEP_TAIL_BYTES = 512 * 1024;

/**
 * Whether the transcript shows that this call is the only one of its step. The client ends at a deferred call, and when it is
 * resumed it repeats only that call: the others of the step would be lost.
 */
export function isOnlyCall(tail: string | null, call_id: string): boolean {
  const steps = new Map<string, Set<string>>();
  let own: string | null = null;
  for (const line of (tail ?? '').split('\n')) {
    if (!line.includes('"tool_use"')) continue;
    const message = messageIn(line);
    if (message === null) continue;
    const calls = steps.get(message.id) ?? new Set();
    for (const id of message.calls) calls.add(id);
    steps.set(message.id, calls);
    // Without a stop reason, the model may be about to make another call.
    if (message.calls.includes(call_id)) own = message.complete ? message.id : null;
  }
  return own !== null && steps.get(own)?.size === 1;
}

/** Whether the transcript shows this call without a result. */
export function isOpenCall(tail: string | null, call_id: string): boolean {
  const parts = (tail ?? '').split('\n').flatMap((line) => (line.includes(call_id) ? partsIn(line) : []));
  return (
    parts.some(({ type, id }) => type === 'tool_use' && id === call_id) &&
    !parts.some(({ type, tool_use_id }) => type === 'tool_result' && tool_use_id === call_id)
  );
}

type Part = { type?: unknown; id?: unknown; tool_use_id?: unknown };

function partsIn(line: string): Part[] {
  try {
    const { message } = JSON.parse(line) as { message?: { content?: unknown } };
    const { content } = message ?? {};
    return Array.isArray(content) ? (content as (Part | null)[]).filter((part) => part !== null) : [];
  } catch {
    return [];
  }
}

/** An assistant's message in a transcript; null for any other line, and for one that is cut. */
function messageIn(line: string): { id: string; complete: boolean; calls: string[] } | null {
  let entry: { message?: { id?: unknown; stop_reason?: unknown; content?: unknown } } | null;
  try {
    entry = JSON.parse(line) as typeof entry;
  } catch {
    return null;
  }
  const { id, stop_reason, content } = entry?.message ?? {};
  if (typeof id !== 'string' || !Array.isArray(content)) return null;
  const calls = (content as { type?: unknown; id?: unknown }[]).flatMap((part) =>
    part?.type === 'tool_use' && typeof part.id === 'string' ? [part.id] : [],
  );
  return { id, complete: typeof stop_reason === 'string', calls };
}
