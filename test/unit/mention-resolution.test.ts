/** Whom names reach: handles, roles, everyone, the human; and what comes back when they reach nobody. */
import { describe, expect, test } from 'vitest';
import { parseMentions } from '../../src/domain/mention-parser.ts';
import {
  type Directory,
  explainUnresolved,
  type Resolution,
  resolveMentions,
  unresolvedText,
} from '../../src/domain/mentions.ts';
import { type Session, startSession } from '../../src/domain/sessions.ts';
import { introduction } from '../support/hive.ts';

const NOW = '2026-01-11T18:00:00.000Z';

function session(handle: string, changes: Partial<Session> = {}): Session {
  return { ...startSession(introduction({ session_id: `id-${handle}` }), handle, NOW), ...changes };
}

const ada = session('Claude-abc12');
const bob = session('Claude-def34');
const far = session('Codex-far99', { project_dir: '/elsewhere/.git' });
const ended = session('Claude-old00', { state: 'ended' });

function resolve(
  names: string[],
  {
    alive = [ada, bob, far],
    gone = [ended],
    muted = [],
    from = ada,
    as = null,
    scope = 'project' as 'project' | 'all',
  }: {
    alive?: Session[];
    gone?: Session[];
    muted?: string[];
    from?: Session | null;
    as?: string | null;
    scope?: 'project' | 'all';
  } = {},
): Resolution {
  const directory: Directory = { alive, ended: gone, isMuted: (id) => muted.includes(id) };
  const message = {
    session_id: from?.session_id ?? null,
    author: from !== null ? ('agent' as const) : as === null ? ('human' as const) : ('unverified' as const),
    as_handle: as,
    project_dir: '/demo/.git',
    scope,
  };
  return resolveMentions(names, message, directory);
}

function reached(resolution: Resolution): string[] {
  return resolution.addressees.map((addressee) => addressee.handle);
}

describe('a handle', () => {
  test('reaches its session, whatever its case and project', () => {
    expect(reached(resolve(['claude-DEF34', 'Codex-far99']))).toEqual(['Claude-def34', 'Codex-far99']);
  });

  test('reaches nobody when it is the author', () => {
    expect(resolve(['Claude-abc12'])).toEqual({ addressees: [], unresolved: [] });
  });

  test('reaches each addressee once, by however many names', () => {
    const both = session('Claude-def34', { roles: ['reviewer'] });
    expect(reached(resolve(['Claude-def34', 'All', 'reviewer'], { alive: [ada, both] }))).toEqual([
      'Claude-def34',
    ]);
  });

  test('that was given is written in full, with dashes and underscores', () => {
    const named = session('frontend_tests-2');
    expect(reached(resolve(parseMentions('**@frontend_tests-2**: done?'), { alive: [ada, named] }))).toEqual([
      'frontend_tests-2',
    ]);
  });

  test('is similar if it has the same beginning, even misspelled, or at most two errors', () => {
    const near = (name: string): string[] =>
      resolve([name], { alive: [ada, session('frontend-tests'), session('frontend-docs')] }).unresolved[0]
        ?.near ?? [];
    expect(near('frontend')).toEqual(['frontend-tests', 'frontend-docs']);
    expect(near('fronted')).toEqual(['frontend-tests', 'frontend-docs']);
    expect(near('frontned-tests')).toEqual(['frontend-tests']);
    expect(near('frontend-tests-runner')).toEqual(['frontend-tests']);
    expect(near('backend')).toEqual([]);
  });

  test('that nobody has comes back with similar ones', () => {
    expect(resolve(['Claude-def3', 'Claude-dfe34', 'humn', 'zzz']).unresolved).toEqual([
      { handle: 'Claude-def3', reason: 'unknown', near: ['Claude-def34'] },
      { handle: 'Claude-dfe34', reason: 'unknown', near: ['Claude-def34'] },
      { handle: 'humn', reason: 'unknown', near: ['Human'] },
      { handle: 'zzz', reason: 'unknown', near: [] },
    ]);
  });

  test('of a group without another member who takes mentions comes back', () => {
    const ofAda = session('Claude-abc12', { roles: ['reviewer'] });
    const quiet = session('Claude-def34', { roles: ['tester'], shared: false });
    const nobody = (handle: string) => ({ handle, reason: 'nobody', near: [] });
    expect(resolve(['All', 'reviewer', 'tester'], { alive: [ofAda, quiet] })).toEqual({
      addressees: [],
      unresolved: [nobody('All'), nobody('reviewer'), nobody('tester')],
    });
  });

  test('of a session that has ended comes back as such', () => {
    expect(resolve(['Claude-old00']).unresolved).toEqual([
      { handle: 'Claude-old00', reason: 'ended', near: [] },
    ]);
  });

  test('of a session that continued under another id reaches its successor', () => {
    const middle = session('Claude-mid00', { state: 'ended', continues: ended.session_id });
    const heir = session('Claude-new00', { continues: middle.session_id });
    const found = resolve(['Claude-old00'], { alive: [ada, heir], gone: [ended, middle] });
    expect(reached(found)).toEqual(['Claude-new00']);
  });

  test('of sessions that continue each other in a circle ends', () => {
    const a = session('Claude-a', { state: 'ended', continues: 'id-Claude-b' });
    const b = session('Claude-b', { state: 'ended', continues: 'id-Claude-a' });
    expect(resolve(['Claude-a'], { gone: [a, b] }).unresolved[0]?.reason).toBe('ended');
  });

  test('of a session that takes no mentions comes back', () => {
    const quiet = session('Claude-def34', { shared: false });
    expect(resolve(['Claude-def34'], { alive: [ada, quiet] }).unresolved).toEqual([
      { handle: 'Claude-def34', reason: 'not_shared', near: [] },
    ]);
  });

  test('that the human has muted with the author comes back', () => {
    expect(resolve(['Claude-def34'], { muted: [bob.session_id] }).unresolved[0]?.reason).toBe('muted');
  });

  test('is found if the sentence continues after it without a space', () => {
    expect(reached(resolve(['Claude-def34にお願いします']))).toEqual(['Claude-def34']);
    const named = session('代理');
    expect(reached(resolve(['代理'], { alive: [named] }))).toEqual(['代理']);
  });
});

