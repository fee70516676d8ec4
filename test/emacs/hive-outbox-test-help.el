;;; hive-outbox-test-help.el --- An outbox with files of other Emacsen, for tests  -*- lexical-binding: t; -*-

;;; Commentary:

;; An outbox of the test's own, and the files that other Emacs processes left
;; in it.

;;; Code:

(require 'hive-test-help)
(require 'hive-outbox)

(defun hive-outbox-test-add (ask-id &optional store decision)
  "Answer ASK-ID of STORE with DECISION."
  (hive-outbox-add ask-id "hivemind-response"
                   (list :ask_id ask-id :decision (or decision "yes") :by "Ada"
                         :response_id (concat "r-" ask-id) :store_id (or store "store-1"))
                   (or decision "yes")))

(defmacro hive-outbox-test-offline (&rest body)
  "Run BODY with an outbox of its own and no sidecar."
  (declare (indent 0))
  `(hive-test-with-desk nil
     (hive-outbox-close)
     (let ((hive-outbox--owner nil)) ,@body)))

(defun hive-outbox-test-files ()
  "Return the names of the files in the outbox that hold something."
  (cl-remove-if (lambda (name)
                  (eq 0 (file-attribute-size
                         (file-attributes (expand-file-name name hive-outbox-directory)))))
                (directory-files hive-outbox-directory nil "\\`[^.]")))

(defun hive-outbox-test-left (pid start &rest records)
  "Write RECORDS as the file that process PID, born at START, left."
  (hive-outbox--directory)
  (let ((file (expand-file-name (format "%s.%d.%d.jsonl" (hive-outbox--host) pid start)
                                hive-outbox-directory)))
    (dolist (record records) (hive-outbox-append file record))
    file))

(defun hive-outbox-test-record (ask-id)
  "Return the record of an answer to ASK-ID."
  (list :entry "added" :store_id "store-1" :response_id (concat "r-" ask-id) :ask_id ask-id
        :method "hivemind-response"
        :params (list :ask_id ask-id :decision "yes" :by "Ada" :response_id (concat "r-" ask-id))
        :at "2026-01-01T00:00:00.000Z"))

(defun hive-outbox-test-dead-pid ()
  "Return the id of a process that has ended."
  (let ((process (start-process "dead" nil "true")))
    (while (process-live-p process) (accept-process-output process 0.05))
    (process-id process)))

(defun hive-outbox-test-ids (state)
  "Return the ids of the questions that the entries in STATE answer."
  (mapcar #'hive-outbox-entry-ask-id (hive-outbox-entries state)))

(provide 'hive-outbox-test-help)
;;; hive-outbox-test-help.el ends here
