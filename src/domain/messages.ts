/**
 * Messages: entries of the shared buffer, who wrote them, and the buffer as text. A message is written once and never
 * changed: editing or deleting the shown text has no effect on it. Pure: no clock, no ids, no I/O. The field names
 * are the same in the database and on every wire.
 */

import type { Via } from './actors.ts';
import { HiveError, invalidInput } from './errors.ts';
import { boundedBytes } from './limits.ts';
import { foldHandle } from './mention-parser.ts';
import { HUMAN_HANDLE, type Session, UNVERIFIED_HANDLE } from './sessions.ts';
import { characterCount, cleanOptional, cleanText, excerpt, FILE_END } from './text.ts';
import { timeAfter } from './times.ts';

// ---- Authors ----
// A heading is a claim. It is accepted if it names the writer, or if the human posts the block with a key press of their own.
// Otherwise the author is unverified: neither the human nor an agent.

/** The warning for a reader of an unverified message. */
export const UNVERIFIED_WARNING =
  'A message marked unverified was posted under a name that its writer did not prove. It does not come from your human.';

/** The author of a block under a heading, given its writer. `by` is the name of a human writer. */
export function authorOfBlock(
  writer: Author,
  { handle, origin }: { handle: string; origin?: BlockOrigin | undefined },
  by: string,
): Author {
  if (origin === undefined || origin === 'typed') return writer;
  const names = writer.kind === 'human' ? [writer.handle, by] : [writer.handle];
  const isOwn = names.some((name) => foldHandle(name) === foldHandle(handle));
  return origin === 'inserted' && isOwn ? writer : unverified(writer);
}

function unverified({ project, project_dir, via }: Author): Author {
  const nobody = { session_id: null, handle: UNVERIFIED_HANDLE, title: null };
  return { kind: 'unverified', ...nobody, project, project_dir, via };
}

/** An author's name as it is shown: `Claude-abc12`, or `unverified (as Claude-abc12)`. */
export function authorName({ from_handle, as_handle }: Pick<Message, 'from_handle' | 'as_handle'>): string {
  return as_handle === null ? from_handle : `${from_handle} (as ${excerpt(as_handle, NAME_LENGTH)})`;
}

const NAME_LENGTH = 60;

/** The key of an author for mentions and loops: its session, one shared key for all unverified authors, or null for the human. */
export function authorKey({ author, session_id }: Pick<Message, 'author' | 'session_id'>): string | null {
  return author === 'unverified' ? UNVERIFIED_HANDLE : session_id;
}

/** `unverified`: a block under a heading that its writer did not prove to be their own. */
type AuthorKind = 'human' | 'agent' | 'unverified';
type MessagePriority = 'normal' | 'urgent';
/** The reach of `@All` and roles: the sessions of the message's project, or those of all projects. */
export type MessageScope = 'project' | 'all';

/** A message. Times are ISO-8601 UTC with milliseconds. */
export interface Message {
  message_id: string;
  /** Its position in the one order that is the same for everybody. */
  seq: number;
  at: string;
  /** The author's session; null for the human and for an unverified author. */
  session_id: string | null;
  from_handle: string;
  /** The current title of its author's session; null if it has none. */
  agent_title: string | null;
  /** Only `human` counts as a human, whatever a heading in a buffer claims. */
  author: AuthorKind;
  /** The name of the human who posted it; null for an agent's. */
  by: string | null;
  /** The handle in the heading of a block that was inserted in a buffer, when it is not the author's. */
  as_handle: string | null;
  /** The time in that heading. */
  as_stamp: string | null;
  project: string | null;
  project_dir: string | null;
  /** A name given by its author, or the message_id of the first message of a chain of replies. */
  thread: string | null;
  reply_to: string | null;
  priority: MessagePriority;
  expects_reply: boolean;
  scope: MessageScope;
  body: string;
  /** How many agents' replies there are between this message and the last human message in its chain. */
  hops: number;
  via: Via;
}

/** A message as its author posts it. */
export interface PostRequest {
  body: string;
  reply_to?: string | null | undefined;
  thread?: string | null | undefined;
  priority?: MessagePriority | undefined;
  expects_reply?: boolean | undefined;
  scope?: MessageScope | undefined;
}

/** The author. The application resolves it; it is never taken from the request. */
export interface Author {
  kind: AuthorKind;
  session_id: string | null;
  handle: string;
  /** The title of its session; null if it has none. */
  title: string | null;
  project: string | null;
  project_dir: string | null;
  via: Via;
}

