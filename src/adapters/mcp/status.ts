/** The tool that shows an agent the state of Hive: pending prompts, humans, sessions and desks. */
import { excerpt } from '../../domain/text.ts';
import { sentences, type Tool, tool } from './tool.ts';

const LIST_LIMIT = 50;

const status = tool({
  name: 'hivemind_status',
  title: 'State of the hive',
  description:
    'The pending questions, the humans and whether they are here, the known sessions, and how many desks are online.',
  example: {},
  input: {},
  effect: 'none',
  async handle(_args, { hive, session, advice }) {
    const [pending, counts, sessions, desks, humans, teams] = await Promise.all([
      hive.prompts.list({ status: 'pending', limit: LIST_LIMIT }),
      hive.prompts.countPending(),
      hive.sessions.list({ state: 'alive', limit: LIST_LIMIT }),
      hive.desks.online(),
      hive.humans.presence(),
      hive.humans.teams(),
    ]);
    const total = counts.critical + counts.normal + counts.low;
    return {
      you: session.handle,
      desks_online: desks.length,
      // The names that `to` of hivemind_ask_async accepts.
      humans: humans.slice(0, LIST_LIMIT),
      teams: teams
        .slice(0, LIST_LIMIT)
        .map(({ name, members, escalate_after_ms }) => ({ name, members, escalate_after_ms })),
      pending_total: total,
      // Without the ask_id, which is the capability to poll.
      pending: pending.items.map(
        ({ agent, project, kind, urgency, question, created_at, blocked_since, to, claimed_by }) => ({
          agent,
          project,
          kind,
          urgency,
          question: excerpt(question, 120),
          created_at,
          ...(blocked_since === null ? {} : { blocked_since }),
          ...(to === null ? {} : { to }),
          ...(claimed_by === null ? {} : { claimed_by }),
        }),
      ),
      sessions: sessions.map(({ handle, client, source, project, state, last_seen_at }) => ({
        handle,
        client,
        source,
        project,
        state,
        last_seen_at,
      })),
      next: sentences(
        desks.length === 0
          ? 'No desk is online: questions wait in the store until one opens.'
          : 'Ask with hivemind_ask_async.',
        advice,
      ),
    };
  },
});

export const statusTools: readonly Tool[] = [status];
