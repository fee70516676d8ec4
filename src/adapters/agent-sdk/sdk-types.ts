/**
 * What the Claude Agent SDK hands over and takes back, as far as we use it: described here, so that it need not
 * be installed to use this package. The SDK's own, narrower types fit into these.
 */

/** A hook as a function of this process. */
export type HookCallback = (
  input: object,
  tool_use_id: string | undefined,
  options: { signal: AbortSignal },
) => Promise<Record<string, unknown>>;

/** An entry of the SDK's `hooks`: what is called for an event, and for how long it may take. */
export interface HookMatcher {
  /** Called one beside the other. */
  hooks: HookCallback[];
  /** Seconds. */
  timeout?: number;
}

/** What the SDK tells of a permission that it needs. */
export interface PermissionOptions {
  /** Fires when the SDK waits no more. */
  signal: AbortSignal;
  /** Permissions that the SDK proposes to keep. */
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  suggestions?: any[];
  /** The call that needs it. */
  toolUseID?: string;
  /** The subagent that calls; missing: the main agent. */
  agentID?: string;
}

/** What the SDK is answered. `updatedInput`: the call's input as it is to run. `message`: told to the model. `interrupt`: stops the run. */
export type PermissionResult =
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  | { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: any[] }
  | { behavior: 'deny'; message: string; interrupt?: boolean };

/** The SDK's `canUseTool`: asked before a tool runs that no rule of the SDK's allows or denies. */
export type CanUseTool = (
  tool_name: string,
  input: Record<string, unknown>,
  options: PermissionOptions,
) => Promise<PermissionResult>;
