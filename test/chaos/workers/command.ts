/** One command or hook: started, given its input, and waited for, as a shell or a client does. */
import { lost } from '../failures.ts';
import type { Environment, Host, Installation } from '../installation.ts';

/** A client kills what takes longer. */
const LIMIT_MS = 12_000;

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** @throws Failure `lost` when it was killed, by the nemesis or for being silent too long. */
export async function run(
  installation: Installation,
  worker: string,
  args: readonly string[],
  { env = {}, input = '', host = null }: { env?: Environment; input?: string; host?: Host } = {},
): Promise<Ended> {
  const { child, pid, exited, stderr } = await installation.start(worker, args, { env, host });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stdin.end(input);
  const timer = setTimeout(() => installation.kill(pid), LIMIT_MS);
  const code = await exited;
  clearTimeout(timer);
  if (code === null && out === '') throw lost(`hive ${args[0]} was killed`);
  return { code, out, err: stderr() };
}
