/** Arguments as callers write them: any spelling of a name, null for a missing one, and nothing dropped silently. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { understand } from '../../src/adapters/arguments.ts';
import { toolsFor } from '../../src/adapters/mcp/server.ts';
import { type Tool, takeArguments } from '../../src/adapters/mcp/tool.ts';
import { preferencesParams } from '../../src/schemas/desks.ts';
import { listParams, snoozeParams } from '../../src/schemas/prompts.ts';

const tools = new Map(toolsFor('coordinator').map((tool) => [tool.name, tool]));

function tool(name: string): Tool {
  const found = tools.get(name);
  if (found === undefined) throw new Error(`There is no tool ${name}.`);
  return found;
}

function take(name: string, written: unknown): ReturnType<typeof takeArguments> {
  return takeArguments(tool(name), written);
}

/** A name in another spelling: any letter in the other case, other separators or none. */
function spelled(name: string): fc.Arbitrary<string> {
  const parts = [...name].map((letter) =>
    letter === '_'
      ? fc.constantFrom('_', '-', '', ' ', '.')
      : fc.constantFrom(letter.toLowerCase(), letter.toUpperCase()),
  );
  return fc
    .tuple(fc.constantFrom('', ':', '--'), ...parts)
    .map((letters: readonly string[]) => letters.join(''));
}

const everyArgument = [...tools.values()].flatMap((one) =>
  Object.keys(one.input).map((argument) => [one.name, argument] as const),
);

