;;; hive-outbox-adoption-test.el --- Answers that a dead Emacs left are sent  -*- lexical-binding: t; -*-

;; Tags: durable at-least-once

(require 'hive-outbox)
(require 'hive-outbox-test-help)
(require 'hive-test-help)

(ert-deftest hive-outbox-adopts-the-file-of-a-dead-emacs-and-sends-it ()
  (hive-test-connected
    (let ((ids (mapcar (lambda (_) (plist-get (hive-test-call 'fake/ask nil) :ask_id)) '(1 2 3))))
      (hive-mode -1)
      (apply #'hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000
             (list :entry "closed" :response_id (concat "r-" (car ids)))
             (append (mapcar #'hive-outbox-test-record ids)
                     (list (list :entry "closed" :response_id (concat "r-" (car ids))))))
      (hive-test-connect)
      (hive-test-wait 5 (= 2 (length (hive-test-answers))))
      (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
      (should (equal (cdr ids) (mapcar (lambda (answer) (plist-get answer :ask_id)) (hive-test-answers))))
      (should-not (hive-outbox-test-files)))))

;; The store reads the snapshot, stores the answer, and replies to both in the other order.
(ert-deftest hive-outbox-a-question-whose-answer-is-stored-is-not-asked-by-an-older-snapshot ()
  (hive-outbox-test-offline
    (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000 (hive-outbox-test-record "a"))
    (let ((replies nil) (hive-sidecar-info '(:store_id "store-1")))
      (cl-letf (((symbol-function 'hive-rpc-request)
                 (lambda (method _params &rest callbacks)
                   (push (cons method (plist-get callbacks :success)) replies)))
                ((symbol-function 'hive-sidecar-connected-p) #'always))
        (cl-flet ((reply (method result)
                    (let ((oldest (assq method (reverse replies))))
                      (setq replies (delq oldest replies))
                      (funcall (cdr oldest) result)))
                  (snapshot (&rest ids)
                    (list :prompts (vconcat (mapcar (lambda (id) (hive-test-prompt :ask_id id)) ids)))))
          (hive-outbox-connected)
          (hive-model-refresh)
          (reply 'hivemind-response (list :ask_id "a" :accepted t :decision "yes"))
          (reply 'prompt/list (snapshot "a" "b"))
          (should-not (hive-prompts))
          (reply 'prompt/list (snapshot "b"))
          (should (equal '("b") (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-prompts))))
          (should-not replies))))))

(ert-deftest hive-outbox-leaves-the-file-of-a-living-emacs-alone ()
  (hive-outbox-test-offline
    (let ((process (start-process "alive" nil "sleep" "60")))
      (unwind-protect
          (let* ((pid (process-id process))
                 (file (hive-outbox-test-left pid (hive-outbox--started pid)
                                              (hive-outbox-test-record "a"))))
            (hive-outbox-open)
            (should (file-exists-p file))
            (should-not (hive-outbox-entries 'pending))
            ;; The pid belongs to another process now: that Emacs is dead.
            (hive-outbox-test-left pid 1700000000 (hive-outbox-test-record "b"))
            (hive-outbox-open)
            (should (equal (hive-outbox-test-ids 'pending) '("b"))))
        (set-process-query-on-exit-flag process nil)
        (delete-process process)))))

(ert-deftest hive-outbox-a-zombie-is-dead ()
  (hive-outbox-test-offline
    ;; The child ends when its shell has become another program: a shell might have waited for it.
    (let* ((shell (make-process :name "zombie" :connection-type 'pipe :noquery t
                                :command '("sh" "-c" "(while read -r name </proc/$$/comm && \
[ \"$name\" != sleep ]; do :; done) & echo $!; exec sleep 90")))
           (said ""))
      (unwind-protect
          (progn
            (set-process-filter shell (lambda (_ text) (setq said (concat said text))))
            (hive-test-wait 5 (string-suffix-p "\n" said))
            (let ((pid (string-to-number said)))
              (hive-test-wait 5 (equal "Z" (alist-get 'state (process-attributes pid))))
              (should-not (hive-outbox--started pid))))
        (delete-process shell)))))

(ert-deftest hive-outbox-of-two-that-adopt-one-wins ()
  (hive-outbox-test-offline
    (dotimes (i 30)
      (hive-outbox-test-left (hive-outbox-test-dead-pid) (+ 1700000000 i)
                             (hive-outbox-test-record (format "a%d" i))))
    (let* ((file (lambda (name) (expand-file-name name hive-test-temp)))
           (program
            (lambda (name)
              `(progn
                 (require 'hive-outbox)
                 (setq hive-outbox-directory ,hive-outbox-directory)
                 (write-region "" nil ,(funcall file (concat name ".ready")))
                 (while (not (file-exists-p ,(funcall file "go"))))
                 (let ((ids (mapcar (lambda (file) (plist-get (car (hive-outbox-read file)) :ask_id))
                                    (hive-outbox-adopt))))
                   (write-region (format "%S" ids) nil ,(funcall file (concat name ".new")))
                   (rename-file ,(funcall file (concat name ".new")) ,(funcall file name)))
                 ;; Files that a dead adopter had taken over are free for the other one.
                 (while (not (file-exists-p ,(funcall file "stop"))) (sleep-for 0.01)))))
           (adopters
            (mapcar (lambda (name)
                      (make-process :name "adopter" :noquery t :connection-type 'pipe
                                    :command (list (expand-file-name invocation-name invocation-directory)
                                                   "-Q" "--batch"
                                                   "-L" (file-name-directory (locate-library "hive-mode"))
                                                   "--eval" (prin1-to-string (funcall program name)))))
                    '("one" "two")))
           (there (lambda (&rest names)
                    (cl-every (lambda (name) (file-exists-p (funcall file name))) names))))
      (hive-test-wait 20 (funcall there "one.ready" "two.ready"))
      (write-region "" nil (funcall file "go") nil 'quiet)
      (hive-test-wait 20 (funcall there "one" "two"))
      (write-region "" nil (funcall file "stop") nil 'quiet)
      (dolist (process adopters)
        (while (process-live-p process) (accept-process-output process 0.05)))
      (let ((ids (mapcan (lambda (name)
                           (with-temp-buffer
                             (insert-file-contents (funcall file name))
                             (read (current-buffer))))
                         (list "one" "two"))))
        (should (= 30 (length ids)))
        (should (= 30 (length (delete-dups ids))))))))

(ert-deftest hive-outbox-adopted-answers-outlive-their-adopter-too ()
  (hive-outbox-test-offline
    (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000 (hive-outbox-test-record "a"))
    (let* ((dead (hive-outbox-test-dead-pid))
           (hive-outbox--owner (format "%s.%d.1700000001" (hive-outbox--host) dead)))
      (should (= 1 (length (hive-outbox-adopt)))))
    (hive-outbox-open)
    (should (equal (hive-outbox-test-ids 'pending) '("a")))))

(ert-deftest hive-outbox-a-file-that-cannot-be-read-now-is-read-the-next-time ()
  (hive-outbox-test-offline
    (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000 (hive-outbox-test-record "a"))
    (cl-letf (((symbol-function 'hive-outbox-read) (lambda (&rest _) (error "No file handles"))))
      (hive-outbox-open))
    (should-not (hive-outbox-entries 'pending))
    (should (hive-outbox-test-files))
    (hive-outbox-open)
    (should (equal (hive-outbox-test-ids 'pending) '("a")))
    ;; Each is sent only once.
    (hive-outbox-open)
    (should (equal (hive-outbox-test-ids 'pending) '("a")))))
