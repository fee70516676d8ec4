// The floor of a wake-up: watches one file and prints when it was woken, by the clock that all processes share.
import { watch } from 'node:fs';

watch(process.argv[2], () => {
  const woken = process.hrtime.bigint();
  process.stdout.write(`${woken}\n`);
});
process.stdin.once('end', () => process.exit(0)).resume();
process.stdout.write('watching\n');
