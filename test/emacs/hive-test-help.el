;;; hive-test-help.el --- Shared by the tests of the Emacs package  -*- lexical-binding: t; -*-

;;; Commentary:

;; A fresh desk for each test: its own outbox directory, its own sidecar (the
;; fake one beside this file), and nothing left behind.  One process has the
;; sidecars of all tests (host.mjs), except for tests about the process.

;;; Code:

;; Compiling a trampoline for each primitive that a test replaces would take
;; a second and leave a cache behind; what is loaded here does without.  So
;; would one for each that a library advises, which is why this is first.
(defvar native-comp-enable-subr-trampolines)
(defvar comp-enable-subr-trampolines)
(setq native-comp-enable-subr-trampolines nil
      comp-enable-subr-trampolines nil)

(require 'cl-lib)
(require 'ert)
(require 'jsonrpc)
(require 'hive-mode)

(defconst hive-test-directory
  (file-name-directory (or load-file-name buffer-file-name))
  "The directory of the tests.")

(defconst hive-test-fake (expand-file-name "fake-sidecar.mjs" hive-test-directory)
  "The fake sidecar.")

(defvar hive-test-host (getenv "HIVE_TEST_HOST")
  "The socket of the process that has the sidecars (host.mjs), or nil.
Without it, each sidecar is a process of its own.")

(defun hive-test-in-host (name run environment &rest args)
  "Return a connection NAME to a new RUN of the host, in ENVIRONMENT.
ARGS are further arguments for `make-network-process'."
  (let* ((process-adaptive-read-buffering nil)
         (process (apply #'make-network-process :name name :family 'local :service hive-test-host
                         :noquery t args)))
    (process-send-string process (concat (json-serialize (list :run run :env (vconcat environment)))
                                         "\n"))
    process))

(defconst hive-test-program (expand-file-name "../../bin/hive" hive-test-directory)
  "The program of Hive.")

(define-advice hive-rpc--spawn (:around (spawn command environment stderr) hive-test)
  "Take the sidecar from the host, if there is one."
  (let ((run (cond ((not hive-test-host) nil)
                   ((equal (cdr command) (list hive-test-fake)) "fake")
                   ((equal (cdr command) (list hive-test-program "sidecar")) "sidecar"))))
    (if run (hive-test-in-host "hive" run environment :coding 'utf-8-emacs-unix)
      (funcall spawn command environment stderr))))

(defvar hive-test-temp nil "The temporary directory of the running test.")

(defmacro hive-test-wait (seconds condition)
  "Wait until CONDITION is true; fail when it is not.
It is given SECONDS, and a minute at least: a busy machine may stall a
process for many seconds, and that is no failure."
  `(let ((deadline (+ (float-time) (max ,seconds 60))) value)
     (while (and (not (setq value ,condition)) (< (float-time) deadline))
       (accept-process-output nil 0.02))
     (or value (ert-fail (list "waited in vain for" ',condition
                               ,@(when (eq 'equal (car-safe condition))
                                   `("there is" (list ,@(cdr condition)))))))))

;; A test that shows that nothing happens does not wait for a time that
;; "should be enough": it puts the clock forward.
(defun hive-test-run-timers (seconds)
  "Run at once the timers that are due within SECONDS, and those they start.
They see a clock that was put forward by SECONDS."
  (let ((now (symbol-function 'hive-now)))
    (cl-letf (((symbol-function 'hive-now) (lambda () (+ seconds (funcall now)))))
      ;; Some timers start themselves again as long as they wait for something.
      (cl-loop repeat 10
               ;; A new list, because those that they start go into `timer-list'.
               for due = (seq-filter
                          (lambda (timer)
                            (time-less-p (timer--time timer) (time-add nil seconds)))
                          timer-list)
               while due
               do (dolist (timer due)
                    (when (memq timer timer-list) (timer-event-handler timer)))))))

(defun hive-test-pass (seconds)
  "Do at once what Emacs would do within SECONDS.
The timers that are due by then run.  Then the sidecar has answered
whatever they asked it."
  (hive-test-run-timers seconds)
  (when (hive-sidecar-connected-p)
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (hive-test-call 'session/list)))

(defmacro hive-test-with-desk (environment &rest body)
  "Run BODY with a fresh desk; ENVIRONMENT is added to the sidecar's."
  (declare (indent 1) (debug t))
  `(let* ((hive-test-temp (make-temp-file "hive-test" t))
          (hive-outbox-directory (expand-file-name "outbox/" hive-test-temp))
          (hive-outbox-key-file (expand-file-name "outbox.key" hive-test-temp))
          (hive-sidecar-command (list "node" hive-test-fake))
          (hive-user-name "Ada")
          ;; A test that is about taking back sets this itself.
          (hive-undo-seconds 0)
          (hive-notify--spoke 0)
          (hive-store nil)
          (hive-node-program nil)
          (hive-program--beside nil)
          (hive-install-directory (expand-file-name "installed/" hive-test-temp))
          (hive-drafts-directory (expand-file-name "drafts/" hive-test-temp))
          (hive-shared-read-file (expand-file-name "read.eld" hive-test-temp))
          (process-environment
           (append ,environment
                   (list (concat "FAKE_STATE=" (expand-file-name "state" hive-test-temp)))
                   process-environment)))
     (unwind-protect
         (progn ,@body)
       (hive-mode -1)
       (setq hive-sidecar-info nil
             hive-rpc--queue nil)
       ;; They have left the list as well: their sentinels have run.
       (hive-test-wait 10 (not (cl-find-if (lambda (process)
                                             (string-prefix-p "hive" (process-name process)))
                                           (process-list))))
       (delete-directory hive-test-temp t)
       (dolist (name '("*hive*" "*hive log*" "*hive question*" "*hive doctor*"))
         (when (get-buffer name) (kill-buffer name))))))

(defmacro hive-test-with-process (environment &rest body)
  "Run BODY with a fresh desk whose sidecar is a process of its own.
ENVIRONMENT is added to the sidecar's."
  (declare (indent 1) (debug t))
  `(let ((hive-test-host nil))
     (hive-test-with-desk ,environment ,@body)))

(defun hive-test-sidecars ()
  "Return the running sidecars."
  (cl-remove-if-not (lambda (process)
                      (and (process-live-p process)
                           (memq (process-type process) '(real network))
                           (string-prefix-p "hive" (process-name process))))
                    (process-list)))

(defun hive-test-connect ()
  "Turn Hive on and wait until it is connected and has its snapshot."
  (hive-mode 1)
  (hive-test-wait 10 (and (hive-sidecar-connected-p)
                          (hive-model-complete-p))))

(defmacro hive-test-connected (&rest body)
  "Run BODY with a fresh desk that is connected to its sidecar."
  (declare (indent 0) (debug t))
  `(hive-test-with-desk nil
     (hive-test-connect)
     ,@body))

(defmacro hive-test-with-question (fields &rest body)
  "Run BODY at a connected desk at which a question with FIELDS is pending."
  (declare (indent 1) (debug t))
  `(hive-test-connected
     (hive-test-call 'fake/ask ,fields)
     (hive-test-wait 5 (hive-prompts))
     ,@body))

(defun hive-test-call (method &optional params)
  "Ask the sidecar METHOD with PARAMS and wait for the result."
  (let ((done nil) (result nil))
    (hive-rpc-request method params
                      :success (lambda (value) (setq done t result value))
                      :error (lambda (err) (setq done 'error result err)))
    (hive-test-wait 60 done)
    (when (eq done 'error) (error "%S" result))
    result))

(defmacro hive-test-without-waiting (&rest body)
  "Run BODY; fail if it waits for a process or for a time."
  (declare (indent 0) (debug t))
  `(let* ((waited nil)
          (wait (lambda (&rest args) (push args waited) nil)))
     (cl-letf (((symbol-function 'accept-process-output) wait)
               ((symbol-function 'sleep-for) wait)
               ((symbol-function 'sit-for) wait))
       ,@body)
     (should-not waited)))

;; A time that something takes says nothing on a busy machine: this counts.
(defun hive-test-read (function)
  "Return how many characters of strings FUNCTION reads.
A search reads as far as it finds something, and one more is counted
for each call."
  (let ((read 0) (search (symbol-function 'string-match))
        (replace (symbol-function 'replace-regexp-in-string))
        (split (symbol-function 'split-string))
        (count (symbol-function 'cl-count)))
    (cl-letf (((symbol-function 'string-match)
               (lambda (regexp string &optional start &rest args)
                 (setq read (+ read 1 (- (save-match-data
                                           (let ((inhibit-changing-match-data nil))
                                             (if (funcall search regexp string start) (match-end 0)
                                               (length string))))
                                         (or start 0))))
                 (apply search regexp string start args)))
              ;; The one of Emacs is compiled, and would call the original.
              ((symbol-function 'string-match-p)
               (lambda (&rest args)
                 (save-match-data (apply #'string-match args))))
              ((symbol-function 'replace-regexp-in-string)
               (lambda (regexp by string &rest args)
                 (setq read (+ read 1 (length string)))
                 (apply replace regexp by string args)))
              ((symbol-function 'split-string)
               (lambda (string &rest args)
                 (setq read (+ read 1 (length string)))
                 (apply split string args)))
              ((symbol-function 'cl-count)
               (lambda (item sequence &rest args)
                 (setq read (+ read 1 (length sequence)))
                 (apply count item sequence args))))
      (funcall function))
    read))

(defun hive-test-linear (function size)
  "Fail if FUNCTION reads much more than twice as much for twice SIZE."
  (let ((once (hive-test-read (lambda () (funcall function size))))
        (twice (hive-test-read (lambda () (funcall function (* 2 size))))))
    (should (> once 0))
    (should (< twice (* 2.2 once)))))

(defvar hive-test-made 0 "How many things the tests have made, for their ids.")

(defun hive-test-id (prefix)
  "Return an id that begins with PREFIX and that nothing else has."
  (format "%s%d" prefix (cl-incf hive-test-made)))

(defun hive-test-prompt (&rest fields)
  "Return a prompt that has FIELDS, a plist, and defaults otherwise."
  (hive-test-ordered
   (append fields
           (list :ask_id (hive-test-id "ask-made-") :agent "Claude-abc12"
                 :source "main" :project "demo" :kind "question" :question "Which?"
                 :context nil :options [] :multi_select :json-false
                 :allow_free_text t :urgency "normal"
                 :created_at "2026-01-01T00:00:00.000Z" :expires_at nil
                 :status "pending" :seen_at nil))))

(defun hive-test-ordered (prompt)
  "Return PROMPT with its place among the others, as a sidecar sends it."
  (append (list :order_key
                (format "%d%d %s %s %s" (if (plist-get prompt :blocked_since) 0 1)
                        (hive-prompt-rank prompt) (or (plist-get prompt :expires_at) "9")
                        (plist-get prompt :created_at) (plist-get prompt :ask_id)))
          prompt))

(defun hive-test-time (seconds)
  "Return the time in SECONDS in the format of the wire."
  (format-time-string "%FT%T.%3NZ" (time-add nil seconds) t))

(defun hive-test-state ()
  "Return the records that the fake sidecar keeps."
  (let ((file (expand-file-name "state" hive-test-temp)))
    (when (file-exists-p file) (hive-outbox-read file))))

(defun hive-test-answers ()
  "Return the answers that the fake sidecar has stored, oldest first."
  (delq nil (mapcar (lambda (record) (plist-get record :answer)) (hive-test-state))))

(defmacro hive-test-with-inputs (inputs &rest body)
  "Run BODY while minibuffers are answered by INPUTS, strings, in order.
Return what the prompts said, newest first."
  (declare (indent 1) (debug t))
  `(let ((inputs ,inputs) (asked nil))
     (cl-letf (((symbol-function 'read-string)
                (lambda (prompt &rest _)
                  (push prompt asked)
                  (when (null inputs) (ert-fail (list "asked once too often" prompt)))
                  (let ((input (pop inputs)))
                    (if (functionp input) (funcall input) input))))
               ((symbol-function 'completing-read)
                (lambda (prompt table &optional _pred strict _initial _hist default &rest _)
                  (push (cons prompt (all-completions "" table)) asked)
                  (when (null inputs) (ert-fail (list "asked once too often" prompt)))
                  (let ((input (pop inputs)))
                    (when (functionp input) (setq input (funcall input)))
                    (when (and strict (not (string-empty-p input)))
                      (should (member input (all-completions "" table))))
                    (if (string-empty-p input) (or default "") input)))))
       ,@body)
     asked))

(defmacro hive-test-hearing (said &rest body)
  "Run BODY; SAID is bound to the messages that were shown, newest first."
  (declare (indent 1) (debug t))
  `(let ((,said nil))
     (cl-letf (((symbol-function 'hive-notify-say)
                (lambda (format &rest args) (push (apply #'format format args) ,said))))
       ,@body)))

(provide 'hive-test-help)
;;; hive-test-help.el ends here
