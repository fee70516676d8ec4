/** A stop that a hook has printed and the client did not obey: it is stopped again, and the human is told. */
import { describe, expect, test } from 'vitest';
import { noticesOf, openTestHive } from '../support/hive.ts';
import { interruptStored } from '../support/interrupts.ts';
import { claude, endsOf, turnsOf } from '../support/turns.ts';

describe('a stop whose output was lost', () => {
  test('a tool that starts after its batch has closed is stopped again, and the human is told', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await client.pre('p1', 't1');
    const { reply } = await interruptStored(hive);
    await client.post('p1', 't1');
    await reply;
    await client.batch('p1', 't1');
    const said = JSON.parse(await client.pre('p1', 't2'));
    expect(said).toMatchObject({ continue: false, hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(await noticesOf(hive)).toEqual([
      expect.stringMatching(/^Claude-sessi started another tool after it was told to stop/),
    ]);
    const [turn] = await turnsOf(hive);
    expect(turn).toMatchObject({ state: 'aborted', stops: 2 });
  });

  test('a late call of the batch in flight is denied, and nobody is alarmed', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await client.pre('p1', 't1');
    await client.pre('p1', 't2');
    await interruptStored(hive);
    await client.post('p1', 't1');
    expect(await client.pre('p1', 't3')).toContain('"deny"');
    expect(await noticesOf(hive)).toEqual([]);
  });

  test('the turn that follows runs untouched', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await interruptStored(hive);
    await client.pre('p1', 't1');
    await client.prompt('p2');
    // A hook of the stopped turn comes late: it is denied, and the new turn goes on.
    expect(await client.pre('p1', 't9')).toContain('"deny"');
    expect(await client.pre('p2', 't2')).toBe('');
    expect(await endsOf(hive)).toEqual(['interrupted by ada', 'in_progress']);
  });
});
