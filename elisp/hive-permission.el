;;; hive-permission.el --- What lets an agent do something  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A permission is no question among others: its answer makes an agent act.
;; Wherever one is answered it is called by its name, and what might allow
;; something with a single key is confirmed.

;;; Code:

(require 'hive-text)
(require 'subr-x)

(defconst hive-permission--refusals '("Deny" "Abort" "Keep planning")
  "The options by which the dialogs of agents refuse.
Whatever else an option is called, it may allow something.")

(defconst hive-permission--lines 5 "How many lines of what is to be permitted are shown.")

(defun hive-permission-p (prompt)
  "Return non-nil if PROMPT asks for a permission."
  (equal (plist-get prompt :kind) "permission"))

(defun hive-permission-mark (prompt)
  "Return what is to stand before PROMPT when it asks for a permission, or \"\"."
  (if (hive-permission-p prompt) (propertize "PERMISSION " 'face 'warning) ""))

(defun hive-permission-confirmed-p (prompt decision)
  "Return non-nil if DECISION is to be confirmed as the answer to PROMPT."
  (and (hive-permission-p prompt) (not (member decision hive-permission--refusals))))

(defun hive-permission-about (prompt width)
  "Return what the permission PROMPT is about, in lines of WIDTH columns, or \"\"."
  (let* ((lines (and (hive-permission-p prompt)
                     (split-string (hive-text-inert (plist-get prompt :context)) "\n" t "[ \t]+")))
         (rest (nthcdr hive-permission--lines lines)))
    (concat
     (mapconcat (lambda (line) (concat "  " (hive-text-line line (max 20 (- width 3))) "\n"))
                (butlast lines (length rest)) "")
     (if rest
         (propertize (format "  … and %d lines more: ? shows them\n" (length rest))
                     'face 'warning)
       ""))))

(provide 'hive-permission)
;;; hive-permission.el ends here
