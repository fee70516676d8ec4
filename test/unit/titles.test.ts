/**
 * The titles by which people know a session.
 *
 * @module-tag provenance
 */
import { describe, expect, test } from 'vitest';
import { cleanTitle, matchHandle, refusalOfTitle, type Titling, titleOf } from '../../src/domain/names.ts';
import { clientTitle } from '../../src/domain/transcripts.ts';

const OWN: Titling['session'] = {
  handle: 'Claude-abc12',
  title: 'Claude-abc12',
  client: 'claude-code',
  project: 'shop',
  name: null,
  client_title: null,
  first_words: null,
};

function titled(session: Partial<Titling['session']>, more: Partial<Titling> = {}): string {
  return titleOf({ session: { ...OWN, ...session }, host: null, others: [], humans: ['ada'], ...more });
}

const called = (
  title: string,
  handle = 'Claude-fff00',
  name: string | null = null,
): Titling['others'][number] => ({ title, handle, name });

describe('a session is called by', () => {
  const facts = { name: 'checkout', client_title: 'Fix the delivery date', first_words: 'please fix it' };

  test('the name that its person gave it', () => expect(titled(facts)).toBe('checkout'));
  test('else the title of its client', () =>
    expect(titled({ ...facts, name: null })).toBe('Fix the delivery date'));
  test('else its project', () => expect(titled({ ...facts, name: null, client_title: null })).toBe('shop'));
  test('else the first words of its first prompt, where its project is a person', () =>
    expect(titled({ project: 'ada', first_words: 'please fix it' })).toBe('please fix it'));
  test('else its handle', () => expect(titled({ project: '/' })).toBe('Claude-abc12'));
  test('a subagent by its type and the session that it is part of', () =>
    expect(titled({ client_title: 'Explore' }, { host: 'shop 2' })).toBe('Explore of shop 2'));
  test('a shell by its project', () => expect(titled({ client: 'cli' })).toBe('shell in shop'));
});

describe('two living sessions are never called the same', () => {
  test('the second gets a number', () => {
    expect(titled({}, { others: [called('shop')] })).toBe('shop 2');
    expect(titled({}, { others: [called('shop'), called('shop 2')] })).toBe('shop 3');
  });
  test('that of a subagent does not become part of the name of its session', () => {
    const others = [called('Explore of shop'), called('shop 2')];
    expect(titled({ client_title: 'Explore' }, { host: 'shop', others })).toBe('Explore 2 of shop');
    const now = { title: 'Explore 2 of shop', client_title: 'Explore' };
    expect(titled(now, { host: 'shop' })).toBe('Explore 2 of shop');
    expect(titled(now, { host: 'shop', others: [...others, called('Explore 2 of shop')] })).toBe(
      'Explore 3 of shop',
    );
  });
  test('it keeps the number when the first has gone', () => {
    expect(titled({ title: 'shop 2' })).toBe('shop 2');
    expect(titled({ title: 'shop 2', client_title: 'Fix it' })).toBe('Fix it');
  });
  test('nor by what looks the same, or is spelled the same in a mention', () => {
    expect(titled({}, { others: [called('ѕhop')] })).toBe('shop 2');
    expect(titled({ client_title: 'fix it' }, { others: [called('Fix-It')] })).toBe('fix it 2');
  });
  test('but the name that a person gave goes before what nobody gave', () => {
    expect(titled({ name: 'shop' }, { others: [called('shop')] })).toBe('shop');
    expect(titled({ name: 'shop' }, { others: [called('shop', 'Claude-fff00', 'shop')] })).toBe('shop 2');
  });
  test('nor by the handle that a person gave another one', () =>
    expect(titled({}, { others: [called('checkout', 'shop')] })).toBe('shop 2'));
});

