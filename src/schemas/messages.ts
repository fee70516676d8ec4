/** Input about messages. The limits are the domain's (MESSAGE_LIMITS); the descriptions explain each field to a model. */
import { z } from 'zod';
import { MESSAGE_LIMITS } from '../domain/messages.ts';
import { characters } from './characters.ts';

const limits = MESSAGE_LIMITS;

export const messageId: z.ZodString = characters(limits.id).min(1);
const cursor = z.string().max(2_000);
const handle = characters(limits.thread).min(1);

/** `hivemind_post`. */
export const postShape = {
  body: z.string().describe('Markdown. Mentions count outside code, quotes and URLs.'),
  reply_to: messageId
    .optional()
    .describe('The message_id that this replies to; processes its mention of you.'),
  thread: characters(limits.thread).optional().describe('A name for the conversation.'),
  priority: z.enum(['normal', 'urgent']).optional(),
  expects_reply: z.boolean().optional(),
  scope: z
    .enum(['project', 'all'])
    .optional()
    .describe('Whom @All and @ROLE reach: your project (default), or every project.'),
};

/** `hivemind_read`. */
export const readShape = {
  after: cursor
    .optional()
    .describe(
      'The next_cursor of an earlier read: what came since, oldest first. Left out: the latest messages.',
    ),
  thread: characters(limits.thread)
    .min(1)
    .optional()
    .describe('Only this thread of your project, or a message_id: that message and the replies to it.'),
  from: handle.optional().describe('Only messages of this author: a handle, or Human.'),
  query: z.string().min(1).max(1_000).optional().describe('Only messages that contain these words.'),
  limit: z.number().int().min(1).max(100).optional().describe('At most this many. Default 20.'),
};

/** The project of an editor's buffer: its directory, or its identity. Without either: everyone's. */
const projectShape = {
  directory: z.string().min(1).max(4_096).optional(),
  project_dir: z.string().min(1).max(4_096).optional(),
};

const STAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

/** `message/post`: Emacs chooses `message_id`; `heading` is the heading of a block, with the origin of the block. */
export const postParams = z.object({
  ...projectShape,
  body: z.string(),
  by: characters(limits.thread).min(1),
  reply_to: messageId.optional(),
  thread: characters(limits.thread).optional(),
  priority: z.enum(['normal', 'urgent']).optional(),
  expects_reply: z.boolean().optional(),
  scope: z.enum(['project', 'all']).optional(),
  message_id: z
    .string()
    .regex(/^msg-[0-9a-zA-Z-]{8,80}$/)
    .optional(),
  heading: z
    .object({
      handle,
      stamp: z.string().regex(STAMP),
      origin: z.enum(['typed', 'inserted', 'program']).optional(),
    })
    .optional(),
  /** The store it was written for; another store refuses it. */
  store_id: characters(limits.id).optional(),
  /** The outbox's own id; a message is identified by its `message_id`. */
  response_id: characters(limits.id).optional(),
});

/** A cursor, or the `seq` of a known message, because an editor drops shown messages and pages on from those that are left. */
const position = z.union([cursor, z.number().int().min(0)]).optional();

/** `message/list`: at most 500 a page. */
export const messageListParams = z.object({
  ...projectShape,
  thread: characters(limits.thread).min(1).optional(),
  from: handle.optional(),
  query: z.string().max(1_000).optional(),
  after: position,
  before: position,
  limit: z.number().int().min(1).max(500).optional(),
});
