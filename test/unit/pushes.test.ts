/** The decisions alone about pushes: to whom, of what, and when. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Popup } from '../../src/domain/popups.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import {
  afterPush,
  closingOf,
  deliveryOf,
  MOST_PUSH_BYTES,
  msUntilPush,
  type PushCase,
  pushOf,
} from '../../src/extensions/inbox/pushes.ts';

function popup(changes: Partial<Popup> = {}, prompt: Partial<Prompt> = {}): Popup {
  return {
    kind: 'prompt',
    subject: 'ask-1',
    title: 'Claude-1 · shop',
    body: 'Which one?',
    urgency: 'normal',
    buttons: [],
    openable: true,
    sound: false,
    command: null,
    count: 1,
    prompts: [{ ask_id: 'ask-1', agent: 'Claude-1', kind: 'question', ...prompt } as Prompt],
    ...changes,
  };
}

const buttonsOf = (buttons: readonly string[], prompt: Partial<Prompt> = {}): readonly string[] =>
  pushOf(popup({ buttons }, prompt)).show?.buttons ?? [];

describe('the buttons of a push', () => {
  test('are the options of a question, if the phone shows every one of them', () => {
    expect(buttonsOf(['yes', 'no'])).toEqual(['yes', 'no']);
    expect(buttonsOf(['a', 'b', 'c'])).toEqual([]);
  });

  test('are none for a permission', () => {
    expect(buttonsOf(['allow', 'deny'], { kind: 'permission' })).toEqual([]);
  });

  test.each([['y'.repeat(61)], ['two\nlines'], ['a\u202eb'], ['a\u0007']])(
    'are none where a label would not be shown as it is: %j',
    (label) => {
      expect(buttonsOf([label, 'no'])).toEqual([]);
    },
  );
});

describe('the text of a push', () => {
  test('spells out control characters and what hides or reorders text', () => {
    const hostile = 'a\u001b[31mb\u202ec\u0000\u200bd';
    const { show } = pushOf(popup({ title: hostile, body: hostile }, { agent: hostile }));
    const text = `${show?.title}${show?.body}${show?.agent}`;
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u200b\u202e]/);
    expect(text).toContain('<U+202E>');
  });

  test('always fits into what every push service takes', () => {
    const anything = fc.string({ unit: 'binary', maxLength: 2_000 });
    fc.assert(
      fc.property(anything, anything, anything, (title, body, agent) => {
        const message = pushOf(popup({ title, body, buttons: ['yes', 'no'] }, { agent }));
        expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(MOST_PUSH_BYTES);
      }),
      { numRuns: 20 },
    );
    const wide = '\u{1f600}\u200b'.repeat(2_000);
    const message = pushOf(popup({ title: wide, body: wide }, { agent: wide }));
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(MOST_PUSH_BYTES);
  });

  test('of a storm names no single question', () => {
    const { show } = pushOf(popup({ kind: 'storm', subject: null, count: 50, buttons: [] }));
    expect(show).toMatchObject({
      tag: 'storm',
      kind: 'storm',
      ask_id: null,
      screen: '',
      agent: null,
      buttons: [],
    });
  });
});

test('what is taken back replaces what the phone has not got yet', () => {
  const shown = deliveryOf(pushOf(popup()));
  expect(deliveryOf(closingOf(['ask-1'])).topic).toBe(shown.topic);
  // A topic has at most 32 characters of base64url.
  expect(deliveryOf(closingOf(['a'.repeat(33)])).topic).toBeNull();
  expect(deliveryOf(closingOf(['a b'])).topic).toBeNull();
  // One push takes back several, and replaces none.
  expect(deliveryOf(closingOf(['ask-1', 'ask-2'])).topic).toBeNull();
});

describe('a tap opens the screen', () => {
  const screen = (changes: Partial<Popup>): string | undefined => pushOf(popup(changes)).show?.screen;

  test('of the question or the permission, or the list for many', () => {
    expect(screen({})).toBe('ask/ask-1');
    expect(screen({ kind: 'storm', subject: null })).toBe('');
  });

  test('of pings and cards, and of messages, whether it is about one or about many', () => {
    for (const subject of ['ping-1', null]) {
      expect(screen({ kind: 'outreach', subject, prompts: [] })).toBe('reports');
      expect(screen({ kind: 'mention', subject, prompts: [] })).toBe('messages');
    }
  });

  test('and storms of each kind have a notification of their own', () => {
    const kinds = ['storm', 'outreach', 'mention'] as const;
    const tags = kinds.map((kind) => pushOf(popup({ kind, subject: null, prompts: [] })).show?.tag);
    expect(new Set(tags).size).toBe(3);
  });
});

describe('a phone is notified', () => {
  const NOW = 1_000_000;
  const now = { attended: true, last_ms: NOW };
  const seen = (ago_ms: number) => ({ attended: false, last_ms: NOW - ago_ms });
  const ms = (pushed: Partial<PushCase>, phone_after = 60): number | null =>
    msUntilPush(
      { kind: 'prompt', urgency: 'normal', age_ms: 0, attendance: now, ...pushed },
      { phone_after },
      NOW,
    );

  test.each<[string, Partial<PushCase>, number | null]>([
    ['at once of what is critical', { urgency: 'critical' }, 0],
    ['at once where nobody was at a desk', { attendance: { attended: false, last_ms: null } }, 0],
    ['not yet while a desk is attended', {}, 60_000],
    ['60 s after somebody was at a desk', { attendance: seen(20_000) }, 40_000],
    ['at once when that was long ago', { attendance: seen(90_000) }, 0],
    ['of a question that came before', { attendance: seen(90_000), age_ms: 100_000 }, 0],
    ['of a mention that came before', { kind: 'mention', attendance: seen(90_000), age_ms: 100_000 }, 0],
    ['never of a ping that a desk has announced', { kind: 'outreach' }, null],
    [
      'never of a ping that came before its human was last at a desk',
      { kind: 'outreach', attendance: seen(90_000), age_ms: 100_000 },
      null,
    ],
    ['of a ping that came later', { kind: 'outreach', attendance: seen(20_000), age_ms: 10_000 }, 40_000],
    ['at once of a critical ping', { kind: 'outreach', urgency: 'critical' }, 0],
  ])('%s', (_what, pushed, expected) => {
    expect(ms(pushed)).toBe(expected);
  });

  test('at once, attended or not, where its human wants that', () => {
    expect(ms({}, 0)).toBe(0);
    expect(ms({ kind: 'outreach' }, 0)).toBe(0);
  });
});

describe('after a try', () => {
  const reply = (status: number | null, retry_after: string | null = null) => ({
    status,
    retry_after,
    text: status === null ? 'No answer.' : '',
  });
  const kind = (status: number | null, tried = 1, retry_after: string | null = null): string =>
    afterPush(reply(status, retry_after), tried, 0).kind;

  test('a subscription that is gone ends', () => {
    expect([404, 410].map((status) => kind(status))).toEqual(['gone', 'gone']);
  });

  test.each([
    [
      403,
      'the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.',
    ],
    [400, '{"reason":"VapidPkHashMismatch"}'],
    [401, '{"errno":109,"message":"VAPID public key mismatch"}'],
  ])('so does one of another key: %i %s', (status, text) => {
    const outcome = afterPush({ status, retry_after: null, text }, 1, 0);
    expect(outcome).toMatchObject({ kind: 'gone', why: expect.stringContaining(text) });
  });

  test.each([
    [403, '{"reason":"BadJwtToken"}'],
    [401, 'crypto-key header had invalid format'],
    [403, ''],
    [400, '{"reason":"BadDeviceToken"}'],
  ])(
    'what the service says about a fault of ours is kept, and the subscription too: %i %s',
    (status, text) => {
      const why =
        text === '' ? `The push service answered ${status}.` : `The push service answered ${status}: ${text}`;
      expect(afterPush({ status, retry_after: null, text }, 1, 0)).toEqual({ kind: 'failed', why });
    },
  );

  test('what may pass is tried again, four times in all', () => {
    for (const status of [429, 500, 503, null])
      expect([1, 2, 3, 4].map((tried) => kind(status, tried))).toEqual(['retry', 'retry', 'retry', 'failed']);
  });

  test('what is wrong with the push itself is not tried again', () => {
    expect([400, 413, 302].map((status) => kind(status))).toEqual(['failed', 'failed', 'failed']);
  });

  test.each([
    ['30', 30_000],
    ['0', 1_000],
    [new Date(40_000).toUTCString(), 40_000],
    ['nonsense', 1_000],
  ])('Retry-After: %s waits %i ms', (retry_after, in_ms) => {
    expect(afterPush(reply(429, retry_after), 1, 0)).toMatchObject({ kind: 'retry', in_ms });
  });

  test('nobody waits for more than a minute', () => {
    expect(kind(429, 1, '61')).toBe('failed');
    expect(kind(429, 1, '999999999')).toBe('failed');
  });
});
