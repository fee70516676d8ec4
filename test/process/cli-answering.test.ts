/**
 * `hive respond` as scripts use it: what it prints, and its exit codes.
 *
 * @module-tag provenance
 * @module-tag one-winner
 * @module-tag cli
 */
import { describe, expect, it } from 'vitest';
import { childEnvironment, HIVE } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { introduce, newHive, openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { openTerminal } from '../support/tmux.ts';

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
    const amend = 'hive: If that answer is yours, --amend corrects it.\n';
    expect((await person.hive('respond', ask_id, 'c')).err).toContain(amend);
    // The agent has it.
    await person.hive('poll', ask_id);
    expect((await person.hive('respond', ask_id, 'c')).err).not.toContain(amend);
  });

  it('chooses several options, and comments', async () => {
    const person = shell(tempStore());
    const ask_id = (
      await person.hive('ask', 'Which?', '--multi', '--option', 'a', '--option', 'b')
    ).out.trim();
    await person.as({ HIVE_USER: 'Ada' }).hive('respond', ask_id, 'b, a', '--comment', 'both');
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

  it('refuses an empty id, even if only one question is pending', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Delete everything?')).out.trim();
    for (const id of ['', 'ask-']) {
      const refused = await person.hive('respond', id, 'yes');
      expect(refused).toMatchObject({ code: 2, out: '' });
      expect(refused.err).toBe(`hive: "${id}" names no question. Give an id, or its beginning: ${ask_id}.\n`);
    }
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  it('takes the beginning of an id, and says which questions a short one may mean', async () => {
    const person = shell(tempStore());
    const ids = [];
    for (const question of ['A?', 'B?']) ids.push((await person.hive('ask', question)).out.trim());
    const [first = '', second = ''] = ids;
    const several = await person.hive('respond', 'ask-', 'yes');
    expect(several.code).toBe(2);
    for (const id of ids) expect(several.err).toContain(id);
    const unlike = [...first].findIndex((letter, n) => letter !== second[n]) + 1;
    expect((await person.hive('respond', first.slice(0, unlike), 'yes')).out).toContain(`Answered ${first}`);
    // The word in front of every id can be left out.
    expect((await person.hive('respond', second.slice(4, -1), 'yes')).out).toContain(`Answered ${second}`);
    expect((await person.hive('respond', 'ask-none', 'yes')).err).toContain('ask-none');
    // A settled question is meant only by its whole id.
    expect((await person.hive('cancel', first.slice(4, -1))).err).toContain('There is no');
    const third = (await person.hive('ask', 'C?')).out.trim();
    expect((await person.hive('cancel', '')).code).toBe(2);
    expect((await person.hive('cancel', 'ask-')).code).toBe(2);
    expect((await person.hive('cancel', third.slice(4, -1))).out).toBe(`Cancelled ${third}.\n`);
  });

  it('says how many questions a short one may mean', async () => {
    const { store, hive } = await newHive();
    const session = await introduce(hive);
    const ids: string[] = [];
    // An id has one of 32 letters at each place.
    for (let n = 0; n < 33; n += 1)
      ids.push((await hive.prompts.ask({ question: `Which ${n}?` }, session)).prompt.ask_id);
    const isAmbiguous = (id: string): boolean => ids.filter((each) => each[4] === id[4]).length > 1;
    const letter = ids.find(isAmbiguous)?.[4] ?? '';
    const meant = ids.filter((id) => id[4] === letter);
    const { code, err } = await shell(store).hive('cancel', letter);
    expect(code).toBe(2);
    expect(err).toContain(`hive: ${meant.length} questions have ids that begin with "ask-${letter}": ask-`);
    expect(err).toMatch(/\. Give more of the id\.\n$/);
    await hive.close();
  });

  it('without an id takes the most urgent at a terminal, shows it, and asks for what is missing', async () => {
    const person = shell(tempStore());
    await person.hive('ask', 'Later?', '--urgency', 'low');
    const urgent = (await person.hive('ask', 'Now?', '--urgency', 'critical')).out.trim();
    // A script would answer a question that nobody has looked at.
    expect(await person.hive('respond', 'yes')).toMatchObject({ code: 2 });
    const answered = await person.terminal(['respond', 'go'], 'Type yes', 'yes');
    expect(answered.out).toMatch(/Now\?[\s\S]*Answer "go"\?[\s\S]*Answered/);
    expect((await person.hive('poll', urgent, '--json')).json()).toMatchObject({ decision: 'go' });
    const asked = await person.terminal(['respond'], 'Your answer:', 'no');
    expect(asked.out).toMatch(/Later\?[\s\S]*Answered \S+ \(unattested\): no/);
  });

  it('shows the context, the notes and what the options mean, a screen at a time', async () => {
    const store = tempStore();
    const person = shell(store);
    const hive = await openTestHive(store);
    const session = await introduce(hive);
    const context = Array.from({ length: 40 }, (_, n) => `step ${n + 1}`).join('\n');
    const options = [{ label: 'now', description: 'Users are offline' }, 'later'];
    const { prompt } = await hive.prompts.ask({ question: 'Deploy?', context, options }, session);
    await hive.prompts.note(prompt.ask_id, 'The tests passed.', session);
    const more: [string, string] = ['Enter for more', ''];
    const asked = await person.terminal(['respond'], ...more, more, [
      'Your answer (an option, or your own words):',
      'later',
    ]);
    expect(asked.code).toBe(0);
    expect(asked.out).toMatch(/Deploy\?\r?\n\r?\n {2}step 1\r?\n[\s\S]* {2}step 40\r?\n/);
    expect(asked.out).toMatch(
      / {2}Added \d+ m?s ago: The tests passed\.\r?\nOptions: now \| later\r?\n {2}now: Users are offline\r?\n/,
    );
  });

  it('breaks a long question between its words at a terminal, and so does poll', async () => {
    const store = tempStore();
    const question =
      'Which database should the new order service use, given that the team already runs one for billing?';
    const ask_id = (await shell(store).hive('ask', question)).out.trim();
    const hive = `'${process.execPath}' '${HIVE}'`;
    const both = ['sh', '-c', `${hive} poll ${ask_id}; ${hive} respond ${ask_id}`];
    const env = childEnvironment(store, { TERM: 'xterm' });
    const terminal = closedAtEnd(await openTerminal(tempFolder(), env, both, { columns: 80, lines: 24 }));
    const screen = await terminal.until(/Your answer:/);
    const text = screen.map((line) => line.trim()).join(' ');
    expect(text.split(question)).toHaveLength(3);
    await terminal.enter('PostgreSQL');
    await terminal.until(/Answered/);
  });

  it('takes several options that are typed with commas between them, and says that it does', async () => {
    const person = shell(tempStore());
    const ask = [
      'ask',
      'Toppings?',
      '--multi',
      '--option',
      'ham',
      '--option',
      'cheese',
      '--option',
      'salt, pepper',
    ];
    const ask_id = (await person.hive(...ask)).out.trim();
    const asked = await person.terminal(['respond', ask_id], 'several options with commas): ', 'cheese,ham');
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining(': ham, cheese') });
    expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({
      selected: ['ham', 'cheese'],
    });
    // An option with a comma is one, and what names anything else is free text.
    for (const [answer, selected] of [
      ['salt, pepper', ['salt, pepper']],
      ['ham,salt, pepper', ['ham', 'salt, pepper']],
      ['CHEESE, Ham', ['ham', 'cheese']],
      ['ham, please', []],
    ] as const) {
      const other = (await person.hive(...ask)).out.trim();
      await person.hive('respond', other, answer);
      expect((await person.hive('poll', other, '--json')).json()).toMatchObject({
        decision: selected.join(', ') || answer,
        selected,
      });
    }
  });

  it('takes a label in another case, if only one is meant', async () => {
    const person = shell(tempStore());
    const permission = (await person.hive('ask', 'May I?', '--kind', 'permission')).out.trim();
    const denied = await person.terminal(['respond', permission, 'deny'], 'Answer "Deny"? Type yes', 'yes');
    expect(denied).toMatchObject({ code: 0, out: expect.stringContaining(': Deny') });
    for (const [label, answer, decision] of [
      ['Yes', 'yes', 'Yes'],
      ['YES', 'yes', 'yes'],
    ] as const) {
      const ask = ['ask', 'Q', '--option', 'Yes', '--option', label === 'Yes' ? 'No' : label];
      const ask_id = (await person.hive(...ask)).out.trim();
      await person.hive('respond', ask_id, answer);
      expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({ decision });
    }
    const options = ['Yes', 'YES', 'No'].flatMap((label) => ['--option', label]);
    for (const [answer, selected] of [
      ['yes, no', []],
      ['YES, no', ['YES', 'No']],
    ] as const) {
      const ask_id = (await person.hive('ask', 'Q', '--multi', ...options)).out.trim();
      await person.hive('respond', ask_id, answer);
      expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({ selected });
    }
  });

  it('says before a yes that an answer corrects another one', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Q')).out.trim();
    await person.hive('respond', ask_id, 'a');
    const amended = await person.terminal(['respond', ask_id, 'b', '--amend'], 'Type yes', 'yes');
    expect(amended).toMatchObject({
      code: 0,
      out: expect.stringContaining('Your answer corrects that one.'),
    });
    expect(amended.out).not.toContain('late');
  });

  it('refuses before it asks for a yes', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Q', '--option', 'a', '--no-free-text')).out.trim();
    const other = await person.terminal(['respond', ask_id, 'b'], 'Type yes', 'yes');
    expect(other).toMatchObject({ code: 1, out: expect.not.stringContaining('Type yes') });
    await person.hive('respond', ask_id, 'a');
    const settled = await person.terminal(['respond', ask_id, 'a'], 'Type yes', 'yes');
    expect(settled).toMatchObject({ code: 6, out: expect.stringContaining('Not accepted') });
    expect(settled.out).not.toContain('Type yes');
  });

  it('refuses an answer that was not offered, and an empty one', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Q', '--option', 'a', '--no-free-text')).out.trim();
    expect((await person.hive('respond', ask_id, 'b')).code).toBe(1);
    expect((await person.hive('respond', ask_id)).code).toBe(2);
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });
});
