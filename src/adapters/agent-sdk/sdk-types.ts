/**
 * The types of the Claude Agent SDK, as far as we use them. They are declared here so that the SDK need not be installed
 * to use this package; its own, narrower types are assignable to them.
 */

/** A hook as a function of this process. */
export type HookCallback = (
  input: object,
  tool_use_id: string | undefined,
  options: { signal: AbortSignal },
) => Promise<Record<string, unknown>>;

/** An entry of the SDK's `hooks`: what is called for an event, and how long it may take. */
export interface HookMatcher {
  /** A regular expression over the names of tools; all tools without it. */
  matcher?: string;
  /** Called in parallel. */
  hooks: HookCallback[];
  /** In seconds. */
  timeout?: number;
}

/** What the SDK says about a permission that it needs. */
export interface PermissionOptions {
  /** Fires when the SDK stops waiting. */
  signal: AbortSignal;
  /** Permissions that the SDK proposes to keep. */
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  suggestions?: any[];
  /** The call that needs it. */
  toolUseID?: string;
  /** The subagent that calls; missing: the main agent. */
  agentID?: string;
}

/** The answer to the SDK. `updatedInput`: the input to run the call with. `message`: shown to the model. `interrupt`: stops the run. */
export type PermissionResult =
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  | { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: any[] }
  | { behavior: 'deny'; message: string; interrupt?: boolean };

/** The SDK's `canUseTool`: called before a tool runs that no rule of the SDK's allows or denies. */
export type CanUseTool = (
  tool_name: string,
  input: Record<string, unknown>,
  options: PermissionOptions,
) => Promise<PermissionResult>;
