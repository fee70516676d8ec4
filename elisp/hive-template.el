;;; hive-template.el --- Answers that are ready to be given  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What you say again and again is offered beside the options of a question,
;; in `hive-next' with a key of its own, in the minibuffer as a candidate.
;; It also answers mentions: `hive-check-mentions' and shared buffers offer it
;; with a key, and M-n brings it where a message is typed in the minibuffer.

;;; Code:

(require 'cl-lib)
(require 'hive-rpc)

(defcustom hive-reply-templates nil
  "Answers offered where words of your own are allowed.
Each element is (KIND PROJECT TEXT...): the texts are offered for
what is of that KIND (\"question\", \"permission\" or \"mention\")
from that PROJECT; nil stands for any.  For example:

  ((nil nil \"Yes, and keep it small.\" \"Look at the tests first.\")
   (\"permission\" \"rocket\" \"Only in a branch.\")
   (\"mention\" nil \"I will look at it today.\"))"
  :type '(repeat (cons (choice (const :tag "Any kind" nil)
                               (const "question") (const "permission") (const "mention"))
                       (cons (choice (const :tag "Any project" nil) string)
                             (repeat string))))
  :group 'hive)

(defface hive-template '((t :inherit italic))
  "An answer that is ready to be given."
  :group 'hive)

(defun hive-template--matching (kind project)
  "Return the answers to offer for what is of KIND, from PROJECT; none twice."
  (cl-remove-duplicates
   (cl-loop for (its-kind its-project . texts) in hive-reply-templates
            when (and (member its-kind (list nil kind))
                      (member its-project (list nil project)))
            append texts)
   :test #'equal :from-end t))

(defun hive-template-texts (prompt)
  "Return the answers to offer for PROMPT, none twice."
  (when (hive-rpc-true-p prompt :allow_free_text)
    (hive-template--matching (plist-get prompt :kind) (plist-get prompt :project))))

(defun hive-template-messages (project)
  "Return what to offer for messages in PROJECT and answers to mentions there."
  (hive-template--matching "mention" project))

(defun hive-template-demand (project)
  "Return what to offer for messages in PROJECT, or complain that there is nothing."
  (or (hive-template-messages project)
      (user-error "You have no templates for mentions here: customize `hive-reply-templates'")))

(provide 'hive-template)
;;; hive-template.el ends here
