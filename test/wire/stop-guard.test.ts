/**
 * The Stop guard, over the recorded Stops of both clients: exactly what is printed, and that it ends.
 *
 * @module-tag guards-end
 * @module-tag hook
 */
import { describe, expect, test } from 'vitest';
import { mcpCarrier } from '../../src/application/delivery.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { eventsOf, HUMAN, noticesOf, openTestHive, prefer } from '../support/hive.ts';
import { type Client, fire, heldWith } from '../support/hooks.ts';
import { CLAUDE, CODEX, HEADLESS, mention, ping, recorded, report } from '../support/outreach.ts';

/** The two clients, as they run in the background, with what they send at the end of a turn. */
const CLIENTS = [
  {
    name: 'Claude Code',
    client: 'claude-code',
    session: CLAUDE,
    env: HEADLESS,
    stop: 'Stop',
    again: 'Stop-active',
    // Its model reads this without the words that it puts around the reason of a block.
    held: (text: string) => `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"${text}"}}`,
  },
  {
    name: 'Codex',
    client: 'codex',
    session: CODEX,
    env: { HIVE_SOURCE: 'bg' },
    stop: 'Stop-first',
    again: 'Stop-active',
    held: (text: string) => `{"decision":"block","reason":"${text}"}`,
  },
] as const;

const REASON =
  'You showed your human ping \\"Look\\" and have not reported it, so the session that you report to knows nothing about it. Before you stop, call hivemind_report_updates {\\"message\\": \\"what you found and did, and what is still open\\"}. Then stop.';

