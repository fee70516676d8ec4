;;; hive-mode-line.el --- The mode line and the side window  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The mode line shows the number of pending questions in the colour of the
;; most urgent one, with those that block an agent counted separately.  It also
;; shows the number of mentions, of unread messages (if `hive-indicator' says
;; so), whether the sidecar is missing, and whether notifications are suppressed.
;; Snoozed questions do not count.  A click answers.
;;
;; With `hive-side-window' the list of questions is in a side window as long
;; as questions are pending.  That window is never selected, and opens only
;; between two commands.

;;; Code:

(require 'hive-attention)
(require 'hive-list)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-rpc)
(require 'hive-shared-unread)
(require 'hive-text)

;;;; The list in a side window

(defcustom hive-side-window nil
  "Where Emacs shows the list while questions are pending.
If you close it, it stays closed until another question arrives."
  :type '(choice (const :tag "Nowhere" nil) (const bottom) (const top)
                 (const left) (const right))
  :group 'hive-attention)

(defconst hive-mode-line--width 60
  "Width of the list at the left or right of a frame.
In a small frame it is half of that frame.")

(defvar hive-mode-line--window nil "The side window that Hive opened, or nil.")

(defun hive-mode-line--arrived (_prompt)
  "Show the list soon, as a new question is pending."
  (when hive-side-window (hive-notify-when-free #'hive-mode-line--open)))

(defun hive-mode-line--open ()
  "Show the list in the side window, if a question is still pending."
  (when (and hive-side-window (hive-prompts-first)
             (not (get-buffer-window hive-list-name)))
    (setq hive-mode-line--window
          (display-buffer-in-side-window
           (hive-list-buffer)
           `((side . ,hive-side-window)
             (window-height . 8)
             (window-width . ,(min hive-mode-line--width (/ (frame-width) 2)))
             (window-parameters (no-other-window . nil)))))))

(defun hive-mode-line--changed ()
  "Close the side window when nothing is pending, unless it is selected."
  (when (and (window-live-p hive-mode-line--window)
             (null (hive-prompts-first))
             (not (eq hive-mode-line--window (selected-window)))
             (not (active-minibuffer-window)))
    (when (window-parameter hive-mode-line--window 'window-side)
      (delete-window hive-mode-line--window))
    (setq hive-mode-line--window nil)))

(add-hook 'hive-arrived-functions #'hive-mode-line--arrived)
(add-hook 'hive-changed-hook #'hive-mode-line--changed)

;;;; The mode line

(defvar hive-indicator)

;; They set a background, because the mode line may have any colour.

(defface hive-mode-line-critical
  '((((class color) (min-colors 88)) :background "#b00020" :foreground "#ffffff" :weight bold)
    (t :inverse-video t :weight bold))
  "The mode line when a critical question is pending." :group 'hive-faces)

(defface hive-mode-line-waiting
  '((((class color) (min-colors 88)) :background "#ffb454" :foreground "#000000")
    (t :weight bold))
  "The mode line when a question is pending." :group 'hive-faces)

(defface hive-mode-line-low '((t :weight normal))
  "The mode line when only questions of low urgency are pending." :group 'hive-faces)

(defface hive-mode-line-problem '((t :slant italic))
  "The mode line while the sidecar is not connected." :group 'hive-faces)

(defvar hive-mode-line-text nil
  "Hive's part of the mode line: a string, or nil.")
(put 'hive-mode-line-text 'risky-local-variable t)

(defvar hive-mode-line-map
  (hive-keymap "<mode-line> <mouse-1>" #'hive-next
               "<mode-line> <mouse-2>" #'hive-interrupt
               "<mode-line> <mouse-3>" #'hive-list)
  "Keymap of Hive in the mode line.")

(defun hive-mode-line--face (rank mentions)
  "Return the face of the mode line.
RANK is that of the most urgent question, or nil, MENTIONS the number
of mentions."
  (cond (rank (pcase rank
                (0 'hive-mode-line-critical) (2 'hive-mode-line-low)
                (_ 'hive-mode-line-waiting)))
        ((> mentions 0) 'hive-mode-line-waiting)
        (t 'hive-mode-line-problem)))

(defun hive-mode-line--counts (waiting blocked rank)
  "Return the counts of the mode line: BLOCKED of WAITING questions come first.
RANK is that of the most urgent one, or nil."
  (let ((bars (hive-mark "‖")))
    (concat (cond ((zerop waiting) "")
                  ((zerop blocked) (format " %d" waiting))
                  ((= waiting blocked) (format " %d%s" blocked bars))
                  (t (format " %d%s%d" blocked bars (- waiting blocked))))
            (if (eq rank 0) "!" ""))))

(defun hive-mode-line--first ()
  "Return a line on the most urgent question, or nil."
  (when-let* ((first (hive-prompts-first)))
    (hive-words "%s asks: %s" (hive-text-agent-in first 40)
                (hive-text-line (plist-get first :question) 60))))

(defun hive-mode-line--help (waiting blocked ended mentions unread away)
  "Return the tooltip of the mode line.
WAITING, BLOCKED, ENDED, MENTIONS and UNREAD are counts; AWAY means there
is no sidecar."
  (if away (hive-words "Hive is not connected; M-x hive-doctor shows why")
    (mapconcat #'identity
               (delq nil
                     (list (hive-quiet-text)
                           (when (> blocked 0)
                             (hive-words "%s; %d wait while their agents work"
                                         (hive-count blocked "question blocks its agent"
                                                     "questions block their agents")
                                         (- waiting blocked)))
                           (hive-mode-line--first)
                           (when (> ended 0)
                             (hive-words
                              "%s of sessions that have ended; C in the list cancels them"
                              (hive-count ended "question")))
                           (when (> (+ waiting ended) 0) (hive-words 'mode-line-pending))
                           (when (> mentions 0)
                             (hive-words "Agents have mentioned you; M-x hive-check-mentions lists the mentions"))
                           (when (> unread 0)
                             (hive-words "%s in shared buffers; M-x hive-shared opens one"
                                         (hive-count unread "unread message")))
                           (hive-words "mouse-2: interrupt an agent")))
               "\n")))

(defun hive-mode-line--text ()
  "Return the current text of the mode line, or nil for none."
  (let* ((waiting (hive-prompts-awake))
         (blocked (hive-prompts-blocked))
         (ended (length (hive-prompts-ended)))
         (mentions (hive-mentions-count))
         (unread (if (consp hive-indicator) (hive-shared-unread-count) 0))
         (unsent (length (hive-outbox-entries 'pending)))
         (away (not (memq hive-sidecar-state '(connected off))))
         (text (concat (hive-mode-line--counts waiting blocked (hive-prompts-rank))
                       (when (> ended 0)
                         (concat (if (> waiting 0) "," "") (hive-words " %d ended" ended)))
                       (when (> mentions 0) (format " %d@" mentions))
                       (when (> unread 0) (hive-words " %d new" unread))
                       (when away (if (eq hive-sidecar-state 'starting) (hive-mark " …") " down"))
                       (when (and away (> unsent 0)) (hive-words " %d unsent" unsent))
                       (when (hive-quiet-text) " z"))))
    (unless (string-empty-p text)
      (propertize
       (concat " hive" text)
       'face (hive-mode-line--face (or (hive-prompts-rank)
                                   (and (or (> ended 0) (and (> unread 0) (zerop mentions))) 2))
                               mentions)
       'help-echo (hive-mode-line--help waiting blocked ended mentions unread away)
       'mouse-face 'mode-line-highlight
       'local-map hive-mode-line-map))))

(defun hive-mode-line-update ()
  "Update the mode line."
  (let ((text (and (bound-and-true-p hive-mode) (hive-mode-line--text))))
    (unless (equal-including-properties text hive-mode-line-text)
      (setq hive-mode-line-text text)
      (force-mode-line-update t))))

;;;; Where it is shown

(defvar tab-bar-format)

(defconst hive-mode-line--construct '(:eval hive-mode-line-text)
  "The construct that shows the text in a mode line or a header line.")

(defun hive-mode-line-tab-bar ()
  "Return the indicator as an item of the tab bar, for `tab-bar-format'."
  (when hive-mode-line-text
    `((hive menu-item ,hive-mode-line-text hive-next :help ,(hive-words 'mode-line-pending)))))

(defun hive-mode-line-remove ()
  "Stop showing the indicator."
  (setq-default global-mode-string
                (delete hive-mode-line--construct (default-value 'global-mode-string)))
  (when (boundp 'tab-bar-format)
    (setq tab-bar-format (remq 'hive-mode-line-tab-bar tab-bar-format)))
  (when (equal (default-value 'header-line-format) hive-mode-line--construct)
    (setq-default header-line-format nil)))

(defun hive-mode-line-install ()
  "Show the indicator in the place of `hive-indicator'."
  (hive-mode-line-remove)
  (pcase (if (consp hive-indicator) (car hive-indicator) hive-indicator)
    ('mode-line
     (setq-default global-mode-string
                   (append (or (default-value 'global-mode-string) '(""))
                           (list hive-mode-line--construct))))
    ('tab-bar
     (require 'tab-bar)
     (setq tab-bar-format (append tab-bar-format '(hive-mode-line-tab-bar))))
    ('header-line
     ;; A header line that comes and goes would move the text below it.
     (unless (default-value 'header-line-format)
       (setq-default header-line-format hive-mode-line--construct)))))

(defcustom hive-indicator 'mode-line
  "Where Emacs shows how many questions are pending.
With `tab-bar', it is at the end of the tab bar, in `tab-bar-mode'.
With `header-line', it is in the header line of every buffer that has no
header line of its own.
A list of the place and the symbol `unread' shows the number of unread
messages of shared buffers, too."
  :type (let ((places '((const :tag "Mode line" mode-line) (const :tag "Tab bar" tab-bar)
                        (const :tag "Header line" header-line))))
          `(choice ,@places (const :tag "Nowhere" nil)
                   (list :tag "With unread messages" (choice ,@places) (const unread))))
  :set (lambda (option value)
         (set-default option value)
         (when (bound-and-true-p hive-mode) (hive-mode-line-install)))
  :group 'hive)

(provide 'hive-mode-line)
;;; hive-mode-line.el ends here
