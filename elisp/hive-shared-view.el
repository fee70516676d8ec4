;;; hive-shared-view.el --- The messages in a shared buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A shared buffer has a short introduction, a range of the messages in the
;; store in their order, a line, and below it the human's draft:
;;
;;     Agents and their human share this buffer....
;;
;;     [Earlier messages]
;;     ## 2026-01-11 18:00:00 Claude-abc12
;;
;;     @Claude-def34 The login is done.
;;
;;     -------- write below, C-c C-c posts --------
;;     half a sent
;;
;; The number of messages is bounded; the buffer grows at both ends on request
;; and shrinks where nobody reads.  Messages come in three ways: the last ones
;; when the buffer is opened or the sidecar reconnects, pages on request, and
;; new ones as they are posted.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-shared-text)
(require 'hive-text)

;;;; State

(defvar-local hive-shared-place nil
  "The place of this buffer, as from `hive-place-of'; nil for everyone's.")
(defvar-local hive-shared-thread nil "The thread that this buffer shows, or nil.")
(defvar-local hive-shared-narrowed nil "The thread that is visible, or nil for all.")
(defvar-local hive-shared-earlier nil "Non-nil if the store has older messages.")
(defvar-local hive-shared-later nil "Non-nil if the store has newer messages.")

(defvar-local hive-shared-news nil
  "The messages that were unread when the human looked, or nil for none.
It is a cons: how many, and the seq of the first.")
(defvar-local hive-shared-messages nil "The messages that are shown, oldest first.")
(defvar-local hive-shared--ids nil "The messages that are shown, by their ids.")
(defvar-local hive-shared--end nil "A marker at the end of the messages.")
(defvar-local hive-shared--start nil "A marker at the beginning of the draft.")

(defun hive-shared-start ()
  "Return the beginning of the draft."
  (marker-position hive-shared--start))

(defun hive-shared-end ()
  "Return the end of the messages."
  (marker-position hive-shared--end))

(defun hive-shared-first () "Return the first message that is shown." (car hive-shared-messages))
(defun hive-shared-last () "Return the last message that is shown." (car (last hive-shared-messages)))

(defun hive-shared-message (id)
  "Return the message with ID, if it is shown."
  (gethash id hive-shared--ids))

(defun hive-shared-thread-name (thread)
  "Return what THREAD is called: its name, or how its first message begins."
  (let ((first (hive-shared-message thread)))
    (cond (first (hive-text-line (plist-get first :body) 30))
          ((string-prefix-p "msg-" thread) (hive-words "a thread"))
          (t (hive-text-line thread 60)))))

;;;; The introduction, the line, and the ends

(defun hive-shared--introduction ()
  "Return the introduction, which is not part of any message."
  (let ((text (propertize (concat hive-format-introduction "\n")
                          'font-lock-face 'hive-shared-note
                          'hive-edge 'introduction
                          'read-only t)))
    ;; Only at its end, so that nobody can type inside it.
    (put-text-property (1- (length text)) (length text) 'rear-nonsticky t text)
    text))

(defun hive-shared-top ()
  "Return the end of the introduction, where older messages go."
  (let ((beg (text-property-any (point-min) (hive-shared-end) 'hive-edge 'introduction)))
    (if beg (next-single-property-change beg 'hive-edge nil (hive-shared-end)) (point-min))))

(defconst hive-shared--rule-words (hive-words "-------- write below, C-c C-c posts ")
  "The beginning of the line.")

(defun hive-shared--rule ()
  "Return the line between the messages and the draft."
  (propertize (concat hive-shared--rule-words (make-string 24 ?-) "\n")
              'font-lock-face 'hive-shared-rule
              'hive-edge 'rule
              'read-only t
              'rear-nonsticky t))

(defun hive-shared-fit (&rest _)
  "Make the line as wide as the narrowest window of this buffer.
This changes only how it is displayed, not its text."
  (when-let* ((room (and hive-shared--start (hive-wrap-room))))
    (hive-shared-silently
      (let* ((beg (text-property-any (point-min) (point-max) 'hive-edge 'rule))
             (dashes (and beg (+ beg (length hive-shared--rule-words)))))
        (when beg
          (put-text-property dashes (1- (next-single-property-change
                                         beg 'hive-edge nil (point-max)))
                             'display
                             (make-string (max 0 (- room (length hive-shared--rule-words)))
                                          ?-)))))))

(defun hive-shared-prepare ()
  "Set up this buffer, still without messages."
  (hive-shared--learn-sessions)
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
  "Show the button WHICH if PRESENT, otherwise delete it.
Insert it at POS, with LABEL, to run COMMAND."
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
  "Update the buttons at both ends."
  (save-restriction
    (widen)
    (hive-shared--edge 'earlier hive-shared-earlier (hive-shared-top)
                       (hive-words "[Earlier messages]") 'hive-shared-page-back)
    (hive-shared--edge 'later hive-shared-later (hive-shared-end)
                       (hive-words "[Later messages]") 'hive-shared-page-forward)))

;;;; The position of a message

(defun hive-shared-region (message &optional from)
  "Return the region (BEG . END) of MESSAGE, or nil if it was deleted.
Text that was typed into it is part of the region.  Search from FROM."
  (save-restriction
    (widen)
    (let* ((limit (hive-shared-end))
           (beg (text-property-any (or from (point-min)) limit 'hive-message message))
           (end nil) (pos beg))
      ;; Up to the next message; text in between belongs to neither.
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
  "Return the position for a message with SEQ."
  (or (cl-loop for message in hive-shared-messages
               for region = (and (> (plist-get message :seq) seq)
                                 (hive-shared-region message))
               when region return (car region))
      (text-property-any (point-min) (hive-shared-end) 'hive-edge 'later)
      (hive-shared-end)))

;;;; Notes after headings, and hidden messages

(defun hive-shared--note (message)
  "Return the note after the heading of MESSAGE, or nil."
  (hive-shared-note message (hive-mentions-open-p message)
                    (hive-shared-message (plist-get message :reply_to))))

(defun hive-shared-adorn (message &optional from)
  "Update the note after the heading of MESSAGE.
Search for it from FROM."
  (when-let* ((region (hive-shared-region message from)))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (car region))
        (let ((note (hive-shared--note message))
              (end (line-end-position)))
          (dolist (overlay (overlays-in (car region) end))
            (when (overlay-get overlay 'hive-note) (delete-overlay overlay)))
          (when note
            (hive-text-overlay (car region) end 'hive-note t 'after-string note)))))))

(defun hive-shared-hide (message &optional from)
  "Hide MESSAGE unless it is in the visible thread.
Search for it from FROM."
  (when-let* ((region (hive-shared-region message from)))
    (hive-shared-silently
      (put-text-property (car region) (cdr region) 'invisible
                         (and hive-shared-narrowed
                              (not (equal hive-shared-narrowed
                                          (hive-shared-thread-of message)))
                              'hive-elsewhere)))))

;;;; Adding and removing messages

(defconst hive-shared-limit 500
  "How many of the last messages a shared buffer shows.
When you page back, it shows up to twice as many.")

(defun hive-shared-show (messages)
  "Show MESSAGES, a list, oldest first, except those already shown.
Return the new ones."
  (let ((new (cl-remove-if (lambda (message)
                             (gethash (plist-get message :message_id) hive-shared--ids))
                           messages))
        (from nil))
    (when new
      (save-restriction
        (widen)
        (setq from (hive-shared--insert new)
              hive-shared-messages
              (cl-merge 'list hive-shared-messages (copy-sequence new) #'<
                        :key (lambda (message) (plist-get message :seq))))
        (dolist (message new)
          (puthash (plist-get message :message_id) message hive-shared--ids))
        (dolist (message new)
          (when (hive-shared--note message) (hive-shared-adorn message from))
          (when hive-shared-narrowed (hive-shared-hide message from)))
        ;; After paging back, the message that a reply answers is shown, too.
        (dolist (message (cdr (memq (car (last new)) hive-shared-messages)))
          (when (and (plist-get message :reply_to)
                     (hive-find :message_id (plist-get message :reply_to) new))
            (hive-shared-adorn message from)))
        (when hive-shared-news (hive-shared-show-news))))
    new))

(defun hive-shared--insert (new)
  "Insert the text of NEW, messages that are not shown, oldest first.
Return the position of the first."
  (cl-flet ((seq (message) (plist-get message :seq)))
    (let* ((first (seq (car new)))
           (last (seq (car (last new))))
           (place (hive-shared--place-for first)))
      (if (cl-some (lambda (message) (< first (seq message) last)) hive-shared-messages)
          (dolist (message new)
            (hive-shared--put (hive-shared--place-for (seq message)) (list message)))
        ;; All go to one place, as a fetched page always does.
        (hive-shared--put place new
                          ;; A window at the top keeps showing the same text.
                          (and hive-shared-messages
                               (< first (seq (hive-shared-first))))))
      place)))

(defun hive-shared--put (pos messages &optional before-markers)
  "Insert MESSAGES at POS; BEFORE-MARKERS is as in `hive-shared-put'."
  (hive-shared-learn (cl-loop for message in messages
                              when (equal "agent" (plist-get message :author))
                              nconc (list (plist-get message :from_handle)
                                          (hive-model-title-name message))))
  (let ((text (mapconcat #'hive-shared-message-text messages "")))
    (hive-shared-put pos text before-markers)
    (hive-shared-activate pos (+ pos (length text)))))

(defun hive-shared--forget (messages)
  "Remove MESSAGES, which are adjacent."
  (let* ((regions (delq nil (mapcar #'hive-shared-region messages))))
    (when regions
      (hive-shared-cut (apply #'min (mapcar #'car regions))
                       (apply #'max (mapcar #'cdr regions))))
    (dolist (message messages)
      (remhash (plist-get message :message_id) hive-shared--ids))))

(defun hive-shared-drop-first (count)
  "Remove the COUNT oldest messages; they stay in the store."
  (hive-shared--forget (cl-subseq hive-shared-messages 0 count))
  (setq hive-shared-messages (nthcdr count hive-shared-messages)
        hive-shared-earlier t))

(defun hive-shared-drop-last (count)
  "Remove the COUNT newest messages; they stay in the store."
  (let ((kept (- (length hive-shared-messages) count)))
    (hive-shared--forget (nthcdr kept hive-shared-messages))
    (setq hive-shared-messages (cl-subseq hive-shared-messages 0 kept)
          hive-shared-later t)))

(defun hive-shared-count () "Return how many messages are shown." (length hive-shared-messages))

;;;; Where the human reads

(defun hive-shared--read-from ()
  "Return the first visible position, or point if there is no window."
  (let ((windows (get-buffer-window-list nil nil t)))
    (if windows
        (apply #'min (cl-mapcan (lambda (window)
                                  (list (window-start window) (window-point window)))
                                windows))
      (point))))

(defun hive-shared-trim ()
  "Remove the oldest messages if there are too many and they are not visible."
  (let ((excess (- (hive-shared-count) hive-shared-limit)))
    (when (> excess 0)
      (let ((first (cl-loop for message in (nthcdr excess hive-shared-messages)
                            thereis (hive-shared-region message))))
        (when (and first (>= (hive-shared--read-from) (car first)))
          (hive-shared-drop-first excess))))))

;;;; Fetching

;; New messages arrive in the order of the store.  Those that arrive during a
;; fetch are shown after it.

(defvar-local hive-shared--stale nil "Non-nil if a fetch has failed and none has succeeded since.")

(declare-function hive-shared--rename "hive-shared")

(defun hive-shared-buffers ()
  "Return the shared buffers."
  (hive-buffers 'hive-shared-mode))

(defun hive-shared--request (more then)
  "Fetch a page with the parameters MORE; call THEN with it in this buffer.
A later fetch replaces this one."
  (cl-flet ((catch-up ()
              ;; If THEN fetches again, they wait for that.
              (mapc #'hive-shared-receive hive-rpc-arrived)
              (force-mode-line-update)))
    (hive-rpc-fetch
     'message/list (append (hive-place-params hive-shared-place)
                           (when hive-shared-thread (list :thread hive-shared-thread))
                           more)
     :then (lambda (page)
             (funcall then page)
             (catch-up))
     :problem (lambda (_sentence err)
                (unless (or hive-shared--stale (eq 'disconnected (plist-get err :name)))
                  (hive-announce "Hive could not fetch the messages: %s"
                                 (hive-text-line (plist-get err :text) 200)))
                (setq hive-shared--stale t)
                (catch-up)
                (let ((buffer (current-buffer)))
                  (hive-rpc-again err (lambda ()
                                        (hive-in-buffer buffer
                                          (when hive-shared--stale (hive-shared-refresh))))))))))

;;;; The last messages

(defun hive-shared-refresh ()
  "Fetch the last messages; those already shown stay in place.
If there would be a gap between both, start again with the last ones."
  (when (hive-sidecar-connected-p)
    (hive-shared--request (list :limit (min 500 hive-shared-limit))
                          #'hive-shared--refreshed)))

(defun hive-shared--refreshed (page)
  "Show PAGE, the last messages."
  (let* ((messages (append (plist-get page :messages) nil))
         (more (eq t (plist-get page :more)))
         (last (hive-shared-last)))
    (setq hive-shared--stale nil)
    (when (plist-get page :project_dir)
      (setq hive-shared-place (append (hive-place-from page)
                                      (list :directory (plist-get hive-shared-place :directory)))))
    ;; After paging back, stay there; the last messages are not shown.
    (unless (and last hive-shared-later)
      (when (and last more messages
                 (< (plist-get last :seq) (plist-get (car messages) :seq)))
        (hive-shared-drop-last (hive-shared-count)))
      (setq hive-shared-later nil)
      (let ((empty (zerop (hive-shared-count))))
        (hive-shared-show messages)
        (if empty (setq hive-shared-earlier more) (hive-shared-trim))
        ;; Pages of long messages have few of them.
        (when (and empty more messages (< (hive-shared-count) hive-shared-limit))
          (hive-shared--fill)))
      (hive-shared-edges))
    (when (plist-get page :project_dir) (hive-shared--rename))))

(defun hive-shared--fill ()
  "Fetch older messages until there are as many as there should be."
  (hive-shared--page (- hive-shared-limit (hive-shared-count)) t
                     (lambda ()
                       (when (and hive-shared-earlier
                                  (< (hive-shared-count) hive-shared-limit))
                         (hive-shared--fill)))))

;;;; Pages

(defun hive-shared--page (count back &optional then)
  "Fetch COUNT messages after the last one, or with BACK before the first.
Surplus messages at the other end are removed.  Call THEN
afterwards."
  (hive-shared--request
   (list (if back :before :after) (plist-get (if back (hive-shared-first) (hive-shared-last)) :seq)
         :limit (max 1 (min 500 count)))
   (lambda (page)
     (hive-shared-show (append (plist-get page :messages) nil))
     (set (if back 'hive-shared-earlier 'hive-shared-later) (eq t (plist-get page :more)))
     (let ((excess (- (hive-shared-count) (* 2 hive-shared-limit))))
       (when (> excess 0)
         (if back (hive-shared-drop-last excess) (hive-shared-drop-first excess))))
     (hive-shared-edges)
     (when then (funcall then)))))

(defun hive-shared-page-back ()
  "Show older messages."
  (interactive)
  (unless hive-shared-earlier (hive-fail "There are no earlier messages"))
  (hive-sidecar-demand)
  (hive-shared--page hive-shared-limit t))

(defun hive-shared-page-forward ()
  "Show newer messages, after you have paged back."
  (interactive)
  (unless hive-shared-later (hive-fail "There are no later messages"))
  (hive-sidecar-demand)
  (hive-shared--page hive-shared-limit nil))

(defun hive-shared-latest ()
  "Show the last messages and go to where you write."
  (interactive)
  (when (and hive-shared-later (hive-sidecar-connected-p))
    (hive-shared-drop-last (hive-shared-count))
    (setq hive-shared-later nil)
    (hive-shared-refresh))
  (goto-char (point-max)))

;;;; New messages

(defun hive-shared-ours-p (message)
  "Return non-nil if MESSAGE belongs in this buffer."
  (let ((project-dir (plist-get hive-shared-place :project_dir)))
    (and (or (null project-dir)
             (equal project-dir (plist-get message :project_dir))
             (equal "all" (plist-get message :scope)))
         (or (null hive-shared-thread)
             (equal hive-shared-thread (plist-get message :thread))
             (equal hive-shared-thread (plist-get message :message_id))))))

(defun hive-shared-receive (message)
  "Show MESSAGE, a new one, unless it is beyond the shown range."
  (cond ((hive-rpc-arrive 'message/list message (current-buffer)))
        (hive-shared-later)
        ;; Alone it would look as if there was nothing before it.
        (hive-shared--stale (hive-shared-refresh))
        ;; A page that was fetched may have had it already.
        ((hive-shared-message (plist-get message :message_id)))
        ((progn (hive-shared-trim)
                (>= (hive-shared-count) (* 2 hive-shared-limit)))
         ;; Somebody reads far up, so leave new messages in the store.
         (setq hive-shared-later t)
         (hive-shared-edges))
        ((hive-shared-show (list message))
         (hive-shared-trim)
         (hive-shared-edges))))

(defun hive-shared-show-news ()
  "Show the line above what was unread when the human looked, or remove it."
  (save-restriction
    (widen)
    (remove-overlays (point-min) (point-max) 'hive-news t)
    (when-let* ((news hive-shared-news)
                (first (cl-find (cdr news) hive-shared-messages :test #'<=
                                :key (lambda (message) (plist-get message :seq))))
                (at (car (hive-shared-region first))))
      (hive-text-overlay at (1+ at)
                         'hive-news t
                         'before-string
                         (propertize (hive-words "-------- %s new since %s --------\n\n"
                                                 (hive-count (car news) "message")
                                                 (hive-shared--clock (plist-get first :at)))
                                     'face 'hive-shared-new)))))

(defun hive-shared--clock (time)
  "Return TIME from the sidecar as a time of today, or with its day."
  (hive-text-local time (if (equal (hive-text-local time "%F") (format-time-string "%F" (hive-now)))
                            "%H:%M" "%F %H:%M")))

(hive-forget-when-off 'hive-shared-names)

(cl-defmethod hive-rpc-handle ((_method (eql 'message/posted)) message)
  "Show MESSAGE, a new one, in its buffers."
  (dolist (buffer (hive-shared-buffers))
    (with-current-buffer buffer
      (when (hive-shared-ours-p message)
        (hive-rpc-guarded #'hive-shared-receive message)))))

(defconst hive-shared--together 0.5
  "Mentions that change within so many seconds cause one fetch of the sessions.")

(defun hive-shared--mention-changed (mention)
  "Update the heading of the message of MENTION, if it is of the human.
Otherwise update who is held, if that is shown: how many mentions a
session has is only in the list of sessions."
  (if (not (equal hive-mentions-human (plist-get mention :session_id)))
      (when (cl-some (lambda (buffer) (get-buffer-window buffer t)) (hive-shared-buffers))
        (hive-rpc-once hive-shared--together #'hive-shared--fetch-sessions))
    (dolist (buffer (hive-shared-buffers))
      (with-current-buffer buffer
        (when-let* ((message (hive-shared-message (plist-get mention :message_id))))
          (hive-shared-adorn message))))))

(defun hive-shared--fetch-sessions ()
  "Fetch the sessions, with how many mentions hold them."
  (when (hive-sidecar-connected-p) (hive-model-refresh-sessions)))

;;;; Names

(defun hive-shared--learn-sessions ()
  "Note the names of the living sessions; return those that are new."
  (hive-shared-learn (nconc (mapcar (lambda (session) (plist-get session :handle))
                                    (hive-model-sessions))
                            (hive-model-known-handles))))

(defun hive-shared--sessions-changed ()
  "Give mentions of somebody who has just become known the face of mentions."
  ;; Their header lines say who is here.
  (mapc (lambda (buffer) (with-current-buffer buffer (force-mode-line-update))) (hive-shared-buffers))
  (when (hive-shared--learn-sessions)
    (dolist (buffer (hive-shared-buffers))
      (with-current-buffer buffer (hive-rpc-guarded #'hive-shared--recolour)))))

(defun hive-shared--recolour ()
  "Correct the faces of the mentions in this buffer."
  (hive-shared-silently
    (let ((pos (point-min)))
      (while (setq pos (next-single-property-change pos 'hive-name))
        (when-let* ((name (get-text-property pos 'hive-name)))
          (put-text-property pos (next-single-property-change pos 'hive-name nil (point-max))
                             'font-lock-face (hive-shared-mention-face name)))))))

(add-hook 'hive-model-sessions-changed-hook #'hive-shared--sessions-changed)

;;;; Changes elsewhere

(defvar-local hive-shared--store nil "The store whose messages are shown.")

(defun hive-shared--connected ()
  "Refresh all shared buffers, as the sidecar is connected."
  (let ((store (plist-get hive-sidecar-info :store_id)))
    (dolist (buffer (hive-shared-buffers))
      (with-current-buffer buffer
        (unless (equal store hive-shared--store)
          (hive-shared-drop-last (hive-shared-count))
          (setq hive-shared-later nil
                hive-shared--store store))
        (hive-shared-refresh)))))

(add-hook 'hive-mentions-changed-functions #'hive-shared--mention-changed)
(add-hook 'hive-connected-hook #'hive-shared--connected)

(cl-defmethod hive-rpc-handle :after ((_method (eql 'desk/resync)) _params)
  "Refresh all shared buffers, as the sidecar lost its place in the log."
  (hive-shared--connected))

(provide 'hive-shared-view)
;;; hive-shared-view.el ends here
