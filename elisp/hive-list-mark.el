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
          :agent (format "%d agents" (length questions))
          :question (mapconcat (lambda (prompt)
                                 (concat (hive-text-line (plist-get prompt :agent) 20) ": "
                                         (hive-text-line (plist-get prompt :question) 60)))
                               questions " · ")
          :options (vconcat common)
          :multi_select :json-false
          :allow_free_text (if free t :json-false))))

(defun hive-list-mark-answer (questions)
  "Read one decision, and answer QUESTIONS with it."
  (mapc #'hive-respond-seen questions)
  (let ((answer (hive-read-answer (hive-list-mark-common questions))))
    (when (hive-respond-empty-p answer)
      (user-error "Nothing was said: the questions still wait"))
    (dolist (prompt questions)
      (let ((decision (plist-get answer :decision)))
        (hive-respond-send prompt
                            (if (member decision (hive-list--labels prompt))
                                (list :decision decision :selected (vector decision))
                              (list :decision decision)))))
    (message "Hive: %d answers queued" (length questions))))

(provide 'hive-list-mark)
;;; hive-list-mark.el ends here
