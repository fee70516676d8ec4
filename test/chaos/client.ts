/** The client process of an agent with hooks (`children/client.mjs`): starts processes below it and carries their streams. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough, type Readable, Writable } from 'node:stream';
import { lost } from './failures.ts';

const CLIENT = join(import.meta.dirname, 'children/client.mjs');

/** How a process is started. */
export interface Start {
  file: string;
  words: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
}

/** A started process, as much of `ChildProcess` as a run needs. */
export interface Started {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  kill(name: NodeJS.Signals): boolean;
}

export interface Client {
  /** The process that hooks call CLAUDE_PID. */
  readonly pid: number;
  readonly alive: boolean;
  /** @throws Failure `lost` when the client has ended; Error when the program cannot be started. */
  start(how: Start): Promise<{ child: Started; pid: number; exited: Promise<number | null> }>;
  /** kill -9; what runs below it is left to itself. Resolves when it is gone. */
  die(): Promise<void>;
  /** Ends it and what still runs below it; resolves when it is gone. */
  end(): Promise<void>;
}

/** A message of the client about one process. */
interface Said {
  id: number;
  pid?: number;
  output?: Uint8Array;
  error?: Uint8Array;
  failure?: string;
  /** Its exit code, null after a signal: it is gone and its streams have ended. */
  code?: number | null;
}

export function openClient(env: Readonly<Record<string, string>>): Client {
  const client = fork(CLIENT, [], { env, execArgv: [], serialization: 'advanced' });
  const listeners = new Map<number, (said: Said) => void>();
  let count = 0;
  const gone = new Promise<void>((resolve) => client.once('exit', () => resolve()));
  client.on('message', (said: Said) => listeners.get(said.id)?.(said));
  const tell = (message: Record<string, unknown>): void => {
    if (client.connected) client.send(message, () => undefined);
  };

  return {
    pid: client.pid ?? 0,
    get alive() {
      return client.connected && client.signalCode === null;
    },
    async die() {
      client.kill('SIGKILL');
      await gone;
    },
    async start(how) {
      if (!client.connected) throw lost('the client has ended');
      count += 1;
      const id = count;
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const stdin = new Writable({
        write(chunk: Uint8Array, _encoding, done) {
          tell({ id, input: chunk });
          done();
        },
        final(done) {
          tell({ id, ends: true });
          done();
        },
      });
      const child: Started = {
        stdin,
        stdout,
        stderr,
        kill(signal) {
          tell({ id, signal });
          return true;
        },
      };
      const ended = Promise.withResolvers<number | null>();
      const begun = Promise.withResolvers<number>();
      void gone.then(() => {
        begun.reject(lost('the client has ended'));
        ended.resolve(null);
      });
      listeners.set(id, ({ pid, output, error, failure, code }) => {
        if (pid !== undefined) begun.resolve(pid);
        if (output !== undefined) stdout.write(output);
        if (error !== undefined) stderr.write(error);
        if (failure !== undefined) begun.reject(new Error(failure));
        if (code === undefined) return;
        listeners.delete(id);
        stderr.end();
        // A reader has read everything before it is told of the end, as with a pipe of its own.
        stdout.end();
        if (stdout.readableFlowing === true) stdout.once('end', () => ended.resolve(code));
        else ended.resolve(code);
      });
      tell({ id, start: how });
      return { child, pid: await begun.promise, exited: ended.promise };
    },
    async end() {
      if (client.connected) client.disconnect();
      await gone;
    },
  };
}
