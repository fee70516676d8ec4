;;; hive-mode-line.el --- What the mode line shows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; How many questions wait, in a colour for the most urgent of them, how many
;; mentions, whether the sidecar is there, and whether it is quiet.  What was
;; put away is not counted.  A click answers.

;;; Code:

(require 'hive-mentions)
(require 'hive-outbox)
(require 'hive-quiet)
(require 'hive-sidecar)
(require 'hive-waiting)

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
