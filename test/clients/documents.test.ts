/**
 * The examples of the two documents that the room and its mentions come from, played as they are written: people type them at
 * real Claude Codes, each as `hive init` installs it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/wait.ts';
import { hive as call, type ModelRequest, type Reply, startModel } from './support/anthropic.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { startTerminal } from './support/claude-terminal.ts';
import { personOf } from './support/installed.ts';
import { openWorld, type World } from './support/world.ts';

let world: World;

beforeEach(async () => {
  // An agent that is woken would take a turn that the documents do not have.
  world = await openWorld({ wake: 'off', gate: 'strict' });
  const done = await personOf(world).terminal(['init', 'claude', '--hooks'], 'Set this up', 'y');
  expect(done.code, done.out).toBe(0);
  writeFileSync(join(world.folder, 'a.txt'), 'a line\n');
});

type Messages = ModelRequest['messages'];

/** Everything that the model was told since it last spoke, as text. */
function told(messages: Messages): string {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return since
    .flatMap(({ content }) => (Array.isArray(content) ? content : [{ text: content }]))
    .map((block: { text?: unknown; content?: unknown }) =>
      String(block.text ?? JSON.stringify(block.content)),
    )
    .join('\n');
}

/** The tool that the model called last. */
function lastCall(messages: Messages): string {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content;
  const blocks = Array.isArray(content) ? (content as { type: string; name?: string }[]) : [];
  return blocks.findLast(({ type }) => type === 'tool_use')?.name ?? '';
}

/** A session of a document, with the person who types at it. */
interface Member {
  claude: ChatTerminal;
  /** Everything that its model was told. */
  heard: string[];
  /** Its work with each file that it reads. */
  works: { reads: number; until: Promise<void> };
}

/** Does what Hive's commands ask for, and reads a file again and again when it has something to write. */
async function enter(name: string): Promise<Member> {
  const heard: string[] = [];
  const works = { reads: 0, until: Promise.resolve() };
  const read = { calls: [{ name: 'Read', input: { file_path: join(world.folder, 'a.txt') } }] };
  const model = await startModel(async ({ messages }): Promise<Reply> => {
    const text = told(messages);
    heard.push(text);
    const [, body] = /server:\n\n([\s\S]+?)\n\nKeep every @mention/.exec(text) ?? [];
    if (body !== undefined) return { calls: [call('hivemind_post', { body: body.trim() })] };
    if (text.includes('Get the messages that mention you'))
      return { calls: [call('hivemind_get_unprocessed_mentions')] };
    if (lastCall(messages).endsWith('get_unprocessed_mentions') && text.includes('mention'))
      return { calls: [call('hivemind_process_mentions', { all: true, note: 'read' })] };
    if (/^Write /m.test(text)) return read;
    if (lastCall(messages) === 'Read' && works.reads > 0) {
      works.reads -= 1;
      await works.until;
      return read;
    }
    return { text: `turn ${heard.length} is over` };
  });
  const claude = await startTerminal({ ...world, model, env: { HIVE_AGENT: name } }, []);
  await claude.until(/❯/, 30_000);
  return { claude, heard, works };
}

/** Types it, and waits until the turn that it begins is over. */
async function types({ claude, heard }: Member, message: string): Promise<void> {
  const before = heard.length;
  await claude.say(message);
  await eventually(() => heard.length > before, 30_000, `a turn after "${message}"`);
  await eventually(
    async () => (await claude.screen()).join('\n').includes(`turn ${heard.length} is over`),
    60_000,
    'its end',
  );
}

/** Types what is refused, and takes it out of the input, where the client puts it back. No model hears of it. */
async function isBlocked({ claude, heard }: Member, message: string): Promise<void> {
  const before = heard.length;
  await claude.say(message);
  await claude.until(
    new RegExp(`1 unprocessed mention[\\s\\S]*Original prompt: ${message}[\\s\\S]*❯.${message}`),
    30_000,
  );
  expect(heard.slice(before)).toEqual([]);
  await claude.keys('C-u');
}

