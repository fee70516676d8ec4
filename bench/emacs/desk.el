;;; desk.el --- A desk with questions on it, and a clock  -*- lexical-binding: t; -*-

;;; Commentary:

;; The common part of the benches of a desk without a sidecar.

;;; Code:

(require 'hive-mode)

(defun bench-json (number status)
  "Return the frame of question NUMBER in STATUS."
  (json-serialize
   (list :ask_id (format "ask-%016d" number) :session_id "session-1" :agent "Claude-abc12"
         :source "main" :project "hive" :project_dir "/home/user/hive/.git" :kind "question"
         :question (format "Number %d: drop the old sessions table after the migration?" number)
         :options (vector '(:label "yes") '(:label "keep it a week") '(:label "no"))
         :multi_select :false :allow_free_text t
         :urgency (pcase (% number 3) (0 "low") (1 "normal") (_ "critical"))
         :created_at (format-time-string "%FT%T.%3NZ" (time-add 1700000000 number) t)
         :expires_at :null :status status)
   :false-object :false :null-object :null))

(defun bench-parse (json)
  "Return JSON as jsonrpc hands it on."
  (json-parse-string json :object-type 'plist :null-object nil :false-object :json-false))

(defun bench-time (work)
  "Return the milliseconds on a processor that WORK, a function, takes.
It waits for nothing, so that is how long it holds Emacs; and what
else the machine does is not counted."
  (let ((start (float-time (get-internal-run-time))))
    (funcall work)
    (* 1000 (- (float-time (get-internal-run-time)) start))))

(defun bench-run-changed ()
  "Run at once what a change sets off, which a timer does otherwise."
  (while (hive-rpc-planned-p #'hive-model--run-changed)
    ;; The first one is due first.
    (timer-event-handler (car timer-list))))

(defun bench-open-agents (count)
  "Let COUNT agents be online; every other one runs a tool."
  (hive-model--list-sessions
   (list :sessions
         (vconcat
          (mapcar (lambda (number)
                    (let ((id (format "session-%d" number)))
                      (list :session_id id :handle (format "Claude-%d" number)
                            :title (format "Task number %d" number) :client "claude-code"
                            :source "main" :project "hive" :project_dir "/home/user/hive/.git"
                            :branch "main" :state "active" :shared t :unprocessed_mentions 0
                            :started_at "2026-01-01T00:00:00.000Z"
                            :last_seen_at "2026-01-01T00:00:00.000Z"
                            :turn (bench-turn number (if (= 0 (% number 2)) "in_progress" "completed")))))
                  (number-sequence 1 count))))))

(defun bench-turn (number state)
  "Return the turn in STATE of the agent NUMBER."
  (list :turn_id (format "turn-%d" number) :session_id (format "session-%d" number)
        :state state :started_at (format "2026-01-01T00:00:%02d.000Z" (% number 60))
        :ended_at (and (equal state "completed") "2026-01-01T00:01:00.000Z")
        :tool (and (equal state "in_progress") "Bash") :tool_since "2026-01-01T00:00:59.000Z"
        :section (if (equal state "in_progress") "working" "idle")
        :order_key (format "2026-01-01T00:00:%02d.000Z session-%d" (% number 60) number)
        :sentence "task completed"))

(defun bench-snapshot (count)
  "Return COUNT questions that wait, in the order in which a sidecar lists them."
  (sort (mapcar (lambda (number) (bench-parse (bench-json number "pending")))
                (number-sequence 1 count))
        #'hive-prompt-before-p))

(defun bench-open-desk (pending)
  "Open a desk with this number of PENDING questions."
  (setq hive-mode t)
  (add-hook 'hive-changed-hook #'hive-mode-line-update)
  (hive-model-replace (bench-snapshot pending))
  (bench-run-changed))

;;; desk.el ends here
