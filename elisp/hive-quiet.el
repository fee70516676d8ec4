;;; hive-quiet.el --- Quiet times, and what arrived meanwhile  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; While you are not to be disturbed, and in your quiet hours, only critical
;; questions pop up: the sidecar sees to that.  Here the echo area is held to
;; the same, also for projects that were muted; and at the end one line tells
;; of what arrived meanwhile and still waits.

;;; Code:

(require 'cl-lib)
(require 'hive-attention)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-rpc)
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
  "Let only critical questions be told of, until this is called again.
No other pops up or is told of in the echo area; a `z' in the mode
line shows that.  With a prefix argument, for that many MINUTES.  What arrived
meanwhile is told of in one line at the end."
  (interactive "P")
  (if (and hive-quiet--since (null minutes))
      (hive-attention-tell (list :do_not_disturb :json-false)
                            (lambda (_) (hive-quiet--end)))
    (let* ((minutes (and minutes (prefix-numeric-value minutes)))
           (until (and minutes (hive-text-before (* -60 minutes)))))
      (hive-attention-tell
       (list :do_not_disturb (or until t))
       (lambda (_)
         (hive-quiet--begin until)
         (hive-notify-say "Do not disturb: only critical questions pop up%s"
                          (if minutes (format " for %d minutes" minutes) "")))))))

(defun hive-quiet--begin (until)
  "Note that it is quiet now, UNTIL a time of the wire or nil for no end."
  (setq hive-quiet--since (hive-text-now))
  (hive-changed)
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
      (hive-changed)
      (if (> count 0)
          (hive-quiet--say count)
        (hive-notify-say "Nothing arrived meanwhile that still waits")))))

;;;; Quiet hours

(defvar hive-quiet--times nil "The quiet hours that stand, a plist of :from and :to, or nil.")
(defvar hive-quiet--hours-timer nil "The timer of the end of the next quiet hours, or nil.")
(defvar hive-quiet--begin-timer nil "The timer of their begin, or nil.")

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
  (dolist (timer (list hive-quiet--hours-timer hive-quiet--begin-timer))
    (when timer (cancel-timer timer)))
  (setq hive-quiet--times hours
        hive-quiet--hours-timer nil
        hive-quiet--begin-timer nil)
  (when hours
    (pcase-let ((`(,begin . ,end)
                 (hive-quiet--hours (plist-get hours :from) (plist-get hours :to)))
                (now (float-time)))
      (setq hive-quiet--hours-timer
            (run-at-time (- end now) nil #'hive-quiet--hours-end hours
                         (hive-text-before (- now begin))))
      (when (> begin now)
        (setq hive-quiet--begin-timer (run-at-time (- begin now) nil #'hive-changed)))))
  (hive-changed))

(defun hive-quiet--hours-end (hours begin)
  "Say what arrived in the quiet HOURS since BEGIN; wait for the next ones."
  (setq hive-quiet--hours-timer nil)
  (let ((count (hive-quiet--arrived begin)))
    ;; Nobody asked: that nothing came is not worth a word.
    (when (> count 0) (hive-quiet--say count)))
  (hive-quiet--plan hours))

(defun hive-quiet--hours-p ()
  "Return non-nil in the quiet hours."
  (and hive-quiet--times
       (<= (car (hive-quiet--hours (plist-get hive-quiet--times :from)
                                   (plist-get hive-quiet--times :to)))
           (float-time))))

;;;; What is held back

(defvar hive-quiet--muted nil "The projects that are muted: names, or their directories.")

(defun hive-quiet-text ()
  "Return why it is quiet and how that ends, in words, or nil when it is not."
  (cond (hive-quiet--since "Do not disturb: M-x hive-do-not-disturb ends it")
        ((hive-quiet--hours-p)
         (format "Quiet hours until %s" (hive-text-line (plist-get hive-quiet--times :to) 10)))))

(defun hive-quiet--held-p (item)
  "Return non-nil if nobody is to be told of ITEM, a plist, when it arrives."
  ;; A question has an urgency; a ping or card is critical or is not.
  (and (not (equal (plist-get item :urgency) "critical"))
       (not (hive-rpc-true-p item :critical))
       (or (hive-quiet-text)
           (member (plist-get item :project) hive-quiet--muted)
           (member (plist-get item :project_dir) hive-quiet--muted))))

(add-hook 'hive-notify-held-functions #'hive-quiet--held-p)

;;;; What stands

(defun hive-quiet--take (preferences)
  "Heed the PREFERENCES that stand, perhaps since before this Emacs started."
  (hive-quiet--plan (plist-get preferences :quiet_hours))
  (setq hive-quiet--muted (append (plist-get preferences :muted_projects) nil))
  (let* ((until (plist-get preferences :do_not_disturb))
         (quiet (or (eq until t) (and (stringp until) (string< (hive-text-now) until)))))
    (cond ((and quiet (null hive-quiet--since))
           (hive-quiet--begin (and (stringp until) until)))
          ;; Perhaps another Emacs has ended it.
          ((not quiet) (hive-quiet--end)))))

(add-hook 'hive-attention-functions #'hive-quiet--take)

(provide 'hive-quiet)
;;; hive-quiet.el ends here
