/**
 * Many questions that two phones and an Emacs answer at once, while connections are cut, replies are lost, and the server, the
 * browsers and Emacs are killed: no answer is lost, none counts twice, and each question has one winner. `HIVE_TEST_ANSWERS`
 * says how many questions, `HIVE_TEST_SEED` which troubles.
 * @module-tag one-winner
 * @module-tag durable
 */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { AskRequest } from '../../src/domain/prompts.ts';
import { openEmptyHome } from '../support/emacs.ts';
import { eventsOf, introduce } from '../support/hive.ts';
import { eventually, lots, moment } from '../support/wait.ts';
import { type CuttingProxy, cuttingProxy } from './support/cutting-proxy.ts';
import { type ServedInbox, serveInbox } from './support/inbox.ts';
import type { Report } from './support/race-page.ts';
import { type Emacs, type Hear, type Phone, startEmacs, startPhone } from './support/racers.ts';

const ANSWERS = Number(process.env['HIVE_TEST_ANSWERS'] ?? 10_000);
const SEED = Number(process.env['HIVE_TEST_SEED'] ?? 20_260_111);
const RACERS = ['One', 'Other', 'Emacs'];
/** In each, up to 100 questions are open at once, and one racer is killed. */
const TURNS = Math.max(RACERS.length, Math.ceil(ANSWERS / 100));
/** Ends a run that hangs: 1,000 answers take less than two minutes. */
const LIMIT_MS = 180_000 + ANSWERS * 300;

test(`${ANSWERS} questions, answered by two phones and an Emacs`, { timeout: LIMIT_MS }, async () => {
  const home = await openEmptyHome();
  const inbox = await serveInbox(home.store);
  const proxy = await cuttingProxy(inbox.port);
  const url = `http://127.0.0.1:${proxy.port}/inbox`;
  const heard: (Report & { by: string })[] = [];
  const hear: Hear = (by, said) => void heard.push({ ...said, by });
  const [emacs, ...phones] = await Promise.all([
    startEmacs(home, { name: 'Emacs', seed: SEED, hear }),
    startPhone(inbox, { name: 'One', url, hear }),
    startPhone(inbox, { name: 'Other', url, hear }),
  ]);
  const random = lots(SEED);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const upTo = (turns: number): number => Math.floor((turns * ANSWERS) / TURNS);
    const asked = await askMany(inbox, upTo(turn + 1) - upTo(turn));
    const ended = { yet: false };
    const phone = phones[turn % RACERS.length];
    const troubles = trouble({ inbox, proxy, random, emacs, phone, most: asked.length / 5 }, ended);
    await Promise.all(
      phones.map((phone) => phone.answer(asked, () => unanswered(inbox, asked, phone.name))),
    ).finally(() => {
      ended.yet = true;
    });
    await troubles;
  }

  // Every queued answer is stored: nothing that was killed took it along.
  const queued = heard.filter(({ step }) => step === 'queued');
  const lost = (): string[] => {
    const stored = new Set(responses(inbox).map(({ response_id }) => response_id));
    return queued.filter(({ response_id }) => !stored.has(response_id)).map(({ response_id }) => response_id);
  };
  await eventually(() => lost().length === 0, undefined, 'the last answers of Emacs').catch(() => undefined);
  expect(lost(), 'answers that were queued and are lost').toEqual([]);
  await emacs.stop();

  const rows = responses(inbox);
  const byAsk = Map.groupBy(rows, ({ ask_id }) => ask_id);
  const twice = [...byAsk.values()].filter(
    (given) => new Set(given.map(({ by }) => by)).size !== given.length,
  );
  expect(twice, 'questions that somebody answered twice').toEqual([]);
  const without = phones.map(({ name }) => rows.filter(({ by }) => by === name).length);
  expect(without, 'answers of each phone').toEqual([ANSWERS, ANSWERS]);

  // One winner each, in the answers, in the questions and in the events.
  const winners = new Map(
    rows.filter(({ outcome }) => outcome === 'accepted').map(({ ask_id, by }) => [ask_id, by]),
  );
  expect([winners.size, rows.filter(({ outcome }) => outcome === 'accepted').length]).toEqual([
    ANSWERS,
    ANSWERS,
  ]);
  expect(decisions(inbox).filter(({ ask_id, decision }) => decision !== winners.get(ask_id))).toEqual([]);
  const events = await eventsOf(inbox.hive, 'prompt/responded');
  expect(events.length, 'events of answers that count').toBe(ANSWERS);
  expect(events.filter(({ subject, data }) => data['decision'] !== winners.get(subject ?? ''))).toEqual([]);

  // Each racer was told the truth about its answer.
  const lies = heard.filter(
    (said) =>
      said.step === 'settled' &&
      (said.won !== (winners.get(said.ask_id) === said.by) || said.decision !== winners.get(said.ask_id)),
  );
  expect(lies).toEqual([]);

  // Each racer has won some, and each phone has left some unsent.
  const won = RACERS.map((name) => [...winners.values()].filter((by) => by === name).length);
  expect(Math.min(...won), `won by ${RACERS}: ${won}`).toBeGreaterThan(0);
  const left = phones.map((phone) => phone.left());
  expect(Math.min(...left), `found unsent after kill -9: ${left}`).toBeGreaterThan(0);
});

