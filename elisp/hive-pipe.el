;;; hive-pipe.el --- A pipe to a process that never freezes Emacs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The connection of jsonrpc, made safe.  Three rules keep Emacs free and
;; the stream whole:
;;
;; - Nothing happens inside the process filter.  jsonrpc calls us from
;;   there, and sending from there while input arrives corrupts the
;;   stream for good.  What arrives goes to hive-work.el.
;; - The filter itself never nests: while it runs, or while we send (which
;;   reads when the pipe is full), chunks wait in line.
;; - No error and no quit leaves it: either would freeze typing.
;;
;; What is asked and told over the pipe is in hive-rpc.el.

;;; Code:

(require 'cl-lib)
(require 'eieio)
(require 'hive-work)
(require 'jsonrpc)
(require 'subr-x)
(require 'warnings)

;;;; Opening

(defclass hive-pipe (jsonrpc-process-connection)
  ((chunks :initform nil :documentation "Input that waits, newest first.")
   (filter :initform nil :documentation "The filter of jsonrpc itself.")
   (busy :initform nil :documentation "Non-nil while parsing or sending.")
   (said :initform nil :documentation "Last lines of standard error.")
   (silent :initform 0 :documentation "Requests in a row without an answer."))
  :documentation "A JSON-RPC connection that works outside the process filter.")

(defun hive-pipe-open (command environment on-notified on-exit)
  "Start COMMAND, a list, in ENVIRONMENT and return a connection to it.
ON-NOTIFIED is called later with the connection, the method and the
params of each notification; ON-EXIT later with the connection, when
the process has ended.  The program must exist: see `executable-find'."
  (let* ((stderr (make-pipe-process :name "hive-stderr" :noquery t
                                    :buffer nil :sentinel #'ignore))
         (start (lambda () (hive-pipe--spawn command environment stderr)))
         (args (list :name "hive" :process start
                     :notification-dispatcher
                     (lambda (&rest notification)
                       (apply #'hive-work-later on-notified notification))
                     :on-shutdown
                     (lambda (conn)
                       (delete-process stderr)
                       (hive-work-later on-exit conn))))
         (conn (condition-case nil
                   (apply #'make-instance 'hive-pipe
                          :events-buffer-config '(:size 0) args)
                 (invalid-slot-name ; jsonrpc before 1.0.18
                  (apply #'make-instance 'hive-pipe
                         :events-buffer-scrollback-size 0 args)))))
    (set-process-filter stderr (hive-pipe--stderr-filter conn))
    (hive-pipe--wrap-filter conn)
    (hive-pipe--wrap-sentinel conn)
    conn))

(defun hive-pipe--spawn (command environment stderr)
  "Make the process of COMMAND in ENVIRONMENT, with its STDERR apart."
  ;; Adaptive buffering costs 20 ms at each stall: 1,000 round trips took
  ;; up to 8 s with it and 0.3 s without.
  (let ((process-adaptive-read-buffering nil)
        (process-environment environment)
        ;; The directory of the current buffer may be remote, or gone.
        (default-directory (if (file-directory-p "~/") (expand-file-name "~/") "/")))
    (make-process :name "hive" :command command :connection-type 'pipe
                  :coding 'utf-8-emacs-unix :noquery t :stderr stderr)))

(defun hive-pipe--stderr-filter (conn)
  "Return a filter to log lines and keep the last of them in CONN."
  (lambda (_process text)
    (dolist (line (split-string text "[\r\n]+" t))
      (push line (slot-value conn 'said))
      (when (nthcdr 20 (slot-value conn 'said))
        (setcdr (nthcdr 19 (slot-value conn 'said)) nil))
      (hive-work-guarded #'hive-work-log "sidecar: %s" line))))

;;;; What arrives

(defun hive-pipe--wrap-filter (conn)
  "Put a line in front of CONN's filter, so that it never nests."
  (let ((process (jsonrpc--process conn)))
    (setf (slot-value conn 'filter) (process-filter process))
    (set-process-filter process
                        (lambda (_process chunk)
                          (push chunk (slot-value conn 'chunks))
                          (hive-pipe--parse conn)))))

(defun hive-pipe--parse (conn)
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
        (run-at-time 0 nil #'hive-pipe--parse conn)))))

(defun hive-pipe--wrap-sentinel (conn)
  "Keep jsonrpc from talking when CONN's process ends."
  (let* ((process (jsonrpc--process conn))
         (sentinel (process-sentinel process)))
    (set-process-sentinel
     process
     (lambda (process change)
       (hive-pipe--parse conn)
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

;;;; Sending

(defmacro hive-pipe-sending (conn &rest body)
  "Run BODY, which sends on CONN, while nothing of CONN is parsed."
  (declare (indent 1) (debug t))
  ;; A full pipe makes Emacs read while it writes.
  `(let ((busy (slot-value ,conn 'busy)))
     (setf (slot-value ,conn 'busy) t)
     (unwind-protect (progn ,@body)
       (setf (slot-value ,conn 'busy) busy)
       (when (and (not busy) (slot-value ,conn 'chunks))
         (run-at-time 0 nil #'hive-pipe--parse ,conn)))))

(defun hive-pipe-answered (conn)
  "Note that CONN's process gave an answer."
  (setf (slot-value conn 'silent) 0))

(defun hive-pipe-unanswered (conn)
  "Note that CONN left a request without an answer; end it the second time.
A stream that lost its place never finds it again by itself."
  (when (and (> (cl-incf (slot-value conn 'silent)) 1)
             (hive-pipe-live-p conn))
    (hive-pipe-kill conn)))

;;;; The process

(defun hive-pipe-last-words (conn)
  "Return the last lines that CONN's process wrote to standard error."
  (reverse (slot-value conn 'said)))

(defun hive-pipe-exit-status (conn)
  "Return the exit status of CONN's process."
  (process-exit-status (jsonrpc--process conn)))

(defun hive-pipe-live-p (conn)
  "Return non-nil while the process of CONN is alive."
  (and conn (process-live-p (jsonrpc--process conn))))

(defun hive-pipe-kill (conn)
  "End CONN's process."
  (delete-process (jsonrpc--process conn)))

(provide 'hive-pipe)
;;; hive-pipe.el ends here