describe.each(CLIENTS)('$name', ({ client, session, env, stop, again, held }) => {
  const as: Client = { client, env };
  const start = async (): Promise<OpenedHive> => {
    const hive = await openTestHive();
    await fire(
      hive,
      recorded(client, client === 'codex' ? 'SessionStart-startup' : 'SessionStart-startup-headless'),
      as,
    );
    return hive;
  };
  const stops = (hive: OpenedHive, name: string = stop): Promise<string> =>
    fire(hive, recorded(client, name), as);

  test('a session without output stops, and nothing is printed', async () => {
    expect(await stops(await start())).toBe('');
  });

  test('unreported output holds it, with exactly these bytes', async () => {
    const hive = await start();
    await ping(hive, session);
    expect(await stops(hive)).toBe(held(REASON));
  });

  test('a report clears it; a later ping needs another', async () => {
    const hive = await start();
    await ping(hive, session);
    expect(await stops(hive)).not.toBe('');
    await report(hive, session);
    expect(await stops(hive, again)).toBe('');
    await ping(hive, session);
    expect(heldWith(await stops(hive, again))).toContain('have not reported it');
  });

  test('a model that ignores it fifty times may stop after three holds, and the human is told what was not reported', async () => {
    const hive = await start();
    await ping(hive, session);
    const printed = [await stops(hive)];
    for (let n = 1; n < 50; n += 1) printed.push(await stops(hive, again));
    expect(printed.filter((text) => text !== '')).toHaveLength(3);
    expect(printed.slice(3).every((text) => text === '')).toBe(true);
    const { title } = await hive.sessions.resolve(session);
    expect(await noticesOf(hive)).toEqual([
      `[bg] ${title} stopped with unreported output although it was held 3 times: ping "Look".`,
    ]);
    const guarded = await eventsOf(hive, 'stop/guarded');
    expect(guarded.map(({ data }) => data['change'])).toEqual(['held', 'held', 'held', 'let_go']);
    expect(guarded[1]?.data).toMatchObject({ blocks: 2, stop_hook_active: true });
  });

  test.each([
    ['its real flags', true],
    ['a client that never sets stop_hook_active', false],
  ])('each turn is held three times, whatever the turn before was held: %s', async (_name, flags) => {
    const hive = await start();
    const turn = async (id: string, times: number): Promise<number> => {
      const raw = { ...recorded(client, stop), prompt_id: id, turn_id: id };
      await fire(hive, { ...raw, hook_event_name: 'UserPromptSubmit', prompt: 'go' }, as);
      const printed: string[] = [];
      for (let n = 0; n < times; n += 1)
        printed.push(await fire(hive, { ...raw, stop_hook_active: flags && n > 0 }, as));
      return printed.filter((text) => text !== '').length;
    };
    await ping(hive, session);
    expect(await turn('first', 1)).toBe(1);
    expect(await turn('second', 10)).toBe(3);
  });

  test('an answer holds it, is not in the reason, and is handed over by the poll that the reason names', async () => {
    const hive = await start();
    const asker = await hive.sessions.resolve(session);
    const { prompt } = await hive.prompts.ask({ question: 'Which port?' }, asker);
    const { ask_id } = prompt;
    await hive.prompts.respond({ ask_id, decision: '8080', actor: HUMAN });
    const call = `An answer is waiting: call hivemind_poll {"ask_id": "${ask_id}"}. Act on the result, then stop.`;
    expect(heldWith(await stops(hive))).toBe(call);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ handed_at: null, collected_at: null });
    // Until then it can still be corrected.
    await hive.prompts.amend({ ask_id, decision: '8081', actor: HUMAN });
    expect(heldWith(await stops(hive, again))).toBe(call);
    const [polled] = await hive.delivery.hand([ask_id], mcpCarrier('c1'), session);
    expect(polled?.prompt).toMatchObject({ decision: '8081', handed_at: expect.any(String) });
    await hive.delivery.collect(mcpCarrier('c1'));
    expect(await stops(hive, again)).toBe('');
  });

  test('a model that ignores its answers and mentions may stop after three holds, and the human is told of both', async () => {
    const hive = await start();
    const asker = await hive.sessions.resolve(session);
    const { prompt } = await hive.prompts.ask({ question: 'Which port?' }, asker);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: '8080', actor: HUMAN });
    await mention(hive, `@${asker.handle} wrong branch!`, 'urgent');
    const printed = [await stops(hive)];
    for (let n = 1; n < 10; n += 1) printed.push(await stops(hive, again));
    expect(printed.filter((text) => text !== '')).toHaveLength(3);
    const name = '[bg] demo stopped';
    expect(await noticesOf(hive)).toEqual([
      `${name} without fetching what became of ${prompt.ask_id} although it was held 3 times. It comes with its next message. ${name} with an urgent mention unprocessed although it was held 3 times.`,
    ]);
  });

  test('an urgent mention holds it and names the call; a normal one does not', async () => {
    const hive = await start();
    const { handle } = await hive.sessions.resolve(session);
    await mention(hive, `@${handle} by the way`, 'normal');
    expect(await stops(hive)).toBe('');
    const mention_id = await mention(hive, `@${handle} wrong branch!`, 'urgent');
    const printed = heldWith(await stops(hive));
    expect(printed).toContain('wrong branch!');
    expect(printed).toContain(`hivemind_process_mentions {"mention_ids": ["${mention_id}"]}`);
  });

  test('an urgent mention holds no Stop where the gate is off', async () => {
    const hive = await start();
    const { handle } = await hive.sessions.resolve(session);
    await mention(hive, `@${handle} wrong branch!`, 'urgent');
    await prefer(hive, { gate: 'off' });
    expect(await stops(hive)).toBe('');
    await hive.sessions.configure(session, { gate: 'block' }, HUMAN);
    expect(heldWith(await stops(hive))).toContain('wrong branch!');
  });

  test('everything that is owed is listed at once', async () => {
    const hive = await start();
    const asker = await hive.sessions.resolve(session);
    const { prompt } = await hive.prompts.ask({ question: 'Which port?' }, asker);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: '8080', actor: HUMAN });
    await mention(hive, `@${asker.handle} wrong branch!`, 'urgent');
    await ping(hive, session);
    const reason = heldWith(await stops(hive)) ?? '';
    const parts = [prompt.ask_id, 'wrong branch!', 'hivemind_report_updates'].map((part) =>
      reason.indexOf(part),
    );
    expect(parts.every((at) => at >= 0)).toBe(true);
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
  });
});
