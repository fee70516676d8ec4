// Asks for an agent's permissions at your desk, or in this terminal if no desk is open.
//
//     node agent-sdk-permissions.mjs "Write the date into date.txt."
import { createInterface } from 'node:readline/promises';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { hiveCanUseTool, hiveHooks, openAgentHive } from 'hive-sidecar/agent-sdk';

/** Asks in this terminal if nobody answers at the desk. */
async function askHere(tool, input) {
  if (!process.stdin.isTTY) return { behavior: 'deny', message: 'Nobody was there to permit this.' };
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const said = await terminal.question(`${tool} ${JSON.stringify(input)}: allow? (yes/no) `);
  terminal.close();
  return said === 'yes'
    ? { behavior: 'allow', updatedInput: input }
    : { behavior: 'deny', message: `The human said: ${said}` };
}

const hive = await openAgentHive();
try {
  const run = query({
    prompt: process.argv[2] ?? 'Write the date into date.txt.',
    options: { hooks: hiveHooks(hive), canUseTool: hiveCanUseTool(hive, askHere) },
  });
  for await (const message of run) {
    if (message.type === 'result') console.log(message.result ?? message.subtype);
  }
} finally {
  await hive.close();
}
