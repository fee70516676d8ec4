;;; hive-shared-compose.el --- Writing in a shared buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What stands below the line is the human's draft.  \\`C-c C-c' posts it
;; through the outbox and takes it away; undo brings the text back.  A draft
;; may answer a message, and may be urgent; the header line says so.

;;; Code:

(require 'cl-lib)
(require 'hive-mentions)
(require 'hive-post)
(require 'hive-read)
(require 'hive-shared-view)
(require 'hive-template)

(defvar-local hive-shared-reply-to nil "The message that the draft answers, or nil.")
(defvar-local hive-shared-urgent nil "Non-nil when the draft is urgent.")

;;;; The draft

(defun hive-shared--drafts ()
  "Return where the draft stands, a list of (BEG . END).
Blocks of others that are being posted are no part of it."
  (save-restriction
    (widen)
    (let ((pos (hive-shared-start)) (pieces nil))
      (dolist (overlay (sort (cl-remove-if-not
                              (lambda (overlay) (overlay-get overlay 'hive-block))
                              (overlays-in pos (point-max)))
                             (lambda (a b) (< (overlay-start a) (overlay-start b)))))
        (when (< pos (overlay-start overlay))
          (push (cons pos (overlay-start overlay)) pieces))
        (setq pos (max pos (overlay-end overlay))))
      (when (< pos (point-max)) (push (cons pos (point-max)) pieces))
      (nreverse pieces))))

(defun hive-shared-draft ()
  "Return the text of the draft."
  (save-restriction
    (widen)
    (mapconcat (lambda (piece) (buffer-substring-no-properties (car piece) (cdr piece)))
               (hive-shared--drafts) "")))

(defun hive-shared--clear ()
  "Delete the draft, so that undo can bring it back."
  (save-restriction
    (widen)
    (dolist (piece (reverse (hive-shared--drafts)))
      (delete-region (car piece) (cdr piece))))
  (hive-shared--to-end))

(defun hive-shared--to-end ()
  "Go to where the human writes, with what was said in sight."
  (goto-char (point-max))
  (when (and (eq (current-buffer) (window-buffer))
             (>= (window-start) (hive-shared-start)))
    (recenter -2)))

(defun hive-shared--posts (draft)
  "Return the messages in DRAFT, each a cons of a body and its heading or nil.
A draft that is written as blocks is several messages."
  (let* ((blocks (hive-format-parse draft))
         (first (car blocks)))
    (if (and first (string-blank-p (substring draft 0 (plist-get first :beg))))
        (mapcar (lambda (block) (cons (plist-get block :body) block)) blocks)
      (list (cons (string-trim-right draft) nil)))))

(defun hive-shared-target-thread ()
  "Return the thread of what is posted from here, or nil."
  (or hive-shared-thread hive-shared-narrowed))

;;;; Commands

(defun hive-shared-post ()
  "Post what you have written below the line.
It is on the disk before it vanishes from here, and reaches the
store even if Emacs or the sidecar dies."
  (interactive)
  (let ((posts (hive-shared--posts (hive-shared-draft))))
    (dolist (post posts) (hive-post-check (car post)))
    (dolist (post posts)
      (hive-post-send (car post)
                      :place hive-shared-place
                      :thread (hive-shared-target-thread)
                      :reply-to (plist-get hive-shared-reply-to :message_id)
                      :priority (and hive-shared-urgent "urgent")
                      :heading (cdr post)))
    (hive-shared--clear)
    (hive-shared-plain-draft)
    (hive-post-say-queued)))

(defun hive-shared-plain-draft ()
  "Let the draft answer nothing and be of normal priority."
  (setq hive-shared-reply-to nil
        hive-shared-urgent nil)
  (force-mode-line-update))

(defun hive-shared-discard ()
  "Take the draft away, into the kill ring.
It no longer answers a message, and is no longer urgent."
  (interactive)
  (let ((draft (hive-shared-draft)))
    (unless (string-blank-p draft) (kill-new draft))
    (hive-shared--clear)
    (hive-shared-plain-draft)
    (message (if (string-blank-p draft) "There was no draft"
               "The draft is in the kill ring"))))

(defun hive-shared-toggle-urgent ()
  "Let the draft be urgent, or not.
An urgent mention holds up its addressee even where mentions only
remind."
  (interactive)
  (setq hive-shared-urgent (not hive-shared-urgent))
  (force-mode-line-update)
  (message "The message will be %s" (if hive-shared-urgent "urgent" "of normal priority")))

(defun hive-shared--demand ()
  "Return the message at point, or complain."
  (or (hive-shared-message-at)
      (and (> (point) (point-min)) (hive-shared-message-at (1- (point))))
      (user-error "There is no message here")))

(defun hive-shared-reply (&optional message)
  "Answer MESSAGE, by default the one at point, below the line.
Posting the answer deals with its mention of you."
  (interactive)
  (hive-shared-answer (or message (hive-shared--demand))))

(defun hive-shared-answer (message)
  "Let the draft answer MESSAGE, and go there."
  (setq hive-shared-reply-to message)
  (push-mark nil t)
  (widen)
  (goto-char (point-max))
  (when (string-blank-p (hive-shared-draft))
    (insert (hive-post-address message)))
  (force-mode-line-update)
  (message "%s" (substitute-command-keys
                 (concat "\\<hive-shared-mode-map>\\[hive-shared-post] posts your answer, \\[hive-shared-discard] leaves it"
                         (if (hive-template-messages (hive-shared--project))
                             ", \\[hive-shared-insert-template] inserts a template"
                           "")))))

(defun hive-shared--project ()
  "Return the name of the project of what is written here, or nil."
  (or (plist-get hive-shared-reply-to :project)
      (plist-get hive-shared-place :project)))

(defun hive-shared-insert-template (text)
  "Insert TEXT, one of `hive-reply-templates', into the draft."
  (interactive (list (hive-read-template "Insert template: "
                                         (hive-template-demand (hive-shared--project)))))
  (when (< (point) (hive-shared-start))
    (push-mark nil t)
    (goto-char (point-max)))
  (insert text))

(defun hive-shared-done (&optional note)
  "Note that you have dealt with the mention of you at point.
With a prefix argument, ask for a NOTE about what you did."
  (interactive (list (and current-prefix-arg (read-string "What you did: "))))
  (let ((mention (hive-mentions-open-p (hive-shared--demand))))
    (unless mention (user-error "This message has no mention of you that waits"))
    (hive-mentions-process (list (plist-get mention :mention_id)) :note note)))

;;;; What the header line says

(defun hive-shared-target ()
  "Return what becomes of the draft, in words, or nil for nothing special."
  (let ((thread (hive-shared-target-thread)))
    (string-join
     (delq nil
           (list (when hive-shared-urgent (propertize "urgent" 'face 'warning))
                 (when hive-shared-reply-to
                   (concat "answers "
                           (hive-text-author hive-shared-reply-to 30)
                           ": "
                           (hive-text-line (plist-get hive-shared-reply-to :body) 40)))
                 (when thread
                   (concat "in thread " (hive-text-line thread 30)))))
     ", ")))

(defun hive-shared-keep-draft ()
  "Put the draft of a buffer that is killed into the kill ring."
  (when (and hive-shared--start (not (string-blank-p (hive-shared-draft))))
    (kill-new (hive-shared-draft))))

(provide 'hive-shared-compose)
;;; hive-shared-compose.el ends here
