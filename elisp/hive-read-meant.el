;;; hive-read-meant.el --- What somebody meant who typed half of it  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Where options stand beside words of one's own, half an option and a typo
;; look like such words.  Which it is the human says, before it is sent.

;;; Code:

(require 'cl-lib)
(require 'hive-text)
(require 'subr-x)

(defun hive-read-meant--begun (typed options)
  "Return those of OPTIONS, strings, that TYPED is the beginning of."
  (let ((typed (string-trim typed)))
    (unless (string-empty-p typed)
      (cl-remove-if-not (lambda (option) (string-prefix-p typed option t)) options))))

(defun hive-read-meant (typed options &optional remark)
  "Return which of OPTIONS, strings, was meant by TYPED, which is none of them.
When they were words of the human's own return TYPED, and nil when
it is to be typed again.  The human is asked when TYPED begins
options; otherwise only with REMARK, a yes-or-no question."
  (let* ((begun (hive-read-meant--begun typed options))
         (numbered (cl-loop for option in begun for key from ?1 to ?9
                            collect (cons key option))))
    (cond
     (numbered
      (pcase (read-char-choice (hive-read-meant--question typed numbered)
                               (append (mapcar #'car numbered) '(?w ?e)))
        (?w typed)
        (?e nil)
        (key (cdr (assq key numbered)))))
     ((or (null remark) (y-or-n-p remark)) typed))))

(defun hive-read-meant--question (typed numbered)
  "Return the question whether by TYPED one of NUMBERED was meant.
That is an alist of keys and options."
  (concat "\"" (hive-text-line typed 40) "\" is: "
          (mapconcat (lambda (cell) (format "[%c] %s" (car cell) (hive-text-line (cdr cell) 60)))
                     numbered "  ")
          "  [w] words of your own  [e] edit it "))

(provide 'hive-read-meant)
;;; hive-read-meant.el ends here
