;;; hive-stats.el --- How long agents waited, and for what  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-stats' shows the statistics of a period: how long agents waited for
;; their humans, by kind, project and agent; the questions of each day; where
;; they were answered; what was asked most, and what rules saved.  The sidecar
;; counts; this file displays.  Where Emacs shows images, the days are a
;; picture; elsewhere they are bars of text.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-rpc)
(require 'hive-text)
(require 'svg)

;;;; State

(defconst hive-stats--name "*hive stats*" "The name of the buffer.")
(defconst hive-stats--rows 6 "How many projects, agents and kinds are shown.")

(defvar-local hive-stats--stats nil "The statistics shown here, or nil while they are fetched.")
(defvar-local hive-stats--days 7 "How many days the period has.")

(defface hive-stats-bar
  '((((class color) (min-colors 88) (background light)) :foreground "#1f5fbf")
    (((class color) (min-colors 88) (background dark)) :foreground "#8ab8ff")
    (t :inherit default))
  "The questions of a day in the plot of `hive-stats'." :group 'hive-faces)

(defface hive-stats-rules '((t :inherit hive-success))
  "The questions that rules answered on a day in the plot of `hive-stats'." :group 'hive-faces)

;;;; The plot

(defconst hive-stats--height 120 "The height of the picture, in pixels.")
(defconst hive-stats--bar 40 "The longest bar of text, in columns.")

(defun hive-stats--most (days)
  "Return the largest number of questions that one of DAYS has."
  (apply #'max 1 (mapcar (lambda (day) (+ (plist-get day :asked)
                                          (plist-get day :answered_by_rules)))
                         days)))

(defun hive-stats--colour (face)
  "Return the foreground of FACE, for a picture."
  (let ((colour (face-foreground face nil t)))
    (if (and colour (color-defined-p colour))
        (apply #'format "#%02x%02x%02x"
               (mapcar (lambda (part) (/ part 256)) (color-values colour)))
      "#808080")))

