;;; hive-mode-line.el --- What the mode line shows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; How many questions wait, in a colour for the most urgent of them, how many
;; mentions, whether the sidecar is there, and whether it is quiet.  What was
;; put away is not counted.  A click answers.

;;; Code:

(require 'hive-list)
(require 'hive-mentions)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-rpc)

;;;; The list in a side window

;; For whoever wants to see what waits without asking: with `hive-side-window'
;; the list of questions stands at the side of the frame as long as something
;; waits.  It is never selected, and comes only between two commands.

(defcustom hive-side-window nil
  "Where the list of questions is shown by itself while something waits.
Close it, and it stays closed until another question arrives."
  :type '(choice (const :tag "Nowhere" nil) (const bottom) (const top)
                 (const left) (const right))
  :group 'hive-attention)

(defconst hive-mode-line--width 60
  "How many columns the list has at the left or right of a frame.
In a small frame it has half of it.")

(defconst hive-mode-line--patience 0.5
  "Seconds between two looks whether a busy human is free.")

(defvar hive-mode-line--timer nil "The timer of the next look, or nil.")
(defvar hive-mode-line--window nil "The side window that we have opened, or nil.")

(defun hive-mode-line--arrived (_prompt)
  "Show the list soon: something newly waits."
  (when (and hive-side-window (null hive-mode-line--timer))
    (setq hive-mode-line--timer (run-at-time 0 nil #'hive-mode-line--open))))

(defun hive-mode-line--open ()
  "Show the list at the side, once the human is free."
  (setq hive-mode-line--timer nil)
  (cond ((hive-notify-busy-p)
         (setq hive-mode-line--timer (run-at-time hive-mode-line--patience nil #'hive-mode-line--open)))
        ((and hive-side-window (hive-prompts-first)
              (not (get-buffer-window hive-list-name)))
         (hive-work-guarded
          (lambda ()
            (setq hive-mode-line--window
                  (display-buffer-in-side-window
                   (hive-list-buffer)
                   `((side . ,hive-side-window)
                     (window-height . 8)
                     (window-width . ,(min hive-mode-line--width (/ (frame-width) 2)))
                     (window-parameters (no-other-window . nil))))))))))

(defun hive-mode-line--changed ()
  "Close the side window once nothing waits, unless the human is in it."
  (when (and (window-live-p hive-mode-line--window)
             (null (hive-prompts-first))
             (not (eq hive-mode-line--window (selected-window)))
             (not (active-minibuffer-window)))
    (when (window-parameter hive-mode-line--window 'window-side)
      (delete-window hive-mode-line--window))
    (setq hive-mode-line--window nil)))

(add-hook 'hive-arrived-functions #'hive-mode-line--arrived)
(add-hook 'hive-changed-hook #'hive-mode-line--changed)

;;;; What the mode line shows

(declare-function hive-next "hive-next")
(declare-function hive-list "hive-list")
(declare-function hive-interrupt "hive-interrupt")
(defvar hive-mode)

(defface hive-mode-line-critical '((t :inherit error))
  "The count in the mode line when a critical question waits."
  :group 'hive)

(defface hive-mode-line-waiting '((t :inherit warning))
  "The count in the mode line when a question waits."
  :group 'hive)

(defface hive-mode-line-low '((t :inherit shadow))
  "The count in the mode line when nothing urgent waits."
  :group 'hive)

(defface hive-mode-line-problem '((t :inherit shadow))
  "The mode line while Hive has no sidecar."
  :group 'hive)

(defvar hive-mode-line-text nil
  "What the mode line shows of Hive: a string, or nil for nothing.")
(put 'hive-mode-line-text 'risky-local-variable t)

(defvar hive-mode-line-map
  (let ((map (make-sparse-keymap)))
    (define-key map [mode-line mouse-1] #'hive-next)
    (define-key map [mode-line mouse-2] #'hive-interrupt)
    (define-key map [mode-line mouse-3] #'hive-list)
    map)
  "Keymap of Hive in the mode line.")

(defun hive-mode-line--face (first mentions)
  "Return the face of the count; FIRST is the most urgent prompt, or nil.
MENTIONS is how many wait."
  (cond (first (pcase (hive-prompt-rank first)
                 (0 'hive-mode-line-critical) (2 'hive-mode-line-low)
                 (_ 'hive-mode-line-waiting)))
        ((> mentions 0) 'hive-mode-line-waiting)
        (t 'hive-mode-line-problem)))

(defun hive-mode-line--help (waiting mentions away)
  "Return what is said of the count when the mouse is over it.
WAITING and MENTIONS are counts; AWAY when there is no sidecar."
  (if away "Hive has no sidecar: M-x hive-doctor says why"
    (mapconcat #'identity
               (delq nil
                     (list (hive-quiet-text)
                           (when (> waiting 0) "Agents wait for you\nmouse-1: answer\nmouse-3: list")
                           (when (> mentions 0) "Agents mention you: M-x hive-check-mentions")
                           "mouse-2: interrupt an agent"))
               "\n")))

(defun hive-mode-line--text ()
  "Return what the mode line should show now, or nil."
  (let* ((waiting (hive-prompts-awake))
         (mentions (hive-mentions-count))
         (unsent (length (hive-outbox-entries 'pending)))
         (away (not (memq hive-sidecar-state '(connected off))))
         (text (concat (when (> waiting 0) (format " %d!" waiting))
                       (when (> mentions 0) (format " %d@" mentions))
                       (when away (if (eq hive-sidecar-state 'starting) " …" " ?"))
                       (when (and away (> unsent 0)) (format " %d unsent" unsent))
                       (when (hive-quiet-text) " z"))))
    (unless (string-empty-p text)
      (propertize
       (concat " hive" text)
       'face (hive-mode-line--face (hive-prompts-first) mentions)
       'help-echo (hive-mode-line--help waiting mentions away)
       'mouse-face 'mode-line-highlight
       'local-map hive-mode-line-map))))

(defun hive-mode-line-update ()
  "Bring the mode line up to date."
  (let ((text (and hive-mode (hive-mode-line--text))))
    (unless (equal-including-properties text hive-mode-line-text)
      (setq hive-mode-line-text text)
      (force-mode-line-update t))))

(provide 'hive-mode-line)
;;; hive-mode-line.el ends here
