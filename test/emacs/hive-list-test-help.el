;;; hive-list-test-help.el --- The list of questions, for tests  -*- lexical-binding: t; -*-

;;; Commentary:

;; A list that is open only during a test, its contents, and its keys.

;;; Code:

(require 'hive-list)
(require 'hive-test-help)

(defun hive-list-test-lines ()
  "Return the lines of the list."
  (with-current-buffer "*hive*"
    (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n" t)))

(defun hive-list-test-entries ()
  "Return the columns with which each line of the list was printed."
  (save-excursion
    (goto-char (point-min))
    (cl-loop until (eobp) collect (tabulated-list-get-entry) do (forward-line 1))))

(defmacro hive-list-test (&rest body)
  "Run BODY with an empty model, and kill the buffer of the list afterwards."
  (declare (indent 0))
  `(save-window-excursion
     (unwind-protect (progn (hive-model-forget) ,@body)
       (when (get-buffer "*hive*") (kill-buffer "*hive*"))
       (hive-model-forget))))

(defmacro hive-list-test-desk (questions &rest body)
  "Ask QUESTIONS, lists of fields, show the list and run BODY in it."
  (declare (indent 1))
  `(hive-test-with-desk nil
     (save-window-excursion
       (hive-test-connect)
       (dolist (fields ,questions) (hive-test-call 'fake/ask fields))
       (hive-test-wait 5 (= (length ,questions) (length (hive-prompts))))
       (hive-list)
       ,@body)))

(defun hive-list-test-key (keys)
  "Press KEYS in the list."
  (let* ((sequence (kbd keys)) (last-command-event (aref sequence (1- (length sequence)))))
    (call-interactively (key-binding sequence))))

;; Most tests are about rows.  Those of sections turn them on.
(setq hive-list-group nil)

(provide 'hive-list-test-help)
;;; hive-list-test-help.el ends here
