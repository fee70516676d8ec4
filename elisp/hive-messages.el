;;; hive-messages.el --- How Hive says something  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A sentence is written where it is said:
;;
;;     (hive-say "Writing %s…" file)             show it in the echo area now
;;     (hive-announce "%s has ended" agent)      show it when the human is free
;;     (hive-announcing "Not posted: %s")        return a function that shows it with an error
;;     (hive-fail "No question on this line")    signal a `user-error'
;;     (hive-words "Answer to %s: " agent)       return it, for a prompt or a buffer
;;
;; This file has those that are said in more than one place.  They have names,
;; which can be used in place of the sentence:
;;
;;     (hive-fail 'nothing-chosen)
;;
;; The compiler warns about a name that the table lacks, and about a wrong
;; number of arguments.  scripts/sentences.el prints all sentences, to be read,
;; and corrected, as a whole.
;;
;; Each sentence is complete.  Only where the sidecar supplies the whole
;; sentence does "Hive: " say who speaks.

;;; Code:

(require 'cl-lib)
(require 'macroexp)

;;;; Sentences that are said in more than one place

(eval-and-compile
  (defconst hive-messages
    '(;; The connection
      (off . "Hive is off; turn it on with M-x hive-mode")
      (from-sidecar . "Hive: %s")
      (sidecar-stopped . "the sidecar stopped")
      (program-missing-option . "correct `%s'")

      ;; Tokens
      (token-local . "%s is on this machine, where agents need no token; choose a TRAMP directory")

      ;; Installing, the doctor, the manual
      (doctor-program . "Program")
      (doctor-sidecar . "Sidecar")
      (doctor-node . "Node.js")

      ;; The menu
      (menu-answer . "Answer")
      (menu-shared . "shared buffer")
      (menu-sessions . "agents")
      (menu-list-show . "show in full")
      (menu-list-answer . "answer")
      (menu-list-snooze . "snooze")
      (menu-list-cancel . "cancel")
      (menu-list-terminal . "go to its terminal")
      (menu-list-always . "always allow it")
      (menu-prompt-stop . "interrupt")
      (menu-view-answered . "answered")
      (menu-view-late . "late")
      (menu-view-expired . "expired")
      (menu-view-cancelled . "cancelled")
      (menu-list-refresh . "refresh")

      ;; Lists and their columns
      (column-agent . "Agent")
      (column-project . "Project")
      (column-kind . "Kind")
      (ago . "%s ago")
      (loading . "Loading…")

      ;; Arrivals
      (and-more . " (and %d more)")

      ;; The mode line
      (mode-line-pending . "Questions are pending\nmouse-1: answer\nmouse-3: list")

      ;; Choosing a question
      (none-pending . "No questions are pending%s")

      ;; Reading an answer
      (late-answer-to . "Late answer to %s: ")
      (context-loading . "… (loading the rest)\n")

      ;; Sending an answer
      (answered . "Answered %s: %s (stored)")
      (no-answer . "No answer given; %s")
      (still-all-pending . "No answer given; all still pending")
      (fate-expired . "expired")
      (fate-cancelled . "cancelled")

      ;; Cancelling and snoozing
      (cancelled . "Cancelled %s's question")
      (cancel-failed . "Hive could not cancel the question: %s")
      (snoozed . "Snoozed %s for %s")

      ;; `hive-next'
      (next-more . "  (%d more)")

      ;; Correcting an answer
      (undone . "Taken back: %s for %s; pending again")
      (amend-nothing . "No correction given; your answer is unchanged")

      ;; Writing an answer in a buffer
      (compose-nothing-to-quote . "Move to the lines above your answer, or select what to quote")
      (compose-no-options . "This question has no options")

      ;; One question in a buffer
      (prompt-fetch-failed . "Hive could not fetch the question: %s")
      (prompt-closed . "This question is no longer pending")
      (with-words . "%s, with these words: ")

      ;; Diffs
      (diff-no-file . "There is no diff of a file here")
      (diff-gone . "There is no file %s here")
      (diff-changed
       . "%s was written after the agent asked.  If this diff no longer fits, nothing is allowed, and the agent looks again")

      ;; Events of a question
      (event-cancelled . "cancelled by %s")

      ;; Values that the sidecar has names for
      (value-pending . "pending")
      (value-responded . "answered")
      (value-expired . "expired")
      (value-cancelled . "cancelled")
      (value-processed . "done")
      (value-unprocessed . "open")
      (value-low . "low urgency")
      (value-emacs . "Emacs")
      (value-notification . "a popup")
      (value-cli . "the command line")
      (value-mcp . "another agent")
      (value-hook . "a hook")
      (value-terminal . "the agent's terminal")
      (value-rule . "a rule")
      (value-library . "a program")
      ;; Why something was not shown
      (value-nobody_there . "nobody was there")
      (value-low_urgency . "low urgency")
      (value-not_urgent . "only what is critical pops up")
      (value-notify_never . "popups are turned off")
      (value-focused . "Emacs had the focus")
      (value-muted_project . "the project is muted")
      (value-muted_agent . "the agent is muted")
      (value-do_not_disturb . "do not disturb was on")
      (value-quiet_hours . "quiet hours")
      (value-quiet_criticals . "too many critical questions in a quiet time")
      (value-settled . "no longer pending")

      ;; The list of questions
      (list-none-here . "There is no question on this line")
      (list-no-section . "There are no sections; G makes some")
      (filter-agent . "agent %s")
      (filter-project . "project %s")
      (filter-text . "text \"%s\"")

      ;; Rules
      (rule-everywhere . "every project")
      (rule-never . "never")
      (rule-nothing-written . "Nothing was changed")

      ;; The statistics
      (stats-expired . ", %d expired")

      ;; Interrupting
      (interrupt-result . "%s: %s")
      (interrupt-none . "No agents are running")
      (terminal-window . "%s is in a window of %s")

      ;; Sessions
      (no-agents . "No agents are online")
      (nothing-chosen . "Nothing chosen")

      ;; Mentions
      (mark-urgent . "urgent")
      (mark-expects-reply . "expects a reply")
      (mark-as . "as %s")

      ;; Posting
      (everyone . "everyone")
      (tell . "Message to @%s: ")

      ;; Shared buffers
      (target-thread . "in thread %s")
      (which-template . "Insert template: ")

      ;; Cards, pings and reports
      (nothing-older . "There is nothing older")

      ;; History
      (export-done . "Wrote %s to %s")
      (export-failed . "Hive could not write the file: %s"))
    "Names and sentences that Hive says in more than one place."))

;;;; Saying something

(eval-and-compile
  (defun hive-messages--arguments (template)
    "Return how many arguments TEMPLATE takes."
    (let ((count 0) (start 0))
      (while (string-match "%[sd]" template start)
        (setq count (1+ count) start (match-end 0)))
      count))

  (defun hive-messages-check (form sentence &rest args)
    "Return FORM, which uses SENTENCE with ARGS; warn when it is wrong."
    (let ((template (cond ((stringp sentence) sentence)
                          ((eq 'quote (car-safe sentence))
                           (alist-get (cadr sentence) hive-messages 'missing)))))
      (cond ((eq template 'missing)
             (macroexp-warn-and-return (format "`hive-messages' has no %s" sentence) form))
            ((and template (/= (length args) (hive-messages--arguments template)))
             (macroexp-warn-and-return
              (format "%S takes %d arguments" sentence (hive-messages--arguments template)) form))
            (t form)))))

