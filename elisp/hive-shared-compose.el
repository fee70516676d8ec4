;;; hive-shared-compose.el --- Posting messages  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Messages are posted through the outbox: from the minibuffer, from the draft
;; in a shared buffer, and from other programs that insert text there.
;;
;; The draft is the text below the line of a shared buffer.  \\`C-c C-c' posts
;; and deletes it; undo restores the text.  A draft may reply to a message, and
;; may be urgent; the header line says so.
;;
;; The draft is saved as those of answers are (hive-compose), and with it the
;; message that it replies to, its thread and its priority.
;;
;; A program that inserts a message in the format of the shared buffer posts
;; it (hive-detect).

;;; Code:

(require 'cl-lib)
(require 'hive-compose)
(require 'hive-human)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-shared-text)
(require 'hive-shared-view)
(require 'hive-text)

;;;; Posting

;; A message is on disk before Emacs reports anything, and reaches the store
;; even if Emacs or the sidecar crashes.  Each has an id, so one that is sent
;; twice is one message.

(defconst hive-post-most (* 32 1024) "The largest size of a body, in bytes.")

(defvar hive-post-history nil "Minibuffer history of messages.")

(defvar hive-post-stored-functions nil
  "Called with the id of a post that was stored, and the sidecar's result.
:existing in the result is non-nil if an equal message existed.")

(defvar hive-post-rejected-functions nil
  "Called with the id of a post that was rejected, and a sentence.
A function that has reported it returns non-nil.")

(defun hive-post-check (body)
  "Signal an error unless BODY can be posted."
  (when (string-blank-p body)
    (hive-fail "There is nothing to post; write something first"))
  (when (> (string-bytes (encode-coding-string body 'utf-8)) hive-post-most)
    (hive-fail
     "This message is too long: the limit is 32 KB; put the rest into a file and name the file")))

(cl-defun hive-post-send (body &key place thread reply-to priority heading)
  "Post BODY, a string, and return the id of the message.
PLACE is a plist of `hive-place-of', or nil to post to everyone.
THREAD, REPLY-TO and PRIORITY are those of the message.  HEADING, a
plist of :handle and :stamp, is the heading of a block: its name is
kept, and an equal message is not posted again.  Its :origin says
where the block came from: \"typed\" or nil if you post it with a key,
\"inserted\" if a command of yours inserted it, \"program\" if no
command did.  On return the message is on disk; if it cannot be
written, it is in the kill ring."
  (hive-post-check body)
  (let ((id (concat "msg-" (hive-rpc-new-id)))
        (store (plist-get hive-sidecar-info :store_id)))
    (hive-outbox-add
     nil "message/post"
     `( :message_id ,id
        ;; The outbox knows its entries by this.
        :response_id ,id
        :body ,(hive-text-sendable body)
        :by ,(hive-human-name)
        ,@(hive-place-params place)
        ,@(when thread (list :thread (hive-text-sendable thread)))
        ,@(when reply-to (list :reply_to reply-to))
        ,@(when priority (list :priority priority))
        ,@(when heading
            (list :heading (list :handle (hive-text-sendable (plist-get heading :handle))
                                 :stamp (plist-get heading :stamp)
                                 :origin (or (plist-get heading :origin) "typed"))))
        ,@(when store (list :store_id store)))
     body)
    id))

(defun hive-post-address (message)
  "Return the beginning of a reply to MESSAGE, or to a mention.
It mentions the author if that is an agent."
  (if (equal "agent" (plist-get message :author))
      (concat "@" (hive-text-line (plist-get message :from_handle)) " ")
    ""))

;;;; Reporting the result

(defun hive-shared-compose--problems (result)
  "Return a sentence on the problems in RESULT of a post, or nil."
  (when-let* ((unresolved (append (plist-get result :unresolved) nil)))
    (mapconcat (lambda (one) (hive-text-line (plist-get one :sentence) 400)) unresolved " ")))

(defun hive-shared-compose--post-stored (entry result)
  "Handle the post in ENTRY, which was stored with RESULT."
  (when (equal (hive-outbox-entry-method entry) "message/post")
    (let ((problems (hive-shared-compose--problems result))
          (id (hive-outbox-entry-response-id entry)))
      (cond (problems (hive-announce "Posted.  %s" problems))
            ;; The sidecar was away when it was written.  Texts have milliseconds.
            ((string< (hive-outbox-entry-at entry)
                      (hive-text-before (- (hive-now) hive-sidecar-connected-at)))
             (hive-announce "Posted what waited for the sidecar: %s"
                            (hive-text-line (plist-get (hive-outbox-entry-params entry) :body) 60))))
      (hive-rpc-run-hook 'hive-post-stored-functions id result))))

(defun hive-shared-compose--post-rejected (entry)
  "Report that the post in ENTRY was rejected; put it into the kill ring."
  (when (equal (hive-outbox-entry-method entry) "message/post")
    (let ((text (hive-text-line (hive-outbox-entry-text entry) 200))
          (id (hive-outbox-entry-response-id entry)))
      (unless (run-hook-with-args-until-success 'hive-post-rejected-functions id text)
        (kill-new (plist-get (hive-outbox-entry-params entry) :body))
        (hive-announce "Your message could not be stored: %s  (it is in the kill ring)" text)))))

(add-hook 'hive-outbox-stored-functions #'hive-shared-compose--post-stored)
(add-hook 'hive-outbox-rejected-functions #'hive-shared-compose--post-rejected)

(defun hive-post-say-queued ()
  "Report that a message is queued."
  (hive-say (if (hive-sidecar-connected-p)
                "Message queued"
              "Message saved; it will be posted when the sidecar connects")))

;;;; Posting from the minibuffer

(defvar hive-post-map
  (hive-keymap :parent minibuffer-local-map
               "TAB" #'completion-at-point)
  "Keymap while a message is typed in the minibuffer.")

(defun hive-post-read (prompt place &optional to)
  "Read a message for PLACE with PROMPT; TAB completes handles.
What is not sent is a draft of the next message to the same TO, a
handle, everyone or nil, in PLACE.
\\<hive-post-map>\\[next-history-element] inserts your `hive-reply-templates', one after the other."
  (let ((templates (hive-template-messages (plist-get place :project)))
        (body nil))
    (hive-read-with-draft nil
      (lambda ()
        (setq body (hive-read-noted
                    (lambda ()
                      (minibuffer-with-setup-hook
                          (lambda ()
                            (setq hive-model-project-dir (plist-get place :project_dir))
                            (add-hook 'completion-at-point-functions #'hive-model-complete-handle nil t))
                        (read-from-minibuffer (if templates
                                                  (hive-words
                                                   "%s (M-n: templates): " (string-remove-suffix ": " prompt))
                                                prompt)
                                              hive-read-typed hive-post-map nil 'hive-post-history
                                              templates)))))
        (hive-post-check body)
        'answered)
      (concat "post-" (secure-hash 'sha1 (format "%s\n%s" (plist-get place :project_dir) to))))
    body))

;;;; Which shared buffer

;; The shared buffer of the project that you are in, if it has agents.  In any
;; other directory, that of the only project with agents, or one that you choose.

(defun hive-shared-agents (place)
  "Return the sessions that @All means in the shared buffer of PLACE.
For nil, they are those of all projects."
  (cl-remove-if-not
   (lambda (session)
     (let ((parent (plist-get session :parent_session_id)))
       (and (hive-rpc-true-p session :shared)
            (not (equal "cli" (plist-get session :client)))
            (not (and parent (string-prefix-p (concat parent ":") (plist-get session :session_id))))
            (or (null place)
                (equal (plist-get place :project_dir) (plist-get session :project_dir))))))
   (hive-model-sessions)))

(defun hive-shared--projects ()
  "Return the projects with agents, conses of a name and a place.
Where two have the same name, the directory follows it."
  (let* ((sessions (cl-remove-duplicates (hive-shared-agents nil) :from-end t :test #'equal
                                         :key (lambda (one) (plist-get one :project_dir))))
         (names (mapcar (lambda (one) (plist-get one :project)) sessions)))
    (mapcar (lambda (session)
              (cons (hive-shared--project-name session (= 1 (cl-count (plist-get session :project) names
                                                                      :test #'equal)))
                    (hive-place-from session)))
            sessions)))

(defun hive-shared--project-name (place unique)
  "Return the name of the project of PLACE, with its directory unless UNIQUE."
  (let ((name (hive-text-line (plist-get place :project) 60)))
    (if unique name
      ;; The ends of long directories may be all that differs.
      (format "%s (%s)" name (hive-text-line (plist-get place :project_dir))))))

(defun hive-shared-read-project (projects &optional here)
  "Let the human choose one of PROJECTS, or everyone, and return the place.
PROJECTS are conses of a name and a place.  HERE, a place, is offered
after them."
  (let* ((projects (if here
                       (append projects
                               (list (cons (hive-shared--project-name
                                            here (not (cl-find (plist-get here :project) projects :test #'equal
                                                               :key (lambda (one) (plist-get (cdr one) :project)))))
                                           here)))
                     projects))
         (everyone (hive-words 'everyone))
         (name (completing-read (format-prompt (hive-words "Shared buffer of") (caar projects))
                                (append (mapcar #'car projects) (list everyone))
                                nil t nil nil (caar projects))))
    (unless (equal name everyone) (cdr (assoc name projects)))))

(defun hive-shared-place-here ()
  "Return the place of the shared buffer that is meant in the current directory.
If no agent is in its project, that is the only project with agents, or
if there are several, the one that the human chooses."
  (let* ((here (or (and (derived-mode-p 'hive-shared-mode) hive-shared-place) (hive-place-of)))
         (projects (hive-shared--projects)))
    (cond ((or (null projects)
               (and here (or (hive-shared-agents here) (hive-shared--open-p here))))
           here)
          ((cdr projects) (hive-shared-read-project projects here))
          (t (cdar projects)))))

(defun hive-shared--open-p (place)
  "Return non-nil if the shared buffer of PLACE is open."
  (cl-find (plist-get place :project_dir) (hive-shared-buffers) :test #'equal
           :key (lambda (buffer)
                  (plist-get (buffer-local-value 'hive-shared-place buffer) :project_dir))))

(defun hive-shared-compose--prompt (place)
  "Return the prompt for a message to PLACE, with how many agents get it."
  (let ((count (length (hive-shared-agents place)))
        (where (if place (hive-text-line (plist-get place :project) 30)
                 (hive-words "all projects"))))
    (if (zerop count) (hive-words "Post to %s, where no agent is now: " where)
      (hive-words "Post to %s in %s: " (hive-count count "agent") where))))

;;;###autoload
(defun hive-post (body &optional everyone place)
  "Post BODY to the shared buffer of the project you are in.
With a prefix argument EVERYONE, post to everyone, in all projects.
In a directory without agents, PLACE is the only project with
agents, or one that you choose.  @HANDLE in it mentions that session,
@All those of the project; \\<hive-post-map>\\[completion-at-point] completes a handle.
Use `hive-shared' to write longer messages in a buffer."
  (interactive
   (let ((place (unless current-prefix-arg (hive-shared-place-here))))
     (list (hive-post-read (hive-shared-compose--prompt place) (or place (hive-place-of))
                           (unless place 'everyone))
           ;; Everyone can be chosen, too.
           (null place) place)))
  (hive-post-send body :place (unless everyone (or place (hive-place-of))))
  (hive-post-say-queued))

;;;###autoload
(defun hive-mention (handle body &optional place)
  "Mention HANDLE, a session, a role or All, with the message BODY.
A role or All is that of PLACE, by default of the current directory.
The mention holds the session at its next tool call until it is
processed, unless the session's mentions only remind."
  (interactive
   (let* ((place (hive-shared-place-here))
          (handle (completing-read (hive-words "Mention: ")
                                   (hive-model-handle-table (plist-get place :project_dir)))))
     (hive-shared-compose--demand-name handle)
     (list handle (hive-post-read (hive-words 'tell (hive-text-line handle 40)) place handle) place)))
  (setq handle (hive-shared-compose--demand-name handle))
  (hive-post-check body)
  (let ((session (hive-model-session-named handle)))
    (hive-post-send (format "@%s %s" handle body)
                    :place (if session (hive-place-from session) (or place (hive-place-of)))))
  (hive-post-say-queued))

(defun hive-shared-compose--demand-name (handle)
  "Return HANDLE without an @; signal a `user-error' if nobody has it."
  (let ((name (string-remove-prefix "@" (string-trim handle))))
    (when (string-empty-p name) (hive-fail "No name given"))
    (when (and (hive-sidecar-connected-p)
               (not (hive-model-session-named name))
               (not (cl-member name (hive-model-known-handles) :test #'cl-equalp)))
      (hive-fail
       "Nobody is called %s; TAB completes the known names" (hive-text-line name 40)))
    name))

;;;; The draft

(defvar-local hive-shared-reply-to nil "The message that the draft replies to, or nil.")
(defvar-local hive-shared-urgent nil "Non-nil when the draft is urgent.")

(defun hive-shared--drafts ()
  "Return the ranges of the draft, a list of (BEG . END).
Blocks of other programs that are being posted are not part of it."
  (save-restriction
    (widen)
    (let ((pos (hive-shared-start)) (pieces nil))
      (dolist (overlay (sort (cl-remove-if-not
                              (lambda (overlay) (overlay-get overlay 'hive-block))
                              (overlays-in pos (point-max)))
                             (lambda (a b) (< (overlay-start a) (overlay-start b)))))
        (when (< pos (overlay-start overlay))
          (push (cons pos (overlay-start overlay)) pieces))
        (setq pos (max pos (overlay-end overlay))))
      (when (< pos (point-max)) (push (cons pos (point-max)) pieces))
      (nreverse pieces))))

(defun hive-shared-draft ()
  "Return the text of the draft."
  (save-restriction
    (widen)
    (mapconcat (lambda (piece) (buffer-substring-no-properties (car piece) (cdr piece)))
               (hive-shared--drafts) "")))

(defun hive-shared--clear ()
  "Delete the draft, so that undo can restore it."
  (save-restriction
    (widen)
    (dolist (piece (reverse (hive-shared--drafts)))
      (delete-region (car piece) (cdr piece))))
  (hive-shared--to-end))

(defun hive-shared--to-end ()
  "Go to the draft, with the last messages in view."
  (goto-char (point-max))
  (when (and (eq (current-buffer) (window-buffer))
             (>= (window-start) (hive-shared-start)))
    (recenter -2)))

(defun hive-shared--posts (draft)
  "Return the messages in DRAFT, each a cons of a body and a heading or nil.
A draft that consists of blocks is several messages."
  (let* ((blocks (hive-format-parse draft))
         (first (car blocks)))
    (if (and first (string-blank-p (substring draft 0 (plist-get first :beg))))
        (mapcar (lambda (block) (cons (plist-get block :body) block)) blocks)
      (list (cons (string-trim-right draft) nil)))))

(defun hive-shared-target-thread ()
  "Return the thread in which this buffer posts, or nil."
  (or hive-shared-thread hive-shared-narrowed))

;;;; Keys pressed among the messages

;; Lisp may change the text of messages, which affects nobody.  A key that is
;; typed there by mistake should not: what it types goes to the draft, and
;; what it would delete stays.

(defconst hive-shared-typing
  '(self-insert-command newline newline-and-indent open-line quoted-insert
                        insert-char electric-newline-and-maybe-indent)
  "Commands that insert what the human types, character by character.")

(defconst hive-shared-compose--pasting
  '(yank yank-pop yank-from-kill-ring clipboard-yank cua-paste xterm-paste
         evil-paste-after evil-paste-before viper-put-back viper-Put-back
         mouse-yank-primary mouse-yank-at-click)
  "Commands that insert at point what the human has copied.")

(defconst hive-shared-compose--deleting
  '(delete-char delete-forward-char delete-backward-char backward-delete-char-untabify)
  "Commands of keys that delete one character.")

(defun hive-shared-compose--above-p ()
  "Return non-nil if point is among the messages, and the draft is visible."
  (and hive-shared--start
       (< (point) (hive-shared-start))
       (<= (hive-shared-start) (point-max))))

(defun hive-shared-stray-key ()
  "Before a command that types or deletes among the messages, go to the draft.
A keyboard macro types, too.  An error here would remove the hook."
  (when (hive-shared-compose--above-p)
    (cond ((memq this-command (cons 'self-insert-command hive-shared-compose--pasting))
           (push-mark nil t)
           (deactivate-mark)
           (goto-char (point-max)))
          ((and (memq this-command hive-shared-compose--deleting) (not (use-region-p)))
           (setq this-command #'hive-shared-refuse))
          ((memq this-command hive-shared-typing)
           (setq this-command #'hive-shared-refuse)))))

(defun hive-shared-paste-click (click)
  "Do what this button of the mouse does elsewhere, at CLICK.
If it pastes, and CLICK is among the messages, paste into the draft."
  (interactive "e")
  (setq this-command (or (global-key-binding [mouse-2]) #'ignore))
  (let ((paste (memq this-command hive-shared-compose--pasting)))
    (when paste
      (unless mouse-yank-at-point (mouse-set-point click))
      ;; Before this command, point was elsewhere, perhaps in another window.
      (hive-shared-stray-key))
    (let ((mouse-yank-at-point (or mouse-yank-at-point paste)))
      (call-interactively this-command nil (vector click)))))

(defun hive-shared-refuse ()
  "Say that messages are not edited here."
  (declare (modes hive-shared-mode))
  (interactive)
  (hive-fail "Messages are not edited here; write below the line (M->)"))

;;;; Commands of shared buffers

(defun hive-shared-post ()
  "Post what you have written below the line.
It is on disk before it is deleted here, and reaches the store even if
Emacs or the sidecar crashes."
  (interactive)
  (let ((posts (hive-shared--posts (hive-shared-draft))))
    (dolist (post posts) (hive-post-check (car post)))
    (dolist (post posts)
      (hive-post-send (car post)
                      :place hive-shared-place
                      :thread (hive-shared-target-thread)
                      :reply-to (plist-get hive-shared-reply-to :message_id)
                      :priority (and hive-shared-urgent "urgent")
                      :heading (cdr post)))
    (hive-shared--clear)
    (hive-shared-plain-draft)
    (hive-draft-save)
    ;; The human has written something: what was new is read.
    (setq hive-shared-news nil)
    (hive-shared-show-news)
    (hive-post-say-queued)))

(defun hive-shared-plain-draft ()
  "Make the draft reply to nothing and have normal priority."
  (setq hive-shared-reply-to nil
        hive-shared-urgent nil)
  (force-mode-line-update))

(defun hive-shared-discard ()
  "Kill the draft.
The next one is not a reply and not urgent."
  (interactive)
  (let ((draft (hive-shared-draft)))
    (unless (string-blank-p draft) (kill-new draft))
    (hive-shared--clear)
    (hive-shared-plain-draft)
    (hive-draft-save)
    (hive-say (if (string-blank-p draft)
                  "There is no draft"
                "Draft discarded; its text is in the kill ring"))))

(defun hive-shared-toggle-urgent ()
  "Make the draft urgent, or normal again.
An urgent mention holds a session even if its mentions only remind."
  (interactive)
  (setq hive-shared-urgent (not hive-shared-urgent))
  (hive-draft-changed)
  (force-mode-line-update)
  (hive-say (if hive-shared-urgent
                "The message will be urgent"
              "The message will have normal priority")))

(defun hive-shared--demand ()
  "Return the message at point, or signal a `user-error'."
  (or (hive-shared-message-at)
      (and (> (point) (point-min)) (hive-shared-message-at (1- (point))))
      (hive-fail "There is no message here")))

(defun hive-shared-reply (&optional message)
  "Reply to MESSAGE, by default the one at point, below the line.
Posting the reply marks its mention of you done."
  (interactive)
  (hive-shared-begin-reply (or message (hive-shared--demand))))

(defun hive-shared-begin-reply (message &optional new)
  "Make the draft a reply to MESSAGE, and go to the draft.
If NEW, a draft of something else goes to the kill ring first."
  (let ((other (and new
                    (not (string-blank-p (hive-shared-draft)))
                    (not (equal (plist-get message :message_id)
                                (plist-get hive-shared-reply-to :message_id))))))
    (when other (hive-shared-discard))
    (setq hive-shared-reply-to message)
    (hive-draft-changed)
    (push-mark nil t)
    (widen)
    (goto-char (point-max))
    (when (string-blank-p (hive-shared-draft))
      (insert (hive-post-address message)))
    (force-mode-line-update)
    (message "%s%s" (if other (hive-words "The draft that was here is in the kill ring.  ") "")
             (substitute-command-keys
              (hive-words "\\<hive-shared-mode-map>\\[hive-shared-post] posts your message, \\[hive-shared-discard] discards it, \\[hive-shared-insert-template] inserts a template")))))

(defun hive-shared--project ()
  "Return the project of the draft, or nil."
  (or (plist-get hive-shared-reply-to :project)
      (plist-get hive-shared-place :project)))

(defun hive-shared-insert-template (text)
  "Insert TEXT, one of `hive-reply-templates', into the draft."
  (interactive (list (hive-read-template (hive-words 'which-template)
                                         (hive-template-messages (hive-shared--project)))))
  (when (< (point) (hive-shared-start))
    (push-mark nil t)
    (widen)
    (goto-char (point-max)))
  (insert text))

(defun hive-shared--demand-mention ()
  "Return the open mention of the human at point, or signal a `user-error'."
  (or (hive-mentions-open-p (hive-shared--demand))
      (hive-fail "This message has no open mention of you")))

(defun hive-shared-done (&optional note)
  "Mark the mention of you at point done.
With a prefix argument, ask for a NOTE about what you did."
  (interactive (list (hive-mentions-read-note (hive-shared--demand-mention))))
  (hive-mentions-process (list (plist-get (hive-shared--demand-mention) :mention_id)) :note note))

;;;; Saving the draft

(defconst hive-shared--reply-fields '(:message_id :from_handle :session_id :by :as_handle :body :project)
  "The fields that are saved of the message that the draft replies to.")

(defun hive-shared--id-of-draft ()
  "Return the id of the draft of this buffer, for `hive-draft-keep'.
The sidecar may have another name for the project than Emacs has guessed."
  (concat "shared-" (secure-hash 'sha1 (format "%s\n%s" (plist-get hive-shared-place :project_dir)
                                               hive-shared-thread))))

(defun hive-shared--with-draft ()
  "Return how the draft is to be posted, a plist."
  `(,@(when hive-shared-reply-to
        (list :reply_to
              (cl-loop for field in hive-shared--reply-fields
                       for value = (plist-get hive-shared-reply-to field)
                       when (stringp value) nconc (list field (hive-text-sendable value)))))
    ,@(when hive-shared-narrowed (list :thread (hive-text-sendable hive-shared-narrowed)))
    ,@(when hive-shared-urgent (list :priority "urgent"))))

(defun hive-shared--keep-draft ()
  "Save the draft, and how it is to be posted; return non-nil if that is on disk."
  (when hive-shared--start
    (let ((draft (hive-shared-draft)))
      (hive-draft-keep (hive-shared--id-of-draft) draft
                       (unless (string-blank-p draft) (hive-shared--with-draft))))))

(defun hive-shared-restore-draft ()
  "Insert the draft that was saved, unless something is below the line."
  (when (and hive-shared--start (string-blank-p (hive-shared-draft)))
    (let* ((id (hive-shared--id-of-draft))
           (draft (hive-draft-read id))
           (with (hive-draft-with id)))
      (when draft
        (save-restriction
          (widen)
          (hive-shared-put (point-max) (propertize draft 'hive-typed t)))
        (setq hive-shared-reply-to (plist-get with :reply_to)
              hive-shared-narrowed (plist-get with :thread)
              hive-shared-urgent (equal "urgent" (plist-get with :priority)))
        (mapc #'hive-shared-hide hive-shared-messages)))))

(defun hive-shared-keep-draft ()
  "Save the draft, as the buffer is being killed.
If that fails, put it into the kill ring."
  (when (and hive-shared--start (not (string-blank-p (hive-shared-draft)))
             (not (hive-draft-save)))
    (kill-new (hive-shared-draft))))

;;;; Header line

(defun hive-shared-target ()
  "Return where the draft will go, in words, or \"\" for nothing special."
  (string-join
   (delq nil
         (list (when hive-shared-urgent (propertize (hive-words 'mark-urgent) 'face 'hive-warning))
               (when hive-shared-reply-to
                 (hive-words "replying to %s: %s"
                             (hive-text-author hive-shared-reply-to 30)
                             (hive-text-line (plist-get hive-shared-reply-to :body) 40)))
               ;; The buffer of a thread is called like it.
               (when hive-shared-narrowed
                 (hive-words 'target-thread (hive-shared-thread-name hive-shared-narrowed)))))
   ", "))

(provide 'hive-shared-compose)
;;; hive-shared-compose.el ends here
