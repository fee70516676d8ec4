/** A scripted model for Claude Code, for as long as a test runs. */
import { onTestFinished } from 'vitest';
import { MESSAGES_API, type ModelRequest, type Reply, type Script } from './messages-api.ts';
import { type ModelServer, serveModel } from './model-server.ts';

export { bash, hive, type ModelRequest, type Reply, type Script, type ToolUse } from './messages-api.ts';

/** `aside`: the reply to side calls, such as the one that asks for a title. */
export async function startModel(
  script: Script,
  aside: Reply = MESSAGES_API.aside,
): Promise<ModelServer<ModelRequest>> {
  const server = await serveModel<ModelRequest, Reply>({ ...MESSAGES_API, aside }, script);
  onTestFinished(() => server.close());
  return server;
}
