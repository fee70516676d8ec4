/**
 * Answers given with real keys in a real terminal, and what becomes of them when something dies.
 *
 * @module-tag one-winner
 * @module-tag undisturbed
 * @module-tag sqlite
 * @module-tag emacs
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AskRequest } from '../../src/index.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { remainingProcesses } from '../support/children.ts';
import {
  command as commandIn,
  type EmacsTerminal,
  type Home,
  openHome,
  startsOverAfterFailure,
} from '../support/emacs.ts';
import { eventually, PATIENCE_MS } from '../support/wait.ts';

let home: Home;
let emacs: EmacsTerminal;

beforeAll(async () => {
  home = await openHome();
  emacs = await home.emacs();
});
startsOverAfterFailure(() => ({ home, emacs }));
afterAll(async () => home.close());

/** Asks, and waits until Emacs shows that this many are pending. */
async function ask(request: AskRequest, waiting = 1): Promise<string> {
  // What was answered before is gone from the mode line: the count that comes is of this question.
  await emacs.until(waiting === 1 ? /^(?![\s\S]*hive \d+\b)/ : new RegExp(`hive ${waiting - 1}\\b`));
  const { prompt } = await home.agent.prompts.ask(request);
  await emacs.until(new RegExp(`hive ${waiting}\\b`));
  return prompt.ask_id;
}

/** What the agent gets when it polls. */
async function answerTo(ask_id: string) {
  const [answer] = await home.agent.prompts.poll([ask_id], { wait_ms: PATIENCE_MS });
  return answer?.prompt;
}

const command = (name: string): Promise<void> => commandIn(emacs, name);

const OPTIONS = [
  { label: 'Yes, at once', description: 'Takes a minute' },
  { label: 'No' },
  { label: 'Later' },
];

