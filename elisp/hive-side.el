;;; hive-side.el --- The list in a side window  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; For whoever wants to see what waits without asking: with `hive-side-window'
;; the list of questions stands at the side of the frame as long as something
;; waits.  It is never selected, and comes only between two commands.

;;; Code:

(require 'hive-list)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-waiting)
(require 'hive-work)

(defcustom hive-side-window nil
  "Where the list of questions is shown by itself while something waits.
Close it, and it stays closed until another question arrives."
  :type '(choice (const :tag "Nowhere" nil) (const bottom) (const top)
                 (const left) (const right))
  :group 'hive-attention)

(defconst hive-side--width 60
  "How many columns the list has at the left or right of a frame.
In a small frame it has half of it.")

(defconst hive-side--patience 0.5
  "Seconds between two looks whether a busy human is free.")

(defvar hive-side--timer nil "The timer of the next look, or nil.")
(defvar hive-side--window nil "The side window that we have opened, or nil.")

(defun hive-side--arrived (_prompt)
  "Show the list soon: something newly waits."
  (when (and hive-side-window (null hive-side--timer))
    (setq hive-side--timer (run-at-time 0 nil #'hive-side--open))))

(defun hive-side--open ()
  "Show the list at the side, once the human is free."
  (setq hive-side--timer nil)
  (cond ((hive-notify-busy-p)
         (setq hive-side--timer (run-at-time hive-side--patience nil #'hive-side--open)))
        ((and hive-side-window (hive-prompts-first)
              (not (get-buffer-window hive-list-name)))
         (hive-work-guarded
          (lambda ()
            (setq hive-side--window
                  (display-buffer-in-side-window
                   (hive-list-buffer)
                   `((side . ,hive-side-window)
                     (window-height . 8)
                     (window-width . ,(min hive-side--width (/ (frame-width) 2)))
                     (window-parameters (no-other-window . nil))))))))))

(defun hive-side--changed ()
  "Close the side window once nothing waits, unless the human is in it."
  (when (and (window-live-p hive-side--window)
             (null (hive-prompts-first))
             (not (eq hive-side--window (selected-window)))
             (not (active-minibuffer-window)))
    (when (window-parameter hive-side--window 'window-side)
      (delete-window hive-side--window))
    (setq hive-side--window nil)))

(add-hook 'hive-arrived-functions #'hive-side--arrived)
(add-hook 'hive-changed-hook #'hive-side--changed)

(provide 'hive-side)
;;; hive-side.el ends here
