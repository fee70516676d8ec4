// A program that asks before it deploys. You can stop and restart it: it asks only once, and still gets its answer.
//
//     npm install hive-sidecar
//     node library.mjs 1.4.2
import { openHive } from 'hive-sidecar';

const version = process.argv[2] ?? '1.4.2';
const hive = await openHive({ agent: 'deployer' });
const { promise: settled, resolve } = Promise.withResolvers();
const { prompt, existing } = await hive.prompts.ask(
  {
    question: `Deploy ${version}?`,
    options: ['yes', 'no'],
    timeout_ms: 24 * 60 * 60 * 1000,
    idempotency_key: `deploy-${version}`,
  },
  { onResponse: resolve },
);
console.log(`${existing ? 'Asked before' : 'Asked'}: ${prompt.ask_id}`);

const { status, decision, by } = await settled;
if (decision === 'yes') console.log(`Deploying ${version}, says ${by}.`);
else console.log(`Not deployed: ${status === 'responded' ? `${by} says ${decision}` : status}.`);
await hive.close();
