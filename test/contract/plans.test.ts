/** Statements that must cost the same whatever the history: SQLite reads them by an index, and sorts nothing. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { ReadTx } from '../../src/application/ports.ts';
import type { PopupKind } from '../../src/domain/popups.ts';
import type { Driver, Sql } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempStore } from '../support/temp.ts';

const scope = (kind: PopupKind) => ({ seat: 'seat', kind });
const STORM = { held_by: 'desk-1', since: '2026', at: '2027' };
const CASES: Record<string, (tx: ReadTx) => Promise<unknown>> = {
  'the next expiry of a prompt': (tx) => tx.prompts.expiries.next(),
  'the prompts that are due': (tx) => tx.prompts.expiries.due('2026', 100),
  'the next escalation': (tx) => tx.prompts.escalations.next(),
  'the prompts that everybody is to be asked': (tx) => tx.prompts.escalations.due('2026', 100),
  'the holder of a prompt': (tx) => tx.claims.holder('ask-1', '2026'),
  'the last storm of a seat': (tx) => tx.popups.storm(scope('prompt')),
  'the questions in a storm': (tx) => tx.popups.inStorm(scope('prompt'), STORM),
  'the pings and cards in a storm': (tx) => tx.popups.inStorm(scope('outreach'), STORM),
  'the mentions in a storm': (tx) => tx.popups.inStorm(scope('mention'), STORM),
  'whether a question of a storm waits': (tx) => tx.popups.isStormOpen(scope('prompt'), STORM),
  'whether a mention of a storm waits': (tx) => tx.popups.isStormOpen(scope('mention'), STORM),
  'how many popups came lately': (tx) => tx.popups.recent(scope('prompt'), '2026'),
  'how much a session has open': (tx) => tx.prompts.countOpenOf('session-1'),
  'how much a session and its subagents have pending': (tx) => tx.prompts.countPendingUnder('session-1', 200),
  'what a desk holds': (tx) => tx.claims.ofDesk('desk-1'),
  'the last messages': (tx) => tx.messages.list({ limit: 500 }),
  'the messages before those': (tx) => tx.messages.list({ limit: 500, before: cursor(1_000) }),
  'what came since': (tx) => tx.messages.list({ limit: 500, after: cursor(1_000) }),
  "a project's last messages": (tx) => tx.messages.list({ limit: 500, project_dir: '/demo/.git' }),
  "a thread's last messages": (tx) => tx.messages.list({ limit: 500, thread: 'talk' }),
  "an author's last messages": (tx) => tx.messages.list({ limit: 500, from_handle: 'Claude-abc12' }),
  'the messages with a body': (tx) => tx.messages.byBody('hello', 100),
  'who is held by a mention': (tx) => tx.gates.held(),
  'the mentions that may wake a session': (tx) => tx.mentions.undelivered('session-1', 100),
  'the unprocessed mentions of a session': (tx) => tx.mentions.unprocessedOf('session-1'),
  'their number': (tx) => tx.mentions.countUnprocessed('session-1'),
  'the mentions that a session has not been shown': (tx) => tx.mentions.freshOf('session-1', 4),
  'the number of those': (tx) => tx.mentions.countFresh('session-1'),
  'the mentions of each other of a pair': (tx) =>
    tx.mentions.countBetween({ first_session_id: 'a', second_session_id: 'b' }, '2026', 0),
  'the next expiry of a mention': (tx) => tx.mentions.expiries.next(),
  'the mentions that are due': (tx) => tx.mentions.expiries.due('2026', 100),
  'what was sent last': (tx) => tx.outreach.list({ limit: 100 }),
  'what a session has not reported': (tx) => tx.outreach.unreported('session-1'),
  'what is kept for a human who is away': (tx) => tx.outreach.unseen(100),
  'what nobody has shown': (tx) => tx.outreach.unshown('2026'),
  'the reports for a session': (tx) =>
    tx.outreach.reportsFor(
      { session_id: 's', project_dir: '/demo/.git', heir: false, carrier: 'hook:s' },
      10,
    ),
  'what a hook carried': (tx) => tx.deliveries.carriedBy('hook:s', '2026'),
  'how far one thing has come': (tx) => tx.deliveries.get('ask-1'),
  'what was answered, newest first': (tx) => tx.prompts.list({ status: 'responded', limit: 100 }),
  'every prompt, newest first': (tx) => tx.prompts.list({ limit: 100 }),
  'what retention may remove': (tx) => tx.retention.prunable('prompts', '2026'),
  'the history of a session': (tx) => tx.mentions.list({ session_id: 'session-1', limit: 100 }),
};

/** Statements that sort nevertheless: they read the few prompts that one session has open. */
const SORTED: Record<string, (tx: ReadTx) => Promise<unknown>> = {
  'what a session has open': (tx) => tx.prompts.openOf('session-1', 200),
  'the turns that it was not told of': (tx) => tx.turns.unreadAborts('session-1', 5),
};

function cursor(seq: number): string {
  return Buffer.from(JSON.stringify([seq])).toString('base64url');
}

test.each([...Object.entries(CASES), ...Object.entries(SORTED)])('%s', async (name, read) => {
  const address = tempStore();
  await prepareSqliteFile(address);
  const texts: string[] = [];
  const store = closedAtEnd(await openStore(watched(openSqlite(address), texts), address));
  texts.length = 0;
  await store.read(read);
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) {
    for (const step of plan(address, text))
      expect(step, text).not.toMatch(name in SORTED ? SCAN : new RegExp(`${SCAN.source}|TEMP B-TREE`));
  }
});

/** `counted` is what a statement has found by an index before. */
const SCAN = /^SCAN (?!CONSTANT ROW|counted$|.*USING (COVERING )?INDEX)/;

/** The driver, with the text of each statement that is run. */
function watched(driver: Driver, texts: string[]): Driver {
  const wrap = (sql: Sql): Sql => ({
    all(statement, params) {
      texts.push(statement.text);
      return sql.all(statement, params);
    },
    run: (statement, params) => sql.run(statement, params),
    change: (statement, params) => sql.change(statement, params),
  });
  return {
    ...driver,
    read: (work) => driver.read((sql, now) => work(wrap(sql), now)),
    write: (work) => driver.write((sql, now) => work(wrap(sql), now)),
  };
}

function plan(address: string, text: string): string[] {
  const database = new DatabaseSync(address, { readOnly: true });
  try {
    return (database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]).map(
      ({ detail }) => detail,
    );
  } finally {
    database.close();
  }
}
