;;; hive-amend.el --- Correcting an answer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; An answer can be corrected by who gave it until it was handed to the
;; agent, also one that came late.  `hive-amend' shows which of your last
;; answers that still holds for, and which are out of reach.
;;
;; A correction goes through the outbox like the answer itself: it is on the
;; disk before anything is said, and what can never be stored is kept.

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

(defconst hive-amend--shown 30 "How many of the last answers are offered.")

;;;; Which answer

(defun hive-amend--standing (prompt)
  "Return the answer to PROMPT that stands, or nil.
It is a plist with :decision, :comment and :by; it may have come late."
  (if (equal (plist-get prompt :status) "responded") prompt
    (plist-get prompt :late_response)))

(defun hive-amend--mine-p (prompt)
  "Return non-nil if the standing answer to PROMPT is the human's own."
  (let ((standing (hive-amend--standing prompt)))
    (and standing (equal (plist-get standing :by) (hive-human-name)))))

(defun hive-amend--line (prompt)
  "Return the line of PROMPT among the candidates."
  (format "%s: %s → %s%s"
          (hive-text-agent prompt 24)
          (hive-text-line (plist-get prompt :question) 60)
          (hive-text-line (plist-get (hive-amend--standing prompt) :decision) 40)
          (cond ((plist-get prompt :handed_at) (hive-words 'amend-handed))
                ((plist-get prompt :late_response) (hive-words 'amend-late))
                (t ""))))

(defun hive-amend--choose (answered)
  "Let the human choose one of ANSWERED."
  (let* ((alist (hive-read-candidates answered #'hive-amend--line))
         (line (completing-read (hive-words 'which-correct) (mapcar #'car alist) nil t)))
    (cdr (assoc line alist))))

;;;; Another answer

(defun hive-amend--former-comment (prompt)
  "Return the comment of the last answer to PROMPT, or nil.
A correction that is still on its way is later than what stands."
  (let ((unsent (cl-find-if (lambda (entry)
                              (and (equal (hive-entry-method entry) "prompt/amend")
                                   (equal (hive-entry-ask-id entry)
                                          (plist-get prompt :ask_id))))
                            (hive-outbox-entries 'pending) :from-end t)))
    (plist-get (if unsent (hive-entry-params unsent) (hive-amend--standing prompt))
               :comment)))

(defun hive-amend--read (prompt ask)
  "Read another answer to PROMPT, and its comment where there was one or ASK.
The comment of the answer before is shown, to be kept, changed or
deleted; words beside chosen options come after it."
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
  "Read another answer to PROMPT and send it; ASK for a comment too."
  (when (plist-get prompt :handed_at)
    (hive-fail 'amend-too-late (hive-text-line (plist-get prompt :agent) 40)
               (hive-text-age (plist-get prompt :handed_at))))
  (let ((answer (hive-amend--read prompt ask)))
    (hive-outbox-add (plist-get prompt :ask_id) "prompt/amend"
                     (hive-respond-params prompt answer) (hive-respond-text answer))
    (hive-say 'amend-queued)))

;;;; What became of it

(defun hive-amend--acked (entry result)
  "Say that the correction in ENTRY is stored, according to RESULT."
  (when (equal (hive-entry-method entry) "prompt/amend")
    (hive-announce 'amended
                   (hive-text-line (plist-get (hive-amend--standing (plist-get result :prompt))
                                              :decision)
                                   60))))

(defun hive-amend--rejected (entry)
  "Say why the correction in ENTRY cannot be stored, and keep it at hand."
  (when (equal (hive-entry-method entry) "prompt/amend")
    (kill-new (hive-respond-text (hive-entry-params entry)))
    (hive-announce 'amend-rejected (hive-text-line (hive-entry-text entry) 200))))

(add-hook 'hive-outbox-acked-functions #'hive-amend--acked)
(add-hook 'hive-outbox-rejected-functions #'hive-amend--rejected)

;;;###autoload
(defun hive-amend (&optional comment)
  "Correct an answer of yours that was not handed to its agent yet.
Both answers stay on the trail.  Offered are your last answers that
this Emacs knows of, also those that came late.  A comment is shown
to be kept or changed; with a prefix argument COMMENT, you are asked
for one in any case.  The correction is on the disk before Emacs says
so; one that comes too late is kept, with the reason."
  (interactive "P")
  (let ((mine (cl-remove-if-not #'hive-amend--mine-p (hive-prompts-settled))))
    (unless mine (hive-fail 'amend-none))
    (hive-amend--correct (hive-amend--choose (seq-take mine hive-amend--shown)) comment)))

(provide 'hive-amend)
;;; hive-amend.el ends here
