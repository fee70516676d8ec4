/** Agents and the human in the shared buffer, for tests. */

import type { Posted } from '../../src/application/messages.ts';
import type { MessageFilter } from '../../src/application/ports.ts';
import { agentAuthor, humanAuthor, type PostRequest } from '../../src/domain/messages.ts';
import type { Session, SessionIntroduction } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { introduction } from './hive.ts';

export const DEMO = { project: 'demo', project_dir: '/demo/.git' };

/** A session that `post` can speak for; its handle is `Claude-` and the first five characters of its id. */
export function join(
  hive: OpenedHive,
  session_id: string,
  changes: Partial<SessionIntroduction> = {},
): Promise<Session> {
  return hive.sessions.introduce(introduction({ session_id, ...changes }));
}

/** Three agents of one project: Claude-abc12, Claude-def34 and Claude-xyz56. */
export async function joinThree(hive: OpenedHive): Promise<[Session, Session, Session]> {
  return [
    await join(hive, 'abc12-session'),
    await join(hive, 'def34-session'),
    await join(hive, 'xyz56-session'),
  ];
}

export function post(
  hive: OpenedHive,
  from: Session | 'human',
  body: string,
  request: Omit<Partial<PostRequest>, 'body'> = {},
): Promise<Posted> {
  const author = from === 'human' ? humanAuthor('emacs', DEMO) : agentAuthor(from, 'mcp');
  return hive.messages.post({ ...request, body, author });
}

/** A block with a heading that a program inserted in the human's Emacs. */
export function postUnverified(
  hive: OpenedHive,
  handle: string,
  body: string,
  request: Omit<Partial<PostRequest>, 'body'> = {},
): Promise<Posted> {
  return hive.messages.post({
    ...request,
    body,
    author: humanAuthor('emacs', DEMO),
    by: 'ada',
    heading: { handle, stamp: '2026-01-11 18:00:00', origin: 'program' },
  });
}

/** An agent as an MCP client. */
export function actorOf({ session_id, handle }: Session): {
  kind: 'agent';
  by: string;
  via: 'mcp';
  session_id: string;
  ancestors: string[];
} {
  return { kind: 'agent', by: handle, via: 'mcp', session_id, ancestors: [] };
}

/** The bodies of the messages that a reader gets, in order. */
export async function bodiesOf(hive: OpenedHive, filter: Partial<MessageFilter> = {}): Promise<string[]> {
  const { items } = await hive.messages.read({ limit: 100, ...filter });
  return items.map((message) => message.body);
}
