;;; hive-interrupt-test.el --- Stopping agents from Emacs  -*- lexical-binding: t; -*-

;; Tags: undisturbed provenance

(require 'hive-test-help)

(require 'hive-interrupt)

(defun hive-interrupt-test-turn (session &rest fields)
  "Return a turn of SESSION that is in progress, with FIELDS instead of the defaults."
  (append fields
          (list :turn_id (concat "turn-" session) :session_id session :agent (concat "Codex-" session)
                :project "demo" :state "in_progress" :started_at (hive-text-now)
                :tool nil :tool_since nil :sentence "task running" :interrupts [])))

(defun hive-interrupt-test-tell (turn)
  "Let the sidecar send TURN."
  (hive-test-call 'fake/tell (list :method "turn/changed" :params turn)))

(defmacro hive-interrupt-test (result &rest body)
  "Run BODY while an interrupt is answered by RESULT; `said' collects the messages."
  (declare (indent 1))
  `(hive-test-with-desk nil
     (clrhash hive-interrupt--requests)
     (hive-test-hearing said
       (hive-test-connect)
       (clrhash hive-interrupt--newest)
       (hive-test-call 'fake/result (list :method "turn/interrupt" :result ,result))
       ,@body)))

(defun hive-interrupt-test-called ()
  "Return the params of the interrupts that the sidecar received."
  (delq nil (mapcar (lambda (record) (plist-get (plist-get record :called) :params)) (hive-test-state))))

(ert-deftest hive-interrupt-offers-running-turns-and-reports-the-outcome ()
  (hive-interrupt-test '(:outcome "aborted" :sentence "task interrupted by Ada")
    (hive-interrupt-test-tell (hive-interrupt-test-turn "a" :tool "Bash%s" :tool_since (hive-text-now)))
    (hive-interrupt-test-tell (hive-interrupt-test-turn "b"))
    (hive-test-wait 5 (= 2 (length (hive-turns-running))))
    (should (string-match-p "\\`Bash%s for [0-9]+s" (hive-turns-doing (gethash "a" hive-interrupt--newest))))
    (let ((asked (hive-test-with-inputs (list "Codex-b" "wrong\u202E way") (call-interactively #'hive-interrupt))))
      (should (equal '("Codex-a" "Codex-b") (sort (cdr (nth 1 asked)) #'string<))))
    (hive-test-wait 5 said)
    (should (equal '("Codex-b: task interrupted by Ada") said))
    (let ((params (car (hive-interrupt-test-called))))
      (should (equal "b" (plist-get params :session_id)))
      (should (equal "Ada" (plist-get params :by)))
      (should (equal "wrong\u202E way" (plist-get params :note)))
      ;; The same notification again shows no second message.
      (hive-interrupt-test-tell
       (hive-interrupt-test-turn "b" :state "aborted" :sentence "task interrupted by Ada"
                                 :interrupts (vector (list :interrupt_id (plist-get params :interrupt_id)
                                                           :state "answered" :outcome "aborted"
                                                           :sentence "task interrupted by Ada"))))
      (hive-test-wait 5 (= 1 (length (hive-turns-running))))
      (should (= 1 (length said))))))

(ert-deftest hive-interrupt-a-half-typed-reason-is-there-again ()
  (hive-interrupt-test '(:outcome "aborted" :sentence "stopped")
    (hive-interrupt-test-tell (hive-interrupt-test-turn "a"))
    (hive-interrupt-test-tell (hive-interrupt-test-turn "b"))
    (hive-test-wait 5 (= 2 (length (hive-turns-running))))
    (cl-flet ((quits ()
                (with-temp-buffer
                  (run-hooks 'minibuffer-setup-hook)
                  (insert "wrong ")
                  (run-hooks 'minibuffer-exit-hook))
                (signal 'quit nil))
              (ends () (concat hive-read-typed "branch")))
      (hive-test-with-inputs (list "Codex-a" #'quits)
        (condition-case nil (call-interactively #'hive-interrupt) (quit nil)))
      ;; It is for that agent only, and only until it is sent.
      (dolist (agent '("Codex-b" "Codex-a" "Codex-a"))
        (hive-test-with-inputs (list agent #'ends) (call-interactively #'hive-interrupt))))
    (hive-test-wait 5 (= 3 (length (hive-interrupt-test-called))))
    (should (equal '("branch" "wrong branch" "branch")
                   (mapcar (lambda (params) (plist-get params :note)) (hive-interrupt-test-called))))
    (should-not (directory-files hive-drafts-directory nil "txt\\'"))))

(ert-deftest hive-interrupt-chooses-nobody-by-itself-unless-a-session-is-here ()
  (hive-interrupt-test nil
    (hive-interrupt-test-tell (hive-interrupt-test-turn "a" :agent_title "Fix the date"))
    (hive-interrupt-test-tell (hive-interrupt-test-turn "b" :agent_title "shop 2" :project "shop"))
    (hive-test-wait 5 (= 2 (length (hive-turns-running))))
    (let ((shown (mapcar #'hive-interrupt--annotation (hive-turns-running))))
      ;; Each has what tells it from the others.
      (should (string-match-p "demo  running .*Codex-a" (car shown)))
      (should (string-match-p "shop  running .*Codex-b" (cadr shown))))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (prompt _table &rest more)
                 (push (list prompt (nth 4 more)) said)
                 (or (nth 4 more) ""))))
      (should-error (hive-interrupt--read "Interrupt" (hive-turns-running) 'interrupt-none)
                    :type 'user-error)
      (should (equal '("Interrupt: " nil) (pop said)))
      (with-temp-buffer
        (setq-local hive-prompt-at-point-function (lambda () '(:session_id "b")))
        (should (equal "b" (plist-get (hive-interrupt--read "Interrupt" (hive-turns-running) 'interrupt-none)
                                      :session_id)))
        (should (equal '("Interrupt (default shop 2): " "shop 2") (pop said)))))))

(ert-deftest hive-interrupt-takes-a-handle-that-is-typed ()
  (let ((table (hive-read-or-handle (hive-read-table '(("shop") ("shop 2")) 'hive-turn #'identity)
                                    '("Claude-aa" "Claude-ab"))))
    (should (equal '("shop" "shop 2") (all-completions "" table)))
    (should (equal "shop" (try-completion "s" table)))
    (should (equal "Claude-a" (try-completion "Cl" table)))
    (should (test-completion "Claude-ab" table))
    (should-not (test-completion "Claude-a" table))))

(ert-deftest hive-interrupt-never-offers-a-turn-that-has-ended ()
  (let ((hive-interrupt--newest (make-hash-table :test #'equal))
        (hive-interrupt--ended (make-hash-table :test #'equal))
        (turn '(:turn_id "turn-1" :session_id "s-1" :agent "reviewer" :state "in_progress"))
        (next '(:turn_id "turn-2" :session_id "s-1" :agent "reviewer" :state "in_progress")))
    (hive-rpc-handle 'turn/changed turn)
    (should (equal (list turn) (hive-turns-running)))
    (hive-rpc-handle 'turn/changed (plist-put (copy-sequence turn) :state "completed"))
    ;; A list that was made before the turn ended arrives after that.
    (hive-interrupt--remember-listed (list (list :session_id "s-1" :handle "reviewer" :turn turn)))
    (should-not (hive-turns-running))
    (hive-rpc-handle 'turn/changed next)
    (should (equal (list next) (hive-turns-running)))))

(ert-deftest hive-interrupt-what-arrives-during-a-fetch-is-newer-than-the-list ()
  (let ((hive-interrupt--newest (make-hash-table :test #'equal))
        (hive-interrupt--ended (make-hash-table :test #'equal))
        (hive-model--sessions (make-hash-table :test #'equal))
        (hive-rpc--fetches (make-hash-table :test #'equal))
        (turn (lambda (session state)
                (list :turn_id (concat "turn-of-" session) :session_id session
                      :agent session :state state)))
        (reply nil))
    (cl-letf (((symbol-function 'hive-rpc-request)
               (cl-function (lambda (_method _params &key success &allow-other-keys)
                              (setq reply success)))))
      (hive-model-refresh-sessions))
    (hive-rpc-handle 'turn/changed (funcall turn "began" "in_progress"))
    (hive-rpc-handle 'turn/changed (funcall turn "ended" "completed"))
    (funcall reply (list :sessions (vector (list :session_id "began" :handle "began")
                                           (list :session_id "ended" :handle "ended"
                                                 :turn (funcall turn "ended" "in_progress")))))
    (should (equal (list (funcall turn "began" "in_progress")) (hive-turns-running)))))

(ert-deftest hive-interrupt-fetches-the-turns-again-when-events-were-missed ()
  (let ((asked nil) (hive-rpc--fetches (make-hash-table :test #'equal)))
    (cl-letf (((symbol-function 'hive-rpc-request) (lambda (method &rest _) (push method asked))))
      (hive-rpc-handle 'desk/resync nil))
    (should (memq 'session/list asked))))

(ert-deftest hive-interrupt-reports-unconfirmed-and-the-end-later ()
  (hive-interrupt-test '(:outcome "unconfirmed" :sentence "no confirmation within 60 s")
    (hive-interrupt-session "a" "Codex-a")
    (hive-test-wait 5 said)
    (should (equal '("Codex-a: no confirmation within 60 s") said))
    (hive-interrupt-test-tell
     (hive-interrupt-test-turn "a" :state "aborted" :sentence "task interrupted by Ada"
                               :interrupts (vector (list :interrupt_id (plist-get (car (hive-interrupt-test-called)) :interrupt_id)
                                                         :state "answered" :outcome "aborted"
                                                         :sentence "task interrupted by Ada; 1 open question was cancelled with it"))))
    (hive-test-wait 5 (cdr said))
    (should (equal "Codex-a: task interrupted by Ada; 1 open question was cancelled with it" (car said)))))

(ert-deftest hive-interrupt-the-outcome-is-reported-after-a-restart-of-either ()
  (hive-interrupt-test nil
    ;; The sidecar dies while the request is open.
    (hive-test-call 'fake/plan '(:method "turn/interrupt" :outcomes ["die"]))
    (hive-interrupt-session "a" "Codex-a")
    (hive-test-wait 10 (not (hive-sidecar-connected-p)))
    (should-not said)
    (let ((id (car (hash-table-keys hive-interrupt--requests))))
      (hive-test-wait 10 (hive-sidecar-connected-p))
      (hive-test-call 'fake/result
                      (list :method "session/list" :result
                            (list :sessions
                                  (vector (list :handle "Codex-a" :project "demo" :state "ended" :turn
                                                (hive-interrupt-test-turn
                                                 "a" :state "completed"
                                                 :interrupts (vector (list :interrupt_id id :state "answered"
                                                                           :outcome "completed"
                                                                           :sentence "task completed before the interrupt reached it"))))))))
      (hive-model-refresh-sessions)
      (hive-test-wait 5 said)
      (should (equal '("Codex-a: task completed before the interrupt reached it") said)))
    ;; A new Emacs continues with the requests of this human.
    (clrhash hive-interrupt--requests)
    (cl-loop for (state . sentence) in '(("pending") ("withdrawn" . "the interrupt was withdrawn"))
             do (hive-interrupt-test-tell
                 (hive-interrupt-test-turn "b" :interrupts (vector (list :interrupt_id "i-1" :by "Ada" :via "emacs"
                                                                         :state state :sentence sentence)))))
    (hive-test-wait 5 (cdr said))
    (should (equal "Codex-b: the interrupt was withdrawn" (car said)))))

(ert-deftest hive-interrupt-a-refusal-is-reported ()
  (hive-interrupt-test nil
    (hive-test-call 'fake/plan '(:method "turn/interrupt"
                                 :outcomes [(:code -32002 :message "no_turn: Codex-a is idle; nothing to interrupt.")]))
    (hive-interrupt-session "a" "Codex-a")
    (hive-test-wait 5 said)
    ;; The sentence names the agent, so nothing else does.
    (should (equal '("Hive: Codex-a is idle; nothing to interrupt.") said))
    (hive-test-call 'fake/plan '(:method "turn/interrupt"
                                 :outcomes [(:code -32002 :message "store_full: The disk is full.")]))
    (hive-interrupt-session "a" "Codex-a")
    (hive-test-wait 5 (cdr said))
    (should (equal "Hive could not interrupt Codex-a: The disk is full." (car said)))))

(ert-deftest hive-interrupt-all-says-when-no-agent-was-running ()
  (should (equal "No agent was running" (hive-interrupt--summary nil))))

(ert-deftest hive-interrupt-all-asks-once-and-summarizes ()
  (hive-interrupt-test nil
    (hive-test-call 'fake/result
                    '(:method "turn/interrupt_all" :result
                      (:outcomes [(:handle "A-1" :outcome "aborted" :sentence "x")
                                  (:handle "B-2" :outcome "completed" :sentence "task completed before")
                                  (:handle "C-3" :outcome nil :sentence "It said no.")])))
    (hive-interrupt-test-tell (hive-interrupt-test-turn "a"))
    (hive-test-wait 5 (hive-turns-running))
    (let ((asked 0))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) (setq asked (1+ asked)))))
        (call-interactively #'hive-interrupt-all))
      (should (= 1 asked)))
    (hive-test-wait 5 said)
    (should (equal '("1 of 3 agents stopped; B-2: task completed before; C-3: It said no.") said))))

(ert-deftest hive-interrupt-says-so-if-no-agent-is-running ()
  (hive-interrupt-test nil
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) (ert-fail "asked for nothing"))))
      (dolist (command '(hive-interrupt hive-interrupt-all))
        (should (equal "No agents are running"
                       (cadr (should-error (call-interactively command) :type 'user-error))))))))

(ert-deftest hive-interrupt-all-says-whom-when-there-is-one ()
  (hive-interrupt-test nil
    (let ((asked nil))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) nil)))
        (hive-interrupt-test-tell (hive-interrupt-test-turn "a"))
        (hive-test-wait 5 (hive-turns-running))
        (hive-interrupt-all)
        (hive-interrupt-test-tell (hive-interrupt-test-turn "b"))
        (hive-test-wait 5 (= 2 (length (hive-turns-running))))
        (hive-interrupt-all))
      (should (equal '("Interrupt all 2 running agents? " "Interrupt the one running agent (Codex-a)? ") asked)))))

;;;; Taking it back

(defun hive-interrupt-test-stop (id state)
  "Return the interrupts of a turn; the one with ID has STATE."
  (vector (list :interrupt_id id :by "Ada" :via "emacs" :state state
                :sentence (unless (equal state "pending") (concat "the interrupt was " state)))))

(ert-deftest hive-interrupt-withdraw-offers-those-that-were-asked-and-says-that-it-is-done ()
  (hive-interrupt-test nil
    (hive-test-call 'fake/result '(:method "turn/cancel_interrupt" :result (:withdrawn [(:interrupt_id "i-2")])))
    (hive-interrupt-test-tell (hive-interrupt-test-turn "a"))
    (hive-interrupt-test-tell (hive-interrupt-test-turn "b" :interrupts (hive-interrupt-test-stop "i-1" "answered")))
    (hive-test-wait 5 (= 2 (length (hive-turns-running))))
    (should (equal "No interrupt is pending"
                   (cadr (should-error (let ((current-prefix-arg '(4))) (call-interactively #'hive-interrupt)) :type 'user-error))))
    (hive-interrupt-test-tell (hive-interrupt-test-turn "c" :interrupts (hive-interrupt-test-stop "i-2" "pending")))
    (hive-test-wait 5 (= 3 (length (hive-turns-running))))
    (let ((asked (hive-test-with-inputs (list "Codex-c") (let ((current-prefix-arg '(4))) (call-interactively #'hive-interrupt)))))
      ;; The only one need not be typed.
      (should (equal '("Withdraw the interrupt for (default Codex-c): " "Codex-c") (car asked))))
    (hive-test-wait 5 said)
    (hive-interrupt-test-tell (hive-interrupt-test-turn "d" :interrupts (hive-interrupt-test-stop "i-3" "pending")))
    (hive-test-wait 5 (= 4 (length (hive-turns-running))))
    ;; Nothing about interrupting, because this is the opposite.
    (hive-test-with-inputs (list "")
      (should (equal "No agent was chosen: type or choose the title of one"
                     (cadr (should-error (let ((current-prefix-arg '(4))) (call-interactively #'hive-interrupt))
                                         :type 'user-error)))))
    ;; That it was withdrawn is notified as well, and shown once.
    (hive-interrupt-test-tell (hive-interrupt-test-turn "c" :interrupts (hive-interrupt-test-stop "i-2" "withdrawn")))
    (hive-test-call 'fake/ask nil)
    (should (equal '("Withdrew the interrupt for Codex-c") said))))

(ert-deftest hive-interrupt-withdraw-that-fails-is-reported-and-changes-nothing ()
  (hive-interrupt-test nil
    (hive-test-call 'fake/plan '(:method "turn/cancel_interrupt"
                                 :outcomes [(:code -32002 :message "store_busy: The store is busy.")]))
    (let ((turn (hive-interrupt-test-turn "c" :interrupts (hive-interrupt-test-stop "i-2" "pending"))))
      (hive-interrupt-test-tell turn)
      (hive-test-wait 5 (hive-turns-running))
      (hive-interrupt-withdraw turn)
      (hive-test-wait 5 said)
      (should (equal '("Hive could not withdraw the interrupt: The store is busy.") said))
      (should (equal "Codex-c" (gethash "i-2" hive-interrupt--requests))))))
