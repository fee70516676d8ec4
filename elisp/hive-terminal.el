;;; hive-terminal.el --- The terminal of an agent in this Emacs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; An agent that runs in a terminal of this Emacs (vterm, eat, term, shell)
;; has a process that descends from one of Emacs' own.  That leads from a
;; session to its buffer, whatever the terminal's package is.

;;; Code:

(require 'cl-lib)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-text)

(defun hive-terminal--ancestors (pid)
  "Return PID and the ids of the processes it descends from, nearest first."
  (let (chain)
    (while (and (integerp pid) (> pid 1) (not (memq pid chain)) (< (length chain) 50))
      (push pid chain)
      (setq pid (alist-get 'ppid (process-attributes pid))))
    (nreverse chain)))

(defun hive-terminal-buffer (pid)
  "Return the buffer of this Emacs for the process PID, or nil."
  (let ((ours (cl-loop for process in (process-list)
                       when (and (process-id process) (buffer-live-p (process-buffer process)))
                       collect (cons (process-id process) (process-buffer process)))))
    (cl-loop for ancestor in (hive-terminal--ancestors pid)
             thereis (alist-get ancestor ours))))

(defun hive-terminal-visit (session-id name)
  "Go to the buffer of SESSION-ID; NAME is what people call it."
  (let ((from (selected-window)) (name (hive-text-line name 40)))
    (hive-rpc-request
     'session/list (list :state "alive" :limit 500)
     :success
     (lambda (result)
       (let* ((session (cl-find session-id (append (plist-get result :sessions) nil)
                                :test #'equal
                                :key (lambda (session) (plist-get session :session_id))))
              (buffer (and session (hive-terminal-buffer (plist-get session :pid)))))
         (cond ((null session) (hive-notify-say "%s is not here any more" name))
               ((null buffer) (hive-notify-say "%s does not run in this Emacs" name))
               ;; Who went on meanwhile is shown the buffer and stays where they are.
               ((and (eq from (selected-window)) (not (hive-notify-busy-p)))
                (pop-to-buffer buffer))
               (t (display-buffer buffer)))))
     :error (lambda (err)
              (hive-notify-say "Hive could not look where %s runs: %s" name
                               (hive-text-line (plist-get err :text) 200))))))

(provide 'hive-terminal)
;;; hive-terminal.el ends here
