/** `hive COMMAND` as a shell runs it, with its output and exit code. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Child,
  childEnvironment,
  type Environment,
  HIVE,
  ROOT,
  readOutput,
  spawnHive,
} from './children.ts';
import { canRunInHost, runInHost } from './command-host.ts';
import { closedAtEnd } from './lifetime.ts';
import { tempFolder } from './temp.ts';
import { openTerminal } from './tmux.ts';
import { eventually } from './wait.ts';

export interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** Its output, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: replies are of many shapes, and the assertions say which
  json(): any;
}

/** A shell with one store. Its environment is a person's, unless `env` makes it an agent's. */
export interface Shell {
  /** Runs to its end, in a process that may have run others (command-host.ts): one of its own is `start`. */
  hive(...args: string[]): Promise<Ran>;
  /** Started as a process, and not waited for. */
  start(...args: string[]): Started;
  /** The same in a terminal, where each answer is typed once its question has appeared. */
  terminal(args: string[], question: string, answer: string, ...more: [string, string][]): Promise<Ran>;
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
      const own = childEnvironment(store, env);
      if (canRunInHost(args)) return ran(await runInHost(args, own, ROOT));
      const started = start(...args);
      started.child.process.stdin.end();
      return started.done;
    },
    async terminal(args, question, answer, ...more) {
      const command = [process.execPath, HIVE, ...args].map((word) => `'${word}'`).join(' ');
      const folder = tempFolder();
      const [out, code] = [join(folder, 'out'), join(folder, 'code')];
      // tmux shows Hive that somebody types here; script keeps what is printed exactly.
      const line = `tmux wait-for watched; (script -qec "${command}" /dev/null; echo $? >'${code}') | cat >'${out}'`;
      const terminal = closedAtEnd(
        await openTerminal(folder, childEnvironment(store, { TERM: 'dumb', ...env }), [
          ...['sh', '-c', `export TERM=dumb; ${line}`],
        ]),
      );
      await terminal.watch();
      const said = (): string => (existsSync(out) ? readFileSync(out, 'utf8') : '');
      const isOver = (): boolean => existsSync(code) && readFileSync(code, 'utf8').endsWith('\n');
      let read = 0;
      for (const [wanted, typed] of [[question, answer] as const, ...more]) {
        await eventually(() => isOver() || said().includes(wanted, read), 30_000, wanted);
        if (isOver()) break;
        read = said().indexOf(wanted, read) + wanted.length;
        await terminal.enter(typed);
      }
      await eventually(isOver, 30_000, 'the end of the command');
      await terminal.close();
      const text = said();
      return { code: Number(readFileSync(code, 'utf8')), out: text, err: '', json: () => JSON.parse(text) };
    },
    as: (more) => shell(store, { ...env, ...more }),
  };
}

function ran(ended: Omit<Ran, 'json'>): Ran {
  return { ...ended, json: () => JSON.parse(ended.out) };
}

function follow(child: Child): Started {
  const out = readOutput(child);
  const done = child.exited.then(({ code }) => ran({ code, out: out(), err: child.stderr() }));
  return { child, done, out };
}