(defun hive-stats--picture (days)
  "Return a picture of DAYS: a column for each, what rules answered on top."
  (let* ((count (length days)) (most (hive-stats--most days))
         (wide (max 6 (min 60 (/ 600 (max 1 count)))))
         (room (- hive-stats--height 32))
         (text (hive-stats--colour 'default))
         (svg (svg-create (* wide count) hive-stats--height))
         (each (max 1 (ceiling (* 6.0 count) (* (/ 600.0 60) 6))))
         (number 0))
    (dolist (day days svg)
      (let* ((asked (/ (* room (plist-get day :asked)) most))
             (ruled (/ (* room (plist-get day :answered_by_rules)) most))
             (x (* wide number)) (base (- hive-stats--height 16)))
        (svg-rectangle svg (+ x 1) (- base asked) (- wide 2) asked
                       :fill (hive-stats--colour 'hive-stats-bar))
        (svg-rectangle svg (+ x 1) (- base asked ruled) (- wide 2) ruled
                       :fill (hive-stats--colour 'hive-stats-rules))
        (when (zerop (% number each))
          (svg-text svg (substring (plist-get day :day) 5)
                    :x (+ x 2) :y (- hive-stats--height 4) :font-size 11 :fill text))
        (when (and (>= wide 18) (> (+ asked ruled) 0))
          (svg-text svg (number-to-string (+ (plist-get day :asked)
                                             (plist-get day :answered_by_rules)))
                    :x (+ x 2) :y (- base asked ruled 3) :font-size 11 :fill text)))
      (setq number (1+ number)))))

(defun hive-stats--insert-bars (days)
  "Insert DAYS as bars of text."
  (let ((most (hive-stats--most days)))
    (dolist (day days)
      (cl-flet ((bar (key) (make-string (ceiling (* hive-stats--bar (plist-get day key)) most) (aref (hive-mark "█") 0))))
        (let ((ruled (plist-get day :answered_by_rules)))
          (insert "  " (plist-get day :day) "  "
                  (propertize (bar :asked) 'face 'hive-stats-bar)
                  (propertize (bar :answered_by_rules) 'face 'hive-stats-rules)
                  (format " %d" (plist-get day :asked))
                  (if (> ruled 0) (hive-words " + %d by rules" ruled) "")
                  "\n"))))))

(defun hive-stats--insert-plot (days)
  "Insert a plot of DAYS."
  (if (and (display-images-p) (image-type-available-p 'svg))
      (progn (insert "  ")
             (insert-image (svg-image (hive-stats--picture days))
                           (hive-words "[the questions of each day]"))
             (insert "\n"))
    (hive-stats--insert-bars (last days 31))))

;;;; The page

(defun hive-stats--duration (ms)
  "Return MS in two units at most, or the empty string for nil and 0."
  (let ((seconds (and (numberp ms) (round ms 1000))))
    (cond ((or (null seconds) (zerop ms)) "")
          ((< seconds 60) (format "%ds" seconds))
          ((< seconds 3600) (format "%dm" (/ seconds 60)))
          ((< seconds 86400) (format "%dh %02dm" (/ seconds 3600) (/ (% seconds 3600) 60)))
          (t (format "%dd %02dh" (/ seconds 86400) (/ (% seconds 86400) 3600))))))

(defun hive-stats--heading (key)
  "Insert the sentence KEY as a heading."
  (insert "\n" (propertize (hive-words key) 'face 'bold) "\n"))

(defun hive-stats--insert-waits (title groups &optional by-agent)
  "Insert GROUPS of waits below each other, with TITLE before the first.
Those BY-AGENT are named by handles."
  (dolist (group (seq-take (append groups nil) hive-stats--rows))
    (insert (format "  %-10s %6d %8s %8s %8s  %s\n" title
                    (plist-get group :asked)
                    (hive-stats--duration (plist-get group :median_ms))
                    (hive-stats--duration (plist-get group :worst_ms))
                    (hive-stats--duration (plist-get group :blocked_ms))
                    (if by-agent (hive-model-title-of (plist-get group :name) nil 30)
                      (hive-text-line (plist-get group :name) 30))))
    (setq title "")))

(defun hive-stats--insert-counts (heading counts name)
  "Insert HEADING and COUNTS below it, unless there are none.
NAME returns what to show for the name of one."
  (when (append counts nil)
    (hive-stats--heading heading)
    (dolist (one (append counts nil))
      (insert (format "  %6d  %s\n" (plist-get one :count)
                      (funcall name (plist-get one :name)))))))

(defun hive-stats--summary (stats)
  "Return the first lines for STATS."
  (let ((total (plist-get stats :total)))
    (concat
     (hive-words "The last %s: %s, %d answered in time" (hive-count hive-stats--days "day")
                 (hive-count (plist-get total :asked) "question") (plist-get total :answered))
     (mapconcat (lambda (part)
                  (let ((count (plist-get stats (car part))))
                    (if (> count 0) (hive-words (cdr part) count) "")))
                '((:late . ", %d late") (:expired . stats-expired)
                  (:cancelled . ", %d cancelled") (:pending . ", %d pending"))
                "")
     (if (plist-get stats :pending_since)
         (hive-words ", the longest for %s" (hive-text-age (plist-get stats :pending_since)))
       "")
     ".\n")))

(defun hive-stats--print ()
  "Print the statistics; point stays on its line."
  (hive-text-reprint #'hive-stats--insert))

(defun hive-stats--insert ()
  "Insert the statistics."
  (let ((stats hive-stats--stats))
    (if (not stats) (insert (hive-words 'loading))
      (insert (hive-stats--summary stats))
      (let ((fill-column (or (hive-wrap-room) 79))) (fill-region (point-min) (point)))
      (hive-stats--heading "Questions per day")
      (hive-stats--insert-plot (append (plist-get stats :days) nil))
      (hive-stats--heading "How long they waited for you")
      (insert (propertize (format "  %-10s %6s %8s %8s %8s\n" ""
                                  (hive-words "Asked") (hive-words "Median")
                                  (hive-words "Worst") (hive-words "Blocked"))
                          'face 'hive-shadow))
      (hive-stats--insert-waits (hive-words "all") (list (plist-get stats :total)))
      (hive-stats--insert-waits (hive-words "by kind") (plist-get stats :kinds))
      (hive-stats--insert-waits (hive-words "by project") (plist-get stats :projects))
      (hive-stats--insert-waits (hive-words "by agent") (plist-get stats :agents) t)
      (hive-stats--insert-counts "Answered in" (plist-get stats :answered_via)
                                 (lambda (via) (hive-text-value via 20)))
      (hive-stats--insert-counts "Asked most" (plist-get stats :most_asked)
                                 (lambda (text) (hive-text-line text 66)))
      (hive-stats--insert-counts "Answered by rules" (plist-get stats :rules)
                                 (lambda (text) (hive-text-line text 66)))
      (when (and (plist-get stats :saved_ms) (append (plist-get stats :rules) nil))
        (insert
         (hive-words "  About %s of waiting saved (estimated from the median for permissions)."
                     (hive-stats--duration (plist-get stats :saved_ms))) "\n")))))

;;;; Commands

(defconst hive-stats-keys
  '((("Statistics"
      ("d" "period" hive-stats-set-days)
      ("g" menu-list-refresh revert-buffer))))
  "The keys of the statistics, see `hive-keys-map'.")

(defvar hive-stats-mode-map
  (hive-keys-map 'hive-stats-mode hive-stats-keys)
  "Keymap of `hive-stats-mode'.")

(define-derived-mode hive-stats-mode special-mode "Hive-Stats"
  "Major mode of the statistics.
\\<hive-stats-mode-map>\\[hive-keys] is a menu of its keys.
\\{hive-stats-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-stats--fetch t)
  (setq header-line-format (hive-keys-line hive-stats-keys)))

(defun hive-stats--beginning (days)
  "Return when the first of the last DAYS days began: today is one of them."
  (pcase-let ((`(,_ ,_ ,_ ,day ,month ,year . ,_) (decode-time (hive-now))))
    (encode-time (list 0 0 0 (- day (1- days)) month year nil -1 nil))))

(defun hive-stats--fetch ()
  "Fetch the statistics for this buffer and print it."
  (hive-rpc-fetch
   'stats/read
   (list :since (format-time-string "%FT%T.000Z" (hive-stats--beginning hive-stats--days) t))
   :timeout 60
   :then (lambda (result)
           (setq hive-stats--stats (plist-get result :stats))
           (hive-stats--print))
   :failure "Hive could not count the questions: %s"))

(defun hive-stats-set-days (days)
  "Show the statistics of the last DAYS days."
  (interactive (list (read-number (hive-words "How many days: ") hive-stats--days)))
  (hive-stats--choose days)
  (hive-stats--print)
  (hive-stats--fetch))

(defun hive-stats--choose (days)
  "Let this buffer show the last DAYS days, and nothing until they are fetched."
  (setq hive-stats--days (max 1 (round days))
        hive-stats--stats nil))

;;;###autoload
(defun hive-stats (&optional days)
  "Show how long agents waited for you in the last DAYS days, and for what.
The default is seven days; a prefix argument says how many."
  (interactive "P")
  (hive-sidecar-demand)
  (with-current-buffer (hive-buffer hive-stats--name #'hive-stats-mode)
    (when days (hive-stats--choose (prefix-numeric-value days)))
    (hive-stats--print)
    (hive-stats--fetch)
    (pop-to-buffer (current-buffer))))

(provide 'hive-stats)
;;; hive-stats.el ends here
