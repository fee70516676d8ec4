// An agent of the Claude Agent SDK that asks its human through Hive and keeps working. Mentions hold its tool
// calls, and answers arrive with the results of its tools.
//
//     npm install hive-sidecar @anthropic-ai/claude-agent-sdk
//     node agent-sdk-hooks.mjs "Ask me which color I like, then list the files here."
import { query } from '@anthropic-ai/claude-agent-sdk';
import { hiveCanUseTool, hiveHooks, hiveServer, openAgentHive } from 'hive-sidecar/agent-sdk';

const hive = await openAgentHive();
try {
  const run = query({
    prompt: process.argv[2] ?? 'Ask me something with hivemind_ask_async.',
    options: {
      hooks: hiveHooks(hive),
      mcpServers: { hive: hiveServer(hive) },
      canUseTool: hiveCanUseTool(hive),
      allowedTools: ['Bash'],
    },
  });
  for await (const message of run) {
    if (message.type === 'result') console.log(message.result ?? message.subtype);
  }
} finally {
  await hive.close();
}
