/** `hive poll`, `wait`, `list` and `status` as scripts use them: what they print, and their exit codes. */
import { describe, expect, it } from 'vitest';

import { shell } from '../support/cli.ts';
import { HUMAN, introduce, newHive } from '../support/hive.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { agent } from '../support/outreach.ts';
import { tempStore } from '../support/temp.ts';

const escaped = (text: string): string => text.replace(/[[\]]/g, '\\$&');

describe('looking', () => {
  it('labels agents in lists and in the history with where they run, except main ones', async () => {
    const { store, hive } = await newHive();
    const sources = ['main', 'bg', 'fork'] as const;
    for (const source of sources)
      await hive.prompts.ask({ question: `From ${source}?` }, await agent(hive, `${source}-1`, source));
    const person = shell(store);
    const names = ['demo', '[bg] demo 2', '[fork] demo 3'];
    const { out: list } = await person.hive('list');
    const { out: history } = await person.hive('history');
    for (const [index, name] of names.entries()) {
      expect(list).toMatch(new RegExp(` {2}${escaped(name)} +demo +From ${sources[index]}`));
      expect(history).toMatch(new RegExp(`\\d  ${escaped(name)} +demo +From ${sources[index]}`));
    }
    const { out: org } = await person.hive('history', '--format', 'org');
    expect(org).toMatch(/^\* \S+ \S+ \[fork\] demo 3$/m);
  });

  it('polls one question: 3 while pending, 0 when answered, 5 when cancelled', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    expect((await person.hive('poll', ask_id)).code).toBe(3);
    await person.hive('respond', ask_id, 'go');
    const answered = await person.hive('poll', ask_id, '--json');
    expect(answered.code).toBe(0);
    expect(answered.json()).toMatchObject({ ask_id, status: 'responded', decision: 'go', via: 'cli' });
    expect(answered.json().handed_at).toEqual(expect.any(String));

    const other = (await person.hive('ask', 'Really?')).out.trim();
    await person.hive('cancel', other);
    expect((await person.hive('poll', other)).code).toBe(5);
    expect((await person.hive('poll', ask_id, other)).code).toBe(5);
    expect((await person.hive('poll', 'ask-unknown')).code).toBe(1);
  });

  it('without an id shows what is open, until there is proof that it was read', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('respond', ask_id, 'go');
    expect((await person.hive('poll', '--json')).json().prompts).toHaveLength(1);
    expect((await person.hive('poll', '--json')).json().prompts).toEqual([]);
    expect((await person.hive('poll', ask_id, '--json')).json().decision).toBe('go');
  });

  it('without an id shows 200, counts the rest, and notices an answer to any of them', async () => {
    const { store, hive } = await newHive();
    const person = shell(store);
    const first = (await person.hive('ask', 'Deploy?')).out.trim();
    const { session_id, agent, source, project, project_dir } = await hive.prompts.get(first);
    const asker = { session_id, agent, agent_title: null, source, project, project_dir, turn_id: null };
    await hive.store.write(async (tx) => {
      for (let n = 0; n < 229; n += 1)
        await tx.prompts.insert(newPrompt({ question: `Question ${n}?` }, asker, `ask-${n}`, tx.now));
    });
    const { code, err } = await person.hive('poll');
    expect(code).toBe(3);
    expect(err).toContain('30 more are pending. hive list shows all of them');
    const pending = (await person.hive('poll', '--json')).json();
    expect(pending.prompts).toHaveLength(200);
    expect(pending.more).toEqual({ settled: 0, pending: 30 });
    expect((await person.hive('poll', '--wait', '--timeout', '1ms', '--json')).json().more).toEqual(
      pending.more,
    );

    const waiting = person.hive('poll', '--wait', '--json');
    await hive.prompts.respond({ ask_id: 'ask-228', decision: 'go', actor: HUMAN });
    const answered = await waiting;
    expect(answered.code).toBe(0);
    expect(answered.json()).toMatchObject({ prompts: [{ ask_id: 'ask-228', decision: 'go' }] });
    expect(answered.json()).not.toHaveProperty('more');
  });

  it('shows an agent no more at once than its shell tool passes on, and hands over no more', async () => {
    const { store, hive } = await newHive();
    const agent = shell(store, { HIVE_AGENT: 'agent-1' });
    const session = await introduce(hive, 'agent-1');
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { prompt } = await hive.prompts.ask({ question: `Question ${n}?` }, session);
      await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'x'.repeat(20_000), actor: HUMAN });
      ids.push(prompt.ask_id);
    }
    for (const [n, ask_id] of ids.entries()) {
      const { out, json } = await agent.hive('poll', '--json');
      expect(out.length).toBeLessThan(30_000);
      expect(json().prompts).toMatchObject([{ ask_id, decision: 'x'.repeat(20_000) }]);
      expect(json().more).toEqual(n === 2 ? undefined : { settled: 2 - n, pending: 0 });
      const handed = await Promise.all(
        ids.map(async (id) => (await hive.prompts.get(id)).handed_at !== null),
      );
      expect(handed.filter(Boolean)).toHaveLength(n + 1);
    }
    expect((await agent.hive('poll', ...ids, '--json')).json().prompts).toHaveLength(3);
  });

  it("a person who reads an agent's answer does not collect it for the agent", async () => {
    const { store, hive } = await newHive();
    const person = shell(store);
    const { prompt } = await hive.prompts.ask({ question: 'Deploy?' }, await introduce(hive));
    await person.hive('respond', prompt.ask_id, 'go');
    expect((await person.hive('poll', prompt.ask_id, '--json')).json().handed_at).toBeNull();
    expect((await person.hive('respond', '--amend', prompt.ask_id, 'stop')).code).toBe(0);
    expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({ decision: 'stop', amended: true });
  });

  it('shows a late answer in the history, too', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('cancel', ask_id);
    await person.as({ HIVE_USER: 'Ada' }).hive('respond', ask_id, 'go');
    expect((await person.hive('history')).out).toMatch(/Deploy\? +cancelled; late → go \(unattested\)$/m);
    expect((await person.hive('history', '--format', 'org')).out).toContain(
      'Ada answered late (unattested):\n\n: go',
    );
  });

  it('says that nothing matches, rather than that there is nothing', async () => {
    const person = shell(tempStore());
    await person.hive('ask', 'Deploy?');
    expect(await person.hive('list', '--agent', 'nobody')).toMatchObject({
      code: 0,
      out: '',
      err: 'hive: There are no pending questions with --agent nobody.\n',
    });
    for (const [status, which] of [
      ['responded', 'answered questions'],
      ['late', 'questions with a late answer'],
      ['all', 'questions'],
    ] as const)
      expect((await person.hive('list', '--status', status, '--project', 'none')).err).toBe(
        `hive: There are no ${which} with --project none.\n`,
      );
    expect((await person.hive('history', 'zzz')).err).toBe('hive: Nothing in the history matches.\n');
  });

  it('an invalid value exits with 2, whichever check finds it', async () => {
    const person = shell(tempStore());
    expect(await person.hive('poll', '--wait', '--timeout', 'abc')).toMatchObject({
      code: 2,
      err: 'hive: "abc" is not a duration: write 90s, 10m, 2h or 1d.\n',
    });
    expect(await person.hive('list', '--limit', 'abc')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^hive: option '--limit <n>' argument 'abc' is invalid/),
    });
  });

  it('waits for one of several', async () => {
    const person = shell(tempStore());
    const [a = '', b = ''] = [await person.hive('ask', 'A?'), await person.hive('ask', 'B?')].map((r) =>
      r.out.trim(),
    );
    const early = await person.hive('poll', '--wait', a, b, '--timeout', '1ms', '--json');
    expect([early.code, early.json().prompts.length]).toEqual([3, 2]);
    expect(early.err).toBe('hive: The time is up. 2 questions are still pending.\n');
    const any = person.start('poll', '--wait', a, b, '--json');
    await person.hive('respond', a, '1');
    expect((await any.done).json().prompts).toMatchObject([{ ask_id: a, decision: '1' }]);
    // The first was printed before, and this call proves that it was read.
    const other = person.start('poll', '--wait', a, b, '--json');
    await person.hive('respond', b, '2');
    expect((await other.done).json().prompts).toMatchObject([{ ask_id: b, decision: '2' }]);
  });

  it('waits without an id for the next prompt to settle, and exits with 3 at its time limit', async () => {
    const person = shell(tempStore());
    expect((await person.hive('poll', '--wait')).code).toBe(3);
    const ask_id = (await person.hive('ask', 'A?')).out.trim();
    expect((await person.hive('poll', '--wait', '--timeout', '50ms')).code).toBe(3);
    const waiting = person.start('poll', '--wait', '--json');
    await person.hive('respond', ask_id, '1');
    expect(await waiting.done).toMatchObject({ code: 0 });
  });

  it('lists by status, agent and project, and says whether there is more', async () => {
    const person = shell(tempStore());
    const agent = person.as({ HIVE_AGENT: 'builder' });
    await person.hive('ask', 'Mine?');
    await agent.hive('ask', 'Low?', '--urgency', 'low');
    await agent.hive('ask', 'Now?', '--urgency', 'critical');
    const all = (await person.hive('list', '--limit', '2', '--json')).json();
    expect(all.prompts.map((p: { question: string }) => p.question)).toEqual(['Now?', 'Mine?']);
    expect(all.more).toBe(true);
    expect((await person.hive('list', '--limit', '2')).err).toBe(
      'hive: There are more. To see them, add --limit 4\n',
    );
    const rest = (await person.hive('list', '--limit', '4', '--json')).json();
    expect(rest).toMatchObject({ prompts: [{}, {}, { question: 'Low?' }], more: false });
    const handle = all.prompts[0].agent as string;
    expect((await person.hive('list', '--agent', handle, '--json')).json().prompts).toHaveLength(2);
    expect((await person.hive('list', '--project', 'none', '--json')).json().prompts).toEqual([]);
    expect((await person.hive('list', '--status', 'expired', '--json')).json().prompts).toEqual([]);
  });

  it('shows text from agents harmlessly, one row a prompt', async () => {
    const person = shell(tempStore());
    await person.as({ HIVE_AGENT: 'x' }).hive('ask', 'Red \u001b[31m\nand \u202eback', '--header', 'h');
    const { out } = await person.hive('list');
    expect(out).toContain('Red ^[[31m and <U+202E>back');
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect((await person.hive('list', '--json')).out).not.toContain('\u202e');
  });

  it('reports the state', async () => {
    const person = shell(tempStore());
    await person.hive('ask', 'Deploy?', '--urgency', 'critical');
    const status = (await person.hive('status', '--json')).json();
    expect(status.pending).toEqual({ total: 1, critical: 1, normal: 0, low: 0 });
    expect(status.sessions).toHaveLength(1);
    expect(status.desks).toEqual([]);
    expect((await person.hive('status')).out).toMatch(
      /^1 pending \(1 critical\)\n1 session, 0 desks online\n/,
    );
  });
});
