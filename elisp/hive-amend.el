;;; hive-amend.el --- Taking back and correcting answers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A wrong answer can be corrected in one of three ways, depending on how far it
;; has come:
;;
;;   while it is delayed    `hive-undo' takes it back; nobody saw it
;;   until it is delivered  `hive-amend' corrects it; the event log has both
;;   after that             `hive-amend' sends the agent a message that quotes
;;                          the question and the answer

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-text)
(require 'seq)
(require 'subr-x)

(declare-function hive-compose-correction-id "hive-compose")
(declare-function hive-compose-note-id "hive-compose")
(declare-function hive-mention "hive-shared-compose")

;;;; Taking back what is delayed

;; The outbox holds an answer for `hive-undo-seconds' before it is sent.  Answers
;; that were given with one key, such as those to a batch, are taken back
;; together.

(defun hive-amend-delayed ()
  "Return the entries that `hive-undo' would take back now, oldest first."
  (let* ((delayed (hive-outbox-delayed))
         (last (car (last delayed)))
         (report (and last (hive-outbox-entry-report last))))
    (if report
        (cl-remove-if-not (lambda (entry) (eq report (hive-outbox-entry-report entry))) delayed)
      (and last (list last)))))

(defun hive-amend--named (delayed)
  "Return, in words, which agents the entries DELAYED are for."
  (hive-text-line
   (string-join (delete-dups
                 (mapcar (lambda (entry) (hive-outbox-entry-agent entry 30)) delayed))
                ", ")
   60))

(defun hive-amend--decision (entry)
  "Return the decision in ENTRY, in one line."
  (hive-text-line (plist-get (hive-outbox-entry-params entry) :decision) 40))

(defun hive-amend-delayed-text (key)
  "Return what is delayed and for how long, and that KEY takes it back; or nil."
  (when-let* ((delayed (hive-amend-delayed)))
    (hive-words "%s will be sent to %s in %d s; %s takes it back"
                (hive-amend--decision (car delayed)) (hive-amend--named delayed)
                (ceiling (- (hive-outbox-entry-delayed-until (car delayed)) (hive-now))) key)))

