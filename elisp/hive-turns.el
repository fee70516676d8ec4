;;; hive-turns.el --- What runs now  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The turns that run, one a session, as the sidecar tells them: so that an
;; agent can be interrupted at once, without asking anybody first.

;;; Code:

(require 'hive-handles)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)

(defvar hive-turns--running (make-hash-table :test #'equal)
  "The turns that run, by the ids of their sessions.")

(defvar hive-turns-changed-functions nil
  "Called with each turn that something happened to.")

(defconst hive-turns--most 1000 "How many turns are known at most.")

(defun hive-turns-running ()
  "Return what is running, a turn each, the longest first."
  (let (turns)
    (maphash (lambda (_ turn) (push turn turns)) hive-turns--running)
    (sort turns (lambda (a b) (string< (or (plist-get a :started_at) "")
                                       (or (plist-get b :started_at) ""))))))

(defun hive-turns-doing (turn)
  "Return what TURN is doing, and for how long, in a few words."
  (let ((tool (plist-get turn :tool)))
    (if tool
        (format "%s for %s" (hive-text-line tool 40) (hive-text-age (plist-get turn :tool_since)))
      (format "running for %s" (hive-text-age (plist-get turn :started_at))))))

(defun hive-turns--take (turn)
  "Remember TURN until its end, and tell of it."
  (let ((session (plist-get turn :session_id)))
    (cond ((equal (plist-get turn :state) "in_progress")
           (when (or (gethash session hive-turns--running)
                     (< (hash-table-count hive-turns--running) hive-turns--most))
             (puthash session turn hive-turns--running)))
          ;; The end of a turn may be told after another has begun.
          ((equal (plist-get turn :turn_id)
                  (plist-get (gethash session hive-turns--running) :turn_id))
           (remhash session hive-turns--running)))
    (run-hook-with-args 'hive-turns-changed-functions turn)))

(cl-defmethod hive-rpc-notify ((_method (eql 'turn/changed)) turn)
  "Take TURN, with which something happened."
  (hive-turns--take turn))

(defun hive-turns--listed (sessions)
  "Take who is at work from SESSIONS, which the sidecar listed anew.
Where it left some out, they were silent for longer than these."
  (clrhash hive-turns--running)
  (dolist (session sessions)
    (let ((turn (plist-get session :turn)))
      (when turn
        (hive-turns--take (append turn (list :agent (plist-get session :handle)
                                             :project (plist-get session :project))))))))

(defun hive-turns--sidecar ()
  "Forget everything when Hive is turned off."
  (when (eq hive-sidecar-state 'off) (clrhash hive-turns--running)))

(add-hook 'hive-handles-listed-functions #'hive-turns--listed)
(add-hook 'hive-sidecar-state-hook #'hive-turns--sidecar)

(provide 'hive-turns)
;;; hive-turns.el ends here
