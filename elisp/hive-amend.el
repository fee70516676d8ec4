;;; hive-amend.el --- Correcting an answer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; You can correct your own answer, including a late one, until it has been
;; delivered to the agent.  `hive-amend' offers your recent answers and marks
;; those that are already delivered.
;;
;; Like an answer, a correction goes through the outbox: it is on disk before
;; Emacs reports anything, and one that is rejected is kept.

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

(defconst hive-amend--shown 30 "How many recent answers are offered.")

;;;; Choosing an answer

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
  (format "%s: %s → %s%s"
          (hive-text-agent prompt 24)
          (hive-text-line (plist-get prompt :question) 60)
          (hive-text-line (plist-get (hive-amend--standing prompt) :decision) 40)
          (cond ((plist-get prompt :handed_at) (hive-words 'amend-handed))
                ((plist-get prompt :late_response) (hive-words 'amend-late))
                (t ""))))

(defun hive-amend--choose (answered)
  "Let the human choose one of the questions ANSWERED."
  (let* ((alist (hive-read-candidates answered #'hive-amend--line))
         (line (completing-read (hive-words 'which-correct) (mapcar #'car alist) nil t)))
    (cdr (assoc line alist))))

;;;; Reading and sending the correction

(defun hive-amend--former-comment (prompt)
  "Return the comment of the last answer to PROMPT, or nil.
A correction that is not stored yet is newer than the stored answer."
  (let ((unsent (cl-find-if (lambda (entry)
                              (and (equal (hive-entry-method entry) "prompt/amend")
                                   (equal (hive-entry-ask-id entry)
                                          (plist-get prompt :ask_id))))
                            (hive-outbox-entries 'pending) :from-end t)))
    (plist-get (if unsent (hive-entry-params unsent) (hive-amend--standing prompt))
               :comment)))

(defun hive-amend--read (prompt ask)
  "Read a new answer to PROMPT, and a comment if there was one or if ASK.
The former comment can be kept, edited or deleted; what was typed
in addition to an option is appended to it."
  (let* ((lead (hive-words 'correct-answer-to (hive-text-line (plist-get prompt :agent) 30)))
         (answer (hive-read-answer (append (list :lead lead) prompt)))
         (former (hive-amend--former-comment prompt)))
    (when (hive-respond-empty-p answer)
      (hive-fail 'amend-nothing))
    (when (or former ask)
      (let ((comment (read-string (hive-words 'amend-comment)
                                  (string-join (delq nil (list former (plist-get answer :comment)))
                                               "\n"))))
        (setq answer (plist-put answer :comment
                                (unless (string-blank-p comment) comment)))))
    answer))

(defun hive-amend--correct (prompt ask)
  "Read a new answer to PROMPT and send it; with ASK, ask for a comment too."
  (when (plist-get prompt :handed_at)
    (hive-fail 'amend-too-late (hive-text-line (plist-get prompt :agent) 40)
               (hive-text-age (plist-get prompt :handed_at))))
  (let ((answer (hive-amend--read prompt ask)))
    (hive-outbox-add (plist-get prompt :ask_id) "prompt/amend"
                     (hive-respond-params prompt answer) (hive-respond-text answer))
    (hive-say 'amend-queued)))

;;;; Reporting the result

(defun hive-amend--acked (entry result)
  "Report that the correction in ENTRY was stored, with RESULT."
  (when (equal (hive-entry-method entry) "prompt/amend")
    (hive-announce 'amended
                   (hive-text-line (plist-get (hive-amend--standing (plist-get result :prompt))
                                              :decision)
                                   60))))

(defun hive-amend--rejected (entry)
  "Report why the correction in ENTRY was rejected; put it into the kill ring."
  (when (equal (hive-entry-method entry) "prompt/amend")
    (kill-new (hive-respond-text (hive-entry-params entry)))
    (hive-announce 'amend-rejected (hive-text-line (hive-entry-text entry) 200))))

(add-hook 'hive-outbox-acked-functions #'hive-amend--acked)
(add-hook 'hive-outbox-rejected-functions #'hive-amend--rejected)

;;;; Command

;;;###autoload
(defun hive-amend (&optional comment)
  "Correct one of your answers that its agent has not received yet.
The event log keeps both answers.  You choose among your recent
answers that this Emacs knows, including late ones.  You can edit a
comment; with a prefix argument COMMENT, you can also add one.  The
correction is on disk before Emacs says so; one that comes too late
is kept, with the reason."
  (interactive "P")
  (let ((mine (cl-remove-if-not #'hive-amend--mine-p (hive-prompts-settled))))
    (unless mine (hive-fail 'amend-none))
    (hive-amend--correct (hive-amend--choose (seq-take mine hive-amend--shown)) comment)))

(provide 'hive-amend)
;;; hive-amend.el ends here
