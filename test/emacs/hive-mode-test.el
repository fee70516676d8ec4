;;; hive-mode-test.el --- The mode, its mode line, its sentences and its doctor  -*- lexical-binding: t; -*-

(require 'hive-test-help)

(ert-deftest hive-mode-line-counts-and-is-nothing-without-questions ()
  (hive-test-connected
    (hive-test-wait 2 (null hive-mode-line-text))
    (hive-test-call 'fake/ask nil)
    (hive-test-wait 2 (equal " hive 1" hive-mode-line-text))
    (hive-test-call 'fake/ask '(:urgency "critical"))
    (hive-test-wait 2 (equal " hive 2!" hive-mode-line-text))
    (should (eq 'hive-mode-line-critical (get-text-property 1 'face hive-mode-line-text)))
    (should (member '(:eval hive-mode-line-text) global-mode-string))
    (hive-mode -1)
    (hive-test-wait 2 (null hive-mode-line-text))
    (should-not (member '(:eval hive-mode-line-text) global-mode-string))))

(ert-deftest hive-mode-line-shows-that-the-sidecar-does-not-run ()
  (hive-test-with-desk nil
    (let ((hive-sidecar-command '("/no/such")))
      (hive-mode 1)
      (hive-test-wait 2 (equal " hive down" hive-mode-line-text)))))

(ert-deftest hive-mode-at-exit-sends-exit-and-waits-for-nothing ()
  (hive-test-connected
    (hive-test-without-waiting (run-hooks 'kill-emacs-hook))
    (setq hive-rpc--delay 60)
    (hive-test-wait 5 (not (hive-test-sidecars)))))

(ert-deftest hive-mode-sends-the-focus-once-and-only-if-it-is-known ()
  (hive-test-with-desk nil
    (let ((state 'unknown) (told nil))
      (cl-letf (((symbol-function 'frame-focus-state) (lambda (&rest _) state)))
        (hive-test-connect)
        (cl-letf (((symbol-function 'hive-rpc-request)
                   (lambda (method params &rest _) (push (list method (plist-get params :focused)) told))))
          (funcall after-focus-change-function)
          (should-not told)
          (setq state t)
          (funcall after-focus-change-function)
          (funcall after-focus-change-function)
          (setq state nil)
          (funcall after-focus-change-function))
        (should (equal (reverse told) '((desk/focus t) (desk/focus :json-false))))))))

(ert-deftest hive-mode-turned-on-twice-is-on-once ()
  (hive-test-connected
    (hive-mode 1)
    (should (= 1 (length (hive-test-sidecars))))
    (should (= 1 (cl-count '(:eval hive-mode-line-text) global-mode-string :test #'equal)))))

(ert-deftest hive-notify-announces-arrivals-once-and-together ()
  (hive-test-connected
    (let ((said nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (&rest args) (push (apply #'format-message args) said))))
        (hive-test-call 'fake/burst '(:count 50))
        (hive-test-wait 5 (= 50 (length (hive-prompts))))
        (hive-test-run-timers 2))
      (should (<= 1 (length said) 3))
      (should (string-match-p "Claude-abc12 (demo) asks: Question 0 x*.*M-x hive-next" (car (last said)))))))

(ert-deftest hive-notify-announces-as-much-of-a-question-as-the-frame-has-room-for ()
  (cl-letf* (((symbol-function 'frame-width) (lambda (&rest _) 80))
             (prompt (hive-test-prompt :question (make-string 200 ?x)))
             ((symbol-function 'hive-model-prompt) (lambda (_id) prompt))
             (hive-notify--arrived (list prompt)))
    (should (equal 79 (string-width (hive-notify--arrival))))
    (setq hive-notify--arrived (list prompt prompt))
    (should (equal 79 (string-width (hive-notify--arrival))))
    (should (string-search " (and 1 more)" (hive-notify--arrival)))))

(defmacro hive-mode-test-announced (questions &rest body)
  "Run BODY after `pending', the list QUESTIONS, was announced; `shown' is the echo area."
  (declare (indent 1))
  `(hive-test-with-desk nil
     (let ((shown nil) (now (hive-now)) (pending ,questions))
       (cl-letf (((symbol-function 'message)
                  (lambda (format &rest args) (setq shown (and format (apply #'format-message format args)))))
                 ((symbol-function 'current-message) (lambda () shown))
                 ((symbol-function 'hive-now) (lambda () (cl-incf now hive-notify--breath)))
                 ((symbol-function 'hive-model-prompt) (lambda (id) (hive-find :ask_id id pending))))
         (let ((hive-notify--arrived (copy-sequence pending))) (hive-notify--speak))
         ,@body))))

(ert-deftest hive-notify-clears-an-announcement-whose-questions-are-answered-elsewhere ()
  (hive-mode-test-announced (list (hive-test-prompt :ask_id "a") (hive-test-prompt :ask_id "b"))
    (should (string-search "(and 1 more)" shown))
    (pop pending)
    (run-hooks 'hive-changed-hook)
    (should (string-search "asks:" shown))
    (pop pending)
    (run-hooks 'hive-changed-hook)
    (should-not shown)
    ;; Any other line stays.
    (let ((hive-notify--lines '("Your build is done"))) (hive-notify--speak))
    (run-hooks 'hive-changed-hook)
    (should (equal shown "Your build is done"))))

(ert-deftest hive-notify-shows-a-line-below-an-announcement-that-holds ()
  (hive-mode-test-announced (list (hive-test-prompt :ask_id "a" :question "Which?"))
    (dolist (line '("No popups" "Your build is done"))
      (let ((hive-notify--lines (list line))) (hive-notify--speak))
      (should (string-match-p (concat "\\`.*asks: Which\\?.*\n" line "\\'") shown)))
    (pop pending)
    (run-hooks 'hive-changed-hook)
    (should (equal shown "Your build is done"))
    (let ((hive-notify--lines '("The tests are done"))) (hive-notify--speak))
    (should (equal shown "The tests are done"))))

(ert-deftest hive-notify-waits-while-the-human-is-busy ()
  (hive-test-with-desk nil
    (let ((said nil) (hive-notify--spoke 0))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said))))
        (let ((this-command 'query-replace))
          (hive-notify-say "%s" "Line with % and \\[undo]")
          (hive-test-run-timers 10)
          (should-not said))
        (hive-test-wait 2 said))
      (should (equal said '("Line with % and \\[undo]"))))))

(ert-deftest hive-notify-leaves-a-line-alone-until-it-can-be-read ()
  (hive-test-with-desk nil
    (let ((said nil) (now (hive-now)))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said)))
                ((symbol-function 'hive-now) (lambda () now)))
        (hive-notify-say "%s" "Your answer was not accepted")
        (hive-notify-say "%s" "Your build is done")
        (hive-notify--speak)
        (hive-notify--speak)
        (should (equal said '("Your answer was not accepted")))
        (setq now (+ now hive-notify--breath))
        (hive-notify--speak)
        (should (equal (car said) "Your build is done"))))))

(ert-deftest hive-notify-many-lines-neither-wait-long-nor-hold-up-stored-answers ()
  (hive-test-with-desk nil
    (let ((said nil) (now (hive-now)))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said)))
                ((symbol-function 'hive-now) (lambda () (cl-incf now hive-notify--breath))))
        (dotimes (n 30) (hive-notify-say "Line %d" n))
        (hive-notify--speak)
        (should (equal (number-sequence 0 27)
                       (mapcar (lambda (line) (string-to-number (substring line 5))) (reverse said))))
        (dotimes (n 4) (hive-notify-answered (format "Answered agent-%d: yes (stored)" n)))
        (hive-notify--speak)
        (should (equal (car said) "4 answers are stored"))
        (hive-notify--speak)
        (hive-notify--speak)
        (should (equal (car said) "Line 29"))))))

(ert-deftest hive-notify-counts-the-answers-that-are-stored-while-the-human-is-busy ()
  (hive-test-with-desk nil
    (let ((said nil) (now (hive-now)))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said)))
                ((symbol-function 'hive-now) (lambda () (cl-incf now hive-notify--breath))))
        (let ((this-command 'hive-next))
          (dotimes (n 30) (hive-notify-answered (format "Answered agent-%d: yes (stored)" n)))
          (hive-notify--speak)
          (should-not said))
        (hive-notify--speak)
        (should (equal (car said) "30 answers are stored"))
        ;; *Messages* has each answer.
        (should (equal "Answered agent-0: yes (stored)" (car (last said))))
        (should (= 31 (length said)))
        ;; Each of a few has a line of its own.
        (hive-notify-answered "Answered agent-31: yes (stored)")
        (hive-notify-answered "Answered agent-32: no (stored)")
        (hive-notify--speak)
        (should (equal (car said) "Answered agent-31: yes (stored)"))
        (hive-notify--speak)
        (should (equal (car said) "Answered agent-32: no (stored)"))))))

(ert-deftest hive-notify-keeps-for-a-busy-human-only-what-still-waits ()
  (hive-test-with-desk nil
    (let ((waiting (hive-test-prompt :ask_id "ask-2")))
      (cl-letf (((symbol-function 'hive-notify-busy-p) #'always)
                ((symbol-function 'hive-model-prompt)
                 (lambda (id) (and (equal id "ask-2") waiting)))
                (hive-notify--arrived (list (hive-test-prompt :ask_id "ask-3") waiting
                                            (hive-test-prompt :ask_id "ask-1"))))
        (hive-notify--speak)
        (should (equal (list waiting) hive-notify--arrived))))))

(ert-deftest hive-notify-does-not-announce-what-was-settled-or-snoozed-before ()
  (dolist (change '((:status "expired") (:snoozed_until "2999-01-01T00:00:00.000Z")))
    (hive-test-connected
      (let ((said nil) (id nil))
        (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said))))
          (let ((this-command 'query-replace))
            (setq id (plist-get (hive-test-call 'fake/ask nil) :ask_id))
            (hive-test-wait 5 (hive-prompts))
            (hive-test-call 'fake/change (append (list :ask_id id) change))
            (hive-test-wait 5 (let ((prompt (hive-model-prompt id)))
                                (or (not (hive-prompt-pending-p prompt)) (hive-prompt-snoozed-p prompt)))))
          (hive-test-run-timers 10))
        (should-not said)))))

(ert-deftest hive-notify-does-not-announce-what-the-human-has-opened-meanwhile ()
  (hive-test-connected
    (save-window-excursion
      (let ((said nil) (id nil))
        (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said))))
          (let ((this-command 'hive-next))
            (setq id (plist-get (hive-test-call 'fake/ask nil) :ask_id))
            (hive-test-wait 5 (hive-model-prompt id))
            (hive-prompt-show (hive-model-prompt id)))
          (hive-test-run-timers 10))
        (should-not (cl-find-if (lambda (line) (string-search " asks: " line)) said))))))

(ert-deftest hive-notify-shows-notices-of-the-sidecar ()
  (hive-test-connected
    (let ((said nil))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said))))
        (hive-test-call 'fake/tell '(:method "desk/notice" :params (:notice_id "n" :severity "warning" :text "A %s loop\nwas stopped")))
        (hive-test-wait 2 said))
      (should (equal said '("Hive: A %s loop was stopped"))))))

(ert-deftest hive-notify-names-the-agent-whose-answer-was-rejected ()
  (let ((hive-model--prompts (make-hash-table :test #'equal)) (said nil)
        (entry (lambda (id) (hive-outbox-entry-make :ask-id id :method "hivemind-response" :text "The disk is full."))))
    (puthash "ask-1" (hive-test-prompt :ask_id "ask-1" :agent "reviewer") hive-model--prompts)
    (cl-letf (((symbol-function 'hive-notify-say) (lambda (format &rest args) (push (apply #'format format args) said))))
      (hive-notify--rejected (funcall entry "ask-1"))
      (hive-notify--rejected (funcall entry "ask-2")))
    (should (string-match-p "Your answer to reviewer could not be stored: The disk is full" (cadr said)))
    (should (string-match-p "Your answer to ask-2 could not be stored" (car said)))))

(ert-deftest hive-lists-of-rules-and-phones-are-fetched-again-while-they-are-shown ()
  (let ((asked nil) (connected t))
    (save-window-excursion
      (cl-letf (((symbol-function 'hive-rpc-request) (lambda (method &rest _) (push method asked)))
                ((symbol-function 'hive-sidecar-connected-p) (lambda () connected))
                ((symbol-function 'hive-sidecar-demand) #'ignore))
        (unwind-protect
            (pcase-dolist (`(,command . ,method) '((hive-rules . rule/list) (hive-phone-list . phone/list)))
              (funcall command)
              (with-current-buffer (window-buffer) (revert-buffer))
              (should (equal (list method method) asked))
              (hive-test-run-timers 61)
              (should (equal (list method method method) asked))
              (setq connected nil)
              (hive-test-run-timers 61)
              (delete-other-windows)
              (switch-to-buffer "*scratch*")
              (setq connected t)
              (hive-test-run-timers 61)
              (should (equal (list method method method) asked))
              (setq asked nil))
          (dolist (name '("*hive rules*" "*hive phones*")) (hive-in-buffer name (kill-buffer))))))))

(ert-deftest hive-doctor-one-line-a-check-with-advice ()
  (hive-test-with-desk nil
    (save-window-excursion
      (hive-test-connect)
      (hive-outbox-add "elsewhere" "hivemind-response" '(:response_id "r" :store_id "store-2") "x")
      (hive-outbox-add "unknown" "hivemind-response" '(:ask_id "unknown" :response_id "s" :store_id "store-1" :decision "my words") "x")
      (hive-test-wait 5 (hive-outbox-entries 'rejected))
      (hive-doctor)
      (hive-test-wait 10 (string-match-p "it is a fake" (buffer-string)))
      (dolist (line (list "\\`7 checks: 4 ok, 0 not set up, 3 broken\\.\n\n"
                          "^  ok  Emacs +[0-9]"
                          "^  ok  Program +.*fake-sidecar"
                          "^  ok  Sidecar +fake 0, protocol 1"
                          "^FAIL  Outbox +1 unsent, 1 rejected"
                          "^FAIL  Rejected +unknown: \"my words\"\n +→ There is no question unknown"
                          "^FAIL  Fake +it is a fake\n +→ use the real one"))
        (should (string-match-p line (buffer-string))))
      ;; The sidecar checks its own Node and store; each is there once.
      (should-not (string-match-p "Node.js\\|store-1" (buffer-string)))
      ;; Long lines go on below their text, between two words.
      (should word-wrap)
      (goto-char (point-min))
      (search-forward "Fake  ")
      (skip-chars-forward " ")
      (should (= (current-column) (length (get-text-property (point) 'wrap-prefix)))))))

(ert-deftest hive-doctor-that-is-run-again-at-once-has-each-check-once ()
  (hive-test-with-desk nil
    (save-window-excursion
      (hive-test-connect)
      (dotimes (_ 3) (hive-doctor))
      (goto-char (point-min))
      (should (looking-at ".* broken\\.  Still checking…\n"))
      ;; The replies come in order.
      (hive-test-call 'fake/environment)
      (should (= 1 (how-many "^FAIL  Fake" (point-min) (point-max)))))))

(ert-deftest hive-doctor-does-not-call-what-is-not-set-up-ok ()
  (with-temp-buffer
    (hive-doctor--insert (hive-doctor-check "Codex" 'not-set-up "it cannot ask"
                                            "run: hive init codex"))
    (should (equal "  --  Codex              not set up: it cannot ask\n        → run: hive init codex\n"
                   (buffer-string)))
    ;; A long line continues between words, and below its text.
    (should (equal (make-string 25 ?\s) (get-text-property (point-min) 'wrap-prefix)))
    (hive-doctor-mode)
    (should word-wrap)))

(defvar server-name)
(defvar server-process)
(ert-deftest hive-doctor-a-server-of-this-emacs-is-a-risk-and-not-broken ()
  (let ((server-process (start-process "server" nil "cat")) (server-name "work"))
    (unwind-protect
        (pcase-dolist (`(,daemon . ,advice) '((nil . "Sandbox your agents, or stop the server with M-x server-force-delete\n")
                                              ;; Without its server, nothing reaches a daemon.
                                              ("work" . "Sandbox your agents\n")))
          (cl-letf (((symbol-function 'daemonp) (lambda () daemon)))
            (with-temp-buffer
              (let ((check (hive-doctor--server)))
                (hive-doctor--insert check)
                (should (string-prefix-p "note  Emacs server       running as \"work\"\n" (buffer-string)))
                (should (string-suffix-p advice (buffer-string)))
                (should (string-match-p "1 check: 1 ok, 0 not set up, 0 broken" (hive-doctor--summary (list check))))))))
      (delete-process server-process))
    (should (eq 'ok (hive-doctor-check-state (hive-doctor--server))))))

(ert-deftest hive-doctor-wants-the-whole-version-of-node ()
  (should (equal '(t nil nil t t nil nil)
                 (mapcar (lambda (said) (and (hive-doctor--node-p said) t))
                         '("v24.15.0\n" "v24.14.9\n" "v22.99.0\n" "v25.0.0-nightly\n" "v24.100.1"
                           "24.15.0" "")))))

(ert-deftest hive-doctor-says-what-is-missing ()
  (hive-test-with-desk nil
    (save-window-excursion
      (let ((hive-sidecar-command nil) (exec-path '("/nonexistent")))
        (hive-mode 1)
        (hive-doctor)
        (should (looking-at ".* [3-9] broken\\.\n"))
        (dolist (line '("^FAIL  Program +the program .hive. was not found; install it with M-x hive-install-sidecar"
                        "^FAIL  Sidecar +failed: " "^FAIL  Node.js +not found\n +→ Hive needs Node.js 24\\.15\\.0 or newer"))
          (should (string-match-p line (buffer-string))))))))
