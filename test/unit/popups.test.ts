import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  goesOn,
  isStormy,
  type Popup,
  type PopupPreferences,
  popupOf,
  stormOwnedUntil,
  type Told,
  tellPrompt,
  whyNoPopup,
} from '../../src/domain/popups.ts';
import {
  DEFAULT_PREFERENCES,
  momentOf,
  msOfQuiet,
  preferencesFrom,
  quietTimes,
} from '../../src/domain/preferences.ts';
import type { Asker, AskRequest, Prompt } from '../../src/domain/prompts.ts';
import { NO_AUTHORITY } from '../../src/domain/trust.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { ASKER } from './prompt-arbitraries.ts';

const NOW = '2026-01-01T12:00:00.000Z';
const NOON = { now: NOW, minute_of_day: 12 * 60 };

function prompt(request: Partial<AskRequest> = {}, asker: Partial<Asker> = {}, at = NOW): Prompt {
  return newPrompt({ question: 'Go on?', ...request }, { ...ASKER, ...asker }, 'ask-1', at);
}

function wish(changes: Partial<PopupPreferences> = {}): PopupPreferences {
  return { ...DEFAULT_PREFERENCES, ...NO_AUTHORITY, ...changes };
}

const awake = { focused: false };

describe('whether a prompt pops up', () => {
  it('does, unless a preference says otherwise', () => {
    expect(whyNoPopup(prompt(), wish(), awake, NOON)).toBeNull();
  });

  it('never does for low urgency', () => {
    expect(whyNoPopup(prompt({ urgency: 'low' }), wish(), awake, NOON)).toBe('low_urgency');
  });

  it.each([
    ['always', true, true],
    ['always', false, true],
    ['unfocused', true, false],
    ['unfocused', false, true],
    ['never', false, false],
    ['never', true, false],
  ] as const)('notify_when %s with a desk focused: %s', (notify_when, focused, show) => {
    expect(whyNoPopup(prompt(), wish({ notify_when }), { focused }, NOON) === null).toBe(show);
  });

  it('notify_when urgent shows what is critical, whoever has the focus, and nothing else', () => {
    const wanted = wish({ notify_when: 'urgent' });
    for (const focused of [true, false]) {
      expect(whyNoPopup(prompt({ urgency: 'critical' }), wanted, { focused }, NOON)).toBeNull();
      expect(whyNoPopup(prompt(), wanted, { focused }, NOON)).toBe('not_urgent');
    }
  });

  it('does not during do-not-disturb, except for critical ones', () => {
    const preferences = wish({ do_not_disturb: true });
    expect(whyNoPopup(prompt(), preferences, awake, NOON)).toBe('do_not_disturb');
    expect(whyNoPopup(prompt({ urgency: 'critical' }), preferences, awake, NOON)).toBeNull();
  });

  it('ends do-not-disturb at the given time', () => {
    const preferences = wish({ do_not_disturb: NOW });
    const before = { ...NOON, now: '2026-01-01T11:59:59.999Z' };
    expect(whyNoPopup(prompt(), preferences, awake, before)).toBe('do_not_disturb');
    expect(whyNoPopup(prompt(), preferences, awake, NOON)).toBeNull();
  });

  it.each([
    ['22:00', '07:00', '23:30', false],
    ['22:00', '07:00', '06:59', false],
    ['22:00', '07:00', '07:00', true],
    ['22:00', '07:00', '21:59', true],
    ['12:00', '13:00', '12:00', false],
    ['12:00', '13:00', '13:00', true],
    ['09:00', '09:00', '15:00', false],
  ])('quiet from %s to %s, at %s: shown %s', (from, to, at, show) => {
    const [hours = 0, minutes = 0] = at.split(':').map(Number);
    const moment = { now: NOW, minute_of_day: hours * 60 + minutes };
    const preferences = wish({ quiet_hours: { from, to } });
    expect(whyNoPopup(prompt(), preferences, awake, moment) === null).toBe(show);
    expect(whyNoPopup(prompt({ urgency: 'critical' }), preferences, awake, moment)).toBeNull();
  });

  it('does not for a muted project, by its name or its directory, even if critical', () => {
    for (const muted of ['demo', '/demo/.git']) {
      const reason = whyNoPopup(
        prompt({ urgency: 'critical' }),
        wish({ muted_projects: [muted] }),
        awake,
        NOON,
      );
      expect(reason).toBe('muted_project');
    }
    expect(whyNoPopup(prompt(), wish({ muted_projects: ['other'] }), awake, NOON)).toBeNull();
  });

  it('does not for a muted agent, by its handle in any case, even if critical, and does for others', () => {
    const muting = wish({ muted_agents: ['claude-ABC12'] });
    const loud = prompt({ urgency: 'critical' }, { agent: 'Claude-abc12' });
    expect(whyNoPopup(loud, muting, awake, NOON)).toBe('muted_agent');
    expect(whyNoPopup({ ...loud, agent: 'Claude-abc123' }, muting, awake, NOON)).toBeNull();
  });
});