describe('@All', () => {
  test('reaches the live sessions of the project except the author', () => {
    expect(reached(resolve(['All']))).toEqual(['Claude-def34']);
    expect(reached(resolve(['ALL'], { from: null }))).toEqual(['Claude-abc12', 'Claude-def34']);
  });

  test('with scope all reaches every project', () => {
    expect(reached(resolve(['All'], { scope: 'all' }))).toEqual(['Claude-def34', 'Codex-far99']);
  });

  test('skips sessions that take no mentions, muted ones, subagents and shells', () => {
    const alive = [
      ada,
      session('Claude-quiet', { shared: false }),
      session('Claude-muted'),
      session('Claude-sub', { session_id: `${ada.session_id}:sub`, parent_session_id: ada.session_id }),
      session('Agent-shell', { client: 'cli' }),
      session('Claude-child', { parent_session_id: ada.session_id }),
    ];
    expect(reached(resolve(['All'], { alive, muted: ['id-Claude-muted'] }))).toEqual(['Claude-child']);
  });
});

describe('a role', () => {
  const reviewer = session('Claude-def34', { roles: ['Reviewer', 'tester'] });
  const farReviewer = session('Codex-far99', { project_dir: '/elsewhere/.git', roles: ['reviewer'] });

  test('reaches the sessions of the project that have it', () => {
    expect(reached(resolve(['reviewer'], { alive: [ada, reviewer, farReviewer] }))).toEqual(['Claude-def34']);
  });

  test('reaches them everywhere with scope all', () => {
    const found = resolve(['reviewer'], { alive: [ada, reviewer, farReviewer], scope: 'all' });
    expect(reached(found)).toEqual(['Claude-def34', 'Codex-far99']);
  });

  test('that only other projects have comes back as such', () => {
    expect(resolve(['reviewer'], { alive: [ada, farReviewer] }).unresolved[0]?.reason).toBe('elsewhere');
  });

  test('never replaces All or Human', () => {
    const greedy = session('Codex-greedy', { roles: ['All', 'Human'] });
    expect(reached(resolve(['Human'], { alive: [ada, bob, greedy] }))).toEqual(['Human']);
  });

  test('that is also the name of a session reaches both, even if one of them is excluded', () => {
    const named = session('reviewer');
    const carrier = session('Codex-7777', { roles: ['reviewer'] });
    expect(reached(resolve(['reviewer'], { alive: [ada, named, carrier] }))).toEqual([
      'reviewer',
      'Codex-7777',
    ]);
    const quiet = { ...named, shared: false };
    expect(reached(resolve(['reviewer'], { alive: [ada, quiet, carrier] }))).toEqual(['Codex-7777']);
    const elsewhere = { ...carrier, project_dir: '/elsewhere/.git' };
    expect(resolve(['reviewer'], { alive: [ada, named, elsewhere] })).toMatchObject({
      addressees: [{ handle: 'reviewer' }],
      unresolved: [],
    });
    expect(resolve(['reviewer'], { alive: [ada, quiet, elsewhere] }).unresolved).toMatchObject([
      { reason: 'elsewhere' },
    ]);
  });
});

