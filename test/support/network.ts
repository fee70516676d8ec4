/** A simulated second machine: a network namespace behind its own link, which can be cut. */
import { execFileSync, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

export interface OtherMachine {
  /** The address of this process as seen from inside. */
  readonly address: string;
  /** The command prefix that runs a program inside. */
  wrap(program: string, args: readonly string[]): { program: string; args: string[] };
  cut(): void;
  mend(): void;
}

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'ignore', env: { PATH } });
}

/** Removed with its link when the test has finished. */
export function otherMachine(): OtherMachine {
  const name = `hive-test-${process.pid}`;
  const [here, there] = [`hv${process.pid}a`, `hv${process.pid}b`];
  // Four addresses of the benchmark range (RFC 2544), one block per process.
  const block = (process.pid % 16_000) * 4;
  const at = (n: number): string => `198.18.${(block + n) >> 8}.${(block + n) & 255}`;
  ip('netns', 'add', name);
  onTestFinished(() => {
    spawnSync('ip', ['link', 'del', here], { env: { PATH } });
    ip('netns', 'del', name);
  });
  ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there);
  ip('link', 'set', there, 'netns', name);
  ip('addr', 'add', `${at(1)}/30`, 'dev', here);
  ip('link', 'set', here, 'up');
  ip('-n', name, 'addr', 'add', `${at(2)}/30`, 'dev', there);
  ip('-n', name, 'link', 'set', there, 'up');
  ip('-n', name, 'link', 'set', 'lo', 'up');
  return {
    address: at(1),
    wrap: (program, args) => ({ program: '/usr/sbin/ip', args: ['netns', 'exec', name, program, ...args] }),
    cut: () => ip('link', 'set', here, 'down'),
    mend: () => ip('link', 'set', here, 'up'),
  };
}