describe('what a popup says', () => {
  function popupOn(prompts: readonly Prompt[], preferences = wish()): Popup {
    const [first = expect.fail(), ...others]: Told[] = prompts.map((one) => tellPrompt(one, preferences));
    return popupOf('prompt', [first, ...others], preferences, true);
  }

  it('names agent, project, topic and question', () => {
    const popup = popupOn([prompt({ header: 'Deploy' })], wish());
    expect(popup).toMatchObject({ title: 'Claude-abc12 · demo · Deploy', body: 'Go on?', urgency: 'normal' });
  });

  it.each([
    ['bg', '[bg] Claude-abc12 · demo'],
    ['fork', '[fork] Claude-abc12 · demo'],
    ['main', 'Claude-abc12 · demo'],
  ] as const)('from %s begins so: %s', (source, title) => {
    expect(popupOn([prompt({}, { source })], wish()).title).toBe(title);
  });

  it('has buttons for a question with at most three options', () => {
    expect(popupOn([prompt({ options: ['a', 'b', 'c'] })], wish()).buttons).toEqual(['a', 'b', 'c']);
    expect(popupOn([prompt({ options: ['a', 'b', 'c', 'd'] })], wish()).buttons).toEqual([]);
    expect(popupOn([prompt({ options: ['a', 'b'], multi_select: true })], wish()).buttons).toEqual([]);
  });

  it('has buttons for a permission only if the human has turned that on', () => {
    const permission = prompt({ kind: 'permission', options: ['yes', 'no'] });
    expect(popupOn([permission], wish()).buttons).toEqual([]);
    expect(popupOn([permission], wish({ popup_permissions: true })).buttons).toEqual(['yes', 'no']);
  });

  it('describes a storm by its count, its agents and its highest urgency', () => {
    const many = [prompt(), prompt({ urgency: 'critical' }, { source: 'bg' }), prompt()];
    const popup = popupOn(many);
    expect(popup).toMatchObject({ title: '3 questions wait for you', urgency: 'critical', buttons: [] });
    expect(popup.body.split('\n').toSorted()).toEqual([
      '1 from [bg] Claude-abc12 · demo',
      '2 from Claude-abc12 · demo',
    ]);
    expect(popup.prompts[0]?.urgency).toBe('critical');
  });
});

describe('a storm of a seat', () => {
  const standing = { held_by: 'desk-1', since: NOW, at: NOW };
  const later = (ms: number): string => new Date(Date.parse(NOW) + ms).toISOString();

  const at = (newest: number, now: number) => ({ newest: later(newest), now: later(now) });

  it('begins with the fourth lease in the window, whatever came before', () => {
    for (const before of [null, { ...standing, at: later(-3_600_000) }])
      expect([1, 2, 3, 4, 5].map((recent) => isStormy(before, recent, at(0, 0)))).toEqual([
        false,
        false,
        false,
        true,
        true,
      ]);
  });

  it('includes what came within two seconds of its newest lease, even if that is leased later', () => {
    expect(isStormy(standing, 1, at(1_999, 1_999))).toBe(true);
    expect(isStormy(standing, 1, at(1_999, 3_999))).toBe(true);
    expect(isStormy(standing, 1, at(2_000, 2_000))).toBe(false);
  });

  it('that is over includes nothing more, not even a question older than itself', () => {
    expect(isStormy(standing, 1, at(-1, 4_000))).toBe(false);
    expect([goesOn(standing, at(-1, 4_000)), goesOn(null, at(0, 0))]).toEqual([false, false]);
  });

  it('belongs to its owner for two seconds after each lease', () => {
    expect(stormOwnedUntil(standing)).toBe(Date.parse(NOW) + 2_000);
  });
});

