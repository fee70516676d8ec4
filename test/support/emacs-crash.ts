/**
 * Rounds of kill -9 with a real Emacs: it answers without pause through `hive-respond` into its outbox, and is
 * killed with its sidecar at a random moment, in changing order. The Emacs of the next round adopts what the
 * dead one left. What the echo area said was queued is stored exactly once, or is kept as rejected.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type Random, randomOf } from '../chaos/random.ts';
import { type Child, ROOT, spawnChild } from './children.ts';
import { type EmptyHome, lisp, openEmptyHome, sidecarOf } from './emacs.ts';
import { ask, openTestHive, withoutQuotas } from './hive.ts';
import { eventually, moment } from './wait.ts';

/** The number of questions pending at any time: more than Emacs answers while its sidecar is dead. */
const WAITING = 40;
/** In one of so many questions free text is off, so the first answer is refused for good. */
const STRICT = 5;

/** The least number of answers in each round. */
const ANSWERS = 4;

/** The reports in the echo areas of all Emacsen, by the text of the answer. */
interface Books {
  /** "queued": the answer is on disk. */
  queued: Set<string>;
  /** "(stored)" */
  stored: Set<string>;
  /** Answers that were only in the file of a dead Emacs. */
  adopted: number;
}

export async function emacsCrashRounds(rounds: number, seed: number): Promise<void> {
  // A home without an agent: an Emacs that an agent's process started is not a desk.
  const home = await openEmptyHome();
  const hive = await withoutQuotas(await openTestHive(home.store));
  const books: Books = { queued: new Set(), stored: new Set(), adopted: 0 };
  const random = randomOf(seed, 'emacs');
  const asking = askOn(hive);
  try {
    for (let round = 0; round < rounds; round += 1) await oneRound(home, round, random, books);
    const last = startEmacs(home, '(while t (sleep-for 0.05))');
    await eventually(() => existsSync(last.connected), 20_000, 'the connection of the last Emacs');
    await eventually(() => emacsOutbox(home).pending.length === 0, 60_000, 'an empty outbox');
    await last.emacs.kill('SIGKILL');
    checkBooks(home, rounds, books);
  } finally {
    await asking.stop();
  }
}

function startEmacs(home: EmptyHome, lispForm: string): { emacs: Child; connected: string } {
  const { args, env, connected } = home.arguments("(require 'hive-answer-on)");
  const load = ['-L', join(ROOT, 'test/emacs'), ...args, '--eval', lispForm];
  return { emacs: spawnChild('emacs', ['-Q', '--batch', ...load], env), connected };
}

async function oneRound(home: EmptyHome, round: number, random: Random, books: Books): Promise<void> {
  const { emacs } = startEmacs(home, `(hive-answer-on ${lisp(`round ${round}`)})`);
  const queued = (): number => heard(emacs).queued.length;
  const more = async (): Promise<void> => {
    const before = queued();
    await eventually(() => queued() > before, 20_000, 'another answer');
  };
  const working = (): boolean => heard(emacs).stored.length > 0 && queued() >= ANSWERS;
  await eventually(working, 20_000, `${ANSWERS} answers in round ${round}`);
  await moment(random.between(0, 250));
  const sidecar = sidecarOf(emacs.pid);
  const kills = [() => process.kill(sidecar, 'SIGKILL'), () => process.kill(emacs.pid, 'SIGKILL')];
  // In turn: the sidecar first, while answers are only in the file; Emacs first; both in quick succession.
  if (round % 3 === 1 || (round % 3 === 2 && random.chance(0.5))) kills.reverse();
  kills[0]?.();
  if (round % 3 === 0) await more();
  if (round % 3 < 2) await moment(random.between(0, 40));
  try {
    kills[1]?.();
  } catch {} // A sidecar ends by itself when its Emacs has died.
  await emacs.exited;
  const said = heard(emacs);
  for (const text of said.queued) books.queued.add(text);
  for (const text of said.stored) books.stored.add(text);
  books.adopted += emacsOutbox(home).pending.length;
}

