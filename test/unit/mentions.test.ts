/** The states of a mention, and how long it is pending. */
import { describe, expect, test } from 'vitest';
import {
  createMention,
  deliverMention,
  expireMention,
  type Mention,
  processMention,
} from '../../src/domain/mentions.ts';
import { createMessage } from '../../src/domain/messages.ts';

const NOW = '2026-01-11T18:00:00.000Z';
const LATER = '2026-01-11T19:00:00.000Z';

const message = createMessage(
  { body: '@Claude-def34', priority: 'urgent' },
  {
    kind: 'agent',
    session_id: 'session-1',
    handle: 'Claude-abc12',
    title: 'demo',
    project: 'demo',
    project_dir: '/demo/.git',
    via: 'mcp',
  },
  { message_id: 'msg-1', seq: 7, now: NOW, parent: null, hops: 0, by: 'Ada', under: null },
);

function mention(session_id = 'session-2', ttl_ms: number | null = 60_000): Mention {
  const addressee = { session_id, handle: 'Claude-def34', by_name: true };
  return createMention(message, addressee, { mention_id: 'mention-1', gates: true, ttl_ms });
}

const settled = { by: 'Ada', via: 'emacs', note: 'done' } as const;

describe('a mention', () => {
  test('is pending, and holds its addressee', () => {
    expect(mention()).toMatchObject({
      status: 'unprocessed',
      gates: true,
      seq: 7,
      priority: 'urgent',
      from_session_id: 'session-1',
      expires_at: '2026-01-11T18:01:00.000Z',
    });
  });

  test('of the human neither expires nor holds anybody', () => {
    expect(mention('human')).toMatchObject({ gates: false, expires_at: null });
    expect(mention('session-2', null).expires_at).toBeNull();
  });

  test('is delivered once, and is still pending', () => {
    const delivered = deliverMention(mention(), 'mcp:1', NOW);
    expect(delivered).toMatchObject({ delivered_at: NOW, carrier: 'mcp:1', status: 'unprocessed' });
    expect(deliverMention(delivered, 'mcp:2', LATER)).toBe(delivered);
  });

  test('leaves unprocessed exactly once', () => {
    const processed = processMention(mention(), settled, LATER);
    expect(processed).toMatchObject({
      status: 'processed',
      processed_at: LATER,
      processed_by: 'Ada',
      processed_via: 'emacs',
      note: 'done',
    });
    expect(expireMention(processed)).toBe(processed);
    const expired = expireMention(mention());
    expect(expired).toMatchObject({ status: 'expired', processed_at: null, processed_by: null });
    expect(processMention(expired, settled, LATER)).toBe(expired);
  });
});
