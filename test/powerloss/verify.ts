/** Opens a disk as it may be found after a power cut, and compares it with what somebody was told before the cut. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { CLAUDE_JSON, copyOf, emacsOf, SETTINGS } from './scenarios.ts';
import type { Fact } from './world.ts';

export interface Found {
  disk: string;
  store: string;
  /** The name of the scenario. */
  scenario: string;
  /** Everything that was told before the cut. */
  told: readonly Fact[];
  /** The first process believes that the machine was not started again: a planted fault. */
  same_start: boolean;
}

type Of<Did extends Fact['did']> = Extract<Fact, { did: Did }>;

const EVENT = { type: 'session/changed', session_id: null, subject: null, data: {} } as const;
let restarts = 0;

/** Faults, as sentences; none if nothing that was told is missing. */
export async function problemsOf(found: Found): Promise<string[]> {
  const { disk, store, scenario, told, same_start } = found;
  const problems = await problemsOfStore(store, told, same_start);
  if (scenario === 'copy') problems.push(...(await problemsOfCopy(found)));
  if (scenario === 'outbox') problems.push(...problemsOfOutbox(found));
  if (scenario === 'init') problems.push(...problemsOfFiles(join(disk, 'home'), store, told));
  return problems;
}

export function of<Did extends Fact['did']>(told: readonly Fact[], did: Did): Of<Did>[] {
  return told.filter((fact): fact is Of<Did> => fact.did === did);
}

/** Opens the store as the first process after the restart does, and writes one event. */
async function nextNumber(store: string, same_start: boolean): Promise<number> {
  restarts += 1;
  const path = await prepareSqliteFile(store);
  const opened = await openStore(openSqlite(path, same_start ? {} : { boot: `restart ${restarts}` }), path);
  try {
    return await opened.write(async (tx) => {
      await tx.events.append(EVENT);
      return tx.events.head();
    });
  } finally {
    await opened.close();
  }
}

async function problemsOfStore(store: string, told: readonly Fact[], same_start = false): Promise<string[]> {
  const promised = told.filter(({ did }) => PROMISES_OF_THE_STORE.has(did));
  if (!existsSync(store)) return promised.length === 0 ? [] : [`There is no store, but ${said(promised)}.`];
  const problems: string[] = [];
  let next: number;
  try {
    next = await nextNumber(store, same_start);
  } catch (error) {
    return [`The store does not open: ${String(error)}`];
  }
  const seen = Math.max(0, ...of(told, 'saw').map(({ seq }) => seq));
  if (next <= seen) problems.push(`Number ${next} is used again: somebody has seen ${seen}.`);
  const database = new DatabaseSync(store);
  try {
    const check = database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    if (check[0]?.integrity_check !== 'ok') problems.push(`The store is damaged: ${JSON.stringify(check)}`);
    problems.push(...(await missingIn(async (sql) => database.prepare(sql).all(), told)));
  } finally {
    database.close();
  }
  return problems;
}

const PROMISES_OF_THE_STORE: ReadonlySet<Fact['did']> = new Set([
  'made',
  'asked',
  'answered',
  'cancelled',
  'posted',
  'pruned',
]);

interface Row {
  ask_id: string;
  question: string;
  status: string;
  decision: string | null;
}

/** Rows of the store, read by the engine's own client. */
export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

