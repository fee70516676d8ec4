/** The command line as scripts use it: the log, retention, help; what they print, and their exit codes. */
import { describe, expect, it } from 'vitest';
import { shell } from '../support/cli.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

describe('the log', () => {
  it('prints events, from where it is told and of what it is told', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('respond', ask_id, 'go');
    const events = (await person.hive('log', '--json')).out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(events.map(({ type }) => type)).toEqual(['session/started', 'prompt/created', 'prompt/responded']);
    const after = await person.hive('log', '--after', String(events[1].seq));
    expect(after.out.trim().split('\n')).toHaveLength(1);
    const about = await person.hive('log', '--subject', ask_id);
    expect(about.out.trim().split('\n')).toHaveLength(2);
    expect((await person.hive('log', '--after', '-1')).code).toBe(2);
  });

  it('--follow goes on with what happens', async () => {
    const person = shell(tempStore());
    await person.hive('ask', 'Before?');
    const follower = person.start('log', '--follow', '--after', '0', '--json');
    await eventually(() => follower.out().includes('prompt/created'));
    const ask_id = (await person.hive('ask', 'After?')).out.trim();
    await eventually(() => follower.out().includes(ask_id));
    await follower.child.kill('SIGTERM');
  });
});

describe('retention', () => {
  it('says what would go, removes only what is old, and refuses nonsense', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('cancel', ask_id);
    expect((await person.hive('prune', '--dry-run', '--days', '1', '--json')).json()).toEqual({
      dry_run: true,
      days: 1,
      records: {},
    });
    expect((await person.hive('prune')).code).toBe(0);
    expect((await person.hive('poll', ask_id)).code).toBe(5);
    for (const days of ['0', '-3', 'x', '1.5'])
      expect((await person.hive('prune', `--days=${days}`)).code).toBe(2);
    const wrong = await person.as({ HIVE_RETENTION_DAYS: 'soon' }).hive('prune');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('HIVE_RETENTION_DAYS is "soon"');
  });
});

describe('the command line', () => {
  it('helps, and ends with 2 for what it does not know', async () => {
    const person = shell(tempStore());
    const help = await person.hive('--help');
    expect(help.code).toBe(0);
    expect(help.out).toContain('Ask the human');
    expect((await person.hive('respond', '--help')).out).toContain('--as-agent');
    expect((await person.hive('nonsense')).code).toBe(2);
    expect((await person.hive('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
