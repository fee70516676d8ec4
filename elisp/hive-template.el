;;; hive-template.el --- Answers that are ready to be given  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What you say again and again is offered beside the options of a question,
;; in `hive-next' with a key of its own, in the minibuffer as a candidate.

;;; Code:

(require 'cl-lib)
(require 'hive-rpc)

(defcustom hive-reply-templates nil
  "Answers offered beside the options, where words of your own are allowed.
Each element is (KIND PROJECT TEXT...): the texts are offered for
questions of that KIND (\"question\" or \"permission\") from that
PROJECT; nil stands for any.  For example:

  ((nil nil \"Yes, and keep it small.\" \"Look at the tests first.\")
   (\"permission\" \"rocket\" \"Only in a branch.\"))"
  :type '(repeat (cons (choice (const :tag "Any kind" nil)
                               (const "question") (const "permission"))
                       (cons (choice (const :tag "Any project" nil) string)
                             (repeat string))))
  :group 'hive)

(defface hive-template '((t :inherit italic))
  "An answer that is ready to be given."
  :group 'hive)

(defun hive-template-texts (prompt)
  "Return the answers to offer for PROMPT, none twice."
  (when (hive-rpc-true-p prompt :allow_free_text)
    (cl-remove-duplicates
     (cl-loop for (kind project . texts) in hive-reply-templates
              when (and (member kind (list nil (plist-get prompt :kind)))
                        (member project (list nil (plist-get prompt :project))))
              append texts)
     :test #'equal :from-end t)))

(provide 'hive-template)
;;; hive-template.el ends here
