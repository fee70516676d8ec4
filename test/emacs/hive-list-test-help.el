;;; hive-list-test-help.el --- The list of questions, for tests  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A list that is open only during a test, and its contents.

;;; Code:

(require 'hive-list)
(require 'hive-test-help)

(defun hive-list-test-lines ()
  "Return the lines of the list."
  (with-current-buffer "*hive*"
    (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n" t)))

(defmacro hive-list-test (&rest body)
  "Run BODY with an empty model, and kill the buffer of the list afterwards."
  (declare (indent 0))
  `(save-window-excursion
     (unwind-protect (progn (hive-model-forget) ,@body)
       (when (get-buffer "*hive*") (kill-buffer "*hive*"))
       (hive-model-forget))))

(provide 'hive-list-test-help)
;;; hive-list-test-help.el ends here
