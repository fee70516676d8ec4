// elisp/hive-names.el: the names and values that the sidecar decides and that Emacs must know before a sidecar runs,
// written from the constants of src/. `npm run format` writes the file anew (--print only shows it); a test fails
// while it differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RPC_CODES } from '../src/adapters/errors.ts';
import { AGENT_VARIABLES } from '../src/application/identity.ts';
import { AUTHORITY, SETTINGS } from '../src/domain/settings.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'elisp/hive-names.el');

const dashed = (name) => name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const text = (value) => JSON.stringify(value);

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

const node = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '');

const file = `;;; hive-names.el --- Names that Emacs and its sidecar share  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The sidecar decides these names and values, and Emacs must know them before
;; a sidecar runs.  \`npm run format' generates this file from the constants of
;; src/; do not edit it.

;;; Code:

(defconst hive-program-node-version ${text(node)}
  "The oldest Node.js that runs the sidecar.")

(defconst hive-program-agent-variables
  ${list([...AGENT_VARIABLES, 'HIVE_PARENT'].map(text))}
  "Environment variables that mark the shell of an agent, and its parent.
Settings such as CODEX_HOME belong to the human.")

(defconst hive-rpc-codes
  ${list(Object.entries(RPC_CODES).map(([name, code]) => `(${dashed(name)} . ${code})`))}
  "The codes of errors.
A request that failed with \`transient' may be sent again.")

(defconst hive-attention-settings
  ${list(settings)}
  "The options that are stored as settings.
Each has its field, its scope, its kind, and the words and the unit
that the kind takes.")

(provide 'hive-names)
;;; hive-names.el ends here
`;

if (process.argv.includes('--print')) process.stdout.write(file);
else writeFileSync(target, file);
