/**
 * Runs: headless agents that Hive starts, that end while their human thinks, and that Hive starts again with the answer. Pure: no
 * clock, no ids, no I/O. The command of a start is kept in a file of the human's own (files.ts).
 */
import { HiveError, invalidInput } from '../../domain/errors.ts';
import type { HookClient, HookTool } from '../../domain/hooks.ts';
import type { Raw } from '../../domain/json.ts';
import { type AskRequest, BLOCKING_DEFAULT_MS, WHEN_TURN_ABORTED } from '../../domain/prompts.ts';
import type { Run, RunCall, RunKeeper } from '../../domain/runs.ts';

/** In ms: the longest wait of a call before it is deferred. Clients let its hook run for ten minutes. */
export const PATIENCE_MS: number = 9 * 60 * 1000;

/** An agent that dies this often without an explanation is not started again. */
export const MOST_CRASHES = 10;

const SIGNALLED = 128;

/** Whether a call of the run was deferred, so that the client repeats it by itself. */
export function isDeferred({ calls }: Pick<Run, 'calls'>): boolean {
  return calls.some(({ deferred }) => deferred);
}

/** The questions that were open when the agent ended its turn. */
export function leftOpen({ calls }: Pick<Run, 'calls'>): RunCall[] {
  return calls.filter(({ call_id }) => call_id === null);
}

/**
 * Whether a sleeping run continues: no call waits for its human any more, and one of the questions that its agent left open
 * is settled. `isPending` tells whether a question is still pending.
 */
export function mayGoOn({ calls }: Pick<Run, 'calls'>, isPending: (ask_id: string) => boolean): boolean {
  const open = leftOpen({ calls });
  const ofCalls = calls.filter(({ call_id }) => call_id !== null);
  if (ofCalls.some(({ ask_id }) => isPending(ask_id))) return false;
  return open.length === 0 || open.some(({ ask_id }) => !isPending(ask_id));
}

/** The run after its agent has ended. `exit_code` is null if a signal ended it, or if nobody saw the end. */
export function agentEnded(run: Run, exit_code: number | null, now: string): Run {
  if (run.status !== 'working') return run;
  // A program that a signal stopped may report that with its exit code.
  const code = exit_code === null || exit_code >= SIGNALLED ? run.exit_code : exit_code;
  const over: Run = { ...run, keeper: null, agent: null, exit_code: code, changed_at: now };
  const open = leftOpen(run);
  // Its hooks take over questions that an earlier start left open. An agent without hooks would be started again and again.
  const isUntold = open.length > 0 && open.every(({ start }) => start < run.start);
  if (code === 0 && !isDeferred(run) && !isUntold) {
    return open.length === 0
      ? { ...over, status: 'ended' }
      : { ...over, status: 'sleeping', exit_code: null };
  }
  if (isDeferred(run) && run.heard === run.start) return { ...over, status: 'sleeping', exit_code: null };
  // It should have repeated a deferred call and could not: the conversation does not contain that call.
  // Its own question can be answered without that call.
  const calls = run.calls.map((call) => ({
    ...call,
    deferred: false,
    call_id: call.by_tool === true ? null : call.call_id,
  }));
  // A failed first start is final; a later one may not have found its conversation.
  const isFinal = run.start === 1 || run.heard === run.start;
  if (code !== null && !isDeferred(run) && isFinal) return { ...over, status: 'ended' };
  const crashes = run.crashes + 1;
  if (crashes > MOST_CRASHES)
    return {
      ...over,
      status: 'ended',
      crashes,
      problem: `Its agent died ${crashes} times, or ended without going on.`,
    };
  return { ...over, status: 'sleeping', exit_code: null, crashes, calls };
}

/** The run at its next start. */
export function nextStart(run: Run, keeper: RunKeeper, now: string): Run {
  const start = run.start + 1;
  return { ...run, status: 'working', start, keeper, agent: null, exit_code: null, changed_at: now };
}

// ---- The command line ----

/** The variable with the tools that the command line of the run allows, one per line. Hooks inherit it. */
export const ALLOWED_VARIABLE = 'HIVE_RUN_ALLOWED';

/** The program that a start executes, and its arguments. */
export interface RunCommand {
  program: string;
  /** Without the prompt, the conversation, and the options that make the client headless. */
  options: readonly string[];
  prompt: string;
}

/** The client that a command starts; null for any other program. */
function clientOf(program: string): HookClient | null {
  const [, name] = /(?:^|[/\\])(claude|codex)(?:\.(?:exe|cmd))?$/.exec(program) ?? [];
  return name === 'claude' ? 'claude-code' : name === 'codex' ? 'codex' : null;
}

