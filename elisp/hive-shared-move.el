;;; hive-shared-move.el --- Moving about in a shared buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; From message to message, from mention to mention of you, and into a
;; thread: here, with the other messages out of sight, or in a buffer of its
;; own.  Also: writing what is shown to a file.

;;; Code:

(require 'cl-lib)
(require 'hive-place)
(require 'hive-shared-compose)
(require 'hive-shared-feed)
(require 'hive-shared-format)
(require 'hive-shared-stretch)
(require 'hive-shared-view)
(require 'hive-text)

;;;; From one to the next

(defun hive-shared--next (property direction)
  "Go to where PROPERTY begins next in DIRECTION, 1 or -1; nil if nowhere.
What is hidden is passed over."
  (let ((pos (point)) (found nil))
    (while (and pos (not found))
      (setq pos (if (> direction 0)
                    (next-single-char-property-change pos property)
                  (previous-single-char-property-change pos property)))
      (cond ((and (get-text-property pos property) (not (invisible-p pos)))
             (setq found pos))
            ((= pos (if (> direction 0) (point-max) (point-min)))
             (setq pos nil))))
    (when found (goto-char found))))

(defun hive-shared-next-mention ()
  "Go to the next mention of you."
  (interactive)
  (unless (hive-shared--next 'hive-mention 1) (user-error "No mention of you after this")))

(defun hive-shared-previous-mention ()
  "Go to the mention of you before this."
  (interactive)
  (unless (hive-shared--next 'hive-mention -1) (user-error "No mention of you before this")))

(defun hive-shared-next-message ()
  "Go to the next message, or to where you write."
  (interactive)
  (unless (hive-shared--next 'hive-heading 1) (goto-char (point-max))))

(defun hive-shared-previous-message ()
  "Go to the message before this."
  (interactive)
  (unless (hive-shared--next 'hive-heading -1) (user-error "This is the first message shown")))

;;;; Threads

(defun hive-shared--thread-at ()
  "Return the thread of the message at point."
  (hive-shared-thread-of (hive-shared--demand)))

(defun hive-shared-narrow ()
  "Look at the thread of the message at point only, or at all again.
While you do, what you post goes into that thread."
  (interactive)
  (setq hive-shared-narrowed (unless hive-shared-narrowed (hive-shared--thread-at)))
  (mapc #'hive-shared-hide hive-shared-messages)
  (force-mode-line-update)
  (message (if hive-shared-narrowed "Only this thread is visible" "All messages are visible")))

(defun hive-shared-open-thread (thread)
  "Open THREAD in a buffer of its own; by default that of the message at point.
With a prefix argument, type the name of a thread."
  (interactive (list (if current-prefix-arg (read-string "Thread: ")
                       (hive-shared--thread-at))))
  (pop-to-buffer (hive-shared-buffer hive-shared-place thread)))

(declare-function hive-shared-buffer "hive-shared")

;;;; A file

(defcustom hive-shared-directory nil
  "Where `hive-shared-save' proposes to write; nil for the project's directory."
  :type '(choice (const :tag "The project's directory" nil) directory)
  :group 'hive-shared)

(defun hive-shared-file-text ()
  "Return the messages that are shown as a file has them.
They are the store's, whatever was changed in the buffer."
  (concat (hive-format-front (hive-format-stamp
                              (or (plist-get (hive-shared-first) :at) (hive-text-now)))
                             (plist-get hive-shared-place :project))
          (mapconcat #'hive-format-message hive-shared-messages "\n")))

(defun hive-shared-save (file)
  "Write the messages that are shown to FILE, in the format of the buffer.
The name proposed is shared-YYYYMMDD.md.  To write all that were
ever posted, use the command line: hive messages --format shared."
  (interactive
   (list (read-file-name "Save messages to: "
                         (or hive-shared-directory default-directory) nil nil
                         (format-time-string "shared-%Y%m%d.md"))))
  (let ((text (hive-shared-file-text))
        (count (hive-shared-count))
        (coding-system-for-write 'utf-8-unix))
    (write-region text nil file nil nil nil t)
    (message "%d messages written to %s" count (abbreviate-file-name file))))

(provide 'hive-shared-move)
;;; hive-shared-move.el ends here