(defun hive-amend-take-back (delayed)
  "Take back the entries DELAYED; return the questions that are pending again."
  (let ((decision (hive-amend--decision (car delayed)))
        (names (hive-amend--named delayed))
        (taken nil))
    (dolist (entry delayed)
      (condition-case oops
          (when (hive-outbox-take-back entry)
            (push (hive-outbox-entry-ask-id entry) taken))
        (error
         (hive-fail "%s for %s is not sent, but Hive could not record that (%s): if Emacs ends now, the next one sends it"
                    decision names (error-message-string oops)))))
    (unless taken (hive-fail "Already sent; M-x hive-amend corrects it"))
    (let ((prompts (delq nil (mapcar #'hive-model-prompt (nreverse taken)))))
      (mapc #'hive-respond-release prompts)
      (hive-say 'undone decision names)
      prompts)))

;; The countdown replaces only its own line in the echo area.

(defvar-local hive-amend-key "\\[hive-undo]"
  "The key that takes an answer back in this buffer, for `hive-with-keys'.")

(defvar hive-amend--timer nil "The timer of the countdown, or nil.")
(defvar hive-amend--said nil "The line of the countdown as it was shown last.")

(defun hive-amend--count-down (&optional again)
  "Show what is delayed and for how long; AGAIN if it was shown before."
  (hive-set-timer 'hive-amend--timer)
  (let ((text (with-current-buffer (window-buffer)
                (hive-amend-delayed-text (hive-with-keys hive-amend-key)))))
    (when (and text (or (not again) (equal (current-message) hive-amend--said)))
      (setq hive-amend--said text)
      (let ((message-log-max (and (not again) message-log-max)))
        (message "%s" text))
      (hive-set-timer 'hive-amend--timer 1 #'hive-amend--count-down t))))

(add-hook 'hive-respond-delayed-hook #'hive-amend--count-down)

;;;###autoload
(defun hive-undo (&optional comment)
  "Take back your last answer, or correct it.
While an answer is delayed (see `hive-undo-seconds'), it is taken back and
its question is pending again; its agent notices nothing.  Later this
is `hive-amend', with COMMENT."
  (interactive "P")
  (let ((delayed (hive-amend-delayed)))
    (if delayed (hive-amend-take-back delayed) (hive-amend comment))))

;;;; Correcting an answer

;; Your own answer, including a late one, can be corrected until it has been
;; delivered to its agent.  Like an answer, a correction goes through the
;; outbox: it is on disk before Emacs reports anything, and one that is
;; rejected is kept.

(defconst hive-amend--most 30 "How many recent answers are offered.")

(defun hive-amend--standing (prompt)
  "Return the current answer to PROMPT, or nil.
It is a plist with :decision, :comment and :by; it may be late."
  (if (equal (plist-get prompt :status) "responded") prompt
    (plist-get prompt :late_response)))

(defun hive-amend--mine-p (prompt)
  "Return non-nil if the human gave the current answer to PROMPT."
  (let ((standing (hive-amend--standing prompt)))
    (and standing (equal (plist-get standing :by) (hive-human-name)))))

(defun hive-amend--line (prompt)
  "Return the completion candidate for PROMPT."
  (hive-words "%s: %s → %s%s"
          (hive-text-agent prompt 24)
          (hive-text-line (plist-get prompt :question) 60)
          (hive-text-line (plist-get (hive-amend--standing prompt) :decision) 40)
          (cond ((plist-get prompt :handed_at) (hive-words "  (already delivered)"))
                ((plist-get prompt :late_response) (hive-words "  (came late)"))
                (t ""))))

(defun hive-amend--choose (answered)
  "Let the human choose one of the questions ANSWERED, by default the first."
  (let* ((alist (hive-read-candidates answered #'hive-amend--line))
         (line (completing-read
                (hive-words "Correct which answer (default %s): " (hive-text-line (caar alist) 60))
                (hive-read-table alist 'hive-prompt #'ignore)
                nil t nil nil (caar alist))))
    (cdr (assoc line alist))))

(defun hive-amend--former-comment (prompt)
  "Return the comment of the last answer to PROMPT, or nil.
A correction that is not stored yet is newer than the stored answer."
  (let ((unsent (cl-find-if (lambda (entry)
                              (and (equal (hive-outbox-entry-method entry) "prompt/amend")
                                   (equal (hive-outbox-entry-ask-id entry)
                                          (plist-get prompt :ask_id))))
                            (hive-outbox-entries 'pending) :from-end t)))
    (plist-get (if unsent (hive-outbox-entry-params unsent) (hive-amend--standing prompt))
               :comment)))

(defun hive-amend--read (prompt)
  "Read a new answer to PROMPT."
  (let* ((lead (hive-words "Correct your answer to %s: " (hive-text-title prompt 30)))
         (answer (hive-read-answer (append (list :lead lead) prompt))))
    (when (hive-respond-empty-p answer)
      (hive-fail 'amend-nothing))
    answer))

(defun hive-amend--comment (prompt answer former)
  "Read a comment on ANSWER, which corrects PROMPT, and send both.
The FORMER comment can be kept, edited or deleted; what was typed in
addition to an option is appended to it.  A half-typed comment is a
draft, which does not replace that of the answer."
  (hive-read-with-draft nil
    (lambda ()
      (let ((comment (hive-read-words
                      (hive-words "Comment (empty for none): ")
                      (string-join (delq nil (list (or hive-read-typed former)
                                                   (plist-get answer :comment)))
                                   "\n"))))
        (hive-amend--send prompt (plist-put answer :comment
                                            (unless (string-blank-p comment) comment)))))
    (hive-compose-note-id (hive-compose-correction-id (plist-get prompt :ask_id)))))

(defun hive-amend--send (prompt answer)
  "Send ANSWER, which corrects PROMPT."
  (hive-outbox-add (plist-get prompt :ask_id) "prompt/amend"
                   (hive-respond-params prompt answer) (hive-respond-text answer))
  (hive-say "Correction queued")
  'answered)

(defun hive-amend--correct (prompt ask)
  "Read a new answer to PROMPT and send it; with ASK, ask for a comment too.
If its agent has the first answer already, tell the agent instead."
  (if (plist-get prompt :handed_at)
      (hive-amend--tell prompt)
    ;; A half-typed answer is not a draft of a correction.
    (hive-read-with-draft prompt
      (lambda ()
        (let ((answer (hive-amend--read prompt))
              (former (hive-amend--former-comment prompt)))
          (if (or former ask) (hive-amend--comment prompt answer former)
            (hive-amend--send prompt answer))))
      (hive-compose-correction-id (plist-get prompt :ask_id)))))

;;;; Too late to correct

(defun hive-amend--tell (prompt)
  "Send the agent of PROMPT a message that corrects the answer it has."
  (let* ((session (hive-model-session (plist-get prompt :session_id)))
         (agent (hive-text-title prompt 40))
         (age (hive-text-age (plist-get prompt :handed_at))))
    (unless session
      (hive-fail "%s received your answer %s ago and its session has ended" agent age))
    (hive-read-with-draft nil
      (lambda ()
        (let ((words (hive-read-words
                      (hive-words "Your answer was delivered %s ago.  Correction to %s: " age agent)
                      hive-read-typed)))
          (when (string-blank-p words) (hive-fail 'amend-nothing))
          (hive-mention (plist-get session :handle) (hive-amend--quoted prompt words))
          'answered))
      (hive-compose-correction-id (plist-get prompt :ask_id)))))

(defun hive-amend--quoted (prompt words)
  "Return the message with WORDS, which correct the answer to PROMPT."
  (let ((quote-lines (lambda (text)
                       (replace-regexp-in-string "^" "> " (hive-text-inert text)))))
    (concat (hive-words "This corrects an answer of mine.") "\n"
            (funcall quote-lines (truncate-string-to-width (plist-get prompt :question) 500 nil nil (hive-mark "…")))
            "\n" (funcall quote-lines (hive-words "I answered: %s"
                                                  (hive-respond-text (hive-amend--standing prompt))))
            "\n\n" words)))

;;;; The outcome of a correction

(defun hive-amend--stored (entry result)
  "Report that the correction in ENTRY was stored, with RESULT."
  (when (equal (hive-outbox-entry-method entry) "prompt/amend")
    (hive-announce "Corrected: %s (stored)"
                   (hive-text-line (plist-get (hive-amend--standing (plist-get result :prompt))
                                              :decision)
                                   60))))

(defun hive-amend--rejected (entry)
  "Report why the correction in ENTRY was rejected; put it into the kill ring."
  (when (equal (hive-outbox-entry-method entry) "prompt/amend")
    (kill-new (hive-respond-text (hive-outbox-entry-params entry)))
    (hive-announce
     "Your answer is unchanged: %s  (your correction is in the kill ring; M-x hive-doctor shows it)"
     (hive-text-line (hive-outbox-entry-text entry) 200))))

(add-hook 'hive-outbox-stored-functions #'hive-amend--stored)
(add-hook 'hive-outbox-rejected-functions #'hive-amend--rejected)

;;;; The command

(defun hive-amend--known ()
  "Return the questions that the human has answered, newest first."
  (cl-remove-if-not #'hive-amend--mine-p (hive-prompts-settled)))

(defun hive-amend-recent (&optional comment)
  "Correct one of your recent answers; COMMENT is as in `hive-amend'."
  (let ((mine (hive-amend--known)))
    (unless mine (hive-fail "You have no recent answers to correct"))
    (hive-amend--correct (hive-amend--choose (seq-take mine hive-amend--most)) comment)))

;;;###autoload
(defun hive-amend (&optional comment)
  "Correct one of your answers.
In the list and in the buffer of a question, that is the answer to the
question at point, if it is yours; elsewhere choose among your recent
answers, the newest first, including late ones.  You can edit a
comment; with a prefix argument COMMENT, you can also add one.  The
event log keeps both answers.  The correction is on disk before Emacs
says so; one that comes too late is kept, with the reason.  If the
agent already has your answer, you write it a message instead, which
quotes the question and your answer.  An answer that is still delayed is
taken back (see `hive-undo')."
  (interactive "P")
  (let* ((here (hive-prompt-at-point))
         (delayed (and here (cl-find (plist-get here :ask_id) (hive-outbox-delayed)
                                     :key #'hive-outbox-entry-ask-id :test #'equal))))
    (cond (delayed (hive-amend-take-back (list delayed)))
          ((and here (hive-amend--mine-p here)) (hive-amend--correct here comment))
          (t (hive-amend-recent comment)))))

(provide 'hive-amend)
;;; hive-amend.el ends here
