/** `hive COMMAND` as a shell runs it, with its output and exit code. */
import { type Child, childEnvironment, type Environment, HIVE, spawnChild, spawnHive } from './children.ts';

export interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** What it printed, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: replies are of many shapes, and the assertions say which
  json(): any;
}

/** A shell with one store. Its environment is a person's, unless `env` makes it an agent's. */
export interface Shell {
  hive(...args: string[]): Promise<Ran>;
  /** Started and not waited for. */
  start(...args: string[]): Started;
  /** The same in a terminal, where `typed` is typed once `prompt` has appeared. */
  terminal(args: string[], prompt: string, typed: string): Promise<Ran>;
  as(env: Environment): Shell;
}

export interface Started {
  child: Child;
  done: Promise<Ran>;
  out(): string;
}

export function shell(store: string, env: Environment = {}): Shell {
  const start = (...args: string[]): Started => follow(spawnHive(args, childEnvironment(store, env)));
  return {
    start,
    async hive(...args) {
      const started = start(...args);
      started.child.process.stdin.end();
      return started.done;
    },
    async terminal(args, prompt, typed) {
      const command = [process.execPath, HIVE, ...args].map((word) => `'${word}'`).join(' ');
      const line = ['-qec', command, '/dev/null'];
      const started = follow(spawnChild('script', line, childEnvironment(store, { TERM: 'dumb', ...env })));
      started.child.process.stdout.on('data', () => {
        if (started.out().includes(prompt)) started.child.process.stdin.end(`${typed}\n`);
      });
      return started.done;
    },
    as: (more) => shell(store, { ...env, ...more }),
  };
}

function follow(child: Child): Started {
  let out = '';
  child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const done = child.exited.then(({ code }) => ({
    code,
    out,
    err: child.stderr(),
    json: () => JSON.parse(out),
  }));
  return { child, done, out: () => out };
}
