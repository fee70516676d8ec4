/** A recorded run: real processes over a folder of their own, and what they acknowledged when. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { type Environment, type Installation, openInstallation } from '../chaos/installation.ts';
import { type McpLine, mcpLine } from '../chaos/workers/mcp.ts';
import { buildRecorder } from './recorder.ts';

/** A fact that somebody was told. Those of the kinds `tried` and `began` promise nothing. */
export type Fact =
  | { did: 'made' }
  | { did: 'asked'; ask_id: string; question: string }
  | { did: 'answered'; ask_id: string; decision: string }
  | { did: 'cancelled'; ask_id: string }
  | { did: 'posted'; message_id: string }
  | { did: 'saw'; seq: number }
  | { did: 'pruned'; ask_ids: readonly string[] }
  | { did: 'copied' }
  | { did: 'queued'; decision: string }
  | { did: 'installed' }
  | { did: 'token'; secret: string }
  | { did: 'tried'; text: string };

/** `at`: how long the trace was, in bytes, when it was known: everything before had happened. */
export interface Told {
  at: number;
  fact: Fact;
  /** A program has printed this when it told the fact. */
  printed?: string | undefined;
}

export interface World {
  installation: Installation;
  /** The recorded folder. */
  disk: string;
  store: string;
  /** The program itself, `bin/hive`. */
  program: string;
  /** `printed`: what a recorded program prints when it tells the fact. */
  tell(fact: Fact, printed?: string): void;
  /** `hive ARGS…` as a person's shell runs it. @throws Error if it fails, unless it was to be killed. */
  hive(args: readonly string[], options?: RunOptions): Promise<string>;
  agent(name: string, env?: Environment): McpLine;
  desk(): Promise<DeskLine>;
  /** Notes every number of an event that `hive store log --follow` shows. */
  follow(): Promise<Follower>;
  /** Any other program, recorded. */
  run(program: string, args: readonly string[], env?: Environment): Promise<string>;
  trace(): Buffer;
  close(): Promise<void>;
}

export interface RunOptions {
  env?: Environment;
  input?: string;
  /** After how many recorded calls it dies. */
  kill_after?: number;
}

export interface Follower {
  /** Resolves when it has shown an event with all of these words. */
  shows(...words: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export interface DeskLine {
  // biome-ignore lint/suspicious/noExplicitAny: replies are of many shapes
  request(method: string, params: object): Promise<any>;
  end(): Promise<void>;
}

/** A call that takes longer hangs. Recording on a busy machine is slow. */
const PATIENCE_MS = 120_000;

export interface WorldOptions {
  /** An empty folder; the caller removes it. */
  folder: string;
  /** The address of a store that is not a file below `folder`. */
  address?: string;
}

export interface RecordedWorld extends World {
  /** From here on everything is recorded. */
  record(): void;
  readonly told: readonly Told[];
}

export function openWorld({ folder, address }: WorldOptions): RecordedWorld {
  const disk = join(folder, 'disk');
  const store = join(disk, 'state', 'hive.db');
  const file = join(folder, 'trace');
  mkdirSync(disk, { recursive: true, mode: 0o700 });
  const recorder = buildRecorder(folder);
  const installation = openInstallation({ folder, store: address ?? store, sabotage: null });
  const told: Told[] = [];
  let recorded: Environment = {};
  let number = 0;

  const length = (): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const environment = (env: Environment, kill_after?: number): Environment => ({
    ...recorded,
    ...(kill_after === undefined ? {} : { HIVE_RECORD_KILL: String(kill_after) }),
    ...env,
  });
  const name = (what: string): string => {
    number += 1;
    return `${what}-${number}`;
  };

  async function hive(
    args: readonly string[],
    { env = {}, input = '', kill_after }: RunOptions = {},
  ): Promise<string> {
    const running = await installation.start(name('shell'), args, { env: environment(env, kill_after) });
    let out = '';
    running.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    running.child.stdin.end(input);
    const code = await running.exited;
    const killed = kill_after !== undefined && code === null;
    if (code !== 0 && !killed)
      throw new Error(`hive ${args.join(' ')} ended with ${code}: ${running.stderr()}${out}`);
    return out;
  }

  return {
    installation,
    disk,
    store,
    program: join(folder, 'program/bin/hive'),
    told,
    tell: (fact, printed) => void told.push({ at: length(), fact, printed }),
    record() {
      recorded = { LD_PRELOAD: recorder, HIVE_RECORD_ROOT: disk, HIVE_RECORD_TRACE: file };
    },
    hive,
    agent: (agent, env = {}) =>
      mcpLine(installation, name(agent), [], { HIVE_AGENT: agent, ...environment(env) }, PATIENCE_MS),
    async desk() {
      const running = await installation.start(name('desk'), ['sidecar'], { env: environment({}) });
      const { stdin, stdout } = running.child;
      const connection = createMessageConnection(
        new StreamMessageReader(stdout),
        new StreamMessageWriter(stdin),
      );
      connection.onUnhandledNotification(() => undefined);
      connection.onError(() => undefined);
      connection.listen();
      await connection.sendRequest('initialize', {
        protocol_version: 1,
        client: { name: 'powerloss', version: '1' },
        human: 'Ada',
      });
      await connection.sendNotification('initialized', {});
      return {
        request: (method, params) => connection.sendRequest(method, params),
        async end() {
          connection.dispose();
          stdin.end();
          await running.exited;
        },
      };
    },
    async follow() {
      const command = ['store', 'log', '--follow', '--json', '--after', '0'];
      const running = await installation.start(name('log'), command, { env: environment({}) });
      let rest = '';
      const shown: string[] = [];
      const waiting = new Set<() => void>();
      running.child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        shown.push(...lines);
        for (const look of [...waiting]) look();
        for (const line of lines) {
          const { seq } = JSON.parse(line) as { seq?: number };
          if (seq !== undefined) told.push({ at: length(), fact: { did: 'saw', seq }, printed: line });
        }
      });
      return {
        shows: (...words) =>
          new Promise((resolve) => {
            const look = (): void => {
              if (!shown.some((line) => words.every((word) => line.includes(word)))) return;
              waiting.delete(look);
              resolve();
            };
            waiting.add(look);
            look();
          }),
        async stop() {
          running.child.kill('SIGTERM');
          await running.exited;
        },
      };
    },
    async run(program, args, env = {}) {
      const child = spawn(program, args, {
        env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...environment(env) },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          out += text;
          for (const line of text.split('\n')) {
            const [, decision] = /^queued (.+)$/.exec(line) ?? [];
            if (decision !== undefined) told.push({ at: length(), fact: { did: 'queued', decision } });
          }
        });
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      if (code !== 0) throw new Error(`${program} ended with ${code}: ${out}`);
      return out;
    },
    trace: () => (length() === 0 ? Buffer.alloc(0) : readFileSync(file)),
    close: () => installation.clear(),
  };
}
