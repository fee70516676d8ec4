/** What an edit changes, line by line, for a person who reads it before saying yes: `hive init`, and permissions. */
import { createPatch, OMIT_HEADERS } from 'diff';

const CONTEXT = 2;

/** The comparison takes time with the square of this. Two texts that differ in more lines have little in common. */
const MOST_EDITS = 500;

/** A unified diff without the two lines that name the files; empty when nothing changes. */
export function unifiedDiff(before: string, after: string): string {
  const limits = { context: CONTEXT, maxEditLength: MOST_EDITS, headerOptions: OMIT_HEADERS };
  const patch = createPatch('', before, after, '', '', limits);
  return (patch ?? [marked('-', before), marked('+', after)].join('\n')).trimEnd();
}

function marked(mark: string, text: string): string {
  return text.replace(/\n$/, '').replace(/^/gm, mark);
}
