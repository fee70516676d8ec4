;;; hive-rpc.el --- The connection to the Hive sidecar  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The only owner of jsonrpc.  Three rules keep Emacs free and the stream
;; whole:
;;
;; - Nothing happens inside the process filter.  jsonrpc calls us from
;;   there, and sending from there while input arrives corrupts the
;;   stream for good.  What arrives goes to hive-work.el.
;; - The filter itself never nests: while it runs, or while we send (which
;;   reads when the pipe is full), chunks wait in line.
;; - No error and no quit leaves a handler: either would freeze typing.
;;
;; Requests are asynchronous only: `hive-rpc-request'.  What the sidecar
;; tells arrives at the generic function `hive-rpc-notify'; a capability
;; adds a method for each notification it understands.

;;; Code:

(require 'cl-lib)
(require 'eieio)
(require 'hive-work)
(require 'jsonrpc)
(require 'subr-x)
(require 'warnings)

(defvar hive-rpc-connection nil
  "The connection that requests go to, or nil while there is none.
Set by whoever completed the handshake.")

(cl-defgeneric hive-rpc-notify (_method _params)
  "Handle the notification METHOD, a symbol, with its PARAMS, a plist.
Capabilities add methods with an `eql' specializer.  What no
method understands, a newer sidecar said: it is ignored."
  nil)

(defun hive-rpc-true-p (thing key)
  "Return non-nil if KEY of THING, a plist from the wire, is true there.
What is false on the wire is no nil."
  (not (memq (plist-get thing key) '(nil :json-false))))

;;;; The connection

(defclass hive-rpc-pipe (jsonrpc-process-connection)
  ((chunks :initform nil :documentation "Input that waits, newest first.")
   (filter :initform nil :documentation "The filter of jsonrpc itself.")
   (busy :initform nil :documentation "Non-nil while parsing or sending.")
   (said :initform nil :documentation "Last lines of standard error.")
   (silent :initform 0 :documentation "Requests in a row without an answer."))
  :documentation "A JSON-RPC connection that works outside the process filter.")

(defun hive-rpc-open (command environment on-exit)
  "Start COMMAND, a list, in ENVIRONMENT and return a connection to it.
ON-EXIT is called later with the connection, when the process has
ended.  The program must exist: see `executable-find'."
  (let* ((stderr (make-pipe-process :name "hive-stderr" :noquery t
                                    :buffer nil :sentinel #'ignore))
         (start (lambda () (hive-rpc--spawn command environment stderr)))
         (args (list :name "hive" :process start
                     :notification-dispatcher #'hive-rpc--notified
                     :on-shutdown
                     (lambda (conn)
                       (delete-process stderr)
                       (hive-work-later on-exit conn))))
         (conn (condition-case nil
                   (apply #'make-instance 'hive-rpc-pipe
                          :events-buffer-config '(:size 0) args)
                 (invalid-slot-name ; jsonrpc before 1.0.18
                  (apply #'make-instance 'hive-rpc-pipe
                         :events-buffer-scrollback-size 0 args)))))
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
  "Return a filter to log lines and keep the last of them in CONN."
  (lambda (_process text)
    (dolist (line (split-string text "[\r\n]+" t))
      (push line (slot-value conn 'said))
      (when (nthcdr 20 (slot-value conn 'said))
        (setcdr (nthcdr 19 (slot-value conn 'said)) nil))
      (hive-work-guarded #'hive-work-log "sidecar: %s" line))))

(defun hive-rpc--wrap-filter (conn)
  "Put a line in front of CONN's filter, so that it never nests."
  (let ((process (jsonrpc--process conn)))
    (setf (slot-value conn 'filter) (process-filter process))
    (set-process-filter process
                        (lambda (_process chunk)
                          (push chunk (slot-value conn 'chunks))
                          (hive-rpc--parse conn)))))

(defun hive-rpc--parse (conn)
  "Give CONN's waiting chunks to jsonrpc, unless somebody is at it."
  (unless (slot-value conn 'busy)
    (setf (slot-value conn 'busy) t)
    (unwind-protect
        (let ((process (jsonrpc--process conn))
              (failures 0)
              ;; A bad frame is not worth a window, a debugger or a word.
              (warning-minimum-level :emergency) (debug-on-error nil)
              (inhibit-message t) (message-log-max nil)
              (inhibit-quit t))
          (while (slot-value conn 'chunks)
            (let ((input (apply #'concat (nreverse (slot-value conn 'chunks)))))
              (setf (slot-value conn 'chunks) nil)
              (unless (hive-work-guarded
                       (lambda () (funcall (slot-value conn 'filter) process input) t))
                ;; A message failed and is gone; what stands behind it would
                ;; wait for the next input.  Nothing is parsed twice.
                (when (< (cl-incf failures) 1000)
                  (push "" (slot-value conn 'chunks)))))))
      (setf (slot-value conn 'busy) nil)
      (when (slot-value conn 'chunks)
        (run-at-time 0 nil #'hive-rpc--parse conn)))))

(defun hive-rpc--wrap-sentinel (conn)
  "Keep jsonrpc from talking when CONN's process ends."
  (let* ((process (jsonrpc--process conn))
         (sentinel (process-sentinel process)))
    (set-process-sentinel
     process
     (lambda (process change)
       (hive-rpc--parse conn)
       (let ((shown (current-message))
             (message-log-max nil))
         (let ((inhibit-message t))
           (hive-work-guarded sentinel process change))
         ;; A message that is inhibited still wipes what was shown.
         (when shown (message "%s" shown)))
       (unless (process-live-p process)
         (hive-work-log "sidecar ended: %s" (string-trim change))
         (dolist (buffer (list (process-buffer process)
                               (process-get process 'jsonrpc-stderr)
                               (jsonrpc--events-buffer conn)))
           (when (buffer-live-p buffer) (kill-buffer buffer))))))))

(defun hive-rpc--notified (conn method params)
  "Queue the notification METHOD of CONN with PARAMS, being in a filter."
  (hive-work-later (lambda ()
                    ;; A connection that was given up may still talk.
                    (when (eq conn hive-rpc-connection)
                      (hive-rpc-notify method params)))))

(defun hive-rpc-last-words (conn)
  "Return the last lines that CONN's process wrote to standard error."
  (reverse (slot-value conn 'said)))

(defun hive-rpc-exit-status (conn)
  "Return the exit status of CONN's process."
  (process-exit-status (jsonrpc--process conn)))

(defun hive-rpc-live-p (conn)
  "Return non-nil while the process of CONN is alive."
  (and conn (process-live-p (jsonrpc--process conn))))

(defun hive-rpc-close (conn)
  "Ask CONN's process to end; end it if it has not within 2 seconds.
Waits for nothing."
  (when (hive-rpc-live-p conn)
    (hive-rpc-tell 'shutdown nil :conn conn :id t)
    (hive-rpc-tell 'exit nil :conn conn)
    (run-at-time 2 nil (lambda ()
                         (when (hive-rpc-live-p conn)
                           (delete-process (jsonrpc--process conn)))))))

;;;; Asking and telling

(defmacro hive-rpc--sending (conn &rest body)
  "Run BODY, which sends on CONN, while nothing of CONN is parsed."
  (declare (indent 1) (debug t))
  ;; A full pipe makes Emacs read while it writes.
  `(let ((busy (slot-value ,conn 'busy)))
     (setf (slot-value ,conn 'busy) t)
     (unwind-protect (progn ,@body)
       (setf (slot-value ,conn 'busy) busy)
       (when (and (not busy) (slot-value ,conn 'chunks))
         (run-at-time 0 nil #'hive-rpc--parse ,conn)))))

(defun hive-rpc--error (code message)
  "Return what an error callback gets, from CODE and MESSAGE of the wire.
The message of a domain error begins with its name and a colon."
  (if (and message (string-match "\\`\\([a-z][a-z_]+\\): +" message))
      (list :code code :name (intern (match-string 1 message))
            :text (substring message (match-end 0)))
    (list :code code :name nil :text (or message ""))))

(cl-defun hive-rpc-request (method params
                                   &key (conn hive-rpc-connection) success error
                                   (timeout 15))
  "Ask the sidecar METHOD, a symbol, with PARAMS, a plist; wait for nothing.
Exactly one of the callbacks is called, later: SUCCESS with the
result, or ERROR with a plist of :code, :name and :text.  :name is
the symbol of a domain error such as `store_busy', or `timeout',
or `disconnected'; nil for an error of the protocol itself.
TIMEOUT is in seconds.  CONN defaults to `hive-rpc-connection'."
  (let ((fail (lambda (err) (when error (hive-work-later error err)))))
    (if (not (hive-rpc-live-p conn))
        (funcall fail '(:code -1 :name disconnected :text "Not connected"))
      (condition-case oops
          (hive-rpc--sending conn
            (jsonrpc-async-request
             conn method (or params (make-hash-table))
             :timeout timeout
             :success-fn
             (lambda (result)
               (setf (slot-value conn 'silent) 0)
               (when success (hive-work-later success result)))
             :error-fn
             (lambda (err)
               (setf (slot-value conn 'silent) 0)
               (funcall fail (if (hive-rpc-live-p conn)
                                 (hive-rpc--error (plist-get err :code)
                                                  (plist-get err :message))
                               '(:code -1 :name disconnected
                                       :text "The sidecar ended"))))
             :timeout-fn
             (lambda ()
               (hive-rpc--timed-out conn method)
               (funcall fail '(:code -1 :name timeout :text "No answer")))))
        ((wrong-type-argument json-error) ; no JSON can be made of it
         (funcall fail (list :code -32602 :name nil
                             :text (error-message-string oops))))
        (error                          ; it died, or was stopped, just now
         (hive-work-log "cannot send %s: %S" method oops)
         (funcall fail (list :code -1 :name 'disconnected
                             :text (error-message-string oops)))))))
  nil)

(defun hive-rpc--timed-out (conn method)
  "Note that CONN left METHOD without an answer; end it the second time.
A stream that lost its place never finds it again by itself."
  (hive-work-log "no answer to %s" method)
  (when (and (> (cl-incf (slot-value conn 'silent)) 1)
             (hive-rpc-live-p conn))
    (delete-process (jsonrpc--process conn))))

(cl-defun hive-rpc-tell (method params &key (conn hive-rpc-connection) id)
  "Send METHOD, a symbol, with PARAMS to CONN and expect nothing.
With ID it is a request whose answer is ignored."
  (when (hive-rpc-live-p conn)
    (if id
        (hive-rpc-request method params :conn conn)
      (hive-work-guarded
       (lambda ()
         (hive-rpc--sending conn
           (jsonrpc-notify conn method (or params (make-hash-table)))))))))

(provide 'hive-rpc)
;;; hive-rpc.el ends here
