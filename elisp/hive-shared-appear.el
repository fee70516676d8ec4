;;; hive-shared-appear.el --- The shared buffer when somebody is mentioned  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; With `hive-shared-on-mention' a mention of you shows the shared buffer in
;; which it stands.  It is off by default.  The buffer is never selected, no
;; window of another frame is used, and point stays where it is everywhere;
;; nothing happens before you are between two commands.

;;; Code:

(require 'cl-lib)
(require 'hive-attention)
(require 'hive-mentions)
(require 'hive-notify)
(require 'hive-place)
(require 'hive-shared)
(require 'hive-work)

(defcustom hive-shared-on-mention nil
  "Whether and where a mention shows the shared buffer in which it stands.
The symbol `display' leaves the place to `display-buffer', within
the selected frame; a side shows it in a side window there.  The
window is not selected.  Close it, and it stays closed until the
next mention.  A buffer that is visible already stays where it is."
  :type '(choice (const :tag "It is not shown" nil)
                 (const :tag "In some other window" display)
                 (const right) (const left) (const bottom) (const top))
  :group 'hive-attention)

(defcustom hive-shared-on-mention-of 'human
  "Whose mentions show the shared buffer, if `hive-shared-on-mention' is set.
With `anyone', those of anybody, in the project that you are in
and in those whose shared buffers are open."
  :type '(choice (const :tag "Mine" human) (const :tag "Anybody's" anyone))
  :group 'hive-attention)

(defconst hive-shared-appear--patience 0.5
  "Seconds between two looks whether a busy human is free.")

(defconst hive-shared-appear--size 0.4
  "Which part of the frame a side window takes.")

(defvar hive-shared-appear--mention nil "The last mention that is to be shown, or nil.")
(defvar hive-shared-appear--timer nil "The timer of the next look, or nil.")
(defvar hive-shared-appear--seq nil
  "The place of the last message of which a mention was told, or nil.")

;;;; What arrives

(defun hive-shared-appear--soon (mention)
  "Show the buffer of MENTION once the human is free."
  (when (or (equal "urgent" (plist-get mention :priority))
            (not (hive-notify-held-p mention)))
    (setq hive-shared-appear--mention mention)
    (unless hive-shared-appear--timer
      (setq hive-shared-appear--timer (run-at-time 0 nil #'hive-shared-appear--look)))))

(defun hive-shared-appear--of-human (mention)
  "Take MENTION, a new one of the human."
  (when hive-shared-on-mention (hive-shared-appear--soon mention)))

(defun hive-shared-appear--new-p (mention)
  "Return non-nil if MENTION, of anybody, was not told of before."
  (let ((seq (plist-get mention :seq)) (last hive-shared-appear--seq))
    (when (or (null last) (> seq last)) (setq hive-shared-appear--seq seq))
    (and (hive-mentions-waiting-p mention)
         ;; One message mentions several; the first of them is enough.
         (if last (> seq last) (null (plist-get mention :delivered_at))))))

(defun hive-shared-appear--changed (mention)
  "Take MENTION, of anybody, with which something happened."
  (when (and (hive-shared-appear--new-p mention)
             hive-shared-on-mention
             (eq hive-shared-on-mention-of 'anyone)
             (hive-shared-appear--near-p mention))
    (hive-shared-appear--soon mention)))

(defun hive-shared-appear--near-p (mention)
  "Return non-nil if MENTION is of the project the human is in, or has open."
  (let ((project-dir (plist-get mention :project_dir)))
    (or (equal project-dir
               (plist-get (hive-place-of (buffer-local-value
                                          'default-directory
                                          (window-buffer (selected-window))))
                          :project_dir))
        (cl-some (lambda (buffer)
                   (equal project-dir
                          (plist-get (buffer-local-value 'hive-shared-place buffer)
                                     :project_dir)))
                 (hive-shared-buffers)))))

(defun hive-shared-appear--connected ()
  "Forget which messages were seen: this sidecar may have another store."
  (setq hive-shared-appear--seq nil))

;;;; Showing

(defun hive-shared-appear--look ()
  "Show what is to be shown, or look again later when the human is busy."
  (setq hive-shared-appear--timer nil)
  (if (hive-notify-busy-p)
      (setq hive-shared-appear--timer
            (run-at-time hive-shared-appear--patience nil #'hive-shared-appear--look))
    (let ((mention hive-shared-appear--mention))
      (setq hive-shared-appear--mention nil)
      (when (and mention hive-shared-on-mention
                 ;; The human may have dealt with theirs meanwhile.
                 (or (not (equal hive-mentions-human (plist-get mention :session_id)))
                     (hive-mentions-open-p mention)))
        (hive-work-guarded #'hive-shared-appear--show mention)))))

(defun hive-shared-appear--show (mention)
  "Show the shared buffer of MENTION, and select nothing."
  (let* ((project-dir (plist-get mention :project_dir))
         (buffer (hive-shared-buffer
                  (when project-dir
                    (list :confirmed t
                          :project (plist-get mention :project)
                          :project_dir project-dir)))))
    (unless (get-buffer-window buffer 'visible)
      (save-selected-window
        (display-buffer buffer (hive-shared-appear--action))))))

(defun hive-shared-appear--action ()
  "Return how the buffer is to be displayed, for `display-buffer'.
Where there is no room for it in this frame, it is not displayed."
  (let ((side hive-shared-on-mention))
    (if (eq side 'display)
        '((display-buffer-pop-up-window
           hive-shared-appear--other-window
           display-buffer-no-window)
          (inhibit-same-window . t)
          (inhibit-switch-frame . t)
          (allow-no-window . t))
      `((display-buffer-in-side-window display-buffer-no-window)
        (side . ,side)
        ;; The first slot is that of the list, see `hive-side-window'.
        (slot . 1)
        (,(if (memq side '(left right)) 'window-width 'window-height)
         . ,hive-shared-appear--size)
        (window-parameters (no-other-window . nil))
        (inhibit-switch-frame . t)
        (allow-no-window . t)))))

(defun hive-shared-appear--other-window (buffer alist)
  "Display BUFFER in another window of this frame, if there is one; see ALIST.
On its own `display-buffer-use-some-window' would take one of
another frame."
  (when (get-lru-window nil nil t)
    (display-buffer-use-some-window buffer alist)))

(add-hook 'hive-mentions-arrived-functions #'hive-shared-appear--of-human)
(add-hook 'hive-mentions-changed-functions #'hive-shared-appear--changed)
(add-hook 'hive-connected-hook #'hive-shared-appear--connected)

(provide 'hive-shared-appear)
;;; hive-shared-appear.el ends here
