;;; hive-shared-view.el --- How a shared buffer is laid out  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A shared buffer holds a stretch of the messages that the store has, in
;; their one order, then a line, then what the human is writing; above all
;; of it stands how to mention somebody:
;;
;;     Agents and their human share this buffer, and how they do.
;;
;;     [Earlier messages]
;;     ## 2026-01-11 18:00:00 Claude-abc12
;;
;;     @Claude-def34 The login is done.
;;
;;     -------- write below, C-c C-c posts --------
;;     half a sent
;;
;; Which messages they are is decided in hive-shared-stretch.el; here is
;; where each stands, what is noted beside it, and what is hidden.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-shared-text)
(require 'hive-text)

;;;; How a shared buffer is laid out

(defvar-local hive-shared-place nil
  "The place of this buffer, as `hive-place-of' has it; nil for everyone's.")
(defvar-local hive-shared-thread nil "The thread that this buffer shows, or nil.")
(defvar-local hive-shared-narrowed nil "The thread that is visible, or nil for all.")
(defvar-local hive-shared-earlier nil "Non-nil when the store has older messages.")
(defvar-local hive-shared-later nil "Non-nil when the store has newer messages.")

(defvar-local hive-shared-messages nil "The messages that are shown, oldest first.")
(defvar-local hive-shared--ids nil "The messages that are shown, by their ids.")
(defvar-local hive-shared--end nil "A marker: where the messages end.")
(defvar-local hive-shared--start nil "A marker: where what the human writes begins.")

(defun hive-shared-start ()
  "Return where what the human writes begins."
  (marker-position hive-shared--start))

(defun hive-shared-end ()
  "Return where the messages end."
  (marker-position hive-shared--end))

(defun hive-shared-first () "Return the first message that is shown." (car hive-shared-messages))
(defun hive-shared-last () "Return the last message that is shown." (car (last hive-shared-messages)))

(defun hive-shared-message (id)
  "Return the message with ID, if it is shown."
  (gethash id hive-shared--ids))

;;;; The introduction, the line, and the ends

(defun hive-shared--introduction ()
  "Return the first lines of the buffer, which are part of no message."
  (let ((text (propertize (concat hive-format-introduction "\n")
                          'font-lock-face 'hive-shared-note
                          'hive-edge 'introduction
                          'read-only t)))
    ;; Only at its end: where text is not sticky one may type inside it.
    (put-text-property (1- (length text)) (length text) 'rear-nonsticky t text)
    text))

(defun hive-shared-top ()
  "Return where the introduction ends: older messages go there."
  (let ((beg (text-property-any (point-min) (hive-shared-end) 'hive-edge 'introduction)))
    (if beg (next-single-property-change beg 'hive-edge nil (hive-shared-end)) (point-min))))

(defconst hive-shared--rule-words "-------- write below, C-c C-c posts "
  "How the line begins.")

(defun hive-shared--rule ()
  "Return the line between the messages and what the human writes."
  (propertize (concat hive-shared--rule-words (make-string 24 ?-) "\n")
              'font-lock-face 'hive-shared-rule
              'hive-edge 'rule
              'read-only t
              'rear-nonsticky t))

(defun hive-shared-fit (&rest _)
  "Draw the line as wide as the narrowest window of this buffer.
Its text stays what it is: only what is displayed is longer or shorter."
  (let ((room (and hive-shared--start (hive-wrap-room))))
    (when room
      (hive-shared-silently
        (let* ((beg (text-property-any (point-min) (point-max) 'hive-edge 'rule))
               (dashes (and beg (+ beg (length hive-shared--rule-words)))))
          (when beg
            (put-text-property dashes (1- (next-single-property-change
                                           beg 'hive-edge nil (point-max)))
                               'display
                               (make-string (max 0 (- room (length hive-shared--rule-words)))
                                            ?-))))))))

(defun hive-shared-prepare ()
  "Make this buffer ready for messages; there are none yet."
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
  "Let the button WHICH be there just when PRESENT is non-nil.
When it is missing, it is put at POS, with LABEL, to run COMMAND."
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
  "Show at each end whether the store has more."
  (save-restriction
    (widen)
    (hive-shared--edge 'earlier hive-shared-earlier (hive-shared-top)
                       "[Earlier messages]" 'hive-shared-page-back)
    (hive-shared--edge 'later hive-shared-later (hive-shared-end)
                       "[Later messages]" 'hive-shared-page-forward)))

;;;; Where a message stands

(defun hive-shared-region (message &optional from)
  "Return where MESSAGE is shown, (BEG . END), or nil when it was deleted.
What somebody typed into it belongs to the region.  FROM is where
to begin to look."
  (save-restriction
    (widen)
    (let* ((limit (hive-shared-end))
           (beg (text-property-any (or from (point-min)) limit 'hive-message message))
           (end nil) (pos beg))
      ;; As far as the next message; what lies between is nobody's.
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
  "Return where a message of SEQ has to stand."
  (or (cl-loop for message in hive-shared-messages
               for region = (and (> (plist-get message :seq) seq)
                                 (hive-shared-region message))
               when region return (car region))
      (text-property-any (point-min) (hive-shared-end) 'hive-edge 'later)
      (hive-shared-end)))

;;;; Notes and hiding

(defun hive-shared-adorn (message &optional from)
  "Bring what stands behind the heading of MESSAGE up to date.
FROM is where to begin to look for it."
  (let ((region (hive-shared-region message from)))
    (when region
      (save-excursion
        (save-restriction
          (widen)
          (goto-char (car region))
          (let ((note (hive-shared-note message (hive-mentions-open-p message)))
                (end (line-end-position)))
            (dolist (overlay (overlays-in (car region) end))
              (when (overlay-get overlay 'hive-note) (delete-overlay overlay)))
            (when note
              (let ((overlay (make-overlay (car region) end nil t nil)))
                (overlay-put overlay 'hive-note t)
                (overlay-put overlay 'evaporate t)
                (overlay-put overlay 'after-string note)))))))))

(defun hive-shared-hide (message &optional from)
  "Let MESSAGE be visible just when it belongs to what is looked at.
FROM is where to begin to look for it."
  (let ((region (hive-shared-region message from)))
    (when region
      (hive-shared-silently
        (put-text-property (car region) (cdr region) 'invisible
                           (and hive-shared-narrowed
                                (not (equal hive-shared-narrowed
                                            (hive-shared-thread-of message)))
                                'hive-elsewhere))))))

;;;; Which messages a shared buffer shows

;; The stretch of messages that is shown is bounded, however many there are;
;; it grows at both ends on request and shrinks where nobody reads.

(defcustom hive-shared-limit 500
  "How many of the last messages a shared buffer shows.
When you page back it shows up to twice as many."
  :type 'natnum
  :group 'hive-shared)

;;;; More and fewer

(defun hive-shared--text (messages)
  "Return the text of MESSAGES, in their order."
  (mapconcat #'hive-shared-message-text messages ""))

(defun hive-shared-show (messages)
  "Show MESSAGES, a list, oldest first; those that are shown already stay.
Return those that were not."
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
          (when (hive-shared-note message (hive-mentions-open-p message))
            (hive-shared-adorn message from))
          (when hive-shared-narrowed (hive-shared-hide message from)))))
    new))

(defun hive-shared--insert (new)
  "Insert the text of NEW, messages that are not shown, oldest first.
Return where the first of them stands."
  (cl-flet ((seq (message) (plist-get message :seq)))
    (let* ((first (seq (car new)))
           (last (seq (car (last new))))
           (place (hive-shared--place-for first)))
      (if (cl-some (lambda (message) (< first (seq message) last)) hive-shared-messages)
          (dolist (message new)
            (hive-shared-put (hive-shared--place-for (seq message))
                             (hive-shared--text (list message))))
        ;; All go to one place: what is fetched always does.
        (hive-shared-put place (hive-shared--text new)
                         ;; Who is at the top stays with what is there.
                         (and hive-shared-messages
                              (< first (seq (hive-shared-first))))))
      place)))

(defun hive-shared--forget (messages)
  "Show MESSAGES, which stand side by side, no more."
  (let* ((regions (delq nil (mapcar #'hive-shared-region messages))))
    (when regions
      (hive-shared-cut (apply #'min (mapcar #'car regions))
                       (apply #'max (mapcar #'cdr regions))))
    (dolist (message messages)
      (remhash (plist-get message :message_id) hive-shared--ids))))

(defun hive-shared-drop-first (count)
  "Show the COUNT oldest messages no more; they stay in the store."
  (hive-shared--forget (cl-subseq hive-shared-messages 0 count))
  (setq hive-shared-messages (nthcdr count hive-shared-messages)
        hive-shared-earlier t))

(defun hive-shared-drop-last (count)
  "Show the COUNT newest messages no more; they stay in the store."
  (let ((kept (- (length hive-shared-messages) count)))
    (hive-shared--forget (nthcdr kept hive-shared-messages))
    (setq hive-shared-messages (cl-subseq hive-shared-messages 0 kept)
          hive-shared-later t)))

(defun hive-shared-count () "Return how many messages are shown." (length hive-shared-messages))

;;;; Readers

(defun hive-shared--read-from ()
  "Return the first position that is in a window, or at point."
  (let ((windows (get-buffer-window-list nil nil t)))
    (if windows
        (apply #'min (cl-mapcan (lambda (window)
                                  (list (window-start window) (window-point window)))
                                windows))
      (point))))

(defun hive-shared-trim ()
  "Drop the oldest messages when there are too many and nobody is there."
  (let ((excess (- (hive-shared-count) hive-shared-limit)))
    (when (> excess 0)
      (let ((first (cl-loop for message in (nthcdr excess hive-shared-messages)
                            thereis (hive-shared-region message))))
        (when (and first (>= (hive-shared--read-from) (car first)))
          (hive-shared-drop-first excess))))))

;;;; How messages come into a shared buffer

;; Three ways lead into a shared buffer: the last messages when it is opened
;; or the sidecar comes back, pages at both ends on request, and what is
;; posted while it is shown.  The sidecar tells in the order of the store;
;; what it tells while something is fetched waits for that.

(defvar-local hive-shared--fetch nil "A cons that stands for what is being fetched.")
(defvar-local hive-shared--meanwhile nil "What was posted meanwhile, newest first.")

(defvar hive-shared-name-function #'ignore
  "Called in a buffer when the sidecar has said which project it shows.")

(defun hive-shared-buffers ()
  "Return the shared buffers."
  (cl-remove-if-not (lambda (buffer)
                      (provided-mode-derived-p (buffer-local-value 'major-mode buffer)
                                               'hive-shared-mode))
                    (buffer-list)))

;;;; Fetching

(defun hive-shared--params (more)
  "Return the parameters for a page of this buffer, MORE among them."
  (append (hive-place-params hive-shared-place)
          (when hive-shared-thread (list :thread hive-shared-thread))
          more))

(defun hive-shared--request (more then)
  "Fetch a page with the parameters MORE; call THEN with it in this buffer.
A fetch that begins later takes the place of this one."
  (let ((token (list 'fetch)) (buffer (current-buffer)))
    (setq hive-shared--fetch token)
    (cl-flet ((finish (function argument)
                (when (buffer-live-p buffer)
                  (with-current-buffer buffer
                    (when (eq token hive-shared--fetch)
                      (funcall function argument)
                      (when (eq token hive-shared--fetch)
                        (setq hive-shared--fetch nil)
                        (hive-shared--catch-up))
                      (force-mode-line-update))))))
      (hive-rpc-request
       'message/list (hive-shared--params more)
       :timeout 30
       :success (lambda (page) (finish then page))
       :error (lambda (err)
                (finish (lambda (err)
                          (unless (eq 'disconnected (plist-get err :name))
                            (hive-announce 'shared-fetch-failed
                                           (hive-text-line (plist-get err :text) 200))))
                        err))))))

(defun hive-shared--catch-up ()
  "Show what was posted while something was fetched."
  (let ((told (nreverse hive-shared--meanwhile)))
    (setq hive-shared--meanwhile nil)
    (mapc #'hive-shared-take told)))

(defun hive-shared--messages-of (page)
  "Return the messages of PAGE as a list."
  (append (plist-get page :messages) nil))

;;;; The last messages

(defun hive-shared-refresh ()
  "Fetch the last messages; those that are shown already stay in place.
When so much was posted that a gap would remain, begin anew."
  (interactive)
  (when (hive-sidecar-connected-p)
    (hive-shared--request (list :limit (min 500 hive-shared-limit))
                          #'hive-shared--refreshed)))

(defun hive-shared--refreshed (page)
  "Take PAGE, which has the last messages."
  (let* ((messages (hive-shared--messages-of page))
         (more (eq t (plist-get page :more)))
         (last (hive-shared-last)))
    (when (plist-get page :project_dir)
      (setq hive-shared-place (list :confirmed t
                                    :directory (plist-get hive-shared-place :directory)
                                    :project (plist-get page :project)
                                    :project_dir (plist-get page :project_dir)))
      (funcall hive-shared-name-function))
    ;; Who has paged back stays there; the last messages wait behind.
    (unless (and last hive-shared-later)
      (when (and last more messages
                 (< (plist-get last :seq) (plist-get (car messages) :seq)))
        (hive-shared-drop-last (hive-shared-count)))
      (setq hive-shared-later nil)
      (let ((empty (zerop (hive-shared-count))))
        (hive-shared-show messages)
        (if empty (setq hive-shared-earlier more) (hive-shared-trim))
        ;; Long messages make short pages.
        (when (and empty more messages (< (hive-shared-count) hive-shared-limit))
          (hive-shared--fill)))
      (hive-shared-edges))))

(defun hive-shared--fill ()
  "Fetch older messages until there are as many as there should be."
  (hive-shared--back (- hive-shared-limit (hive-shared-count))
                     (lambda ()
                       (when (and hive-shared-earlier
                                  (< (hive-shared-count) hive-shared-limit))
                         (hive-shared--fill)))))

;;;; Pages

(defun hive-shared--back (count &optional then)
  "Fetch COUNT messages before the first one; call THEN afterwards."
  (hive-shared--request
   (list :before (plist-get (hive-shared-first) :seq) :limit (max 1 (min 500 count)))
   (lambda (page)
     (hive-shared-show (hive-shared--messages-of page))
     (setq hive-shared-earlier (eq t (plist-get page :more)))
     (let ((excess (- (hive-shared-count) (* 2 hive-shared-limit))))
       (when (> excess 0) (hive-shared-drop-last excess)))
     (hive-shared-edges)
     (when then (funcall then)))))

(defun hive-shared-page-back ()
  "Show older messages."
  (interactive)
  (cond ((not hive-shared-earlier) (hive-fail 'shared-first))
        (t (hive-sidecar-demand)
           (hive-shared--back hive-shared-limit))))

(defun hive-shared-page-forward ()
  "Show newer messages, after you have paged back."
  (interactive)
  (cond
   ((not hive-shared-later) (hive-fail 'shared-last))
   (t (hive-sidecar-demand)
      (hive-shared--request
       (list :after (plist-get (hive-shared-last) :seq) :limit (min 500 hive-shared-limit))
       (lambda (page)
         (hive-shared-show (hive-shared--messages-of page))
         (setq hive-shared-later (eq t (plist-get page :more)))
         (let ((excess (- (hive-shared-count) (* 2 hive-shared-limit))))
           (when (> excess 0) (hive-shared-drop-first excess)))
         (hive-shared-edges))))))

(defun hive-shared-latest ()
  "Show the last messages and go to where you write."
  (interactive)
  (when (and hive-shared-later (hive-sidecar-connected-p))
    (hive-shared-drop-last (hive-shared-count))
    (setq hive-shared-later nil)
    (hive-shared-refresh))
  (goto-char (point-max)))

;;;; What is posted while we look

(defun hive-shared--ours-p (message)
  "Return non-nil if MESSAGE belongs into this buffer."
  (let ((project-dir (plist-get hive-shared-place :project_dir)))
    (and (or (null project-dir)
             (equal project-dir (plist-get message :project_dir))
             (equal "all" (plist-get message :scope)))
         (or (null hive-shared-thread)
             (equal hive-shared-thread (plist-get message :thread))
             (equal hive-shared-thread (plist-get message :message_id))))))

(defun hive-shared-take (message)
  "Show MESSAGE, which was posted, unless it stands where nobody has paged to."
  (cond (hive-shared--fetch (push message hive-shared--meanwhile))
        (hive-shared-later)
        ((progn (hive-shared-trim)
                (>= (hive-shared-count) (* 2 hive-shared-limit)))
         ;; Somebody reads far up: what comes now waits in the store.
         (setq hive-shared-later t)
         (hive-shared-edges))
        ((hive-shared-show (list message))
         (hive-shared-trim)
         (hive-shared-edges))))

(cl-defmethod hive-rpc-notify ((_method (eql 'message/posted)) message)
  "Show MESSAGE, a new one, in the buffers it belongs to."
  (dolist (buffer (hive-shared-buffers))
    (with-current-buffer buffer
      (when (hive-shared--ours-p message)
        (hive-work-guarded #'hive-shared-take message)))))

(defun hive-shared--mention-changed (mention)
  "Let the heading of the message of MENTION, if of the human, tell its state."
  (when (equal hive-mentions-human (plist-get mention :session_id))
    (dolist (buffer (hive-shared-buffers))
      (with-current-buffer buffer
        (let ((message (hive-shared-message (plist-get mention :message_id))))
          (when message (hive-shared-adorn message)))))))

(defvar-local hive-shared--store nil "The store whose messages are shown.")

(defun hive-shared--connected ()
  "Bring every shared buffer up to date: the sidecar is there."
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

(cl-defmethod hive-rpc-notify :after ((_method (eql 'desk/resync)) _params)
  "Fetch the last messages anew: the sidecar lost its place in the log."
  (hive-shared--connected))

(provide 'hive-shared-view)
;;; hive-shared-view.el ends here
