/** Waking: how long after an answer the hook that waits beside an idle session ends with exit code 2. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { introduction } from '../../test/support/introduction.ts';
import { type Environment, environment, HIVE, start, storeIn, tempFolder } from '../children.ts';
import { type Family, interleave } from '../harness.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
const SESSION = '5e551000-0000-4000-8000-000000000004';
/** As recorded from Claude Code; a waiter uses only its session. */
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, '../pre-tool-use.json'), 'utf8'),
) as object;

export const wake: Family = {
  name: 'wake',
  rows: ['answer → waker exit 2'],
  async measure(effort) {
    const folder = tempFolder();
    const hive = await openHive({ store: storeIn(folder), env: {} });
    const session = await hive.sessions.introduce(
      introduction({ session_id: SESSION, project: 'project', project_dir: '/', machine: 'bench' }),
    );
    const env = environment(folder, { CLAUDE_CODE_SESSION_ATTENDED: '1' });
    const { woken } = await interleave(effort === 'full' ? 60 : 8, {
      woken: async () => {
        const { prompt } = await hive.prompts.ask({ question: 'Go on?' }, session);
        const exited = once(await startWaiter(hive, env), 'exit');
        const started = performance.now();
        await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
        const [code] = await exited;
        if (code !== 2) throw new Error(`the waiter ended with ${code}`);
        return performance.now() - started;
      },
    });
    await hive.close();
    return [
      {
        name: 'answer → waker exit 2',
        unit: 'ms',
        samples: woken,
        floor: null,
        target: { of: 'p50', at_most: 200 },
      },
    ];
  },
};

/** The time between a waiter's first entry in the store and its sleep. */
const FALLS_ASLEEP_MS = 150;

/** Starts a waiter and returns it once it sleeps. */
async function startWaiter(hive: OpenedHive, env: Environment): Promise<ChildProcess> {
  const waiter = () => hive.store.read(async (tx) => (await tx.wakers.get(SESSION))?.waker_id);
  const before = await waiter();
  const child = start(process.execPath, [HIVE, 'hook', '--client', 'claude-code', '--wake'], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin?.end(JSON.stringify({ ...recorded, session_id: SESSION, hook_event_name: 'Stop' }));
  while ((await waiter()) === before) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, FALLS_ASLEEP_MS));
  return child;
}
