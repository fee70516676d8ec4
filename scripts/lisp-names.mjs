// elisp/hive-names.el: the names and values that the sidecar decides and that Emacs must know before a sidecar runs,
// written from the constants of src/. `npm run format` writes the file again (--print only shows it); a test fails
// while it differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RPC_CODES } from '../src/adapters/errors.ts';
import { AUTHORITY, SETTINGS } from '../src/domain/settings.ts';
import {
  characterClass,
  FILE_END,
  HIDDEN_RANGES,
  LOOK_ALIKE_SCRIPTS,
  WITHIN_WORDS,
} from '../src/domain/text.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'elisp/hive-names.el');

const dashed = (name) => name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const text = (value) => JSON.stringify(value);

/** Ranges as the inside of a character class. */
const characters = (ranges) =>
  `"${characterClass(ranges, (code) =>
    code.length > 4
      ? `\\U${code.toUpperCase().padStart(8, '0')}`
      : `\\u${code.toUpperCase().padStart(4, '0')}`,
  )}"`;

/** A list with one item on each line. */
const list = (items) => `'(${items.join('\n    ')})`;

/** One setting: option, field, scope, kind, and where the kind has them its words and its unit. */
function settingOf(option, field, scope, type) {
  const words = type.of ?? type.words;
  const rest = [
    words === undefined ? '' : ` (${words.join(' ')})`,
    type.unit === undefined ? '' : ` ${text(type.unit)}`,
  ];
  return `(${option} :${field} ${scope} ${dashed(type.kind)}${rest.join('')})`;
}

const settings = [
  ...SETTINGS.filter(({ emacs }) => emacs?.startsWith('hive-')).map(({ key, scope, type, emacs }) =>
    settingOf(emacs, key, scope, type),
  ),
  ...Object.entries(AUTHORITY).flatMap(([field, emacs]) =>
    emacs === null ? [] : [settingOf(emacs.option, field, 'seat', { kind: emacs.kind })],
  ),
];

const { engines, assisted_by } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const node = engines.node.replace('>=', '');

const file = `;;; hive-names.el --- Names that Emacs and its sidecar share  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors
;; Assisted-by: ${assisted_by}

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
  "The options that are stored as settings.
Each has its field, its scope, its kind, and the words and the unit
that the kind takes.")

(defconst hive-text-hidden-characters
  ${characters(HIDDEN_RANGES)}
  "Characters that are interpreted or hidden, instead of printed.
They are ranges, as in a character class.")

(defconst hive-text-scripts
  ${list([...LOOK_ALIKE_SCRIPTS.latin, ...LOOK_ALIKE_SCRIPTS.others].map(characters))}
  "The letters of scripts that look alike, Latin first.")

(defconst hive-text-within-words
  ${characters(WITHIN_WORDS)}
  "What may be between two letters of a word.")

(defconst hive-text-file-end ${text(FILE_END)}
  "The end of a file with text from agents.
Emacs reads local variables only behind the last page break, so after
this none of the text before it is taken for any.")

(provide 'hive-names)
;;; hive-names.el ends here
`;

if (process.argv.includes('--print')) process.stdout.write(file);
else writeFileSync(target, file);
