;;; hive-shared.el --- The buffer in which agents and you talk  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-shared' opens the shared buffer of the project you are in.  It shows
;; the messages of the project's agents and yours as they are posted; write
;; below the line.  The messages are in the store: changing or deleting text
;; above the line affects nobody.
;;
;; This file has the commands to move, to look at a thread and to save messages
;; to a file, and the mode itself.  With `hive-shared-on-mention', a mention shows
;; the buffer.

;;; Code:

(require 'cl-lib)
(require 'hive-attention)
(require 'hive-detect)
(require 'hive-display)
(require 'hive-human)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-shared-compose)
(require 'hive-shared-text)
(require 'hive-shared-unread)
(require 'hive-shared-view)
(require 'hive-text)

;;;; Moving from message to message

(defun hive-shared--next (property direction)
  "Go to the next beginning of PROPERTY in DIRECTION, 1 or -1.
Skip hidden text.  Return nil if there is none."
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
  (unless (hive-shared--next 'hive-mention 1) (hive-fail "You are not mentioned after this point")))

(defun hive-shared-previous-mention ()
  "Go to the previous mention of you."
  (interactive)
  (unless (hive-shared--next 'hive-mention -1)
    (hive-fail "You are not mentioned before this point")))

(defun hive-shared-next-message ()
  "Go to the next message, or to the draft."
  (interactive)
  (unless (hive-shared--next 'hive-heading 1) (goto-char (point-max))))

(defun hive-shared-previous-message ()
  "Go to the previous message."
  (interactive)
  (unless (hive-shared--next 'hive-heading -1) (hive-fail "No earlier message is shown")))

;;;; Threads

(defun hive-shared--thread-at ()
  "Return the thread of the message at point."
  (hive-shared-thread-of (hive-shared--demand)))

(defun hive-shared-narrow ()
  "Show only the thread of the message at point, or all messages again.
What you post then goes to that thread."
  (interactive)
  (setq hive-shared-narrowed (unless hive-shared-narrowed (hive-shared--thread-at)))
  (mapc #'hive-shared-hide hive-shared-messages)
  (hive-draft-changed)
  (force-mode-line-update)
  (hive-say (if hive-shared-narrowed "Showing only this thread" "Showing all messages")))

(defun hive-shared-open-thread (thread)
  "Open THREAD in a buffer of its own; by default that of the message at point.
With a prefix argument, choose one of the threads that are shown, by its
name or its subject, or type the name of a new one."
  (interactive (list (if current-prefix-arg (hive-shared--read-thread)
                       (hive-shared--thread-at))))
  (pop-to-buffer (hive-shared-buffer hive-shared-place thread)))

(defun hive-shared--threads ()
  "Return the threads that are shown, the newest first.
Each is a list of what it is called, the thread, and its messages, the
newest first.  A thread without a name is called by the beginning of its
first message; one without replies is left out."
  (let ((threads (make-hash-table :test #'equal)) (named (make-hash-table :test #'equal)) order)
    (dolist (message hive-shared-messages)
      (push message (gethash (hive-shared-thread-of message) threads)))
    (dolist (message (reverse hive-shared-messages))
      (let* ((thread (hive-shared-thread-of message)) (messages (gethash thread threads))
             (topic (not (string-prefix-p "msg-" thread))))
        (when (and messages (or topic (cdr messages)))
          (let* ((name (if topic (hive-text-line thread 60)
                         (hive-text-line (plist-get (car (last messages)) :body) 60)))
                 (same (cl-incf (gethash name named 0))))
            (push (list (if (= same 1) name (format "%s (%d)" name same)) thread messages) order)))
        (remhash thread threads)))
    (nreverse order)))

(defun hive-shared--thread-annotation (thread)
  "Return what follows the name of THREAD, a list of its id and its messages."
  (pcase-let* ((`(,id ,messages) thread) (last (car messages)))
    (hive-words
     "  %s, the last by %s %s ago%s" (hive-count (length messages) "message")
     (hive-text-author last 20) (hive-text-age (plist-get last :at))
     (if (string-prefix-p "msg-" id) ""
       (concat ": " (hive-text-line (plist-get (car (last messages)) :body) 40))))))

