;;; hive-names.el --- Names that Emacs and its sidecar share  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors
;; Assisted-by: AGENT_NAME:MODEL_VERSION

;;; Commentary:

;; The sidecar decides these names and values, and Emacs must know them before
;; a sidecar runs.  `npm run format' generates this file from the constants of
;; src/; do not edit it.

;;; Code:

(defconst hive-program-node-version "24.15.0"
  "The oldest Node.js that runs the sidecar.")

(defconst hive-rpc-codes
  '((parse . -32700)
    (invalid-request . -32600)
    (method-not-found . -32601)
    (invalid-params . -32602)
    (internal . -32603)
    (transient . -32001)
    (definite . -32002))
  "The codes of errors.
A request that failed with `transient' may be sent again.")

(defconst hive-attention-settings
  '((hive-notify-when :notify_when seat choice (always unfocused never))
    (hive-quiet-hours :quiet_hours seat hours)
    (hive-quiet-criticals :quiet_criticals seat whole-number)
    (hive-sound :sound seat yes-no)
    (hive-notify-held :notify_held seat word-or-number (never) "seconds")
    (hive-gate :gate seat choice (block remind off))
    (hive-stop-guard :stop_guard seat yes-no)
    (hive-permission-wait :permission_wait seat word-or-number (usual on off) "seconds")
    (hive-question-wait :question_wait seat word-or-number (usual on off) "seconds")
    (hive-wake :wake seat word-or-number (off) "hours")
    (hive-allow-ping :allow_ping everywhere yes-no)
    (hive-report-policy :report_policy everywhere choice (on_ping always freely remind blocked))
    (hive-outputs-per-turn :outputs_per_turn everywhere whole-number)
    (hive-mind-busy :mind_busy everywhere yes-no)
    (hive-budget-capacity :budget_capacity everywhere whole-number)
    (hive-budget-refill-minutes :budget_refill_minutes everywhere whole-number)
    (hive-hold-for-mentions :hold_for_mentions everywhere yes-no)
    (hive-hold-for-answers :hold_for_answers everywhere yes-no)
    (hive-popup-permissions :popup_permissions seat yes-no)
    (hive-notify-command :notify_command seat command))
  "The options that are stored as settings.
Each has its field, its scope, its kind, and the words and the unit
that the kind takes.")

(defconst hive-text-hidden-characters
  "\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F-\u1160\u1680\u17B4-\u17B5\u180B-\u180F\u2000-\u200F\u2028-\u202E\u205F-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF"
  "Characters that are interpreted or hidden, instead of printed.
They are ranges, as in a character class.")

(defconst hive-text-scripts
  '("\u0041-\u005A\u0061-\u007A\u00AA\u00BA\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02AF\u1D00-\u1D25\u1D2C-\u1D5C\u1E00-\u1EFF\u2C60-\u2C7F\uA722-\uA7FF\uAB30-\uAB64\uFB00-\uFB06"
    "\u0370-\u03FF\u1F00-\u1FFF"
    "\u0400-\u052F\u1C80-\u1C8F\u2DE0-\u2DFF\uA640-\uA69F"
    "\u0531-\u0556\u0561-\u0587\uFB13-\uFB17"
    "\u13A0-\u13FF\uAB70-\uABBF"
    "\u2C80-\u2CFF")
  "The letters of scripts that look alike, Latin first.")

(defconst hive-text-within-words
  "\u0030-\u0039\u005F\u0300-\u034E\u0350-\u036F"
  "What may be between two letters of a word.")

(defconst hive-text-file-end "\n\f\n"
  "The end of a file with text from agents.
Emacs reads local variables only behind the last page break, so after
this none of the text before it is taken for any.")

(provide 'hive-names)
;;; hive-names.el ends here
