// An agent that you can stop from Emacs or with `hive interrupt`, whatever it is doing.
//
//     node agent-sdk-interrupt.mjs "Count to a thousand, slowly, in the shell."
import { query } from '@anthropic-ai/claude-agent-sdk';
import { hiveHooks, onInterrupt, openAgentHive } from 'hive-sidecar/agent-sdk';

const hive = await openAgentHive();
let finish;
const finished = new Promise((resolve) => {
  finish = resolve;
});

/** The SDK accepts an interrupt only while more messages may come. */
async function* messages() {
  const content = process.argv[2] ?? 'Count to a thousand, slowly, in the shell.';
  yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
  await finished;
}

const run = query({ prompt: messages(), options: { hooks: hiveHooks(hive), allowedTools: ['Bash'] } });
let stopped = false;
const stopListening = onInterrupt(hive, run, ({ by, note }) => {
  stopped = true;
  console.log(`Stopped by ${by}${note === null ? '' : `: ${note}`}`);
  finish();
});
try {
  for await (const message of run) {
    if (message.type !== 'result') continue;
    if (!message.is_error) console.log(message.result);
    finish();
  }
} catch (error) {
  // The SDK reports an interrupted run as a failed one.
  await new Promise((resolve) => setTimeout(resolve, 500));
  if (!stopped) throw error;
} finally {
  stopListening();
  await hive.close();
}
