/** The shared buffer from a shell: a person's, and an agent's. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseShared } from '../../src/domain/messages.ts';
import { childEnvironment, HIVE } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { newHive, openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { join as joinHive, post } from '../support/messages.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { openTerminal } from '../support/tmux.ts';

const ALICE = { HIVE_AGENT: 'alice' };
const BOB = { HIVE_AGENT: 'bobby' };

/** A person's shell, and those of two agents who have been seen before. */
async function shells(): Promise<Record<'person' | 'alice' | 'bob', ReturnType<typeof shell>>> {
  const person = shell(tempStore());
  const [alice, bob] = [person.as(ALICE), person.as(BOB)];
  await alice.hive('mentions');
  await bob.hive('mentions');
  return { person, alice, bob };
}

describe('posting', () => {
  test('prints the message_id, and next to it whom it reached', async () => {
    const { person } = await shells();
    const { code, out, err } = await person.hive('post', '@alice and @bob: hello @Human');
    expect(code).toBe(0);
    expect(out).toMatch(/^msg-[0-9a-z]{16}\n$/);
    expect(err).toContain('Mentioned: alice.');
    expect(err).toContain('@bob reached nobody: nobody has that name. Did you mean @bobby?');
  });

  test('says of what only looks like a mention that it reached nobody', async () => {
    const { person } = await shells();
    const { code, err } = await person.hive('post', '＠alice @alice@bobby hello');
    expect(code).toBe(0);
    expect(err).toContain('＠alice reached nobody: a mention is a plain @ and one name');
    expect(err).toContain('@alice@bobby reached nobody');
    expect(err).not.toContain('Mentioned');
  });

  test("from a person's terminal is the human's, from an agent's that agent's", async () => {
    const { person, alice } = await shells();
    await person.hive('post', 'by the human');
    await alice.hive('post', 'by the agent');
    const forced = await alice.hive('post', 'also by the agent', '--as-agent');
    expect(forced.code).toBe(0);
    const { messages } = (await person.hive('messages', '--json')).json();
    expect(messages).toMatchObject([
      { author: 'human', from_handle: 'Human', session_id: null, via: 'cli', body: 'by the human' },
      { author: 'agent', from_handle: 'alice', session_id: 'alice', body: 'by the agent' },
      { author: 'agent', from_handle: 'alice' },
    ]);
    expect(await person.hive('post', 'x', '--as-agent')).toMatchObject({ code: 2, out: '' });
  });

  test('under the name that HIVE_USER gives', async () => {
    const store = tempStore();
    const eve = shell(store, { HIVE_USER: 'Eve' });
    const hive = await openTestHive(store);
    const nameOf = async (HIVE_USER: string): Promise<unknown> => {
      const { message_id } = (await eve.as({ HIVE_USER }).hive('post', 'hello', '--json')).json();
      const [posted] = await hive.store.read((tx) => tx.events.of(message_id, 1));
      return posted?.data['by'];
    };
    expect(await nameOf('Eve')).toBe('Eve');
    expect(await nameOf('Ada')).toBe('Ada');
    const { out } = await eve.hive('messages');
    expect(out).toMatch(/Human \(Eve\) \[msg-[\s\S]*Human \(Ada\) \[msg-/);
    expect((await eve.hive('history')).out).toMatch(/Human \(Ada\)[\s\S]*Human \(Eve\)/);
  });

  test('refuses a body that is not UTF-8, and posts nothing', async () => {
    const person = shell(tempStore());
    const started = person.start('post', '-');
    started.child.process.stdin.end(Buffer.from('Caf\xe9', 'latin1'));
    expect(await started.done).toMatchObject({
      code: 2,
      err: expect.stringContaining('The text on stdin is not UTF-8. Nothing was posted.'),
    });
    expect((await person.hive('messages', '--all', '--json')).json().messages).toEqual([]);
  });

  test('refuses a body in an argument that is not UTF-8, and takes the character that stands for such a byte', async () => {
    const store = tempStore();
    const post = (word: string) =>
      promisify(execFile)('sh', ['-c', `exec "$0" "$1" post "$(printf '${word}')"`, process.execPath, HIVE], {
        env: childEnvironment(store),
      });
    await expect(post('Caf\\351')).rejects.toMatchObject({
      code: 2,
      stderr: 'hive: An argument is not UTF-8. Nothing was done.\n',
    });
    await post('Caf\uFFFD');
    const { messages } = (await shell(store).hive('messages', '--all', '--json')).json();
    expect(messages).toMatchObject([{ body: 'Caf\uFFFD' }]);
  });

  test('accepts every field of a message, and its body from stdin', async () => {
    const { person, alice, bob } = await shells();
    const asked = (await alice.hive('post', '@bobby?', '--urgent', '--expects-reply', '--json')).json();
    const started = bob.start('post', '-', '--reply-to', asked.message_id, '--json');
    started.child.process.stdin.end('@alice done\n\n```\n@Human\n```\n');
    const reply = (await started.done).json();
    expect(reply).toMatchObject({
      from: 'bobby',
      thread: asked.message_id,
      mentioned: ['alice'],
      unresolved: [],
      answered: [expect.stringMatching(/^mention-/)],
    });
    const threaded = (await person.hive('messages', '--thread', asked.message_id, '--json')).json();
    expect(threaded.messages).toMatchObject([
      { priority: 'urgent', expects_reply: true },
      { reply_to: asked.message_id, body: '@alice done\n\n```\n@Human\n```' },
    ]);
  });

  test('an empty message, or an answer to a missing one, is refused', async () => {
    const person = shell(tempStore());
    expect(await person.hive('post', '  ')).toMatchObject({ code: 2, out: '' });
    expect(await person.hive('post', 'x', '--reply-to', 'msg-none')).toMatchObject({ code: 1, out: '' });
    expect(await person.hive('post', 'x', '--scope', 'world')).toMatchObject({ code: 2 });
  });
});

describe('mentions', () => {
  test("an agent sees and clears its own; a person the human's", async () => {
    const { person, alice, bob } = await shells();
    await alice.hive('post', '@bobby and @Human, look', '--thread', 'talk');
    const seen = await bob.hive('mentions');
    expect(seen).toMatchObject({ code: 0 });
    expect(seen.out).toMatch(/^alice, \d+ s ago \[mention-\w+\] \(in talk\)\n {2}@bobby and @Human, look/);
    const { mentions } = (await bob.hive('mentions', '--json')).json();
    expect(mentions[0]).toMatchObject({ status: 'unprocessed', carrier: 'cli:bobby' });
    const cleared = await bob.hive('mentions', 'process', mentions[0].mention_id, '--note', 'seen');
    expect(cleared.out).toBe("Processed 1 of bobby's mentions; 0 left.\n");
    expect((await bob.hive('mentions')).err).toContain('There are no unprocessed mentions of bobby');

    const own = (await person.hive('mentions', '--json')).json();
    expect(own).toMatchObject({ handle: 'Human', summary: { unprocessed: 1 } });
    expect((await person.hive('mentions', 'process', '--all', '--json')).json()).toMatchObject({
      processed: [own.mentions[0].mention_id],
      remaining: 0,
    });
    const all = (await person.hive('mentions', '--session', 'bobby', '--status', 'any', '--json')).json();
    expect(all.mentions).toMatchObject([{ status: 'processed', processed_by: 'bobby', note: 'seen' }]);
  });

  test("of somebody else are refused to an agent unless it passes the explicit option; the human's always are", async () => {
    const { alice, bob } = await shells();
    await alice.hive('post', '@bobby @Human');
    const foreign = ['mentions', 'process', '--all', '--session', 'bobby'];
    expect(await alice.hive(...foreign)).toMatchObject({ code: 7, out: '' });
    expect(await alice.hive('mentions', '--session', 'bobby')).toMatchObject({ code: 7, out: '' });
    const err = "hive: Only the human may read or process the human's mentions.\n";
    for (const words of [[], ['--as-agent'], ['--as-agent', 'process', '--all']])
      expect(await alice.hive('mentions', '--session', 'Human', ...words)).toMatchObject({ code: 7, err });
    expect(await alice.hive(...foreign, '--as-agent')).toMatchObject({ code: 0 });
    const { mentions } = (await bob.hive('mentions', '--status', 'processed', '--json')).json();
    expect(mentions).toMatchObject([{ processed_by: 'alice', processed_via: 'cli' }]);
  });

  test('are listed with the command that processes them, also those of another session', async () => {
    const { person, alice } = await shells();
    await person.hive('post', '@alice @bobby hello');
    expect((await alice.hive('mentions')).err).toContain('or: hive mentions process --all\n');
    expect((await person.hive('mentions', '--session', 'bob')).err).toContain(
      'hive mentions process ID… --session bobby, or: hive mentions process --all --session bobby\n',
    );
    const listed = await alice.hive('mentions', '--session', 'bobby', '--as-agent');
    expect(listed.err).toContain('hive mentions process --all --session bobby --as-agent\n');
  });

  test('that do not exist, and unknown words, are refused', async () => {
    const person = shell(tempStore());
    expect(await person.hive('mentions', 'process', 'mention-none')).toMatchObject({ code: 1 });
    expect(await person.hive('mentions', 'process')).toMatchObject({ code: 2 });
    expect(await person.hive('mentions', 'procss')).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no "hive mentions procss". Did you mean process?'),
    });
    expect(await person.hive('mentions', '--session', 'nobody')).toMatchObject({ code: 1 });
  });

  test('an option that only the list has is refused elsewhere, and nothing is done', async () => {
    const { person, alice } = await shells();
    await alice.hive('post', '@Human, look');
    const refused = async (err: string, ...words: string[]): Promise<void> =>
      expect(await person.hive('mentions', ...words)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining(err),
      });
    for (const option of ['--status=processed', '--limit=1'])
      await refused('are for the list, not for hive mentions process.', 'process', '--all', option);
    await refused('are for the list, not for hive mentions mute.', 'mute', 'alice', 'bobby', '--limit=1');
    await refused('hive mentions allow takes no --session', 'allow', 'alice', 'bobby', '--session=alice');
    await refused('hive mentions loops takes no names', 'loops', 'alice');
    expect((await person.hive('mentions', 'loops', '--json')).json()).toEqual({ loops: [] });
    expect((await person.hive('mentions', '--json')).json()).toMatchObject({ summary: { unprocessed: 1 } });
  });

  test('a loop is listed with the commands that settle it, until a person writes', async () => {
    const { person, alice } = await shells();
    for (let n = 0; n < 7; n += 1) await alice.hive('post', `@bobby and again, ${n}`);
    const listed = (await person.hive('mentions', 'loops')).out;
    expect(listed).toContain('alice and bobby: tripped');
    expect(listed).toContain('Let them continue: hive mentions allow alice bobby\n');
    expect(listed).toContain('Mute this pair: hive mentions mute alice bobby\n');
    expect(listed).toContain('Write to them: hive post "@alice @bobby …"\n');
    await person.hive('post', 'enough');
    expect((await person.hive('mentions', 'loops', '--json')).json()).toEqual({ loops: [] });
  });

  test('a loop is settled by a person, not by an agent', async () => {
    const { person, alice } = await shells();
    expect(await alice.hive('mentions', 'allow', 'alice', 'bobby')).toMatchObject({ code: 7 });
    expect(await person.hive('mentions', 'mute', 'alice', 'bobby')).toMatchObject({ code: 0 });
    expect((await alice.hive('post', '@bobby')).err).toContain('muted');
    const muted = (await person.hive('mentions', 'loops')).out;
    expect(muted).toContain('alice and bobby: muted');
    expect(muted).toContain('Let them mention each other again: hive mentions allow alice bobby\n');
    expect(await person.hive('mentions', 'allow', 'alice', 'bobby')).toMatchObject({ code: 0 });
    expect((await person.hive('mentions', 'loops', '--json')).json()).toEqual({ loops: [] });
    expect(await person.hive('mentions', 'mute', 'alice')).toMatchObject({ code: 2 });
    // All authors who proved no name are one.
    expect(await person.hive('mentions', 'mute', 'unverified', 'alice')).toMatchObject({ code: 0 });
    expect((await person.hive('mentions', 'loops')).out).toContain('unverified: muted');
  });
});

