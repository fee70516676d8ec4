/**
 * Messages between real processes: many at once, and processes that die in the middle.
 *
 * @module-tag durable
 * @module-tag library
 */
import { expect, test } from 'vitest';
import type { HiveEvent } from '../../src/domain/events.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, readOutput, spawnScript } from '../support/children.ts';
import { eventsOf, newHive } from '../support/hive.ts';
import { everything, postTogether } from '../support/many-processes.ts';
import { join } from '../support/messages.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const CHILD = 'test/process/children/post.ts';

/** The messages that the feed delivered, in order. */
async function told(hive: OpenedHive, type: HiveEvent['type']): Promise<string[]> {
  return (await eventsOf(hive, type)).map((event) => event.subject ?? '');
}

test('three processes post at once: every message once, in one order everywhere', () =>
  postTogether(tempStore(), 3));

test('kill -9 of a poster: acknowledged messages are stored with their mentions, and nothing is stored partly', async () => {
  const { store, hive } = await newHive();
  const reader = await join(hive, 'reader-session');
  for (const round of [1, 2]) {
    const child = spawnScript(CHILD, [`victim-${round}`, '100000'], childEnvironment(store));
    const said = readOutput(child);
    await eventually(() => said().split('\n').length > 20, 10_000, 'twenty messages');
    await child.kill('SIGKILL');
    const acknowledged = said().split('\n').slice(0, -1);
    const messages = (await everything(hive)).filter((one) => one.session_id === `victim-${round}`);
    const ids = messages.map((message) => message.message_id);
    expect(ids.slice(0, acknowledged.length)).toEqual(acknowledged);
    const mentioned = (await hive.mentions.history({ session_id: reader.session_id, limit: 10_000 })).items
      .map((mention) => mention.message_id)
      .filter((id) => ids.includes(id));
    expect(mentioned.toSorted()).toEqual(ids.toSorted());
    expect((await told(hive, 'message/posted')).filter((id) => ids.includes(id))).toEqual(ids);
  }
});
