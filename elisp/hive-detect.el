;;; hive-detect.el --- Messages that other programs write  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A program that inserts a message into a shared buffer, in the format of
;; what is shown there, has posted it: any Lisp, emacsclient, a yank.
;;
;; The change hook only notes where text appeared; half a second after the
;; last change a timer looks.  A block is posted once.  When the store has
;; it, it goes from where it was inserted to the place that it has among all
;; messages.
;;
;; Its heading is kept, but proves nothing.  The block is the human's only
;; when a command of theirs brought it, as a yank does, under a heading of
;; their own.  Otherwise its author is unverified.  All that Emacs can know
;; is whether a command was running when the text appeared: a program that
;; evaluates Lisp here can also press the human's keys.
;;
;; Never posted are: what is typed, finished or not; what undo brings back;
;; what the store has already; what arrived as a message.  Text that is
;; typed carries the property `hive-typed', also when it is killed and
;; yanked, and a block with one such character is the human's to post.

;;; Code:

(require 'cl-lib)
(require 'hive-found)
(require 'hive-shared-format)
(require 'hive-shared-text)
(require 'hive-shared-view)
(require 'hive-work)

(defvar hive-detect-quiet 0.5 "Seconds without a change after which we look.")

(defconst hive-detect--typing
  '(self-insert-command newline newline-and-indent open-line quoted-insert
    insert-char electric-newline-and-maybe-indent)
  "Commands that insert what the human types, one character after the other.")

(defconst hive-detect--most 200 "So many changes are remembered at most.")

(cl-defstruct (hive-detect-change (:constructor hive-detect--change) (:copier nil))
  "Text that appeared from BEG to END, markers.
COMMAND is the number of the human's command that inserted it; nil
when a program did."
  command beg end)

(defvar-local hive-detect--changes nil "Changes that nobody has looked at, newest first.")
(defvar-local hive-detect--last 0 "When the last of them happened.")
(defvar-local hive-detect--timer nil "The timer that will look, or nil.")
;;;; The change hook

(defun hive-detect-start ()
  "Watch the current buffer."
  (add-hook 'after-change-functions #'hive-detect--changed nil t)
  (add-hook 'kill-buffer-hook #'hive-detect--stop nil t))

(defun hive-detect--stop ()
  "Look no more."
  (when hive-detect--timer (cancel-timer hive-detect--timer))
  (setq hive-detect--timer nil))

(defun hive-detect--changed (beg end _length)
  "Note that there is new text from BEG to END.
An error here would remove every such function from the buffer."
  (condition-case oops
      (cond ((= beg end))
            (undo-in-progress)
            ;; While a key's command waits, as for a blinking parenthesis,
            ;; another program may be at work.
            ((and (memq this-command hive-detect--typing)
                  (< (- end beg) hive-format-shortest))
             (hive-detect--typed beg end))
            (t (hive-detect--note beg end)))
    ((error quit) (hive-work-log "error: a change was not noted: %S" oops))))

(defun hive-detect--typed (beg end)
  "Mark the text from BEG to END as typed."
  (let ((buffer-undo-list t) (inhibit-read-only t) (inhibit-modification-hooks t))
    (put-text-property beg end 'hive-typed t)))

(defun hive-detect--note (beg end)
  "Remember that text appeared from BEG to END, and look later."
  (let ((command (and this-command
                      ;; These insert single characters: so much is not theirs.
                      (not (memq this-command hive-detect--typing))
                      num-input-keys))
        (last (car hive-detect--changes)))
    (cond ((and last (eql command (hive-detect-change-command last))
                (= beg (hive-detect-change-end last)))
           (set-marker (hive-detect-change-end last) end))
          ((and last (eql command (hive-detect-change-command last))
                (>= beg (hive-detect-change-beg last))
                (<= end (hive-detect-change-end last))))
          (t (hive-detect--push command beg end))))
  (setq hive-detect--last (float-time))
  (unless hive-detect--timer
    (setq hive-detect--timer
          (run-at-time hive-detect-quiet nil #'hive-detect--wake (current-buffer)))))

(defun hive-detect--push (command beg end)
  "Remember a change by COMMAND from BEG to END."
  (push (hive-detect--change :command command
                             ;; What is typed right before or behind is not of it.
                             :beg (copy-marker beg t) :end (copy-marker end nil))
        hive-detect--changes)
  (when (nthcdr hive-detect--most hive-detect--changes)
    (setq hive-detect--changes
          (cl-remove-if (lambda (change)
                          (< (hive-detect--length change) hive-format-shortest))
                        hive-detect--changes))
    (when (nthcdr hive-detect--most hive-detect--changes)
      (setcdr (nthcdr (1- hive-detect--most) hive-detect--changes) nil))))

(defun hive-detect--length (change)
  "Return how many characters CHANGE has now."
  (- (hive-detect-change-end change) (hive-detect-change-beg change)))

;;;; Looking

(defun hive-detect--wake (buffer)
  "Look at what changed in BUFFER, once it has been quiet for long enough."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((left (- (+ hive-detect--last hive-detect-quiet) (float-time))))
        (if (> left 0.005)
            (setq hive-detect--timer (run-at-time left nil #'hive-detect--wake buffer))
          (setq hive-detect--timer nil)
          (hive-work-guarded #'hive-detect-look))))))

(defun hive-detect--groups ()
  "Return what changed by command, each a list of (BEG . END), and forget it.
Neighbours are joined."
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
  "Return sorted RANGES with neighbours joined."
  (let ((joined nil))
    (dolist (range ranges)
      (if (and joined (<= (car range) (cdar joined)))
          (setcar joined (cons (caar joined) (max (cdr range) (cdar joined))))
        (push range joined)))
    (nreverse joined)))

(defun hive-detect-look ()
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
              ;; A command that inserts a word is the human at work.
              (pcase-dolist (`(,beg . ,end) ranges) (hive-detect--typed beg end))
            (pcase-dolist (`(,beg . ,end) ranges)
              (hive-detect--blocks beg end theirs))))))))

(defun hive-detect--origin (beg end theirs)
  "Return how the text from BEG to END came here, as in `hive-post-send'.
THEIRS are the ranges that programs wrote: one character makes the
text theirs."
  (if (cl-some (lambda (range) (and (< (car range) end) (< beg (cdr range)))) theirs)
      "program"
    "inserted"))

(defun hive-detect--blocks (beg end theirs)
  "Post the blocks in the text that appeared from BEG to END.
THEIRS are the ranges that programs wrote."
  (when (>= beg (hive-shared-start))
    ;; A copy of shown text is shown text no more.
    (hive-shared-silently
      (remove-list-of-text-properties beg end hive-shared-properties)))
  (let ((text (buffer-substring beg end)) (from beg))
    (dolist (block (hive-format-parse text))
      (let ((block-beg (+ beg (plist-get block :beg)))
            (block-end (+ beg (plist-get block :end))))
        (unless (or (text-property-any block-beg block-end 'hive-typed t)
                    (hive-detect--shown-p block-beg block-end)
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

(defun hive-detect--shown-p (beg end)
  "Return non-nil if a message is shown between BEG and END."
  (text-property-not-all beg end 'hive-message nil))

(provide 'hive-detect)
;;; hive-detect.el ends here
