/**
 * Agents' text on its way to a notification server (invariant 12). Measured: a NUL or a text of 130 kB as
 * the first call disables node-notifier for the life of the process, later it throws; a text that starts
 * with `-` is read as an option; `<tags>` in the body vanish as markup.
 */
import { revealed } from '../../domain/text.ts';

const MAX_BYTES = 1_024;
/** What becomes a space where all is to stand on one line. */
const LINE_SPACE = /[\t\r\n]+/g;

function plain(text: string, space: RegExp): string {
  const cut = cutBytes(revealed(text.toWellFormed().replace(space, ' ').trim()), MAX_BYTES);
  return cut.startsWith('-') ? ` ${cut}` : cut;
}

/** One line, never an option; what would be hidden is shown as what it is. */
export function plainTitle(text: string): string {
  return plain(text, LINE_SPACE) || ' ';
}

/** Lines are kept; `markup` says whether the server would read tags. An empty body is an error to node-notifier. */
export function plainBody(text: string, markup: boolean): string {
  const body = plain(text, /[\t\r]+/g) || ' ';
  return markup ? body.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : body;
}

/** A button: short, one line. */
export function plainLabel(text: string): string {
  return cutBytes(plain(text, LINE_SPACE), 60) || '…';
}

function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  // A character that the cut went through becomes U+FFFD, which goes with the ellipsis.
  return `${bytes
    .subarray(0, limit - 3)
    .toString()
    .replace(/\ufffd+$/, '')}…`;
}
