/** `hiveHooks`: the hooks of Claude Code as callbacks of the program that runs the agent. */
import { hookSettings } from '../../domain/installation.ts';
import { sayVerdict } from '../hooks/hook.ts';
import type { AgentHive } from './agent-hive.ts';
import type { HookCallback, HookMatcher } from './sdk-types.ts';

/** These ask the human through `hiveCanUseTool`, which the SDK calls in their place. */
const BY_CALLBACK: ReadonlySet<string> = new Set(['PermissionRequest', 'PermissionDenied']);

/**
 * For `options.hooks` of the SDK's `query`: answers and mentions are carried in, mentions and interrupts deny
 * tool calls, the Stop guard holds, AskUserQuestion is answered at a desk. What fails here fails open, unless
 * HIVE_GATE_FAIL is `closed`, as with `hive hook`.
 */
export function hiveHooks(hive: AgentHive): Record<string, HookMatcher[]> {
  const callback = hookCallback(hive);
  return Object.fromEntries(
    hookSettings('claude-code')
      .filter(({ event }) => !BY_CALLBACK.has(event))
      .map(({ event, timeout }) => [
        event,
        // A question of the model's waits for its human in its PreToolUse: there is no dialog beside it.
        [{ hooks: [callback], timeout: event === 'PreToolUse' ? ASKING : timeout }],
      ]),
  );
}

const ASKING = 600;

function hookCallback(hive: AgentHive): HookCallback {
  return async (input, _tool_use_id, { signal }) => {
    try {
      const event = hive.read(input);
      const handled = await hive.hive.hooks.handle(event, hive.settings(event, signal));
      hive.handled(event);
      // It is on its way with this return: there is no print that could be lost.
      await hive.hive.hooks.printed(handled);
      const said = sayVerdict(event, handled);
      return said === '' ? {} : (JSON.parse(said) as Record<string, unknown>);
    } catch (error) {
      hive.hive.log.error('A hook failed.', { error: String(error) });
      if (hive.fails_closed) throw error;
      return {};
    }
  };
}
