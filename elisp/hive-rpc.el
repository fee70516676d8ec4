;;; hive-rpc.el --- Running the sidecar and talking to it  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Everything about the sidecar's process: the pipe, the requests and
;; notifications, the handshake and the restarts.  Only this file uses jsonrpc.
;;
;; All requests are asynchronous: `hive-rpc-request'.  Notifications call the
;; generic function `hive-rpc-handle'; each capability adds methods for those
;; it understands: hive-model.el for questions.  Callbacks and methods run
;; outside the process filter, and no error and no quit escapes from them.

;;; Code:

(require 'cl-lib)
(require 'eieio)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-names)
(require 'hive-program)
(require 'hive-text)
(require 'jsonrpc)
(require 'subr-x)
(require 'warnings)

;;;; Deferred work

;; The work of filters, sentinels and handlers is done later, by a timer of 0
;; seconds, in order, in slices that give way to the keyboard.  No error and
;; no quit escapes: either would freeze typing.  Errors go to *hive log*.

(defconst hive-rpc--log-lines 500 "How many lines the log keeps.")

(defun hive-rpc-log (format &rest args)
  "Append a line made from FORMAT and ARGS to the buffer *hive log*."
  (with-current-buffer (get-buffer-create "*hive log*")
    (let ((inhibit-read-only t) (inhibit-modification-hooks t))
      (unless (derived-mode-p 'special-mode)
        (special-mode)
        (hive-text-guard)
        (buffer-disable-undo))
      (save-excursion
        (goto-char (point-max))
        (insert (format-time-string "%T ") (apply #'format format args) "\n")
        (forward-line (- hive-rpc--log-lines))
        (delete-region (point-min) (point))))))

(defvar hive-rpc--queue nil "Functions to call, oldest first.")
(defvar hive-rpc--tail nil "The last cons of `hive-rpc--queue'.")
(defvar hive-rpc--timer nil "The timer of the next slice of work, or nil.")
(defconst hive-rpc--slice 0.02 "How many seconds to work before a pause.")

(defun hive-rpc-later (function &rest args)
  "Call FUNCTION with ARGS soon, in order, outside filters and sentinels."
  (let ((cell (list (lambda () (apply function args)))))
    (if hive-rpc--queue
        (setcdr hive-rpc--tail cell)
      (setq hive-rpc--queue cell))
    (setq hive-rpc--tail cell)
    (unless hive-rpc--timer
      (setq hive-rpc--timer (hive-later 0 #'hive-rpc--work)))))

(defun hive-rpc-guarded (function &rest args)
  "Call FUNCTION with ARGS; log an error or a quit instead of raising it."
  (condition-case oops
      (apply function args)
    ((error quit) (hive-rpc-log "error: %S" oops) nil)))

(defvar hive-rpc--planned (make-hash-table :test #'equal)
  "The calls that `hive-rpc-once' has planned: functions and their arguments.")

(defun hive-rpc-planned-p (function &rest args)
  "Return non-nil if `hive-rpc-once' has planned to call FUNCTION with ARGS."
  (gethash (cons function args) hive-rpc--planned))

(defun hive-rpc-once (seconds function &rest args)
  "Call FUNCTION with ARGS in SECONDS, unless that is planned already."
  (let ((call (cons function args)))
    (unless (apply #'hive-rpc-planned-p call)
      (puthash call t hive-rpc--planned)
      (hive-later seconds (lambda ()
                            (remhash call hive-rpc--planned)
                            (apply #'hive-rpc-guarded call))))))

(defun hive-rpc-while-shown (seconds function &optional fetches)
  "Call FUNCTION in this buffer every SECONDS, while it is in a window.
It is called neither while the human searches or selects there nor
after the buffer was killed.  If it FETCHES, it needs a connection."
  (let* ((buffer (current-buffer))
         (timer (hive-every seconds
                            (lambda ()
                              (when (and (get-buffer-window buffer t)
                                         (or (not fetches) (hive-sidecar-connected-p)))
                                (with-current-buffer buffer
                                  (unless (hive-text-in-use-p) (hive-rpc-guarded function))))))))
    (add-hook 'kill-buffer-hook (lambda () (cancel-timer timer)) nil t)))

(defun hive-rpc-run-hook (hook &rest args)
  "Call each function of HOOK with ARGS; one that fails does not stop the others."
  (run-hook-wrapped hook (lambda (function) (apply #'hive-rpc-guarded function args) nil)))

(defun hive-rpc--work ()
  "Do the deferred work for one slice of time."
  (setq hive-rpc--timer nil)
  (let ((deadline (+ (hive-now) hive-rpc--slice)))
    (unwind-protect
        (save-match-data
          (while (and hive-rpc--queue
                      (progn (hive-rpc-guarded (pop hive-rpc--queue)) t)
                      (< (hive-now) deadline)
                      (not (input-pending-p)))))
      (when (and hive-rpc--queue (not hive-rpc--timer))
        (setq hive-rpc--timer (hive-later 0 #'hive-rpc--work))))))

;;;; The pipe

;; A jsonrpc connection with three rules, which keep Emacs responsive and the
;; stream intact:
;;
;; - Nothing happens inside the process filter.  jsonrpc calls us from there,
;;   and sending from there while input arrives corrupts the stream for good.
;;   Everything that arrives becomes deferred work.
;; - The filter never nests: while it runs, or while we send (which reads if
;;   the pipe is full), chunks are queued.
;; - No error and no quit escapes from it: either would freeze typing.

(defclass hive-rpc-pipe (jsonrpc-process-connection)
  ((chunks :initform nil :documentation "Queued input, newest first.")
   (filter :initform nil :documentation "The filter of jsonrpc itself.")
   (busy :initform nil :documentation "Non-nil while parsing or sending.")
   (said :initform nil :documentation "Last lines of standard error.")
   (silent :initform 0 :documentation "The number of successive requests without a reply."))
  :documentation "A JSON-RPC connection that works outside the process filter.")

(defun hive-rpc-open (command environment on-exit)
  "Start COMMAND, a list, in ENVIRONMENT and return a connection to it.
As deferred work, handle each notification, and call ON-EXIT with the
connection when the process has ended.  The program must exist: see
`executable-find'."
  ;; It needs a buffer: without one, Emacs makes a visible one.  jsonrpc kills
  ;; any buffer with the name that it wants for its own.
  (let* ((unused (generate-new-buffer " *hive sidecar stderr*" t))
         (stderr (make-pipe-process :name "hive-stderr" :noquery t
                                    :buffer unused :sentinel #'ignore))
         (start (lambda () (hive-rpc--spawn command environment stderr)))
         (args (list :name "hive" :process start
                     :notification-dispatcher
                     (lambda (&rest notification)
                       (apply #'hive-rpc-later #'hive-rpc--notified notification))
                     :on-shutdown
                     (lambda (conn)
                       (delete-process stderr)
                       (kill-buffer unused)
                       (hive-rpc-later on-exit conn))))
         (conn (condition-case nil
                   (apply #'make-instance 'hive-rpc-pipe
                          :events-buffer-config '(:size 0) args)
                 (invalid-slot-name ; jsonrpc before 1.0.18
                  (apply #'make-instance 'hive-rpc-pipe
                         :events-buffer-scrollback-size 0 args)))))
    ;; jsonrpc would use it for the next connection as well, whose process would
    ;; end with the buffer when this one is closed.
    (with-current-buffer (process-buffer (jsonrpc--process conn))
      (rename-buffer " *hive sidecar output*" t))
    (set-process-filter stderr (hive-rpc--stderr-filter conn))
    (hive-rpc--wrap-filter conn)
    (hive-rpc--wrap-sentinel conn)
    conn))

(defun hive-rpc--spawn (command environment stderr)
  "Make the process of COMMAND in ENVIRONMENT, with its STDERR apart."
  ;; Adaptive buffering costs 20 ms at each stall: 1,000 round trips took
  ;; up to 8 s with it and 0.3 s without.
  (let ((process-adaptive-read-buffering nil)
        (process-environment environment)
        ;; The directory of the current buffer may be remote, or gone.
        (default-directory (if (file-directory-p "~/") (expand-file-name "~/") "/")))
    (make-process :name "hive" :command command :connection-type 'pipe
                  :coding 'utf-8-emacs-unix :noquery t :stderr stderr)))

(defun hive-rpc--stderr-filter (conn)
  "Return a filter to log lines and to keep the last ones in CONN."
  (lambda (_process text)
    (dolist (line (split-string text "[\r\n]+" t))
      (push line (slot-value conn 'said))
      (when (nthcdr 20 (slot-value conn 'said))
        (setcdr (nthcdr 19 (slot-value conn 'said)) nil))
      (hive-rpc-guarded #'hive-rpc-log "sidecar: %s" line))))

;;;; The pipe: input

(defun hive-rpc--wrap-filter (conn)
  "Put a queue in front of CONN's filter, so that it never nests."
  (let ((process (jsonrpc--process conn)))
    (setf (slot-value conn 'filter) (process-filter process))
    (set-process-filter process
                        (lambda (_process chunk)
                          (push chunk (slot-value conn 'chunks))
                          (hive-rpc--parse conn)))))

(defun hive-rpc--parse (conn)
  "Give CONN's queued chunks to jsonrpc, unless that is under way."
  (unless (slot-value conn 'busy)
    (setf (slot-value conn 'busy) t)
    (unwind-protect
        (let ((process (jsonrpc--process conn))
              (failures 0)
              ;; A bad frame must not open a window or a debugger, or show a message.
              (warning-minimum-level :emergency) (debug-on-error nil)
              (inhibit-message t) (message-log-max nil)
              (inhibit-quit t))
          (while (slot-value conn 'chunks)
            (let ((input (apply #'concat (nreverse (slot-value conn 'chunks)))))
              (setf (slot-value conn 'chunks) nil)
              (unless (hive-rpc-guarded
                       (lambda () (funcall (slot-value conn 'filter) process input) t))
                ;; A bad message is lost; without this, those after it would
                ;; wait for the next input.  Nothing is parsed twice.
                (when (< (cl-incf failures) 1000)
                  (push "" (slot-value conn 'chunks)))))))
      (setf (slot-value conn 'busy) nil)
      (when (slot-value conn 'chunks)
        (hive-later 0 #'hive-rpc--parse conn)))))

(defun hive-rpc--wrap-sentinel (conn)
  "Suppress the messages of jsonrpc when CONN's process ends."
  (let* ((process (jsonrpc--process conn))
         (sentinel (process-sentinel process)))
    (set-process-sentinel
     process
     (lambda (process change)
       (hive-rpc--parse conn)
       (let ((shown (current-message))
             (message-log-max nil))
         (let ((inhibit-message t))
           (hive-rpc-guarded sentinel process change))
         ;; A message that is inhibited still wipes what was shown.
         (when shown (message "%s" shown)))
       (unless (process-live-p process)
         (hive-rpc-log "sidecar ended: %s" (string-trim change))
         ;; Later: jsonrpc of Emacs 30 has timers for the last messages, which
         ;; would make its buffer of events again.
         (hive-later 0 #'hive-rpc--kill-buffers conn process))))))

(defun hive-rpc--kill-buffers (conn process)
  "Kill the buffers that jsonrpc made for CONN and its PROCESS."
  (dolist (buffer (list (process-buffer process)
                        (process-get process 'jsonrpc-stderr)
                        (jsonrpc--events-buffer conn)))
    (when (buffer-live-p buffer) (kill-buffer buffer))))

;;;; The pipe: output

(defmacro hive-rpc-pipe-sending (conn &rest body)
  "Run BODY, which sends on CONN, while nothing of CONN is parsed."
  (declare (indent 1) (debug t))
  ;; A full pipe makes Emacs read while it writes.
  `(let ((busy (slot-value ,conn 'busy)))
     (setf (slot-value ,conn 'busy) t)
     (unwind-protect (progn ,@body)
       (setf (slot-value ,conn 'busy) busy)
       (when (and (not busy) (slot-value ,conn 'chunks))
         (hive-later 0 #'hive-rpc--parse ,conn)))))

(defun hive-rpc-pipe-missed (conn)
  "Note that CONN did not reply to a request; the second time, end it.
A stream that is out of step never recovers."
  (when (and (> (cl-incf (slot-value conn 'silent)) 1)
             (hive-rpc-pipe-live-p conn))
    (hive-rpc-pipe-kill conn)))

;;;; The pipe: its process

(defun hive-rpc-pipe-live-p (conn)
  "Return non-nil while the process of CONN is alive."
  (and conn (process-live-p (jsonrpc--process conn))))

(defun hive-rpc-pipe-kill (conn)
  "End CONN's process."
  (delete-process (jsonrpc--process conn)))

;;;; Requests and notifications

(defvar hive-rpc-connection nil
  "The connection for requests, or nil if there is none.
It is set when the handshake is complete.")

(cl-defgeneric hive-rpc-handle (_method _params)
  "Handle the notification METHOD, a symbol, with its PARAMS, a plist.
Capabilities add methods with an `eql' specializer.  Notifications
that have no method are from a newer sidecar and are ignored."
  nil)

(defun hive-rpc-true-p (thing key)
  "Return non-nil if KEY of THING, a plist from the sidecar, is true.
JSON's false is not nil in Lisp."
  (not (memq (plist-get thing key) '(nil :json-false))))

(defun hive-rpc--notified (conn method params)
  "Handle the notification METHOD of CONN with PARAMS."
  ;; A connection that was dropped may still send notifications.
  (when (eq conn hive-rpc-connection)
    (hive-rpc-handle method params)))

(defun hive-rpc-close (conn)
  "Ask CONN's process to exit, and kill it if it has not after 2 seconds.
Return at once."
  (when (hive-rpc-pipe-live-p conn)
    (hive-rpc-request 'shutdown nil :conn conn)
    (hive-rpc-tell 'exit nil :conn conn)
    (hive-later 2 (lambda ()
                    (when (hive-rpc-pipe-live-p conn)
                      (hive-rpc-pipe-kill conn))))))

(defun hive-rpc-new-id ()
  "Return a new id, by which the sidecar recognizes what it was sent twice."
  (let ((hash (secure-hash 'sha256 (format "%S" (list (random) (random) (emacs-pid)
                                                      (hive-now) (user-uid)
                                                      (recent-keys))))))
    (format "%s-%s-4%s-a%s-%s" (substring hash 0 8) (substring hash 8 12)
            (substring hash 13 16) (substring hash 17 20) (substring hash 20 32))))

(defun hive-rpc-failed-p (err why)
  "Return non-nil if ERR, from an error callback, has the code of WHY.
WHY is a symbol of `hive-rpc-codes'."
  (eql (plist-get err :code) (alist-get why hive-rpc-codes)))

(defun hive-rpc--error (code message)
  "Return the plist for an error callback, from CODE and MESSAGE of a reply.
The message of a domain error begins with its name and a colon."
  (if (and message (string-match "\\`\\([a-z][a-z_]+\\): +" message))
      (list :code code :name (intern (match-string 1 message))
            :text (substring message (match-end 0)))
    (list :code code :name nil :text (or message ""))))

(cl-defun hive-rpc-request (method params
                                   &key (conn hive-rpc-connection) success error
                                   (timeout 15))
  "Send the request METHOD, a symbol, with PARAMS, a plist; return at once.
Exactly one of the callbacks is called later: SUCCESS with the
result, or ERROR with a plist of :code, :name and :text.  :name is
the symbol of a domain error such as `store_busy', or `timeout',
or `disconnected'; nil for an error of the protocol itself.
Without ERROR, an error is logged.  TIMEOUT is in seconds.  CONN
defaults to `hive-rpc-connection'."
  (cl-flet* ((fail (err)
               (if error (hive-rpc-later error err)
                 (hive-rpc-log "%s failed: %s" method (plist-get err :text))))
             (lose (name text) (fail (list :code -1 :name name :text text))))
    (if (not (hive-rpc-pipe-live-p conn))
        (lose 'disconnected (hive-words "not connected (M-x hive-doctor shows why)"))
      (condition-case oops
          (hive-rpc-pipe-sending conn
            (jsonrpc-async-request
             conn method (or params (make-hash-table))
             :timeout timeout
             :success-fn
             (lambda (result)
               (setf (slot-value conn 'silent) 0)
               (when success (hive-rpc-later success result)))
             :error-fn
             (lambda (err)
               (setf (slot-value conn 'silent) 0)
               (if (hive-rpc-pipe-live-p conn)
                   (fail (hive-rpc--error (plist-get err :code) (plist-get err :message)))
                 (lose 'disconnected (hive-words 'sidecar-stopped))))
             :timeout-fn
             (lambda ()
               (hive-rpc-log "no answer to %s" method)
               (hive-rpc-pipe-missed conn)
               (lose 'timeout (hive-words "the sidecar did not reply")))))
        ((wrong-type-argument json-error) ; it cannot be encoded as JSON
         (fail (list :code (alist-get 'invalid-params hive-rpc-codes) :name nil
                     :text (error-message-string oops))))
        (error                          ; the process just ended
         (hive-rpc-log "cannot send %s: %S" method oops)
         (lose 'disconnected (error-message-string oops)))
        (quit                           ; half of it may be in the pipe, which is of no use then
         (hive-rpc-log "quit while sending %s" method)
         (hive-rpc-pipe-kill conn)
         (lose 'disconnected (hive-words 'sidecar-stopped))
         (signal 'quit nil)))))
  nil)

;; A fetched item may change in the meantime.  News of that may be newer than
;; the result, so it is applied again on top of it.

(defvar hive-rpc--fetches (make-hash-table :test #'equal)
  "The newest fetch of each method that is under way, by buffer and method.
Each is a cons of the method and of what arrived since, newest first.")

(defvar hive-rpc-arrived nil
  "While a fetch is dealt with, what arrived since it was sent, oldest first.")

(defun hive-rpc-fetching (method &optional buffer)
  "Return non-nil while METHOD is fetched for BUFFER, or for all of Emacs."
  (gethash (cons buffer method) hive-rpc--fetches))

(defun hive-rpc-arrive (method news &optional buffer)
  "Add NEWS to the fetch of METHOD for BUFFER, or for all of Emacs.
Return nil if there is none."
  (when-let* ((fetch (hive-rpc-fetching method buffer))) (push news (cdr fetch))))

(cl-defun hive-rpc-fetch (method params &key then failure problem (timeout 30)
                                 (for (current-buffer)) arrived)
  "Send the request METHOD with PARAMS on behalf of the buffer FOR.
Call THEN with the result in this buffer, unless the buffer has been
killed by then or has sent METHOD again.  An error is announced with
FAILURE, a sentence as for `hive-words', and PROBLEM is called with that
and the error, as THEN is; without both, it is logged.  TIMEOUT is in
seconds.  If FOR is nil, it is on behalf of all of Emacs.  ARRIVED is
what has arrived already, oldest first."
  (let ((fetch (cons method (reverse arrived))) (key (cons for method)))
    (puthash key fetch hive-rpc--fetches)
    (cl-flet ((finish (function &rest args)
                (when (eq fetch (gethash key hive-rpc--fetches))
                  (remhash key hive-rpc--fetches)
                  (let ((hive-rpc-arrived (reverse (cdr fetch))))
                    (cond ((null function))
                          (for (hive-in-buffer for (apply function args)))
                          (t (apply function args)))))))
      (hive-rpc-request
       method params :timeout timeout
       :success (lambda (result) (finish then result))
       :error (lambda (err)
                (let ((sentence (and failure
                                     (hive-words failure (hive-text-line (plist-get err :text) 400)))))
                  (finish problem sentence err)
                  (cond (sentence (hive-announce "%s" sentence))
                        ((null problem) (hive-rpc-log "%s failed: %s" method (plist-get err :text))))))))))

(defun hive-rpc-forget-fetch (method &optional buffer)
  "Ignore the reply to METHOD, if it is fetched for BUFFER, or for all of Emacs."
  (remhash (cons buffer method) hive-rpc--fetches))

(defconst hive-rpc--again-seconds 10 "After how many seconds a request is sent again.")

(defun hive-rpc-again (err fetch)
  "Log ERR of a request that the function FETCH has sent; call FETCH again later.
Do so only where that may help, and only while there is a connection:
the next one fetches everything anyway."
  (hive-rpc-log "nothing was fetched: %S" err)
  (when (or (eq (plist-get err :name) 'timeout) (hive-rpc-failed-p err 'transient))
    (hive-later hive-rpc--again-seconds
                (lambda () (when (hive-sidecar-connected-p) (hive-rpc-guarded fetch))))))

(cl-defun hive-rpc-tell (method params &key (conn hive-rpc-connection))
  "Send the notification METHOD, a symbol, with PARAMS to CONN."
  (when (hive-rpc-pipe-live-p conn)
    (hive-rpc-guarded
     (lambda ()
       (hive-rpc-pipe-sending conn
         (jsonrpc-notify conn method (or params (make-hash-table))))))))

;;;; The state of the sidecar

;; When the sidecar ends, it is restarted after 1, 2, 4 … 60 seconds.  A problem
;; that only a person can fix (a missing program, or one that is too old)
;; stops the restarts, and is reported in one sentence with what to do.

(defvar hive-connected-hook nil
  "Run when the handshake is complete.")

(defvar hive-sidecar-state-hook nil
  "Run when `hive-sidecar-state' or `hive-sidecar-problem' changed.")

(defvar hive-sidecar-state 'off
  "The state of the sidecar: off, starting, connected, waiting or failed.
`waiting' is for the next start; `failed' lasts until a person acts.")

(defvar hive-sidecar-problem nil
  "A sentence on what is wrong with the sidecar, or nil.")

(defvar hive-sidecar-info nil
  "The result of the last handshake.
It is kept while the sidecar is away: answers typed in that time are
for the same :store_id.")

(defconst hive-sidecar-protocol 1 "The version of the protocol.")

(defvar hive-rpc--process nil "The connection in use, ready or not.")
(defvar hive-rpc--start-timer nil "The timer of the next start, or nil.")
(defvar hive-rpc--delay 1 "Seconds until the next start.")
(defvar hive-sidecar-connected-at nil "When the last handshake was completed, in seconds since the epoch.")

(defun hive-rpc--become (state &optional problem)
  "Enter STATE; PROBLEM is the sentence to show, or nil."
  (setq hive-sidecar-state state
        hive-sidecar-problem problem)
  (when problem (hive-rpc-log "%s: %s" state problem))
  (hive-rpc-run-hook 'hive-sidecar-state-hook))

(defun hive-sidecar-connected-p ()
  "Return non-nil if requests can be sent."
  (eq hive-sidecar-state 'connected))

(defun hive-sidecar-absence ()
  "Return a sentence on why the sidecar is not connected, or nil if it is.
The sentence says what to do."
  (cond ((hive-sidecar-connected-p) nil)
        ((eq hive-sidecar-state 'off) (hive-words 'off))
        (hive-sidecar-problem
         (hive-words "Hive is not connected.  %s  (M-x hive-doctor has more)" hive-sidecar-problem))
        (t (hive-words "Hive is not connected yet; M-x hive-doctor shows why"))))

(defun hive-sidecar-demand ()
  "Signal a `user-error' with a sentence unless the sidecar is connected.
For commands that would otherwise report an empty list."
  (when-let* ((absence (hive-sidecar-absence)))
    (user-error "%s" absence)))

(defun hive-forget-when-off (&rest variables)
  "Empty VARIABLES, symbols, when Hive is turned off.
A hash table is cleared; another value becomes nil."
  (add-hook 'hive-sidecar-state-hook
            (lambda ()
              (when (eq hive-sidecar-state 'off)
                (dolist (variable variables)
                  (if (hash-table-p (symbol-value variable)) (clrhash (symbol-value variable))
                    (set variable nil)))))))

;;;; Start and handshake

(defun hive-sidecar-start ()
  "Start the sidecar unless it is running; return at once."
  (hive-set-timer 'hive-rpc--start-timer)
  (unless (hive-rpc-pipe-live-p hive-rpc--process)
    (condition-case oops
        (let ((command (hive-program-sidecar)))
          (hive-rpc-log "starting %S" command)
          (setq hive-rpc--process
                (hive-rpc-open command (hive-program-environment)
                               #'hive-rpc--ended))
          (hive-rpc--become 'starting)
          (hive-rpc--greet hive-rpc--process))
      (hive-program-missing
       (hive-rpc--become 'failed (hive-rpc--sentence (cadr oops))))
      (error
       (hive-rpc--retry (error-message-string oops))))))

(defun hive-rpc--sentence (text)
  "Return TEXT, inert, with a capital letter at the beginning."
  (let ((line (string-remove-prefix "hive: " (hive-text-line text 300))))
    (if (string-empty-p line) line
      (concat (upcase (substring line 0 1)) (substring line 1)))))

(defvar hive-rpc-greeting-functions nil
  "Functions without arguments that return further parameters of the handshake.
Each returns a new plist.")

(defun hive-rpc--greet (conn)
  "Do the handshake with the sidecar of CONN."
  (hive-rpc-request
   'initialize (append (list :protocol_version hive-sidecar-protocol
                             :client (list :name "emacs" :version emacs-version)
                             :human (hive-human-name))
                       (cl-mapcan #'hive-rpc-guarded hive-rpc-greeting-functions))
   :conn conn :timeout 20
   :success (lambda (info)
              (when (eq conn hive-rpc--process)
                (hive-rpc--greeted conn info)))
   :error (lambda (err)
            (when (eq conn hive-rpc--process)
              (hive-rpc--refused conn err)))))

(defun hive-rpc--greeted (conn info)
  "Accept or refuse CONN, whose sidecar replied to the handshake with INFO."
  (let* ((theirs (plist-get info :protocol_version))
         (problem (hive-rpc--mismatch theirs)))
    (if problem
        (hive-rpc--fail conn problem)
      (setq hive-sidecar-info info
            hive-sidecar-connected-at (hive-now)
            hive-rpc-connection conn)
      (hive-rpc-tell 'initialized nil)
      (hive-rpc--become 'connected)
      (hive-rpc-run-hook 'hive-connected-hook))))

(defun hive-rpc--mismatch (theirs)
  "Return a sentence if the sidecar's protocol THEIRS is not ours."
  (cond ((not (integerp theirs))
         (hive-words
          "The program that was started is not a Hive sidecar; check `hive-sidecar-command'"))
        ((< theirs hive-sidecar-protocol)
         (hive-words
          "The Hive sidecar is older than hive-mode; update it with M-x hive-install-sidecar"))
        ((> theirs hive-sidecar-protocol)
         (hive-words
          "Your hive-mode is older than the Hive sidecar; update the package hive-mode, then restart Emacs"))))

(defun hive-rpc--refused (conn err)
  "Handle the error ERR of CONN's handshake."
  (pcase (plist-get err :name)
    ('disconnected)                     ; `hive-rpc--ended' handles it
    ((or 'timeout 'store_busy 'store_unavailable 'store_full)
     (hive-rpc--drop conn)
     (hive-rpc--retry (plist-get err :text)))
    (_ (hive-rpc--fail conn (plist-get err :text)))))

(defun hive-rpc--drop (conn)
  "Drop CONN: close it and ignore what it still sends."
  (when (eq conn hive-rpc--process)
    (setq hive-rpc--process nil))
  (when (eq conn hive-rpc-connection)
    (setq hive-rpc-connection nil))
  (hive-rpc-close conn))

(defun hive-rpc--fail (conn problem)
  "Drop CONN, and do not restart until a person has fixed PROBLEM."
  (hive-rpc--drop conn)
  (hive-rpc--become 'failed (hive-rpc--sentence problem)))

;;;; End and restart

(defun hive-rpc--ended (conn)
  "Handle the end of CONN's process: plan a restart, or report a problem."
  (when (eq conn hive-rpc--process)
    (let ((status (process-exit-status (jsonrpc--process conn)))
          (words (hive-rpc--last-words conn))
          (greeted (eq conn hive-rpc-connection)))
      (setq hive-rpc--process nil
            hive-rpc-connection nil)
      (when (and greeted (> (- (hive-now) hive-sidecar-connected-at) 60))
        (setq hive-rpc--delay 1))
      (cond
       (greeted (hive-rpc--retry (or words (hive-words 'sidecar-stopped))))
       ((and (memq status '(126 127)) (not hive-node-program))
        (hive-rpc--become 'failed (hive-words
                                   "The program `hive' did not find Node.js; install Node.js %s or newer, or set `hive-node-program', then run M-x hive-restart"
                                   hive-program-node-version)))
       ((and words (string-match-p "\\bNode\\(?:\\.js\\)?\\b.*[0-9]" words))
        (hive-rpc--become 'failed (hive-words "%s  Or set `hive-node-program' and run M-x hive-restart"
                                              (hive-rpc--sentence words))))
       ;; The sidecar refuses an Emacs that an agent has started (docs/cli.md).
       ((and (eql status 7) words)
        (hive-rpc--become 'failed (hive-rpc--sentence words)))
       (t (hive-rpc--retry
           (or words (hive-words "the sidecar exited with status %s" status))))))))

(defun hive-rpc--last-words (conn)
  "Return the most useful line of CONN's standard error, or nil."
  (let ((lines (reverse (slot-value conn 'said))))
    (or (cl-find-if (lambda (line) (string-match-p "\\`hive\\|\\bNode\\b" line)) lines)
        (car (last lines)))))

(defun hive-rpc--retry (problem)
  "Restart after a delay, because of PROBLEM."
  (let ((delay hive-rpc--delay)
        (sentence (hive-rpc--sentence problem)))
    (unless (string-match-p "[.!?]\\'" sentence) (setq sentence (concat sentence ".")))
    (setq hive-rpc--delay (min 60 (* 2 delay)))
    (hive-set-timer 'hive-rpc--start-timer delay #'hive-sidecar-start)
    (hive-rpc--become 'waiting
                      (hive-words "%s  Retrying in %s s" sentence delay))))

;;;; Stop

(defun hive-sidecar-stop ()
  "Stop the sidecar, and cancel a planned start."
  (hive-set-timer 'hive-rpc--start-timer)
  (when hive-rpc--process
    (hive-rpc--drop hive-rpc--process))
  (setq hive-rpc--delay 1)
  (hive-rpc--become 'off))

(defun hive-sidecar-goodbye ()
  "Send `exit' to the sidecar, without waiting; for `kill-emacs-hook'."
  (hive-rpc-tell 'exit nil :conn hive-rpc--process))

;;;###autoload
(defun hive-restart ()
  "Stop the Hive sidecar and start it again.
Use it after you fixed a problem that Hive reported: installed or
updated the program, or changed `hive-sidecar-command',
`hive-node-program' or `hive-store'."
  (interactive)
  (hive-sidecar-stop)
  (hive-sidecar-start)
  (when (eq hive-sidecar-state 'failed)
    (hive-say 'from-sidecar hive-sidecar-problem)))

(provide 'hive-rpc)
;;; hive-rpc.el ends here
