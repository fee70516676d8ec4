/**
 * The statements of messages. A view that shows several kinds of message (a project's and those to everyone) reads each
 * by its own index and merges the pages, so a page costs the same however long the history is.
 */
import type { MessageFilter, MessageRecords } from '../../application/ports.ts';
import type { Message } from '../../domain/messages.ts';
import type { RoomNews } from '../../domain/room.ts';
import { searchText } from '../../domain/text.ts';
import { checksums } from './checksums.ts';
import {
  type Conditions,
  columns,
  conditions,
  decodeCursor,
  encodeCursor,
  likePattern,
  many,
  numberIn,
  one,
  type Row,
  type Sql,
  type SqlValue,
  statement,
  table,
  titleIn,
  titleOfSession,
} from './sql.ts';

const NEXT_SEQ = statement(
  `UPDATE counters SET value = value + 1 WHERE name = 'message' RETURNING value AS n`,
);
const INSERT = statement(() => messages.insert(['body_digest', 'search_text', 'checksum']));
const GET = statement(() => `SELECT ${LIST} FROM messages WHERE message_id = $1`);
const BY_BODY = statement(
  () => `SELECT ${LIST} FROM messages WHERE body_digest = $1 ORDER BY seq DESC LIMIT $2`,
);

/** The parts of a project's view, each read by one index. */
const NEWS = ['project_dir = $3', `scope = 'all' AND (project_dir IS NULL OR project_dir <> $3)`].map(
  (part) =>
    statement(
      `SELECT message_id, seq, session_id, from_handle, as_handle, author, reply_to, hops FROM messages AS m
       WHERE ${part} AND seq > $2 AND (session_id IS NULL OR session_id <> $1)
       AND NOT EXISTS (SELECT 1 FROM mentions WHERE mentions.message_id = m.message_id AND mentions.session_id = $1)
       ORDER BY seq DESC LIMIT $4`,
    ),
);
const COUNT_OF = statement(
  'SELECT session_id, COUNT(*) AS n FROM messages WHERE at > $3 AND seq > $4 AND session_id IN ($1, $2) GROUP BY session_id',
);
const news = table<RoomNews>(
  'm',
  columns({ plain: 'message_id seq session_id from_handle as_handle author reply_to hops' }),
);

/** The parts of a view, each read by one index. No message is in two of them. */
function parts({ thread, project_dir }: MessageFilter): Conditions[] {
  if (thread !== undefined) {
    const inProject = (part: Conditions): Conditions =>
      part.and(`(project_dir = ? OR scope = 'all')`, project_dir);
    return [
      inProject(conditions('thread = $1', [thread])),
      inProject(conditions('message_id = $1 AND (thread IS NULL OR thread <> $1)', [thread])),
    ];
  }
  if (project_dir !== undefined) {
    return [
      conditions('project_dir = $1', [project_dir]),
      conditions(`scope = 'all' AND (project_dir IS NULL OR project_dir <> $1)`, [project_dir]),
    ];
  }
  return [conditions('1 = 1')];
}

function page(filter: MessageFilter): Conditions[] {
  const { from_handle, query, after, before } = filter;
  return parts(filter).map((part) =>
    part
      .and('from_handle = ?', from_handle)
      .and(`search_text LIKE ? ESCAPE '\\'`, query === undefined ? undefined : likePattern(query))
      .and('seq > ?', seqOf(after))
      .and('seq < ?', seqOf(before)),
  );
}

/** The first intact messages of a part. Damaged ones are skipped, so that they neither hide others nor change a cursor. */
async function readPart(
  sql: Sql,
  part: Conditions,
  order: 'ASC' | 'DESC',
  limit: number,
): Promise<Message[]> {
  const found: Message[] = [];
  for (let seq: SqlValue | undefined; ; ) {
    const { text, params, next } = part.and(order === 'ASC' ? 'seq > ?' : 'seq < ?', seq);
    const query = statement(`SELECT ${LIST} FROM messages WHERE ${text} ORDER BY seq ${order} LIMIT ${next}`);
    const rows = await sql.all(query, [...params, limit]);
    found.push(...readIntact(rows));
    seq = rows.at(-1)?.['seq'];
    if (rows.length < limit || found.length >= limit) return found;
  }
}

function seqOf(place: string | number | null | undefined): SqlValue | undefined {
  return typeof place === 'number' ? place : decodeCursor(place, ['number'])?.[0];
}

function cursorOf(place: string | number | null | undefined): string | null {
  return typeof place === 'number' ? encodeCursor([place]) : (place ?? null);
}

