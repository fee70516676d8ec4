;;; hive-fuzz.el --- Emacs survives any message  -*- lexical-binding: t; -*-

;;; Commentary:

;; The Emacs of test/fuzz/emacs-wire.test.ts: its sidecar sends every line of a
;; file while the list and the outreach are shown.  It reports that it is alive
;; when the last question has arrived.

;;; Code:

(require 'hive-test-help)
(require 'hive-list)
(require 'hive-outreach)

(defun hive-fuzz--heard-p (id)
  "Return non-nil when the question ID is counted, and listed."
  (and (hive-model-prompt id)
       (hive-mode-line--text)
       (with-current-buffer (hive-list-buffer)
         (string-match-p "Still awake" (buffer-string)))))

(defun hive-fuzz-run (file)
  "Receive each line of FILE, a JSON object with a method and params."
  (setq debug-on-error nil
        backtrace-on-error-noninteractive nil)
  (hive-test-with-desk nil
    (hive-test-connect)
    (save-window-excursion
      (hive-list)
      (hive-outreach))
    (hive-test-call 'fake/tell_file (list :file file))
    (let ((asked (hive-test-call
                  'fake/ask '(:question "Still awake?" :urgency "critical"))))
      (condition-case oops
          (hive-test-wait 10 (hive-fuzz--heard-p (plist-get asked :ask_id)))
        (error
         (princ (format "ASLEEP %S %S\n" oops
                        (ignore-errors
                          (with-current-buffer "*hive log*" (buffer-string)))))
         (kill-emacs 1)))
      (princ (format "AWA%s\n" "KE")))))

(provide 'hive-fuzz)
;;; hive-fuzz.el ends here
