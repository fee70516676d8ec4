/** `hiveHooks` and `hiveCanUseTool`: Claude Code's hooks and permissions as callbacks of the program that runs the agent. */

import { sayVerdict } from '../../../adapters/hooks/hook.ts';
import type { DialogAnswer } from '../../../domain/hooks.ts';
import { hookSettings, SERVER_NAME, toolRules } from '../../../domain/installation.ts';
import type { AgentHive, HookListeners } from './agent-hive.ts';

// ---- The types of the Claude Agent SDK, as far as they are used here ----
// They are declared here so that the SDK need not be installed to use this package; its own, narrower types are assignable
// to them.

/** A hook as a function of this process. */
export type HookCallback = (
  input: object,
  tool_use_id: string | undefined,
  options: { signal: AbortSignal },
) => Promise<Record<string, unknown>>;

/** An entry of the SDK's `hooks`: the callbacks for an event, and how long they may take. */
export interface HookMatcher {
  /** A regular expression over the names of tools; all tools without it. */
  matcher?: string;
  /** Called in parallel. */
  hooks: HookCallback[];
  /** In seconds. */
  timeout?: number;
}

/** The SDK's request for a permission. */
export interface PermissionOptions {
  /** Fires when the SDK stops waiting. */
  signal: AbortSignal;
  /** Permissions that the SDK proposes to keep. */
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  suggestions?: any[];
  /** The call that needs it. */
  toolUseID?: string;
  /** The subagent that makes the call; undefined for the main agent. */
  agentID?: string;
}

/** The answer to the SDK. `updatedInput`: the input to run with. `message`: shown to the model. `interrupt`: stops the run. */
export type PermissionResult =
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  | { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: any[] }
  | { behavior: 'deny'; message: string; interrupt?: boolean };

/** The SDK's `canUseTool`: called before a tool runs, if no rule of the SDK allows or denies it. */
export type CanUseTool = (
  tool_name: string,
  input: Record<string, unknown>,
  options: PermissionOptions,
) => Promise<PermissionResult>;

// ---- Hooks and permissions ----

/** Left out: the SDK calls `hiveCanUseTool` instead, which asks the human. */
const BY_CALLBACK: ReadonlySet<string> = new Set(['PermissionRequest', 'PermissionDenied']);

/**
 * For `options.hooks` of the SDK's `query`: answers and mentions are delivered, mentions and interrupts deny tool calls,
 * the Stop guard holds, and AskUserQuestion is answered at a desk. A failing hook lets everything pass, unless
 * HIVE_GATE_FAIL is `closed`, as with `hive hook`.
 */
export function hiveHooks(hive: AgentHive): Record<string, HookMatcher[]> {
  const listeners: HookListeners = new Set();
  hive.listeners = listeners;
  const callback = hookCallback(hive, listeners);
  return Object.fromEntries(
    hookSettings('claude-code')
      .filter(({ event }) => !BY_CALLBACK.has(event))
      .map(({ event, timeout, matcher }) => [
        event,
        // A question of the model waits for its human in PreToolUse, because there is no dialog besides.
        [
          {
            ...(matcher === undefined ? {} : { matcher }),
            hooks: [callback],
            timeout: event === 'PreToolUse' ? ASKING : timeout,
          },
        ],
      ]),
  );
}

/** In seconds. */
const ASKING = 600;

function hookCallback(hive: AgentHive, listeners: HookListeners): HookCallback {
  return async (input, _tool_use_id, { signal }) => {
    try {
      const event = hive.read(input);
      const handled = await hive.hive.hooks.handle(event, hive.surroundings(event, signal));
      for (const listener of listeners) listener(event);
      // Returning it delivers it: there is no printing that could fail. If the receipt is not stored, it is delivered again.
      await hive.hive.hooks.printed(handled).catch(() => undefined);
      const said = sayVerdict(event, handled);
      return said === '' ? {} : (JSON.parse(said) as Record<string, unknown>);
    } catch (error) {
      hive.hive.log.error('A hook failed.', { error: String(error) });
      if (hive.fails_closed) throw error;
      return {};
    }
  };
}

// ---- hiveCanUseTool ----
// The SDK asks its program for permissions, which are asked at a desk.

const NOBODY = 'Nobody was there to permit this. It needs a human at a desk, or a rule that they wrote.';

/**
 * For `options.canUseTool` of the SDK's `query`. Allows the tools of Hive that every agent has. For other tools, it asks `next`
 * if there is no answer (no desk open, time over, `dialog_wait` off, a store that fails), and denies if there is no `next`.
 *
 * It is not a gate: the SDK calls it only for calls that its own rules neither allow nor deny, and never for tools that only
 * read. Everything that must block every call, such as mentions and interrupts, does so in `hiveHooks`.
 */
export function hiveCanUseTool(hive: AgentHive, next?: CanUseTool): CanUseTool {
  return async (tool_name, input, options) => {
    // The human need not be asked whether an agent may ask its human.
    if (toolRules(SERVER_NAME).includes(tool_name)) return { behavior: 'allow', updatedInput: input };
    const answer = await askDesk(hive, tool_name, input, options).catch((error: unknown) => {
      hive.hive.log.error('A permission could not be asked at a desk.', { error: String(error) });
      return null;
    });
    if (answer?.kind === 'allow') {
      const { permissions } = answer;
      return {
        behavior: 'allow',
        updatedInput: { ...(answer.input ?? input) },
        ...(permissions.length === 0 ? {} : { updatedPermissions: [...permissions] }),
      };
    }
    if (answer?.kind === 'deny') {
      const { message, interrupt } = answer;
      return { behavior: 'deny', message, interrupt };
    }
    return next === undefined ? { behavior: 'deny', message: NOBODY } : next(tool_name, input, options);
  };
}

/** Handles the request like the hook of a terminal's dialog, so that both follow the same rules. */
async function askDesk(
  hive: AgentHive,
  tool_name: string,
  tool_input: Record<string, unknown>,
  { signal, suggestions, toolUseID }: Parameters<CanUseTool>[2],
): Promise<DialogAnswer | null> {
  const caller = hive.callerOf(toolUseID);
  // No hook has reported this call: without hiveHooks there is no session that could ask.
  if (caller === null) return null;
  const { session_id, agent_id, cwd } = caller;
  const event = hive.read({
    hook_event_name: 'PermissionRequest',
    session_id,
    ...(agent_id === null ? {} : { agent_id }),
    // The directory of the query, and not of this program.
    cwd,
    tool_name,
    tool_input,
    permission_suggestions: suggestions ?? [],
  });
  const handled = await hive.hive.hooks.handle(event, hive.surroundings(event, signal));
  await hive.hive.hooks.printed(handled).catch(() => undefined);
  return handled.decision;
}
