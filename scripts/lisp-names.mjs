// elisp/hive-names.el: the names and values that the sidecar decides and that Emacs must know before a sidecar runs,
// generated from the constants of src/. `npm run format` writes the file again (--print only shows it); a test fails
// while it differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RPC_CODES } from '../src/adapters/errors.ts';
import { BLANKS, CARRIERS, LOOK_ALIKE_SCRIPTS, MARKS, VISIBLE } from '../src/domain/characters.ts';
import { INTRODUCTION } from '../src/domain/messages.ts';
import { AUTHORITY, EMACS_OPTION, SETTINGS } from '../src/domain/settings.ts';
import { FILE_END } from '../src/domain/text.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'elisp/hive-names.el');

const dashed = (name) => name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const text = (value) => JSON.stringify(value);

/** Ranges as a string, on lines of bounded length. */
const ranges = (text) => `"${text.replace(/(.{1,96})(?: |$)/g, '$1\n').trimEnd()}"`;

/** A list with one item on each line. */
const list = (items) => `'(${items.join('\n    ')})`;

/** One setting: its name, scope, meaning and kind, and, for some kinds, its words and its unit. */
function settingOf(key, scope, meaning, type) {
  const words = type.of ?? type.words;
  const rest = [
    words === undefined ? '' : ` (${words.join(' ')})`,
    type.unit === undefined ? '' : ` ${text(type.unit)}`,
  ];
  return `(${key} ${scope} ${text(meaning)}\n     ${dashed(type.kind)}${rest.join('')})`;
}

const settings = [
  ...SETTINGS.filter(({ emacs }) => emacs === EMACS_OPTION).map(({ key, scope, type, text: meaning }) =>
    settingOf(key, scope, meaning, type),
  ),
  ...Object.entries(AUTHORITY).flatMap(([key, emacs]) =>
    emacs === null ? [] : [settingOf(key, 'connection', emacs.text, { kind: emacs.kind })],
  ),
];

const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const node = engines.node.replace('>=', '');

const file = `;;; hive-names.el --- Names that Emacs and its sidecar share  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The sidecar decides these names and values, and Emacs must know them before
;; a sidecar runs.  \`npm run format' generates this file from the constants of
;; src/; do not edit it.

;;; Code:

(defconst hive-program-node-version ${text(node)}
  "The oldest Node.js that runs the sidecar.")

(defconst hive-rpc-codes
  ${list(Object.entries(RPC_CODES).map(([name, code]) => `(${dashed(name)} . ${code})`))}
  "The codes of errors.
A request that failed with \`transient' may be sent again.")

(defconst hive-attention-settings
  ${list(settings)}
  "The settings of the option \`hive-settings'.
Each has its name, its scope, what it means, its kind, and the words
and the unit that the kind takes.  Those of the scope \`connection' are
not stored.")

;;;; Characters

;; Ranges of characters as in src/domain/characters.ts: hexadecimal, with spaces
;; between them.

(defconst hive-text-visible
  ${ranges(VISIBLE)}
  "Characters that are drawn with a width of their own.")

(defconst hive-text-marks
  ${ranges(MARKS)}
  "Characters that are drawn on the one before them.")

(defconst hive-text-carriers
  (list ${CARRIERS.map(ranges).join('\n        ')})
  "The characters and the marks of each script that has marks of its own.
These are drawn only on characters of their script.")

(defconst hive-text-blanks
  ${ranges(BLANKS)}
  "Blanks other than the space that people write.")

(defconst hive-text-scripts
  (list ${Object.values(LOOK_ALIKE_SCRIPTS).map(ranges).join('\n        ')})
  "The letters of each script that has letters like those of ASCII.
Latin comes first.")

(defconst hive-text-file-end ${text(FILE_END)}
  "The end of a file with text from agents.
Emacs reads local variables only after the last page break, so after
this none of the text before it is taken for any.")

(defconst hive-format-introduction
  ${text(INTRODUCTION).replaceAll('\\n', '\n')}
  "The introduction at the top of a shared buffer and of its file.
It is not part of any message.  The names are code, so they mention
nobody.")

(provide 'hive-names)
;;; hive-names.el ends here
`;

if (process.argv.includes('--print')) process.stdout.write(file);
else writeFileSync(target, file);
