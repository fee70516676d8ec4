;;; hive-names.el --- Names that Emacs and its sidecar share  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The sidecar decides these names and values, and Emacs must know them before
;; a sidecar runs.  `npm run format' generates this file from the constants of
;; src/; do not edit it.

;;; Code:

(defconst hive-program-node-version "24.15.0"
  "The oldest Node.js that runs the sidecar.")

(defconst hive-program-agent-variables
  '("HIVE_AGENT"
    "CLAUDECODE"
    "CLAUDE_CODE_SESSION_ID"
    "CLAUDE_PID"
    "CODEX_SESSION_ID"
    "CODEX_THREAD_ID"
    "CODEX_TOOL_CALL_ID"
    "CODEX_CI"
    "CODEX_VERSION"
    "CODEX_SANDBOX"
    "CODEX_SANDBOX_NETWORK_DISABLED"
    "GEMINI_CLI"
    "CURSOR_AGENT"
    "OPENCODE"
    "AI_AGENT"
    "HIVE_PARENT")
  "Environment variables that mark the shell of an agent, and its parent.
Settings such as CODEX_HOME belong to the human.")

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

(provide 'hive-names)
;;; hive-names.el ends here