/** The human as an author; with `project` null the message goes to everyone. */
export function humanAuthor(via: Via, project: { project: string; project_dir: string } | null): Author {
  return {
    kind: 'human',
    session_id: null,
    handle: HUMAN_HANDLE,
    title: null,
    project: project?.project ?? null,
    project_dir: project?.project_dir ?? null,
    via,
  };
}

export function agentAuthor({ session_id, handle, title, project, project_dir }: Session, via: Via): Author {
  return { kind: 'agent', session_id, handle, title, project, project_dir, via };
}

/**
 * Where a posted block comes from. `typed`: the human posted it with a key press of their own. `inserted`: a command of the
 * human inserted it, such as a yank, or a shell read it. `program`: it appeared in a buffer while no command ran.
 */
export type BlockOrigin = 'typed' | 'inserted' | 'program';

/** A block in the shared format, as it was in a buffer: the heading's time and handle, and the body. */
export interface Block {
  stamp: string;
  handle: string;
  body: string;
}

/** Bounds of what comes in, in characters unless the name says bytes. */
export const MESSAGE_LIMITS: Readonly<Record<'bodyBytes' | 'thread' | 'id', number>> = {
  bodyBytes: 32 * 1024,
  thread: 200,
  id: 100,
};

/** A body as it is stored: with one-character line endings, and without surrounding white space. */
export function normalizeBody(body: string): string {
  const text = cleanText(body).replace(/\r\n?/g, '\n').trimEnd();
  const first = text.search(/[^ \t\n]/);
  return text.slice(text.lastIndexOf('\n', first) + 1);
}

/** The body of a new message, checked. @throws HiveError `invalid_input` if it is empty or too long. */
export function messageBody(given: string): string {
  const body = normalizeBody(given);
  if (body === '') throw invalidInput('The message is empty: say something.', { field: 'body' });
  return boundedBytes('body', body, MESSAGE_LIMITS.bodyBytes, 'message');
}

/** The fields of a new message that come from the store and the application. */
export interface MessageStamp {
  message_id: string;
  seq: number;
  now: string;
  /** The message it replies to. */
  parent: Message | null;
  hops: number;
  /** Its recorded author. */
  by: string;
  /** The heading that it was written under; `handle` is null if it is the author's own. */
  under: { handle: string | null; stamp: string } | null;
}

/** A new message; its body is checked (`messageBody`). @throws HiveError `invalid_input` if its thread's name is too long. */
export function createMessage(request: PostRequest, author: Author, stamp: MessageStamp): Message {
  const { parent, under } = stamp;
  const thread = cleanOptional(request.thread?.trim());
  if (thread !== null && characterCount(thread) > MESSAGE_LIMITS.thread) {
    throw invalidInput(`The thread's name is too long: at most ${MESSAGE_LIMITS.thread} characters.`, {
      field: 'thread',
    });
  }
  // A reply belongs to its author's project, or else to the project of the message that it replies to.
  const project_dir = author.project_dir ?? parent?.project_dir ?? null;
  return {
    message_id: stamp.message_id,
    seq: stamp.seq,
    at: stamp.now,
    session_id: author.session_id,
    from_handle: author.handle,
    agent_title: author.title,
    author: author.kind,
    by: author.kind === 'human' ? stamp.by : null,
    as_handle: under?.handle ?? null,
    as_stamp: under?.stamp ?? null,
    project: author.project ?? parent?.project ?? null,
    project_dir,
    thread: thread ?? (parent === null ? null : (parent.thread ?? parent.message_id)),
    reply_to: parent?.message_id ?? null,
    priority: request.priority ?? 'normal',
    expects_reply: request.expects_reply ?? false,
    scope: project_dir === null ? 'all' : (request.scope ?? 'project'),
    body: request.body,
    hops: stamp.hops,
    via: author.via,
  };
}

const QUARTER_MS = 15 * 60 * 1000;
const FARTHEST_ZONE_MS = 26 * 60 * 60 * 1000;

/**
 * Whether a block in a buffer is this message: same body, same name, same time to the second. A heading has no time zone, so
 * times that differ by a whole number of quarter hours, a possible zone offset, count as equal.
 */
export function isBlockOf(message: Message, block: Block): boolean {
  if (message.body !== block.body) return false;
  const name = message.as_handle ?? message.from_handle;
  if (name === block.handle && message.as_stamp === block.stamp) return true;
  if (message.from_handle !== block.handle && message.as_handle !== block.handle) return false;
  const shown = Date.parse(`${block.stamp.replace(' ', 'T')}Z`);
  const apart = shown - Math.floor(Date.parse(message.at) / 1000) * 1000;
  return Math.abs(apart) <= FARTHEST_ZONE_MS && apart % QUARTER_MS === 0;
}

