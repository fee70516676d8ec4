/** The past as the statistics and the rules read it: the same on both engines. */
import { expect, test } from 'vitest';
import { damagedRecords } from '../../src/application/doctor.ts';
import { statement } from '../../src/infrastructure/store/sql.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { fireDialog, openDesk } from '../support/dialogs.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { fire, recordedEvent, withRules } from '../support/hooks.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import type { StoreEngine } from './store-contract.ts';

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
const FROM_THE_BEGINNING = { at: '', ask_id: '' };

async function filled(engine: StoreEngine, address?: string): Promise<OpenedHive> {
  const hive = await openTestHive(address ?? (await engine.freshAddress()));
  await openDesk(hive);
  const { ask_id } = await ask(hive, { question: 'Which colour?' });
  await hive.prompts.respond({ ask_id, decision: 'red', actor: HUMAN });
  const { answer } = await fireDialog(hive, BASH);
  await answer('Deny');
  await fire(hive, BASH, withRules({ decision: 'allow', tool: 'Bash', input: 'npm test', name: 'tests' }));
  return hive;
}

export function statsContract(engine: StoreEngine): void {
  test('the statistics count what was asked, answered and answered by rules', async () => {
    const hive = await filled(engine);
    const stats = await hive.stats.read('2026-01-01T00:00:00.000Z');
    expect(stats.total).toMatchObject({ asked: 2, answered: 2 });
    expect(stats.kinds.map(({ name }) => name).sort()).toEqual(['permission', 'question']);
    expect(stats.answered_via).toEqual([
      { name: 'emacs', count: 2 },
      { name: 'rule', count: 1 },
    ]);
    expect(stats.rules).toEqual([{ name: 'tests', count: 1 }]);
    expect(stats.days.at(-1)).toMatchObject({ asked: 2, answered_by_rules: 1 });
  });

  test('it is read page by page, and no further than the time that is asked for', async () => {
    const hive = await filled(engine);
    const { items, next: end } = await hive.store.read((tx) =>
      tx.stats.counted(FROM_THE_BEGINNING, '9999', 10),
    );
    const [first] = items;
    if (first === undefined) throw new Error('Nothing was asked.');
    const next = { at: first.created_at, ask_id: first.ask_id };
    expect(end).toBeNull();
    expect(await hive.store.read((tx) => tx.stats.counted(FROM_THE_BEGINNING, '9999', 1))).toEqual({
      items: [first],
      next,
    });
    const rest = { items: items.slice(1), next: null };
    expect(await hive.store.read((tx) => tx.stats.counted(next, '9999', 10))).toEqual(rest);
    const none = { items: [], next: null };
    expect(await hive.store.read((tx) => tx.stats.counted(FROM_THE_BEGINNING, '2000', 10))).toEqual(none);
  });

  test.each(['[', '{}'])(
    'a damaged prompt (%s) is left out of both, and no page ends with it; the doctor names it',
    async (options) => {
      const address = await engine.freshAddress();
      const hive = await filled(engine, address);
      const { items } = await hive.store.read((tx) => tx.rules.past(FROM_THE_BEGINNING, 10));
      const ask_id = items[0]?.ask_id ?? '';
      const driver = closedAtEnd(await engine.openDriver(address));
      await driver.write((sql) =>
        sql.run(statement(`UPDATE prompts SET options = $2, late_response = '{' WHERE ask_id = $1`), [
          ask_id,
          options,
        ]),
      );
      const stats = await hive.stats.read('2026-01-01T00:00:00.000Z');
      expect(stats.total).toMatchObject({ asked: 1 });
      const page = await hive.store.read((tx) => tx.rules.past(FROM_THE_BEGINNING, 1));
      expect(page).toMatchObject({ items: [], next: { ask_id } });
      const rest = await hive.store.read((tx) => tx.rules.past(page.next ?? FROM_THE_BEGINNING, 10));
      expect(rest).toEqual({ items: items.slice(1), next: null });
      expect(await damagedRecords(hive.store)).toEqual([ask_id]);
    },
  );

  test('the past of rules has only the permissions of clients, with the machine of each', async () => {
    const hive = await filled(engine);
    const { items: past } = await hive.store.read((tx) => tx.rules.past(FROM_THE_BEGINNING, 10));
    expect(past.map(({ kind, via, machine }) => [kind, via, machine])).toEqual([
      ['permission', 'emacs', 'test'],
      ['permission', 'rule', 'test'],
    ]);
    const [first] = past;
    const after = { at: first?.created_at ?? '', ask_id: first?.ask_id ?? '' };
    expect((await hive.store.read((tx) => tx.rules.past(after, 10))).items).toEqual(past.slice(1));
    expect(await hive.store.read((tx) => tx.rules.uses())).toMatchObject([{ name: 'tests', uses: 1 }]);
  });
}
