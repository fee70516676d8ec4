;;; hive-quiet.el --- Quiet times, and what arrived meanwhile  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; While you are not to be disturbed, and in your quiet hours, only critical
;; questions pop up: the sidecar sees to that.  Here is the end of it: one
;; line tells of what arrived meanwhile and still waits.

;;; Code:

(require 'cl-lib)
(require 'hive-attention)
(require 'hive-notify)
(require 'hive-text)
(require 'hive-waiting)

;;;; What arrived meanwhile

(defun hive-quiet--arrived (since)
  "Return how many questions wait that arrived after SINCE, as the wire writes it."
  (cl-count-if (lambda (prompt) (string< since (plist-get prompt :created_at)))
               (hive-prompts-mine)))

(defun hive-quiet--say (count)
  "Say that COUNT questions arrived meanwhile."
  (hive-notify-say "Meanwhile %d question%s arrived that still wait%s"
                   count (if (= count 1) "" "s") (if (= count 1) "s" "")))

;;;; Do not disturb

(defvar hive-quiet--since nil "When do-not-disturb began, or nil.")
(defvar hive-quiet--timer nil "The timer of its end, or nil.")

;;;###autoload
(defun hive-do-not-disturb (&optional minutes)
  "Let only critical questions pop up, until this is called again.
With a prefix argument, for that many MINUTES.  What arrived
meanwhile is told of in one line at the end."
  (interactive "P")
  (if (and hive-quiet--since (null minutes))
      (hive-attention--tell (list :do_not_disturb :json-false)
                            (lambda (_) (hive-quiet--end)))
    (let* ((minutes (and minutes (prefix-numeric-value minutes)))
           (until (and minutes (hive-text-before (* -60 minutes)))))
      (hive-attention--tell
       (list :do_not_disturb (or until t))
       (lambda (_)
         (hive-quiet--begin until)
         (hive-notify-say "Do not disturb: only critical questions pop up%s"
                          (if minutes (format " for %d minutes" minutes) "")))))))

(defun hive-quiet--begin (until)
  "Note that it is quiet now, UNTIL a time of the wire or nil for no end."
  (setq hive-quiet--since (hive-text-now))
  (when hive-quiet--timer (cancel-timer hive-quiet--timer))
  (setq hive-quiet--timer
        (and until
             (run-at-time (max 0 (- (hive-text-seconds until) (float-time)))
                          nil #'hive-quiet--end))))

(defun hive-quiet--end ()
  "Say what arrived while it was quiet."
  (when hive-quiet--timer (cancel-timer hive-quiet--timer))
  (setq hive-quiet--timer nil)
  (when hive-quiet--since
    (let ((count (hive-quiet--arrived hive-quiet--since)))
      (setq hive-quiet--since nil)
      (if (> count 0)
          (hive-quiet--say count)
        (hive-notify-say "Nothing arrived meanwhile that still waits")))))

;;;; Quiet hours

(defvar hive-quiet--hours-timer nil "The timer of the end of the next quiet hours, or nil.")

(defun hive-quiet--at (clock day)
  "Return the moment of CLOCK, such as \"07:30\", DAY days from today."
  (let ((today (decode-time)))
    (float-time
     (encode-time (list 0 (string-to-number (substring clock 3)) (string-to-number clock)
                        (+ day (nth 3 today)) (nth 4 today) (nth 5 today) nil -1 nil)))))

(defun hive-quiet--hours (from to)
  "Return begin and end of the quiet hours FROM a clock TO a clock that end next."
  (let* ((now (float-time))
         (end (cl-find-if (lambda (moment) (> moment (1+ now)))
                          (list (hive-quiet--at to 0) (hive-quiet--at to 1))))
         (begin (cl-find-if (lambda (moment) (< moment end))
                            (list (hive-quiet--at from 1) (hive-quiet--at from 0)
                                  (hive-quiet--at from -1)))))
    (cons begin end)))

(defun hive-quiet--plan (hours)
  "Wait for the end of the quiet HOURS, a plist of :from and :to, or nil for none."
  (when hive-quiet--hours-timer (cancel-timer hive-quiet--hours-timer))
  (setq hive-quiet--hours-timer
        (when hours
          (pcase-let ((`(,begin . ,end)
                       (hive-quiet--hours (plist-get hours :from) (plist-get hours :to))))
            (run-at-time (- end (float-time)) nil #'hive-quiet--hours-end hours
                         (hive-text-before (- (float-time) begin)))))))

(defun hive-quiet--hours-end (hours begin)
  "Say what arrived in the quiet HOURS since BEGIN; wait for the next ones."
  (setq hive-quiet--hours-timer nil)
  (let ((count (hive-quiet--arrived begin)))
    ;; Nobody asked: that nothing came is not worth a word.
    (when (> count 0) (hive-quiet--say count)))
  (hive-quiet--plan hours))

(defun hive-quiet--take (preferences)
  "Heed the PREFERENCES that stand, perhaps since before this Emacs started."
  (hive-quiet--plan (plist-get preferences :quiet_hours))
  (let ((until (plist-get preferences :do_not_disturb)))
    (when (and (null hive-quiet--since)
               (or (eq until t) (and (stringp until) (string< (hive-text-now) until))))
      (hive-quiet--begin (and (stringp until) until)))))

(add-hook 'hive-attention-functions #'hive-quiet--take)

(provide 'hive-quiet)
;;; hive-quiet.el ends here