export async function missingIn(query: Query, told: readonly Fact[]): Promise<string[]> {
  const problems: string[] = [];
  const rows = await query('SELECT ask_id, question, status, decision FROM prompts');
  const prompts = new Map(rows.map((row) => [String(row['ask_id']), row as unknown as Row]));
  const created = new Set(
    (await query(`SELECT subject FROM events WHERE type = 'prompt/created'`)).map((row) => row['subject']),
  );
  for (const { ask_id, question } of of(told, 'asked')) {
    if (prompts.get(ask_id)?.question !== question)
      problems.push(`The question ${ask_id} is missing, which was acknowledged.`);
    else if (!created.has(ask_id)) problems.push(`The question ${ask_id} has no event.`);
  }
  for (const { ask_id, decision } of of(told, 'answered'))
    if (prompts.get(ask_id)?.decision !== decision)
      problems.push(`The answer "${decision}" to ${ask_id} is missing, which was acknowledged.`);
  for (const { ask_id } of of(told, 'cancelled'))
    if (prompts.get(ask_id)?.status !== 'cancelled') problems.push(`${ask_id} is not cancelled any more.`);
  const messages = (await query('SELECT message_id FROM messages')).map((row) => row['message_id']);
  for (const { message_id } of of(told, 'posted'))
    if (!messages.includes(message_id)) problems.push(`The message ${message_id} is missing.`);
  for (const { ask_ids } of of(told, 'pruned'))
    for (const ask_id of ask_ids)
      if (prompts.has(ask_id)) problems.push(`${ask_id} is there again, which was pruned.`);
  const tried = new Set(of(told, 'tried').map(({ text }) => text));
  for (const { ask_id, decision } of prompts.values())
    if (decision !== null && !tried.has(decision))
      problems.push(`${ask_id} has the decision "${decision}", which nobody gave.`);
  return problems;
}

async function problemsOfCopy({ disk, told }: Found): Promise<string[]> {
  const copy = copyOf(disk);
  if (!existsSync(copy))
    return of(told, 'copied').length > 0 ? ['There is no copy, which was reported as done.'] : [];
  // It appears when it is complete.
  return (await problemsOfStore(copy, told)).map((problem) => `In the copy: ${problem}`);
}

/** An answer that Emacs called queued is in the store, or in a complete line of a file that the next Emacs reads. */
function problemsOfOutbox({ disk, store, told }: Found): string[] {
  const folder = join(emacsOf(disk), 'hive/outbox');
  const lines = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1));
  const kept = lines.flatMap((line) => {
    try {
      return [String((JSON.parse(line) as { params?: { decision?: string } }).params?.decision)];
    } catch {
      return [];
    }
  });
  const stored: unknown[] = [];
  if (existsSync(store)) {
    const database = new DatabaseSync(store, { readOnly: true });
    stored.push(
      ...database
        .prepare('SELECT decision FROM responses')
        .all()
        .map((row) => row['decision']),
    );
    database.close();
  }
  return of(told, 'queued')
    .filter(({ decision }) => !kept.includes(decision) && !stored.includes(decision))
    .map(({ decision }) => `"${decision}" is in no outbox and not in the store, which Emacs called queued.`);
}

/** The files of the person's client, and that of the token: before or after a change, never between. */
function problemsOfFiles(home: string, store: string, told: readonly Fact[]): string[] {
  const problems: string[] = [];
  const installed = of(told, 'installed').length > 0;
  for (const [name, before] of [
    ['.claude/settings.json', SETTINGS],
    ['.claude.json', CLAUDE_JSON],
  ] as const) {
    const text = existsSync(join(home, name)) ? readFileSync(join(home, name), 'utf8') : '';
    try {
      JSON.parse(text);
      if (text === before ? installed : !text.includes('hive'))
        problems.push(`${name} is as it was before, which was reported as changed.`);
    } catch {
      problems.push(`${name} is torn: ${JSON.stringify(text)}`);
    }
  }
  const file = join(store, '../token');
  const secrets = of(told, 'token').map(({ secret }) => secret);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : null;
  if (text === null ? secrets.length > 0 : !/^\S{20,}\n$/.test(text))
    problems.push(`The file of the token holds ${JSON.stringify(text)}.`);
  else if (text !== null && secrets.includes(text.trim()) && text.trim() !== secrets.at(-1))
    problems.push('The file of the token holds an older one.');
  return problems;
}

function said(facts: readonly Fact[]): string {
  return `somebody was told: ${facts.map(({ did }) => did).join(', ')}`;
}
