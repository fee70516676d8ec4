;;; hive-shared-view.el --- How a shared buffer is laid out  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A shared buffer holds a stretch of the messages that the store has, in
;; their one order, then a line, then what the human is writing; above all
;; of it stands how to mention somebody:
;;
;;     Agents and their human share this buffer, and how they do.
;;
;;     [Earlier messages]
;;     ## 2026-01-11 18:00:00 Claude-abc12
;;
;;     @Claude-def34 The login is done.
;;
;;     -------- write below, C-c C-c posts --------
;;     half a sent
;;
;; Which messages they are is decided in hive-shared-stretch.el; here is
;; where each stands, what is noted beside it, and what is hidden.

;;; Code:

(require 'cl-lib)
(require 'hive-mentions)
(require 'hive-shared-text)
(require 'hive-wrap)

(defvar-local hive-shared-place nil
  "The place of this buffer, as `hive-place-of' has it; nil for everyone's.")
(defvar-local hive-shared-thread nil "The thread that this buffer shows, or nil.")
(defvar-local hive-shared-narrowed nil "The thread that is visible, or nil for all.")
(defvar-local hive-shared-earlier nil "Non-nil when the store has older messages.")
(defvar-local hive-shared-later nil "Non-nil when the store has newer messages.")

(defvar-local hive-shared-messages nil "The messages that are shown, oldest first.")
(defvar-local hive-shared--ids nil "The messages that are shown, by their ids.")
(defvar-local hive-shared--end nil "A marker: where the messages end.")
(defvar-local hive-shared--start nil "A marker: where what the human writes begins.")

(defun hive-shared-start ()
  "Return where what the human writes begins."
  (marker-position hive-shared--start))

(defun hive-shared-end ()
  "Return where the messages end."
  (marker-position hive-shared--end))

(defun hive-shared-first () "Return the first message that is shown." (car hive-shared-messages))
(defun hive-shared-last () "Return the last message that is shown." (car (last hive-shared-messages)))

(defun hive-shared-message (id)
  "Return the message with ID, if it is shown."
  (gethash id hive-shared--ids))

;;;; The introduction, the line, and the ends

(defun hive-shared--introduction ()
  "Return the first lines of the buffer, which are part of no message."
  (let ((text (propertize (concat hive-format-introduction "\n")
                          'font-lock-face 'hive-shared-note
                          'hive-edge 'introduction
                          'read-only t)))
    ;; Only at its end: where text is not sticky one may type inside it.
    (put-text-property (1- (length text)) (length text) 'rear-nonsticky t text)
    text))

(defun hive-shared-top ()
  "Return where the introduction ends: older messages go there."
  (let ((beg (text-property-any (point-min) (hive-shared-end) 'hive-edge 'introduction)))
    (if beg (next-single-property-change beg 'hive-edge nil (hive-shared-end)) (point-min))))

(defconst hive-shared--rule-words "-------- write below, C-c C-c posts "
  "How the line begins.")

(defun hive-shared--rule ()
  "Return the line between the messages and what the human writes."
  (propertize (concat hive-shared--rule-words (make-string 24 ?-) "\n")
              'font-lock-face 'hive-shared-rule
              'hive-edge 'rule
              'read-only t
              'rear-nonsticky t))

(defun hive-shared-fit (&rest _)
  "Draw the line as wide as the narrowest window of this buffer.
Its text stays what it is: only what is displayed is longer or shorter."
  (let ((room (and hive-shared--start (hive-wrap-room))))
    (when room
      (hive-shared-silently
        (let* ((beg (text-property-any (point-min) (point-max) 'hive-edge 'rule))
               (dashes (and beg (+ beg (length hive-shared--rule-words)))))
          (when beg
            (put-text-property dashes (1- (next-single-property-change
                                           beg 'hive-edge nil (point-max)))
                               'display
                               (make-string (max 0 (- room (length hive-shared--rule-words)))
                                            ?-))))))))

(defun hive-shared-prepare ()
  "Make this buffer ready for messages; there are none yet."
  (hive-shared-silently
    (erase-buffer)
    (insert (hive-shared--introduction) (hive-shared--rule)))
  (setq hive-shared--ids (make-hash-table :test #'equal)
        hive-shared-messages nil
        hive-shared--end (copy-marker (text-property-any (point-min) (point-max)
                                                         'hive-edge 'rule)
                                      t)
        hive-shared--start (copy-marker (point-max) nil)))

(defun hive-shared--edge-text (label command)
  "Return a line with the button LABEL, to run COMMAND."
  (propertize (concat (make-text-button (copy-sequence label) nil
                                        'action (lambda (_) (call-interactively command))
                                        'follow-link t)
                      "\n\n")
              'rear-nonsticky t))

(defun hive-shared--edge (which present pos label command)
  "Let the button WHICH be there just when PRESENT is non-nil.
When it is missing, it is put at POS, with LABEL, to run COMMAND."
  (let ((beg (text-property-any (point-min) (hive-shared-end) 'hive-edge which)))
    (cond ((and beg (not present))
           (hive-shared-cut beg (or (text-property-not-all beg (hive-shared-end)
                                                           'hive-edge which)
                                    (hive-shared-end))))
          ((and present (not beg))
           (hive-shared-put pos (propertize (hive-shared--edge-text label command)
                                            'hive-edge which)
                            t)))))

(defun hive-shared-edges ()
  "Show at each end whether the store has more."
  (save-restriction
    (widen)
    (hive-shared--edge 'earlier hive-shared-earlier (hive-shared-top)
                       "[Earlier messages]" 'hive-shared-page-back)
    (hive-shared--edge 'later hive-shared-later (hive-shared-end)
                       "[Later messages]" 'hive-shared-page-forward)))

;;;; Where a message stands

(defun hive-shared-region (message &optional from)
  "Return where MESSAGE is shown, (BEG . END), or nil when it was deleted.
What somebody typed into it belongs to the region.  FROM is where
to begin to look."
  (save-restriction
    (widen)
    (let* ((limit (hive-shared-end))
           (beg (text-property-any (or from (point-min)) limit 'hive-message message))
           (end nil) (pos beg))
      ;; As far as the next message; what lies between is nobody's.
      (while (and pos (< pos limit)
                  (memq (get-text-property pos 'hive-message) (list nil message)))
        (let ((next (next-single-property-change pos 'hive-message nil limit)))
          (when (get-text-property pos 'hive-message) (setq end next))
          (setq pos next)))
      (when beg (cons beg end)))))

(defun hive-shared-message-at (&optional pos)
  "Return the message that is shown at POS, by default at point, or nil."
  (get-text-property (or pos (point)) 'hive-message))

(defun hive-shared--place-for (seq)
  "Return where a message of SEQ has to stand."
  (or (cl-loop for message in hive-shared-messages
               for region = (and (> (plist-get message :seq) seq)
                                 (hive-shared-region message))
               when region return (car region))
      (text-property-any (point-min) (hive-shared-end) 'hive-edge 'later)
      (hive-shared-end)))

;;;; Notes and hiding

(defun hive-shared-adorn (message &optional from)
  "Bring what stands behind the heading of MESSAGE up to date.
FROM is where to begin to look for it."
  (let ((region (hive-shared-region message from)))
    (when region
      (save-excursion
        (save-restriction
          (widen)
          (goto-char (car region))
          (let ((note (hive-shared-note message (hive-mentions-open-p message)))
                (end (line-end-position)))
            (dolist (overlay (overlays-in (car region) end))
              (when (overlay-get overlay 'hive-note) (delete-overlay overlay)))
            (when note
              (let ((overlay (make-overlay (car region) end nil t nil)))
                (overlay-put overlay 'hive-note t)
                (overlay-put overlay 'evaporate t)
                (overlay-put overlay 'after-string note)))))))))

(defun hive-shared-hide (message &optional from)
  "Let MESSAGE be visible just when it belongs to what is looked at.
FROM is where to begin to look for it."
  (let ((region (hive-shared-region message from)))
    (when region
      (hive-shared-silently
        (put-text-property (car region) (cdr region) 'invisible
                           (and hive-shared-narrowed
                                (not (equal hive-shared-narrowed
                                            (hive-shared-thread-of message)))
                                'hive-elsewhere))))))

(provide 'hive-shared-view)
;;; hive-shared-view.el ends here
