;;; hive-snooze-test.el --- Snoozing a question  -*- lexical-binding: t; -*-

;; Tags: silence

(require 'hive-list-test-help)
(require 'hive-prompt)
(require 'hive-respond)
(require 'hive-test-help)

(defun hive-snooze-test-until ()
  "Return the times until which questions were snoozed, newest first, as sent to the sidecar."
  (nreverse (delq nil (mapcar (lambda (record)
                                (when (plist-member record :snoozed)
                                  (list (plist-get (plist-get record :snoozed) :until))))
                              (hive-test-state)))))

(ert-deftest hive-snooze-the-same-key-snoozes-and-un-snoozes ()
  (hive-test-with-desk nil
    (save-window-excursion
      (hive-list-test
        (hive-test-connect)
        (hive-test-call 'fake/ask '(:ask_id "p1"))
        (hive-test-wait 5 (= 1 (hive-prompts-awake)))
        (hive-list)
        (goto-char (point-min))
        (call-interactively (key-binding "s"))
        (hive-test-wait 5 (= 0 (hive-prompts-awake)))
        (hive-test-wait 5 (string-match-p "\\` *z" (car (hive-list-test-lines))))
        (goto-char (point-min))
        (call-interactively (key-binding "s"))
        (hive-test-wait 5 (= 1 (hive-prompts-awake)))
        (should (equal '(nil) (car (hive-snooze-test-until))))
        ;; With minutes, a snoozed question stays snoozed for that long.
        (dotimes (_ 2)
          (cl-letf ((current-prefix-arg 5)
                    ((symbol-function 'hive-now) (lambda () 4000000000.0)))
            (call-interactively (key-binding "s")))
          (hive-test-wait 5 (= 0 (hive-prompts-awake))))
        (should (= 4 (length (hive-test-wait 5 (and (= 4 (length (hive-snooze-test-until)))
                                                    (hive-snooze-test-until))))))
        (should (equal "2096-10-02T07:11:40.000Z" (caar (hive-snooze-test-until))))))))

(ert-deftest hive-snooze-in-the-buffer-of-a-question-un-snoozes-and-stays ()
  (hive-test-with-desk nil
    (save-window-excursion
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:ask_id "p1" :snoozed_until "2999-01-01T00:00:00.000Z"))
      (hive-test-wait 5 (hive-prompts))
      (hive-prompt-show (car (hive-prompts)))
      (let ((buffer (current-buffer)))
        (call-interactively (key-binding "s"))
        (hive-test-wait 5 (= 1 (hive-prompts-awake)))
        (should (eq buffer (window-buffer)))
        (kill-buffer buffer)))))
