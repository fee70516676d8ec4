;;; hive-keys.el --- Keys that answer what was seen  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Where one key answers, it must have been pressed for what is on the
;; screen: what was typed before that is dropped.  A key that means nothing
;; here is given back to Emacs.

;;; Code:

(defconst hive-keys--quiet 0.3
  "For how many seconds something new is shown before a key counts.")

(defvar hive-keys--raw nil "The key that was read last, as the terminal sent it.")

(defun hive-keys-read (text new)
  "Show TEXT in the echo area and return the key that is pressed.
If TEXT is NEW to the human, keys count only once it has been
shown for a moment in which none was pressed."
  (let ((resize-mini-windows t)
        (max-mini-window-height 0.75)
        (message-log-max nil))
    (when (and new (hive-keys--dropped-p text))
      (setq text (concat text (propertize "  (what you typed before you saw this was dropped)"
                                          'face 'shadow))))
    (let ((key (read-key text)))
      (setq hive-keys--raw (this-single-command-raw-keys))
      (hive-keys--whole key hive-keys--raw))))

(defun hive-keys--whole (key raw)
  "Return KEY, or when it only begins a Meta key that is RAW, all of that.
In a terminal `read-key' returns the escape alone, and drops the rest."
  (if (and (eq key ?\e) (> (length raw) 1) (characterp (aref raw 1)))
      (event-convert-list (list 'meta (aref raw 1)))
    key))

(defun hive-keys--dropped-p (text)
  "Show TEXT for a moment; return non-nil if keys were dropped meanwhile."
  (let ((dropped nil) (waiting t))
    (while waiting
      ;; A key clears the echo area, and one that waits keeps it from being drawn.
      (message "%s" text)
      (redisplay t)
      (let ((event (read-event nil nil hive-keys--quiet)))
        (cond ((null event) (setq waiting nil))
              ((eq event ?\C-g)         ; to leave is never too early
               (setq waiting nil)
               (push event unread-command-events))
              (t (setq dropped t)))))
    dropped))

(defun hive-keys-foreign-p (key)
  "Return non-nil if KEY is to be given back to Emacs.
It is not when it would only insert itself where it was not meant."
  (not (and (characterp key)
            (eq (key-binding (vector key)) #'self-insert-command))))

(defun hive-keys-give-back (key)
  "Let Emacs read KEY, which was read last, once more.
After a prefix the whole sequence then runs as it always does."
  (setq unread-command-events
        (append (or hive-keys--raw (vector key)) unread-command-events)))

(provide 'hive-keys)
;;; hive-keys.el ends here
