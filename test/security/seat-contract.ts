/** Acts that only the signature of a registered seat allows, whichever engine holds the rows. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { HookSurroundings } from '../../src/application/hook-context.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { type SignedAnswer, seatKeyFrom, signAnswer } from '../../src/domain/seats.ts';
import { promptChecksums } from '../../src/infrastructure/store/prompts.ts';
import { type Driver, statement } from '../../src/infrastructure/store/sql.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { answerDialog, fireDialog, openDesk } from '../support/dialogs.ts';
import { introduction, noticesOf, openTestHive } from '../support/hive.ts';
import { recordedEvent, said } from '../support/hooks.ts';
import { closedAtEnd } from '../support/lifetime.ts';

/** A permission that a client asks for. */
export const BASH = { ...recordedEvent('claude-code/PermissionRequest-Bash-addRules.json') };

/** Where the stores of an engine are, and how somebody else writes into one. */
export interface SeatEngine {
  freshAddress(): Promise<string>;
  openDriver(address: string): Driver;
}

export type Columns = Record<string, string | number | null>;

/** Changes the row of a prompt, in one transaction, as somebody would who can write the store and knows its checksums. */
export async function forge(driver: Driver, ask_id: string, columns: Columns): Promise<void> {
  const set = Object.keys(columns).map((name, n) => `"${name}" = $${n + 2}`);
  await driver.write(async (sql) => {
    const update = statement(`UPDATE prompts SET ${set.join(', ')} WHERE ask_id = $1`);
    await sql.run(update, [ask_id, ...Object.values(columns)]);
    const [row = {}] = await sql.all(statement('SELECT * FROM prompts WHERE ask_id = $1'), [ask_id]);
    const seal = statement('UPDATE prompts SET checksum = $2 WHERE ask_id = $1');
    await sql.run(seal, [ask_id, promptChecksums.ofRow(row)]);
  });
}

/** A permission that is pending at a desk, and somebody else's connection to its store. */
async function waiting(engine: SeatEngine, surroundings: Partial<HookSurroundings> = {}) {
  const address = await engine.freshAddress();
  const hive = await openTestHive(address);
  await openDesk(hive);
  const { prompts, printed } = await fireDialog(hive, BASH, { surroundings });
  const driver = closedAtEnd(engine.openDriver(address));
  return { hive, ask_id: prompts[0]?.ask_id ?? '', printed, driver };
}

/** A row as an answer changes it. */
export const YES: Columns = {
  status: 'responded',
  decision: 'Allow',
  selected: '["Allow"]',
  by: 'ada',
  via: 'emacs',
  attested: 1,
  response_id: 'response-forged',
  responded_at: '2026-01-01T00:00:00.000Z',
  settled_at: '2026-01-01T00:00:00.000Z',
};

const ADD = `INSERT INTO responses (response_id, ask_id, decision, selected, comment, "by", via, attested, responded_at, outcome, signature)
  VALUES ($1, $2, 'Allow', '["Allow"]', NULL, 'ada', 'emacs', 1, $3, 'accepted', $4)`;

export async function expectDenied(printed: Promise<string>): Promise<void> {
  expect(said(await printed)?.hookSpecificOutput).toMatchObject({
    decision: { behavior: 'deny', message: expect.stringContaining('no seat that the human has registered') },
  });
}

/** Makes those who wait look again. */
const ringBell = (hive: OpenedHive): Promise<unknown> =>
  hive.sessions.introduce(introduction({ session_id: 'x' }));

export function describeSeatContract(name: string, tags: string[], engine: SeatEngine): void {
  describe(`on ${name}`, { tags }, () => {
    test('an answer that the registered seat signed allows', async () => {
      const { hive, ask_id, printed } = await waiting(engine);
      await answerDialog(hive, ask_id, 'Allow');
      expect(said(await printed)?.hookSpecificOutput).toMatchObject({ decision: { behavior: 'allow' } });
    });

    test('a forged row allows nothing, and the human is told how to repair it', async () => {
      const { hive, ask_id, printed, driver } = await waiting(engine);
      await forge(driver, ask_id, YES);
      await ringBell(hive);
      await expectDenied(printed);
      expect(await noticesOf(hive)).toEqual([expect.stringMatching(/allowed nothing.*M-x hive-doctor/)]);
    });

    test('a forged row with the signature of another key allows nothing', async () => {
      const { hive, ask_id, printed, driver } = await waiting(engine);
      const prompt = await hive.prompts.get(ask_id);
      const signed: SignedAnswer = {
        store_id: hive.store_id,
        ask_id,
        displayed_digest: permissionDigest(prompt),
        answer: {
          decision: 'Allow',
          selected: ['Allow'],
          comment: null,
          by: 'ada',
          via: 'emacs',
          attested: true,
          response_id: String(YES['response_id']),
          responded_at: String(YES['responded_at']),
        },
      };
      const stranger = seatKeyFrom(randomBytes(32).toString('hex'));
      const { response_id = '', responded_at = '' } = YES;
      await driver.write(async (sql) =>
        sql.run(statement(ADD), [response_id, ask_id, responded_at, await signAnswer(stranger, signed)]),
      );
      await forge(driver, ask_id, YES);
      await ringBell(hive);
      await expectDenied(printed);
    });

    test('a signature for another permission allows nothing, not even for the same command', async () => {
      const { hive, ask_id, printed, driver } = await waiting(engine);
      await answerDialog(hive, ask_id, 'Allow');
      await printed;
      const second = await fireDialog(hive, BASH);
      const { by, response_id, responded_at } = await hive.prompts.get(ask_id);
      await forge(driver, second.prompts[0]?.ask_id ?? '', { ...YES, by, response_id, responded_at });
      await ringBell(hive);
      await expectDenied(second.printed);
    });

    test.each<[string, Columns]>([
      ['decision', { decision: 'Allow always', selected: '["Allow always"]' }],
      ['time', { responded_at: '2026-01-01T00:00:00.000Z' }],
      ['author', { by: 'root' }],
      ['comment', { comment: 'and push' }],
    ])('a signed answer whose %s was altered allows nothing', async (_what, columns) => {
      // The hook reads the answer only once it has been altered.
      const altered = Promise.withResolvers<void>();
      const surroundings: Partial<HookSurroundings> = {
        withoutTimeLimit: async (work) => {
          await altered.promise;
          return work();
        },
      };
      const { hive, ask_id, printed, driver } = await waiting(engine, surroundings);
      await answerDialog(hive, ask_id, 'Allow');
      await forge(driver, ask_id, columns);
      altered.resolve();
      await expectDenied(printed);
    });
  });
}