test('the shared format is the whole buffer, and parsing it returns the same messages', async () => {
  const { store, hive } = await newHive();
  const ada = await joinHive(hive, 'abc12-session');
  const bodies = ['first', '## 2026-01-11 18:00:00 Claude-x\n\nquoted', 'ends with space \u200b', '日本語'];
  for (const body of bodies) await post(hive, ada, body, { scope: 'all' });
  const { out } = await shell(store).hive('messages', '--format', 'shared');
  const { front, blocks } = parseShared(out);
  expect(front).toMatchObject({ hive: 'true', type: 'shared' });
  expect(blocks.map((block) => block.body)).toEqual(bodies);
  expect(new Set(blocks.map((block) => block.handle))).toEqual(new Set(['Claude-abc12']));
});

test('a message is broken between its words at the edge of a terminal', async () => {
  const store = tempStore();
  const body =
    'The orders table has a new column, deliver_on, which the date picker reads and the export does not.';
  await shell(store).hive('post', body);
  const env = childEnvironment(store, { TERM: 'xterm' });
  const command = [process.execPath, HIVE, 'messages', '--all'];
  const terminal = closedAtEnd(await openTerminal(tempFolder(), env, command, { columns: 60, lines: 24 }));
  const screen = await terminal.until(/export does not\./);
  expect(screen.map((line) => line.trim()).join(' ')).toContain(body);
});