test.each(everyArgument)('%s takes every spelling of %s', (name, argument) => {
  const { input } = tool(name);
  const value = Symbol(argument);
  fc.assert(
    fc.property(spelled(argument), (spelling) => {
      const { given, unknown } = understand(z.object(input), { [spelling]: value });
      expect(given).toEqual({ [argument]: value });
      expect(unknown).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test('no two arguments of a tool have a spelling in common', () => {
  for (const { name, input, aliases = {} } of tools.values()) {
    const folded = [...Object.keys(input), ...Object.keys(aliases)].map((key) =>
      key.replaceAll('_', '').toLowerCase(),
    );
    expect([name, ...new Set(folded)]).toEqual([name, ...folded]);
  }
});

test.each(everyArgument)('%s: null for %s is as if it had been left out', (name, argument) => {
  const { input } = tool(name);
  const schema = z.object(input);
  const absent = schema.safeParse({});
  const nothing = schema.safeParse(understand(schema, { [argument]: null }).given);
  expect(nothing.success).toBe(absent.success);
  expect(nothing.data?.[argument] ?? undefined).toBeUndefined();
});

describe('inside lists and objects', () => {
  test('spellings and nulls are the same as outside', () => {
    const { args } = take('hivemind_send_card', {
      Title: 'Build',
      fields: [{ NAME: 'a', value: 'b', inline: null }],
      actions: [{ label: 'Go', ask: null }],
      color: null,
    });
    expect(args).toEqual({ title: 'Build', fields: [{ name: 'a', value: 'b' }], actions: [{ label: 'Go' }] });
  });

  test('an option may be a string or an object', () => {
    const { args } = take('hivemind_ask_async', {
      question: 'Which?',
      options: ['red', { Label: 'blue', description: null }],
    });
    expect(args['options']).toEqual(['red', { label: 'blue' }]);
  });

  test('an unknown name is reported with its place', () => {
    const { args, ignored, note } = take('hivemind_send_card', {
      title: 'Build',
      buttons: [{ label: 'Go', style: 'primary' }],
    });
    expect(args).toEqual({ title: 'Build', actions: [{ label: 'Go' }] });
    expect(ignored).toEqual(['buttons[0].style']);
    expect(note).toContain('"buttons[0].style"');
  });
});

describe('an argument that does not exist', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['hivemind_poll', { ask_idd: 'ask-1' }, 'Call hivemind_poll {"ask_id":"ask-1"}.'],
    [
      'hivemind_ask_async',
      { question: 'Go?', options: [{ label: 'a', desc: 'b' }] },
      'Call hivemind_ask_async {"question":"Go?","options":[{"label":"a","description":"b"}]}.',
    ],
    [
      'hivemind_interrupt',
      { agent_id: 'Claude-abc12' },
      'Call hivemind_interrupt {"session":"Claude-abc12"}.',
    ],
    ['hivemind_read', { author: 'Human' }, 'Call hivemind_read {"from":"Human"}.'],
    ['hivemind_await_ask', { timeout: 5 }, 'Call hivemind_await_ask {"timeout_ms":5}.'],
  ])('%s %j is refused with the call that was meant', (name, written, call) => {
    expect(() => take(name, written)).toThrow(/Nothing was done\./);
    expect(() => take(name, written)).toThrow(call);
  });

  test('a long call is not repeated whole', () => {
    expect(() => take('hivemind_ask_async', { question: 'x'.repeat(1_000), choices: ['a'] })).toThrow(
      /Call hivemind_ask_async again with "options" instead\.$/,
    );
  });

  test('a misspelled poll of one question does not poll everything', () => {
    expect(() => take('hivemind_poll', { frobnicate: 'ask-1' })).toThrow(
      'hivemind_poll {"ask_id": …}, or hivemind_poll {} for everything.',
    );
    expect(take('hivemind_poll', { ask_id: 'ask-1', frobnicate: 1 })).toMatchObject({
      args: { ask_id: 'ask-1' },
      ignored: ['frobnicate'],
    });
  });

  test('the caller is not an argument: the call is made, and says so', () => {
    const { args, ignored, note } = take('hivemind_poll', { 'agent-id': 'agent-1' });
    expect({ args, ignored }).toEqual({ args: {}, ignored: ['agent-id'] });
    expect(note).toMatch(/You are identified by your client/);
  });

  test('whom hivemind_interrupt stops may be given as session_id', () => {
    expect(take('hivemind_interrupt', { session_id: 'Claude-abc12' })).toEqual({
      args: { session: 'Claude-abc12' },
      ignored: [],
      note: null,
      claim: null,
    });
  });

  test('a tool without arguments is called anyway', () => {
    expect(take('hivemind_status', { random_string: 'x' })).toMatchObject({
      args: {},
      ignored: ['random_string'],
    });
  });

  test('null for it counts as absent too', () => {
    expect(take('hivemind_poll', { frobnicate: null })).toEqual({
      args: {},
      ignored: [],
      note: null,
      claim: null,
    });
  });

  test('many of them, with names of any length, stay a short note', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${'x'.repeat(500)}${n}`, n]));
    const { ignored, note } = take('hivemind_status', many);
    expect(ignored).toHaveLength(10);
    expect(note).toMatch(/and 490 more\./);
    expect(note?.length).toBeLessThan(1_000);
  });

  test('more than any call has are refused, before they are compared', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`a${n}`, n]));
    expect(() => take('hivemind_status', many)).toThrow('There are 20000 arguments; at most 1000 are read.');
  });
});

describe('what is written as text is taken as what it is', () => {
  /** Every argument of every tool that can be no text, with a value of its kind. */
  const textless = [...tools.values()].flatMap(({ name, input }) =>
    Object.entries(input).flatMap(([argument, schema]) => {
      const takes = (value: unknown): boolean => z.safeParse(schema, value).success;
      if (takes('x') || takes('low') || takes('normal')) return [];
      const values = [[], ['a'], [{ name: 'a', value: 'b' }], [{ label: 'a' }], 1, 100, 5_000, true, false];
      return values.filter(takes).map((value) => [name, argument, value] as const);
    }),
  );

  test('in each tool that has a list, a number or a boolean', () => {
    expect(new Set(textless.map(([name]) => name)).size).toBeGreaterThanOrEqual(9);
    expect(new Set(textless.map(([, , value]) => typeof value)).size).toBe(3);
  });

  test.each(textless)('%s takes its %s, %j, also as text', (name, argument, value) => {
    const { input, example } = tool(name);
    const whole = { ...example, [argument]: value };
    // Some arguments exclude each other, which is the matter of the tool.
    expect(z.object(input).safeParse(whole).success).toBe(true);
    const text = JSON.stringify(value);
    for (const written of [text, ` ${text}\n`, typeof value === 'boolean' ? text.toUpperCase() : text])
      expect(take(name, { ...whole, [argument]: written }).args).toEqual(take(name, whole).args);
  });

  test.each(['', ' ', 'null', 'None', 'undefined'])('%j for one of them is nothing', (blank) => {
    const blanks = { options: blank, wait_ms: blank, multi_select: blank, timeout_ms: blank };
    expect(take('hivemind_ask_async', { question: 'Go?', ...blanks }).args).toEqual({ question: 'Go?' });
  });

  test('what may be a text stays one', () => {
    const texts = { question: '["a"]', context: '5', label: 'true', header: 'null', group_id: '[1]' };
    expect(take('hivemind_ask_async', texts).args).toEqual(texts);
    expect(take('hivemind_respond', { ask_id: 'a', decision: '{"label":"x"}' }).args).toEqual({
      ask_id: 'a',
      decision: '{"label":"x"}',
    });
  });

  test.each<[unknown, unknown]>([
    [
      ['{"label":"a","description":"b"}', 'c'],
      [{ label: 'a', description: 'b' }, 'c'],
    ],
    ['["{\\"label\\":\\"a\\"}", "b"]', [{ label: 'a' }, 'b']],
    ['[{"label":"a"}]', [{ label: 'a' }]],
    [['["a","b"]'], ['a', 'b']],
    [['[{"Label":"a"},"b"]'], [{ label: 'a' }, 'b']],
    // Text that looks like an empty answer may be just what is asked.
    [
      ['[]', '{}', 'null', '{"error":"none"}', '0', 'true'],
      ['[]', '{}', 'null', '{"error":"none"}', '0', 'true'],
    ],
    [
      ['["a","b"]', '["c"]'],
      ['["a","b"]', '["c"]'],
    ],
    [['[]'], ['[]']],
    [['{"label": a}'], ['{"label": a}']],
  ])('the options %j are %j', (written, options) => {
    expect(take('hivemind_ask_async', { question: 'Which?', options: written }).args['options']).toEqual(
      options,
    );
  });

  test('an option in JSON with a misspelled name is refused, and never a button', () => {
    expect(() =>
      take('hivemind_ask_async', { question: 'Which?', options: ['{"label":"a","desc":"b"}'] }),
    ).toThrow('Call hivemind_ask_async {"question":"Which?","options":[{"label":"a","description":"b"}]}.');
  });

  test('inside lists and objects too', () => {
    const fields = [
      '{"name":"a","value":"5","inline":"False"}',
      { name: 'b', value: '["x"]', inline: 'true' },
    ];
    expect(take('hivemind_send_card', { title: 'Build', fields, actions: '[{"label":"Go"}]' }).args).toEqual({
      title: 'Build',
      fields: [
        { name: 'a', value: '5', inline: false },
        { name: 'b', value: '["x"]', inline: true },
      ],
      actions: [{ label: 'Go' }],
    });
  });

  test('the buttons of a card may be their labels, as the options of a question may', () => {
    const actions = [{ label: 'Go' }, { label: '5' }];
    for (const written of [['Go', '5'], '["Go","5"]', ['["Go","5"]'], ['Go', { label: '5' }]])
      expect(take('hivemind_send_card', { title: 'Build', actions: written }).args).toEqual({
        title: 'Build',
        actions,
      });
    expect(() => take('hivemind_send_card', { title: 'Build', fields: ['a'] })).toThrow(
      '"fields[0]" does not fit',
    );
  });

  test.each(['false', 'False', ' FALSE '])('%j is never true', (written) => {
    for (const { name, input, example } of tools.values())
      for (const [argument, schema] of Object.entries(input)) {
        if (!z.safeParse(schema, true).success) continue;
        expect([name, argument, take(name, { ...example, [argument]: written }).args[argument]]).toEqual([
          name,
          argument,
          false,
        ]);
      }
  });

  test.each<[string, Record<string, unknown>, string | null]>([
    ['hivemind_ask_async', { question: 'A?', multi_select: 'yes' }, '{"question":"A?"}'],
    ['hivemind_ask_async', { question: 'A?', multi_select: 0 }, '{"question":"A?"}'],
    ['hivemind_ask_async', { question: 'A?', wait_ms: '5s' }, '{"question":"A?"}'],
    ['hivemind_ask_async', { question: 'A?', options: 'yes' }, '{"question":"A?","options":["yes"]}'],
    ['hivemind_ask_async', { question: 'A?', options: [1, 'b'] }, '{"question":"A?","options":["1","b"]}'],
    ['hivemind_ask_async', { question: 7 }, '{"question":"7"}'],
    ['hivemind_ask_async', { question: 'A?', options: 'yes, but later' }, null],
    ['hivemind_ask_async', { question: 'A?', options: { a: 1 } }, null],
    ['hivemind_poll', { wait_ms: '60000' }, '{"wait_ms":25000}'],
    ['hivemind_poll', { ask_ids: 'ask-1abc ask-2abc' }, '{"ask_ids":["ask-1abc","ask-2abc"]}'],
    ['hivemind_send_card', { title: 'A', fields: 'a: b' }, null],
  ])('%s %j is refused, and suggests a call that is right or none: %s', (name, written, args) => {
    const refused = (() => {
      try {
        return String(take(name, written));
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(refused).toMatch(/does not fit.* Nothing was done\./);
    const call = / Call hivemind_\w+ (\{.*\})\.$/.exec(refused)?.[1] ?? null;
    expect(call).toBe(args);
    if (call !== null) expect(() => take(name, JSON.parse(call))).not.toThrow();
  });

  test.each<[string, Record<string, unknown>, string]>([
    [
      'hivemind_ask_async',
      { options: ['a'] },
      'hivemind_ask_async {"options":["a"],"question":"Which one?"}.',
    ],
    ['hivemind_cancel', {}, 'hivemind_cancel {"ask_id":"ask-…"}.'],
  ])('what is missing in %s %j is shown as an example, which is no call to make', (name, written, call) => {
    expect(() => take(name, written)).toThrow(`is missing. Nothing was done. For example: ${call}`);
  });

  test('a human’s Emacs writes no such texts, and is held to the schema', () => {
    expect(understand(listParams, { limit: '5' }).given).toEqual({ limit: '5' });
  });
});

test('one argument in two spellings is taken once, and refused if the values differ', () => {
  expect(take('hivemind_poll', { ask_id: 'a', 'ask-id': 'a', askId: null }).args).toEqual({ ask_id: 'a' });
  expect(() => take('hivemind_poll', { ask_id: 'a', 'ask-id': 'b' })).toThrow(
    '"ask_id" and "ask-id" are the same argument',
  );
});

test('an invalid value is reported with the name of the argument', () => {
  expect(() => take('hivemind_ask_async', { question: 7, timeoutMs: -1 })).toThrow(
    /"question" does not fit: .*\. "timeout_ms" does not fit: /,
  );
  expect(() => take('hivemind_send_card', { title: 'a', actions: [{}] })).toThrow(
    'The argument "actions[0].label" is missing.',
  );
});

test('null that means something is kept: it un-snoozes a question', () => {
  expect(understand(snoozeParams, { 'ask-id': 'a', until: null }).given).toEqual({
    ask_id: 'a',
    until: null,
  });
});

test('a strict schema refuses what it does not know, and takes the rest in any spelling', () => {
  const written = { notifyWhen: 'never', outreach: { 'allow-ping': false }, colour: 'red' };
  const { given, unknown } = understand(preferencesParams, written);
  expect(unknown).toEqual([]);
  expect(preferencesParams.safeParse(given).error?.issues.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^There is no preference "colour"; there are notify_when/),
  ]);
  expect(given).toMatchObject({ notify_when: 'never', outreach: { allow_ping: false } });
  const late = preferencesParams.safeParse({ quiet_hours: { from: '25:00', to: '07:00' } });
  expect(late.error?.issues).toMatchObject([{ message: 'A time of day is written HH:MM, as in 22:30.' }]);
});

test('the keys of a record are data', () => {
  const input = z.object({ rules: z.array(z.record(z.string(), z.string())) });
  const rules = [{ tool: 'Bash', 'my-key': 'x', allowIf: 'y' }];
  expect(understand(input, { rules }).given).toEqual({ rules });
});

test('a name from Object.prototype is only a name', () => {
  const written = JSON.parse('{"__proto__": {"status": "pending"}, "constructor": 1}') as unknown;
  const { given, unknown } = understand(listParams, written);
  expect(unknown.map(({ path }) => path)).toEqual(['__proto__', 'constructor']);
  expect(listParams.parse(given)).toEqual({});
});
