/**
 * Drafts: texts that were typed but not sent yet. The tab keeps them while its human looks at another screen or another question,
 * and when the phone discards the page and loads it again.
 */
import { useState } from 'preact/hooks';

const PREFIX = 'hive-draft ';

/** The text of the field with this name, and a function to change it. */
export function useDraft(name: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => read(name));
  return [
    text,
    (changed) => {
      setText(changed);
      write(name, changed);
    },
  ];
}

function read(name: string): string {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? '';
  } catch {
    // The browser stores nothing for this page: the text lasts as long as its field.
    return '';
  }
}

function write(name: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // As above.
  }
}