const PRINT = new Set(['-p', '--print']);
/** Options that choose the conversation, which the run does itself. */
const OF_CONVERSATION: Readonly<Record<HookClient, RegExp>> = {
  'claude-code': /^(?:-c|--continue|-r|--resume|--session-id|--fork-session|--no-session-persistence)(?:=|$)/,
  codex: /^(?:resume|fork|review|--last|--ephemeral)(?:=|$)/,
};

/**
 * Reads `claude -p PROMPT …` or `codex exec PROMPT …`.
 * @throws HiveError `invalid_input` with a sentence that says what to change.
 */
export function readCommand(words: readonly string[]): RunCommand {
  const [program = '', ...rest] = words;
  const client = clientOf(program);
  if (client === null)
    throw invalidInput(
      'hive run starts Claude Code and Codex, because no other client can continue a conversation later. Write: hive run -- claude -p "…"',
    );
  const at = client === 'codex' ? rest.indexOf('exec') : rest.findIndex((word) => PRINT.has(word));
  const prompt = rest[at + 1];
  if (at < 0 || prompt === undefined || prompt.startsWith('-'))
    throw invalidInput(
      client === 'codex'
        ? 'Write the prompt right after exec: hive run -- codex exec "…" OPTIONS'
        : 'Write the prompt right after -p: hive run -- claude -p "…" OPTIONS',
    );
  const options = [...rest.slice(0, at), ...rest.slice(at + 2)];
  const wrong = [...(client === 'codex' ? [prompt] : []), ...options].find((word) =>
    OF_CONVERSATION[client].test(word),
  );
  if (wrong !== undefined)
    throw invalidInput(`hive run chooses the conversation itself: leave ${wrong} out.`);
  return { program, options, prompt };
}

/** The prompt for an agent that starts again and has no call that it could repeat by itself. */
const GO_ON = 'You were stopped from outside. Continue from where you left off.';

/** The same when its questions were answered; the hooks add the answers. */
function answeredPrompt(ask_ids: readonly string[]): string {
  return `You stopped while ${ask_ids.join(', ')} was open. There is news of it: see hivemind_poll. Continue from where you left off.`;
}

/** The arguments of a start. @throws HiveError `store_unsafe` if the id of the conversation, from the store, is an option. */
export function argumentsOf({ program, options, prompt }: RunCommand, run: Run): string[] {
  const { session_id } = run;
  if (!/^\w[\w-]*$/.test(session_id))
    throw new HiveError(
      'store_unsafe',
      `"${session_id}" is not the id of a conversation: somebody changed the store.`,
    );
  const isNew = run.start === 1 || run.heard === 0;
  const open = leftOpen(run).map(({ ask_id }) => ask_id);
  const next = open.length === 0 ? GO_ON : answeredPrompt(open);
  if (clientOf(program) === 'codex') {
    // Its options belong to `exec`, and apply to the resumed conversation only before `resume`.
    const exec = ['exec', ...options];
    return isNew ? [...exec, '--', prompt] : [...exec, 'resume', session_id, next];
  }
  if (isNew) return ['-p', prompt, '--session-id', session_id, ...options];
  const now = inModeOf(run, options);
  return isDeferred(run)
    ? ['-p', '--resume', session_id, ...now]
    : ['-p', next, '--resume', session_id, ...now];
}

/** The options without the plan mode, once its plan is approved: because the client does not remember that. */
function inModeOf({ calls }: Run, options: readonly string[]): readonly string[] {
  const isApproved = calls.some(({ mode = 'plan' }) => mode !== 'plan');
  const at = options.findIndex((word) => /^--permission-mode(?:=plan)?$/.test(word));
  if (!isApproved || at < 0) return options;
  if (options[at] === '--permission-mode=plan') return options.toSpliced(at, 1);
  return options[at + 1] === 'plan' ? options.toSpliced(at, 2) : options;
}

// ---- Asking in a run of Claude Code ----
// Without a terminal, Claude Code offers its model no questions (AskUserQuestion) and no plans, unless its command line
// names a tool that decides permissions. A run names one of Hive's, which denies: hooks have asked the human before.

/** The server of that tool. */
export const DENYING_SERVER = 'hive-run';
export const DENYING_TOOL = 'deny';

/** The sentence for the model if the client asks for a permission and nobody gives it. */
export const NOT_PERMITTED = 'Nobody permitted this. Do something else, or ask your human with hivemind_ask.';

/** The options that a run adds, unless the human chose another way: `serve` starts the server. */
export function askingOptions({ program, options }: RunCommand, serve: readonly string[]): string[] {
  if (clientOf(program) !== 'claude-code') return [];
  if (options.some((word) => /^--permission-prompts?(?:-tool)?(?:=|$)/.test(word))) return [];
  const [command, ...args] = serve;
  const servers = { mcpServers: { [DENYING_SERVER]: { type: 'stdio', command, args } } };
  const tool = `mcp__${DENYING_SERVER}__${DENYING_TOOL}`;
  return ['--mcp-config', JSON.stringify(servers), '--permission-prompt-tool', tool];
}

