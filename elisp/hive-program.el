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
Nil means the program `hive' with the argument \"sidecar\": the
one that \\[hive-install-sidecar] installed, or else the one found
on variable `exec-path', or else the one of the package that this
library belongs to; see also `hive-node-program'."
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

(defcustom hive-install-directory (locate-user-emacs-file "hive/sidecar/")
  "Where \\[hive-install-sidecar] installs the sidecar."
  :type 'directory
  :group 'hive)

;;;; The command

(defconst hive-program-node-version "24.15.0"
  "The oldest Node.js that runs the sidecar: `engines' of package.json.")

(define-error 'hive-program-missing "Hive cannot start its sidecar")

(defun hive-program--find (program what-to-do)
  "Return the absolute name of PROGRAM, or fail with WHAT-TO-DO."
  (or (executable-find program)
      (signal 'hive-program-missing
              (list (format "the program `%s' was not found; %s"
                            program what-to-do)))))

(defun hive-program-installed ()
  "Return the program `hive' that was installed from Emacs, or nil."
  (let ((program (expand-file-name "node_modules/.bin/hive" hive-install-directory)))
    (and (file-executable-p program) program)))

;; An Emacs that the desktop starts often lacks the PATH of the shell.
(defvar hive-program--beside
  (expand-file-name "../bin/hive"
                    (file-name-directory (or load-file-name buffer-file-name
                                             default-directory)))
  "Where the program `hive' stands that came with this library, if it did.")

(defun hive-program--hive ()
  "Return the absolute name of the program `hive', or fail."
  (or (hive-program-installed)
      (executable-find "hive")
      (and hive-program--beside (file-executable-p hive-program--beside)
           hive-program--beside)
      (hive-program--find
       "hive" (concat "install it with: npm install -g hive-sidecar, or M-x hive-install-sidecar;"
                      " if it is there already, add its directory to `exec-path'"
                      " or name its file in `hive-sidecar-command'"))))

(defcustom hive-serve nil
  "Where the sidecar lets agents of other machines in, as `hive serve' does.
A port, or \"HOST:PORT\"; nil means not at all.  They need a token:
see the command hive token.  The first Emacs that starts has the
port.  It takes effect when the sidecar starts (\\[hive-restart])."
  :type '(choice (const :tag "Not" nil) (natnum :tag "Port") (string :tag "HOST:PORT"))
  :group 'hive)

(defun hive-program-command ()
  "Return the command of the sidecar, with its programs found.
Signal `hive-program-missing' with a sentence when one is missing."
  (cond
   (hive-sidecar-command
    (cons (hive-program--find (car hive-sidecar-command)
                              "correct `hive-sidecar-command'")
          (cdr hive-sidecar-command)))
   (hive-node-program
    (list (hive-program--find hive-node-program "correct `hive-node-program'")
          (hive-program--hive) "sidecar"))
   (t (list (hive-program--hive) "sidecar"))))

(defun hive-program-sidecar ()
  "Return the command of the sidecar with its options."
  (append (hive-program-command)
          (when hive-serve (list "--serve" (format "%s" hive-serve)))))

;;;; The environment

(defconst hive-program--agent-variables
  '("HIVE_AGENT" "CLAUDECODE" "CLAUDE_CODE_SESSION_ID" "CLAUDE_PID"
    "CODEX_SESSION_ID" "CODEX_THREAD_ID" "CODEX_TOOL_CALL_ID" "CODEX_CI"
    "CODEX_VERSION" "CODEX_SANDBOX" "CODEX_SANDBOX_NETWORK_DISABLED"
    "GEMINI_CLI" "CURSOR_AGENT" "OPENCODE" "AI_AGENT" "HIVE_PARENT")
  "Variables that mark the shell of an agent, and its parent.
All but the last are AGENT_VARIABLES of src/application/identity.ts;
a test compares the two.  Settings such as CODEX_HOME are the human's.")

(defun hive-program-environment ()
  "Return the environment of the sidecar.
The variables of agents are left out: an Emacs that was started
from inside an agent's shell is still the human's desk."
  (let ((inherited (cl-remove-if
                    (lambda (setting)
                      (member (car (split-string setting "="))
                              hive-program--agent-variables))
                    process-environment)))
    (if hive-store
        (cons (concat "HIVE_STORE=" (if (string-match-p "\\`[a-z]+://" hive-store)
                                        hive-store
                                      (expand-file-name hive-store)))
              inherited)
      inherited)))

(provide 'hive-program)
;;; hive-program.el ends here
