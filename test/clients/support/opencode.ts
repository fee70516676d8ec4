/** The real server of opencode, against a scripted model; a client of it is the test itself, over HTTP. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Child, childEnvironment, spawnChild } from '../../support/children.ts';
import { tempHome, tempStore } from '../../support/temp.ts';
import { eventually } from '../../support/wait.ts';
import { LOOPBACK_ONLY, type World } from './world.ts';

const { opencode } = inject('editorAgents');

interface OpencodeRun extends Omit<World, 'hive'> {
  model: { url: string };
}

export interface OpencodeServe {
  url: string;
  child: Child;
  /** The project in this folder. */
  project(folder: string): OpencodeProject;
}

/** A server holds several projects at once: each has its own configuration, sessions and requests. */
export interface OpencodeProject {
  /** Begins a session. */
  session(): Promise<string>;
  /** Sends a prompt, which its turn answers later. */
  say(session: string, text: string): Promise<void>;
  get(path: string): Promise<unknown>;
  post(path: string, body?: object): Promise<{ status: number; body: unknown }>;
}

export function opencodeEnvironment({
  store,
  folder,
}: Pick<OpencodeRun, 'store' | 'folder'>): Record<string, string> {
  return childEnvironment(store, {
    HOME: folder,
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    ...LOOPBACK_ONLY,
  });
}

/** Writes the configuration of the project: a provider on loopback that speaks the Messages API. */
export function configureOpencode({ folder, model }: OpencodeRun): void {
  const provider = {
    npm: '@ai-sdk/anthropic',
    name: 'Fake',
    options: { baseURL: `${model.url}/v1`, apiKey: 'fake' },
    models: {
      'claude-fake': { name: 'Fake', tool_call: true, limit: { context: 200_000, output: 8_000 } },
    },
  };
  writeFileSync(
    join(folder, 'opencode.json'),
    JSON.stringify({
      provider: { fake: provider },
      model: 'fake/claude-fake',
      small_model: 'fake/claude-fake',
      permission: { bash: 'ask', edit: 'ask' },
      autoupdate: false,
      share: 'disabled',
    }),
  );
}

/** Starts a server in this folder, its home. That costs more than several turns of an agent. */
export async function serveOpencode(folder: string = tempHome()): Promise<OpencodeServe> {
  const child = spawnChild(
    opencode,
    ['serve', '--hostname', '127.0.0.1', '--port', '0'],
    opencodeEnvironment({ store: tempStore(), folder }),
  );
  let said = '';
  child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const address = (): string | undefined => /listening on (http:\S+)/.exec(said)?.[1];
  await eventually(() => address() !== undefined, undefined, 'the server of opencode');
  const url = address() ?? '';
  return { url, child, project: (folder) => projectAt(url, folder) };
}

function projectAt(url: string, folder: string): OpencodeProject {
  const at = (path: string): string => `${url}${path}?directory=${encodeURIComponent(folder)}`;
  const post = async (path: string, body?: object): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(at(path), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    post,
    async session() {
      return ((await post('/session', {})).body as { id: string }).id;
    },
    async say(session, text) {
      await post(`/session/${session}/prompt_async`, { parts: [{ type: 'text', text }] });
    },
    get: async (path) => (await fetch(at(path))).json(),
  };
}
