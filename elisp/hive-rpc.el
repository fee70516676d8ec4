;;; hive-rpc.el --- The connection to the Hive sidecar  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What is asked and told over the pipe of hive-pipe.el; the two are the
;; only owners of jsonrpc.
;;
;; Requests are asynchronous only: `hive-rpc-request'.  What the sidecar
;; tells arrives at the generic function `hive-rpc-notify'; a capability
;; adds a method for each notification it understands.  Both run outside
;; the process filter, and no error and no quit leaves them.

;;; Code:

(require 'cl-lib)
(require 'hive-pipe)
(require 'hive-work)
(require 'jsonrpc)

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

(defun hive-rpc-open (command environment on-exit)
  "Start COMMAND, a list, in ENVIRONMENT and return a connection to it.
ON-EXIT is called later with the connection, when the process has
ended.  The program must exist: see `executable-find'."
  (hive-pipe-open command environment #'hive-rpc--notified on-exit))

(defun hive-rpc--notified (conn method params)
  "Take the notification METHOD of CONN with PARAMS."
  ;; A connection that was given up may still talk.
  (when (eq conn hive-rpc-connection)
    (hive-rpc-notify method params)))

(defun hive-rpc-close (conn)
  "Ask CONN's process to end; end it if it has not within 2 seconds.
Waits for nothing."
  (when (hive-pipe-live-p conn)
    (hive-rpc-tell 'shutdown nil :conn conn :id t)
    (hive-rpc-tell 'exit nil :conn conn)
    (run-at-time 2 nil (lambda ()
                         (when (hive-pipe-live-p conn)
                           (hive-pipe-kill conn))))))

;;;; Asking and telling

(defun hive-rpc-new-id ()
  "Return a new id, by which the sidecar knows what it was sent twice."
  (let ((hash (secure-hash 'sha256 (format "%S" (list (random) (random) (emacs-pid)
                                                      (float-time) (user-uid)
                                                      (recent-keys))))))
    (format "%s-%s-4%s-a%s-%s" (substring hash 0 8) (substring hash 8 12)
            (substring hash 13 16) (substring hash 17 20) (substring hash 20 32))))

(defconst hive-rpc-codes
  '((method-not-found . -32601) (invalid-params . -32602) (internal . -32603)
    (transient . -32001) (definite . -32002))
  "The codes of errors, as src/adapters/errors.ts has them.
A request that failed for a `transient' reason may be sent again.")

(defun hive-rpc-failed-p (err why)
  "Return non-nil if ERR, what an error callback got, has the code of WHY.
WHY is a symbol of `hive-rpc-codes'."
  (eql (plist-get err :code) (alist-get why hive-rpc-codes)))

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
    (if (not (hive-pipe-live-p conn))
        (funcall fail '(:code -1 :name disconnected :text "not connected (M-x hive-doctor says why)"))
      (condition-case oops
          (hive-pipe-sending conn
            (jsonrpc-async-request
             conn method (or params (make-hash-table))
             :timeout timeout
             :success-fn
             (lambda (result)
               (hive-pipe-answered conn)
               (when success (hive-work-later success result)))
             :error-fn
             (lambda (err)
               (hive-pipe-answered conn)
               (funcall fail (if (hive-pipe-live-p conn)
                                 (hive-rpc--error (plist-get err :code)
                                                  (plist-get err :message))
                               '(:code -1 :name disconnected
                                       :text "The sidecar ended"))))
             :timeout-fn
             (lambda ()
               (hive-work-log "no answer to %s" method)
               (hive-pipe-unanswered conn)
               (funcall fail '(:code -1 :name timeout :text "No answer")))))
        ((wrong-type-argument json-error) ; no JSON can be made of it
         (funcall fail (list :code (alist-get 'invalid-params hive-rpc-codes) :name nil
                             :text (error-message-string oops))))
        (error                          ; it died, or was stopped, just now
         (hive-work-log "cannot send %s: %S" method oops)
         (funcall fail (list :code -1 :name 'disconnected
                             :text (error-message-string oops)))))))
  nil)

(cl-defun hive-rpc-tell (method params &key (conn hive-rpc-connection) id)
  "Send METHOD, a symbol, with PARAMS to CONN and expect nothing.
With ID it is a request whose answer is ignored."
  (when (hive-pipe-live-p conn)
    (if id
        (hive-rpc-request method params :conn conn)
      (hive-work-guarded
       (lambda ()
         (hive-pipe-sending conn
           (jsonrpc-notify conn method (or params (make-hash-table)))))))))

(provide 'hive-rpc)
;;; hive-rpc.el ends here
