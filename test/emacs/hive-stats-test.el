;;; hive-stats-test.el --- The statistics in Emacs  -*- lexical-binding: t; -*-

(require 'hive-test-help)

(require 'hive-stats)

(defun hive-stats-test-result (asked)
  "Return statistics with ASKED questions, as the sidecar sends them."
  (let ((total (list :name "all" :asked asked :answered asked :median_ms nil :worst_ms nil :blocked_ms nil)))
    (list :stats (list :total total :late 0 :expired 0 :cancelled 0 :pending 0 :pending_since nil
                       :days [(:day "2026-01-31" :asked 1 :answered_by_rules 0)]
                       :kinds [] :projects [] :agents [] :answered_via [] :most_asked [] :rules []
                       :saved_ms nil))))

(defmacro hive-stats-test (&rest body)
  "Run BODY in the buffer of the statistics; `replies' answer its requests, newest first."
  (declare (indent 0))
  `(let ((replies nil))
     (save-window-excursion
       (unwind-protect
           (cl-letf (((symbol-function 'hive-sidecar-demand) #'ignore)
                     ((symbol-function 'hive-rpc-request)
                      (cl-function (lambda (_method _params &key success &allow-other-keys)
                                     (push success replies)))))
             (hive-stats)
             (with-current-buffer hive-stats--name ,@body))
         (kill-buffer hive-stats--name)))))

(ert-deftest hive-stats-says-for-which-period-they-are ()
  (hive-stats-test
    (funcall (pop replies) (hive-stats-test-result 3))
    (should (string-match-p "\\`The last 7 days: 3 questions, 3 answered in time\\." (buffer-string)))
    (hive-stats-set-days 1)
    ;; The numbers of another period are never shown.
    (should (equal (hive-words 'loading) (buffer-string)))
    (funcall (pop replies) (hive-stats-test-result 1))
    (should (string-match-p "\\`The last 1 day: 1 question, 1 answered" (buffer-string)))))

(ert-deftest hive-stats-name-agents-as-people-do-and-cut-no-sentence ()
  (let ((hive-model--sessions (make-hash-table :test #'equal)))
    (hive-stats-test
      (hive-model--remember-session '(:session_id "s-1" :handle "Claude-Revie" :title "Review of the tables"))
      (let ((result (hive-stats-test-result 30)))
        (setf (plist-get (plist-get result :stats) :agents)
              [(:name "Claude-Revie" :asked 30) (:name "Codex-gone" :asked 1)]
              (plist-get (plist-get result :stats) :late) 4
              (plist-get (plist-get result :stats) :expired) 5
              (plist-get (plist-get result :stats) :pending) 6
              (plist-get (plist-get result :stats) :pending_since) (hive-text-before 7200))
        (funcall (pop replies) result))
      (should (string-match-p "30 +Review of the tables\n +1 +Codex-gone\n" (buffer-string)))
      (should (string-match-p "\\`The last.*\n.*longest for 2h\\.\n\n" (buffer-string))))))

(ert-deftest hive-stats-a-late-reply-about-another-period-is-not-shown ()
  (hive-stats-test
    (hive-stats-set-days 30)
    (funcall (nth 1 replies) (hive-stats-test-result 3))
    (should (equal (hive-words 'loading) (buffer-string)))
    (funcall (nth 0 replies) (hive-stats-test-result 9))
    (should (string-match-p "30 days: 9 questions" (buffer-string)))))

(ert-deftest hive-stats-the-period-has-as-many-dates-as-it-says ()
  (cl-letf (((symbol-function 'hive-now)
             (lambda () (float-time (encode-time (list 0 30 15 3 3 2026 nil -1 nil))))))
    (should (equal "2026-03-03 00:00" (format-time-string "%F %R" (hive-stats--beginning 1))))
    (should (equal "2026-02-25 00:00" (format-time-string "%F %R" (hive-stats--beginning 7))))))
