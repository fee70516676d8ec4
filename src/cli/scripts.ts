/**
 * Whether the human lets scripts answer questions, by a word in a file of their own. The file counts only if it is theirs
 * and nobody else can read or write it.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rulesFile } from '../infrastructure/platform/paths.ts';

/** What the human's file says of scripts, and where it is or would be. */
export function scriptsMayAnswer(env: NodeJS.ProcessEnv): { allowed: boolean; path: string } {
  const path = join(dirname(rulesFile(env)), 'trust.json');
  return { allowed: isTrue(readOwn(path)), path };
}

function isTrue(text: string | null): boolean {
  try {
    const content: unknown = JSON.parse(text ?? '{}');
    return (content as { allow_scripts_to_answer?: unknown } | null)?.allow_scripts_to_answer === true;
  } catch {
    return false;
  }
}

function readOwn(path: string): string | null {
  try {
    const file = openSync(path, 'r');
    try {
      const { mode, uid } = fstatSync(file);
      const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
      return isOwn ? readFileSync(file, 'utf8') : null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
