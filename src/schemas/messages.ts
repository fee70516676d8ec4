/** The shape of what comes in about messages. Bounds are the domain's (MESSAGE_LIMITS); texts explain each field to a model. */
import { z } from 'zod';
import { MESSAGE_LIMITS } from '../domain/messages.ts';
import { characters } from './characters.ts';

const limits = MESSAGE_LIMITS;

export const messageId: z.ZodString = characters(limits.id).min(1);
const cursor = z.string().max(2_000);
const handle = characters(limits.thread).min(1);

/** `hivemind_post`. */
export const postShape = {
  body: z
    .string()
    .describe(
      'Markdown, up to 32 KB. @HANDLE (@Claude-abc12), @ROLE, @All or @Human in it reach those; not inside code, quotes or URLs.',
    ),
  reply_to: messageId
    .optional()
    .describe(
      'The message_id that this answers; a mention of you in it is dealt with by that. Mention its author as well if they are to be told.',
    ),
  thread: characters(limits.thread)
    .optional()
    .describe(
      'A name for the conversation. A reply is in the thread of what it answers unless you say otherwise.',
    ),
  priority: z
    .enum(['normal', 'urgent'])
    .optional()
    .describe('urgent: holds up the addressee even where mentions only remind. Default normal.'),
  expects_reply: z.boolean().optional().describe('You want an answer to this. Default false.'),
  scope: z
    .enum(['project', 'all'])
    .optional()
    .describe('Whom @All and @ROLE reach: the sessions of your project (default) or of every project.'),
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
  limit: z.number().int().min(1).max(100).optional().describe('At most so many. Default 20.'),
};

/** Which project an editor's buffer belongs to: its directory, or the identity it was told. Neither: everyone's. */
const placeShape = {
  directory: z.string().min(1).max(4_096).nullish(),
  project_dir: z.string().min(1).max(4_096).nullish(),
};

const STAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

/** `message/post`: `message_id` is chosen by Emacs, `heading` is that of a block, and how it came into its buffer. */
export const postParams = z.object({
  ...placeShape,
  body: z.string(),
  by: characters(limits.thread).min(1),
  reply_to: messageId.nullish(),
  thread: characters(limits.thread).nullish(),
  priority: z.enum(['normal', 'urgent']).nullish(),
  expects_reply: z.boolean().nullish(),
  scope: z.enum(['project', 'all']).nullish(),
  message_id: z
    .string()
    .regex(/^msg-[0-9a-zA-Z-]{8,80}$/)
    .nullish(),
  heading: z
    .object({
      handle,
      stamp: z.string().regex(STAMP),
      origin: z.enum(['typed', 'inserted', 'program']).optional(),
    })
    .nullish(),
  /** The store it was written for: another one refuses it. */
  store_id: characters(limits.id).nullish(),
  /** The outbox's own id; a message is known by its `message_id`. */
  response_id: characters(limits.id).nullish(),
});

/** A cursor, or the `seq` of a message that is known: an editor drops what it showed, and pages on from what is left. */
const place = z.union([cursor, z.number().int().min(0)]).nullish();

/** `message/list`: at most 500 a page. */
export const messageListParams = z.object({
  ...placeShape,
  thread: characters(limits.thread).min(1).nullish(),
  from: handle.nullish(),
  query: z.string().max(1_000).nullish(),
  after: place,
  before: place,
  limit: z.number().int().min(1).max(500).nullish(),
});
