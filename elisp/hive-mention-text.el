;;; hive-mention-text.el --- How mentions are shown  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The text of the buffer of `hive-check-mentions': a summary in the header
;; line, and each mention in full.

;;; Code:

(require 'cl-lib)
(require 'hive-rpc)
(require 'hive-shared-text)
(require 'hive-sidecar)
(require 'hive-text)

(defvar-local hive-check-mentions--session nil "Whose mentions: a handle, or nil for yours.")
(defvar-local hive-check-mentions--mentions nil "What is shown, newest first.")
(defvar-local hive-check-mentions--summary nil "How many there are, by what became of them.")
(defvar-local hive-check-mentions--cursor nil "Where there is more, or nil.")

;;;; The summary

(defun hive-check-mentions--whose ()
  "Return whose mentions these are, in words."
  (if hive-check-mentions--session
      (concat "Mentions of " (hive-text-line hive-check-mentions--session 40))
    "Mentions of you"))

(defun hive-check-mentions--header ()
  "Return the header line: the summary."
  (let ((summary hive-check-mentions--summary))
    (replace-regexp-in-string
     "%" "%%"
     (if (null summary)
         (concat " " (hive-check-mentions--whose))
       (cl-flet ((count (key) (or (plist-get summary key) 0)))
         (concat (format " %s: %d in all, %d processed, %d unprocessed"
                         (hive-check-mentions--whose) (count :total)
                         (count :processed) (count :unprocessed))
                 (if (> (count :expired) 0) (format ", %d expired" (count :expired)) "")
                 (if hive-check-mentions--session
                     (format "; %d gating, %d denials" (count :gating) (count :denials))
                   ""))))
     t t)))

;;;; A mention

(defun hive-check-mentions--became (mention)
  "Return what became of MENTION, in words."
  (pcase (plist-get mention :status)
    ("processed" (concat "dealt with by " (hive-text-line (plist-get mention :processed_by) 40)
                         (if (plist-get mention :note)
                             (concat ": " (hive-text-line (plist-get mention :note) 200))
                           "")))
    ("expired" "expired")
    (_ (if (plist-get mention :delivered_at)
           (format "delivered %s ago" (hive-text-age (plist-get mention :delivered_at)))
         ""))))

(defun hive-check-mentions--insert (mention)
  "Insert MENTION in full."
  (let ((beg (point))
        (marks (delq nil (list (when (equal "urgent" (plist-get mention :priority)) "urgent")
                               (when (hive-rpc-true-p mention :expects_reply) "wants an answer")
                               (when (plist-get mention :as_handle)
                                 (concat "as " (hive-text-line (plist-get mention :as_handle) 40)))
                               (let ((became (hive-check-mentions--became mention)))
                                 (unless (string-empty-p became) became))))))
    (insert (propertize (format "%s  %s ago" (hive-text-line (plist-get mention :from_handle) 60)
                                (hive-text-age (plist-get mention :at)))
                        'face (hive-shared-heading-face mention))
            (propertize (concat (format "  %s" (hive-text-line (plist-get mention :project) 30))
                                (if marks (concat "  (" (string-join marks ", ") ")") ""))
                        'face 'hive-shared-note)
            "\n\n" (hive-text-inert (plist-get mention :body)) "\n\n")
    (put-text-property beg (point) 'hive-mention mention)
    (put-text-property beg (1+ beg) 'hive-mention-start t)))

;;;; All of them

(defun hive-check-mentions--print ()
  "Print what is known; each window stays at its mention."
  (let* ((places (mapcar (lambda (window)
                           (cons window (hive-check-mentions--id-at (window-point window))))
                         (get-buffer-window-list nil nil t)))
         (here (hive-check-mentions--id-at (point)))
         (inhibit-read-only t))
    (erase-buffer)
    (if (null hive-check-mentions--mentions)
        (insert (or (hive-sidecar-absence) "Nothing waits.") "\n")
      (mapc #'hive-check-mentions--insert hive-check-mentions--mentions))
    (when hive-check-mentions--cursor (insert "There are more: + shows them.\n"))
    (goto-char (hive-check-mentions--position here))
    (pcase-dolist (`(,window . ,id) places)
      (set-window-point window (hive-check-mentions--position id)))))

(defun hive-check-mentions--id-at (pos)
  "Return the id of the mention that is shown at POS."
  (plist-get (get-text-property pos 'hive-mention) :mention_id))

(defun hive-check-mentions--position (id)
  "Return where the mention ID begins, or the first one."
  (let ((pos (point-min)) (found nil))
    (while (and id pos (not found))
      (if (equal id (hive-check-mentions--id-at pos)) (setq found pos)
        (setq pos (next-single-property-change pos 'hive-mention))
        (when (and pos (>= pos (point-max))) (setq pos nil))))
    (or found (point-min))))

(provide 'hive-mention-text)
;;; hive-mention-text.el ends here
