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

export interface HookMatcher {
  hooks: HookCallback[];
  /** Seconds. */
  timeout?: number;
}

/** What the SDK tells of a permission that it needs. */
export interface PermissionOptions {
  signal: AbortSignal;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  suggestions?: any[];
  toolUseID?: string;
  agentID?: string;
}

export type PermissionResult =
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type, which is passed back as it came
  | { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: any[] }
  | { behavior: 'deny'; message: string; interrupt?: boolean };

export type CanUseTool = (
  tool_name: string,
  input: Record<string, unknown>,
  options: PermissionOptions,
) => Promise<PermissionResult>;
