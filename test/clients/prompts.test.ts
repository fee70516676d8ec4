/** Client suite 1: the real client asks, works on, and the answer arrives. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, untilPending } from '../support/hive.ts';
import { CLIENTS } from './support/both.ts';
import { HOOK_WAY } from './support/claude.ts';
import { openWorld } from './support/world.ts';

const ASK = {
  calls: [{ hive: 'hivemind_ask_async', input: { question: 'Red or blue?', options: ['red', 'blue'] } }],
};
const WORK = { calls: [{ shell: 'echo worked on' }] };
const DONE = { text: 'done' };

async function respond(hive: OpenedHive, decision: string, comment?: string): Promise<string> {
  const [{ ask_id } = expect.fail()] = await untilPending(hive);
  await hive.prompts.respond({ ask_id, decision, comment, actor: HUMAN });
  return ask_id;
}

describe.each(CLIENTS)('an answer to $name', ({ name, run }) => {
  test('is carried in by the next hook, with no poll; one that a poll has returned comes by nothing else', async () => {
    const world = await openWorld();
    const { hive } = world;
    const { session_id, told, everything } = await run(world, async (step) => {
      switch (step) {
        case 1:
        case 3:
          return ASK;
        case 2:
          await respond(hive, 'blue');
          return WORK;
        case 4: {
          const ask_id = await respond(hive, 'red', 'like the logo');
          return { calls: [{ hive: 'hivemind_poll', input: { ask_id } }] };
        }
        default:
          return step === 5 ? WORK : DONE;
      }
    });
    expect(told[2]).toContain('worked on');
    expect(told[2]).toMatch(/Answer to ask-.*blue\. By ada via emacs/);
    expect(told[4]).toContain('"decision":"red"');
    expect(told[4]).toContain('like the logo');
    // Undisturbed exactly once, and proved: what follows shows that the model went on.
    expect(everything.match(/Answer to ask-/g)).toHaveLength(1);
    const [polled, carried] = (await hive.prompts.list({ limit: 10 })).items;
    expect(carried).toMatchObject({ session_id, status: 'responded', decision: 'blue' });
    expect(carried?.agent).toMatch(name === 'Codex' ? /^Codex-/ : /^Claude-/);
    expect(polled?.carrier).toMatch(/^mcp:/);
    for (const prompt of [polled, carried]) {
      expect(prompt?.handed_at).toEqual(expect.any(String));
      expect(prompt?.collected_at).toEqual(expect.any(String));
    }
  });

  test('is not lost when the MCP child was killed in between: a hook of its own carries it, or it waits for the next message', async () => {
    const world = await openWorld();
    const { hive } = world;
    const { session_id, everything } = await run(world, async (step) => {
      if (step === 1) return ASK;
      if (step > 2) return DONE;
      const [connection] = await hive.store.read((tx) => tx.sessions.connections(hostname()));
      process.kill(connection?.pid ?? 0, 'SIGKILL');
      await respond(hive, 'blue');
      return WORK;
    });
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ session_id, decision: 'blue' });
    const notices = await hive.notices.list(10);
    if (name === 'Claude Code' || HOOK_WAY === 'process') {
      // The next hook of Claude Code carries it either way, and that of Codex where it is a process.
      expect(everything).toMatch(/Answer to ask-.*blue/);
      expect(prompt?.collected_at).toEqual(expect.any(String));
    } else {
      // Each Stop named the call that fetches it, which nobody could make.
      expect(everything).toContain('An answer is waiting: call hivemind_poll');
      expect(prompt?.collected_at).toBeNull();
      expect(notices.map(({ data }) => data['text']).join('\n')).toMatch(
        /stopped without fetching what became of ask-\w+ although it was held 3 times\. It comes with its next message/,
      );
    }
    // Its human is told once that hooks may not have run.
    const lost = notices.filter(({ data }) => data['notice'] === 'server_lost');
    expect(lost).toMatchObject([{ session_id: prompt?.session_id }]);
  });
});
