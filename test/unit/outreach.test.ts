import { describe, expect, test } from 'vitest';
import {
  cardContent,
  cardText,
  describeOutreach,
  describeReport,
  fittingReports,
  moreReports,
  newOutreach,
  type Outreach,
  pingContent,
  reportContent,
  type Sender,
} from '../../src/domain/outreach.ts';
import { type Popup, popupOf, type Told, tellOutreach } from '../../src/domain/popups.ts';
import { DEFAULT_PREFERENCES } from '../../src/domain/preferences.ts';
import { NO_AUTHORITY } from '../../src/domain/trust.ts';

const WISHES = { ...DEFAULT_PREFERENCES, ...NO_AUTHORITY };

const NOW = '2026-03-01T12:00:00.000Z';
const SENDER: Sender = {
  session_id: 's',
  agent: 'Claude-abc12',
  agent_title: null,
  source: 'bg',
  project: 'shop',
  project_dir: '/shop/.git',
  turn_id: null,
};
const OWN = { outreach_id: 'card-1', number: 1 };
const card = (request: Partial<Parameters<typeof cardContent>[0]>): Outreach =>
  newOutreach('card', cardContent({ title: 'Build', ...request }), SENDER, OWN, NOW);
const ping = (message: string): Outreach => newOutreach('ping', pingContent({ message }), SENDER, OWN, NOW);
const report = (message: string): Outreach =>
  newOutreach('report', reportContent({ message }), SENDER, OWN, NOW);
const many = <T>(count: number, item: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => item(n));

test.each<[string, () => unknown, string]>([
  ['a ping of 501 characters', () => ping('x'.repeat(501)), 'message is too long: at most 500 characters'],
  ['an empty ping', () => ping(' \n '), 'message is empty'],
  ['an empty title', () => card({ title: '' }), 'title is empty'],
  ['a title of blanks', () => card({ title: '   ' }), 'title is empty'],
  [
    '26 fields',
    () => card({ fields: many(26, (n) => ({ name: `${n}`, value: 'v' })) }),
    '26 fields: at most 25',
  ],
  [
    'a field without a value',
    () => card({ fields: [{ name: 'n', value: '' }] }),
    'value of a field is empty',
  ],
  ['six actions', () => card({ actions: many(6, (n) => ({ label: `${n}` })) }), '6 actions: at most 5'],
  ['two actions alike', () => card({ actions: [{ label: 'a' }, { label: ' a ' }] }), 'labels must differ'],
  [
    'a colour that is none',
    () => card({ color: 'mauve' }),
    'no colour "mauve": use blue, green, red, yellow',
  ],
  ['a colour of markup', () => card({ color: '<b>\u202e' }), 'no colour'],
  ['a report over 8 KB', () => report('ä'.repeat(4_097)), 'at most 8 KB'],
  ['an empty report', () => report('\n'), 'message is empty'],
])('what is refused, with the field and its bound: %s', (_name, make, sentence) => {
  expect(make).toThrow(
    expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining(sentence) }),
  );
});

describe('what is accepted', () => {
  test('exactly the bounds, counted in characters as people see them', () => {
    expect(ping('🐝'.repeat(500)).message).toHaveLength(1_000);
    expect(card({ fields: many(25, (n) => ({ name: `${n}`, value: 'v' })) }).fields).toHaveLength(25);
    expect(report('x'.repeat(8 * 1024)).message).toHaveLength(8_192);
  });

  test('markup and bidi characters are kept; NUL and lone surrogates are replaced, in each text', () => {
    const nasty = '<b>\u202eevil</b>\u0000\ud800';
    const clean = '<b>\u202eevil</b>\ufffd\ufffd';
    expect(ping(nasty).message).toBe(clean);
    expect(report(nasty).message).toBe(clean);
    const made = card({
      title: nasty,
      description: nasty,
      fields: [{ name: nasty, value: nasty }],
      actions: [{ label: nasty, ask: nasty }],
    });
    expect(made).toMatchObject({
      title: clean,
      description: clean,
      fields: [{ name: clean, value: clean, inline: false }],
      actions: [{ label: clean, ask: clean }],
    });
  });

  test('a card is plain text if no card can be shown', () => {
    const made = card({ description: 'All green.', fields: [{ name: 'Tests', value: '12' }] });
    expect(cardText(made)).toBe('All green.\n\nTests: 12');
    expect(describeOutreach(made)).toBe('card "Build"');
  });
});

describe('on the desktop', () => {
  function popupOn(...items: Outreach[]): Popup {
    const [first = expect.fail(), ...others]: Told[] = items.map(tellOutreach);
    return popupOf('outreach', [first, ...others], WISHES);
  }

  test('the label is before the name, and below a card; main has none', () => {
    expect(popupOn(ping('done'))).toMatchObject({
      kind: 'outreach',
      title: '[bg] Claude-abc12 · shop',
      body: 'done',
      buttons: [],
    });
    const fork = { ...card({ description: 'All green.' }), source: 'fork' as const };
    expect(popupOn(fork)).toMatchObject({
      title: '[fork] Claude-abc12 · shop',
      body: 'Build\nAll green.\nfork',
    });
    const main = { ...card({}), source: 'main' as const };
    expect(popupOn(main)).toMatchObject({ title: 'Claude-abc12 · shop', body: 'Build' });
  });

  test('a card is shown whole, except fields for which there is no room', () => {
    const fields = many(7, (n) => ({ name: `${n}`, value: 'v\nw' }));
    const { body } = popupOn(card({ description: 'a\nb', fields }));
    expect(body.split('\n')).toEqual(['Build', 'a b', ...many(5, (n) => `${n}: v w`), 'and 2 more', 'bg']);
  });

  test('many are one popup that names the first', () => {
    const popup = popupOn(...many(5, (n) => ping(`message ${n}`)));
    expect(popup).toMatchObject({ title: '5 messages from agents', count: 5 });
    expect(popup.body.split('\n')).toEqual([
      '[bg] Claude-abc12: message 0',
      '[bg] Claude-abc12: message 1',
      '[bg] Claude-abc12: message 2',
      'and 2 more',
    ]);
  });
});

describe('reports as they are read', () => {
  test('say who sent them, from where, and whether they may have been read before', () => {
    const item = { ...report('All done.'), outreach_id: 'report-1' };
    expect(describeReport(item, false)).toBe(
      `Report from Claude-abc12 (bg) at ${NOW} [report-1]:\n> All done.`,
    );
    expect(describeReport(item, true)).toContain('(repeated: this may have reached you before)');
  });

  test('ten at most, and no more than fits into the context', () => {
    expect(
      fittingReports(
        many(12, () => 'short'),
        [],
      ),
    ).toBe(10);
    expect(
      fittingReports(
        many(3, () => 'x'.repeat(4_000)),
        [],
      ),
    ).toBe(2);
    expect(fittingReports(['x'.repeat(8_300)], [])).toBe(1);
    expect(fittingReports(['x'.repeat(8_300)], ['y'.repeat(2_000)])).toBe(0);
    expect(fittingReports(['x'.repeat(20_000)], [])).toBe(1);
  });

  test('the rest is counted', () => {
    expect(moreReports(1)).toMatch(/^1 more report waits/);
    expect(moreReports(7)).toMatch(/^7 more reports wait/);
  });
});
