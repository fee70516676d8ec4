/** Settings: what is written on a command line, what is stored, and where each value comes from. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { DEFAULT_OUTREACH_SETTINGS } from '../../src/domain/outreach.ts';
import { DEFAULT_PREFERENCES } from '../../src/domain/preferences.ts';
import {
  changeStored,
  DEFAULT_STORE_SETTINGS,
  originOf,
  parseSetting,
  SETTINGS,
  settingNamed,
  showSetting,
  valueAt,
} from '../../src/domain/settings.ts';
import { preferencesParams } from '../../src/schemas/desks.ts';

const NOW = '2026-03-01T12:00:00.000Z';
const parse = (key: string, text: string): unknown => parseSetting(settingNamed(key), text, NOW);

describe('the table', () => {
  test('has every preference and outreach setting, except those that allow or run something', () => {
    const all = [DEFAULT_PREFERENCES, DEFAULT_OUTREACH_SETTINGS, DEFAULT_STORE_SETTINGS].flatMap((one) =>
      Object.keys(one),
    );
    const missing = all.filter((key) => !SETTINGS.some((setting) => setting.key === key));
    expect(missing).toEqual([]);
    const permits = ['notify_command', 'permission_rules', 'popup_permissions', 'allow_scripts_to_answer'];
    expect(all.filter((key) => permits.includes(key))).toEqual([]);
  });

  const onTheWire = SETTINGS.filter(({ key }) => !(key in DEFAULT_STORE_SETTINGS));

  test.each(onTheWire)(
    '$key: what a person types is what the wire of Emacs accepts',
    ({ key, scope, type }) => {
      const typed = {
        yes_no: ['yes', 'off'],
        choice: type.kind === 'choice' ? type.of : [],
        whole_number: type.kind === 'whole_number' ? [`${type.min}`, `${type.max}`] : [],
        word_or_number: type.kind === 'word_or_number' ? [...type.words, `${type.min}`, `${type.max}`] : [],
        never_or_duration: ['never', '24h', '90m'],
        yes_no_or_duration: ['no', '90m'],
        hours: ['22:00-07:30'],
        names: ['shop', 'shop,/home/ada/tools'],
      }[type.kind];
      expect(typed.length).toBeGreaterThan(0);
      for (const text of typed) {
        const change = { [key]: parse(key, text) };
        expect(() => preferencesParams.parse(scope === 'seat' ? change : { outreach: change })).not.toThrow();
      }
    },
  );

  test('accepts hyphens or underscores; an unknown name is told the known ones', () => {
    expect(settingNamed('quiet-hours').key).toBe('quiet_hours');
    expect(() => settingNamed('budgets')).toThrow(
      /There is no setting "budgets"\. The settings are notify_when, .*retention_days/,
    );
  });

  test.each(['popup_permissions', 'notify-command', 'permission_rules'])(
    '%s allows or runs something, and says where it is written instead',
    (key) => {
      expect(() => settingNamed(key)).toThrow(
        /permits or runs something: write it into your file trust\.json/,
      );
    },
  );
});

describe('a value', () => {
  test.each([
    ['sound', 'yes', true],
    ['sound', 'OFF', false],
    ['notify_when', 'unfocused', 'unfocused'],
    ['phone_after', ' 0 ', 0],
    ['do_not_disturb', 'true', true],
    ['do_not_disturb', '2h', '2026-03-01T14:00:00.000Z'],
    ['quiet_hours', '22:00-07:30', { from: '22:00', to: '07:30' }],
    ['quiet_hours', 'none', null],
    ['muted_projects', 'shop, tools', ['shop', 'tools']],
    ['muted_agents', 'Claude-abc12', ['Claude-abc12']],
    ['muted_agents', 'none', []],
    ['gate', 'remind', 'remind'],
    ['dialog_wait', 'usual', 'usual'],
    ['dialog_wait', '30', 30],
    ['wake', 'off', 'off'],
    ['mention_ttl', '90m', '90m'],
  ])('%s %s', (key, text, value) => {
    expect(parse(key, text)).toEqual(value);
  });

  test.each([
    ['sound', 'loud', 'sound takes yes or no, not "loud".'],
    ['notify_when', 'sometimes', 'takes one of always, unfocused, urgent, never'],
    ['stop_wait', '591', 'takes a whole number from 0 to 590'],
    ['stop_wait', '1.5', 'takes a whole number'],
    ['retention_days', '0', 'takes a whole number from 1 to 36500'],
    ['do_not_disturb', 'soon', 'takes yes, no, or a duration such as 90m or 2h'],
    ['do_not_disturb', '2 hours', 'is not a duration'],
    ['quiet_hours', '22:00-25:00', 'takes two times of day, such as 22:00-07:30, or none, not'],
    ['muted_projects', 'shop,', 'takes names separated by commas'],
    ['gate', 'blck', 'gate takes one of strict, block, remind, off, not "blck".'],
    ['dialog_wait', '0', 'dialog_wait takes usual, on, off, or seconds from 1 to 86400'],
    ['wake', '25', 'wake takes off, or hours from 1 to 24'],
    ['mention_ttl', 'soon', 'takes never, or a duration such as 24h'],
    ['mention_ttl', '24 hours', 'is not a duration'],
  ])('%s %s is refused with the valid values', (key, text, sentence) => {
    expect(() => parse(key, text)).toThrow(sentence);
  });

  test('is shown as it is typed', () => {
    for (const [key, text] of [
      ['sound', 'yes'],
      ['notify_when', 'never'],
      ['phone_after', '7'],
      ['quiet_hours', '22:00-07:30'],
      ['muted_projects', 'a,b'],
    ] as const)
      expect(showSetting(parse(key, text))).toBe(text);
    for (const nothing of [null, []]) expect(showSetting(nothing)).toBe('none');
  });

  test('that was set for some time is shown with its end, in the time zone of this machine', () => {
    vi.stubEnv('TZ', 'America/New_York');
    try {
      expect(showSetting('2026-01-01T20:30:10.000Z')).toBe('until 2026-01-01 15:30');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('that was set for some time is off once that has passed', () => {
    const until = parse('do_not_disturb', '2h');
    expect(valueAt(settingNamed('do_not_disturb'), until, NOW)).toBe(until);
    expect(valueAt(settingNamed('do_not_disturb'), until, '2026-03-01T14:00:00.000Z')).toBe(false);
    expect(valueAt(settingNamed('do_not_disturb'), true, NOW)).toBe(true);
    expect(valueAt(settingNamed('mention_ttl'), '24h', NOW)).toBe('24h');
  });

  test('any input is accepted or refused with a sentence, and a number is always within its limits', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SETTINGS), fc.string(), (setting, text) => {
        try {
          const value = parseSetting(setting, text, NOW);
          if (setting.type.kind !== 'whole_number') return;
          expect(value).toBeGreaterThanOrEqual(setting.type.min);
          expect(value).toBeLessThanOrEqual(setting.type.max);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_input' });
        }
      }),
    );
  });
});

describe('what is stored', () => {
  test('records who set it last; null resets it to the default', () => {
    const one = changeStored({}, { sound: true, notify_when: 'never' }, 'emacs');
    expect(one.changed).toEqual(['sound', 'notify_when']);
    const two = changeStored(one.stored, { sound: false, notify_when: undefined }, 'cli');
    expect(two.changed).toEqual(['sound']);
    expect(['sound', 'notify_when', 'quiet_hours'].map((key) => originOf(two.stored, key))).toEqual([
      'stored',
      'emacs',
      'default',
    ]);
    const three = changeStored(two.stored, { sound: null, notify_when: null }, 'cli');
    expect(three).toEqual({ stored: {}, changed: ['sound', 'notify_when'] });
  });

  test('a value that an older Hive stored without its author is valid, and setting the same value is no change', () => {
    expect(originOf({ sound: true }, 'sound')).toBe('stored');
    expect(changeStored({ sound: true }, { sound: true, quiet_hours: null }, 'emacs').changed).toEqual([]);
  });
});
