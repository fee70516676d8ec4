;;; hive-list-mark.el --- Answering several questions with one decision  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Questions are marked in the list and then answered together.  Offered are
;; the options that all of them have; words of your own where all allow them.
;; Each gets an answer of its own, which is stored like any other.

;;; Code:

(require 'cl-lib)
(require 'hive-list-table)
(require 'hive-permission)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)

(defun hive-list--labels (prompt)
  "Return the labels of the options of PROMPT."
  (mapcar (lambda (option) (plist-get option :label)) (plist-get prompt :options)))

(defun hive-list-mark-common (questions)
  "Return one question that stands for all QUESTIONS.
Signal a `user-error' when no answer could fit them all."
  (let* ((first (car questions))
         (common (cl-remove-if-not
                  (lambda (option)
                    (cl-every (lambda (prompt)
                                (member (plist-get option :label) (hive-list--labels prompt)))
                              questions))
                  (append (plist-get first :options) nil)))
         (free (cl-every (lambda (prompt) (hive-rpc-true-p prompt :allow_free_text)) questions)))
    (unless (or common free)
      (user-error "These questions have no option in common: answer them one by one"))
    (list :ask_id (plist-get first :ask_id)
          :lead (hive-list-mark--lead questions)
          :question (mapconcat (lambda (prompt)
                                 (concat (hive-text-agent prompt 20) ": "
                                         (hive-text-line (plist-get prompt :question) 60)))
                               questions " · ")
          :options (vconcat common)
          :multi_select :json-false
          :allow_free_text (if free t :json-false))))

(defun hive-list-mark--lead (questions)
  "Return what is about to be done with QUESTIONS, and what they permit."
  (let ((permissions (cl-count-if #'hive-permission-p questions)))
    (concat (format "Answer %d question%s" (length questions) (if (cdr questions) "s" ""))
            (if (> permissions 0)
                (propertize (format ", %d of them PERMISSION%s" permissions
                                    (if (> permissions 1) "S" ""))
                            'face 'warning)
              ""))))

(defun hive-list-mark--confirm (questions decision)
  "Let the human confirm DECISION if it may permit something of QUESTIONS."
  (let ((permissions (cl-count-if (lambda (prompt) (hive-permission-confirmed-p prompt decision))
                                  questions)))
    (unless (or (zerop permissions)
                (y-or-n-p (format "Answer %d permission%s with \"%s\"? " permissions
                                  (if (> permissions 1) "s" "")
                                  (hive-text-line decision 60))))
      (user-error "Nothing was answered: the questions still wait"))))

(defun hive-list-mark-answer (questions)
  "Read one decision, and answer QUESTIONS with it.
One that may permit something is confirmed."
  (setq questions (mapcar #'hive-respond-open questions))
  (mapc #'hive-respond-seen questions)
  (let ((answer (hive-read-answer (hive-list-mark-common questions))))
    (when (hive-respond-empty-p answer)
      (user-error "Nothing was said: the questions still wait"))
    (hive-list-mark--confirm questions (plist-get answer :decision))
    (dolist (prompt questions)
      (let ((decision (plist-get answer :decision)))
        (hive-respond-send prompt
                            (if (member decision (hive-list--labels prompt))
                                (list :decision decision :selected (vector decision))
                              (list :decision decision)))))
    (message "Hive: %d answers queued" (length questions))))

(provide 'hive-list-mark)
;;; hive-list-mark.el ends here