/**
 * The question of a blocking ask, as its model wrote it, and how long it may wait; null for any other call, and for one that
 * only the tool itself can read or refuse.
 */
export function blockingAsk({ own, input }: HookTool): { request: AskRequest; wait_ms: number } | null {
  if (own !== 'hivemind_ask' && own !== 'hivemind_ask_async') return null;
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return null;
  const given = Object.fromEntries(Object.entries(input as Raw).filter(([, value]) => value !== null));
  const limit = own === 'hivemind_ask' ? 'timeout_ms' : 'wait_ms';
  const { [limit]: wait_ms = own === 'hivemind_ask' ? BLOCKING_DEFAULT_MS : 0, ...request } = given;
  if (typeof wait_ms !== 'number') return null;
  const isKnown = Object.entries(request).every(
    ([name, value]) => Object.hasOwn(ASKED, name) && ASKED[name]?.(value) === true,
  );
  return isKnown && 'question' in request ? { request: request as unknown as AskRequest, wait_ms } : null;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTruth = (value: unknown): boolean => typeof value === 'boolean';
const isCount = (value: unknown): boolean => typeof value === 'number';

/** The arguments of an ask that a hook can check without the schemas of the tools. */
const ASKED: Readonly<Record<string, (value: unknown) => boolean>> = {
  question: isText,
  options: (value) =>
    Array.isArray(value) &&
    value.every((option: unknown) => isText(option) || isText((option as { label?: unknown } | null)?.label)),
  context: isText,
  multi_select: isTruth,
  allow_free_text: isTruth,
  header: isText,
  kind: (value) => value === 'question' || value === 'permission',
  urgency: (value) => value === 'low' || value === 'normal' || value === 'critical',
  timeout_ms: isCount,
  idempotency_key: isText,
  group_id: isText,
  when_turn_aborted: (value) => (WHEN_TURN_ABORTED as readonly unknown[]).includes(value),
  label: isText,
  to: isText,
  escalate_after_ms: isCount,
};

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
  'StructuredOutput',
  'ListMcpResourcesTool',
  'ReadMcpResourceTool',
]);

const EDITS = ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'];
const EVERYTHING = '*';
/** In plan mode the client itself decides. Once the plan is approved, the agent works in the default mode. */
const UNTIL_APPROVED = 'plan *';

/** The tools that the options of Claude Code allow. */
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
  if (mode === 'plan') return [UNTIL_APPROVED];
  // In the other modes the client itself decides and asks nobody.
  return mode === 'default' || mode === 'manual' ? [] : [EVERYTHING];
}

/** `Bash(git log:*) Edit,mcp__github` as single rules: spaces and commas within parentheses belong to the rule. */
function rulesIn(text: string): string[] {
  return text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
}

/** Whether Hive asks the human about a call, before the client does; `mode` is the client's permission mode, if it is known. */
export function needsHuman(
  { name, input, own }: HookTool,
  allowed: readonly string[],
  mode: unknown = 'plan',
): boolean {
  if (own !== null || HARMLESS.has(name)) return false;
  if (mode === 'plan' && allowed.includes(UNTIL_APPROVED)) return false;
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

/** How many bytes at the end of a transcript are read to find out. */
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

/**
 * Whether the transcript shows another call of the same tool with the same input, without a result: then an event without
 * the id of its call may be for either.
 */
export function hasTwin(tail: string | null, call_id: string): boolean {
  const parts = (tail ?? '').split('\n').flatMap((line) => (line.includes('"tool_') ? partsIn(line) : []));
  const results = new Set(
    parts.flatMap(({ type, tool_use_id }) => (type === 'tool_result' ? [tool_use_id] : [])),
  );
  const open = parts.filter(({ type, id }) => type === 'tool_use' && !results.has(id));
  const sameAs = ({ name, input }: Part): string => JSON.stringify([name, input]);
  const own = open.filter(({ id }) => id === call_id).map(sameAs);
  return open.some((part) => part.id !== call_id && own.includes(sameAs(part)));
}

type Part = { type?: unknown; id?: unknown; tool_use_id?: unknown; name?: unknown; input?: unknown };

function partsIn(line: string): Part[] {
  try {
    const { message } = JSON.parse(line) as { message?: { content?: unknown } };
    const { content } = message ?? {};
    return Array.isArray(content) ? (content as (Part | null)[]).filter((part) => part !== null) : [];
  } catch {
    return [];
  }
}

/** An assistant's message in a transcript; null for any other line, and for a truncated one. */
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
