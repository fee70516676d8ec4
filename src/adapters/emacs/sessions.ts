/** Sessions over JSON-RPC: listing and configuring them. */
import { countThatFits } from '../../domain/limits.ts';
import { placeOf } from '../../domain/sessions.ts';
import { cleanText } from '../../domain/text.ts';
import { configureParams, sessionListParams } from '../../schemas/sessions.ts';
import { FRAME_BYTES } from './frames.ts';
import { acts, type EventNotifier, humanAt, type Methods, subjectsOf, takes } from './method.ts';

const DEFAULT_LIMIT = 200;

export const sessionMethods = {
  'session/list': takes(
    sessionListParams,
    'Returns sessions, newest first, 200 by default (`limit`). `more` means that others were left out. `turn` is the newest turn, in any state; `section` and `order_key` say where people see the session (compare keys as text).',
    async ({ state = 'alive', limit = DEFAULT_LIMIT }, { hive }) => {
      const found = await hive.sessions.list({
        state: state === 'all' ? undefined : state,
        limit: limit + 1,
      });
      const sessions = found.slice(0, limit);
      // With the running turn, or the end of the last one, so that Emacs also shows a turn that ended while it was away.
      const turns = await hive.turns.newestViews(sessions);
      const waiting = await hive.mentions.unprocessedBySession();
      const listed = sessions.map((session) => {
        const turn = turns.get(session.session_id);
        const unprocessed_mentions = waiting.get(session.session_id) ?? 0;
        return { ...session, unprocessed_mentions, turn: turn ?? null, ...placeOf(session, turn) };
      });
      const fitting = listed.slice(0, countThatFits(listed, FRAME_BYTES));
      // No cursor: the order is by last activity, which changes before the next page.
      return { sessions: fitting, more: fitting.length < found.length };
    },
  ),

  'session/configure': acts(
    configureParams,
    'Changes the settings of one session. A setting that is left out keeps its value; null restores the default.',
    async (params, connection) => {
      const { session_id, by, ...changes } = params;
      const actor = humanAt(connection, by);
      const session = await connection.hive.sessions.configure(cleanText(session_id), changes, actor);
      return { session };
    },
  ),
} satisfies Methods;

export const notifySessions: EventNotifier = async (events, { hive }, notify) => {
  for (const session_id of subjectsOf(events, (type) => type.startsWith('session/'))) {
    const session = await hive.sessions.find(session_id);
    // For a session with a turn, its place is that of the turn, and changes of the turn are sent anyway.
    if (session !== undefined) notify('session/changed', { ...session, ...placeOf(session, undefined) });
  }
};
