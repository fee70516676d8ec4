/** The command line as scripts use it: the log, retention, help; what they print, and their exit codes. */
import { describe, expect, it } from 'vitest';
import { shell } from '../support/cli.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

describe('the log', () => {
  it('prints events, from the given place', async () => {
    const person = shell(tempStore());
    const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
    await person.hive('respond', ask_id, 'go');
    const events = (await person.hive('store', 'log', '--json')).out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(events.map(({ type }) => type)).toEqual(['session/started', 'prompt/created', 'prompt/responded']);
    const after = await person.hive('store', 'log', '--after', String(events[1].seq));
    expect(after.out.trim().split('\n')).toHaveLength(1);
    expect((await person.hive('store', 'log', '--after', '-1')).code).toBe(2);
  });

  it('--follow continues with new events', async () => {
    const person = shell(tempStore());
    await person.hive('ask', 'Before?');
    const follower = person.start('store', 'log', '--follow', '--after', '0', '--json');
    await eventually(() => follower.out().includes('prompt/created'));
    const ask_id = (await person.hive('ask', 'After?')).out.trim();
    await eventually(() => follower.out().includes(ask_id));
    await follower.child.kill('SIGTERM');
  });
});

it('retention reports what would be removed, removes only old records, and refuses invalid values', async () => {
  const person = shell(tempStore());
  const ask_id = (await person.hive('ask', 'Deploy?')).out.trim();
  await person.hive('cancel', ask_id);
  expect((await person.hive('store', 'prune', '--dry-run', '--days', '1', '--json')).json()).toEqual({
    dry_run: true,
    days: 1,
    records: {},
  });
  expect((await person.hive('store', 'prune')).code).toBe(0);
  expect((await person.hive('poll', ask_id)).code).toBe(5);
  for (const days of ['0', '-3', 'x', '1.5'])
    expect((await person.hive('store', 'prune', `--days=${days}`)).code).toBe(2);
});

describe('clearing mentions', () => {
  const scene = async () => {
    const person = shell(tempStore());
    const agent = person.as({ HIVE_AGENT: 'builder' });
    await agent.hive('post', 'I am here, @Human');
    await person.hive('post', '@builder look');
    const left = async (): Promise<number> =>
      (await person.hive('store', 'prune', '--mentions', '--days', '0', '--dry-run', '--json')).json().records
        .mentions ?? 0;
    return { person, agent, left };
  };
  const CLEAR = ['store', 'prune', '--mentions', '--days', '0'];

  it('requires a yes that a person types at a terminal', async () => {
    const { person, left } = await scene();
    const no = await person.terminal(CLEAR, 'Type yes', 'no');
    expect(no.out).toContain('mentions of any age from this store (2)');
    expect(await left()).toBe(2);
    const yes = await person.terminal(CLEAR, 'Type yes', 'yes');
    expect(yes.out).toContain('Removed mentions of any age:');
    expect(await left()).toBe(0);
    expect((await person.hive(...CLEAR)).out).toBe('Nothing to remove: found no mentions of any age.\n');
    expect((await person.hive('messages')).out).toContain('@builder look');
  });

  it('without a terminal requires --yes, and an age', async () => {
    const { person, left } = await scene();
    const refused = await person.hive(...CLEAR);
    expect(refused.code).toBe(7);
    expect(refused.err).toContain('Hive cannot ask for confirmation without a terminal. Use --yes');
    expect((await person.hive('store', 'prune', '--mentions', '--yes')).err).toContain('Give an age in days');
    expect((await person.hive('store', 'prune', '--yes')).err).toContain('--yes needs --mentions');
    expect((await person.hive('store', 'prune', '--mentions', '--days', '1', '--yes')).code).toBe(0);
    expect(await left()).toBe(2);
    const { dry_run, days, records } = (await person.hive(...CLEAR, '--yes', '--json')).json();
    expect({ dry_run, days, mentions: records.mentions }).toEqual({ dry_run: false, days: 0, mentions: 2 });
    expect(await left()).toBe(0);
    expect((await person.hive('store', 'log')).out).toContain('mention/cleared');
  });

  it('is refused to an agent, like all pruning; a preview is not', async () => {
    const { agent, left } = await scene();
    for (const words of [
      [...CLEAR, '--yes'],
      ['store', 'prune'],
      ['store', 'prune', '--days', '1'],
    ]) {
      const { code, err } = await agent.hive(...words);
      expect(err).toContain('Only a human may remove old records');
      expect(code).toBe(7);
    }
    expect((await agent.hive(...CLEAR, '--dry-run')).code).toBe(0);
    expect(await left()).toBe(2);
  });
});