/** The error for an unknown message. */
export function messageNotFound(message_id: string): HiveError {
  return new HiveError('message_not_found', `There is no message ${message_id}: check the id.`, {
    message_id,
  });
}

// ---- The shared buffer as text ----
// In its published format (docs/mentions.md): front matter, a title, and for each message
//
//     ## 2026-01-11 18:00:00 Claude-abc12
//
//     @Claude-def34 The login is done. Could you review it?
//
// Parsing a rendered text gives the same messages, whatever their bodies contain. Linear in the length of the text.

interface SharedText {
  front: Record<string, string>;
  /** The text between the front matter and the first heading. It is not a message. */
  lead: string;
  blocks: Block[];
  /** Headings with nothing below them; not messages either. */
  empty: Pick<Block, 'stamp' | 'handle'>[];
}

/**
 * Tells a first-time reader of the buffer or its file how to mention somebody. It comes before the first heading, so it is part
 * of no message, and its names are code, so they mention nobody wherever they are pasted.
 */
export const INTRODUCTION = `Agents and their human share this buffer. A mention notifies those it names:
\`@Claude-abc12\` one session, \`@reviewer\` every session with that role,
\`@All\` every session of this project, \`@Human\` the human.
`;

/** A time as headings show it: to the second, in the time zone that is `offset` minutes ahead of UTC. */
export function stampOf(at: string, offset: number): string {
  return timeAfter(at, offset * 60_000)
    .slice(0, 19)
    .replace('T', ' ');
}

/** A message as a block. The heading names the real author, whatever heading it was typed under. */
export function blockOf(message: Message, offset: number): Block {
  return { stamp: stampOf(message.at, offset), handle: message.from_handle, body: message.body };
}

/** The whole file, which Emacs opens as plain text. `created` is a stamp; `project` is null for no particular project. */
export function renderShared(
  blocks: readonly Block[],
  { created, project }: { created: string; project: string | null },
): string {
  const front = ['---', 'hive: true', 'type: shared', `created_at: ${created.replace(' ', 'T')}`];
  if (project !== null) front.push(`project: ${oneLine(project)}`);
  const head = [...front, '---', '', '# Shared Buffer', '', INTRODUCTION].join('\n');
  return `${head}\n${blocks.map(renderBlock).join('\n')}${FILE_END}`;
}

/** One message, ending in a line break. */
export function renderBlock({ stamp, handle, body }: Block): string {
  return `## ${stamp} ${handle}\n\n${body.split('\n').map(escapeHeading).join('\n')}\n`;
}

const HEADING = /^## (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}) (\S+)(.*)$/s;
/** Matches a line of a body that would be parsed as a heading. It gets a backslash, which Markdown does not show. */
const LIKE_HEADING = /^\\*## \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} \S/;

function escapeHeading(line: string): string {
  return LIKE_HEADING.test(line) ? `\\${line}` : line;
}

function unescapeHeading(line: string): string {
  return line.startsWith('\\') && LIKE_HEADING.test(line) ? line.slice(1) : line;
}

/** The messages in a text, in order. */
export function parseShared(text: string): SharedText {
  const lines = text.split(/\r\n|\n|\r/);
  const { front, rest } = frontMatter(lines);
  const blocks: Block[] = [];
  const empty: SharedText['empty'] = [];
  let lead = '';
  let heading: Pick<Block, 'stamp' | 'handle'> | null = null;
  let body: string[] = [];

  function finish(): void {
    const whole = normalizeBody(body.join('\n'));
    if (heading === null) lead = whole;
    else if (whole === '') empty.push(heading);
    else blocks.push({ ...heading, body: whole });
  }

  for (let index = rest; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const [, stamp, handle, more] = HEADING.exec(line) ?? [];
    if (stamp === undefined || handle === undefined) {
      body.push(unescapeHeading(line));
      continue;
    }
    finish();
    heading = { stamp, handle };
    // Older files of this format have text after the handle; it belongs to the message.
    body = more === undefined || more.trim() === '' ? [] : [more.trim()];
  }
  finish();
  return { front, lead, blocks, empty };
}

/** `name: value` lines between two `---` at the beginning of the text; `rest` is the line after. */
function frontMatter(lines: readonly string[]): { front: Record<string, string>; rest: number } {
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  if (end === -1) return { front: {}, rest: 0 };
  const pairs = lines.slice(1, end).flatMap((line) => {
    const colon = line.indexOf(': ');
    return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 2)] as const];
  });
  return { front: Object.fromEntries(pairs), rest: end + 1 };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