const bodies = async (): Promise<string[]> =>
  (await world.hive.messages.read({ limit: 20 })).items.map(({ body }) => body);

const open = async (handle: string): Promise<number> => {
  const { items } = await world.hive.store.read((tx) => tx.mentions.list({ limit: 50 }));
  return items.filter((mention) => mention.status === 'unprocessed' && mention.handle === handle).length;
};

describe('mention-driven interruption', () => {
  test('example 1: the agent that is mentioned is held, reads, answers and goes on; example 2: one message to all holds both others, until each has read it; the quick test', async () => {
    const [abc, def] = [await enter('Claude-abc12'), await enter('Claude-def34')];
    await types(def, 'Write authentication middleware');
    let mentioned = (): void => undefined;
    abc.works.reads = 1;
    abc.works.until = new Promise((resolve) => {
      mentioned = resolve;
    });
    await abc.claude.say('Write a login function');
    await eventually(() => abc.works.reads === 0, 30_000, 'Claude-abc12 at work');
    await types(def, '/post Review the security of my login function @Claude-abc12');
    mentioned();
    // It is held at its next tool, and is told why.
    await eventually(
      () => abc.heard.some((text) => text.includes('Review the security of my login function')),
      30_000,
      'the mention',
    );
    await isBlocked(abc, 'Go on');
    await types(abc, '/check-mentions');
    expect(abc.heard.join()).toContain('Review the security of my login function @Claude-abc12');
    expect(await open('Claude-abc12')).toBe(0);
    await types(abc, "/post I'll review it right after finishing mine. @Claude-def34");
    await types(abc, 'Write the rest of it');
    expect(abc.heard.at(-1)).toContain('a line');
    expect(await open('Claude-def34')).toBe(1);
    expect(await bodies()).toEqual([
      'Review the security of my login function @Claude-abc12',
      "I'll review it right after finishing mine. @Claude-def34",
    ]);

    const xyz = await enter('Claude-xyz56');
    await types(def, '/check-mentions');
    for (const member of [def, xyz]) await types(member, 'Hello');
    await types(abc, '/post Emergency: Found security vulnerability in auth module @All');
    await types(abc, 'Write the fix');
    for (const member of [def, xyz]) {
      await isBlocked(member, 'Any news');
      await types(member, '/check-mentions');
      expect(member.heard.join()).toContain('Emergency: Found security vulnerability in auth module');
      await types(member, 'Any news then?');
    }
    // The quick test.
    await types(abc, '/post Test mention @Claude-def34');
    await isBlocked(def, 'Any message here');
    await types(def, '/check-mentions');
    expect(def.heard.join()).toContain('Test mention @Claude-def34');
    await types(def, 'Any message here now');
  });
});

describe('the shared buffer', () => {
  test('case 1: a review is asked for and given; case 2: progress is shared, and one asks all for it', async () => {
    const [one, two] = [await enter('Claude-1'), await enter('Claude-2')];
    for (const member of [one, two]) await types(member, 'Hello');
    const review = '@Claude-2 ログイン機能の実装が完了しました。レビューお願いします。';
    const answer = '@Claude-1 確認しました。セキュリティ面で気になる点があります。';
    await types(one, `/post ${review}`);
    await types(two, '/check-mentions');
    expect(two.heard.join()).toContain('ログイン機能の実装が完了しました');
    await types(two, `/post ${answer}`);
    await types(one, '/check-mentions');
    expect(one.heard.join()).toContain('セキュリティ面で気になる点があります');
    const progress = ['[進捗] バックエンド API の実装完了', '[進捗] フロントエンドのコンポーネント実装中'];
    await types(one, `/post ${progress[0]}`);
    await types(two, `/post ${progress[1]}`);
    expect([await open('Claude-1'), await open('Claude-2')]).toEqual([0, 0]);
    const three = await enter('Claude-3');
    await types(three, '/post @All 全体的な進捗を確認したいです。ステータスを教えてください。');
    expect([await open('Claude-1'), await open('Claude-2')]).toEqual([1, 1]);
    expect((await bodies()).slice(0, 4)).toEqual([review, answer, ...progress]);
  });
});
