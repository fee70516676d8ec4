/**
 * Answers given and corrected with real keys in a real terminal, and what becomes of them when something dies.
 *
 * @module-tag one-winner
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { remainingProcesses } from '../support/children.ts';
import { type EmacsTerminal, type Home, openHome, startsOverAfterFailure } from '../support/emacs.ts';
import { eventsOf, openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { eventually } from '../support/wait.ts';

let home: Home;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  emacs = await home.emacs();
});
startsOverAfterFailure(() => ({ home, emacs }));

const OPTIONS = [
  { label: 'Yes, at once', description: 'Takes a minute' },
  { label: 'No' },
  { label: 'Later' },
];

describe('hive-respond', () => {
  test('free text, with spaces and any character', async () => {
    const [ask_id] = await home.asked(emacs, { question: 'How shall I name it?' });
    await emacs.command('hive-respond');
    await emacs.reply(/asks: How shall I name it\?/, 'the bee, 100% %s "ä 漢字" \\ ?');
    const answer = await home.answerTo(ask_id);
    expect(answer).toMatchObject({
      status: 'responded',
      decision: 'the bee, 100% %s "ä 漢字" \\ ?',
      selected: [],
    });
    expect(answer).toMatchObject({ by: 'Ada', via: 'emacs' });
    await emacs.said(/Answered Deployer: the bee.*\(stored\)/);
    expect(home.outboxFiles()).toEqual([]);
    await emacs.until(/^(?![\s\S]*hive \d\b)/);
  });

  test('an option, completed', async () => {
    const [ask_id] = await home.asked(emacs, { question: 'Deploy?', options: OPTIONS });
    await emacs.command('hive-respond');
    await emacs.press(/Deploy\? \(Yes, at once \/ No \/ Later \/ your own words\)/, 'Tab');
    await emacs.until(/Yes, at once +Takes a minute/);
    await emacs.type('Y');
    await emacs.keys('Tab', 'Enter');
    expect(await home.answerTo(ask_id)).toMatchObject({
      decision: 'Yes, at once',
      selected: ['Yes, at once'],
    });
  });
});

test('hive-amend corrects chosen options and their comment, and the event log keeps both answers', async () => {
  /** Free text beside chosen options, given on purpose. */
  const remarked = async (at: RegExp, text: string): Promise<void> => {
    await emacs.reply(at, text);
    await emacs.press(/Send it as a comment\?/, 'y');
  };
  const [ask_id] = await home.asked(emacs, { question: 'When?', options: OPTIONS, multi_select: true });
  await emacs.command('hive-respond');
  await emacs.reply(/RET adds one/, 'No');
  await remarked(/chosen: No;/, 'if nobody minds');
  await emacs.said(/Answered Deployer: No \(stored\)/);
  await emacs.command('hive-amend');
  await emacs.until(/Correct which answer \(default /);
  await emacs.type('Deployer: When?');
  await emacs.keys('Tab', 'Enter');
  await emacs.until(/Correct your answer to Deployer: /);
  await emacs.reply(/RET adds one/, 'Later');
  await remarked(/chosen: Later;/, 'after eight');
  await emacs.reply(/Comment \(empty for none\): if nobody minds\n.*after eight/, ' "ä 漢字"');
  await emacs.said(/Corrected: Later \(stored\)/);
  expect(await home.stored(ask_id)).toMatchObject({
    status: 'responded',
    selected: ['Later'],
    comment: 'if nobody minds\nafter eight "ä 漢字"',
    by: 'Ada',
    via: 'emacs',
    amended: true,
  });
  const trail = await eventsOf(await openTestHive(home.store), 'prompt/responded', 'prompt/amended');
  const about = trail.filter(({ subject }) => subject === ask_id);
  expect(about.map(({ data }) => data['decision'])).toEqual(['No', 'Later']);
  expect(home.outboxFiles()).toEqual([]);
});

test('hive-doctor says that everything is right', async () => {
  await emacs.command('hive-doctor');
  await emacs.press(
    /\d+ checks: \d+ ok, \d+ not set up, 0 broken\.\n[\s\S]*ok {2}Sidecar +hive-sidecar [\s\S]*ok {2}Outbox +0 unsent, 0 rejected[\s\S]*ok {2}Node +v/,
    'q',
  );
});

describe('when something dies', () => {
  test('an answer typed while the sidecar is dead is queued, and stored when it is back', async () => {
    const [ask_id] = await home.asked(emacs, { question: 'Still there?' });
    await emacs.command('hive-respond');
    await emacs.until(/asks: Still there\?/);
    await emacs.type('I am, ');
    process.kill(await home.sidecarPid(), 'SIGKILL');
    await emacs.enter('always');
    await emacs.said(/Answer queued|I am, always \(stored\)/);
    expect(await home.answerTo(ask_id)).toMatchObject({ decision: 'I am, always' });
    await emacs.said(/Answered Deployer: I am, always \(stored\)/);
    await eventually(() => home.outboxFiles().length === 0);
  });

  test('a half-typed answer is there again, however Emacs ends', async () => {
    const drafts = join(home.folder, '.emacs.d/hive/drafts');
    const [ask_id] = await home.asked(emacs, { question: 'Half?' });
    const file = join(drafts, `${ask_id}.txt`);
    const draft = (): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null);
    const ends: [text: string, end: () => Promise<unknown>][] = [
      ['one ', async () => process.kill(await emacs.pid(), 'SIGHUP')],
      [
        'two ',
        async () => {
          await eventually(() => draft() === 'one two ');
          process.kill(await emacs.pid(), 'SIGKILL');
        },
      ],
    ];
    let typed = '';
    for (const [text, end] of ends) {
      await emacs.command('hive-respond');
      // A screen has no spaces at the end of a line.
      await emacs.until(new RegExp(`asks: Half\\? ${typed}`.trimEnd()));
      await emacs.type(text);
      typed += text;
      await emacs.until(new RegExp(`asks: Half\\? ${typed}`.trimEnd()));
      const sidecar = await home.sidecarPid();
      await end();
      await eventually(() => !processes.alive(sidecar));
      // Emacs may still be writing it.
      await eventually(() => draft() === typed);
      emacs = await home.emacs();
      await emacs.until(/hive 1\b/);
    }
    await emacs.command('hive-respond');
    await emacs.press(/asks: Half\? one two/, 'Enter');
    expect(await home.answerTo(ask_id)).toMatchObject({ decision: 'one two ' });
    await eventually(() => readdirSync(drafts).length === 0);
  });

  test('Emacs ends at once, and its sidecar with it', async () => {
    const sidecar = await home.sidecarPid();
    await emacs.keys('C-x', 'C-c');
    await eventually(() => !remainingProcesses().some((left) => left.startsWith(`${sidecar} `)));
  });
});
