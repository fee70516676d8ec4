/**
 * Agents' text reaches a terminal inert, whichever command prints it.
 *
 * @module-tag untrusted
 * @module-tag sqlite
 */
import { expect, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { openDesk } from '../support/dialogs.ts';
import { HUMAN, introduction, newHive } from '../support/hive.ts';
import { post } from '../support/messages.ts';

/** Sets a title, clears the screen by a C1 character, goes back over a line, reorders and hides. */
const HOSTILE = 'a\u001b]0;owned\u0007b\u009b2Jc\rd\u0008e\u202ef\u200bg\u2066h';
/** Everything of it that a terminal would obey or hide; a line feed and a tab are text. */
const OBEYED = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

/** `messages --format shared` is a file, which a pipe gets as it is. */
const COMMANDS: readonly string[][] = [
  ['list'],
  ['list', '--status', 'responded'],
  ['history'],
  ['history', '--format', 'org'],
  ['history', '--format', 'markdown'],
  ['store', 'log'],
  ['messages', '--all'],
  ['mentions'],
  ['outreach'],
  ['sessions'],
  ['sessions', '--ended'],
  ['stats'],
  ['status'],
  ['rules'],
];

test('no command prints what a terminal would obey', async () => {
  const { store, hive } = await newHive();
  const person = shell(store);
  const session = await hive.sessions.introduce(
    introduction({
      client: HOSTILE,
      source: 'bg',
      project: HOSTILE,
      project_dir: `/tmp/${HOSTILE}`,
      branch: HOSTILE,
      name: HOSTILE,
    }),
  );
  const asked = await hive.prompts.ask(
    {
      question: HOSTILE,
      header: HOSTILE,
      context: HOSTILE,
      options: [{ label: `${HOSTILE}1`, description: HOSTILE }, { label: 'no' }],
    },
    session,
  );
  await hive.prompts.note(asked.prompt.ask_id, HOSTILE, session);
  const other = await hive.prompts.ask({ question: `${HOSTILE}?` }, session);
  await hive.prompts.respond({
    ask_id: other.prompt.ask_id,
    decision: HOSTILE,
    comment: HOSTILE,
    actor: HUMAN,
  });
  await post(hive, session, `@Human ${HOSTILE}`);
  await openDesk(hive);
  await hive.outreach.ping({ message: HOSTILE }, session);
  await hive.outreach.card({ title: HOSTILE, description: HOSTILE }, session);
  await hive.notices.give({ severity: 'warning', text: HOSTILE, session_id: session.session_id, data: {} });
  const { ask_id } = asked.prompt;
  const texts = [...COMMANDS, ['poll', ask_id], ['respond', ask_id, HOSTILE]];
  const found: string[] = [];
  for (const args of [...texts, ...texts.map((words) => [...words, '--json'])]) {
    const { out, err } = await person.hive(...args);
    if (OBEYED.test(out + err)) found.push(args.join(' '));
  }
  expect(found).toEqual([]);
});
