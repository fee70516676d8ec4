;;; hive-shared-compose.el --- Posting messages  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors

;;; Commentary:

;; Messages are posted through the outbox: from the minibuffer, from the draft
;; in a shared buffer, and from other programs that insert text there.
;;
;; The draft is the text below the line of a shared buffer.  \\`C-c C-c' posts
;; and deletes it; undo restores the text.  A draft may reply to a message, and
;; may be urgent; the header line says so.
;;
;; The draft is saved as those of answers are (hive-compose), and with it the
;; message that it replies to.
;;
;; A program that inserts a message in the format of the shared buffer posts
;; it; see "Detecting messages of other programs".

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
command did.  On return the message is on disk."
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
  (let ((unresolved (append (plist-get result :unresolved) nil)))
    (when unresolved
      (mapconcat (lambda (one) (hive-text-line (plist-get one :sentence) 400)) unresolved " "))))

(defun hive-shared-compose--post-stored (entry result)
  "Handle the post in ENTRY, which was stored with RESULT."
  (when (equal (hive-outbox-entry-method entry) "message/post")
    (let ((problems (hive-shared-compose--problems result))
          (id (hive-outbox-entry-response-id entry)))
      (when problems (hive-announce "Posted.  %s" problems))
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
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map minibuffer-local-map)
    (define-key map (kbd "TAB") #'completion-at-point)
    map)
  "Keymap while a message is typed in the minibuffer.")

(defun hive-post-read (prompt place)
  "Read a message for PLACE with PROMPT; TAB completes handles.
\\<hive-post-map>\\[next-history-element] inserts your `hive-reply-templates', one after the other."
  (let ((templates (hive-template-messages (plist-get place :project))))
    (minibuffer-with-setup-hook
        (lambda ()
          (setq hive-model-project-dir (plist-get place :project_dir))
          (add-hook 'completion-at-point-functions #'hive-model-complete-handle nil t))
      (read-from-minibuffer (if templates
                                (hive-words
                                 "%s (M-n: templates): " (string-remove-suffix ": " prompt))
                              prompt)
                            nil hive-post-map nil 'hive-post-history templates))))

;;;; Which shared buffer

;; That of the project that you are in, if agents are there.  In a directory
;; that is no agent's, it is that of the only project with agents, or one that
;; you choose.

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
Where two have the same name, it has the directory behind it."
  (let* ((sessions (cl-remove-duplicates (hive-shared-agents nil) :from-end t :test #'equal
                                         :key (lambda (one) (plist-get one :project_dir))))
         (names (mapcar (lambda (one) (plist-get one :project)) sessions)))
    (mapcar (lambda (session)
              (let ((name (plist-get session :project)))
                (cons (if (= 1 (cl-count name names :test #'equal)) (hive-text-line name 60)
                        (format "%s (%s)" (hive-text-line name 60)
                                (hive-text-line (plist-get session :project_dir) 60)))
                      (list :confirmed t :project name
                            :project_dir (plist-get session :project_dir)))))
            sessions)))

(defun hive-shared-read-project (projects &optional here)
  "Let the human choose one of PROJECTS, or everyone, and return the place.
PROJECTS are conses of a name and a place.  HERE, a place, is offered
behind them."
  (let* ((projects (if here
                       (append projects
                               (list (cons (hive-text-line (plist-get here :project) 60) here)))
                     projects))
         (everyone (hive-words 'everyone))
         (name (completing-read (hive-words "Shared buffer of: ")
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
In a directory that is no agent's, PLACE is the only project with
agents, or one that you choose.  @HANDLE in it mentions that session,
@All those of the project; \\<hive-post-map>\\[completion-at-point] completes a handle.
Use `hive-shared' to write longer messages in a buffer."
  (interactive
   (let ((place (unless current-prefix-arg (hive-shared-place-here))))
     (list (hive-post-read (hive-shared-compose--prompt place) (or place (hive-place-of)))
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
     (list handle (hive-post-read (hive-words 'tell (hive-text-line handle 40)) place) place)))
  (setq handle (hive-shared-compose--demand-name handle))
  (hive-post-check body)
  (let ((session (hive-model-session-named handle)))
    (hive-post-send (format "@%s %s" handle body)
                    :place (if session
                               (list :confirmed t
                                     :project (plist-get session :project)
                                     :project_dir (plist-get session :project_dir))
                             (or place (hive-place-of)))))
  (hive-post-say-queued))

(defun hive-shared-compose--demand-name (handle)
  "Return HANDLE without an @; signal a `user-error' if nobody has it."
  (let ((name (string-remove-prefix "@" (string-trim handle))))
    (when (string-empty-p name) (hive-fail "No name given"))
    (when (and (hive-sidecar-connected-p)
               (not (hive-model-session-named name))
               (not (cl-member name (hive-model-known-handles) :test #'cl-equalp)))
      (hive-fail
       "Nobody is called %s; TAB completes the names that there are" (hive-text-line name 40)))
    name))

;;;; Posting messages of other programs

;; A detected block is posted once, under an overlay that says so.  When it is
;; stored, it is deleted here, as it is then shown among the messages.  If it
;; is rejected, it stays, with the reason.

(defconst hive-shared-compose--known-kept 200 "How many posted blocks are remembered.")

(defvar-local hive-shared-compose--known nil
  "Blocks that were posted from here: lists of stamp, handle and body.")

(defun hive-found-known-p (block)
  "Return non-nil if BLOCK was posted from this buffer or is shown in it."
  (let ((stamp (plist-get block :stamp))
        (handle (plist-get block :handle))
        (body (plist-get block :body)))
    (or (member (list stamp handle body) hive-shared-compose--known)
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
                                :heading (append (list :origin origin) block)))
            (overlay (make-overlay beg end nil t nil)))
        (overlay-put overlay 'hive-block id)
        (overlay-put overlay 'hive-text (buffer-substring-no-properties beg end))
        (overlay-put overlay 'evaporate t)
        (overlay-put overlay 'face 'hive-shared-note)
        (overlay-put overlay 'after-string
                     (propertize (hive-words "[posting]\n") 'face 'hive-shared-note))
        (hive-shared-compose--remember block))
    ((error quit)
     (hive-announce
      "A message found in %s was not posted: %s" (buffer-name) (error-message-string oops)))))

(defun hive-shared-compose--remember (block)
  "Remember that BLOCK was posted from here, so as not to post it again."
  (push (list (plist-get block :stamp) (plist-get block :handle) (plist-get block :body))
        hive-shared-compose--known)
  (when (nthcdr hive-shared-compose--known-kept hive-shared-compose--known)
    (setcdr (nthcdr (1- hive-shared-compose--known-kept) hive-shared-compose--known) nil)))

(defun hive-shared-compose--overlay (id)
  "Return the overlay of the block with the id ID, or nil."
  (cl-loop for buffer in (cl-remove-if-not
                          (lambda (buffer) (buffer-local-value 'hive-shared-compose--known buffer))
                          (buffer-list))
           thereis (with-current-buffer buffer
                     (save-restriction
                       (widen)
                       (cl-find id (overlays-in (point-min) (point-max)) :test #'equal
                                :key (lambda (overlay)
                                       (overlay-get overlay 'hive-block)))))))

(defun hive-shared-compose--stored (id result)
  "Delete the block with the id ID, which was stored with RESULT.
It is now shown among the messages.  Keep it if it was edited since,
or if it was not posted because an equal message existed."
  (let ((overlay (hive-shared-compose--overlay id)))
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

(defun hive-shared-compose--block-rejected (id why)
  "Show WHY the block with the id ID was rejected; its text stays."
  (let ((overlay (hive-shared-compose--overlay id)))
    (when overlay
      (overlay-put overlay 'after-string
                   (propertize (hive-words "[not posted: %s]\n" why) 'face 'hive-critical))
      (hive-announce
       "A message found in %s could not be stored: %s" (buffer-name (overlay-buffer overlay)) why)
      t)))

(add-hook 'hive-post-stored-functions #'hive-shared-compose--stored)
(add-hook 'hive-post-rejected-functions #'hive-shared-compose--block-rejected)

;;;; Detecting messages of other programs

;; Whatever inserts a message into a shared buffer, in the format shown there,
;; has posted it: any Lisp, emacsclient, a yank.
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

(defvar hive-detect-quiet 0.5 "Seconds without a change before looking for blocks.")

(defconst hive-shared-compose--typing
  '(self-insert-command newline newline-and-indent open-line quoted-insert
			insert-char electric-newline-and-maybe-indent)
  "Commands that insert what the human types, character by character.")

(defconst hive-shared-compose--changes-kept 200 "How many changes are remembered.")

(cl-defstruct (hive-detect-change (:constructor hive-shared-compose--change) (:copier nil))
  "Text that appeared from BEG to END, markers.
COMMAND is the number of the human's command that inserted it, or nil
if a program did."
  command beg end)

(defvar-local hive-shared-compose--changes nil "Changes that were not examined yet, newest first.")
(defvar-local hive-shared-compose--last 0 "The time of the last change.")
(defvar-local hive-shared-compose--timer nil "The timer that will examine them, or nil.")

;;;; The change hook

(defun hive-detect-start ()
  "Watch the current buffer."
  (add-hook 'after-change-functions #'hive-shared-compose--changed nil t)
  (add-hook 'kill-buffer-hook #'hive-shared-compose--stop nil t))

(defun hive-shared-compose--stop ()
  "Cancel the timer."
  (when hive-shared-compose--timer (cancel-timer hive-shared-compose--timer))
  (setq hive-shared-compose--timer nil))

(defun hive-shared-compose--changed (beg end _length)
  "Record that there is new text from BEG to END.
An error here would remove all change hooks of the buffer."
  (condition-case oops
      (cond ((= beg end))
            (undo-in-progress)
            ;; While the command of a key waits, as for a blinking
            ;; parenthesis, another program may insert text.
            ((and (memq this-command hive-shared-compose--typing)
                  (< (- end beg) hive-format-shortest))
             (hive-shared-compose--typed beg end))
            (t (hive-shared-compose--remember-change beg end)))
    ((error quit) (hive-rpc-log "error: a change was not noted: %S" oops))))

(defun hive-shared-compose--typed (beg end)
  "Mark the text from BEG to END as typed."
  (let ((buffer-undo-list t) (inhibit-read-only t) (inhibit-modification-hooks t))
    (put-text-property beg end 'hive-typed t)))

(defun hive-shared-compose--remember-change (beg end)
  "Remember that text appeared from BEG to END, and examine it later."
  (let ((command (and this-command
                      ;; These insert single characters, not that much.
                      (not (memq this-command hive-shared-compose--typing))
                      num-input-keys))
        (last (car hive-shared-compose--changes)))
    (cond ((and last (eql command (hive-detect-change-command last))
                (= beg (hive-detect-change-end last)))
           (set-marker (hive-detect-change-end last) end))
          ((and last (eql command (hive-detect-change-command last))
                (>= beg (hive-detect-change-beg last))
                (<= end (hive-detect-change-end last))))
          (t (hive-shared-compose--push command beg end))))
  (setq hive-shared-compose--last (hive-now))
  (unless hive-shared-compose--timer
    (setq hive-shared-compose--timer
          (hive-later hive-detect-quiet #'hive-shared-compose--wake (current-buffer)))))

(defun hive-shared-compose--push (command beg end)
  "Remember a change by COMMAND from BEG to END."
  (push (hive-shared-compose--change :command command
				     ;; Exclude what is typed right before or after it.
				     :beg (copy-marker beg t) :end (copy-marker end nil))
        hive-shared-compose--changes)
  (when (nthcdr hive-shared-compose--changes-kept hive-shared-compose--changes)
    (setq hive-shared-compose--changes
          (cl-remove-if (lambda (change)
                          (< (hive-shared-compose--length change) hive-format-shortest))
                        hive-shared-compose--changes))
    (when (nthcdr hive-shared-compose--changes-kept hive-shared-compose--changes)
      (setcdr (nthcdr (1- hive-shared-compose--changes-kept) hive-shared-compose--changes) nil))))

(defun hive-shared-compose--length (change)
  "Return the current length of CHANGE."
  (- (hive-detect-change-end change) (hive-detect-change-beg change)))

;;;; Looking for blocks

(defun hive-shared-compose--wake (buffer)
  "Look for blocks in BUFFER, once it was left alone for a while."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((left (- (+ hive-shared-compose--last hive-detect-quiet) (hive-now))))
        (if (> left 0.005)
            (setq hive-shared-compose--timer (hive-later left #'hive-shared-compose--wake buffer))
          (setq hive-shared-compose--timer nil)
          (hive-rpc-guarded #'hive-detect-post))))))

(defun hive-shared-compose--groups ()
  "Return, and forget, an alist of commands and what each of them changed.
The latter is a list of (BEG . END).  Adjacent ranges are joined."
  (let ((groups nil))
    (dolist (change hive-shared-compose--changes)
      (let ((beg (marker-position (hive-detect-change-beg change)))
            (end (marker-position (hive-detect-change-end change))))
        (set-marker (hive-detect-change-beg change) nil)
        (set-marker (hive-detect-change-end change) nil)
        (when (< beg end)
          (push (cons beg end) (alist-get (hive-detect-change-command change) groups)))))
    (setq hive-shared-compose--changes nil)
    (dolist (group groups groups)
      (setcdr group (hive-shared-compose--join (sort (cdr group) #'car-less-than-car))))))

(defun hive-shared-compose--join (ranges)
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
      (let* ((groups (hive-shared-compose--groups))
             (theirs (alist-get nil groups)))
        (pcase-dolist (`(,command . ,ranges) groups)
          (if (and command
                   (< (cl-loop for (beg . end) in ranges sum (- end beg))
                      hive-format-shortest))
              ;; A command that inserts a word counts as typing.
              (pcase-dolist (`(,beg . ,end) ranges) (hive-shared-compose--typed beg end))
            (pcase-dolist (`(,beg . ,end) ranges)
              (hive-shared-compose--blocks beg end theirs))))))))

(defun hive-shared-compose--origin (beg end theirs)
  "Return the :origin of the text from BEG to END, as in `hive-post-send'.
THEIRS are the ranges that programs wrote; one character of them is
enough to make it \"program\"."
  (if (cl-some (lambda (range) (and (< (car range) end) (< beg (cdr range)))) theirs)
      "program"
    "inserted"))

(defun hive-shared-compose--blocks (beg end theirs)
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
                    (hive-shared-compose--shown-p block-beg block-end)
                    (hive-found-known-p block))
          (hive-found-post block (hive-shared-compose--blank-before from block-beg) block-end
                           (hive-shared-compose--origin block-beg block-end theirs)))
        (setq from block-end)))))

(defun hive-shared-compose--blank-before (from beg)
  "Return where the blank lines before BEG begin, not before FROM."
  (save-excursion
    (goto-char beg)
    (skip-chars-backward " \t\n\r" from)
    (point)))

(defun hive-shared-compose--shown-p (beg end)
  "Return non-nil if a message is shown between BEG and END."
  (text-property-not-all beg end 'hive-message nil))

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
An error here would remove the hook."
  (when (and (hive-shared-compose--above-p) (not executing-kbd-macro))
    (cond ((eq this-command 'self-insert-command)
           (push-mark nil t)
           (deactivate-mark)
           (goto-char (point-max)))
          ((and (memq this-command hive-shared-compose--deleting) (not (use-region-p)))
           (setq this-command #'hive-shared-refuse))
          ((memq this-command hive-shared-compose--typing)
           (setq this-command #'hive-shared-refuse)))))

(defun hive-shared-refuse ()
  "Say that messages are not edited here."
  (interactive nil hive-shared-mode)
  (hive-fail "Messages are not edited here; write below the line (M->)"))

;;;; Commands of shared buffers

(defun hive-shared-post ()
  "Post what you have written below the line.
It is on disk before it is deleted here, and reaches the store even if
Emacs or the sidecar crashes."
  (interactive nil hive-shared-mode)
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
    (hive-shared-forget-news)
    (hive-post-say-queued)))

(defun hive-shared-plain-draft ()
  "Make the draft reply to nothing and have normal priority."
  (setq hive-shared-reply-to nil
        hive-shared-urgent nil)
  (force-mode-line-update))

(defun hive-shared-discard ()
  "Kill the draft.
The next one is no reply and is not urgent."
  (interactive nil hive-shared-mode)
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
  (interactive nil hive-shared-mode)
  (setq hive-shared-urgent (not hive-shared-urgent))
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
  (interactive nil hive-shared-mode)
  (hive-shared-begin-reply (or message (hive-shared--demand))))

(defun hive-shared-begin-reply (message)
  "Make the draft a reply to MESSAGE, and go to the draft."
  (setq hive-shared-reply-to message)
  (push-mark nil t)
  (widen)
  (goto-char (point-max))
  (when (string-blank-p (hive-shared-draft))
    (insert (hive-post-address message)))
  (force-mode-line-update)
  (message "%s" (substitute-command-keys
                 (hive-words "\\<hive-shared-mode-map>\\[hive-shared-post] posts your message, \\[hive-shared-discard] discards it, \\[hive-shared-insert-template] inserts a template"))))

(defun hive-shared--project ()
  "Return the project of the draft, or nil."
  (or (plist-get hive-shared-reply-to :project)
      (plist-get hive-shared-place :project)))

(defun hive-shared-insert-template (text)
  "Insert TEXT, one of `hive-reply-templates', into the draft."
  (declare (modes hive-shared-mode))
  (interactive (list (hive-read-template (hive-words 'which-template)
                                         (hive-template-messages (hive-shared--project)))))
  (when (< (point) (hive-shared-start))
    (push-mark nil t)
    (goto-char (point-max)))
  (insert text))

(defun hive-shared-done (&optional note)
  "Mark the mention of you at point done.
With a prefix argument, ask for a NOTE about what you did."
  (declare (modes hive-shared-mode))
  (interactive (list (and current-prefix-arg (read-string (hive-words 'which-done-note)))))
  (let ((mention (hive-mentions-open-p (hive-shared--demand))))
    (unless mention (hive-fail "This message has no open mention of you"))
    (hive-mentions-process (list (plist-get mention :mention_id)) :note note)))

;;;; Saving the draft

(defvar-local hive-shared--draft-id nil "The id under which the draft was saved last, or nil.")

(defconst hive-shared--reply-fields '(:message_id :from_handle :session_id :by :as_handle :body :project)
  "What is saved of the message that the draft replies to.")

(defun hive-shared--id-of-draft ()
  "Return the id of the draft of this buffer, for `hive-compose-keep'."
  (concat "shared-" (secure-hash 'sha1 (format "%s\n%s" (plist-get hive-shared-place :project_dir)
                                               hive-shared-thread))))

(defun hive-shared--keep-draft ()
  "Save the draft, and what it replies to; return non-nil if that is on disk."
  (when hive-shared--start
    (let* ((id (hive-shared--id-of-draft)) (draft (hive-shared-draft))
           (reply (if (and hive-shared-reply-to (not (string-blank-p draft)))
                      (json-serialize
                       (cl-loop for field in hive-shared--reply-fields
                                for value = (plist-get hive-shared-reply-to field)
                                when (stringp value) nconc (list field (hive-text-sendable value))))
                    "")))
      ;; The sidecar may call the project otherwise than Emacs has guessed.
      (when (and hive-shared--draft-id (not (equal id hive-shared--draft-id)))
        (hive-compose-keep hive-shared--draft-id "")
        (hive-compose-keep (concat hive-shared--draft-id "-reply") ""))
      (setq hive-shared--draft-id id)
      (and (hive-compose-keep id draft)
           (hive-compose-keep (concat id "-reply") reply)))))

(defun hive-shared-restore-draft ()
  "Insert the draft that was saved, unless something is below the line."
  (let* ((id (hive-shared--id-of-draft))
         (draft (and hive-shared--start (hive-compose-draft id)))
         (reply (hive-compose-draft (concat id "-reply"))))
    (when (and draft (string-blank-p (hive-shared-draft)))
      (hive-shared-put (point-max) (propertize draft 'hive-typed t))
      (setq hive-shared--draft-id id
            hive-shared-reply-to (and reply (ignore-errors
                                              (json-parse-string reply :object-type 'plist)))))))

(defun hive-shared-keep-draft ()
  "Save the draft, as the buffer is being killed.
If that fails, put it into the kill ring."
  (when (and hive-shared--start (not (string-blank-p (hive-shared-draft)))
             (not (hive-draft-save)))
    (kill-new (hive-shared-draft))))

;;;; Header line

(defun hive-shared-target ()
  "Return where the draft will go, in words, or \"\" for nothing special."
  (let ((thread (hive-shared-target-thread)))
    (string-join
     (delq nil
           (list (when hive-shared-urgent (propertize (hive-words 'mark-urgent) 'face 'hive-warning))
                 (when hive-shared-reply-to
                   (hive-words "replying to %s: %s"
                               (hive-text-author hive-shared-reply-to 30)
                               (hive-text-line (plist-get hive-shared-reply-to :body) 40)))
                 (when thread
                   (hive-words 'target-thread (hive-text-line thread 30)))))
     ", ")))

(provide 'hive-shared-compose)
;;; hive-shared-compose.el ends here
