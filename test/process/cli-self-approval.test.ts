/**
 * The limits of an agent in its shell: real processes, in the environment of each client.
 *
 * @module-tag no-self-approval
 * @module-tag cli
 */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { shell } from '../support/cli.ts';
import { introduction, newHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';

describe('no self-approval (invariant 9)', () => {
  const AGENTS = [
    { CLAUDECODE: '1' },
    { CLAUDE_CODE_SESSION_ID: 'c1' },
    { CODEX_THREAD_ID: 't1' },
    { HIVE_AGENT: 'builder' },
  ];

  it.each(AGENTS)('under %o an answer is refused, and nothing is stored', async (env) => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    const agent = person.as(env);
    for (const command of [['respond'], ['respond', '--amend']])
      expect(await agent.hive(...command, ask_id, 'yes')).toMatchObject({ code: 7, out: '' });
    expect((await agent.hive('cancel', ask_id, '--json')).json().error.code).toBe('not_allowed');
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  it('--as-agent in the shell of a person is refused, whatever the command', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    for (const words of [['cancel', ask_id], ['post', 'x'], ['mentions']]) {
      const refused = await person.hive(...words, '--as-agent');
      expect(refused.err).toContain('no agent is running this command');
      expect(refused.code).toBe(2);
    }
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  it('no option of a command line lets an agent answer or interrupt', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    const agent = person.as({ HIVE_AGENT: 'builder' });
    expect(await agent.hive('respond', ask_id, 'yes', '--as-agent')).toMatchObject({ code: 2, out: '' });
    expect(await agent.hive('interrupt', '--all', '--as-agent')).toMatchObject({ code: 2, out: '' });
    expect((await agent.hive('respond', ask_id, 'yes')).err).toContain('A coordinator does this');
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  it('refuses below a process that is a registered session, whatever the environment', async () => {
    const { store, hive } = await newHive();
    const person = shell(store);
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.pid }));
    const refused = await person.hive('respond', ask_id, 'yes');
    expect(refused.code).toBe(7);
    expect(refused.err).toContain('it runs under Claude-sessi');
  });

  it("an agent cancels its own prompt, and another's only with the explicit option", async () => {
    const person = shell(tempStore());
    const agent = person.as({ HIVE_AGENT: 'builder' });
    const own = (await agent.hive('ask', 'Mine?')).out.trim();
    const other = (await person.hive('ask', 'Not mine?')).out.trim();
    const permission = (await person.hive('ask', 'May I?', '--kind', 'permission')).out.trim();
    expect((await agent.hive('cancel', own)).code).toBe(0);
    expect((await agent.hive('cancel', other)).code).toBe(7);
    expect((await agent.hive('cancel', permission, '--as-agent')).code).toBe(7);
    expect((await agent.hive('cancel', other, '--as-agent', '--json')).json()).toMatchObject({
      accepted: true,
      by: 'builder',
    });
  });
});
