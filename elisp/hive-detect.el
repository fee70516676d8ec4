;;; hive-detect.el --- Messages that programs insert into shared buffers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A program posts a message by inserting it into a shared buffer in the format
;; shown there: with any Lisp, through emacsclient, or by a yank.
;;
;; The change hook only records where text appeared; half a second after the
;; last change, a timer looks for blocks.  A block is posted once.
;;
;; Its heading is kept, but proves nothing.  The block is the human's only if
;; a command of theirs inserted it, as a yank does, with their own name in the
;; heading.  Otherwise its author is unverified.  All that Emacs can know is
;; whether a command was running when the text appeared: a program that
;; evaluates Lisp here can also press the human's keys.
;;
;; Typed text is never posted this way, nor text that undo restores, nor
;; messages that are stored or shown already.  Typed text has the property
;; `hive-typed', which killing and yanking preserve; a block with one such
;; character is for the human to post.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-shared-compose)
(require 'hive-shared-text)
(require 'hive-shared-view)
(require 'hive-text)

;;;; Posting a block

;; A detected block is posted once, under an overlay that says so.  When it is
;; stored, it is deleted here, as it is then shown among the messages.  If it
;; is rejected, it stays, with the reason.

(defconst hive-detect--known-kept 200 "How many posted blocks are remembered.")

(defvar-local hive-detect--known nil
  "Blocks that were posted from here: lists of stamp, handle and body.")

(defun hive-found-known-p (block)
  "Return non-nil if BLOCK was posted from this buffer or is shown in it."
  (let ((stamp (plist-get block :stamp))
        (handle (plist-get block :handle))
        (body (plist-get block :body)))
    (or (member (list stamp handle body) hive-detect--known)
        (cl-find-if (lambda (message)
                      (and (equal body (hive-text-inert (plist-get message :body)))
                           (member handle (list (plist-get message :from_handle)
                                                (plist-get message :as_handle)))
                           (member stamp (list (hive-format-stamp (plist-get message :at))
                                               (plist-get message :as_stamp)))))
                    hive-shared-messages))))

(defun hive-found-post (block beg end origin)
  "Post BLOCK, the text from BEG to END, and mark it.
ORIGIN says where it came from, as in `hive-post-send'."
  (condition-case oops
      (let ((id (hive-post-send (plist-get block :body)
                                :place hive-shared-place
                                :thread hive-shared-thread
                                :heading (append (list :origin origin) block))))
        (hive-text-overlay beg end
                           'hive-block id
                           'hive-text (buffer-substring-no-properties beg end)
                           'face 'hive-shared-note
                           'after-string (propertize (hive-words "[posting]\n") 'face 'hive-shared-note))
        (hive-detect--remember block))
    ((error quit)
     (hive-announce
      "A message found in %s was not posted: %s" (buffer-name) (error-message-string oops)))))

(defun hive-detect--remember (block)
  "Remember that BLOCK was posted from here, so as not to post it again."
  (push (list (plist-get block :stamp) (plist-get block :handle) (plist-get block :body))
        hive-detect--known)
  (when (nthcdr hive-detect--known-kept hive-detect--known)
    (setcdr (nthcdr (1- hive-detect--known-kept) hive-detect--known) nil)))

