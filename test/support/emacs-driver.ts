/** An Emacs in batch mode with hive-mode and a real sidecar, which evaluates what a test writes to it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment, type Environment, HIVE, ROOT } from './children.ts';
import { lisp } from './emacs.ts';
import { whenFinished } from './lifetime.ts';
import { lispFolder } from './lisp.ts';
import { paddedPid } from './run-folder.ts';

export const STAND_INS: string = join(ROOT, 'test/emacs/editors');

export interface DrivenEmacs {
  // biome-ignore lint/suspicious/noExplicitAny: values of many shapes, and the assertions say which
  eval(form: string): Promise<any>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** The process of its sidecar. */
  sidecar(): Promise<number>;
}

const REPLY = 'driver: ';

/** `path`: folders with more libraries. */
export async function driveEmacs(
  store: string,
  {
    env = {},
    path = [STAND_INS],
    program = 'emacs',
  }: { env?: Environment; path?: readonly string[]; program?: string } = {},
): Promise<DrivenEmacs> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${paddedPid()}-driven-`));
  const command = `(list ${[process.execPath, HIVE, 'sidecar'].map(lisp).join(' ')})`;
  const outbox = join(folder, 'outbox');
  const settings = `(setq hive-sidecar-command ${command} hive-outbox-directory ${lisp(outbox)}
    hive-outbox-key-file ${lisp(`${outbox}.key`)} hive-user-name "Ada" hive-undo-seconds 0)`;
  const loads = [lispFolder(), ...path].flatMap((one) => ['-L', one]);
  const driver = join(STAND_INS, 'driver.el');
  const args = ['-Q', '--batch', ...loads, '-l', driver, '--eval', settings, '-f', 'driver-run'];
  const emacs = spawn(program, args, { env: childEnvironment(store, { TMPDIR: folder, ...env }) });
  // One that has ended says so in its replies.
  emacs.stdin.on('error', () => undefined);
  let said = '';
  emacs.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const waiting: ((reply: string) => void)[] = [];
  createInterface({ input: emacs.stdout }).on('line', (line) => {
    if (line.includes(REPLY)) waiting.shift()?.(line.slice(line.indexOf(REPLY) + REPLY.length));
  });
  const ended = new Promise<void>((resolve) => emacs.once('close', () => resolve()));
  void ended.then(() => {
    for (const settle of waiting.splice(0)) settle(JSON.stringify({ error: `Emacs has ended: ${said}` }));
  });
  whenFinished(async () => {
    emacs.stdin.end();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  const driven: DrivenEmacs = {
    async eval(form) {
      const reply = new Promise<string>((resolve) => waiting.push(resolve));
      emacs.stdin.write(`${form.replaceAll(/\s*\n\s*/g, ' ')}\n`);
      const { value, error } = JSON.parse(await reply);
      if (error !== undefined) throw new Error(`${error} in ${form}; ${said}`);
      return value;
    },
    async kill(signal) {
      emacs.kill(signal);
      await ended;
    },
    sidecar: () => driven.eval('(process-id (jsonrpc--process hive-rpc-connection))'),
  };
  return driven;
}
