;;; hive-model-test.el --- What Emacs knows of the questions  -*- lexical-binding: t; -*-

;; Tags: state-not-events

(require 'hive-test-help)

(defmacro hive-model-test (&rest body)
  "Run BODY with an empty model."
  (declare (indent 0))
  `(let ((hive-arrived-functions nil) (hive-changed-hook nil))
     (hive-model-forget)
     (unwind-protect (progn ,@body)
       (hive-model-forget))))

(defun hive-model-test-ids ()
  "Return the ids of the pending questions."
  (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-prompts)))

(ert-deftest hive-model-the-order-is-that-of-the-sidecar ()
  (hive-model-test
    (dolist (spec '(("a" "3" "critical") ("b" "1" "low") ("c" "2" "normal")))
      (pcase-let ((`(,id ,key ,urgency) spec))
        (hive-model-put-prompt (append (list :order_key key) (hive-test-prompt :ask_id id :urgency urgency)))))
    (should (equal (hive-model-test-ids) '("b" "c" "a")))
    (hive-model-put-prompt (append (list :order_key "0") (hive-model-prompt "a")))
    (should (equal (hive-model-test-ids) '("a" "b" "c")))))

(ert-deftest hive-model-what-blocks-an-agent-is-counted-separately ()
  (hive-model-test
    (dolist (spec '(("a" nil "critical") ("b" "2026-01-01" "low") ("c" "2026-01-02" "normal")))
      (pcase-let ((`(,id ,since ,urgency) spec))
        (hive-model-put-prompt (hive-test-prompt :ask_id id :urgency urgency :blocked_since since))))
    (should (equal (hive-model-test-ids) '("c" "b" "a")))
    (should (= 3 (hive-prompts-awake)))
    (should (= 2 (hive-prompts-blocked)))
    (should (= 0 (hive-prompts-rank)))
    ;; A snoozed question does not count, and a settled one blocks nobody.
    (hive-model-put-prompt (append (list :snoozed_until "2999") (hive-model-prompt "c")))
    (hive-model-put-prompt (append (list :status "responded") (hive-model-prompt "b")))
    (should (= 0 (hive-prompts-blocked)))
    (should-not (hive-prompt-blocked-p (hive-model-prompt "b")))))

(ert-deftest hive-model-a-prompt-that-cannot-be-sorted-does-not-stop-the-others ()
  (hive-model-test
    (dolist (odd '((:ask_id nil) (:ask_id "odd" :created_at 7) (:ask_id "odd" :snoozed_until [nil])
                   (:ask_id "odd" :blocked_since 7)))
      (should-not (hive-model-put-prompt (apply #'hive-test-prompt odd))))
    (should (hive-model-put-prompt (hive-test-prompt :ask_id "a")))
    (should (equal (hive-model-test-ids) '("a")))
    (should (= 1 (hive-prompts-awake)))))

(ert-deftest hive-model-a-settled-prompt-is-not-pending ()
  (hive-model-test
    (should (hive-model-put-prompt (hive-test-prompt :ask_id "a")))
    (should-not (hive-model-put-prompt (hive-test-prompt :ask_id "a" :status "responded" :by "Bob")))
    (should-not (hive-prompts))
    (should (equal (plist-get (hive-model-prompt "a") :by) "Bob"))))

(ert-deftest hive-model-a-settled-prompt-stays-settled ()
  (hive-model-test
    (hive-model-put-prompt (hive-test-prompt :ask_id "a" :status "expired"))
    (should-not (hive-model-put-prompt (hive-test-prompt :ask_id "a")))
    (should-not (hive-prompts))))

(ert-deftest hive-model-a-prompt-answered-here-is-not-pending ()
  (hive-model-test
    (hive-model-put-prompt (hive-test-prompt :ask_id "a"))
    (hive-model-put-prompt (hive-test-prompt :ask_id "b" :urgency "low"))
    (hive-model-set-answered "a" t)
    (should (equal (hive-model-test-ids) '("b")))
    ;; A notification that still says pending is out of date.
    (hive-model-put-prompt (hive-test-prompt :ask_id "a" :seen_at "2026"))
    (should (equal (hive-model-test-ids) '("b")))
    ;; The answer was rejected, so it is unanswered again.
    (hive-model-set-answered "a" nil)
    (should (equal (hive-model-test-ids) '("a" "b")))
    (hive-model-set-answered "a" t)
    (hive-model-put-prompt (hive-test-prompt :ask_id "a" :status "responded"))
    (should (= 0 (hash-table-count hive-model--answered)))))

(ert-deftest hive-model-settled-prompts-are-forgotten-after-a-while ()
  (hive-model-test
    (dotimes (i 500)
      (let ((id (number-to-string i)))
        (hive-model-put-prompt (hive-test-prompt :ask_id id))
        (hive-model-put-prompt (hive-test-prompt :ask_id id :status "responded"))
        (hive-model-put-prompt (hive-test-prompt :ask_id id :status "responded"))))
    (should (= hive-model--settled-kept (hash-table-count hive-model--prompts)))
    (should (hive-model-prompt "499"))
    (should-not (hive-model-prompt "0"))))

(ert-deftest hive-model-many-changes-run-the-hook-once ()
  (hive-model-test
    (let ((runs 0))
      (add-hook 'hive-changed-hook (lambda () (error "A bad function stops no other")))
      (add-hook 'hive-changed-hook (lambda () (cl-incf runs)) t)
      (dotimes (i 100) (hive-model-put-prompt (hive-test-prompt :ask_id (number-to-string i))))
      (hive-test-wait 1 (> runs 0))
      (hive-test-run-timers 1)
      (should (= runs 1)))))

(ert-deftest hive-model-a-snapshot-replaces-and-announces-only-new-prompts ()
  (hive-model-test
    (let ((arrived nil))
      (hive-model-put-prompt (hive-test-prompt :ask_id "gone"))
      (hive-model-put-prompt (hive-test-prompt :ask_id "known"))
      (hive-model-put-prompt (hive-test-prompt :ask_id "answered" :status "responded"))
      (add-hook 'hive-arrived-functions (lambda (prompt) (push (plist-get prompt :ask_id) arrived)))
      (hive-model-replace (list (hive-test-prompt :ask_id "known") (hive-test-prompt :ask_id "new")))
      (should (equal (sort (hive-model-test-ids) #'string<) '("known" "new")))
      (should (equal arrived '("new")))
      (should-not (hive-model-prompt "gone"))
      (should (hive-model-prompt "answered")))))

(ert-deftest hive-model-a-notification-during-a-snapshot-wins-over-it ()
  (hive-model-test
    (hive-model-replace (list (hive-test-prompt :ask_id "a") (hive-test-prompt :ask_id "b"))
                        (list (hive-test-prompt :ask_id "c")
                              (hive-test-prompt :ask_id "a" :status "cancelled")))
    (should (equal (sort (hive-model-test-ids) #'string<) '("b" "c")))))

(ert-deftest hive-model-false-is-nil ()
  (let ((prompt (list :a :json-false :b t :c nil)))
    (should-not (hive-rpc-true-p prompt :a))
    (should (hive-rpc-true-p prompt :b))
    (should-not (hive-rpc-true-p prompt :c))
    (should-not (hive-rpc-true-p prompt :d))))

(ert-deftest hive-model-a-prompt-that-a-snapshot-does-not-change-stays-the-same-object ()
  (hive-model-test
    (let ((same (hive-test-prompt :ask_id "same")))
      (hive-model-put-prompt same)
      (hive-model-put-prompt (hive-test-prompt :ask_id "other"))
      (hive-model-replace (list (copy-tree same) (hive-test-prompt :ask_id "other" :seen_at "2026")))
      (should (eq same (hive-model-prompt "same")))
      (should (equal "2026" (plist-get (hive-model-prompt "other") :seen_at)))
      (should (= 2 (length (hive-prompts)))))))

(ert-deftest hive-model-many-that-arrive-at-once-are-sorted ()
  (dolist (numbers '((1 2 3 4 5 6) (6 5 4 3 2 1) (2 6 1 5 3 4)))
    (hive-model-test
      (hive-model-replace
       (mapcar (lambda (number)
                 (hive-test-prompt :ask_id (number-to-string number)
                                   :urgency "normal" :created_at (format "2026-01-%02d" number)))
               numbers))
      (should (equal (hive-model-test-ids) '("1" "2" "3" "4" "5" "6"))))))

(ert-deftest hive-model-snapshot-is-fetched-page-by-page-at-each-connect ()
  (hive-test-connected
    (hive-test-call 'fake/burst '(:count 1203))
    (hive-test-wait 10 (= 1203 (length (hive-prompts))))
    (hive-test-call 'fake/plan '(:method "prompt/seen" :outcomes ["die"]))
    (setq hive-rpc--delay 0.1)
    (hive-model-put-prompt (hive-test-prompt :ask_id "not in the store"))
    (hive-rpc-request 'prompt/seen '(:ask_id "x"))
    (hive-test-wait 5 (not (hive-sidecar-connected-p)))
    (hive-test-wait 10 (and (hive-sidecar-connected-p) (hive-model-complete-p)))
    (should (= 1203 (length (hive-prompts))))
    (should-not (hive-model-prompt "not in the store"))))

(ert-deftest hive-model-a-function-that-fails-loses-no-question-of-a-snapshot ()
  (hive-model-test
    (let ((arrived nil))
      (add-hook 'hive-arrived-functions (lambda (prompt) (push (plist-get prompt :ask_id) arrived)))
      (add-hook 'hive-arrived-functions (lambda (_) (error "It fails")))
      (hive-model-replace (list (hive-test-prompt :ask_id "a") (hive-test-prompt :ask_id "b"))
                          (list (hive-test-prompt :ask_id "c")))
      (should (equal '("a" "b" "c") (sort (hive-model-test-ids) #'string<)))
      (should (equal '("c" "b" "a") arrived)))))

(ert-deftest hive-model-sessions-are-fetched-again-where-the-store-was-busy ()
  (let ((asked 0))
    (cl-letf (((symbol-function 'hive-rpc-request)
               (cl-function (lambda (_method _params &key error &allow-other-keys)
                              (setq asked (1+ asked))
                              (funcall error (if (= asked 1) '(:name store_busy :code -32001 :text "busy")
                                               '(:name invalid_input :code -32602 :text "no"))))))
              ((symbol-function 'hive-sidecar-connected-p) #'always))
      (hive-model-refresh-sessions)
      (hive-test-run-timers 60)
      ;; The second error is one that stays.
      (should (= 2 asked)))))

;;;; Arrivals during a fetch of the sessions

(defmacro hive-model-test-listing (answer &rest body)
  "Run BODY with no sessions; ANSWER is bound to a function.
It answers the oldest open request for the sessions with a list of them,
or with the error that follows the list."
  (declare (indent 1))
  `(let* ((hive-model--sessions (make-hash-table :test #'equal))
          (hive-rpc--fetches (make-hash-table :test #'equal))
          (requests nil)
          (,answer (lambda (sessions &optional err)
                     (let ((request (pop requests)))
                       (if err (funcall (plist-get request :error) err)
                         (funcall (plist-get request :success)
                                  (list :sessions (vconcat sessions))))))))
     (cl-letf (((symbol-function 'hive-rpc-request)
                (lambda (_method _params &rest callbacks)
                  (setq requests (append requests (list callbacks)))))
               ((symbol-function 'hive-sidecar-connected-p) #'ignore))
       ,@body)))

(defun hive-model-test-session (&rest changes)
  "Return a session with CHANGES."
  (append changes '(:session_id "s-1" :handle "reviewer" :state "idle")))

(ert-deftest hive-model-what-arrives-during-a-fetch-of-the-sessions-is-newer-than-the-list ()
  (hive-model-test-listing answer
    (hive-model-refresh-sessions)
    (hive-rpc-handle 'session/changed (hive-model-test-session :handle "renamed"))
    (hive-rpc-handle 'session/changed (hive-model-test-session :session_id "s-2" :handle "new"))
    (hive-rpc-handle 'session/changed (hive-model-test-session :session_id "s-3" :state "ended"))
    (funcall answer (list (hive-model-test-session) (hive-model-test-session :session_id "s-3")))
    (should (equal '("new" "renamed")
                   (mapcar (lambda (session) (plist-get session :handle)) (hive-model-sessions))))))

(ert-deftest hive-model-a-later-list-of-the-sessions-replaces-what-arrived-before-it ()
  (hive-model-test-listing answer
    (hive-model-refresh-sessions)
    (hive-rpc-handle 'session/changed (hive-model-test-session :handle "old"))
    (funcall answer nil)
    (hive-model-refresh-sessions)
    (funcall answer (list (hive-model-test-session)))
    (should (equal "reviewer" (plist-get (hive-model-session "s-1") :handle)))))

(ert-deftest hive-model-only-the-newest-fetch-of-the-sessions-counts ()
  (hive-model-test-listing answer
    (hive-model-refresh-sessions)
    (hive-model-refresh-sessions)
    (funcall answer (list (hive-model-test-session :handle "old")))
    (should-not (hive-model-sessions))
    (funcall answer (list (hive-model-test-session)))
    (should (equal "reviewer" (plist-get (hive-model-session "s-1") :handle)))))

(ert-deftest hive-model-a-failed-fetch-of-the-sessions-keeps-nothing ()
  (hive-model-test-listing answer
    (hive-model-refresh-sessions)
    (hive-rpc-handle 'session/changed (hive-model-test-session))
    (funcall answer nil '(:name invalid_input :text "no"))
    (should-not (hive-rpc-fetching 'session/list))
    (should (hive-model-session "s-1"))))