(defun hive-words (sentence &rest args)
  "Return SENTENCE, filled in with ARGS as by `format-message'.
It is a string or a name in `hive-messages'.  A command that it names is
replaced by its key, if it has one in every buffer."
  (declare (compiler-macro hive-messages-check))
  (apply #'format-message
         (hive-messages--with-global-keys
          (hive-mark (cond ((stringp sentence) sentence)
                           ((alist-get sentence hive-messages))
                           (t (error "`hive-messages' has no %s" sentence)))))
         args))

;; Emacs would show a code such as \u2713 for a character that its terminal lacks.
(defconst hive-messages--marks
  '((?✓ . "*") (?• . "*") (?… . "...") (?→ . "->") (?‖ . "|") (?· . "-") (?× . "x") (?– . "-")
    (?▸ . "+") (?▾ . "-") (?█ . "#"))
  "The marks that Hive uses, and what shows them in a terminal that lacks them.")

(defun hive-mark (text)
  "Return TEXT, which is Hive's own, as the terminal can show it."
  (if (cl-loop for char across text always (char-displayable-p char)) text
    (mapconcat (lambda (char)
                 (or (and (not (char-displayable-p char)) (alist-get char hive-messages--marks))
                     (string char)))
               text "")))

(defun hive-messages--with-global-keys (template)
  "Return TEMPLATE with the keys of the commands of Hive that it names."
  (if (not (string-match-p "M-x hive-" template)) template
    ;; The keys of the current buffer may not be those where it is read.
    (with-temp-buffer
      (replace-regexp-in-string
       "M-x \\(hive-[a-z-]+\\)"
       (lambda (match)
         (save-match-data
           (string-replace "%" "%%" (hive-with-keys (format "\\[%s]" (substring match 4))))))
       template t t))))

