/**
 * Runs commands of `hive`, one after another, in a process that has loaded the program once: starting one is nine tenths of
 * what a command costs. A command gets what its own process would give it: arguments, environment, output and exit code.
 */
import '../../../src/cli/stdout-is-the-wire.ts';
import { join } from 'node:path';
import { main } from '../../../src/cli/main.ts';

interface Order {
  args: string[];
  env: Record<string, string>;
}

// This file runs as a bundle, so its own folder says nothing.
const HIVE = join(process.env['HIVE_TEST_ROOT'] ?? '', 'bin/hive');

/** Ends what the command has attached to the process. */
function detach(): void {
  process.stdout.removeAllListeners('error');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
}

async function run({ args, env }: Order): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const collect = (to: 'out' | 'err') => (text: unknown) => {
    said[to] += String(text);
    return true;
  };
  // In place: what Node itself reads of the environment, such as the home, follows it only so.
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(env['HOME'] ?? '/');
  process.argv = [process.execPath, HIVE, ...args];
  process.exitCode = undefined;
  process.stdout.write = collect('out');
  process.stderr.write = collect('err');
  try {
    await main();
  } catch (error) {
    said.err += `${(error as Error).stack}\n`;
    process.exitCode = 1;
  }
  detach();
  return { code: Number(process.exitCode ?? 0), ...said };
}

process.on('message', async (order: Order) => {
  process.send?.(await run(order));
});
process.once('disconnect', () => process.exit());
