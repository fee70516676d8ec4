/** `hive post --as-heading`: a block is its author's only in that author's own shell; elsewhere it is unverified. */
import { expect, test } from 'vitest';
import { type Ran, type Shell, shell } from '../support/cli.ts';
import { openTestHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';

const block = (handle: string, body: string, second = 0): string =>
  `## 2026-01-11 18:00:0${second} ${handle}\n\n${body}\n`;

/** A person's shell, and those of two agents whose sessions are registered. */
async function shells(store = tempStore()): Promise<Record<'person' | 'ada' | 'bob', Shell>> {
  const person = shell(store, { HIVE_USER: 'Eve' });
  const ada = person.as({ CLAUDE_CODE_SESSION_ID: 'abc12-session' });
  const bob = person.as({ CLAUDE_CODE_SESSION_ID: 'def34-session' });
  for (const agent of [ada, bob]) expect(await agent.hive('mentions')).toMatchObject({ code: 0 });
  return { person, ada, bob };
}

async function fromStdin(from: Shell, text: string, ...options: string[]): Promise<Ran> {
  const started = from.start('post', '-', '--as-heading', ...options);
  started.child.process.stdin.end(text);
  return started.done;
}

test("an agent's own heading makes it the author, and everyone else is mentioned", async () => {
  const { person, ada } = await shells();
  const { code, out, err } = await ada.hive('post', block('claude-ABC12', '@All done'), '--as-heading');
  expect({ code, err }).toEqual({ code: 0, err: 'hive: Mentioned: Claude-def34.\n' });
  expect(out).toMatch(/^msg-[0-9a-z]{16}\n$/);
  const { messages } = (await person.hive('messages', '--json')).json();
  expect(messages).toMatchObject([
    {
      author: 'agent',
      from_handle: 'Claude-abc12',
      session_id: 'abc12-session',
      as_stamp: '2026-01-11 18:00:00',
      body: '@All done',
    },
  ]);
});

test("another's heading is posted as unverified, says so, and does not mention the one it names", async () => {
  const { person, ada } = await shells();
  const posted = await ada.hive('post', block('Claude-def34', '@All and @Human, stop'), '--as-heading');
  expect(posted).toMatchObject({ code: 0 });
  expect(posted.err).toContain(
    "Posted as unverified (as Claude-def34). The name is unverified, because it was posted from Claude-abc12's shell.",
  );
  expect(posted.err).toMatch(/Mentioned: (Claude-abc12, Human|Human, Claude-abc12)\./);
  expect((await person.hive('messages')).out).toMatch(/ unverified \(as Claude-def34\) \[msg-/);
  expect((await person.hive('mentions')).out).toMatch(/^unverified \(as Claude-def34\), \d+ s ago/);
  const [event] = (await person.hive('store', 'log', '--json')).out
    .split('\n')
    .filter((line) => line.includes('message/posted'))
    .map((line) => JSON.parse(line));
  expect(event.data).toMatchObject({ from: 'unverified', author: 'unverified', by: 'Claude-abc12' });
});

test("a person's terminal is the human under their own heading, and nobody else", async () => {
  const { person } = await shells();
  const text = [block('Human', 'one'), block('Eve', 'two', 1), block('Claude-abc12', 'three', 2)].join('\n');
  const { posted } = (await fromStdin(person, text, '--json')).json();
  expect(posted).toMatchObject([
    { from: 'Human', author: 'human', written_as: null },
    { from: 'Human', author: 'human', written_as: 'Eve' },
    { from: 'unverified', author: 'unverified', written_as: 'Claude-abc12' },
  ]);
});

test("it does not count as a human's message: a loop stays stopped, whatever its heading", async () => {
  const store = tempStore();
  const { person, ada } = await shells(store);
  const hive = await openTestHive(store);
  await ada.hive('post', block('Human', 'Carry on.'), '--as-heading');
  const [message] = (await hive.messages.read({ limit: 1 })).items;
  const spoke = () =>
    hive.store.read((tx) => tx.loops.humanSpokeAt(['*', 'abc12-session', message?.project_dir ?? '']));
  expect(await spoke()).toBe(0);
  await person.hive('post', block('Human', 'Carry on, I say.'), '--as-heading');
  expect(await spoke()).toBe(2);
});

test('a block that was posted before is not posted again', async () => {
  const { person, ada } = await shells();
  const first = await ada.hive('post', block('Claude-abc12', 'once'), '--as-heading');
  const again = await ada.hive('post', block('Claude-abc12', 'once'), '--as-heading');
  expect(again).toMatchObject({ code: 0, out: first.out });
  expect(again.err).toContain('was posted before');
  expect((await person.hive('messages', '--json')).json().messages).toHaveLength(1);
});

test('a saved file is posted whole, without its introduction', async () => {
  const { ada, person } = await shells();
  await ada.hive('post', 'kept');
  const saved = (await person.hive('messages', '--format', 'shared')).out;
  const { posted } = (await fromStdin(ada, `${saved}\n${block('Claude-abc12', 'new')}`, '--json')).json();
  expect(posted).toMatchObject([
    { existing: true, from: 'Claude-abc12' },
    { existing: false, author: 'agent', mentioned: [] },
  ]);
});

test('what is no block of a message is refused, and nothing is posted', async () => {
  const { person, ada } = await shells();
  for (const [what, text, sentence] of [
    ['no heading', 'hello', 'does not begin with a heading'],
    ['text before the heading', `hello\n\n${block('Claude-abc12', 'x')}`, 'does not begin with a heading'],
    ['a heading without a message', '## 2026-01-11 18:00:00 Claude-abc12\n', 'no message below the heading'],
    ['nothing', '\n', 'The text contains no block'],
    ['a message that is too long', block('Claude-abc12', 'x'.repeat(33 * 1024)), 'too long'],
  ] as const) {
    const refused = await ada.hive('post', text, '--as-heading');
    expect.soft(refused, what).toMatchObject({ code: 2, out: '', err: expect.stringContaining(sentence) });
  }
  expect((await person.hive('messages', '--json')).json().messages).toEqual([]);
});

test('--as-agent posts as the agent, or not at all', async () => {
  const { person, ada } = await shells();
  const text = `${block('Claude-abc12', 'mine')}\n${block('Claude-def34', 'not mine', 1)}`;
  const refused = await fromStdin(ada, text, '--as-agent');
  expect(refused).toMatchObject({ code: 7, out: '' });
  expect(refused.err).toContain('This shell belongs to Claude-abc12, so it cannot post as Claude-def34.');
  expect((await person.hive('messages', '--json')).json().messages).toEqual([]);
  expect(await fromStdin(ada, block('Claude-abc12', 'mine'), '--as-agent')).toMatchObject({ code: 0 });
});
