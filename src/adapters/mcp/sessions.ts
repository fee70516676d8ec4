/** The tool that lists sessions with the handles by which they are mentioned. */
import { z } from 'zod';
import type { Session } from '../../domain/sessions.ts';
import { sentences, type Tool, tool } from './tool.ts';

/** How many sessions are read, and how many of them are listed. */
const [MOST_KNOWN, MOST_LISTED] = [1_000, 100];

const sessions = tool({
  name: 'hivemind_sessions',
  title: 'Who is here',
  description:
    'The agents that are here, with the handles and roles by which you can mention them; those of your project first.',
  example: {},
  input: {
    ended: z.boolean().optional().describe('Also those that have ended lately. Default false.'),
  },
  effect: 'none',
  async handle({ ended = false }, { hive, session, advice }) {
    const known = await hive.sessions.list({ state: ended ? undefined : 'alive', limit: MOST_KNOWN });
    const waiting = await hive.mentions.unprocessedBySession();
    const blocking = await hive.prompts.blocking();
    const distance = (one: Session): number =>
      one.session_id === session.session_id ? 0 : one.project_dir === session.project_dir ? 1 : 2;
    const listed = known.toSorted((a, b) => distance(a) - distance(b)).slice(0, MOST_LISTED);
    const left = known.length - listed.length;
    return {
      you: session.handle,
      sessions: listed.map((one) => ({
        handle: one.handle,
        // The human sees this name, and may use it.
        title: one.title,
        ...(one.session_id === session.session_id ? { you: true } : {}),
        client: one.client,
        source: one.source,
        project: one.project,
        branch: one.branch,
        state: one.state,
        roles: one.roles,
        takes_mentions: one.shared && one.state !== 'ended',
        unprocessed_mentions: waiting.get(one.session_id) ?? 0,
        last_seen_at: one.last_seen_at,
        // Since when it waits for its human: an agent that is asked to do something should know that it cannot begin.
        blocked_since: blocking.get(one.session_id)?.blocked_since,
      })),
      next: sentences(
        left === 0
          ? null
          : `${left}${known.length === MOST_KNOWN ? ' or more' : ''} others are not listed, seen longer ago or in other projects.`,
        'Reach one with hivemind_post and @HANDLE in the body, all of your project with @All, your human with @Human.',
        advice,
      ),
    };
  },
});

export const sessionTools: readonly Tool[] = [sessions];