(defun hive-say (sentence &rest args)
  "Show SENTENCE, filled in with ARGS as by `hive-words', in the echo area.
It must be the result of the human's own command; for anything else use
`hive-announce'."
  (declare (compiler-macro hive-messages-check))
  (message "%s" (apply #'hive-words sentence args)))

;; Most files are loaded before hive-notify.
(autoload 'hive-announce "hive-notify")
(autoload 'hive-announcing "hive-notify")

(defun hive-fail (sentence &rest args)
  "Signal a `user-error' with SENTENCE, filled in with ARGS as by `hive-words'."
  (declare (compiler-macro hive-messages-check))
  (user-error "%s" (apply #'hive-words sentence args)))

(defun hive-with-keys (text)
  "Return TEXT with the keys of commands, like `substitute-command-keys'.
If a prefix key of the human leads to `hive-prefix-map', its keys are
found before it was used for the first time, too."
  (let ((map (and (fboundp 'hive-prefix-map) (symbol-function 'hive-prefix-map))))
    (when (and (autoloadp map) (where-is-internal 'hive-prefix-map nil t))
      (autoload-do-load map 'hive-prefix-map)))
  (substitute-command-keys text))

(defun hive-keymap (&rest bindings)
  "Return a keymap with BINDINGS, keys and commands in turn.
It is `define-keymap' of Emacs 29: :parent in place of a key gives the
parent of the keymap.  :mode gives the major mode that it is for, a
symbol: commands whose names begin like that of the mode work only in its
buffers, and \\[execute-extended-command] offers them only there."
  (let ((map (make-sparse-keymap)) (mode nil))
    (while bindings
      (let ((key (pop bindings)) (value (pop bindings)))
        (pcase key
          (:parent (set-keymap-parent map value))
          (:mode (setq mode value))
          (_ (define-key map (kbd key) value)
             (when (and mode (string-prefix-p (string-remove-suffix "mode" (symbol-name mode))
                                              (symbol-name value)))
               (function-put value 'command-modes (list mode))
               (advice-add value :before #'hive-messages--in-its-mode))))))
    map))

;; M-x runs any command anywhere, and most of these print in the current buffer.
(defun hive-messages--in-its-mode (&rest _)
  "Let the command that this advises be used only in buffers of its mode.
Lisp code may call it anywhere."
  (declare (completion ignore))
  (interactive
   (lambda (spec)
     (let ((modes (and (symbolp this-command) (function-get this-command 'command-modes))))
       ;; A click may be in a window that is not selected.
       (unless (or (null modes) (mouse-event-p last-command-event) (apply #'derived-mode-p modes))
         (hive-fail "%s works only in a buffer in %s" this-command (car modes))))
     (advice-eval-interactive-spec spec))))

(autoload 'hive-keys "hive-menu" "Show the keys of this buffer." t)

(defun hive-keys-map (mode rows &rest bindings)
  "Return a keymap for MODE with the keys of ROWS; if MODE, ? is a menu of them.
It also has BINDINGS, which are as for `hive-keymap'.
A row has groups, a group has a title and commands, each with its key
and its label.  Titles and labels are as for `hive-words'."
  (apply #'hive-keymap
         :mode mode
         (append bindings (and mode (list "?" #'hive-keys))
                 (cl-loop for groups in rows append
                          (cl-loop for (_title . commands) in groups append
                                   (cl-loop for (key _label command) in commands
                                            append (list key command)))))))

(defun hive-keys-line (rows)
  "Return a line with the keys of ROWS, as of `hive-keys-map', for the header line.
A narrow window cuts its end off."
  (substitute-command-keys
   (concat " \\[hive-keys] keys"
           (cl-loop for groups in rows concat
                    (cl-loop for (_title . commands) in groups concat
                             (cl-loop for (_key label command) in commands
                                      concat (format "   \\[%s] %s" command (hive-words label)))))
           "   \\[quit-window] " (hive-words "quit"))))

(defun hive-count (number noun &optional nouns)
  "Return NUMBER and NOUN, or unless NUMBER is 1, NOUNS.
That is NOUN with an s by default."
  (format "%d %s" number (if (= number 1) noun (or nouns (concat noun "s")))))

(provide 'hive-messages)
;;; hive-messages.el ends here
