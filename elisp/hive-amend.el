;;; hive-amend.el --- Correcting an answer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; An answer can be corrected by who gave it until it was handed to the
;; agent.  `hive-amend' shows which of your last answers that still holds
;; for, and which are out of reach.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

(defconst hive-amend--shown 30 "How many of the last answers are offered.")

(defun hive-amend--mine-p (prompt)
  "Return non-nil if the standing answer to PROMPT is the human's own."
  (equal (plist-get prompt :by) (hive-human-name)))

(defun hive-amend--line (prompt)
  "Return the line of PROMPT among the candidates."
  (format "%s: %s → %s%s"
          (hive-text-line (plist-get prompt :agent) 24)
          (hive-text-line (plist-get prompt :question) 60)
          (hive-text-line (plist-get prompt :decision) 40)
          (if (plist-get prompt :handed_at) "  (handed: too late)" "")))

(defun hive-amend--choose (answered)
  "Let the human choose one of ANSWERED."
  (let* ((alist (mapcar (lambda (prompt) (cons (hive-amend--line prompt) prompt)) answered))
         (line (completing-read "Correct which answer: " (mapcar #'car alist) nil t)))
    (cdr (assoc line alist))))

(defun hive-amend--correct (prompt)
  "Read another answer to PROMPT and send it."
  (when (plist-get prompt :handed_at)
    (user-error "This answer was handed to %s %s ago: write to the agent instead"
                (hive-text-line (plist-get prompt :agent) 40)
                (hive-text-age (plist-get prompt :handed_at))))
  (let ((answer (hive-read-answer prompt)))
    (when (hive-respond--empty-p answer)
      (user-error "Nothing was said: the answer stays as it is"))
    (hive-rpc-request
     'prompt/amend
     `( :ask_id ,(plist-get prompt :ask_id)
        :decision ,(hive-text-sendable (plist-get answer :decision))
        ,@(when (plist-get answer :selected) (list :selected (plist-get answer :selected)))
        :by ,(hive-human-name)
        :response_id ,(hive-respond--response-id))
     :success (lambda (result)
                (hive-notify-say "Corrected: %s (stored)"
                                 (hive-text-line
                                  (plist-get (plist-get result :prompt) :decision) 60)))
     :error (lambda (err)
              ;; What was typed is not lost with the refusal.
              (kill-new (plist-get answer :decision))
              (hive-notify-say "The answer stays as it is: %s (what you typed is in the kill ring)"
                               (hive-text-line (plist-get err :text) 200))))))

;;;###autoload
(defun hive-amend ()
  "Correct an answer of yours that was not handed to its agent yet.
Both answers stay on the trail.  Offered are your last answers that
this Emacs knows of."
  (interactive)
  (let ((mine (cl-remove-if-not #'hive-amend--mine-p
                                (hive-prompts-settled hive-amend--shown))))
    (unless mine (user-error "No answer of yours is known here"))
    (hive-amend--correct (hive-amend--choose mine))))

(provide 'hive-amend)
;;; hive-amend.el ends here
