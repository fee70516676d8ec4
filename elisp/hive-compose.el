;;; hive-compose.el --- Writing a long answer in a buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-compose' opens a buffer for an answer that is too long for the
;; minibuffer.  What you type is saved as a draft, one file per question, so
;; it survives a crash.  Text typed in the minibuffer and then abandoned
;; becomes a draft too.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-text)
(require 'subr-x)

;;;; Options

(defcustom hive-drafts-directory (locate-user-emacs-file "hive/drafts/")
  "Where drafts of answers are saved."
  :type 'directory
  :group 'hive)

;;;; Drafts

(defun hive-compose--file (ask-id)
  "Return the file of the draft for ASK-ID."
  ;; The id comes from the store; even so, keep it from naming another path.
  (expand-file-name (concat (replace-regexp-in-string "[^a-z0-9-]" "_" ask-id) ".txt")
                    hive-drafts-directory))

(defun hive-compose-draft (ask-id)
  "Return the draft for ASK-ID, or nil."
  (let ((file (hive-compose--file ask-id)))
    (when (file-readable-p file)
      (with-temp-buffer
        (let ((coding-system-for-read 'utf-8-unix))
          (insert-file-contents file))
        (buffer-string)))))

(defun hive-compose-keep (ask-id text)
  "Save TEXT as the draft for ASK-ID; delete the draft if TEXT is blank.
If the disk is full, the text stays in its buffer, and the echo area
says so."
  (let ((file (hive-compose--file ask-id)))
    (condition-case oops
        (if (string-blank-p text)
            (when (file-exists-p file) (delete-file file))
          (unless (file-directory-p hive-drafts-directory)
            (with-file-modes #o700 (make-directory hive-drafts-directory t)))
          (let ((coding-system-for-write 'utf-8-unix)
                (write-region-inhibit-fsync nil)
                (new (concat file ".new")))
            ;; Whole or not at all: the old draft stays until the new one is there.
            (with-file-modes #o600
              (write-region text nil new nil 'silent))
            (rename-file new file t))
          t)
      (file-error
       (hive-announce 'draft-unsaved (error-message-string oops))
       nil))))

;;;; Drafts in the minibuffer

(defun hive-compose-read (prompt)
  "Read an answer to PROMPT in the minibuffer, starting from its draft.
If the human quits, what they typed becomes the draft."
  (let* ((id (plist-get prompt :ask_id))
         (typed nil) (done nil))
    (unwind-protect
        (prog1
            (minibuffer-with-setup-hook
                (lambda ()
                  (add-hook 'minibuffer-exit-hook
                            (lambda () (setq typed (minibuffer-contents-no-properties)))
                            nil t))
              (read-string (hive-read-prompt-line prompt)
                           (hive-compose-draft id) 'hive-read-history))
          (setq done t))
      (if done
          (hive-compose-keep id "")
        (when (and typed (not (string-blank-p typed)))
          (hive-compose-keep id typed))))))

;;;; The mode

(defvar-local hive-compose--prompt nil "The question that this buffer answers.")
(defvar-local hive-compose--timer nil "The idle timer that will save the draft.")

(defvar hive-compose-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'hive-compose-send)
    (define-key map (kbd "C-c C-k") #'hive-compose-put-aside)
    map)
  "Keymap of `hive-compose-mode'.")

(define-derived-mode hive-compose-mode text-mode "Hive-Answer"
  "Major mode for writing an answer.
\\<hive-compose-mode-map>\\[hive-compose-send] sends it; \\[hive-compose-put-aside] saves it as a draft and closes the buffer."
  (add-hook 'after-change-functions #'hive-compose--changed nil t)
  (add-hook 'kill-buffer-hook #'hive-compose--leave nil t)
  (add-hook 'hive-changed-hook #'hive-compose--look)
  (setq header-line-format '(:eval (hive-compose--header))))

(defun hive-compose--header ()
  "Return the header line: the question, or that it is closed."
  (let* ((prompt hive-compose--prompt)
         (fate (hive-respond-meanwhile prompt)))
    ;; A percent sign in a header line is a directive.
    (replace-regexp-in-string
     "%" "%%"
     (if fate
         (propertize (if (hive-respond-lost-p prompt)
                         (hive-words 'compose-lost fate)
                       (hive-words 'compose-closed fate))
                     'face 'warning)
       (concat " " (hive-permission-mark prompt)
               (if (hive-prompt-pending-p prompt)
                   (hive-words 'answer-to (hive-text-agent prompt 30))
                 (hive-words 'late-answer-to (hive-text-agent prompt 30)))
               (hive-text-line (plist-get prompt :question) 200)))
     t t)))

(defun hive-compose--look ()
  "Update the header line of each answer buffer."
  (dolist (buffer (buffer-list))
    (when (eq (buffer-local-value 'major-mode buffer) 'hive-compose-mode)
      (with-current-buffer buffer (force-mode-line-update)))))

(defun hive-compose--changed (&rest _)
  "Save the draft once the human pauses."
  (unless hive-compose--timer
    (setq hive-compose--timer
          (run-with-idle-timer 1 nil #'hive-compose--save-in (current-buffer)))))

(defun hive-compose--save-in (buffer)
  "Save the draft in BUFFER, if it is live."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer (hive-compose--save))))

(defun hive-compose--save ()
  "Save the draft now."
  (when hive-compose--timer (cancel-timer hive-compose--timer))
  (setq hive-compose--timer nil)
  (when hive-compose--prompt
    (hive-compose-keep (plist-get hive-compose--prompt :ask_id)
                       (buffer-substring-no-properties (point-min) (point-max)))))

(defun hive-compose--leave ()
  "Save the draft and release the question, as the buffer is being killed."
  (hive-compose--save)
  (when hive-compose--prompt (hive-respond-release hive-compose--prompt)))

;;;; Commands

(defun hive-compose (prompt)
  "Write an answer to PROMPT in a buffer of its own.
Refuse a question that is already answered, unless it has a draft."
  (let* ((id (plist-get prompt :ask_id))
         (name (format "*hive answer: %s*" id))
         (buffer (progn
                   (unless (or (get-buffer name) (hive-compose-draft id))
                     (setq prompt (hive-respond-open prompt)))
                   (get-buffer-create name))))
    (hive-respond-claim prompt)
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-compose-mode)
        (hive-compose-mode)
        (let ((draft (hive-compose-draft id)))
          (when draft (insert draft)))
        (setq hive-compose--prompt prompt)
        (set-buffer-modified-p nil)))
    (pop-to-buffer buffer)))

(defun hive-compose-send ()
  "Send the answer; it is on disk before you read \"queued\"."
  (interactive nil hive-compose-mode)
  (let ((text (string-trim (buffer-substring-no-properties (point-min) (point-max))))
        (prompt hive-compose--prompt))
    (when (string-empty-p text)
      (hive-fail 'no-answer (hive-respond-still prompt)))
    (hive-respond-send prompt (list :decision text))
    (hive-compose-keep (plist-get prompt :ask_id) "")
    (setq hive-compose--prompt nil)     ; do not save the draft again
    (quit-window t)))

(defun hive-compose-put-aside ()
  "Save the text as a draft and close the buffer."
  (interactive nil hive-compose-mode)
  (hive-compose--save)
  (let ((prompt hive-compose--prompt))
    (quit-window t)
    (hive-say 'draft-kept (hive-respond-still prompt))))

(provide 'hive-compose)
;;; hive-compose.el ends here