describe('@Human', () => {
  test('reaches the human, who has no session', () => {
    expect(resolve(['human']).addressees).toEqual([{ session_id: 'human', handle: 'Human', by_name: true }]);
  });

  test('reaches nobody when the human writes it', () => {
    expect(resolve(['Human'], { from: null })).toEqual({ addressees: [], unresolved: [] });
  });
});

describe('the session that the heading names as the author', () => {
  const forged = { from: null, as: 'claude-DEF34' };

  test('is not reached by everyone, nor by its roles', () => {
    expect(reached(resolve(['All'], forged))).toEqual(['Claude-abc12']);
    const reviewers = [
      session('Claude-abc12', { roles: ['tester'] }),
      session('Claude-def34', { roles: ['tester'] }),
    ];
    expect(reached(resolve(['tester'], { ...forged, alive: reviewers }))).toEqual(['Claude-abc12']);
  });

  test('is not reached by its name, and its author learns why', () => {
    const resolution = resolve(['Claude-def34', 'Claude-abc12'], forged);
    expect(reached(resolution)).toEqual(['Claude-abc12']);
    expect(resolution.unresolved).toEqual([{ handle: 'Claude-def34', reason: 'own_heading', near: [] }]);
    expect(resolution.unresolved.map(explainUnresolved)).toEqual([
      '@Claude-def34 reached nobody: the heading names that session as the author.',
    ]);
  });

  test('is also its successor under another id', () => {
    const next = session('Claude-new99', { continues: ended.session_id });
    const options = { from: null, as: 'Claude-old00', alive: [ada, next] };
    expect(reached(resolve(['All'], options))).toEqual(['Claude-abc12']);
  });

  test('may be nobody: then everybody is reached, including the human', () => {
    const resolution = resolve(['All', 'Human'], { from: null, as: 'CI' });
    expect(reached(resolution)).toEqual(['Claude-abc12', 'Claude-def34', 'Human']);
  });
});

test('similar names are looked up a limited number of times', () => {
  const names = Array.from({ length: 40 }, (_, n) => `Claude-def3${n}x`);
  const { unresolved } = resolve(names);
  expect(unresolved).toHaveLength(40);
  expect(unresolved.slice(10).every((one) => one.near.length === 0)).toBe(true);
});

test('a mention that reached nobody is reported in a sentence, with what was perhaps meant', () => {
  expect(explainUnresolved({ handle: 'Claude-x', reason: 'unknown', near: ['Claude-y', 'Claude-z'] })).toBe(
    '@Claude-x reached nobody: nobody has that name. Did you mean @Claude-y or @Claude-z?',
  );
  expect(explainUnresolved({ handle: 'Claude-x', reason: 'ended', near: [] })).toBe(
    '@Claude-x reached nobody: that session has ended; mention it again if it is resumed.',
  );
  expect(['＠Claude-x', '@a@b'].map((text) => explainUnresolved(unresolvedText(text)))).toEqual([
    '＠Claude-x reached nobody: a mention is a plain @ and one name, with spaces around them. Did you mean @Claude-x?',
    '@a@b reached nobody: a mention is a plain @ and one name, with spaces around them. Did you mean @a or @b?',
  ]);
});
