;;; hive-work.el --- Work that waits for its moment  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What filters, sentinels and handlers have to do is done later, by a timer
;; of 0 seconds, in order, in slices that give way to the keyboard.  No error
;; and no quit leaves it: either would freeze typing.  What goes wrong stands
;; in the buffer *hive log*.

;;; Code:

;;;; A log for the curious

(defconst hive-work--log-lines 500 "How many lines the log keeps.")

(defun hive-work-log (format &rest args)
  "Append a line made from FORMAT and ARGS to the buffer *hive log*."
  (with-current-buffer (get-buffer-create "*hive log*")
    (let ((inhibit-read-only t) (inhibit-modification-hooks t))
      (unless (derived-mode-p 'special-mode)
        (special-mode)
        (buffer-disable-undo))
      (save-excursion
        (goto-char (point-max))
        (insert (format-time-string "%T ") (apply #'format format args) "\n")
        (forward-line (- hive-work--log-lines))
        (delete-region (point-min) (point))))))

;;;; Work, done outside the filter

(defvar hive-work--waiting nil "Thunks that wait to be run, oldest first.")
(defvar hive-work--tail nil "The last cons of `hive-work--waiting'.")
(defvar hive-work--timer nil "The timer that will run the inbox, or nil.")
(defconst hive-work--slice 0.02 "How many seconds to work before a pause.")

(defun hive-work-later (function &rest args)
  "Call FUNCTION with ARGS soon, in order, outside filters and sentinels."
  (let ((cell (list (lambda () (apply function args)))))
    (if hive-work--waiting
        (setcdr hive-work--tail cell)
      (setq hive-work--waiting cell))
    (setq hive-work--tail cell)
    (unless hive-work--timer
      (setq hive-work--timer (run-at-time 0 nil #'hive-work--work)))))

(defun hive-work-guarded (function &rest args)
  "Call FUNCTION with ARGS; log an error or a quit instead of raising it."
  (condition-case oops
      (apply function args)
    ((error quit) (hive-work-log "error: %S" oops) nil)))

(defun hive-work--work ()
  "Run what waits in the inbox, for one slice of time."
  (setq hive-work--timer nil)
  (let ((deadline (+ (float-time) hive-work--slice)))
    (unwind-protect
        (save-match-data
          (while (and hive-work--waiting
                      (progn (hive-work-guarded (pop hive-work--waiting)) t)
                      (< (float-time) deadline)
                      (not (input-pending-p)))))
      (when (and hive-work--waiting (not hive-work--timer))
        (setq hive-work--timer (run-at-time 0 nil #'hive-work--work))))))

(provide 'hive-work)
;;; hive-work.el ends here
