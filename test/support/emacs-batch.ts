/** An Emacs in batch mode with every library of Hive, which returns the value of a form as JSON. */
import { join } from 'node:path';
import { childEnvironment, outputOf, ROOT, spawnChild } from './children.ts';
import { lispFolder } from './lisp.ts';
import { tempStore } from './temp.ts';

const LOAD = `(dolist (file (directory-files ${JSON.stringify(join(ROOT, 'elisp'))} nil "\\\\.el\\\\'"))
  (require (intern (file-name-sans-extension file))))`;

/** Emacs would compile one for each primitive that a library advises, which takes half a second in each new home. */
export const NO_TRAMPOLINES =
  '(setq native-comp-enable-subr-trampolines nil comp-enable-subr-trampolines nil)';

/** The value of a Lisp form, as `json-encode` writes it; `library`: a file to load first. */
export async function askEmacs(form: string, library?: string): Promise<unknown> {
  const program = `(progn (setq gc-cons-threshold 64000000) ${NO_TRAMPOLINES} (require 'json) ${LOAD} (princ (json-encode ${form})))`;
  const load = library === undefined ? [] : ['-l', library];
  const args = ['-Q', '--batch', '-L', lispFolder(), ...load, '--eval', program];
  return JSON.parse(await outputOf(spawnChild('emacs', args, childEnvironment(tempStore()))));
}

/** A list of strings as a Lisp form. */
export function lispStrings(strings: readonly string[]): string {
  return `'(${strings.map((one) => JSON.stringify(one)).join(' ')})`;
}
