/**
 * `hive respond` as scripts use it: what it prints, and its exit codes.
 *
 * @module-tag provenance
 * @module-tag one-winner
 * @module-tag sqlite
 * @module-tag cli
 */
import { describe, expect, it } from 'vitest';
import { shell } from '../support/cli.ts';
import { tempStore } from '../support/temp.ts';

describe('answering', () => {
  it('has one winner: a second answer exits with 6 and is told who was first', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    const [a, b] = await Promise.all([
      person.hive('respond', ask_id, 'a', '--json'),
      person.hive('respond', ask_id, 'b', '--json'),
    ]);
    expect([a.code, b.code].sort()).toEqual([0, 6]);
    expect(a.json().decision).toBe(b.json().decision);
    expect((await person.hive('cancel', ask_id)).code).toBe(6);
  });

  it('chooses several options, and comments', async () => {
    const person = shell(tempStore());
    const ask_id = (
      await person.hive('ask', 'Which?', '--multi', '--option', 'a', '--option', 'b')
    ).out.trim();
    await person.hive('respond', ask_id, '--comment', 'both', '--by', 'Ada', '--select', 'b', 'a');
    expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({
      decision: 'a, b',
      selected: ['a', 'b'],
      comment: 'both',
      by: 'Ada',
    });
  });

  it('keeps a late answer and says so', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('cancel', ask_id);
    const late = await person.hive('respond', ask_id, 'go', '--json');
    expect(late.code).toBe(6);
    expect(late.json()).toMatchObject({ accepted: false, late: true, status: 'cancelled', decision: 'go' });
  });

  it('refuses an answer that was not offered, and an empty one', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Q', '--option', 'a', '--no-free-text')).out.trim();
    expect((await person.hive('respond', ask_id, 'b')).code).toBe(1);
    expect((await person.hive('respond', ask_id)).code).toBe(2);
    expect((await person.hive('respond', ask_id, 'a', '--select', 'a')).code).toBe(2);
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });
});
