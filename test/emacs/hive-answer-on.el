;;; hive-answer-on.el --- A human who never stops answering  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors
;; Assisted-by: AGENT_NAME:MODEL_VERSION

;;; Commentary:

;; For the rounds of kill -9: runs `M-x hive-respond' again and again, with
;; simulated input.  Each answer is printed before it is entered, so the test
;; knows which answer the next "queued" is about.

;;; Code:

(require 'cl-lib)
(require 'hive-mode)

(defun hive-answer-on (name)
  "Answer every pending question until Emacs is killed.
No two answers are the same: each begins with NAME, which no other
Emacs has, or is the label of an option that no other question has."
  (let ((count 0) (refused (make-hash-table :test #'equal)))
    (cl-flet ((typed (text) (message "typed %s" text) text)
              (words () (format "%s, answer %d" name (cl-incf count))))
      (cl-letf (((symbol-function 'read-string) (lambda (&rest _) (typed (words))))
                ((symbol-function 'completing-read)
                 (lambda (prompt table &optional _predicate _strict _initial _history default &rest _)
                   (cond
                    (default)           ; which of many: the one that is offered
                    ((gethash prompt refused) (typed (car (all-completions "" table))))
                    ;; First, free text where it is not allowed: the store refuses it.
                    (t (puthash prompt t refused)
                       (typed (words)))))))
        (while t
          (when (hive-prompts-mine) (hive-respond))
          (sleep-for 0.02))))))

(provide 'hive-answer-on)
;;; hive-answer-on.el ends here
