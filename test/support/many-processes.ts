/** Many processes that increment, post, or want the last credit, at once: a few in the quick tests, sixteen in test/long/race.test.ts. */
import { expect } from 'vitest';
import type { Message } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, outputOf, spawnScript, startTogether } from './children.ts';
import { eventsOf, openTestHive } from './hive.ts';
import { join } from './messages.ts';
import { attended, creditsOf, leaveCredits } from './outreach.ts';

/** No increment is lost, and the events have no gap. */
export async function incrementTogether(address: string, processes: number): Promise<void> {
  const rounds = 25;
  const children = Array.from({ length: processes }, () =>
    spawnScript('test/contract/children/increment.ts', [String(rounds)], childEnvironment(address)),
  );
  const ending = children.map(outputOf);
  await startTogether(children);
  await Promise.all(ending);
  const { store } = await openTestHive(address);
  const total = processes * rounds;
  expect(await store.read((tx) => tx.desks.preferences('counter'))).toEqual({ n: total });
  const events = await store.read((tx) => tx.events.after(0, 10_000));
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, n) => n + 1));
}

/** Every message, the oldest first. */
export async function everything(hive: OpenedHive): Promise<Message[]> {
  const found: Message[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await hive.messages.read({ limit: 100, before });
    found.unshift(...page.items);
    before = page.previous_cursor;
  }
  return found;
}

/** Every message is there once, in one order everywhere. */
export async function postTogether(address: string, processes: number): Promise<void> {
  const [hive, other] = [await openTestHive(address), await openTestHive(address)];
  const reader = await join(hive, 'reader-session');
  const posters = Array.from({ length: processes }, (_, n) => `poster${String(n).padStart(2, '0')}`);
  const each = 12;
  const outputs = await Promise.all(
    posters.map((name) =>
      outputOf(spawnScript('test/process/children/post.ts', [name, String(each)], childEnvironment(address))),
    ),
  );
  const acknowledged = outputs.map((output) => output.trim().split('\n'));

  const messages = await everything(hive);
  const ids = messages.map((message) => message.message_id);
  expect(ids).toHaveLength(processes * each);
  expect(ids.toSorted()).toEqual(acknowledged.flat().toSorted());
  expect(messages.map((message) => message.seq)).toEqual(Array.from(ids, (_, n) => n + 1));
  expect(await everything(other)).toEqual(messages);
  expect((await eventsOf(hive, 'message/posted')).map(({ subject }) => subject)).toEqual(ids);
  for (const [n, own] of acknowledged.entries()) {
    const seen = messages.filter((message) => message.session_id === posters[n]);
    expect(seen.map((message) => message.message_id)).toEqual(own);
  }
  const mentions = await hive.mentions.unprocessed(reader.session_id, null);
  expect(mentions.map((mention) => mention.message_id)).toEqual(ids);
}

/** One of the processes gets the last credit for a ping; the others are refused. */
export async function raceForCredit(address: string, processes: number): Promise<void> {
  const hive = await leaveCredits(await attended(await openTestHive(address)), 1);
  const racers = Array.from({ length: processes }, (_, n) =>
    spawnScript('test/process/children/ping.ts', [`racer-${n}`], childEnvironment(address)),
  );
  const outputs = racers.map(outputOf);
  await startTogether(racers);
  const said = await Promise.all(outputs);
  expect(said.toSorted()).toEqual([...Array.from({ length: processes - 1 }, () => 'budget'), 'sent']);
  expect(await creditsOf(hive)).toBe(0);
  expect(await eventsOf(hive, 'outreach/suppressed')).toHaveLength(processes - 1);
}
