/**
 * One of several processes that work on one store: `agent` plays turns and tools as a client's hooks report them,
 * `asker` asks for interrupts and prints each answer it gets. Both draw their steps from a seed.
 */

import { parseEvent } from '../../../src/adapters/hooks/hook.ts';
import { HiveError } from '../../../src/domain/errors.ts';
import { WHEN_TURN_ABORTED } from '../../../src/domain/prompts.ts';
import type { OpenedHive } from '../../../src/open-hive.ts';
import { openHive } from '../../../src/open-hive.ts';
import { moment } from '../../support/wait.ts';

const [role = '', seed = '1', steps = '40'] = process.argv.slice(2);
const SESSIONS = ['one', 'two'];

/** mulberry32: small, and the same everywhere. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = generator(Number(seed));
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

async function fire(
  hive: OpenedHive,
  session_id: string,
  hook_event_name: string,
  fields: object,
): Promise<void> {
  const event = parseEvent(
    JSON.stringify({ session_id, hook_event_name, cwd: '/', ...fields }),
    {},
    'claude-code',
  );
  await hive.hooks.handle(event, {
    env: {},
    machine: 'test',
    pid: process.pid,
    findProject: () => ({ project: 'demo', project_dir: '/demo', branch: null }),
    readTail: () => null,
  });
}

async function playAgent(hive: OpenedHive): Promise<void> {
  // Another life of the same agent must not use a prompt_id again.
  const life = `${process.pid}-${Date.now()}`;
  const prompts = new Map<string, number>();
  for (const session_id of SESSIONS) await fire(hive, session_id, 'SessionStart', { source: 'resume' });
  for (let n = 0; n < Number(steps); n += 1) {
    const session_id = pick(SESSIONS);
    const count = prompts.get(session_id) ?? 0;
    const prompt_id = `${life}-${count}`;
    const tool = { prompt_id, tool_name: 'Bash', tool_input: {}, tool_use_id: `${life}-t${n}` };
    const step = pick(['prompt', 'prompt', 'tool', 'tool', 'tool', 'ask', 'ask', 'stop', 'replace', 'end']);
    if (step === 'prompt') {
      prompts.set(session_id, count + 1);
      await fire(hive, session_id, 'UserPromptSubmit', { prompt_id: `${life}-${count + 1}`, prompt: 'go' });
    } else if (step === 'tool') {
      await fire(hive, session_id, 'PreToolUse', tool);
      await fire(hive, session_id, 'PostToolUse', tool);
    } else if (step === 'ask') {
      const session = await hive.sessions.resolve(session_id);
      const when_turn_aborted = pick(WHEN_TURN_ABORTED);
      await hive.prompts.ask({ question: 'Go on?', when_turn_aborted }, session);
    } else if (step === 'stop') await fire(hive, session_id, 'Stop', { prompt_id });
    else if (step === 'replace') await hive.turns.start({ session_id });
    else if (random() < 0.3) await fire(hive, session_id, 'SessionEnd', { prompt_id, reason: 'other' });
    await moment(random() * 8);
  }
}

async function playAsker(hive: OpenedHive): Promise<void> {
  const replies: Promise<void>[] = [];
  for (let n = 0; n < Number(steps); n += 1) {
    const session = pick(SESSIONS);
    const current = await hive.turns.current(session);
    const turn_id = random() < 0.5 ? current?.turn_id : undefined;
    const timeout_ms = pick([0, 20, 60_000]);
    const actor = { kind: 'human', by: `asker-${seed}`, via: 'emacs', confirmed: true } as const;
    const reply = hive.interrupts.interrupt({ session, turn_id, timeout_ms, actor }).then(
      (outcome) => outcome as object,
      (error: unknown) => ({ error: error instanceof HiveError ? error.code : String(error) }),
    );
    replies.push(
      reply.then((answer) => {
        process.stdout.write(`${JSON.stringify({ n, asked: turn_id ?? null, timeout_ms, ...answer })}\n`);
      }),
    );
    await moment(random() * 12);
  }
  process.stderr.write('asked\n');
  await Promise.all(replies);
}

// Many processes on a busy machine wait for each other longer than a person would: speed is not tested here.
const hive = await openHive({ busy_ms: 60_000 });
await (role === 'agent' ? playAgent(hive) : playAsker(hive));
await hive.close();
