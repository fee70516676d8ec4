;;; event.el --- How long one arriving event holds Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/emacs.ts.  With BENCH_PENDING questions waiting,
;; BENCH_EVENTS events arrive, in turn a new question and news of one that
;; was settled.  Timed is everything from the JSON to the end of what the
;; change sets off.  Prints two arrays of milliseconds: without the list of
;; questions, and with it shown in a window.

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

(defun bench-event (method json)
  "Handle METHOD with the params in JSON; return the milliseconds it took."
  (let ((start (float-time)))
    (hive-rpc-notify method (bench-parse json))
    (when hive-model--timer
      (cancel-timer hive-model--timer)
      (hive-model--run-changed))
    (* 1000 (- (float-time) start))))

(defun bench-events (first count)
  "Let COUNT events arrive, numbered from FIRST; return their times."
  (let (times)
    (dotimes (index count)
      (let ((number (+ first (/ index 2))))
        (push (if (= 0 (% index 2))
                  (bench-event 'hivemind-ask (bench-json number "pending"))
                (bench-event 'prompt/changed (bench-json number "responded")))
              times)))
    (vconcat (nreverse times))))

(let ((pending (string-to-number (getenv "BENCH_PENDING")))
      (events (string-to-number (getenv "BENCH_EVENTS")))
      (inhibit-message t)
      plain listed)
  (setq hive-mode t)
  (add-hook 'hive-changed-hook #'hive-mode-line--update)
  (hive-notify-start)
  (hive-model-replace
   (mapcar (lambda (number) (bench-parse (bench-json number "pending")))
           (number-sequence 1 pending)))
  (hive-model--run-changed)
  (bench-events 100000 20)
  (setq plain (bench-events 200000 events))
  (save-window-excursion
    (hive-list)
    (setq listed (bench-events 300000 events)))
  (princ (json-serialize (vector plain listed))))

;;; event.el ends here