(defun hive-shared--read-thread ()
  "Let the human choose a thread, or name a new one."
  (let* ((threads (hive-shared--threads))
         (name (string-trim (completing-read (hive-words "Thread: ")
                                             (hive-read-table threads 'hive-thread
                                                              #'hive-shared--thread-annotation)))))
    (when (string-empty-p name) (hive-fail 'nothing-chosen))
    (or (nth 1 (assoc name threads)) name)))

;;;; Saving messages to a file

(defun hive-shared-file-text ()
  "Return the shown messages in the format of a file.
They are as stored, whatever was changed in the buffer."
  (concat (hive-format-front (hive-format-stamp
                              (or (plist-get (hive-shared-first) :at) (hive-text-now)))
                             (plist-get hive-shared-place :project))
          (mapconcat #'hive-format-message hive-shared-messages "\n")
          hive-text-file-end))

(defun hive-shared-save (file)
  "Write the shown messages to FILE, in the format of the buffer.
The default name is shared-YYYYMMDD.md.  To write all messages, use
the command line: hive messages --format shared."
  (interactive
   (list (read-file-name (hive-words "Save messages to: ") nil nil nil
                         (format-time-string "shared-%Y%m%d.md"))))
  (let ((text (hive-shared-file-text))
        (count (hive-shared-count))
        (coding-system-for-write 'utf-8-unix))
    (write-region text nil file nil nil nil t)
    (hive-say 'export-done (hive-count count "message") (abbreviate-file-name file))))

(defun hive-shared--write ()
  "Save the messages, for `write-contents-functions'."
  (unless buffer-file-name
    (call-interactively #'hive-shared-save)
    t))

(defun hive-shared--written ()
  "Visit no file again, after `write-file' has written this buffer to one."
  (when buffer-file-name
    (set-visited-file-name nil t)
    (hive-shared--rename)))

;;;; Showing the buffer on a mention

;; With `hive-shared-on-mention', a mention of you shows its shared buffer.
;; The buffer is never selected, no window of another frame is used, and point
;; stays where it is; it happens only between two commands.

(defcustom hive-shared-on-mention nil
  "Whether and where a mention shows its shared buffer.
The symbol `display' leaves the place to `display-buffer', within the
selected frame; a side means a side window there.  The window is not
selected.  If you close it, it stays closed until the next mention.
A buffer that is already visible stays where it is."
  :type '(choice (const :tag "Not shown" nil)
                 (const :tag "In some other window" display)
                 (const right) (const left) (const bottom) (const top))
  :group 'hive-attention)

(defcustom hive-shared-on-mention-of 'human
  "Whose mentions show the shared buffer, if `hive-shared-on-mention' is set.
`anyone' includes mentions of sessions, in the project that you are
in and in those whose shared buffers are open."
  :type '(choice (const :tag "Mine" human) (const :tag "Anybody's" anyone))
  :group 'hive-attention)

(defconst hive-shared--size 0.4
  "The part of the frame that a side window takes.")

(defvar hive-shared--to-show nil "The mention to show, or nil.")
(defvar hive-shared--seq nil
  "The seq of the last message with a mention that arrived, or nil.")

(defun hive-shared--soon (mention)
  "Show the buffer of MENTION once the human is free."
  (when (or (equal "urgent" (plist-get mention :priority))
            (not (hive-notify-suppressed-p mention)))
    (setq hive-shared--to-show mention)
    (hive-notify-when-free #'hive-shared--show)))

(defun hive-shared--of-human (mention)
  "Handle MENTION, a new one of the human."
  (when hive-shared-on-mention (hive-shared--soon mention)))

(defun hive-shared--new-p (mention)
  "Return non-nil if MENTION, of anybody, is new."
  (let ((seq (plist-get mention :seq)) (last hive-shared--seq))
    (when (or (null last) (> seq last)) (setq hive-shared--seq seq))
    (and (hive-mentions-waiting-p mention)
         ;; A message may mention several sessions; the first one is enough.
         (if last (> seq last) (null (plist-get mention :delivered_at))))))

(defun hive-shared--changed (mention)
  "Handle MENTION, of anybody, which changed."
  (when (and (hive-shared--new-p mention)
             hive-shared-on-mention
             (eq hive-shared-on-mention-of 'anyone)
             (hive-shared--near-p mention))
    (hive-shared--soon mention)))

(defun hive-shared--near-p (mention)
  "Return non-nil if MENTION is in the current project or in an open buffer."
  (let ((project-dir (plist-get mention :project_dir)))
    (or (equal project-dir
               (plist-get (hive-place-of (buffer-local-value
                                          'default-directory
                                          (window-buffer (selected-window))))
                          :project_dir))
        (cl-some (lambda (buffer)
                   (equal project-dir
                          (plist-get (buffer-local-value 'hive-shared-place buffer)
                                     :project_dir)))
                 (hive-shared-buffers)))))

(defun hive-shared--forget-seen ()
  "Forget which messages arrived, as this sidecar may have another store."
  (setq hive-shared--seq nil))

(defun hive-shared--show ()
  "Show the shared buffer of the mention to show, without selecting it."
  (let ((mention hive-shared--to-show))
    (setq hive-shared--to-show nil)
    (when (and mention hive-shared-on-mention
               ;; The human may have processed it in the meantime.
               (or (not (equal hive-mentions-human (plist-get mention :session_id)))
                   (hive-mentions-open-p mention)))
      (let ((buffer (hive-shared-buffer (hive-place-from mention))))
        (unless (hive-display-visible-p buffer)
          (save-selected-window
            (display-buffer buffer (hive-shared--action))))))))

(defun hive-shared--action ()
  "Return the action for `display-buffer'.
If there is no room in this frame, it does not display the buffer."
  (let ((side hive-shared-on-mention))
    (if (eq side 'display)
        '((display-buffer-pop-up-window
           hive-shared--other-window
           display-buffer-no-window)
          (inhibit-same-window . t)
          (inhibit-switch-frame . t)
          (allow-no-window . t))
      `((display-buffer-in-side-window display-buffer-no-window)
        (side . ,side)
        ;; The first slot is that of the list, see `hive-side-window'.
        (slot . 1)
        (,(if (memq side '(left right)) 'window-width 'window-height)
         . ,hive-shared--size)
        (window-parameters (no-other-window . nil))
        (inhibit-switch-frame . t)
        (allow-no-window . t)))))

(defun hive-shared--other-window (buffer alist)
  "Display BUFFER in another window of this frame, if any, with ALIST.
Without this, `display-buffer-use-some-window' may use another frame."
  (when (get-lru-window nil nil t)
    (display-buffer-use-some-window buffer alist)))

(add-hook 'hive-mentions-arrived-functions #'hive-shared--of-human)
(add-hook 'hive-mentions-changed-functions #'hive-shared--changed)
(add-hook 'hive-connected-hook #'hive-shared--forget-seen)

;;;; The mode

(defcustom hive-shared-position 'right
  "Where `hive-shared' shows the shared buffer.
A window that is narrower than `split-width-threshold' is not split
into two that are side by side; Emacs then chooses another window."
  :type '(choice (const :tag "Right of this window" right)
                 (const :tag "Left of this window" left)
                 (const :tag "In this window" current))
  :group 'hive-shared)

(defvar hive-shared-mode-map
  (hive-keymap :mode 'hive-shared-mode
               "C-c C-c" #'hive-shared-post
               "C-c C-k" #'hive-shared-discard
               "C-c C-r" #'hive-shared-reply
               "C-c C-d" #'hive-shared-done
               "C-c C-u" #'hive-shared-toggle-urgent
               "C-c C-y" #'hive-shared-insert-template
               "C-c C-n" #'hive-shared-next-mention
               "C-c C-p" #'hive-shared-previous-mention
               "C-c C-t" #'hive-shared-narrow
               "C-c C-o" #'hive-shared-open-thread
               "C-c C-b" #'hive-shared-page-back
               "C-c C-f" #'hive-shared-page-forward
               "C-c C-l" #'hive-shared-latest
               "C-c C-s" #'hive-shared-save
               ;; A file name would take the buffer over.
               "<remap> <save-buffer>" #'hive-shared-save
               "<remap> <write-file>" #'hive-shared-save
               "M-n" #'hive-shared-next-message
               "M-p" #'hive-shared-previous-message
               "TAB" #'completion-at-point
               ;; Until Emacs 30, M-TAB would complete words of a dictionary.
               "<remap> <ispell-complete-word>" #'completion-at-point
               "<mouse-2>" #'hive-shared-paste-click)
  "Keymap of `hive-shared-mode'.")

(define-derived-mode hive-shared-mode text-mode "Hive-Shared"
  "Major mode of the buffer in which agents and you talk.
Write below the line; \\[hive-shared-post] posts it.  \\[completion-at-point] completes a
handle after an @.  What you type or paste among the messages goes to
the draft, too.

\\[hive-shared-reply] replies to the message at point, \\[hive-shared-done] marks a mention of
you done, \\[hive-shared-next-mention] goes to the next mention of you.
\\[hive-shared-insert-template] inserts one of your `hive-reply-templates'.
\\[hive-shared-narrow] shows one thread only, \\[hive-shared-open-thread] opens it in a buffer.
\\[hive-shared-page-back] shows older messages, \\[hive-shared-latest] the last ones.

If another program inserts a message here, in the format that you
see, it is posted, but its author is unverified.
\\{hive-shared-mode-map}"
  :group 'hive-shared
  :interactive nil
  (hive-text-guard)
  (setq-local font-lock-defaults '(nil t)
              header-line-format '(:eval (hive-shared--header))
              bidi-paragraph-direction nil
              scroll-conservatively 101
              require-final-newline nil
              filter-buffer-substring-function #'hive-shared--copy
              yank-excluded-properties hive-shared-properties
              revert-buffer-function (lambda (&rest _) (hive-shared-refresh)))
  (hive-wrap-words)
  (setq-local wrap-prefix "  ")
  (add-to-invisibility-spec 'hive-elsewhere)
  (dolist (hook '(window-size-change-functions window-buffer-change-functions))
    (add-hook hook #'hive-shared--resized nil t))
  (add-hook 'window-selection-change-functions #'hive-shared--frame-selected)
  (add-hook 'completion-at-point-functions #'hive-model-complete-handle nil t)
  (add-hook 'pre-command-hook #'hive-shared-stray-key nil t)
  ;; For M-x save-buffer, and for programs.
  (add-hook 'write-contents-functions #'hive-shared--write nil t)
  (add-hook 'after-save-hook #'hive-shared--written nil t)
  (hive-draft-watch #'hive-shared--keep-draft)
  (add-hook 'kill-buffer-hook #'hive-shared-keep-draft nil t))

(defun hive-shared--resized (window)
  "Fit the line to WINDOW, if it displays a shared buffer.
Its messages are then read."
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (derived-mode-p 'hive-shared-mode)
        (when (hive-display-frame-p (window-frame window)) (hive-shared-set-read))
        (hive-rpc-guarded #'hive-shared-fit)))))

(defun hive-shared--frame-selected (frame)
  "Note that the human sees the shared buffers on FRAME, if they do now.
In a terminal, a frame appears when it is selected."
  (when (hive-display-frame-p frame)
    (dolist (window (window-list frame 'no-minibuffer))
      (with-current-buffer (window-buffer window)
        (when (derived-mode-p 'hive-shared-mode)
          (hive-rpc-guarded #'hive-shared-set-read))))))

(defun hive-shared--copy (beg end &optional delete)
  "Return a copy of the text from BEG to END that is not a message.
With DELETE, delete the text."
  (hive-shared-plain (buffer-substring--filter beg end delete)))

(defun hive-shared--mention-here-p (mention)
  "Return non-nil if MENTION is in this buffer, or would be with older messages.
Whether it was posted to everyone, only its message says."
  (or (hive-shared-message (plist-get mention :message_id))
      (hive-shared-ours-p mention)))

(defun hive-shared--header ()
  "Return the header line."
  (let ((target (hive-shared-target))
        (open (hive-mentions-count #'hive-shared--mention-here-p)))
    (concat " " (hive-text-literal (hive-shared--name))
            (cond ((not (hive-sidecar-connected-p)) (hive-words "   not connected"))
                  ((hive-rpc-fetching 'message/list (current-buffer)) (hive-mark "   …"))
                  (t (hive-words "   %d shown" (hive-shared-count))))
            (if hive-shared-later (hive-words "   later messages below: C-c C-l") "")
            (if hive-shared-news (hive-words "   %d new" (car hive-shared-news)) "")
            (if (> open 0) (hive-words "   %d for you" open) "")
            (if (string-empty-p target) ""
              (concat "   " (hive-text-literal target)))
            (hive-text-literal (hive-shared--here)))))

(defconst hive-shared--most-here 4 "How many agents are named in the header line.")

(defun hive-shared--here ()
  "Return who is here, and who is held, in words; \"\" if nobody is.
Those that are held come first."
  (let* ((agents (hive-shared-agents hive-shared-place))
         (held (cl-remove-if-not #'hive-shared--held-p agents))
         (order (append held (cl-set-difference agents held)))
         (more (nthcdr hive-shared--most-here order)))
    (if (null agents) ""
      (hive-words "   here: %s"
                  (concat (mapconcat (lambda (agent)
                                       (let ((title (hive-text-title agent 24)))
                                         (if (memq agent held)
                                             (propertize (hive-words "%s (held)" title) 'face 'bold)
                                           title)))
                                     (seq-take order hive-shared--most-here) ", ")
                          (if more (hive-words 'and-more (length more)) ""))))))

(defun hive-shared--held-p (session)
  "Return non-nil if SESSION is held by its open mentions."
  (and (> (or (plist-get session :unprocessed_mentions) 0) 0)
       (not (member (or (plist-get session :gate) (hive-attention-setting :gate)) '("off" "remind")))))

;;;; Opening

(defun hive-shared--name ()
  "Return the name of the project, and of the thread, of this buffer."
  (concat (hive-text-line (or (plist-get hive-shared-place :project) (hive-words 'everyone)) 60)
          (if hive-shared-thread
              (concat "/" (hive-shared-thread-name hive-shared-thread))
            "")))

(defun hive-shared--rename ()
  "Rename this buffer after its project."
  (let ((name (hive-shared--buffer-name)))
    (unless (string-prefix-p name (buffer-name))
      (rename-buffer name t)))
  (hive-shared-restore-draft))

(defun hive-shared--buffer-name ()
  "Return the proper name of this buffer."
  (if (or hive-shared-place hive-shared-thread)
      (format "*hive-shared: %s*" (hive-shared--name))
    "*hive-shared*"))

(defun hive-shared-buffer (place &optional thread)
  "Return the shared buffer of PLACE, and of THREAD if given; make it if needed."
  (or (cl-find-if (lambda (buffer)
                    (with-current-buffer buffer
                      (and (equal thread hive-shared-thread)
                           (equal (plist-get place :project_dir)
                                  (plist-get hive-shared-place :project_dir)))))
                  (hive-shared-buffers))
      (with-current-buffer (generate-new-buffer "*hive-shared*")
        (hive-shared-mode)
        (hive-shared-prepare)
        (hive-detect-start)
        (setq hive-shared-place place
              hive-shared-thread thread
              hive-shared--store (plist-get hive-sidecar-info :store_id)
              hive-model-project-dir (plist-get place :project_dir)
              default-directory (or (plist-get place :directory) default-directory))
        (rename-buffer (hive-shared--buffer-name) t)
        (hive-shared-restore-draft)
        (goto-char (point-max))
        (hive-shared-refresh)
        (current-buffer))))

(defun hive-shared-display (buffer position)
  "Show BUFFER at POSITION, left, right or current, and select it.
Where this window is too narrow for two of them (`split-width-threshold'),
Emacs chooses another one."
  (pop-to-buffer buffer
                 (cond ((eq position 'current) '(display-buffer-same-window))
                       ((or (window-in-direction position) (window-splittable-p (selected-window) t))
                        `((display-buffer-reuse-window display-buffer-in-direction)
                          (direction . ,position)))))
  buffer)

(defun hive-shared-open-for (thing)
  "Open the shared buffer of the project of THING, a plist from the sidecar."
  (hive-shared-display (hive-shared-buffer (hive-place-from thing)) hive-shared-position))

;;;###autoload
(defun hive-shared (&optional choose position)
  "Open the shared buffer of the project you are in, to talk to its agents.
In a directory without agents, that is the only project with agents, or
one that you choose.  With a prefix argument CHOOSE, choose the
project, or everyone, and where it appears.  That is POSITION, right,
left or current (this window), by default `hive-shared-position'.
\\<hive-shared-mode-map>
Write below the line; \\[hive-shared-post] posts."
  (interactive "P")
  (hive-shared-display (hive-shared-buffer (if choose (hive-shared-read-project (hive-shared--projects))
                                             (hive-shared-place-here)))
                       (cond (position)
                             (choose (hive-shared--read-position))
                             (t hive-shared-position))))

(defun hive-shared--read-position ()
  "Let the human choose where the shared buffer appears."
  (let ((default (symbol-name hive-shared-position)))
    (intern (completing-read (format-prompt (hive-words "Where") default)
                             '("right" "left" "current") nil t nil nil default))))

(provide 'hive-shared)
;;; hive-shared.el ends here