describe('a moment', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ['UTC', '2026-01-01T12:30:00.000Z', 12 * 60 + 30],
    ['America/New_York', '2026-01-01T12:30:00.000Z', 7 * 60 + 30],
    ['America/New_York', '2026-07-01T12:30:00.000Z', 8 * 60 + 30],
    ['Asia/Kolkata', '2026-01-01T20:00:00.000Z', 90],
  ])('in %s at %s is minute %i of the day', (zone, now, minute_of_day) => {
    vi.stubEnv('TZ', zone);
    expect(momentOf(now)).toEqual({ now, minute_of_day });
  });
});

describe('quiet hours as times', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  // In New York clocks go forward on 2026-03-08, and back on 2026-11-01.
  it.each([
    ['UTC', '22:00', '07:30', '2026-01-01T12:00', '2026-01-01T22:00', '2026-01-02T07:30'],
    ['UTC', '22:00', '07:30', '2026-01-01T23:00', '2026-01-01T22:00', '2026-01-02T07:30'],
    ['UTC', '22:00', '07:30', '2026-01-02T07:29', '2026-01-01T22:00', '2026-01-02T07:30'],
    ['UTC', '22:00', '07:30', '2026-01-02T07:30', '2026-01-02T22:00', '2026-01-03T07:30'],
    ['UTC', '01:00', '02:00', '2026-01-01T12:00', '2026-01-02T01:00', '2026-01-02T02:00'],
    ['UTC', '08:00', '08:00', '2026-01-01T12:00', '2026-01-01T08:00', '2026-01-02T08:00'],
    ['America/New_York', '22:00', '07:30', '2026-03-08T04:00', '2026-03-08T03:00', '2026-03-08T11:30'],
    // Half past two does not come there; the quiet time is over, or begins, when it is three.
    ['America/New_York', '22:00', '02:30', '2026-03-08T04:00', '2026-03-08T03:00', '2026-03-08T07:00'],
    ['America/New_York', '02:30', '09:00', '2026-03-08T04:00', '2026-03-08T07:00', '2026-03-08T13:00'],
    // Neither half past two nor a quarter to three: there is no quiet time that day.
    ['America/New_York', '02:30', '02:45', '2026-03-07T12:00', '2026-03-08T07:00', '2026-03-08T07:00'],
    ['America/New_York', '22:00', '07:30', '2026-11-01T04:00', '2026-11-01T02:00', '2026-11-01T12:30'],
  ])('in %s, from %s to %s, at %sZ: %sZ to %sZ', (zone, from, to, now, begins, ends) => {
    vi.stubEnv('TZ', zone);
    expect(quietTimes({ from, to }, `${now}:00.000Z`)).toEqual({
      begins_at: `${begins}:00.000Z`,
      ends_at: `${ends}:00.000Z`,
    });
  });
});

it.each([
  [{}, 0],
  [{ quiet_hours: { from: '22:00', to: '07:30' } }, 0],
  [{ quiet_hours: { from: '11:00', to: '13:30' } }, 90 * 60_000],
  [{ quiet_hours: { from: '12:00', to: '12:00' } }, null],
  [{ do_not_disturb: true }, null],
  [{ do_not_disturb: '2026-01-01T12:00:05.000Z' }, 5_000],
])('with %j, at noon a quiet time is over in %s ms', (preferences, ms) => {
  vi.stubEnv('TZ', 'UTC');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(msOfQuiet(wish(preferences), '2026-01-01T12:00:00.000Z')).toBe(ms);
});

it('what is stored of preferences falls back to the defaults, key by key, and keeps what it does not know', () => {
  expect(preferencesFrom({ sound: true, notify_when: null, of_a_newer_hive: 1 })).toEqual({
    ...DEFAULT_PREFERENCES,
    sound: true,
  });
});
