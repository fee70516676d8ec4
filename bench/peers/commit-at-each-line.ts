/** The common part of the committers: how they get commands, and report times. */
import { createInterface } from 'node:readline';

/** Each line on stdin is a time in milliseconds to commit for; the answer is a JSON array of what each commit took. */
export async function commitAtEachLine(commit: () => Promise<unknown>): Promise<void> {
  process.stdout.write('ready\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const until = performance.now() + Number(line);
    const took: number[] = [];
    for (let now = performance.now(); now < until; ) {
      await commit();
      const ended = performance.now();
      took.push(Number((ended - now).toFixed(3)));
      now = ended;
    }
    process.stdout.write(`${JSON.stringify(took)}\n`);
  }
}
