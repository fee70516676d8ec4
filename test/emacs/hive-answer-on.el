;;; hive-answer-on.el --- A human who never stops answering  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; For the rounds of kill -9: `M-x hive-respond' again and again, where only
;; the keyboard is not real.  What is typed is told before it is entered, so
;; that whoever reads along knows to which answer the next "queued" belongs.

;;; Code:

(require 'cl-lib)
(require 'hive-mode)

(defun hive-answer-on (name)
  "Answer whatever waits until Emacs is killed.
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
                    ;; At first words where none are allowed: the store refuses them.
                    (t (puthash prompt t refused)
                       (typed (words)))))))
        (while t
          (when (hive-prompts-mine) (hive-respond))
          (sleep-for 0.02))))))

(provide 'hive-answer-on)
;;; hive-answer-on.el ends here
