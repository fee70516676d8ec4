;;; hive-program.el --- Which program the Hive sidecar is  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Which program is started as the sidecar, with which environment, and what
;; to say when it is not there.

;;; Code:

(require 'cl-lib)

(defcustom hive-sidecar-command nil
  "The command that starts the sidecar, a list of strings.
Nil means the program `hive' found on variable `exec-path', with
the argument \"sidecar\"; see also `hive-node-program'."
  :type '(choice (const :tag "hive sidecar" nil) (repeat string))
  :group 'hive)

(defcustom hive-node-program nil
  "The Node.js that runs the sidecar, or nil for the one hive finds itself.
Set it when the first node on your PATH is too old for Hive."
  :type '(choice (const :tag "As hive finds it" nil) file)
  :group 'hive)

(defcustom hive-store nil
  "Where the questions are kept: a file, a postgres:// URL, or nil.
Nil leaves it to the environment variable HIVE_STORE, or else to
the sidecar's default."
  :type '(choice (const :tag "Default" nil) string)
  :group 'hive)

;;;; The command

(define-error 'hive-program-missing "Hive cannot start its sidecar")

(defun hive-program--find (program what-to-do)
  "Return the absolute name of PROGRAM, or fail with WHAT-TO-DO."
  (or (executable-find program)
      (signal 'hive-program-missing
              (list (format "the program `%s' was not found; %s"
                            program what-to-do)))))

(defun hive-program-command ()
  "Return the command of the sidecar, with its programs found.
Signal `hive-program-missing' with a sentence when one is missing."
  (let ((install "install it with: npm install -g hive-sidecar"))
    (cond
     (hive-sidecar-command
      (cons (hive-program--find (car hive-sidecar-command)
                                "correct `hive-sidecar-command'")
            (cdr hive-sidecar-command)))
     (hive-node-program
      (list (hive-program--find hive-node-program "correct `hive-node-program'")
            (hive-program--find "hive" install) "sidecar"))
     (t (list (hive-program--find "hive" install) "sidecar")))))

;;;; The environment

(defconst hive-program--agent-variables
  (rx bos (or "CLAUDECODE" (seq "CLAUDE_CODE_" (* (not "="))) "CLAUDE_PID"
              "HIVE_AGENT" "HIVE_PARENT" (seq "CODEX_" (* (not "="))))
      (or "=" eos))
  "Variables that mark the shell of an agent.")

(defun hive-program-environment ()
  "Return the environment of the sidecar.
The variables of agents are left out: an Emacs that was started
from inside an agent's shell is still the human's desk."
  (let ((inherited (cl-remove-if
                    (lambda (setting)
                      (string-match-p hive-program--agent-variables setting))
                    process-environment)))
    (if hive-store
        (cons (concat "HIVE_STORE=" (if (string-match-p "\\`[a-z]+://" hive-store)
                                        hive-store
                                      (expand-file-name hive-store)))
              inherited)
      inherited)))

(provide 'hive-program)
;;; hive-program.el ends here
