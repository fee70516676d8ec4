/** A store that fails while a batch of events is sent: nothing is sent twice, and nothing is left out. */
import { expect, test } from 'vitest';
import { startEvents } from '../../src/adapters/emacs/connection.ts';
import { HiveError } from '../../src/domain/errors.ts';
import { agentAuthor } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, introduction, openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

/** The same hive, whose store fails one read or mark, the one with this number. */
function failing(hive: OpenedHive, number: number): OpenedHive {
  let looks = 0;
  function look(): void {
    looks += 1;
    if (looks === number) throw new HiveError('store_unavailable', 'The store is away for a moment.');
  }
  const read: OpenedHive['store']['read'] = async (work) => {
    look();
    return hive.store.read(work);
  };
  const mark: OpenedHive['prompts']['mark'] = async (...given) => {
    look();
    return hive.prompts.mark(...given);
  };
  return { ...hive, store: { ...hive.store, read }, prompts: { ...hive.prompts, mark } };
}

// One batch: a question, a message, a session; each is read, and the question is marked as offered.
test.each([1, 2, 3, 4, 99])('whichever access to the store fails: number %i', async (number) => {
  const hive = await openTestHive(tempStore());
  const session = await hive.sessions.introduce(introduction());
  const { ask_id } = await ask(hive, {}, session.session_id);
  await hive.messages.post({ body: 'Done.', author: agentAuthor(session, 'mcp') });
  const desk = closedAtEnd(
    await hive.desks.open({ seat: 'ada@test', human: 'ada', client: 'emacs', pid: process.pid }),
  );
  const told: string[] = [];
  const place = {
    seat: 'ada@test',
    human: 'ada',
    via: 'emacs' as const,
    device: null,
    pid: process.pid,
    check: async () => undefined,
    desk,
    opening: true,
    head_seq: 0,
    following: null,
    notify: async () => undefined,
  };
  const notify = async (method: string): Promise<void> => void told.push(method);
  const stop = startEvents({ ...place, hive: failing(hive, number) }, notify, []);
  const offered = async (): Promise<boolean> => (await hive.prompts.get(ask_id)).offered_at !== null;
  await eventually(async () => told.includes('session/changed') && (await offered()));
  await stop();
  expect(told.filter((method) => method === 'hivemind-ask')).toEqual(['hivemind-ask']);
  expect(told.filter((method) => method === 'message/posted')).toEqual(['message/posted']);
  expect(told.filter((method) => method === 'session/changed')).toEqual(['session/changed']);
});
