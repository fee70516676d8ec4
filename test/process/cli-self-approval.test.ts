/**
 * What an agent may not do through its shell: real processes, in the environment of each client.
 *
 * @module-tag no-self-approval
 * @module-tag sqlite
 * @module-tag cli
 */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { shell } from '../support/cli.ts';
import { HUMAN, introduction, openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
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
    for (const command of [['respond'], ['respond', '--amend'], ['amend']])
      expect(await agent.hive(...command, ask_id, 'yes')).toMatchObject({ code: 7, out: '' });
    expect((await agent.hive('cancel', ask_id, '--json')).json().error.code).toBe('not_allowed');
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  it('--as-agent in the shell of a person is refused, whatever the command', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    for (const words of [
      ['respond', ask_id, 'yes'],
      ['cancel', ask_id],
      ['interrupt', '--all'],
      ['post', 'x'],
      ['mentions'],
    ]) {
      const refused = await person.hive(...words, '--as-agent');
      expect(refused.err).toContain('no agent is running this command');
      expect(refused.code).toBe(2);
    }
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  it('--as-agent answers in its own name, and the event log says so', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    const agent = person.as({ HIVE_AGENT: 'builder' });
    expect((await agent.hive('respond', ask_id, 'yes', '--as-agent')).out).toContain('as the agent builder');
    expect((await person.hive('poll', ask_id, '--json')).json().by).toBe('builder');
  });

  it('with the name of its human corrects no answer of the human', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const asker = await hive.sessions.introduce(introduction({ session_id: 'asker' }));
    const { prompt } = await hive.prompts.ask({ question: 'Deploy?' }, asker);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'no', actor: HUMAN });
    const agent = shell(store).as({ HIVE_AGENT: HUMAN.by });
    const corrected = await agent.hive('respond', '--amend', prompt.ask_id, 'yes', '--as-agent');
    expect(corrected.err).toContain('so no agent corrects it');
    expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({
      decision: 'no',
      via: 'emacs',
      amended: false,
    });
  });

  it('never its own prompt, nor one of a session it descends from, nor a permission', async () => {
    const person = shell(tempStore());
    const parent = person.as({ HIVE_AGENT: 'parent' });
    const child = person.as({ HIVE_AGENT: 'child', HIVE_PARENT: 'parent' });
    const asked = (await parent.hive('ask', 'Mine?')).out.trim();
    const permission = (await person.hive('ask', 'May I?', '--kind', 'permission')).out.trim();
    expect((await parent.hive('respond', asked, 'yes', '--as-agent')).err).toContain('its own question');
    expect((await child.hive('respond', asked, 'yes', '--as-agent')).err).toContain('descends from');
    expect((await child.hive('respond', permission, 'yes', '--as-agent')).err).toContain('by the human');
    // Variables that an inner agent inherits from the outer one count too.
    const inner = parent.as({ CLAUDE_CODE_SESSION_ID: 'inner' });
    expect((await inner.hive('respond', asked, 'yes', '--as-agent')).code).toBe(7);
  });

  it('refuses below a process that is a registered session, whatever the environment', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
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

  it('a permission requires a terminal that may allow, and a yes typed there', async () => {
    const person = shell(tempStore(), trusting({ terminal_may_allow: true }));
    const ask_id = (await person.hive('ask', 'May I?', '--kind', 'permission')).out.trim();
    expect(await person.hive('respond', ask_id, 'yes')).toMatchObject({ code: 7 });
    const declined = await person.terminal(['respond', ask_id, 'yes'], 'Type yes', 'y');
    expect(declined.code).toBe(7);
    expect(declined.out).toContain('Not confirmed');
    const confirmed = await person.terminal(['respond', ask_id, 'granted'], 'Type yes', 'yes');
    expect(confirmed).toMatchObject({ code: 0 });
    expect(confirmed.out).toContain('May I?');
    expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({
      decision: 'granted',
      via: 'cli',
    });
  });
});
