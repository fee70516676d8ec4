/**
 * Agents' text on its way to a notification server (invariant 12). Measured: a NUL or a text of 130 kB as
 * the first call disables node-notifier for the life of the process, later it throws; a text that starts
 * with `-` is read as an option; `<tags>` in the body vanish as markup.
 */

const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g;
/** They reorder or hide what stands around them, so that an agent could forge the line that names it. */
const REORDERING_OR_INVISIBLE = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const MAX_BYTES = 1_024;

function plain(text: string, control: RegExp): string {
  const clean = text.toWellFormed().replace(control, ' ').replace(REORDERING_OR_INVISIBLE, '').trim();
  const cut = cutBytes(clean, MAX_BYTES);
  return cut.startsWith('-') ? ` ${cut}` : cut;
}

/** One line, never an option. */
export function plainTitle(text: string): string {
  return plain(text, CONTROL) || ' ';
}

/** Lines are kept; `markup` says whether the server would read tags. An empty body is an error to node-notifier. */
export function plainBody(text: string, markup: boolean): string {
  const body = plain(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]+/g) || ' ';
  return markup ? body.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : body;
}

/** A button: short, one line. */
export function plainLabel(text: string): string {
  return cutBytes(plain(text, CONTROL), 60) || '…';
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
