/** `session/list` says what it left out: there is no page after it. A turn in it says what its agent said last. */
import { appendFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fireDialog, openDesk } from '../support/dialogs.ts';
import { introduce, openTestHive } from '../support/hive.ts';
import { fire, recordedEvent } from '../support/hooks.ts';
import { serveInProcess } from '../support/sidecar.ts';
import { tempFolder } from '../support/temp.ts';

test('that more are there than were asked for', async () => {
  const hive = await openTestHive();
  const desk = await serveInProcess(hive);
  for (const id of ['one', 'two', 'three']) await introduce(hive, id);
  const asked = async (limit: number): Promise<[number, boolean]> => {
    const { sessions, more } = await desk.request('session/list', { limit });
    return [sessions.length, more];
  };
  expect(await asked(2)).toEqual([2, true]);
  expect(await asked(3)).toEqual([3, false]);
});

test('that more are there than fit into a frame', async () => {
  const hive = await openTestHive();
  const desk = await serveInProcess(hive);
  await introduce(hive, 'known');
  const known = await hive.sessions.find('known');
  if (known === undefined) throw new Error('It was just introduced.');
  await hive.store.write(async (tx) => {
    for (let n = 0; n < 400; n += 1)
      await tx.sessions.upsert({
        ...known,
        session_id: `s-${n}`,
        handle: `Agent-${n}`,
        project: 'p'.repeat(400),
      });
  });
  const { sessions, more } = await desk.request('session/list', { limit: 1_000 });
  expect(more).toBe(true);
  expect(sessions.length).toBeGreaterThan(100);
  expect(sessions.length).toBeLessThan(401);
  expect(desk.largest()).toBeLessThan(256 * 1024);
});

test('what an agent said last comes with its turn, and again when it asks', async () => {
  const hive = await openTestHive();
  const desk = await serveInProcess(hive);
  const transcript_path = join(tempFolder(), 'transcript.jsonl');
  const say = (text: string): void => {
    const message = { role: 'assistant', content: [{ type: 'text', text }] };
    appendFileSync(transcript_path, `${JSON.stringify({ type: 'assistant', message })}\n`);
  };
  const wordsInList = async (): Promise<unknown> => {
    const { sessions } = await desk.request('session/list', {});
    return (sessions as { turn: { last_words?: string } }[])[0]?.turn.last_words;
  };
  const here = { surroundings: { machine: hostname() } };
  const event = { session_id: 'reader', cwd: '/demo', transcript_path };
  say('I read the tests.');
  await fire(hive, { ...event, hook_event_name: 'UserPromptSubmit', prompt: 'go', prompt_id: 'p1' }, here);
  expect(await wordsInList()).toBe('I read the tests.');
  say('The cache is stale. Shall I remove it?');
  const session = await hive.sessions.find('reader');
  if (session === undefined) throw new Error('Its hook has introduced it.');
  await hive.prompts.ask({ question: 'Remove it?' }, session);
  const { params } = await desk.seen(
    ({ method, params }) =>
      method === 'turn/changed' && String(params?.last_words ?? '').startsWith('The cache is stale'),
  );
  expect(params.state).toBe('in_progress');
  expect(await wordsInList()).toBe('The cache is stale. Shall I remove it?');
  // Another machine has other files under the same names.
  const elsewhere = { ...session, machine: 'elsewhere' };
  const views = await hive.turns.newestViews([elsewhere]);
  expect(views.get('reader')).not.toHaveProperty('last_words');
});

test('a desk that shows the tool of a turn learns at once that its call was refused', async () => {
  const hive = await openTestHive();
  await openDesk(hive);
  const desk = await serveInProcess(hive);
  const asks = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
  await fire(hive, { ...asks, hook_event_name: 'PreToolUse', tool_use_id: 't1' });
  const { answer } = await fireDialog(hive, asks);
  const { sessions } = await desk.request('session/list', {});
  expect(sessions).toMatchObject([{ turn: { tool: 'Bash' } }]);
  await answer('Deny');
  await desk.seen(
    ({ method, params }) => method === 'turn/changed' && params?.steps === 1 && params.tool === null,
  );
});
