/**
 * Hive for programs that run agents through the Claude Agent SDK:
 *
 *     import { hiveCanUseTool, hiveHooks, hiveServer, onInterrupt, openAgentHive } from 'hive-sidecar/agent-sdk';
 *     const hive = await openAgentHive();
 *     const run = query({ prompt, options: {
 *       hooks: hiveHooks(hive), canUseTool: hiveCanUseTool(hive), mcpServers: { hive: hiveServer(hive) },
 *     } });
 *     onInterrupt(hive, run);
 */
export {
  type AgentHive,
  hiveServer,
  type Interruptible,
  onInterrupt,
  openAgentHive,
  type ServerEntry,
} from './agent-hive.ts';
export { type HeadlessRequest, type HeadlessRun, runHeadless, untilEnded } from './headless.ts';
export {
  type CanUseTool,
  type HookCallback,
  type HookMatcher,
  hiveCanUseTool,
  hiveHooks,
  type PermissionOptions,
  type PermissionResult,
} from './hooks.ts';
