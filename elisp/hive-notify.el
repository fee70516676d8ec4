;;; hive-notify.el --- Telling the human, without disturbing  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What arrives may change the mode line and say a line in the echo area,
;; and nothing else (design, invariant 7).  And the line waits: it is said
;; when the human is between two commands, never over a minibuffer, an
;; incremental search, a question being asked or a half-typed key sequence.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-outbox)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-waiting)

(defcustom hive-notify-echo t
  "Whether a line in the echo area tells of new questions.
The mode line counts them in any case.  Of what is not critical
none tells while you are not to be disturbed, in your quiet hours,
and from projects that you muted."
  :type 'boolean
  :group 'hive)

;; Who knows what is quiet or muted stands above this file.
(defvar hive-notify-held-functions nil
  "Called with what an agent sent, a plist; non-nil means: do not tell of it.
It is counted and listed all the same.")

(defun hive-notify-held-p (item)
  "Return non-nil if nothing is to be said of ITEM, a plist, when it arrives."
  (run-hook-with-args-until-success 'hive-notify-held-functions item))

(defvar hive-notify--arrived nil "Prompts that were not yet told of, newest first.")
(defvar hive-notify--lines nil "Other lines that wait to be said, oldest first.")
(defvar hive-notify--timer nil "The timer that will say them, or nil.")

(defvar hive-notify--spoke 0 "When something was last said.")
(defvar hive-notify--said nil "What was last said.")

(defconst hive-notify--patience 0.3
  "Seconds between two looks whether a busy human is free.")

(defconst hive-notify--breath 1
  "Seconds for which a line is left alone by news of arrivals.
Those that come meanwhile are told of together.  As long what the
last command said is left alone by every line.")

(defun hive-notify-busy-p ()
  "Return non-nil if the human is in the middle of something.
A line in the echo area would cover what they look at or type."
  (or (active-minibuffer-window)
      (bound-and-true-p isearch-mode)
      ;; A command runs: perhaps one that reads keys of its own, such as
      ;; `query-replace', `describe-key' or `quoted-insert'.
      this-command
      cursor-in-echo-area
      executing-kbd-macro
      ;; A prefix such as C-x or C-u was typed.
      prefix-arg
      (> (length (this-command-keys-vector)) 0)
      (input-pending-p)))

(defun hive-notify--unread-p ()
  "Return non-nil while the last command's own message was hardly read."
  (and (current-message)
       (not (equal (current-message) hive-notify--said))
       (< (float-time (or (current-idle-time) 0)) hive-notify--breath)))

(defun hive-notify-say (format &rest args)
  "Say a line made from FORMAT and ARGS once the human is free.
Lines that nobody asked for go through here, all of them."
  (setq hive-notify--lines
        (nconc hive-notify--lines (list (apply #'format format args))))
  (hive-notify--soon 0))

(defun hive-notify--soon (delay)
  "Look in DELAY seconds whether the human is free."
  (when hive-notify--timer (cancel-timer hive-notify--timer))
  (setq hive-notify--timer (run-at-time delay nil #'hive-notify--speak)))

(defun hive-notify--speak ()
  "Say what waits, or look again later when the human is busy."
  (setq hive-notify--timer nil)
  (let ((breath (- (+ hive-notify--spoke hive-notify--breath) (float-time))))
    (cond ((not (or hive-notify--arrived hive-notify--lines)))
          ((or (hive-notify-busy-p) (hive-notify--unread-p))
           (hive-notify--soon hive-notify--patience))
          (hive-notify--lines
           (while hive-notify--lines
             (hive-notify--utter (pop hive-notify--lines)))
           (when hive-notify--arrived
             (hive-notify--soon hive-notify--breath)))
          ((> breath 0) (hive-notify--soon breath))
          (t (let ((line (hive-notify--arrival)))
               (setq hive-notify--arrived nil)
               (when line (hive-notify--utter line)))))))

(defun hive-notify--utter (line)
  "Say LINE now."
  (setq hive-notify--spoke (float-time)
        hive-notify--said line)
  (message "%s" line))

;;;; What is said

(defun hive-notify--arrived (prompt)
  "Tell of PROMPT, which newly waits."
  (when (and hive-notify-echo (not (hive-notify-held-p prompt)))
    (push prompt hive-notify--arrived)
    (unless hive-notify--timer (hive-notify--soon 0))))

(defun hive-notify--arrival ()
  "Return a line about the questions that arrived, or nil.
Those that were settled or answered meanwhile are not worth a word."
  (let* ((fresh (cl-remove-if-not
                 (lambda (prompt)
                   (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
                     (and now (hive-prompt-waiting-p now))))
                 (reverse hive-notify--arrived)))
         (first (car (sort (copy-sequence fresh) #'hive-prompt-before-p)))
         (others (1- (length fresh))))
    (when first
      (concat (hive-text-agent first 40) " asks: "
              (hive-text-line (plist-get first :question)
                              (max 20 (- (frame-width) 50)))
              (if (> others 0) (format " (and %d more)" others) "")
              (substitute-command-keys "  \\[hive-respond]")))))

(defun hive-notify--sidecar ()
  "Tell once of a sidecar that cannot be started."
  (when (eq hive-sidecar-state 'failed)
    (hive-notify-say "Hive: %s" hive-sidecar-problem)))

(defun hive-notify--rejected (entry)
  "Tell that the answer in ENTRY cannot be stored."
  ;; Of what is no answer, its own capability tells.
  (when (equal (hive-entry-method entry) "hivemind-response")
    (hive-notify-say "Hive: your answer to %s was not taken: %s  (M-x hive-doctor shows it)"
                     (hive-entry-ask-id entry)
                     (hive-text-line (hive-entry-text entry) 200))))

(defun hive-notify-start ()
  "Begin to tell of what happens."
  (add-hook 'hive-arrived-functions #'hive-notify--arrived)
  (add-hook 'hive-sidecar-state-hook #'hive-notify--sidecar)
  (add-hook 'hive-outbox-rejected-functions #'hive-notify--rejected))

(defun hive-notify-stop ()
  "Say no more, and forget what was to be said."
  (remove-hook 'hive-arrived-functions #'hive-notify--arrived)
  (remove-hook 'hive-sidecar-state-hook #'hive-notify--sidecar)
  (remove-hook 'hive-outbox-rejected-functions #'hive-notify--rejected)
  (when hive-notify--timer (cancel-timer hive-notify--timer))
  (setq hive-notify--timer nil
        hive-notify--arrived nil
        hive-notify--lines nil))

(provide 'hive-notify)
;;; hive-notify.el ends here