export function messageStatements(sql: Sql): MessageRecords {
  return {
    get: (message_id) => one(sql, GET, [message_id], readMessage),
    intact: async (message_id) => readIntact(await sql.all(GET, [message_id]))[0],

    async list(filter) {
      const { limit, after, before } = filter;
      const forward = after !== undefined && after !== null;
      const order = forward ? 'ASC' : 'DESC';
      const found: Message[] = [];
      for (const part of page(filter)) found.push(...(await readPart(sql, part, order, limit + 1)));
      found.sort((a, b) => (forward ? a.seq - b.seq : b.seq - a.seq));
      const items = found.slice(0, limit);
      if (!forward) items.reverse();
      const [first, last] = [items[0], items.at(-1)];
      const more = found.length > limit;
      return {
        items,
        next_cursor: last === undefined ? cursorOf(after ?? before) : encodeCursor([last.seq]),
        previous_cursor: first !== undefined && (forward || more) ? encodeCursor([first.seq]) : null,
        more,
      };
    },

    cursorOf: (seq) => encodeCursor([seq]),

    async newsFor({ session_id, project_dir, after, limit }) {
      const found: RoomNews[] = [];
      for (const part of NEWS)
        found.push(...(await many(sql, part, [session_id, after, project_dir, limit], news.decode)));
      return found.sort((a, b) => a.seq - b.seq).slice(-limit);
    },

    async countOf({ first_session_id, second_session_id }, since, after) {
      const rows = await sql.all(COUNT_OF, [first_session_id, second_session_id, since, after]);
      const of = (session_id: string): number =>
        Number(rows.find((row) => row['session_id'] === session_id)?.['n'] ?? 0);
      return [of(first_session_id), of(second_session_id)];
    },

    byBody: async (body, limit) => readIntact(await sql.all(BY_BODY, [digest(body), limit])),
    damaged: (after) => messageChecksums.damaged(sql, after),

    nextSeq: () => numberIn(sql, NEXT_SEQ, []),

    async insert(message) {
      const encoded = [...messages.encode(message), digest(message.body)];
      await sql.change(INSERT, [...encoded, searchable(message), messageChecksums.ofEncoded(encoded)]);
    },
  };
}

function digest(body: string): string {
  // Loaded on demand: `hive hook` never posts, and loading takes 5 ms.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(body).digest('base64url').slice(0, 22);
}

function searchable({ body, from_handle, as_handle, thread, project }: Message): string {
  return searchText(body, from_handle, as_handle, thread, project);
}

// ---- A message as a row ----
// Its columns and its checksum. No message is ever changed.

const messages = table<Omit<Message, 'agent_title'>>(
  'messages',
  columns({
    plain: `message_id seq at session_id from_handle author by as_handle as_stamp project project_dir thread
      reply_to priority scope body hops via`,
    boolean: 'expects_reply',
  }),
);

/** The columns that the checksum of a message does not cover, and why. Nothing changes messages in bulk. */
export const UNCOVERED_OF_MESSAGE = {
  search_text: 'No message is read from it: it repeats other columns, and only a search looks at it.',
} as const;

export const messageChecksums = checksums(
  'messages',
  [...messages.columns, 'body_digest', 'search_text'],
  UNCOVERED_OF_MESSAGE,
  'message',
);

/** Reads a message from a row. @throws HiveError `store_foreign` if the row is damaged. */
export function readMessage(row: Row): Message {
  messageChecksums.verify(row);
  return decode(row);
}

function decode(row: Row): Message {
  return { ...messages.decode(row), agent_title: titleIn(row) };
}

/** The messages in rows. A damaged one is left out: it must not keep the others from anybody. */
function readIntact(rows: readonly Row[]): Message[] {
  return rows.filter(messageChecksums.isIntact).map(readMessage);
}

/** Like `readMessage`, but with a sentence instead of a damaged body, so that those it mentions can continue. */
export function readMentioned(row: Row): Message {
  return messageChecksums.isIntact(row) ? readMessage(row) : { ...decode(row), body: DAMAGED_BODY };
}
const DAMAGED_BODY =
  'This message is damaged in the store and cannot be shown. Process the mention, and tell the human; hive doctor names it.';

/** The columns that `readMessage` reads. */
export const MESSAGE_COLUMNS: readonly string[] = [...messages.columns, 'body_digest', 'checksum'];
/** The same, for a SELECT. */
const LIST: string = `${messages.list}, body_digest, checksum, ${titleOfSession('messages')}`;