(defun hive-detect--overlay (id)
  "Return the overlay of the block with the id ID, or nil."
  (cl-loop for buffer in (cl-remove-if-not
                          (lambda (buffer) (buffer-local-value 'hive-detect--known buffer))
                          (buffer-list))
           thereis (with-current-buffer buffer
                     (save-restriction
                       (widen)
                       (cl-find id (overlays-in (point-min) (point-max)) :test #'equal
                                :key (lambda (overlay)
                                       (overlay-get overlay 'hive-block)))))))

(defun hive-detect--stored (id result)
  "Delete the block with the id ID, which was stored with RESULT.
It is now shown among the messages.  Keep it if it was edited since,
or if it was not posted because an equal message existed."
  (when-let* ((overlay (hive-detect--overlay id)))
    (with-current-buffer (overlay-buffer overlay)
      (let ((beg (overlay-start overlay)) (end (overlay-end overlay))
            (text (overlay-get overlay 'hive-text)))
        (delete-overlay overlay)
        (save-restriction
          (widen)
          (when (and (equal id (plist-get (plist-get result :message) :message_id))
                     (equal text (buffer-substring-no-properties beg end)))
            (hive-shared-cut beg end)))))))

(defun hive-detect--block-rejected (id why)
  "Show WHY the block with the id ID was rejected; its text stays."
  (when-let* ((overlay (hive-detect--overlay id)))
    (overlay-put overlay 'after-string
                 (propertize (hive-words "[not posted: %s]\n" why) 'face 'hive-critical))
    (hive-announce
     "A message found in %s could not be stored: %s" (buffer-name (overlay-buffer overlay)) why)
    t))

(add-hook 'hive-post-stored-functions #'hive-detect--stored)
(add-hook 'hive-post-rejected-functions #'hive-detect--block-rejected)

;;;; New text

(defvar hive-detect-quiet 0.5 "Seconds without a change before looking for blocks.")

(defconst hive-detect--changes-kept 200 "How many changes are remembered.")

(cl-defstruct (hive-detect-change (:constructor hive-detect--change) (:copier nil))
  "Text that appeared from BEG to END, markers.
COMMAND is the number of the human's command that inserted it, or nil
if a program did."
  command beg end)

(defvar-local hive-detect--changes nil "Changes that were not examined yet, newest first.")
(defvar-local hive-detect--last 0 "The time of the last change.")
(defvar-local hive-detect--timer nil "The timer that will examine them, or nil.")

;;;; The change hook

(defun hive-detect-start ()
  "Watch the current buffer."
  (add-hook 'after-change-functions #'hive-detect--changed nil t)
  (add-hook 'kill-buffer-hook #'hive-detect--stop nil t))

(defun hive-detect--stop ()
  "Cancel the timer."
  (when hive-detect--timer (cancel-timer hive-detect--timer))
  (setq hive-detect--timer nil))

(defun hive-detect--changed (beg end _length)
  "Record that there is new text from BEG to END.
An error here would remove all change hooks of the buffer."
  (condition-case oops
      (cond ((= beg end))
            (undo-in-progress)
            ;; While the command of a key waits, as for a blinking
            ;; parenthesis, another program may insert text.
            ((and (memq this-command hive-shared-typing)
                  (< (- end beg) hive-format-shortest))
             (hive-detect--typed beg end))
            (t (hive-detect--remember-change beg end)))
    ((error quit) (hive-rpc-log "error: a change was not noted: %S" oops))))

(defun hive-detect--typed (beg end)
  "Mark the text from BEG to END as typed."
  (let ((buffer-undo-list t) (inhibit-read-only t) (inhibit-modification-hooks t))
    (put-text-property beg end 'hive-typed t)))

(defun hive-detect--remember-change (beg end)
  "Remember that text appeared from BEG to END, and examine it later."
  (let ((command (and this-command
                      ;; These insert single characters, not that much.
                      (not (memq this-command hive-shared-typing))
                      num-input-keys))
        (last (car hive-detect--changes)))
    (cond ((and last (eql command (hive-detect-change-command last))
                (= beg (hive-detect-change-end last)))
           (set-marker (hive-detect-change-end last) end))
          ((and last (eql command (hive-detect-change-command last))
                (>= beg (hive-detect-change-beg last))
                (<= end (hive-detect-change-end last))))
          (t (hive-detect--push command beg end))))
  (setq hive-detect--last (hive-now))
  (unless hive-detect--timer
    (setq hive-detect--timer
          (hive-later hive-detect-quiet #'hive-call-in (current-buffer) #'hive-detect--wake))))

(defun hive-detect--push (command beg end)
  "Remember a change by COMMAND from BEG to END."
  (push (hive-detect--change :command command
				     ;; Exclude what is typed right before or after it.
				     :beg (copy-marker beg t) :end (copy-marker end nil))
        hive-detect--changes)
  (when (nthcdr hive-detect--changes-kept hive-detect--changes)
    (setq hive-detect--changes
          (cl-remove-if (lambda (change)
                          (< (- (hive-detect-change-end change) (hive-detect-change-beg change))
                             hive-format-shortest))
                        hive-detect--changes))
    (when (nthcdr hive-detect--changes-kept hive-detect--changes)
      (setcdr (nthcdr (1- hive-detect--changes-kept) hive-detect--changes) nil))))

;;;; Looking for blocks

(defun hive-detect--wake ()
  "Look for blocks in this buffer, once it was left alone for a while."
  (let ((left (- (+ hive-detect--last hive-detect-quiet) (hive-now))))
    (if (> left 0.005)
        (setq hive-detect--timer (hive-later left #'hive-call-in (current-buffer) #'hive-detect--wake))
      (setq hive-detect--timer nil)
      (hive-rpc-guarded #'hive-detect-post))))

(defun hive-detect--groups ()
  "Return, and forget, an alist of commands and what each of them changed.
The latter is a list of (BEG . END).  Adjacent ranges are joined."
  (let ((groups nil))
    (dolist (change hive-detect--changes)
      (let ((beg (marker-position (hive-detect-change-beg change)))
            (end (marker-position (hive-detect-change-end change))))
        (set-marker (hive-detect-change-beg change) nil)
        (set-marker (hive-detect-change-end change) nil)
        (when (< beg end)
          (push (cons beg end) (alist-get (hive-detect-change-command change) groups)))))
    (setq hive-detect--changes nil)
    (dolist (group groups groups)
      (setcdr group (hive-detect--join (sort (cdr group) #'car-less-than-car))))))

(defun hive-detect--join (ranges)
  "Return the sorted RANGES with adjacent ones joined."
  (let ((joined nil))
    (dolist (range ranges)
      (if (and joined (<= (car range) (cdar joined)))
          (setcar joined (cons (caar joined) (max (cdr range) (cdar joined))))
        (push range joined)))
    (nreverse joined)))

(defun hive-detect-post ()
  "Post the messages that other programs have inserted."
  (save-restriction
    (widen)
    (save-match-data
      (let* ((groups (hive-detect--groups))
             (theirs (alist-get nil groups)))
        (pcase-dolist (`(,command . ,ranges) groups)
          (if (and command
                   (< (cl-loop for (beg . end) in ranges sum (- end beg))
                      hive-format-shortest))
              ;; A command that inserts a word counts as typing.
              (pcase-dolist (`(,beg . ,end) ranges) (hive-detect--typed beg end))
            (pcase-dolist (`(,beg . ,end) ranges)
              (hive-detect--blocks beg end theirs))))))))

(defun hive-detect--origin (beg end theirs)
  "Return the :origin of the text from BEG to END, as in `hive-post-send'.
THEIRS are the ranges that programs wrote; one character of them is
enough to make it \"program\"."
  (if (cl-some (lambda (range) (and (< (car range) end) (< beg (cdr range)))) theirs)
      "program"
    "inserted"))

(defun hive-detect--blocks (beg end theirs)
  "Post the blocks in the text that appeared from BEG to END.
THEIRS are the ranges that programs wrote."
  (when (>= beg (hive-shared-start))
    ;; A copy of a message is not a message.
    (hive-shared-silently
      (remove-list-of-text-properties beg end hive-shared-properties)))
  (let ((text (buffer-substring beg end)) (from beg))
    (dolist (block (hive-format-parse text))
      (let ((block-beg (+ beg (plist-get block :beg)))
            (block-end (+ beg (plist-get block :end))))
        (unless (or (text-property-any block-beg block-end 'hive-typed t)
                    ;; A message is shown there.
                    (text-property-not-all block-beg block-end 'hive-message nil)
                    (hive-found-known-p block))
          (hive-found-post block (hive-detect--blank-before from block-beg) block-end
                           (hive-detect--origin block-beg block-end theirs)))
        (setq from block-end)))))

(defun hive-detect--blank-before (from beg)
  "Return where the blank lines before BEG begin, not before FROM."
  (save-excursion
    (goto-char beg)
    (skip-chars-backward " \t\n\r" from)
    (point)))

(provide 'hive-detect)
;;; hive-detect.el ends here