/** The reports of an Emacs so far: the texts of the answers that it called queued, and of those that it called stored. */
function heard(emacs: Child): { queued: string[]; stored: string[] } {
  const said: { queued: string[]; stored: string[] } = { queued: [], stored: [] };
  let typed = '';
  for (const line of emacs.stderr().split('\n')) {
    typed = /^typed (.+)$/.exec(line)?.[1] ?? typed;
    if (
      /^(Answer queued$|Late answer queued$|This question (is|was) already .* in the kill ring$)/.test(line)
    )
      said.queued.push(typed);
    const stored = /^Answered [^:]+: (.+) \(stored\)$/.exec(line)?.[1];
    if (stored !== undefined) said.stored.push(stored);
  }
  return said;
}

/** The answers in the files of the outbox, by their texts. */
export function emacsOutbox({ outbox: folder }: EmptyHome): { pending: string[]; rejected: string[] } {
  const answers = new Map<string, { decision: string; rejected: boolean }>();
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
  for (const line of files.flatMap((name) => read(join(folder, name)).split('\n'))) {
    const record = parse(line);
    if (record?.entry === 'added')
      answers.set(record.response_id, { decision: record.params.decision, rejected: false });
    const known = answers.get(record?.response_id ?? '');
    if (record?.entry === 'rejected' && known !== undefined) known.rejected = true;
    if (record?.entry === 'closed') answers.delete(record.response_id);
  }
  const texts = (rejected: boolean): string[] =>
    [...answers.values()].filter((one) => one.rejected === rejected).map(({ decision }) => decision);
  return { pending: texts(false), rejected: texts(true) };
}

/** If Emacs renames or deletes a file in the meantime, it is read the next time. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

interface OutboxRecord {
  entry: string;
  response_id: string;
  params: { decision: string };
}

/** A line that a crash cut off is not a record. */
function parse(line: string): OutboxRecord | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Keeps questions pending until it is stopped. */
function askOn(hive: OpenedHive): { stop(): Promise<void> } {
  let going = true;
  let asked = 0;
  const work = (async () => {
    while (going) {
      const waiting = await hive.store.read((tx) => tx.prompts.count({ status: 'pending' }));
      for (let missing = WAITING - waiting; going && missing > 0; missing -= 1) {
        asked += 1;
        const strict = asked % STRICT === 0 ? { options: [`Yes to ${asked}`], allow_free_text: false } : {};
        await ask(hive, { question: `Question ${asked}?`, ...strict });
      }
      await moment(20);
    }
  })();
  return {
    stop: async () => {
      going = false;
      await work;
    },
  };
}

function checkBooks(home: EmptyHome, rounds: number, { queued, stored, adopted }: Books): void {
  const database = new DatabaseSync(home.store, { readOnly: true, timeout: 5_000 });
  const rows = database.prepare('SELECT decision, ask_id, outcome FROM responses').all();
  database.close();
  const inStore = rows.map((row) => String(row['decision']));
  const { pending, rejected } = emacsOutbox(home);
  expect(pending).toEqual([]);

  const kept = Map.groupBy([...inStore, ...rejected], (text) => text);
  const times = (text: string): number => kept.get(text)?.length ?? 0;
  expect(
    [...queued].filter((text) => times(text) === 0),
    'answers that were queued and are lost',
  ).toEqual([]);
  expect(
    [...kept.keys()].filter((text) => times(text) > 1),
    'answers that are kept twice',
  ).toEqual([]);
  expect(
    [...stored].filter((text) => !inStore.includes(text)),
    'said to be stored, and not',
  ).toEqual([]);
  // A question that was answered before a crash is not asked again after it.
  const byQuestion = Map.groupBy(rows, (row) => row['ask_id']);
  expect([...byQuestion.values()].filter((answers) => answers.length > 1)).toEqual([]);

  // Checks that what the rounds test did happen.
  expect(queued.size).toBeGreaterThanOrEqual(ANSWERS * rounds);
  expect(adopted).toBeGreaterThan(0);
  expect(rejected.length).toBeGreaterThan(0);
}
