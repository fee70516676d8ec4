/** Changes of a text that can be taken back exactly. */

/** At `offset` stood `removed`, and stands `inserted`. */
export interface TextEdit {
  offset: number;
  removed: string;
  inserted: string;
}

/** Applies edits one after the other: each counts in what the one before it has left. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((now, edit) => replaceAt(now, edit.offset, edit.removed, edit.inserted), text);
}

/** The text before `applyEdits`. @throws Error when the text is not the one that the edits have left. */
export function revertEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduceRight((now, edit) => replaceAt(now, edit.offset, edit.inserted, edit.removed), text);
}

function replaceAt(text: string, offset: number, old: string, by: string): string {
  if (!text.startsWith(old, offset)) throw new Error('The text is not the one that was edited.');
  return text.slice(0, offset) + by + text.slice(offset + old.length);
}
