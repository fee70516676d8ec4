/** The human's preferences about holding agents, as hooks read them: from the store, for their seat, once an event. */
import { describe, expect, test } from 'vitest';
import { createHooks } from '../../src/application/hooks.ts';
import type { Store } from '../../src/application/ports.ts';
import { settingNamed } from '../../src/domain/settings.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { gatedBash, gatedEvent, gatedWorld } from '../support/gate.ts';
import { ask, HUMAN } from '../support/hive.ts';
import { type Client, fire, heldWith } from '../support/hooks.ts';

const SEAT = 'ada@test';
const at = (seat: string): Client => ({ surroundings: { seat } });
const prefer = (hive: OpenedHive, key: string, value: unknown, seat = SEAT) =>
  hive.settings.set(settingNamed(key), value, seat, 'cli');

describe('the gate', () => {
  test('is what is stored for the seat of the hook, and of no other', async () => {
    const { hive, mention } = await gatedWorld();
    await prefer(hive, 'gate', 'off');
    await mention('hello @me');
    expect(await fire(hive, gatedBash(), at(SEAT))).toBe('');
    expect(await fire(hive, gatedBash(), at('bob@test'))).toContain('"deny"');
    await prefer(hive, 'gate', null);
    expect(await fire(hive, gatedBash(), at(SEAT))).toContain('"deny"');
  });

  test('is the session’s own setting where there is one', async () => {
    const { hive, handle, mention } = await gatedWorld();
    await prefer(hive, 'gate', 'block');
    await mention('hello @me');
    expect(await fire(hive, gatedBash(), at(SEAT))).toContain('"deny"');
    await hive.sessions.configure(handle, { gate: 'off' }, HUMAN);
    expect(await fire(hive, gatedBash(), at(SEAT))).toBe('');
  });
});

describe('the Stop guard', () => {
  const STOP = gatedEvent('Stop', { stop_hook_active: false });

  test('holds nothing if it is turned off', async () => {
    const { hive, mention } = await gatedWorld();
    await mention('now @me', { priority: 'urgent' });
    expect(heldWith(await fire(hive, STOP, at('bob@test')))).toContain('urgent mentions');
    await prefer(hive, 'stop_guard', false);
    expect(await fire(hive, STOP, at(SEAT))).toBe('');
  });

  test('waits for the human for as long as stop_wait says', async () => {
    const { hive } = await gatedWorld();
    const { ask_id } = await ask(hive, {}, STOP['session_id'] as string);
    await prefer(hive, 'stop_wait', 590);
    let waits = false;
    const printed = fire(hive, STOP, {
      env: { CLAUDE_CODE_SESSION_ATTENDED: '0' },
      surroundings: {
        seat: SEAT,
        async withoutTimeLimit(work) {
          waits = true;
          await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
          return work();
        },
      },
    });
    expect(heldWith(await printed)).toContain('An answer is waiting');
    expect(waits).toBe(true);
  });
});

test('a mention expires after the mention_ttl of the store', async () => {
  const { hive, handle, mention } = await gatedWorld();
  await prefer(hive, 'mention_ttl', '90m');
  await mention('hello @me');
  await prefer(hive, 'mention_ttl', 'never');
  await mention('hello again @me');
  const { session_id = '' } = (await hive.sessions.resolve(handle)) ?? {};
  const { items } = await hive.mentions.history({ session_id, limit: 10 });
  const waits = items.map(({ at: from, expires_at }) =>
    expires_at === null ? null : Date.parse(expires_at) - Date.parse(from),
  );
  expect(waits.sort()).toEqual([90 * 60_000, null]);
});

/** How often the preferences are read while one event is handled. */
async function reads(hive: OpenedHive, raw: Record<string, unknown>): Promise<number> {
  const seats: string[] = [];
  const { store, prompts, feed, log } = hive;
  const watched: Store = {
    ...store,
    writeUnflushed: (work, announces) =>
      store.writeUnflushed((tx) => {
        const { preferences } = tx.desks;
        tx.desks.preferences = (seat) => {
          seats.push(seat);
          return preferences(seat);
        };
        return work(tx);
      }, announces),
  };
  const processes = {
    alive: () => true,
    ancestors: () => [],
    environment: () => ({}),
    nameOf: () => '',
    startedAt: () => null,
    ageMs: () => null,
    interrupt: () => false,
    kill: () => undefined,
  };
  let made = 0;
  const make = (prefix: string): string => {
    made += 1;
    return `${prefix}-${made}`;
  };
  const ids = { make };
  const hooks = createHooks({
    ...{ store: watched, ids, processes, log },
    runHandler: null,
    waiting: async () => ({ feed, prompts }),
  });
  await fire({ ...hive, hooks }, raw, at(SEAT));
  return seats.filter((seat) => seat === SEAT).length;
}

test('what it costs: a tool call without mentions reads nothing, any event that needs it reads once', async () => {
  const { hive, mention } = await gatedWorld();
  expect(await reads(hive, gatedBash())).toBe(0);
  expect(await reads(hive, gatedEvent('PostToolUse', { tool_name: 'Bash' }))).toBe(0);
  await mention('now @me', { priority: 'urgent' });
  expect(await reads(hive, gatedBash())).toBe(1);
  expect(await reads(hive, gatedEvent('UserPromptSubmit', { prompt: 'go on' }))).toBe(1);
  expect(await reads(hive, gatedEvent('Stop', { stop_hook_active: false }))).toBe(1);
});
