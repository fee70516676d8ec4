/**
 * The phone and the status buffer show the same sections, in the same words and the same order: one store, the screen of a real
 * Emacs, and the lists that the page makes of what the server sends it.
 *
 * @module-tag emacs
 */
import { expect, onTestFinished, test } from 'vitest';
import type { Session } from '../../src/domain/sessions.ts';
import { type ListedPrompt, sectionsOf, sortWaiting } from '../../src/extensions/inbox/page/order.ts';
import { WORDS } from '../../src/extensions/inbox/page/words.ts';
import { openEmptyHome } from '../support/emacs.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';
import { type Loose, serveInProcess } from '../support/sidecar.ts';

test('what needs you, who works, who is idle and who has ended', async () => {
  const home = await openEmptyHome();
  const hive = await openTestHive(home.store);

  async function called(name: string): Promise<Session> {
    const session = await join(hive, `${name}-session`, { machine: 'elsewhere' });
    await hive.sessions.configure(session.session_id, { name }, HUMAN);
    return session;
  }
  const begin = ({ session_id }: Session) => hive.turns.start({ session_id });
  const ask = async (session: Session, question: string, more = {}) =>
    (await hive.prompts.ask({ question, ...more }, session)).prompt.ask_id;

  const [early, late] = [await called('Tidy'), await called('Amber')];
  const [silent, stoppedFirst, stoppedLast] = [
    await called('Quiet'),
    await called('Umber'),
    await called('Brief'),
  ];
  const [leftFirst, leftLast] = [await called('Olive'), await called('Nutmeg')];
  await begin(early);
  await begin(late);
  for (const session of [stoppedLast, stoppedFirst]) await begin(session);
  for (const { session_id } of [stoppedFirst, stoppedLast]) {
    const turn = await hive.turns.current(session_id);
    await hive.turns.end(turn?.turn_id ?? '');
  }
  await ask(silent, 'No hurry?', { urgency: 'low' });
  await ask(late, 'Soon?', { urgency: 'critical' });
  const blocking = await ask(early, 'Now?');
  const cut = new AbortController();
  const waiting = hive.prompts.wait([blocking], {
    wait_ms: 600_000,
    signal: cut.signal,
    waiter: early.session_id,
  });
  onTestFinished(async () => {
    cut.abort();
    await waiting.catch(() => undefined);
  });
  await ask(leftLast, 'Still there?');
  for (const { session_id } of [leftFirst, leftLast]) await hive.sessions.end(session_id);

  const emacs = await home.emacs('nil', { columns: 120, lines: 40 });
  await emacs.command('hive');
  // Emacs is connected by then: The room has only what is posted later.
  await emacs.until(/blocked for/);
  await post(hive, early, 'The table is ready.');
  await emacs.until(/blocked for[\s\S]*▾ The room[\s\S]*▸ Ended {2}2 agents, 1 open question/);
  await emacs.keys('M->', 'C-p', 'Tab');
  const screen = await emacs.until(/▾ Ended[\s\S]*Olive/);

  // ---- The page. ----

  const desk = await serveInProcess(hive);
  const { prompts } = await desk.request('prompt/list', { status: 'pending' });
  const listed = async (state: string): Promise<Loose[]> =>
    (await desk.request('session/list', { state })).sessions;
  const lists = sortWaiting(prompts as ListedPrompt[], new Date().toISOString());
  const questions = (shown: readonly ListedPrompt[]): string[] => shown.map(({ question }) => question);
  const sections = new Map(
    sectionsOf([...(await listed('ended')), ...(await listed('alive'))]).map(({ section, sessions }) => [
      section,
      sessions.map(({ title }) => title as string),
    ]),
  );
  expect(questions(lists.mine)).toEqual(['Now?', 'Soon?', 'No hurry?']);
  expect(Object.fromEntries(sections)).toEqual({
    working: ['Tidy', 'Amber'],
    idle: ['Brief', 'Umber', 'Quiet'],
    ended: ['Nutmeg', 'Olive'],
  });

  // ---- Emacs shows just that. ----

  const known = [...questions(prompts), ...[...sections.values()].flat()];
  const inEmacs = screen.flatMap((line) => {
    const heading = /^ ▾ (.*?) {2}/.exec(line)?.[1];
    if (heading !== undefined) return [heading];
    const row = line.trim();
    // A question is at the end of its line; an agent is at the beginning of its own, which may end with what blocks it.
    const isOfAgent = / blocked for \S+: /.test(row);
    const label = known.find((name) =>
      name.endsWith('?') ? !isOfAgent && row.endsWith(name) : row.startsWith(name),
    );
    return label === undefined || row.includes('unread message') ? [] : [label];
  });
  expect(inEmacs).toEqual([
    ...[WORDS.waiting, ...questions(lists.mine)],
    ...[WORDS.sections.working, ...(sections.get('working') ?? [])],
    ...[WORDS.sections.idle, ...(sections.get('idle') ?? [])],
    WORDS.messages,
    ...[WORDS.sections.ended, ...questions(lists.ended), ...(sections.get('ended') ?? [])],
  ]);
});