async function askMany({ hive }: ServedInbox, count: number): Promise<string[]> {
  const session = await introduce(hive);
  const request: AskRequest = { question: 'Which?', options: RACERS };
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await hive.prompts.ask(request, session)).prompt.ask_id);
  return ids;
}

/**
 * Kills the server, and a phone that has queued something since; without a phone, Emacs. Once the server is back, cuts
 * connections or loses replies until all is answered.
 */
async function trouble(
  { inbox, proxy, random, emacs, phone, most }: Trouble,
  ended: { yet: boolean },
): Promise<void> {
  if (phone === undefined) {
    await moment(random() * 300);
    await inbox.kill();
    await inbox.start();
    const goal = emacs.queued() + Math.floor(random() * 5);
    await eventually(() => ended.yet || emacs.queued() >= goal);
    await emacs.kill();
  } else {
    const some = (): number => 1 + Math.floor(random() * most);
    const letGo = await phone.held(some());
    await inbox.kill();
    const dying = phone.held(some());
    letGo();
    await dying;
    await phone.kill();
    await inbox.start();
  }
  while (!ended.yet) {
    await moment(200 + random() * 1_000);
    if (random() < 0.3) {
      proxy.loseReplies();
      await moment(random() * 300);
      proxy.heal();
    } else proxy.cut();
  }
}

interface Trouble {
  inbox: ServedInbox;
  proxy: CuttingProxy;
  random: () => number;
  emacs: Emacs;
  phone: Phone | undefined;
  /** The phone queues up to so many answers before each of two troubles. */
  most: number;
}

interface Response {
  response_id: string;
  ask_id: string;
  /** The chooser: the option has their name. */
  by: string;
  outcome: string;
}

/** Every answer that the store has taken. */
function responses(inbox: ServedInbox): Response[] {
  return read(inbox, 'SELECT response_id, ask_id, decision AS "by", outcome FROM responses') as Response[];
}

/** The decision of each question. */
function decisions(inbox: ServedInbox): { ask_id: string; decision: string | null }[] {
  return read(inbox, 'SELECT ask_id, decision FROM prompts') as { ask_id: string; decision: string | null }[];
}

function unanswered(inbox: ServedInbox, ask_ids: readonly string[], name: string): string[] {
  const given = new Set(responses(inbox).flatMap(({ ask_id, by }) => (by === name ? [ask_id] : [])));
  return ask_ids.filter((ask_id) => !given.has(ask_id));
}

function read({ store }: ServedInbox, sql: string): unknown[] {
  const database = new DatabaseSync(store, { readOnly: true, timeout: 30_000 });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}
