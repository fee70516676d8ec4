;;; hive-status-test.el --- What needs the human and what the agents do, in one buffer  -*- lexical-binding: t; -*-

;; Tags: undisturbed

(require 'cl-lib)
(require 'ert)
(require 'hive-list)
(require 'hive-list-test-help)
(require 'hive-menu)
(require 'hive-shared-test-help)

(defmacro hive-status-test-with (&rest body)
  "Run BODY in the status buffer of a desk with two agents, abc12 and def34."
  (declare (indent 0) (debug t))
  `(hive-shared-test-with
     (save-window-excursion
       (delete-other-windows)
       (hive)
       (hive-status-test-wait "▾ Idle and done  2 agents")
       ,@body)))

(defun hive-status-test-text ()
  "Return the text of the buffer."
  (with-current-buffer "*hive*" (buffer-substring-no-properties (point-min) (point-max))))

(defun hive-status-test-wait (regexp)
  "Wait until the buffer matches REGEXP."
  (condition-case nil (hive-test-wait 10 (string-match-p regexp (hive-status-test-text)))
    (ert-test-failed (ert-fail (list "the buffer does not match" regexp (hive-status-test-text))))))

(defun hive-status-test-outline ()
  "Return the headings of the buffer, without what they count."
  (cl-loop for line in (split-string (hive-status-test-text) "\n")
           when (string-match "\\`[ >]\\([▾▸] .*?\\)  " line) collect (match-string 1 line)))

(defun hive-status-test-ask (&rest fields)
  "Put a question with FIELDS into the model, and update what shows it."
  (hive-model-put-prompt (apply #'hive-test-prompt fields))
  (hive-model--run-changed))

(defun hive-status-test-go (id)
  "Go to the line of ID."
  (set-buffer "*hive*")
  (goto-char (or (hive-list--position id) (ert-fail (list "no line of" id (buffer-string))))))

(defun hive-status-test-work (handle)
  "Let HANDLE begin a turn; return its id."
  (plist-get (hive-shared-test-do "work" :from handle) :turn_id))

;;;; Sections

(ert-deftest hive-status-has-its-sections-in-their-order ()
  (hive-status-test-with
    (should (equal '("▾ Idle and done") (hive-status-test-outline)))
    (hive-shared-test-do "join" :session_id "zzz99-session")
    (hive-shared-test-do "ask" :from "Claude-zzz99" :question "Left open?")
    (hive-shared-test-do "end" :from "Claude-zzz99")
    (hive-status-test-work "Claude-abc12")
    (hive-shared-test-do "ask" :from "Claude-def34" :question "Which?")
    (hive-shared-test-post "@Human look")
    (hive-shared-test-post "@Claude-def34 hello")
    (hive-status-test-wait "▸ Ended")
    (hive-status-test-wait "▾ The room")
    (hive-status-test-wait "▾ Working")
    (should (equal '("▾ Needs you" "▾ Working" "▾ Idle and done" "▾ The room" "▸ Ended")
                   (hive-status-test-outline)))
    ;; The agent that mentions the human waits as one that asks does.
    (hive-status-test-wait "▾ Needs you  1 question, 1 mention\n.* demo 2 .* Which\\?\n.* mentions you: @Human look\n")
    (hive-status-test-wait "▾ Working  1 agent\n.* demo .* running\n")
    (hive-status-test-wait "▾ Idle and done  1 agent\n.* demo 2 .* 1 question\n")
    (hive-status-test-wait "▸ Ended  1 agent, 1 open question; C cancels them")))

(ert-deftest hive-status-shows-what-blocks-an-agent-first-and-only-what-is-for-me ()
  (hive-list-test
    (hive)
    (hive-status-test-ask :ask_id "late" :urgency "critical" :question "Critical?")
    (hive-status-test-ask :ask_id "stuck" :kind "permission" :question "May I?"
                          :blocked_since (hive-test-time -60))
    (hive-status-test-ask :ask_id "other" :question "Not mine?" :to "Bob" :mine :json-false)
    (should (equal '("stuck" "late")
                   (mapcar (lambda (prompt) (plist-get prompt :ask_id)) hive-list--shown)))
    (should (string-match-p "perm .*blocked for 1m  May I\\?\n.*Critical" (hive-status-test-text)))
    (should-not (string-search "Not mine?" (hive-status-test-text)))
    ;; The list has everybody's.
    (hive-list)
    (should (string-search "Not mine?" (hive-status-test-text)))))

(ert-deftest hive-status-says-which-tool-runs-and-since-when ()
  (hive-status-test-with
    (let ((turn (list :turn_id "turn-1" :session_id "abc12-session" :state "in_progress" :section "working"
                      :started_at (hive-test-time -300) :sentence "task running")))
      (hive-rpc-handle 'turn/changed turn)
      (hive-status-test-wait "▾ Working .*\n.* demo .* 5m running\n")
      (hive-rpc-handle 'turn/changed (append (list :tool "Bash" :tool_since (hive-test-time -120))
                                             turn))
      (hive-status-test-wait " demo .* 5m Bash for 2m\n"))))

(ert-deftest hive-status-asks-what-agents-do-while-one-works-and-it-is-shown ()
  (hive-status-test-with
    (let ((asked 0))
      (cl-letf (((symbol-function 'hive-model-refresh-sessions) (lambda () (cl-incf asked))))
        (cl-flet ((pass () (hive-list--tick) (hive-test-pass 1)))
          (pass)
          (should (= 0 asked))
          (hive-status-test-work "Claude-abc12")
          (hive-status-test-wait "▾ Working  1 agent")
          (pass)
          (should (= 1 asked))
          (switch-to-buffer "*scratch*")
          (hive-test-pass 31)
          (should (= 1 asked)))))))

(ert-deftest hive-status-names-the-author-of-a-message-as-its-agent-is-called-now ()
  (hive-status-test-with
    (hive-shared-test-post "@Human look")
    (hive-status-test-wait " demo .* mentions you: @Human look\n")
    (hive-rpc-handle 'session/changed
                     (plist-put (copy-sequence (hive-model-session "abc12-session")) :title "Date picker"))
    (hive-status-test-wait " Date picker .* mentions you: @Human look\n")))

(ert-deftest hive-status-a-mention-of-you-is-replied-to-where-it-is-shown ()
  (hive-status-test-with
    (hive-shared-test-post "@Human look")
    (hive-status-test-wait "▾ Needs you  1 mention\n")
    (goto-char (point-min))
    (search-forward "mentions you")
    (hive-list-test-key "a")
    (should (equal "*hive-shared: demo*" (buffer-name)))
    (should (equal "@Human look" (plist-get hive-shared-reply-to :body)))))

(ert-deftest hive-status-shows-what-an-agent-said-last ()
  (hive-status-test-with
    (let ((turn (list :turn_id "turn-1" :session_id "abc12-session"
                      :started_at (hive-test-time -300)
                      :last_words "All tests pass.\nThe \u202e cache is next.")))
      (hive-rpc-handle 'turn/changed (append '(:state "in_progress" :section "working") turn))
      ;; Of one that works the end, and all of it is text of an agent.
      (hive-status-test-wait "5m running  It said: All tests pass. The <U\\+202E> cache is next\\.\n")
      (hive-rpc-handle 'turn/changed
                       (append (list :state "completed" :ended_at (hive-test-time 0)
                                     :sentence "task completed")
                               turn))
      ;; Of one that is done the first line, in place of how it ended.
      (hive-status-test-wait "▾ Idle and done .*\n\\(?:.*\n\\)?.* demo .*[sm] +All tests pass\\.\n")
      (should-not (string-search "task completed" (hive-status-test-text)))
      (hive-rpc-handle 'turn/changed
                       (append (list :state "aborted" :ended_at (hive-test-time 0)
                                     :sentence "task interrupted by Ada")
                               turn))
      (hive-status-test-wait "task interrupted by Ada  All tests pass\\.\n"))))

(ert-deftest hive-status-the-list-and-the-sessions-are-views-of-the-same-buffer ()
  (hive-status-test-with
    (hive-shared-test-do "ask" :from "Claude-def34" :question "Which?")
    (hive-status-test-wait "▾ Needs you")
    (hive-list-test-key "6")
    (should (equal '("▾ Idle and done") (hive-status-test-outline)))
    (hive-list-test-key "1")
    (should (string-search "Which?" (hive-status-test-text)))
    (should-not (string-search "Idle and done" (hive-status-test-text)))
    (hive-list-test-key "0")
    (should (equal '("▾ Needs you" "▾ Idle and done") (hive-status-test-outline)))
    (hive-sessions)
    (should (equal "*hive*" (buffer-name)))
    (should (equal '("▾ Idle and done") (hive-status-test-outline)))
    ;; Left and opened again, each shows what it is about.
    (hive-list-quit)
    (hive)
    (should (equal '("▾ Needs you" "▾ Idle and done") (hive-status-test-outline)))))

;;;; Unread lines

(ert-deftest hive-status-a-turn-that-ended-is-unread-until-its-line-is-opened ()
  (hive-status-test-with
    (let ((turn (hive-status-test-work "Claude-abc12")))
      (hive-status-test-wait "▾ Working  1 agent")
      (hive-shared-test-do "rest" :turn_id turn))
    (hive-status-test-wait "▾ Idle and done  2 agents (1 unread)\n • demo .* task completed\n   demo 2")
    (hive-status-test-go '(session . "abc12-session"))
    (save-window-excursion (hive-list-test-key "RET") (kill-buffer))
    (hive-status-test-wait "▾ Idle and done  2 agents\n   demo ")
    ;; One that had ended before Emacs knew it is not news.
    (hive-model-refresh-sessions)
    (hive-test-pass 1)
    (should-not (string-search "•" (hive-status-test-text)))))

(ert-deftest hive-status-a-message-is-unread-until-its-buffer-is-shown ()
  (hive-status-test-with
    (hive-shared-test-post "first")
    (hive-shared-test-post "second")
    (hive-status-test-wait "▾ The room  1\n • .*2 unread messages; the last: second\n")
    (goto-char (point-min))
    (search-forward "2 unread")
    (hive-list-test-key "RET")
    (should (equal "*hive-shared: demo*" (buffer-name)))
    (run-hook-with-args 'window-buffer-change-functions (selected-window))
    (hive-status-test-wait "\\`[^•]*\\'")
    ;; A message that is posted while it is shown is read.
    (hive-shared-test-ready)
    (hive-shared-test-post "third")
    (hive-shared-test-wait-for "third")
    (should (zerop (hash-table-count hive-shared-unread)))))

(ert-deftest hive-status-says-which-agents-have-open-mentions ()
  (hive-status-test-with
    (hive-shared-test-post "@Claude-def34 hello")
    (hive-status-test-wait "▾ The room .*\n.* demo 2 .* has 1 open mention\n")
    (goto-char (point-min))
    (search-forward "has 1 open mention")
    (hive-list-test-key "RET")
    (should (equal "*hive-mentions: Claude-def34*" (buffer-name)))))

;;;; Loops

(defun hive-status-test-loop ()
  "Let the two agents reply to each other until they are stopped."
  (dotimes (n 8)
    (hive-shared-test-do "post" :from (if (cl-evenp n) "Claude-abc12" "Claude-def34")
                         :body (if (cl-evenp n) "@Claude-def34 thanks" "@Claude-abc12 no, thank you")))
  (hive-test-wait 10 hive-loops)
  (hive-status-test-wait "▾ Needs you  1 stopped loop\n.* demo and demo 2 .*keep replying to each other (.*); RET decides"))

(defun hive-status-test-decide (key &optional begin)
  "Go to the line of the loop, and decide with KEY after BEGIN, by default RET."
  (hive-status-test-go (hive-row-id (cl-find 'loop (hive-sessions-rows t) :key (lambda (row) (car (hive-row-id row))))))
  (let ((said nil))
    (cl-letf (((symbol-function 'read-char-choice) (lambda (prompt &rest _) (setq said prompt) key)))
      (hive-list-test-key (or begin "RET")))
    (should (string-match-p
             "demo and demo 2 keep replying to each other\\.  \\[c\\] let them continue  \\[m\\] mute this pair  \\[w\\] write to them  \\[l\\] later "
             said))))

(defun hive-status-test-states ()
  "Return the states of the loops in the store."
  (mapcar (lambda (loop) (plist-get loop :state))
          (append (plist-get (hive-test-call 'mention/loops) :loops) nil)))

(ert-deftest hive-status-a-loop-is-decided-on-where-it-is-shown ()
  (hive-status-test-with
    (hive-status-test-loop)
    (should (equal "Hive: 0 pending; 1 loop stopped" (hive-menu--state)))
    (hive-status-test-decide ?l "a")
    (should hive-loops)
    (hive-status-test-decide ?m)
    (hive-test-wait 10 (null hive-loops))
    (should (equal '("muted") (hive-status-test-states)))
    (should-not (string-search "RET decides" (hive-status-test-text)))))

(ert-deftest hive-status-a-word-of-mine-ends-a-loop ()
  (hive-status-test-with
    (hive-status-test-loop)
    (save-window-excursion
      (hive-status-test-decide ?w)
      (should (equal "*hive-shared: demo*" (buffer-name)))
      (should (string-match-p "\\`@Claude-[a-z0-9]+ @Claude-[a-z0-9]+ \\'" (hive-shared-draft)))
      (insert "that is enough")
      (hive-shared-post))
    (hive-test-wait 10 (null hive-loops))
    (should-not (hive-status-test-states))))

(ert-deftest hive-status-the-notice-of-a-loop-has-its-actions ()
  (hive-status-test-with
    (hive-status-test-loop)
    (save-window-excursion
      (hive-notices)
      (should (string-search "  demo and demo 2: [let them continue] [mute this pair] [write to them]\n" (buffer-string)))
      (search-forward "[let them")
      (push-button)
      (hive-test-wait 10 (null hive-loops))
      ;; A loop that was decided is offered no more.
      (should-not (string-search "[let them" (buffer-string)))
      (kill-buffer))
    (should-not (hive-status-test-states))))

;;;; Keys

(ert-deftest hive-status-a-answers-with-the-keys-of-hive-next ()
  (hive-list-test-desk '((:ask_id "p1" :question "Ship it?" :options [(:label "yes") (:label "no")])
                         (:ask_id "p2" :question "And this?" :options [(:label "yes") (:label "no")]))
    (hive)
    (hive-status-test-go "p2")
    (let ((shown nil) (keys (list ?2)))
      (cl-letf (((symbol-function 'hive-keys-read)
                 (lambda (text &rest _) (push text shown) (pop keys))))
        (hive-list-test-key "a"))
      ;; Only the question at point.
      (should (= 1 (length shown)))
      (should (string-search "And this?" (car shown))))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal ["no"] (plist-get (car (hive-test-answers)) :selected)))
    (hive-test-wait 5 (= 1 (length hive-list--shown)))))

(ert-deftest hive-status-a-and-a-key-that-leaves-for-another-buffer ()
  (hive-list-test-desk '((:ask_id "p1" :question "Ship it?" :options [(:label "yes") (:label "no")]))
    (hive)
    (hive-status-test-go "p1")
    (hive-list-test-key "m")
    (hive-status-test-go "p1")
    (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) ?o)))
      (hive-list-test-key "a"))
    (with-current-buffer (window-buffer)
      (should (derived-mode-p 'hive-prompt-mode))
      (kill-buffer))
    (with-current-buffer "*hive*"
      (should-not (hive-list--marked)))))

(ert-deftest hive-status-point-goes-to-the-next-question-when-one-is-gone ()
  (hive-list-test
    (hive)
    (dolist (id '("a" "b" "c")) (hive-status-test-ask :ask_id id :created_at id :question id))
    (hive-status-test-go "a")
    (hive-status-test-ask :ask_id "a" :created_at "a" :status "responded")
    (should (equal "b" (tabulated-list-get-id)))
    (hive-status-test-go "c")
    (hive-status-test-ask :ask_id "b" :created_at "b" :status "responded")
    (should (equal "c" (tabulated-list-get-id)))))

(ert-deftest hive-status-folds-its-sections ()
  (hive-status-test-with
    (hive-status-test-go '(session . "abc12-session"))
    (hive-list-test-key "TAB")
    (should (equal '("▸ Idle and done") (hive-status-test-outline)))
    (should (equal '(section idle) (tabulated-list-get-id)))
    (hive-shared-test-do "join" :session_id "zzz99-session")
    (hive-status-test-wait "▸ Idle and done  3 agents")
    (hive-list-test-key "RET")
    (should (string-match-p "▾ Idle and done  3 agents\n.* demo" (hive-status-test-text)))))

(ert-deftest hive-status-one-key-cancels-what-has-ended ()
  (hive-status-test-with
    (hive-shared-test-do "ask" :from "Claude-def34" :question "Left open?")
    (hive-shared-test-do "end" :from "Claude-def34")
    (hive-status-test-wait "▸ Ended  1 agent, 1 open question")
    (should-not (string-search "Needs you" (hive-status-test-text)))
    ;; Unfolded, the question is there and can be answered as well.
    (hive-status-test-go '(section ended))
    (hive-list-test-key "TAB")
    (hive-status-test-wait "▾ Ended .*\n.* Left open\\?\n.* 1 question\n")
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t))) (hive-list-test-key "C"))
    (hive-status-test-wait "▾ Ended  1 agent\n[^\n]*\n\\'")))

(ert-deftest hive-status-filters-agents-too ()
  (hive-status-test-with
    (hive-list-filter-agent "Claude-def34")
    (hive-status-test-wait "▾ Idle and done  1 agent\n.* demo 2")
    (hive-list-filter-none)
    (hive-list-filter-text "nothing like it")
    (should (equal "" (hive-status-test-text)))
    (hive-list-filter-none)
    (should (string-match-p "▾ Idle and done  2 agents" (hive-status-test-text)))))

(ert-deftest hive-status-the-menus-say-what-is-pending-stopped-and-quiet ()
  (hive-list-test
    (let ((hive-mode t) (hive-loops nil))
      (should (equal "Hive: 0 pending" (hive-menu--state)))
      (hive-status-test-ask :ask_id "a" :blocked_since (hive-test-time -60))
      (hive-status-test-ask :ask_id "b")
      (push (list :state "tripped" :titles ["demo" "demo 2"]) hive-loops)
      (cl-letf (((symbol-function 'hive-quiet-text) (lambda () "do not disturb")))
        (should (equal "Hive: 2 pending, 1 of them blocking; do not disturb; 1 loop stopped"
                       (hive-menu--state)))))))

;;;; Arrivals move nothing

(defun hive-status-test-many (count)
  "Put COUNT questions into the model."
  (dotimes (n count)
    (hive-model-put-prompt (hive-test-prompt :ask_id (format "q%03d" n) :question (format "Number %d?" n)
                                             :created_at (format "2026-01-01T00:00:%03dZ" n))))
  (hive-model--run-changed))

(ert-deftest hive-status-neither-point-nor-the-start-of-a-window-moves ()
  (hive-list-test
    (delete-other-windows)
    (hive)
    (hive-status-test-many 100)
    (let ((other (split-window)))
      (set-window-buffer other (current-buffer))
      (hive-status-test-go "q050")
      (forward-char 7)
      (set-window-start (selected-window) (hive-list--position "q045"))
      (set-window-point other (hive-list--position "q080"))
      (set-window-start other (hive-list--position "q075"))
      (cl-flet ((ids (position) (tabulated-list-get-id position)))
        (dolist (news (list (lambda () (hive-status-test-ask :ask_id "new" :urgency "critical" :created_at "2026"))
                            ;; At the very line at which a window begins.
                            (lambda () (hive-status-test-ask :ask_id "before" :created_at "2026-01-01T00:00:0445Z"))
                            (lambda () (hive-status-test-ask :ask_id "q046" :created_at "2026-01-01T00:00:046Z"
                                                             :status "responded"))
                            #'hive-list--tick))
          (funcall news)
          (should (equal "q050" (ids (point))))
          (should (= 7 (current-column)))
          (should (equal "q045" (ids (window-start))))
          (should (equal "q080" (ids (window-point other))))
          (should (equal "q075" (ids (window-start other)))))))))

(ert-deftest hive-status-at-its-beginning-a-window-shows-what-is-new ()
  (hive-list-test
    (hive)
    (hive-status-test-many 50)
    (set-window-start (selected-window) (point-min))
    (hive-status-test-ask :ask_id "new" :urgency "critical" :created_at "2026")
    (should (= (point-min) (window-start)))))

(ert-deftest hive-status-does-not-change-while-the-region-is-active ()
  (hive-list-test
    (let ((transient-mark-mode t))
      (hive)
      (hive-status-test-many 5)
      (hive-status-test-go "q001")
      (push-mark (hive-list--position "q003") t t)
      (hive-status-test-ask :ask_id "new" :created_at "2026-01-01T00:00:0015Z" :question "New?")
      (should-not (string-search "New?" (hive-status-test-text)))
      (should (equal '("q001" "q002")
                     (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-list-selected))))
      (deactivate-mark)
      (hive-test-run-timers 1)
      (should (string-search "New?" (hive-status-test-text))))))
