;;; hive-detect-test-help.el --- Programs that insert messages, for tests  -*- lexical-binding: t; -*-

;;; Commentary:

;; A shared buffer that other programs change while somebody types in it.

;;; Code:

(require 'cl-lib)
(require 'hive-shared)
(require 'hive-shared-test-help)

(defconst hive-detect-test-head "## 2026-01-11 18:00:00 Claude-xyz"
  "The heading of a block.")

(defun hive-detect-test-block (body &optional handle)
  "Return a block with BODY under HANDLE."
  (hive-format-block "2026-01-11 18:00:00" (or handle "Claude-xyz") body))

(defun hive-detect-test-settle ()
  "Wait until every change was examined, and every message is stored and shown."
  (hive-test-wait 10 (and (null hive-detect--timer) (null hive-detect--changes)))
  (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
  (hive-test-wait 10 (cl-every (lambda (id) (hive-shared-message id)) hive-detect-test-ids)))

(defvar hive-detect-test-ids nil "The ids that were stored.")

(defun hive-detect-test-note (_id result)
  "Remember the id of the message in RESULT."
  (push (plist-get (plist-get result :message) :message_id) hive-detect-test-ids))

(defmacro hive-detect-test-with (&rest body)
  "Run BODY in the shared buffer, which is selected."
  (declare (indent 0) (debug t))
  `(hive-shared-test-with
     (let ((hive-detect-test-ids nil)
           ;; Shorter than the usual half second.
           (hive-detect-quiet 0.15)
           (hive-post-stored-functions (append hive-post-stored-functions
                                               '(hive-detect-test-note))))
       (hive-shared-test-open)
       (switch-to-buffer (current-buffer))
       (goto-char (point-max))
       ,@body)))

(defun hive-detect-test-append (text)
  "Append TEXT to the buffer as another program would, without moving point."
  (save-excursion (goto-char (point-max)) (insert text)))

(defun hive-detect-test-keys (keys)
  "Type KEYS, in the syntax of `kbd'."
  (let ((execute-kbd-macro-with-message nil))
    (execute-kbd-macro (if (stringp keys) (kbd keys) keys))))

(defun hive-detect-test-type (text)
  "Type TEXT, character by character."
  (execute-kbd-macro (vconcat (mapcar (lambda (char) (if (= char ?\n) ?\r char)) text))))

(provide 'hive-detect-test-help)
;;; hive-detect-test-help.el ends here
