;;; hive-check-mentions.el --- Reading and dealing with mentions  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-check-mentions' shows what was said to you, or to any session, each
;; mention in full, and lets you deal with them one by one or all at once.
;; Reading changes nothing.  The buffer follows what happens.

;;; Code:

(require 'cl-lib)
(require 'hive-handles)
(require 'hive-mention-text)
(require 'hive-mentions)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-shared)
(require 'hive-sidecar)
(require 'hive-template)
(require 'hive-text)
(require 'hive-work)
(require 'hive-wrap)

(defconst hive-check-mentions--page 100 "How many mentions are fetched at once.")

(defvar-local hive-check-mentions--history nil "Non-nil to show those that were dealt with, too.")
(defvar-local hive-check-mentions--addressee nil "The session_id whose mentions these are.")
(defvar-local hive-check-mentions--timer nil "The timer that will fetch anew, or nil.")

(defvar hive-check-mentions-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'hive-check-mentions-answer)
    (define-key map (kbd "r") #'hive-check-mentions-answer)
    (define-key map (kbd "t") #'hive-check-mentions-answer-with-template)
    (define-key map (kbd "d") #'hive-check-mentions-done)
    (define-key map (kbd "D") #'hive-check-mentions-all-done)
    (define-key map (kbd "n") #'hive-check-mentions-next)
    (define-key map (kbd "p") #'hive-check-mentions-previous)
    (define-key map (kbd "h") #'hive-check-mentions-toggle-history)
    (define-key map (kbd "+") #'hive-check-mentions-more)
    (define-key map (kbd "s") #'hive-check-mentions-of)
    map)
  "Keymap of `hive-check-mentions-mode'.")

(define-derived-mode hive-check-mentions-mode special-mode "Hive-Mentions"
  "Major mode of the buffer that shows mentions in full.
\\<hive-check-mentions-mode-map>\\[hive-check-mentions-done] notes that the one at point is dealt with, \\[hive-check-mentions-all-done] that all are;
with a prefix argument, say what was done.  \\[hive-check-mentions-answer] answers the one at
point in the shared buffer, which deals with it; \\[hive-check-mentions-answer-with-template] answers it from here
with one of your `hive-reply-templates'.  \\[hive-check-mentions-of] shows
those of another session.
\\{hive-check-mentions-mode-map}"
  (visual-line-mode)
  (setq-local revert-buffer-function (lambda (&rest _) (hive-check-mentions--fetch))
              header-line-format '(:eval (hive-check-mentions--header)))
  (add-hook 'hive-mentions-changed-functions #'hive-check-mentions--changed))

;;;; Fetching

(defun hive-check-mentions--fetch (&optional more)
  "Fetch the mentions and print them; with MORE, the next page of them."
  (let ((buffer (current-buffer)))
    (hive-rpc-request
     'mention/list
     `( :limit ,hive-check-mentions--page
        ,@(when hive-check-mentions--session (list :session hive-check-mentions--session))
        ,@(unless hive-check-mentions--history (list :status "unprocessed"))
        ,@(when more (list :cursor hive-check-mentions--cursor)))
     :success
     (lambda (page)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (let ((mentions (append (plist-get page :mentions) nil)))
             (setq hive-check-mentions--mentions
                   (if more (append hive-check-mentions--mentions mentions) mentions)
                   hive-check-mentions--cursor (plist-get page :next_cursor)
                   hive-check-mentions--addressee (plist-get page :session_id)
                   hive-check-mentions--summary (plist-get page :summary)))
           (hive-check-mentions--print)
           (hive-wrap-heed (point-min) (point-max))
           (force-mode-line-update))))
     :error (lambda (err)
              (hive-notify-say "Hive could not read the mentions: %s"
                               (hive-text-line (plist-get err :text) 200))))))

(defun hive-check-mentions--changed (mention)
  "Fetch anew where MENTION is shown, or would be; once for many of them."
  (dolist (buffer (buffer-list))
    (when (provided-mode-derived-p (buffer-local-value 'major-mode buffer)
                                   'hive-check-mentions-mode)
      (with-current-buffer buffer
        (when (and (equal hive-check-mentions--addressee (plist-get mention :session_id))
                   (not hive-check-mentions--timer))
          (setq hive-check-mentions--timer
                (run-at-time 0.3 nil #'hive-check-mentions--later buffer)))))))

(defun hive-check-mentions--later (buffer)
  "Fetch the mentions of BUFFER anew."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq hive-check-mentions--timer nil)
      (hive-work-guarded #'hive-check-mentions--fetch))))

;;;; Commands

(defun hive-check-mentions--demand ()
  "Return the mention at point, or complain."
  (or (get-text-property (point) 'hive-mention)
      (user-error "There is no mention here")))

(defun hive-check-mentions--note ()
  "With a prefix argument, ask the human for a note, and return it."
  (when current-prefix-arg (read-string "What was done: ")))

(defun hive-check-mentions-done (&optional note)
  "Note that the mention at point is dealt with, and go to the next.
With a prefix argument, ask for a NOTE about what was done."
  (interactive (list (hive-check-mentions--note)) hive-check-mentions-mode)
  (let ((mention (hive-check-mentions--demand)))
    (unless (hive-mentions-waiting-p mention) (user-error "It is dealt with already"))
    (hive-mentions-process (list (plist-get mention :mention_id))
                           :session hive-check-mentions--session :note note)
    (ignore-errors (hive-check-mentions-next))))

(defun hive-check-mentions-all-done (&optional note)
  "Note that all mentions are dealt with, also those not shown.
With a prefix argument, ask for a NOTE about what was done."
  (interactive (list (hive-check-mentions--note)) hive-check-mentions-mode)
  (let ((count (or (plist-get hive-check-mentions--summary :unprocessed) 0)))
    (when (zerop count) (user-error "Nothing waits"))
    (when (y-or-n-p (format "%s: note all %d as dealt with? "
                            (hive-check-mentions--whose) count))
      (hive-mentions-process nil :all t :session hive-check-mentions--session :note note))))

(defun hive-check-mentions--place (mention)
  "Return the place in which MENTION was made, nil for everyone's."
  (let ((project-dir (plist-get mention :project_dir)))
    (when project-dir
      (list :confirmed t
            :project (plist-get mention :project)
            :project_dir project-dir))))

(defun hive-check-mentions-answer ()
  "Answer the mention at point in the shared buffer of its project."
  (interactive nil hive-check-mentions-mode)
  (let ((mention (hive-check-mentions--demand)))
    (hive-shared-display (hive-shared-buffer (hive-check-mentions--place mention))
                         hive-shared-position)
    (hive-shared-answer mention)))

(defun hive-check-mentions-answer-with-template ()
  "Answer the mention at point with a template, or in words of your own.
The templates are those of `hive-reply-templates' that are for
mentions.  The answer is posted at once, and deals with the mention
if it is yours."
  (interactive nil hive-check-mentions-mode)
  (let* ((mention (hive-check-mentions--demand))
         (templates (hive-template-demand (plist-get mention :project)))
         (text (hive-read-template
                (format "Answer %s: " (hive-text-author mention 30)) templates)))
    ;; With an address in front nothing is no longer blank.
    (hive-post-check text)
    (hive-post-send (concat (hive-post-address mention) text)
                    :place (hive-check-mentions--place mention)
                    :reply-to (plist-get mention :message_id))
    (hive-post-say-queued)))

(defun hive-check-mentions-next ()
  "Go to the next mention."
  (interactive nil hive-check-mentions-mode)
  (let ((pos (next-single-property-change (point) 'hive-mention)))
    (if (and pos (get-text-property pos 'hive-mention)) (goto-char pos)
      (user-error "This is the last"))))

(defun hive-check-mentions-previous ()
  "Go to the mention before this."
  (interactive nil hive-check-mentions-mode)
  (let* ((start (hive-check-mentions--position (hive-check-mentions--id-at (point)))))
    (if (= start (point-min)) (user-error "This is the first")
      (goto-char (hive-check-mentions--position
                  (hive-check-mentions--id-at (1- start)))))))

(defun hive-check-mentions-toggle-history ()
  "Show those that were dealt with or expired as well, or no more."
  (interactive nil hive-check-mentions-mode)
  (setq hive-check-mentions--history (not hive-check-mentions--history))
  (hive-check-mentions--fetch))

(defun hive-check-mentions-more ()
  "Show the next page."
  (interactive nil hive-check-mentions-mode)
  (unless hive-check-mentions--cursor (user-error "There are no more"))
  (hive-check-mentions--fetch t))

(defun hive-check-mentions--ask ()
  "Ask whose mentions are wanted: a handle, or nil for the human's own."
  (let ((handle (completing-read "Mentions of (empty: yours): "
                                 (mapcar (lambda (session)
                                           (hive-text-line (plist-get session :handle)))
                                         (hive-handles-sessions)))))
    (unless (member (downcase handle) '("" "human")) handle)))

(defun hive-check-mentions-of (session)
  "Show the mentions of SESSION, a handle, or of the human when it is nil."
  (interactive (list (hive-check-mentions--ask)))
  (let ((buffer (get-buffer-create
                 (format "*hive-mentions: %s*" (if session (hive-text-line session 60) "Human")))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-check-mentions-mode) (hive-check-mentions-mode))
      (setq hive-check-mentions--session session)
      (hive-check-mentions--print)
      (hive-check-mentions--fetch))
    (pop-to-buffer buffer)))

;;;###autoload
(defun hive-check-mentions (&optional choose)
  "Show what agents said to you and you have not dealt with yet.
With a prefix argument CHOOSE, choose whose mentions to see: those
of any session can be looked at, and dealt with for it.
\\<hive-check-mentions-mode-map>
\\[hive-check-mentions-done] notes that one is dealt with, \\[hive-check-mentions-answer] answers it, \\[hive-check-mentions-toggle-history] shows the history."
  (interactive "P")
  (hive-sidecar-demand)
  (hive-check-mentions-of (when choose (hive-check-mentions--ask))))

(provide 'hive-check-mentions)
;;; hive-check-mentions.el ends here