describe('a title imitates nobody', () => {
  const impostors = [
    'Human',
    'human',
    'HUMAN ',
    'Нuman',
    'Hu\u200bman',
    '@Human',
    '[Human]',
    'Human:',
    'All',
    'unverified',
    'Ada',
    'ADA',
    'Claude-fff00',
    'claude fff00',
    'CIaude-fff00',
    'Codex-12345',
  ];

  test.each(impostors)('%j is not used', (client_title) => {
    expect(titled({ client_title })).toBe('shop');
  });
  test.each(impostors)('%j is refused with a sentence', (name) => {
    expect(refusalOfTitle(cleanTitle(name) ?? '', ['ada'])).toMatch(/^".*" (is|looks) .*\.$/);
  });
  test('its own handle is its own', () =>
    expect(titled({ client_title: 'Claude-abc12' })).toBe('Claude-abc12'));
  test('it is one short line without the marks that our sentences use', () => {
    expect(cleanTitle('[bg] x · billing: "Human" said\nyes \u202e(ok)')).toBe(
      'bg x billing Human said yes ok',
    );
    expect(cleanTitle(`${'long '.repeat(30)}end`)).toHaveLength(36);
    expect(cleanTitle(' ??? ')).toBeNull();
  });
});

describe("the client's own title", () => {
  const line = (entry: object): string => `${JSON.stringify(entry)}\n`;
  /** Reads only this file. */
  const reading = (file: string, tail: string) => (path: string) => (path === file ? tail : null);

  describe('in a transcript of Claude Code', () => {
    const session = { client: 'claude-code', session_id: 's', transcript_path: '/home/ada/s.jsonl' };
    const titleIn = (tail: string) => clientTitle(session, reading('/home/ada/s.jsonl', tail));
    const generated = line({ type: 'ai-title', aiTitle: 'Fix delivery', sessionId: 's' });
    const renamed = (customTitle: string): string =>
      line({ type: 'custom-title', customTitle, sessionId: 's' });

    test('is the last one of /rename, whatever was generated', () =>
      expect(titleIn(renamed('old') + renamed('new') + generated)).toBe('new'));
    test('else the generated one', () => expect(titleIn(generated)).toBe('Fix delivery'));
    test('is none once it was removed', () => expect(titleIn(renamed('old') + renamed(''))).toBeNull());
    test('is unknown where the end does not say', () =>
      expect(titleIn(line({ type: 'user', message: renamed('fake') }))).toBeUndefined());
    test('is unknown where the line is cut', () =>
      expect(titleIn(renamed('x').slice(0, -5))).toBeUndefined());
    test('is unknown without a file', () =>
      expect(clientTitle({ ...session, transcript_path: null }, () => generated)).toBeUndefined());
  });

  describe('in the index of Codex', () => {
    const transcript_path = '/home/ada/sessions/.codex/sessions/2026/11/27/rollout-t.jsonl';
    const titleIn = (tail: string) =>
      clientTitle(
        { client: 'codex', session_id: 't', transcript_path },
        reading('/home/ada/sessions/.codex/session_index.jsonl', tail),
      );
    const named = (id: string, thread_name: string): string => line({ id, thread_name, updated_at: 'now' });

    test('is the last name of that thread', () =>
      expect(titleIn(named('t', 'old') + named('t', 'new') + named('other', 'not this'))).toBe('new'));
    test('is unknown where only other threads are named', () =>
      expect(titleIn(named('other', named('t', 'fake')))).toBeUndefined());
    test('is unknown where the rollout is in no such folder', () =>
      expect(
        clientTitle({ client: 'codex', session_id: 't', transcript_path: '/tmp/r.jsonl' }, () =>
          named('t', 'x'),
        ),
      ).toBeUndefined());
  });
});

describe('what a person types means', () => {
  const held = [
    { session_id: 'a', handle: 'Claude-aaaaa', title: 'Fix delivery', alive: true },
    { session_id: 'b', handle: 'Claude-bbbbb', title: 'shop', alive: true },
    { session_id: 'c', handle: 'Claude-ccccc', title: 'shop 2', alive: true },
    { session_id: 'd', handle: 'Claude-ddddd', title: 'gone', alive: false },
  ];
  const found = (text: string): string | undefined => {
    const match = matchHandle(text, held);
    return 'found' in match ? match.found.session_id : undefined;
  };

  test('a title, as it is read or as a mention spells it', () => {
    expect(found('fix delivery')).toBe('a');
    expect(found('@Fix-delivery')).toBe('a');
    expect(found('shop')).toBe('b');
    expect(found('fix')).toBe('a');
  });
  test('nothing where two begin so', () =>
    expect(matchHandle('sho', held)).toEqual({ ambiguous: ['Claude-bbbbb', 'Claude-ccccc'] }));
  test('never the title of a session that has ended', () => expect(found('gone')).toBeUndefined());
});
