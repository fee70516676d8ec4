/**
 * First calls of a model, as recorded or as it plausibly would write them. A right call works. A wrong one is refused with a
 * call in the refusal, and that call works.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from '../support/children.ts';
import { ask, HUMAN, newHive, openTestHive } from '../support/hive.ts';
import { type CallerInProcess, callInProcess } from '../support/mcp-in-process.ts';
import { attended } from '../support/outreach.ts';

type Args = Record<string, unknown>;

/** A first call. `right` is what the refusal must teach: the arguments, or tool and arguments; without it the call works. */
interface FirstCall {
  tool: string;
  args: Args;
  right?: Args | string;
}

const works = (tool: string, args: Args): FirstCall => ({ tool, args });
const teaches = (tool: string, args: Args, right: Args | string): FirstCall => ({ tool, args, right });

interface Scene {
  hive: OpenedHive;
  agent: CallerInProcess;
  /** The placeholders for the ids of this scene in the calls. */
  ids: Readonly<Record<string, string>>;
}

/** An agent in the background, also a coordinator, with its own question, one of another agent and a mention. */
async function scene(): Promise<Scene> {
  const { store, hive } = await newHive();
  await attended(hive);
  // Settled, so that no wait lasts.
  const settled = await ask(hive, { question: 'Settled?', urgency: 'low' });
  await hive.prompts.respond({ ask_id: settled.ask_id, decision: 'yes', actor: HUMAN });
  const agent = await callInProcess(hive, 'coordinator', {
    connection: { env: { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg' } },
  });
  const other = await callInProcess(await openTestHive(store), 'agent', {
    connection: { env: { HIVE_AGENT: 'agent-2' }, connection_id: 'connection-2' },
  });
  const own = await agent.call('hivemind_ask_async', { question: 'Mine?', urgency: 'low' });
  const theirs = await ask(hive, { question: 'Theirs?', urgency: 'low' });
  await other.call('hivemind_post', { body: '@agent-1 look at this' });
  const { mentions } = await agent.call('hivemind_get_unprocessed_mentions');
  const [{ mention_id = '', message_id = '' } = {}] = mentions as Record<string, string>[];
  const ids = {
    ASK: String(own['ask_id']),
    THEIRS: theirs.ask_id,
    SETTLED: settled.ask_id,
    MENTION: mention_id,
    MESSAGE: message_id,
  };
  return { hive, agent, ids };
}

function withIds<T>(value: T, ids: Scene['ids']): T {
  return JSON.parse(JSON.stringify(value).replace(/[A-Z]{3,}/g, (word) => ids[word] ?? word)) as T;
}

/** The first call in a text, with its arguments. */
function callIn(text: string): { tool: string; args: Args } | null {
  const start = /\b(hivemind_\w+) (?=\{)/.exec(text);
  if (start === null) return null;
  const from = start.index + start[0].length;
  for (let end = text.indexOf('}', from); end !== -1; end = text.indexOf('}', end + 1)) {
    try {
      return { tool: start[1] ?? '', args: JSON.parse(text.slice(from, end + 1)) as Args };
    } catch {
      // Longer than this.
    }
  }
  return null;
}

/** The fault of a first call; null if it has none. */
async function wrongWith({ tool, args, right }: FirstCall, { agent, ids }: Scene): Promise<string | null> {
  const what = `${tool} ${JSON.stringify(args)}`;
  const refusal = await agent.call(tool, withIds(args, ids)).then(
    () => null,
    (error: Error) => error.message,
  );
  if (right === undefined) return refusal === null ? null : `${what} was refused: ${refusal}`;
  if (refusal === null) return `${what} was accepted`;
  const taught = callIn(refusal);
  if (taught === null) return `${what}: no call in the refusal: ${refusal}`;
  const wanted = withIds(right, ids);
  const same =
    typeof wanted === 'string'
      ? taught.tool === wanted
      : taught.tool === tool && JSON.stringify(sorted(taught.args)) === JSON.stringify(sorted(wanted));
  if (!same) return `${what} taught another call: ${refusal}`;
  return agent.call(taught.tool, taught.args).then(
    () => null,
    (error: Error) => `${what} taught a call that is refused: ${error.message}`,
  );
}

function sorted(args: Args): Args {
  return Object.fromEntries(Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1)));
}

const CALLS: Readonly<Record<string, readonly FirstCall[]>> = {
  'asking the human': [
    works('hivemind_ask_async', { question: 'from sub' }),
    works('hivemind_ask_async', { question: 'Red or blue?', options: ['red', 'blue'] }),
    works('hivemind_ask_async', { question: 'Which?', options: [{ label: 'a', description: null }, 'b'] }),
    works('hivemind_ask_async', {
      question: 'Go on?',
      options: null,
      'timeout-ms': null,
      multiSelect: false,
    }),
    works('hivemind_ask_async', { question: 'Go on?', agent_id: 'somebody', session_id: 's1' }),
    works('hivemind_ask_async', { question: 'Quick?', wait_ms: 10 }),
    works('hivemind_ask', { question: 'Old schema?', options: ['yes'], header: 'Old', timeout_ms: 1_000 }),
    teaches('hivemind_ask_async', {}, { question: 'Which one?' }),
    teaches('hivemind_ask_async', { prompt: 'Go on, now?' }, { question: 'Go on, now?' }),
    teaches('hivemind_ask_async', { message: 'Deploy?' }, { question: 'Deploy?' }),
    teaches(
      'hivemind_ask_async',
      { question: 'A?', choices: ['x', 'y'] },
      { question: 'A?', options: ['x', 'y'] },
    ),
    works('hivemind_ask_async', { question: 'B?', options: '["x","y"]' }),
    teaches('hivemind_ask_async', { question: 'C?', options: 'x' }, { question: 'C?', options: ['x'] }),
    works('hivemind_ask_async', { question: 'D?', multi_select: 'true' }),
    teaches(
      'hivemind_ask_async',
      { question: 'D?', options: [1, 2] },
      { question: 'D?', options: ['1', '2'] },
    ),
    teaches(
      'hivemind_ask_async',
      { question: 'D?', options: 'red, blue' },
      { question: 'Which one?', options: ['this', 'that'] },
    ),
    teaches('hivemind_ask_async', { question: 'E?', priority: 'low' }, { question: 'E?', urgency: 'low' }),
    teaches('hivemind_ask_async', { question: 'F?', urgency: 'high' }, { question: 'F?' }),
    teaches('hivemind_ask_async', { question: 'G?', timeout: 300 }, { question: 'G?' }),
    works('hivemind_ask_async', { question: 'H?', timeout_ms: '60000' }),
    teaches('hivemind_ask_async', { question: 'I?', details: 'Long.' }, { question: 'I?', context: 'Long.' }),
    teaches('hivemind_ask_async', { question: ' ' }, { question: 'Which one?', options: ['this', 'that'] }),
    teaches('hivemind_ask_async', { question: 'J?', wait: 20 }, { question: 'J?', wait_ms: 20 }),
    teaches('hivemind_ask', { text: 'K?', timeout_ms: 1_000 }, { question: 'K?', timeout_ms: 1_000 }),
    teaches('ask_user', { question: 'L?' }, 'hivemind_ask_async'),
  ],
  'looking for the answer': [
    works('hivemind_poll', {}),
    works('hivemind_poll', { 'ask-id': 'ASK' }),
    works('hivemind_poll', { askId: 'ASK', waitMs: null }),
    works('hivemind_poll', { ask_ids: ['ASK'] }),
    teaches('hivemind_poll', { id: 'ASK' }, { ask_id: 'ASK' }),
    teaches('hivemind_poll', { ask: 'ASK' }, { ask_id: 'ASK' }),
    teaches('hivemind_poll', { ask_ids: 'ASK' }, { ask_ids: ['ASK'] }),
    teaches('hivemind_poll', { ask_id: 'ASK', ask_ids: ['ASK'] }, { ask_ids: ['ASK'] }),
    works('hivemind_poll', { ask_id: 'ASK', wait_ms: '10' }),
    works('hivemind_poll', { ask_ids: '["ASK"]' }),
    teaches('hivemind_poll', { ask_ids: 'ASK, SETTLED' }, { ask_ids: ['ASK', 'SETTLED'] }),
    teaches('hivemind_poll', { ask_id: 'ASK', timeout: 10 }, { ask_id: 'ASK', wait_ms: 10 }),
    teaches('hivemind_poll', { ask_id: 'SETTLED', wait_ms: 60_000 }, { ask_id: 'SETTLED', wait_ms: 25_000 }),
    teaches('hivemind_poll', { ask_id: 'ask-unknown' }, {}),
    teaches('check_answers', {}, 'hivemind_poll'),
  ],
  'the shared buffer': [
    works('hivemind_post', { body: 'Hello @Human' }),
    works('hivemind_post', { body: 'Seen.', replyTo: 'MESSAGE' }),
    works('hivemind_read', {}),
    teaches('hivemind_post', { message: 'Hello' }, { body: 'Hello' }),
    teaches('hivemind_post', { text: 'Hello' }, { body: 'Hello' }),
    teaches('hivemind_post', { content: 'Hello' }, { body: 'Hello' }),
    teaches('hivemind_post', { body: 'Yes.', in_reply_to: 'MESSAGE' }, { body: 'Yes.', reply_to: 'MESSAGE' }),
    teaches('hivemind_post', { body: 'Now.', priority: 'high' }, { body: 'Now.' }),
    teaches('hivemind_read', { search: 'Hello' }, { query: 'Hello' }),
    works('hivemind_read', { limit: '5' }),
    works('hivemind_has_unprocessed_mentions', {}),
    works('hivemind_get_unprocessed_mentions', { claude_id: 'Claude-abc12' }),
    works('hivemind_process_mentions', { mention_ids: ['MENTION'] }),
    works('hivemind_process_mentions', { all: true }),
    teaches('hivemind_process_mentions', {}, { all: true }),
    teaches('hivemind_process_mentions', { mention_ids: 'MENTION' }, { mention_ids: ['MENTION'] }),
    teaches('nvim_get_unprocessed_mentions', {}, 'hivemind_get_unprocessed_mentions'),
  ],
  'everything else': [
    works('hivemind_sessions', {}),
    works('hivemind_status', {}),
    works('hivemind_respond', { ask_id: 'THEIRS', leave: true }),
    works('hivemind_note', { ask_id: 'ASK', note: 'The tests are green.' }),
    works('hivemind_ping_user', { message: 'The build is green.' }),
    works('hivemind_send_card', { title: 'Build', buttons: [{ label: 'Go' }] }),
    works('hivemind_report_updates', { message: 'Built and tested.' }),
    teaches('hivemind_note', { ask_id: 'ASK', comment: 'Green.' }, { ask_id: 'ASK', note: 'Green.' }),
    teaches('hivemind_ping_user', { text: 'Look.' }, { message: 'Look.' }),
    teaches(
      'hivemind_report_updates',
      { summary: 'All.' },
      { message: 'Built and tested; nothing is open.' },
    ),
    teaches('hivemind_respond', { ask_id: 'THEIRS', answer: 'yes' }, { ask_id: 'THEIRS', decision: 'yes' }),
    teaches('hivemind_cancel', { id: 'ASK' }, { ask_id: 'ASK' }),
  ],
};

test.each(Object.entries(CALLS))('%s', async (_what, calls) => {
  const at = await scene();
  const wrong: (string | null)[] = [];
  for (const call of calls) wrong.push(await wrongWith(call, at));
  expect(wrong.filter((one) => one !== null)).toEqual([]);
});

/** Every call that a page for people or agents shows. */
function callsInDocs(): FirstCall[] {
  const folders = ['docs', 'docs/internals', 'plugin/commands', '.'];
  const pages = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.md') && file !== 'specification.md')
      .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
  );
  return pages.flatMap((page) => {
    const text = page
      .replace(/: …/g, ': "…"')
      .replace(/ask-\w{16}|<ask 1>/g, 'ASK')
      .replace(/### (hivemind_\w+)\n[^#]*?```json\n/g, '$1 ');
    return [...text.matchAll(/hivemind_\w+ (?=\{)/g)].flatMap(({ index }) => callIn(text.slice(index)) ?? []);
  });
}

/** Words that are right only in the situation of their page: other ids, nobody to interrupt, no such name, nothing to wait for. */
const ELSEWHERE = /"turn_id"|"leave"|"session"|"to"|<|Claude-/;

test('every call in the documentation', async () => {
  const at = await scene();
  const calls = callsInDocs().filter(({ args }) => !ELSEWHERE.test(JSON.stringify(args)));
  expect(new Set(calls.map(({ tool }) => tool)).size).toBeGreaterThanOrEqual(15);
  const wrong: (string | null)[] = [];
  for (const call of calls) {
    // A coordinator does not answer its own question.
    const args = call.tool === 'hivemind_respond' ? { ...call.args, ask_id: 'THEIRS' } : call.args;
    wrong.push(await wrongWith({ ...call, args }, at));
  }
  expect(wrong.filter((one) => one !== null)).toEqual([]);
});
