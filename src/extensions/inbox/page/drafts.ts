/**
 * What is typed and not sent yet. The tab keeps it while its human looks at another screen or another question, and where the
 * phone ends the page and loads it again.
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
    // The browser keeps nothing for this page: the field does while it is there.
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
