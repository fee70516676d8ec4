/** A mention that its agent has not processed. */
import type { MentionInFull } from '../../src/domain/mentions.ts';

export const NOW = '2026-01-11T18:00:00.000Z';

export function mention(changes: Partial<MentionInFull> = {}): MentionInFull {
  return {
    mention_id: 'mention-1',
    message_id: 'msg-1',
    seq: 1,
    session_id: 'session-1',
    handle: 'Claude-abc12',
    from_session_id: 'session-2',
    priority: 'normal',
    by_name: true,
    gates: true,
    denials: 0,
    status: 'unprocessed',
    created_at: NOW,
    expires_at: null,
    delivered_at: null,
    carrier: null,
    processed_at: null,
    processed_by: null,
    processed_via: null,
    note: null,
    at: NOW,
    from_handle: 'Claude-def34',
    author: 'agent',
    by: null,
    as_handle: null,
    project: 'demo',
    project_dir: '/demo/.git',
    thread: null,
    reply_to: null,
    expects_reply: false,
    body: 'Need help with authentication',
    ...changes,
  };
}
