/**
 * The human's side of rows/answer.ts, a process of its own as a sidecar is: answers each prompt whose ask_id comes
 * on stdin with "yes", and prints when it began to and when that was committed, as `process.hrtime` has it. The store
 * is HIVE_STORE.
 */
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { openHive } from '../../src/open-hive.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;

/** The time of the first commit since `began`. */
let committed = 0n;
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  exec.call(this, sql);
  if (sql === 'COMMIT' && committed === 0n) committed = process.hrtime.bigint();
};

const hive = await openHive();
process.stdout.write('ready\n');
for await (const ask_id of createInterface({ input: process.stdin })) {
  committed = 0n;
  const began = process.hrtime.bigint();
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  process.stdout.write(`${began} ${committed}\n`);
}
await hive.close();