describe('hive-respond', () => {
  test('free text, with spaces and any character', async () => {
    const ask_id = await ask({ question: 'How shall I name it?' });
    await command('hive-respond');
    await emacs.until(/asks: How shall I name it\?/);
    await emacs.type('the bee, 100% %s "ä 漢字" \\ ?');
    await emacs.keys('Enter');
    const answer = await answerTo(ask_id);
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
    const ask_id = await ask({ question: 'Deploy?', options: OPTIONS });
    await command('hive-respond');
    await emacs.until(/Deploy\? \(Yes, at once \/ No \/ Later \/ your own words\)/);
    await emacs.keys('Tab');
    await emacs.until(/Yes, at once +Takes a minute/);
    await emacs.type('Y');
    await emacs.keys('Tab', 'Enter');
    expect(await answerTo(ask_id)).toMatchObject({ decision: 'Yes, at once', selected: ['Yes, at once'] });
  });

  test('free text instead of an option', async () => {
    const ask_id = await ask({ question: 'Deploy?', options: OPTIONS });
    await command('hive-respond');
    await emacs.until(/your own words/);
    await emacs.type('Why not wait?');
    await emacs.keys('Enter');
    expect(await answerTo(ask_id)).toMatchObject({ decision: 'Why not wait?', selected: [] });
  });

  test('several options', async () => {
    const ask_id = await ask({
      question: 'Which?',
      options: OPTIONS,
      multi_select: true,
      allow_free_text: false,
    });
    await command('hive-respond');
    await emacs.until(/RET adds one, empty RET sends/);
    await emacs.type('Later');
    await emacs.keys('Enter');
    await emacs.until(/chosen: Later; empty RET sends/);
    await emacs.type('Yes, at once');
    await emacs.keys('Enter');
    await emacs.until(/chosen: Later, Yes, at once; empty RET sends/);
    await emacs.keys('Enter');
    expect(await answerTo(ask_id)).toMatchObject({
      decision: 'Yes, at once, Later',
      selected: ['Yes, at once', 'Later'],
    });
  });

  test('one of several questions; C-g leaves it as it was', async () => {
    const low = await ask({ question: 'No hurry?', urgency: 'low' });
    const critical = await ask({ question: 'The house burns?', urgency: 'critical' }, 2);
    await command('hive-respond');
    await emacs.until(/Answer \(2 pending, default /);
    await emacs.keys('Enter');
    await emacs.until(/asks: The house burns\?/);
    await emacs.keys('C-g');
    // A second later the question is announced there.
    await emacs.until(/Quit|The house burns\? \(and 1 more\)/);
    expect((await home.agent.prompts.get(critical)).status).toBe('pending');
    await command('hive-respond');
    await emacs.until(/Answer \(2 pending, default /);
    await emacs.type('Deployer: No');
    await emacs.keys('Tab', 'Enter');
    await emacs.until(/asks: No hurry\?/);
    await emacs.type('none');
    await emacs.keys('Enter');
    expect(await answerTo(low)).toMatchObject({ decision: 'none' });
    await command('hive-respond');
    await emacs.until(/asks: The house burns\?/);
    await emacs.type('water');
    await emacs.keys('Enter');
    expect(await answerTo(critical)).toMatchObject({ decision: 'water' });
  });

  test('a long question with its context is shown beside the minibuffer', async () => {
    const context = ['# What I found', ...Array.from({ length: 5 }, (_, i) => `line ${i}`)].join('\n');
    const ask_id = await ask({ question: 'First line\nsecond line \u001b[31m', context });
    await command('hive-respond');
    await emacs.until(/second line \^\[\[31m[\s\S]*# What I found[\s\S]*asks: First line second line/);
    await emacs.type('seen');
    await emacs.keys('Enter');
    expect(await answerTo(ask_id)).toMatchObject({ decision: 'seen' });
    await emacs.said(/seen \(stored\)/);
    await emacs.until(/^(?![\s\S]*What I found)/);
  });
});

test('hive-list: a answers, c cancels', async () => {
  const first = await ask({ question: 'First thing?' });
  const second = await ask({ question: 'Second thing?' }, 2);
  await command('hive-list');
  await emacs.until(/Deployer .*First thing\?\n.*Deployer .*Second thing\?/);
  await emacs.keys('C-n', 'a');
  await emacs.until(/asks: Second thing\?/);
  await emacs.type('done');
  await emacs.keys('Enter');
  expect(await answerTo(second)).toMatchObject({ decision: 'done' });
  await emacs.until(/^(?![\s\S]*Second thing\?)/);
  await emacs.keys('M-<', 'c');
  await emacs.until(/Cancel Deployer.s question\?/);
  await emacs.keys('y');
  expect(await answerTo(first)).toMatchObject({ status: 'cancelled', cancel_reason: 'human' });
  await emacs.said(/Cancelled Deployer.s question/);
  await emacs.keys('q');
});

test('hive-doctor says that everything is right', async () => {
  await command('hive-doctor');
  await emacs.until(
    /\d+ checks: \d+ ok, \d+ not set up, 0 broken\.\n[\s\S]*ok {2}Sidecar +hive-sidecar [\s\S]*ok {2}Outbox +0 unsent, 0 rejected[\s\S]*ok {2}Node +v/,
  );
  await emacs.keys('q');
});

describe('when something dies', () => {
  test('an answer typed while the sidecar is dead is queued, and stored when it is back', async () => {
    const ask_id = await ask({ question: 'Still there?' });
    await command('hive-respond');
    await emacs.until(/asks: Still there\?/);
    await emacs.type('I am, ');
    process.kill(await home.sidecarPid(), 'SIGKILL');
    await emacs.type('always');
    await emacs.keys('Enter');
    await emacs.said(/Answer queued|I am, always \(stored\)/);
    expect(await answerTo(ask_id)).toMatchObject({ decision: 'I am, always' });
    await emacs.said(/Answered Deployer: I am, always \(stored\)/);
    await eventually(() => home.outboxFiles().length === 0);
  });

  test('an answer that was queued survives the death of sidecar and Emacs', async () => {
    const ask_id = await ask({ question: 'Anybody?' });
    const sidecar = await home.sidecarPid();
    process.kill(sidecar, 'SIGSTOP');
    await command('hive-respond');
    await emacs.until(/asks: Anybody\?/);
    await emacs.type('me');
    await emacs.keys('Enter');
    await emacs.until(/Answer queued/);
    process.kill(await emacs.pid(), 'SIGKILL');
    process.kill(sidecar, 'SIGKILL');
    expect((await home.agent.prompts.get(ask_id)).status).toBe('pending');
    expect(home.outboxFiles()).toHaveLength(1);
    emacs = await home.emacs();
    expect(await answerTo(ask_id)).toMatchObject({ decision: 'me', by: 'Ada' });
    await eventually(() => home.outboxFiles().length === 0);
  });

  test('a half-typed answer is there again, however Emacs ends', async () => {
    const drafts = join(home.folder, '.emacs.d/hive/drafts');
    const ask_id = await ask({ question: 'Half?' });
    const file = join(drafts, `${ask_id}.txt`);
    const draft = (): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null);
    const ends: [text: string, end: () => Promise<unknown>][] = [
      ['one ', () => emacs.keys('C-x', 'C-c')],
      ['two ', async () => process.kill(await emacs.pid(), 'SIGHUP')],
      [
        'three ',
        async () => {
          await eventually(() => draft() === 'one two three ');
          process.kill(await emacs.pid(), 'SIGKILL');
        },
      ],
    ];
    let typed = '';
    for (const [text, end] of ends) {
      await command('hive-respond');
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
    await command('hive-respond');
    await emacs.until(/asks: Half\? one two three/);
    await emacs.keys('Enter');
    expect(await answerTo(ask_id)).toMatchObject({ decision: 'one two three ' });
    await eventually(() => readdirSync(drafts).length === 0);
  });

  test('Emacs ends at once, and its sidecar with it', async () => {
    const sidecar = await home.sidecarPid();
    await emacs.keys('C-x', 'C-c');
    await eventually(() => !remainingProcesses().some((left) => left.startsWith(`${sidecar} `)));
  });
});
