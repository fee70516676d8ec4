/**
 * Faults around a human at work, driven with real keys: the store vanishes, the disk is full, a context is huge.
 *
 * @module-tag untrusted
 * @module-tag durable
 * @module-tag emacs
 */
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ALMOST_Q, command, type Home, lisp, openHome } from '../support/emacs.ts';
import { fillDisk, smallDisk } from '../support/small-disk.ts';
import { openTerminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

let home: Home;

beforeEach(async () => {
  home = await openHome();
});

test('the store vanishes: an answer waits on the disk, and is stored once the store is back', async () => {
  const emacs = await home.emacs();
  const [ask_id] = await home.asked(emacs, { question: 'Still there?' });
  await emacs.command('hive-respond');
  await emacs.until(/asks: Still there\?/);
  const [place, away] = [join(home.folder, 'store'), join(home.folder, 'away')];
  renameSync(place, away);
  await emacs.enter('I am');
  await emacs.said(/Answer queued/);
  await expect(home.stored(ask_id)).rejects.toThrow(/was moved or removed/);
  expect(home.outboxFiles()).toHaveLength(1);
  await emacs.command('hive-doctor');
  await emacs.until(/\*hive doctor\*/);
  await emacs.until(/Outbox +1 unsent/);
  renameSync(away, place);
  await eventually(async () => (await home.stored(ask_id)).status === 'responded', 30_000);
  expect(await home.stored(ask_id)).toMatchObject({ decision: 'I am', by: 'Ada' });
  await eventually(() => home.outboxFiles().length === 0, 10_000);
});

test('the disk is full while a draft is saved: the text stays, and is kept once there is room', {
  tags: ['mounts'],
}, async () => {
  const folder = join(home.folder, 'disk');
  mkdirSync(folder);
  const disk = smallDisk(folder, '64k');
  const drafts = join(folder, 'drafts');
  const { args, env, connected } = home.arguments(`(setq hive-drafts-directory ${lisp(`${drafts}/`)})`);
  const { program, args: whole } = disk.command('emacs', ['-nw', ...ALMOST_Q, ...args]);
  const emacs = await openTerminal(folder, { ...env, ...disk.env }, [program, ...whole]);
  try {
    await eventually(() => connected !== '' && isThere(connected), 10_000, 'the connection of Emacs');
    const { ask_id } = (await home.agent.prompts.ask({ question: 'What is the plan?' })).prompt;
    await emacs.until(/hive 1\b/);
    await command(emacs, 'hive-next');
    await emacs.answer(/What is the plan\?[\s\S]*TAB skip/, 'o');
    await emacs.press(/Hive-Question/, 'e');
    await emacs.until(/Hive-Answer/);
    await emacs.type('first, ');
    const pid = await emacs.pid();
    const kept = (): string => readFileSync(`/proc/${pid}/root${drafts}/${ask_id}.txt`, 'utf8');
    await eventually(() => attempt(kept) === 'first, ', 10_000, 'the draft');
    const makeRoom = fillDisk(pid, folder);
    await emacs.type('second, ');
    await emacs.until(/Hive could not save your draft \(.*[Nn]o space left/);
    await emacs.until(/first, second,$/m);
    // The draft that was kept before stays whole.
    expect(kept()).toBe('first, ');
    makeRoom();
    await emacs.type('third');
    await eventually(() => attempt(kept) === 'first, second, third', 10_000, 'the draft');
    await emacs.keys('C-c', 'C-c');
    await eventually(async () => (await home.stored(ask_id)).status === 'responded', 10_000);
    expect(await home.stored(ask_id)).toMatchObject({ decision: 'first, second, third' });
  } finally {
    await emacs.close();
  }
});

function isThere(path: string): boolean {
  return attempt(() => readFileSync(path, 'utf8')) !== undefined;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
