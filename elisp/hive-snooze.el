;;; hive-snooze.el --- Questions put away for a while  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A question that was put away is not counted, not offered and not told of
;; until its time has come; then it comes back by itself, as if it had just
;; arrived.  Its agent goes on waiting all the while.  Putting away what is
;; away already brings it back at once.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-waiting)

(defcustom hive-snooze-minutes 30
  "For how many minutes \\`s' puts a question away.
The same key on one that is away brings it back."
  :type 'natnum
  :group 'hive)

(defun hive-snooze-prompt (prompt &optional minutes)
  "Put PROMPT away for MINUTES, by default `hive-snooze-minutes'.
It comes back by itself; its agent goes on waiting.  One that is
away already comes back now, unless MINUTES are given: it then
stays away for so long.  Return non-nil if it is put away."
  (hive-sidecar-demand)
  (let* ((id (plist-get prompt :ask_id))
         (back (and (null minutes)
                    (hive-prompt-snoozed-p (or (hive-model-prompt id) prompt))))
         (minutes (or minutes hive-snooze-minutes)))
    (hive-rpc-request
     'prompt/snooze (list :ask_id id
                          :until (unless back (hive-text-before (* -60 minutes))))
     :error (lambda (err)
              (hive-notify-say "Hive could not %s: %s"
                               (if back "bring the question back" "put the question away")
                               (hive-text-line (plist-get err :text) 200))))
    (message "%s" (if back "Back again" (format "Put away for %d minutes" minutes)))
    (not back)))

(defvar hive-snooze--timer nil "The timer of the next return, or nil.")
(defvar hive-snooze--next nil "When that is, as the wire writes it.")

(defun hive-snooze--plan ()
  "Wait for the question that comes back first."
  (let (next)
    (maphash (lambda (_ prompt)
               (let ((until (plist-get prompt :snoozed_until)))
                 (when (or (null next) (string< until next)) (setq next until))))
             hive-waiting-snoozed)
    (unless (equal next hive-snooze--next)
      (when hive-snooze--timer (cancel-timer hive-snooze--timer))
      (setq hive-snooze--next next
            hive-snooze--timer
            (and next (run-at-time (max 0 (- (hive-text-seconds next) (float-time)))
                                   nil #'hive-snooze--wake))))))

(defun hive-snooze--wake ()
  "Let the questions come back whose time has come."
  (setq hive-snooze--timer nil
        hive-snooze--next nil)
  (let (back)
    (maphash (lambda (id prompt)
               (unless (hive-prompt-snoozed-p prompt) (push (cons id prompt) back)))
             hive-waiting-snoozed)
    (pcase-dolist (`(,id . ,prompt) back)
      (remhash id hive-waiting-snoozed)
      (run-hook-with-args 'hive-arrived-functions prompt)))
  (hive-changed))

(add-hook 'hive-changed-hook #'hive-snooze--plan)

(provide 'hive-snooze)
;;; hive-snooze.el ends here
