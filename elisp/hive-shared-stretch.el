;;; hive-shared-stretch.el --- Which messages a shared buffer shows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The stretch of messages that is shown is bounded, however many there are;
;; it grows at both ends on request and shrinks where nobody reads.

;;; Code:

(require 'cl-lib)
(require 'hive-mentions)
(require 'hive-shared-text)
(require 'hive-shared-view)

(defcustom hive-shared-limit 500
  "How many of the last messages a shared buffer shows.
When you page back it shows up to twice as many."
  :type 'natnum
  :group 'hive-shared)

;;;; More and fewer

(defun hive-shared--text (messages)
  "Return the text of MESSAGES, in their order."
  (mapconcat #'hive-shared-message-text messages ""))

(defun hive-shared-show (messages)
  "Show MESSAGES, a list, oldest first; those that are shown already stay.
Return those that were not."
  (let ((new (cl-remove-if (lambda (message)
                             (gethash (plist-get message :message_id) hive-shared--ids))
                           messages))
        (from nil))
    (when new
      (save-restriction
        (widen)
        (setq from (hive-shared--insert new)
              hive-shared-messages
              (cl-merge 'list hive-shared-messages (copy-sequence new) #'<
                        :key (lambda (message) (plist-get message :seq))))
        (dolist (message new)
          (puthash (plist-get message :message_id) message hive-shared--ids))
        (dolist (message new)
          (when (hive-shared-note message (hive-mentions-open-p message))
            (hive-shared-adorn message from))
          (when hive-shared-narrowed (hive-shared-hide message from)))))
    new))

(defun hive-shared--insert (new)
  "Insert the text of NEW, messages that are not shown, oldest first.
Return where the first of them stands."
  (cl-flet ((seq (message) (plist-get message :seq)))
    (let* ((first (seq (car new)))
           (last (seq (car (last new))))
           (place (hive-shared--place-for first)))
      (if (cl-some (lambda (message) (< first (seq message) last)) hive-shared-messages)
          (dolist (message new)
            (hive-shared-put (hive-shared--place-for (seq message))
                             (hive-shared--text (list message))))
        ;; All go to one place: what is fetched always does.
        (hive-shared-put place (hive-shared--text new)
                         ;; Who is at the top stays with what is there.
                         (and hive-shared-messages
                              (< first (seq (hive-shared-first))))))
      place)))

(defun hive-shared--forget (messages)
  "Show MESSAGES, which stand side by side, no more."
  (let* ((regions (delq nil (mapcar #'hive-shared-region messages))))
    (when regions
      (hive-shared-cut (apply #'min (mapcar #'car regions))
                       (apply #'max (mapcar #'cdr regions))))
    (dolist (message messages)
      (remhash (plist-get message :message_id) hive-shared--ids))))

(defun hive-shared-drop-first (count)
  "Show the COUNT oldest messages no more; they stay in the store."
  (hive-shared--forget (cl-subseq hive-shared-messages 0 count))
  (setq hive-shared-messages (nthcdr count hive-shared-messages)
        hive-shared-earlier t))

(defun hive-shared-drop-last (count)
  "Show the COUNT newest messages no more; they stay in the store."
  (let ((kept (- (length hive-shared-messages) count)))
    (hive-shared--forget (nthcdr kept hive-shared-messages))
    (setq hive-shared-messages (cl-subseq hive-shared-messages 0 kept)
          hive-shared-later t)))

(defun hive-shared-count () "Return how many messages are shown." (length hive-shared-messages))

;;;; Readers

(defun hive-shared--read-from ()
  "Return the first position that is in a window, or at point."
  (let ((windows (get-buffer-window-list nil nil t)))
    (if windows
        (apply #'min (cl-mapcan (lambda (window)
                                  (list (window-start window) (window-point window)))
                                windows))
      (point))))

(defun hive-shared-trim ()
  "Drop the oldest messages when there are too many and nobody is there."
  (let ((excess (- (hive-shared-count) hive-shared-limit)))
    (when (> excess 0)
      (let ((first (cl-loop for message in (nthcdr excess hive-shared-messages)
                            thereis (hive-shared-region message))))
        (when (and first (>= (hive-shared--read-from) (car first)))
          (hive-shared-drop-first excess))))))

(provide 'hive-shared-stretch)
;;; hive-shared-stretch.el ends here
