/**
 * Drafts: texts that are typed and not sent yet. The tab keeps them while its human looks at another screen or another question,
 * and when the phone ends the page and loads it again.
 */
import { useState } from 'preact/hooks';

const PREFIX = 'hive-draft ';

/** A field's text under this name, and how it changes. */
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