describe('the command line', () => {
  it('prints help, and exits with 2 for unknown arguments', async () => {
    const person = shell(tempStore());
    const help = await person.hive('--help');
    expect(help.code).toBe(0);
    expect(help.out).toContain('Ask the human');
    expect((await person.hive('cancel', '--help')).out).toContain('--as-agent');
    // bin/hive starts the hook itself, and here it must not wait for an event.
    expect((await person.hive('hook', '--help')).out).toContain('--wake');
    const nonsense = await person.hive('nonsense');
    expect(nonsense.code).toBe(2);
    expect(nonsense.err).toBe(
      "hive: unknown command 'nonsense'\nhive: Add --help to see how the command is used.\n",
    );
    expect((await person.hive('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('says so where there is nothing to list, and where else to look', async () => {
    const person = shell(tempStore());
    expect((await person.hive('messages')).err).toContain('in this project. To see those of every project');
    expect((await person.hive('messages', '--all')).err).toBe('hive: No messages were found.\n');
  });

  it.each([
    [['mcp', '--token-file', 'x'], '--token-file and --insecure are for a server that --url names.'],
    [['mentions', 'list', 'Claude-abc12'], 'hive mentions list takes no names'],
    [['mentions', '--all'], '--all and --note are for hive mentions process.'],
    [['mentions', 'process'], 'Give the ids of the mentions, or --all for all of them.'],
    [['messages', '--format', 'shared', '--after', 'x'], 'The shared format has the whole buffer'],
    [
      ['interrupt', 'Claude-abc12', '--cancel', '--note', 'x'],
      "option '--cancel' cannot be used with option '--note <text>'",
    ],
    [['interrupt', '--all', '--turn', 'x'], "option '--all' cannot be used with option '--turn <id>'"],
    [['interrupt', '--all', '--cancel'], "option '--all' cannot be used with option '--cancel'"],
    [
      ['mentions', 'process', 'mention-x', '--all'],
      'Give either the ids of the mentions or --all, not both.',
    ],
    [['install', '--nonsense'], "unknown option '--nonsense'\nhive: Add --help"],
    [['help', 'lst'], "unknown command 'lst'"],
    [['sidecar', '--inbox'], '--inbox needs --serve'],
    [['list', '--agent', 'a', '--agent', 'b'], "option '--agent <handle>' was given twice. Give it once."],
    [['store', 'prune', '--days', '9', '--days', '1'], "option '--days <n>' was given twice."],
  ])('refuses what it would not use: %j', async (args, sentence) => {
    const { code, out, err } = await shell(tempStore()).hive(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(sentence);
  });

  it('runs the command after --', async () => {
    expect(await shell(tempStore()).hive('--', 'list')).toMatchObject({
      code: 0,
      err: 'hive: There are no pending questions.\n',
    });
  });

  it('with --json prints an error of the command line as JSON, too', async () => {
    const { code, json } = await shell(tempStore()).hive('list', '--json', '--limit', '0');
    expect(code).toBe(2);
    expect(json().error).toEqual({
      code: 'invalid_input',
      message: "option '--limit <n>' argument '0' is invalid. It must be a whole number, 1 or more.",
    });
  });

  it('says that an id is empty, as where a variable of a script is not set', async () => {
    const { code, err } = await shell(tempStore()).hive('poll', '');
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining('no question with an empty id'),
    });
  });

  it('accepts --timeout of poll only together with --wait', async () => {
    const { code, err } = await shell(tempStore()).hive('poll', '--timeout', '1ms');
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('needs --wait') });
  });
});
