/**
 * The shared buffer as text, in its published format (docs/mentions.md): front matter, a title, and for each message
 *
 *     ## 2026-01-11 18:00:00 Claude-abc12
 *
 *     @Claude-def34 The login is done. Could you review it?
 *
 * Rendered and parsed again it gives the same messages, whatever their bodies hold. Pure and linear.
 */
import { type Block, type Message, normalizeBody } from './messages.ts';

export interface SharedText {
  front: Record<string, string>;
  /** The text before the first heading, without the front matter: it is no message. */
  lead: string;
  blocks: Block[];
  /** Headings with nothing below them, which are no messages either. */
  empty: Pick<Block, 'stamp' | 'handle'>[];
}

/**
 * How to mention somebody, for whoever opens the buffer or its file for the first time. It stands before the first
 * heading, so it is part of no message, and its names are code, so they mention nobody wherever they are pasted.
 * elisp/hive-shared-format.el has the same words; a test compares them.
 */
export const INTRODUCTION = `Agents and their human share this buffer. A mention notifies whom it names:
\`@Claude-abc12\` one session, \`@reviewer\` every session with that role,
\`@All\` every session of this project, \`@Human\` the human.
`;

/** A time as headings tell it: to the second, in the zone that lies `offset` minutes ahead of UTC. */
export function stampOf(at: string, offset: number): string {
  return new Date(Date.parse(at) + offset * 60_000).toISOString().slice(0, 19).replace('T', ' ');
}

/** A message as its block. The heading names who wrote it, whatever heading it was typed under. */
export function blockOf(message: Message, offset: number): Block {
  return { stamp: stampOf(message.at, offset), handle: message.from_handle, body: message.body };
}

/** `shared-20260111`, the name of the file of a day. */
export function sharedFileName(stamp: string): string {
  return `shared-${stamp.slice(0, 10).replaceAll('-', '')}`;
}

/** The whole file. `created` is a stamp; `project` null: of no project in particular. */
export function renderShared(
  blocks: readonly Block[],
  { created, project }: { created: string; project: string | null },
): string {
  const front = ['---', 'hive: true', 'type: shared', `created_at: ${created.replace(' ', 'T')}`];
  if (project !== null) front.push(`project: ${oneLine(project)}`);
  const head = [...front, '---', '', '# Shared Buffer', '', INTRODUCTION].join('\n');
  return `${head}\n${blocks.map(renderBlock).join('\n')}`;
}

/** One message, with the line break that ends it. */
export function renderBlock({ stamp, handle, body }: Block): string {
  return `## ${stamp} ${handle}\n\n${body.split('\n').map(escapeHeading).join('\n')}\n`;
}

const HEADING = /^## (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}) (\S+)(.*)$/s;
/** A line of a body that would be taken for a heading: it gets a backslash, which Markdown does not show. */
const LIKE_HEADING = /^\\*## \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} \S/;

function escapeHeading(line: string): string {
  return LIKE_HEADING.test(line) ? `\\${line}` : line;
}

function unescapeHeading(line: string): string {
  return line.startsWith('\\') && LIKE_HEADING.test(line) ? line.slice(1) : line;
}

/** The messages in a text, in its order. */
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
    // What older files of this format have behind the handle belongs to the message.
    body = more === undefined || more.trim() === '' ? [] : [more.trim()];
  }
  finish();
  return { front, lead, blocks, empty };
}

/** `name: value` lines between two `---`, where the text begins with them; `rest` is the line after. */
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
