;;; hive-found.el --- Posting the messages of other programs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What becomes of a block that `hive-detect' has found: it is posted once,
;; under an overlay that says so, and taken away when the store has it, for
;; then it is shown among the messages.  If it is not taken, it stays where
;; it is, and says why.

;;; Code:

(require 'cl-lib)
(require 'hive-notify)
(require 'hive-post)
(require 'hive-shared-format)
(require 'hive-shared-text)
(require 'hive-shared-view)
(require 'hive-text)

(defconst hive-found--most 200 "So many blocks that were posted are remembered.")

(defvar-local hive-found--known nil
  "Blocks that were posted from here: lists of stamp, handle and body.")

;;;; Posted before?

(defun hive-found-known-p (block)
  "Return non-nil if BLOCK was posted from here or is shown."
  (let ((stamp (plist-get block :stamp))
        (handle (plist-get block :handle))
        (body (plist-get block :body)))
    (or (member (list stamp handle body) hive-found--known)
        (cl-find-if (lambda (message)
                      (and (equal body (hive-text-inert (plist-get message :body)))
                           (member handle (list (plist-get message :from_handle)
                                                (plist-get message :as_handle)))
                           (member stamp (list (hive-format-stamp (plist-get message :at))
                                               (plist-get message :as_stamp)))))
                    hive-shared-messages))))

;;;; Posting, and what becomes of it

(defun hive-found-post (block beg end origin)
  "Post BLOCK, which stands from BEG to END, and mark it.
ORIGIN says how it came here, as in `hive-post-send'."
  (condition-case oops
      (let ((id (hive-post-send (plist-get block :body)
                                :place hive-shared-place
                                :thread hive-shared-thread
                                :heading (append (list :origin origin) block)))
            (overlay (make-overlay beg end nil t nil)))
        (overlay-put overlay 'hive-block id)
        (overlay-put overlay 'hive-text (buffer-substring-no-properties beg end))
        (overlay-put overlay 'evaporate t)
        (overlay-put overlay 'face 'hive-shared-note)
        (overlay-put overlay 'after-string
                     (propertize "[being posted]\n" 'face 'hive-shared-note))
        (hive-found--remember block))
    ((error quit)
     (hive-notify-say "Hive: a message inserted into %s was not posted: %s"
                      (buffer-name) (error-message-string oops)))))

(defun hive-found--remember (block)
  "Remember that BLOCK was posted from here: a second time it is old text."
  (push (list (plist-get block :stamp) (plist-get block :handle) (plist-get block :body))
        hive-found--known)
  (when (nthcdr hive-found--most hive-found--known)
    (setcdr (nthcdr (1- hive-found--most) hive-found--known) nil)))

(defun hive-found--overlay (id)
  "Return the overlay of the block that was posted as ID, or nil."
  (cl-loop for buffer in (cl-remove-if-not
                          (lambda (buffer) (buffer-local-value 'hive-found--known buffer))
                          (buffer-list))
           thereis (with-current-buffer buffer
                     (save-restriction
                       (widen)
                       (cl-find id (overlays-in (point-min) (point-max)) :test #'equal
                                :key (lambda (overlay)
                                       (overlay-get overlay 'hive-block)))))))

(defun hive-found--stored (id result)
  "Take away the block that was posted as ID, according to RESULT.
The store has it, and it is shown among the messages.  What was
changed meanwhile stays, and so does what was not posted because
an equal message was there."
  (let ((overlay (hive-found--overlay id)))
    (when overlay
      (with-current-buffer (overlay-buffer overlay)
        (let ((beg (overlay-start overlay)) (end (overlay-end overlay))
              (text (overlay-get overlay 'hive-text)))
          (delete-overlay overlay)
          (save-restriction
            (widen)
            (when (and (equal id (plist-get (plist-get result :message) :message_id))
                       (equal text (buffer-substring-no-properties beg end)))
              (hive-shared-cut beg end))))))))

(defun hive-found--rejected (id why)
  "Say WHY the block that was posted as ID was not taken; its text stays."
  (let ((overlay (hive-found--overlay id)))
    (when overlay
      (overlay-put overlay 'after-string
                   (propertize (format "[not posted: %s]\n" why) 'face 'error))
      (hive-notify-say "Hive: a message inserted into %s was not taken: %s"
                       (buffer-name (overlay-buffer overlay)) why)
      t)))

(add-hook 'hive-post-stored-functions #'hive-found--stored)
(add-hook 'hive-post-rejected-functions #'hive-found--rejected)

(provide 'hive-found)
;;; hive-found.el ends here
