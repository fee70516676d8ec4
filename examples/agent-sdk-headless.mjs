// Runs an agent that need not stay alive while you think, and waits for its end. Kill this program whenever you like:
// started again with the id of the run, it goes on where the agent is.
//
//     node agent-sdk-headless.mjs "Write the date into date.txt."
//     node agent-sdk-headless.mjs --run run-01j9x3k7m2p4q5r6
import { openAgentHive, runHeadless, untilEnded } from 'hive-sidecar/agent-sdk';

const [first = 'Write the date into date.txt.', second] = process.argv.slice(2);
const hive = await openAgentHive();
try {
  let run_id = second;
  if (first !== '--run') {
    const run = await runHeadless(hive, {
      prompt: first,
      pathToClaudeCodeExecutable: process.env.CLAUDE ?? 'claude',
      patience_ms: Number(process.env.PATIENCE_MS ?? 60_000),
    });
    run_id = run.run_id;
    if (run.status === 'sleeping') console.log(`${run_id} sleeps until you answer ${run.waits_for}.`);
  }
  const { result, exit_code, problem } = await untilEnded(hive, run_id);
  console.log(problem ?? result ?? `The agent ended with ${exit_code}.`);
} finally {
  await hive.close();
}
