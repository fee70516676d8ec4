/** An idle Claude Code is woken by an answer, in its terminal and in the background. */
import { expect, test } from 'vitest';
import { HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { endDaemon } from './support/claude-terminal.ts';
import { expectNoFurtherTurn, idle, idleInBackground } from './support/idle-claude.ts';

test('an answer wakes it, says what to call, and comes as the result of that call', async () => {
  const { hive, model, claude, ask_id } = await idle();
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  await eventually(() => model.requests.length === 3, 20_000);
  const woken = JSON.stringify(model.requests[2]?.messages.at(-1));
  expect(woken).toContain(`${ask_id} is answered: call hivemind_poll`);
  expect(woken).not.toContain('blue');
  await claude.until(/reply 4/);
  expect(model.everything().replaceAll('\\', '')).toContain('"decision":"blue"');
  await expectNoFurtherTurn(claude, 4);
  const { collected_at, carrier } = await hive.prompts.get(ask_id);
  expect(collected_at).toEqual(expect.any(String));
  expect(carrier).toMatch(/^mcp:/);
});

test('an answer wakes one that was started with claude --bg, which counts as a background session', async () => {
  const { hive, model, ask_id } = await idleInBackground();
  expect(await hive.prompts.get(ask_id)).toMatchObject({ source: 'bg' });
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  await eventually(() => model.everything().replaceAll('\\', '').includes('"decision":"blue"'), 20_000);
  expect(JSON.stringify(model.requests[2]?.messages.at(-1))).toContain(
    `${ask_id} is answered: call hivemind_poll`,
  );
});

test('an answer wakes one that /bg has taken from its terminal: the session there continues the one that asked', async () => {
  const { hive, model, claude, ask_id } = await idle();
  const { session_id } = await hive.prompts.get(ask_id);
  endDaemon();
  await claude.say('/bg');
  // The end of the first session and the start of the second are reported in either order.
  const next = async () => hive.sessions.find((await hive.prompts.get(ask_id)).session_id);
  await eventually(async () => {
    const session = await next();
    return session?.continues === session_id && session.pid !== null;
  }, 20_000);
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  await eventually(() => model.everything().replaceAll('\\', '').includes('"decision":"blue"'), 20_000);
  expect(await next()).toMatchObject({ source: 'bg' });
  expect(await hive.sessions.list({ state: 'alive' })).toHaveLength(1);
});
