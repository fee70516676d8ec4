/** The real Codex as an editor drives it: its app server on stdio, one thread. */
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { spawnChild } from '../../support/children.ts';
import { type CodexRun, codexEnvironment, configureCodex } from './codex.ts';
import { trustHooks } from './codex-terminal.ts';

interface Reply {
  id?: number;
  method?: string;
  result?: { thread?: { id: string } };
  error?: { message: string };
}

export interface CodexApp {
  /** Sends a request about the thread, and resolves when it is answered. */
  ask(method: string, params?: object): Promise<void>;
}

export async function openCodexApp(run: CodexRun): Promise<CodexApp> {
  configureCodex(run);
  trustHooks(run);
  const child = spawnChild(run.clients.codex, ['app-server'], codexEnvironment(run));
  onTestFinished(async () => {
    child.process.stdin.end();
    await child.kill('SIGTERM');
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  createInterface({ input: child.process.stdout }).on('line', (line) => {
    const reply = JSON.parse(line) as Reply;
    if (reply.id !== undefined && reply.method === undefined) waiting.get(reply.id)?.(reply);
  });
  let ids = 0;
  const send = (message: object): void => void child.process.stdin.write(`${JSON.stringify(message)}\n`);
  async function request(method: string, params: object): Promise<Reply> {
    ids += 1;
    const id = ids;
    const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const reply = await replied;
    if (reply.error !== undefined) throw new Error(`${method}: ${reply.error.message}`);
    return reply;
  }
  await request('initialize', { clientInfo: { name: 'test', title: 'test', version: '1' } });
  send({ method: 'initialized' });
  const { result } = await request('thread/start', { cwd: run.folder });
  const threadId = result?.thread?.id;
  return {
    async ask(method, params = {}) {
      await request(method, { threadId, ...params });
    },
  };
}
