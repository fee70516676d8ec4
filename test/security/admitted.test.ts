/** Attacks that the threat model admits: Hive does not stop them. If you fix one, change the page as well. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { promptChecksums } from '../../src/infrastructure/store/prompts.ts';
import type { Row } from '../../src/infrastructure/store/sql.ts';
import { shell } from '../support/cli.ts';
import { ask, HUMAN, newHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';

function edit<T>(store: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(store);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

test('whoever can write the store can write an answer into it, with its checksum', async () => {
  const { store, hive } = await newHive();
  const [answered, forged] = [await ask(hive), await ask(hive)].map(({ ask_id }) => ask_id) as [
    string,
    string,
  ];
  const rowOf = (ask_id: string): Row =>
    edit(store, (database) => database.prepare('SELECT * FROM prompts WHERE ask_id = ?').get(ask_id) as Row);
  const before = rowOf(answered);
  await hive.prompts.respond({ ask_id: answered, decision: 'yes', actor: HUMAN });
  const after = rowOf(answered);
  edit(store, (database) => {
    const set = (column: string, value: unknown) =>
      database.prepare(`UPDATE prompts SET ${column} = ? WHERE ask_id = ?`).run(value as string, forged);
    for (const [column, value] of Object.entries(after)) if (value !== before[column]) set(column, value);
    set(
      'checksum',
      promptChecksums.ofRow(database.prepare('SELECT * FROM prompts WHERE ask_id = ?').get(forged) as Row),
    );
  });
  expect(await hive.prompts.get(forged)).toMatchObject({
    status: 'responded',
    decision: 'yes',
    by: HUMAN.by,
  });
});

test('an agent of this user reads what others ask', async () => {
  const store = tempStore();
  const person = shell(store);
  await person.hive('ask', 'Shall I tell nobody?');
  const agent = person.as({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'agent-1' });
  expect((await agent.hive('list')).out).toContain('Shall I tell nobody?');
});
