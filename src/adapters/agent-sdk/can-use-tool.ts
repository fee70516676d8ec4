/** `hiveCanUseTool`: the permissions that the SDK asks its program for, asked at a desk. */
import type { DialogAnswer } from '../../domain/dialogs.ts';
import type { AgentHive } from './agent-hive.ts';
import type { CanUseTool } from './sdk-types.ts';

const NOBODY = 'Nobody was there to permit this: it needs a human at a desk, or a rule of theirs.';

/**
 * For `options.canUseTool` of the SDK's `query`. Left alone (no desk open, the time up, HIVE_PERMISSIONS=off) it
 * asks `next`, and denies where there is none.
 *
 * It is no gate: the SDK calls it only for what its own rules neither allow nor deny, and never for tools that
 * only read. What must hold every call, mentions and interrupts among it, holds them in `hiveHooks`.
 */
export function hiveCanUseTool(hive: AgentHive, next?: CanUseTool): CanUseTool {
  return async (tool_name, input, options) => {
    const answer = await askDesk(hive, tool_name, input, options);
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

/** The same as the hook of a terminal's dialog, so that both have one rule. */
async function askDesk(
  hive: AgentHive,
  tool_name: string,
  tool_input: Record<string, unknown>,
  { signal, suggestions, toolUseID }: Parameters<CanUseTool>[2],
): Promise<DialogAnswer | null> {
  const caller = hive.callerOf(toolUseID);
  // No hook has told whose call this is: without hiveHooks there is no session to ask for.
  if (caller === null) return null;
  const { session_id, agent_id } = caller;
  const event = hive.read({
    hook_event_name: 'PermissionRequest',
    session_id,
    ...(agent_id === null ? {} : { agent_id }),
    cwd: process.cwd(),
    tool_name,
    tool_input,
    permission_suggestions: suggestions ?? [],
  });
  const handled = await hive.hive.hooks.handle(event, hive.settings(event, signal));
  await hive.hive.hooks.printed(handled);
  return handled.decision;
}