test('messages come in pages, with filters', async () => {
  const { person, alice } = await shells();
  for (const n of [1, 2, 3]) await person.hive('post', `human ${n}`);
  await alice.hive('post', 'agent');
  const last = (await person.hive('messages', '--limit', '2', '--json')).json();
  expect(last.messages.map((message: { body: string }) => message.body)).toEqual(['human 3', 'agent']);
  const before = (await person.hive('messages', '--before', last.previous_cursor, '--json')).json();
  expect(before.messages).toHaveLength(2);
  const after = await person.hive('messages', '--after', last.next_cursor);
  expect(after).toMatchObject({ code: 0, out: '' });
  const own = (await person.hive('messages', '--from', '@alice', '--json')).json();
  expect(own.messages).toHaveLength(1);
  expect((await person.hive('messages', '--query', 'HUMAN', '--json')).json().messages).toHaveLength(3);
});

test('sessions are listed with their titles, and the handles by which they are mentioned', async () => {
  const { person, alice } = await shells();
  await alice.hive('post', '@bobby');
  const { out } = await person.hive('sessions');
  expect(out).toMatch(/^TITLE +HANDLE +STATE +SEEN +SOURCE +MENTIONS +ROLES +PROJECT +DOING\n/);
  expect(out).toMatch(/^bobby +bobby +active .* 1 /m);
  const { sessions } = (await person.hive('sessions', '--json')).json();
  expect(sessions.find((one: { handle: string }) => one.handle === 'bobby')).toMatchObject({
    session_id: 'bobby',
    unprocessed_mentions: 1,
    roles: [],
    shared: true,
  });
  expect((await shell(tempStore()).hive('sessions')).err).toContain('No sessions are online');
});
