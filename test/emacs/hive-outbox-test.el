;;; hive-outbox-test.el --- No answer is ever lost  -*- lexical-binding: t; -*-

;; Tags: durable

(require 'hive-outbox)
(require 'hive-outbox-test-help)
(require 'hive-test-help)

;;;; On the disk

(ert-deftest hive-outbox-an-answer-is-on-disk-before-the-message ()
  (hive-outbox-test-offline
    (hive-outbox--key)                  ; it was written at the first answer ever
    (let ((order nil) (real (symbol-function 'write-region)))
      (cl-letf (((symbol-function 'write-region)
                 (lambda (&rest args)
                   (push (if write-region-inhibit-fsync 'lazy 'fsync) order)
                   (apply real args)))
                ((symbol-function 'message)
                 (lambda (&rest _)
                   ;; The answer is on disk before the message is shown.
                   (should (hive-outbox-read (hive-outbox-file)))
                   (push 'said order))))
        (hive-respond-send (hive-test-prompt :ask_id "a") (list :decision "yes")))
      (should (equal (reverse order) '(fsync said))))))

(ert-deftest hive-outbox-only-its-owner-can-read-it ()
  (hive-outbox-test-offline
    (make-directory hive-outbox-directory t)
    (set-file-modes hive-outbox-directory #o755)
    (hive-outbox-test-add "a")
    (should (= #o600 (file-modes (hive-outbox-file))))
    (should (= #o700 (file-modes hive-outbox-directory)))))

(ert-deftest hive-outbox-keeps-every-character ()
  (hive-outbox-test-offline
    (hive-outbox-test-add "a" nil "ä 漢字 🐝 \"quoted\" \\ %s\n\ttwo lines")
    (hive-outbox-close)
    (hive-outbox-open)
    (should (equal (plist-get (hive-outbox-entry-params (car (hive-outbox-entries 'pending))) :decision)
                   "ä 漢字 🐝 \"quoted\" \\ %s\n\ttwo lines"))))

(ert-deftest hive-outbox-a-torn-last-line-is-ignored-and-harms-no-other ()
  (hive-outbox-test-offline
    (hive-outbox-test-add "a")
    (write-region "{\"entry\":\"added\",\"respon" nil (hive-outbox-file) t 'quiet)
    (hive-outbox-test-add "b")
    ;; The record is complete but its line is not: the write was not finished.
    (write-region (hive-outbox--encode (hive-outbox-test-record "c")) nil (hive-outbox-file) t 'quiet)
    (hive-outbox-close)
    (hive-outbox-open)
    (should (equal (hive-outbox-test-ids 'pending) '("a" "b")))))

(ert-deftest hive-outbox-garbage-in-a-file-is-not-fatal ()
  (hive-outbox-test-offline
    (hive-outbox-test-add "a")
    (write-region "\n\0\xff\xfe\n[1,2]\n42\n\"x\"\nnull\n{}\n{\"entry\":\"added\"}\n" nil (hive-outbox-file) t 'quiet)
    (hive-outbox-close)
    (hive-outbox-open)
    (should (equal (hive-outbox-test-ids 'pending) '("a")))))

(ert-deftest hive-outbox-a-full-disk-is-an-error-that-keeps-the-text ()
  (skip-unless (file-exists-p "/dev/full"))
  (hive-outbox-test-offline
    (hive-outbox--directory)
    (make-symbolic-link "/dev/full" (hive-outbox-file))
    (let ((kill-ring nil) (said nil))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push args said))))
        (let ((oops (should-error
                     (hive-outbox-test-add "a" nil "a long answer, typed with care")
                     :type 'user-error)))
          (should (string-match-p "your answer (.*)\\.  Nothing was sent" (cadr oops)))))
      (should (string-match-p "your message (.*)\\.  Nothing was sent"
                              (cadr (should-error (hive-outbox-add nil "message/post" '(:body "hi") "")
                                                  :type 'user-error))))
      (should (equal (car kill-ring) "a long answer, typed with care"))
      (should-not said)
      (should-not (hive-outbox-entries 'pending)))))

;;;; Sending

(ert-deftest hive-outbox-is-empty-when-everything-is-stored ()
  (hive-test-connected
    (let ((ids (mapcar (lambda (_) (plist-get (hive-test-call 'fake/ask nil) :ask_id)) '(1 2 3))))
      (mapc #'hive-outbox-test-add ids)
      (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
      (should (equal ids (mapcar (lambda (answer) (plist-get answer :ask_id)) (hive-test-answers))))
      (should-not (hive-outbox-test-files)))))

(ert-deftest hive-outbox-keeps-one-file-whose-name-is-on-disk ()
  (hive-test-connected
    (let* ((file (hive-outbox-file))
           (inode (lambda () (file-attribute-inode-number (file-attributes file))))
           (first (funcall inode)))
      (should first)
      (should (equal (plist-get (hive-outbox--greeting) :flush_folders)
                     (vector (file-name-as-directory (expand-file-name hive-outbox-directory))
                             (file-name-directory hive-outbox-key-file))))
      (hive-outbox-test-add (plist-get (hive-test-call 'fake/ask nil) :ask_id))
      (hive-outbox-test-add "unknown")
      (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
      (should (equal (hive-outbox-test-ids 'rejected) '("unknown")))
      (should (equal first (funcall inode)))
      (cl-letf (((symbol-function 'yes-or-no-p) #'always)) (hive-outbox-review))
      (should (equal first (funcall inode)))
      (hive-outbox-tidy)
      (should-not (file-exists-p file)))))

(ert-deftest hive-outbox-sends-on-after-the-human-has-quit-while-an-answer-was-sent ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id))
          (send (symbol-function 'jsonrpc-async-request)))
      (cl-letf (((symbol-function 'jsonrpc-async-request)
                 (lambda (&rest _)
                   (fset 'jsonrpc-async-request send)
                   (signal 'quit nil))))
        (should (eq 'quit (condition-case nil (hive-outbox-test-add id) (quit 'quit)))))
      (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
      (should (equal (list id) (mapcar (lambda (answer) (plist-get answer :ask_id)) (hive-test-answers)))))))

(ert-deftest hive-outbox-says-that-it-can-keep-nothing-once-the-human-is-free ()
  (hive-test-with-desk nil
    (let ((said nil) (shown nil)
          (hive-outbox-directory (expand-file-name "file/outbox/" hive-test-temp)))
      (write-region "" nil (expand-file-name "file" hive-test-temp) nil 'quiet)
      (cl-letf (((symbol-function 'hive-notify-say)
                 (lambda (format &rest args) (push (apply #'format format args) said)))
                ((symbol-function 'message) (lambda (&rest args) (push args shown))))
        (should-not (hive-outbox--greeting)))
      (should (string-match-p "\\`Hive cannot keep answers: " (car said)))
      (should-not shown))))

(ert-deftest hive-outbox-sends-what-was-answered-while-the-sidecar-was-away ()
  (hive-test-connected
    (let ((ids (mapcar (lambda (_) (plist-get (hive-test-call 'fake/ask nil) :ask_id)) '(1 2 3))))
      (hive-sidecar-stop)
      (mapc #'hive-outbox-test-add ids)
      (should (= 3 (length (hive-outbox-entries 'pending))))
      (hive-sidecar-start)
      (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
      (should (equal ids (mapcar (lambda (answer) (plist-get answer :ask_id)) (hive-test-answers)))))))

(ert-deftest hive-outbox-sends-again-when-the-sidecar-dies-with-an-answer ()
  (hive-test-with-process nil
    (hive-test-connect)
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id)))
      (hive-test-call 'fake/plan '(:method "hivemind-response" :outcomes ["die"]))
      (setq hive-rpc--delay 0.1)
      (hive-outbox-test-add id)
      (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
      (should (= 1 (length (hive-test-answers)))))))

(ert-deftest hive-outbox-a-sidecar-that-is-stopped-for-a-while-loses-nothing ()
  (hive-test-with-process nil
    (hive-test-connect)
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id))
          (sidecar (car (hive-test-sidecars))))
      (signal-process sidecar 'STOP)
      (hive-test-wait 5 (eq 'stop (process-status sidecar)))
      (hive-outbox-test-add id)
      (hive-test-run-timers 1)
      (should (hive-outbox-entries 'pending))
      (signal-process sidecar 'CONT)
      (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
      (should-not (hive-outbox-entries 'rejected))
      (should (= 1 (length (hive-test-answers)))))))

(ert-deftest hive-outbox-a-definite-error-rejects-keeps-and-reports ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id)) (told nil))
      (let ((hive-outbox-rejected-functions (list (lambda (entry) (push entry told)))))
        (hive-outbox-test-add "unknown" nil "my words")
        (hive-outbox-test-add id)
        (hive-test-wait 5 (null (hive-outbox-entries 'pending))))
      (should (= 1 (length told)))
      (should (equal (hive-outbox-entry-code (car told)) "prompt_not_found"))
      (should (string-match-p "no question" (hive-outbox-entry-text (car told))))
      (should (= 1 (length (hive-test-answers))))
      ;; It is still there after a restart, with its text, and is not sent again.
      (hive-outbox-close)
      (hive-outbox-open)
      (should (equal (hive-outbox-test-ids 'rejected) '("unknown")))
      (should-not (hive-outbox-entries 'pending))
      (should (equal "my words" (plist-get (hive-outbox-entry-params
                                            (car (hive-outbox-entries 'rejected)))
                                           :decision)))
      (cl-letf (((symbol-function 'yes-or-no-p) #'always)) (hive-outbox-review))
      (should-not (hive-outbox-test-files)))))

(ert-deftest hive-outbox-retries-while-the-store-is-busy ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id)))
      (hive-test-call 'fake/plan '(:method "hivemind-response" :outcomes
                                   [(:code -32001 :message "store_busy: The store is busy.")
                                    (:code -32001 :message "store_full: The disk is full.")]))
      (setq hive-outbox--delay 0.05)
      (hive-outbox-test-add id)
      (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
      (should-not (hive-outbox-entries 'rejected))
      (should (= 1 (length (hive-test-answers)))))))

(ert-deftest hive-outbox-an-internal-error-is-retried-three-times-and-delays-no-other ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id))
          (oops '(:code -32603 :message "Internal error")))
      (cl-letf (((symbol-function 'expt) (lambda (&rest _) 0.05)))
        (hive-test-call 'fake/plan (list :method "hivemind-response" :outcomes (vector oops)))
        (hive-outbox-test-add "bad")
        (hive-outbox-test-add id)
        (hive-test-wait 5 (hive-test-answers))
        (hive-test-wait 5 (hive-outbox-entries 'rejected)) ; prompt_not_found at last
        (hive-test-call 'fake/plan (list :method "hivemind-response" :outcomes (make-vector 4 oops)))
        (hive-outbox-test-add "worse")
        (hive-test-wait 5 (= 2 (length (hive-outbox-entries 'rejected))))
        (let ((entry (cadr (hive-outbox-entries 'rejected))))
          (should (= 4 (hive-outbox-entry-attempts entry)))
          (should (equal (hive-outbox-entry-code entry) "-32603")))))))

(ert-deftest hive-outbox-an-answer-for-another-store-is-kept-and-not-sent ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id)))
      (hive-outbox-test-add "elsewhere" "store-2")
      (hive-outbox-test-add id)
      (hive-test-wait 5 (hive-test-answers))
      (hive-test-wait 5 (equal (hive-outbox-test-ids 'pending) '("elsewhere")))
      (should-not (hive-outbox-entries 'rejected))
      (should (hive-outbox-test-files)))))
