;;; hive-mentions.el --- Mentions of you and of sessions  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Your open mentions are counted in the mode line and announced once
;; in the echo area, except in quiet times and from muted agents; nothing else
;; happens when one arrives.
;; `hive-check-mentions' shows them, or those of any session, each in full,
;; and lets you reply to them or mark them done.  Reading changes nothing.
;;
;; Two agents that keep replying to each other are stopped.  What you can do
;; about them is offered in the notices and in the status buffer.

;;; Code:

(require 'cl-lib)
(require 'hive-links)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-shared-text)
(require 'hive-text)

;; The shared buffer shows mentions and therefore loads this file.
(autoload 'hive-shared-open-for "hive-shared")
(autoload 'hive-shared-begin-reply "hive-shared-compose")
(autoload 'hive-post-address "hive-shared-compose")
(autoload 'hive-post-check "hive-shared-compose")
(autoload 'hive-post-say-queued "hive-shared-compose")
(autoload 'hive-post-send "hive-shared-compose")

;;;; Open mentions

(defconst hive-mentions-human "human" "The session id in mentions of the human.")

(defvar hive-mentions-changed-functions nil
  "Called with each mention, of anybody, that changed.")

(defvar hive-mentions-arrived-functions nil
  "Called with each new mention of the human.")

(defvar hive-loops nil "The pairs of agents that are stopped now, as the sidecar lists them.")

(defvar hive-mentions--open (make-hash-table :test #'equal)
  "Open mentions of the human, by message id.")

(defconst hive-mentions--most 500 "How many mentions are remembered.")

(defun hive-mentions-open ()
  "Return the open mentions of the human, oldest first."
  (let (mentions)
    (maphash (lambda (_id mention) (push mention mentions)) hive-mentions--open)
    (sort mentions (lambda (a b) (< (plist-get a :seq) (plist-get b :seq))))))

(defun hive-mentions-count (&optional predicate)
  "Return the number of open mentions of the human that satisfy PREDICATE.
With nil, return the number of all."
  (if (null predicate) (hash-table-count hive-mentions--open)
    (cl-loop for mention being the hash-values of hive-mentions--open
             count (funcall predicate mention))))

(defun hive-mentions-open-p (message)
  "Return the open mention of the human in MESSAGE, or nil."
  (gethash (plist-get message :message_id) hive-mentions--open))

(defun hive-mentions-waiting-p (mention)
  "Return non-nil if MENTION is open."
  (equal "unprocessed" (plist-get mention :status)))

;;;; Receiving mentions

(defun hive-mentions--remember (mention)
  "Remember MENTION, of the human; return non-nil if it is new."
  (let* ((id (plist-get mention :message_id))
         (known (gethash id hive-mentions--open)))
    (cond ((not (hive-mentions-waiting-p mention))
           (remhash id hive-mentions--open)
           nil)
          ((or known (< (hive-mentions-count) hive-mentions--most))
           (puthash id mention hive-mentions--open)
           (not known)))))

(defvar hive-mentions--fresh nil "Mentions that were not announced yet, newest first.")

(defconst hive-mentions--together 0.3
  "Mentions that arrive within so many seconds are announced in one line.")

(defun hive-mentions--arrived (mentions)
  "Announce MENTIONS soon; they are new, oldest first."
  (dolist (mention mentions)
    (hive-rpc-run-hook 'hive-mentions-arrived-functions mention))
  (when (and mentions hive-notify-echo)
    (setq hive-mentions--fresh (append (reverse mentions) hive-mentions--fresh))
    (hive-rpc-once hive-mentions--together #'hive-mentions--announce)))

(defun hive-mentions--announce ()
  "Announce in one line the new mentions that are still open and not suppressed."
  (let* ((fresh (cl-remove-if-not (lambda (mention)
                                    (and (hive-mentions-open-p mention)
                                         (not (hive-notify-suppressed-p mention))))
                                  (nreverse (prog1 hive-mentions--fresh
                                              (setq hive-mentions--fresh nil)))))
         (first (car fresh))
         (others (length (cdr fresh))))
    (when first
      (hive-notify-say
       "%s"
       (hive-notify-fill
        (lambda (width)
          (hive-words "%s mentions you: %s%s%s"
                      (hive-text-author first 40)
                      (hive-text-line (plist-get first :body) width)
                      (if (> others 0) (hive-words 'and-more others) "")
                      (substitute-command-keys "  \\[hive-check-mentions]"))))))))

(cl-defmethod hive-rpc-handle ((_method (eql 'mention/changed)) mention)
  "Handle MENTION, which changed."
  (when (equal hive-mentions-human (plist-get mention :session_id))
    (hive-rpc-arrive 'mention/list mention)
    (when (hive-mentions--remember mention)
      (hive-mentions--arrived (list mention)))
    (hive-changed))
  (hive-rpc-run-hook 'hive-mentions-changed-functions mention))

(defun hive-mentions-refresh ()
  "Fetch the open mentions of the human."
  (hive-rpc-fetch
   'mention/list (list :status "unprocessed" :limit hive-mentions--most)
   :for nil
   :then
   (lambda (result)
     (let* ((before (copy-hash-table hive-mentions--open))
            (now (append (plist-get result :mentions) nil))
            (fresh (progn
                     (clrhash hive-mentions--open)
                     (cl-remove-if-not
                      (lambda (mention)
                        (and (hive-mentions--remember mention)
                             (not (gethash (plist-get mention :message_id) before))))
                      now))))
       (mapc #'hive-mentions--remember hive-rpc-arrived)
       (hive-mentions--arrived
        (sort fresh (lambda (a b) (< (plist-get a :seq) (plist-get b :seq)))))
       (dolist (mention now)
         (hive-rpc-run-hook 'hive-mentions-changed-functions mention))
       (hive-changed)))
   :problem (lambda (_sentence err) (hive-rpc-again err #'hive-mentions-refresh))))

(add-hook 'hive-connected-hook #'hive-mentions-refresh)
(hive-forget-when-off 'hive-loops 'hive-mentions--open)

;;;; Marking mentions done

(cl-defun hive-mentions-process (ids &key session all note then)
  "Mark the mentions with IDS, a list, as done; with ALL, all of them.
They are mentions of SESSION, a handle, or of the human.  NOTE says
what was done.  Call THEN when that is stored."
  (hive-rpc-request
   'mention/process
   `( ,@(if all (list :all t) (list :mention_ids (vconcat ids)))
      ,@(when session (list :session session))
      ,@(when (and note (not (string-blank-p note)))
          (list :note (hive-text-sendable note)))
      :by ,(hive-human-name))
   :success (lambda (result)
              (let ((done (length (plist-get result :processed)))
                    (left (plist-get result :remaining)))
                (hive-announce "Marked %s done; %s left" (hive-count done "mention") left))
              (when then (funcall then)))
   :error (hive-announcing "Hive could not mark the mention done: %s")))

;;;; Loops

;; A pair that the guard has stopped continues when you let it, or when you write
;; to it, here or in a terminal.  Only the sidecar knows that, so it is asked
;; after each event that may have ended a loop.

(defun hive-mentions--fetch-loops ()
  "Fetch the loops."
  (when (hive-sidecar-connected-p)
    (hive-rpc-request
     'mention/loops nil
     :success (lambda (result)
                (let ((loops (hive-filter :state "tripped" (plist-get result :loops))))
                  (unless (equal loops hive-loops)
                    (setq hive-loops loops)
                    (hive-notify-refresh)
                    (hive-changed)))))))

(defun hive-mentions--loops-soon (&rest _)
  "Fetch the loops soon."
  (hive-rpc-once hive-mentions--together #'hive-mentions--fetch-loops))

(defun hive-mentions--loops-may-end (&rest _)
  "Fetch the loops soon, if there are any: the human may have prompted an agent."
  (when hive-loops (hive-mentions--loops-soon)))

(cl-defmethod hive-rpc-handle :after ((_method (eql 'desk/notice)) notice)
  "Fetch the loops if NOTICE is about one."
  (when (equal "loop_tripped" (plist-get notice :notice)) (hive-mentions--loops-soon)))

(cl-defmethod hive-rpc-handle :after ((_method (eql 'message/posted)) message)
  "Fetch the loops if MESSAGE may have ended one."
  (when (equal "human" (plist-get message :author)) (hive-mentions--loops-may-end)))

(add-hook 'hive-connected-hook #'hive-mentions--fetch-loops)
(add-hook 'hive-turns-changed-functions #'hive-mentions--loops-may-end)

(defun hive-loop-text (loop)
  "Return the titles of the two agents of LOOP."
  (mapconcat (lambda (title) (hive-text-line title 30)) (plist-get loop :titles) " and "))

(defun hive-mentions--decide-loop (loop state)
  "Decide about LOOP: its STATE becomes \"allowed\" or \"muted\"."
  (hive-rpc-request
   'mention/settle_loop (list :sessions (vector (plist-get loop :first_session_id)
                                                (plist-get loop :second_session_id))
                              :state state)
   :success (lambda (_)
              (if (equal state "allowed")
                  (hive-announce "%s may continue" (hive-loop-text loop))
                (hive-announce "Muted the pair %s: mentions of each other reach neither (hive mentions allow %s ends that)"
                               (hive-loop-text loop)
                               (hive-text-line (string-join (append (plist-get loop :handles) nil) " ") 80)))
              (hive-mentions--fetch-loops))
   :error (hive-announcing 'from-sidecar)))

(defun hive-mentions--write-loop (loop)
  "Begin a message to the two agents of LOOP, in their shared buffer."
  (let* ((handles (cl-remove "unverified" (append (plist-get loop :handles) nil) :test #'equal))
         (session (cl-some #'hive-model-session-named handles)))
    (hive-shared-open-for session)
    (widen)
    (goto-char (point-max))
    (insert (mapconcat (lambda (handle) (format "@%s " handle)) handles ""))))

(defconst hive-mentions--loop-actions
  '((?c "let them continue" . (lambda (loop) (hive-mentions--decide-loop loop "allowed")))
    (?m "mute this pair" . (lambda (loop) (hive-mentions--decide-loop loop "muted")))
    (?w "write to them" . hive-mentions--write-loop))
  "The actions on a loop: a key, a label, and a function each.")

(defun hive-loop-decide (loop)
  "Let the human decide about LOOP with a key."
  (pcase (assq (read-char-choice
                (concat (hive-words "%s keep replying to each other." (hive-loop-text loop)) "  "
                        (mapconcat (pcase-lambda (`(,key ,label . ,_))
                                     (format "[%c] %s" key (hive-words label)))
                                   hive-mentions--loop-actions "  ")
                        "  " (hive-words "[l] later") " ")
                '(?c ?m ?w ?l))
               hive-mentions--loop-actions)
    (`(,_key ,_label . ,act) (funcall act loop))))

(defun hive-loop-insert-actions (notice)
  "Insert, below NOTICE, buttons for each loop that it reports.
A loop that is over needs no decision."
  (dolist (pair (append (plist-get notice :pairs) nil))
    (when-let* ((loop (cl-find (sort (append (plist-get pair :sessions) nil) #'string<) hive-loops :test #'equal
                               :key (lambda (one) (sort (list (plist-get one :first_session_id)
                                                              (plist-get one :second_session_id))
                                                        #'string<)))))
      (insert "  " (hive-loop-text loop) ":")
      (pcase-dolist (`(,_key ,label . ,act) hive-mentions--loop-actions)
        (insert " ")
        (insert-text-button (format "[%s]" (hive-words label))
                            'follow-link t
                            'action (lambda (_) (funcall act loop))))
      (insert "\n"))))

;;;; The buffer: header line

(defvar-local hive-mentions--session nil "The handle whose mentions are shown, or nil for yours.")
(defvar-local hive-mentions--mentions nil "The mentions that are shown, newest first.")
(defvar-local hive-mentions--summary nil "The number of mentions, by status.")
(defvar-local hive-mentions--cursor nil "The cursor of the next page, or nil.")
(defvar-local hive-mentions--nothing (hive-words 'loading) "Why no mention is shown, in words.")

(defun hive-mentions--whose ()
  "Return whose mentions these are, in words."
  (if hive-mentions--session
      (hive-words "Mentions of %s" (hive-model-title-of hive-mentions--session nil 40))
    (hive-words "Mentions of you")))

(defun hive-mentions--header ()
  "Return the header line: the summary, and the keys for open mentions."
  (let ((summary hive-mentions--summary))
    (hive-text-literal
     (if (null summary)
         (concat " " (hive-mentions--whose))
       (cl-flet ((count (key) (or (plist-get summary key) 0)))
         (concat
          (hive-words " %s: %d in total, %d done, %d open" (hive-mentions--whose) (count :total)
                      (count :processed) (count :unprocessed))
          (if (> (count :expired) 0)
              (hive-words 'stats-expired (count :expired))
            "")
          (if hive-mentions--session
              (hive-words
               "; %d hold it, %d tool calls denied" (count :gating) (count :denials))
            "")
          (if (> (count :unprocessed) 0)
              (substitute-command-keys
               (hive-words "\\<hive-check-mentions-mode-map>   \\[hive-check-mentions-reply] reply   \\[hive-check-mentions-done] done   \\[hive-keys] keys"))
            "")))))))

;;;; The buffer: mentions

(defun hive-mentions--became (mention)
  "Return the status of MENTION, in words."
  (pcase (plist-get mention :status)
    ("processed" (hive-words "done by %s%s"
                             (hive-text-line (plist-get mention :processed_by) 40)
                             (if (plist-get mention :note)
                                 (concat ": " (hive-text-line (plist-get mention :note) 200))
                               "")))
    ("expired" (hive-words 'fate-expired))
    (_ (if (plist-get mention :delivered_at)
           (hive-words "delivered %s ago" (hive-text-age (plist-get mention :delivered_at)))
         ""))))

(defun hive-mentions--insert (mention)
  "Insert MENTION in full."
  (let ((beg (point))
        (marks (delq nil (list (when (equal "urgent" (plist-get mention :priority)) (hive-words 'mark-urgent))
                               (when (hive-rpc-true-p mention :expects_reply) (hive-words 'mark-expects-reply))
                               (let ((became (hive-mentions--became mention)))
                                 (unless (string-empty-p became) became))))))
    (insert (propertize (concat (hive-text-author mention 60) "  "
                                (hive-words 'ago (hive-text-age (plist-get mention :at))))
                        'face (hive-shared-heading-face mention))
            (propertize (concat (format "  %s" (hive-text-line (plist-get mention :project) 30))
                                (if marks (concat "  (" (string-join marks ", ") ")") ""))
                        'face 'hive-shared-note)
            "\n\n" (hive-text-inert (plist-get mention :body)) "\n\n")
    (hive-links-activate beg (point))
    (put-text-property beg (point) 'hive-mention mention)
    (put-text-property beg (point) 'hive-part (plist-get mention :mention_id))))

(defun hive-mentions--print ()
  "Print the mentions; positions stay in their mentions."
  (hive-text-reprint #'hive-mentions--insert-all))

(defun hive-mentions--insert-all ()
  "Insert the mentions of this buffer."
  (if (null hive-mentions--mentions)
      (insert (or (hive-sidecar-absence) hive-mentions--nothing) "\n")
    (mapc #'hive-mentions--insert hive-mentions--mentions))
  (when hive-mentions--cursor
    (hive-text-part 'more (insert (hive-words "There are more; + shows them.\n")))))

;;;; The mode

(defconst hive-mentions--page 100 "How many mentions are fetched at once.")

(defvar-local hive-mentions--history nil "Non-nil to also show done and expired mentions.")
(defvar-local hive-mentions--addressee nil "The session id whose mentions are shown.")

(defconst hive-mentions-keys
  '(((menu-answer
      ("r" "reply" hive-check-mentions-reply)
      ("t" "reply with a template" hive-check-mentions-reply-with-template)
      ("d" "mark done" hive-check-mentions-done)
      ("D" "mark all done" hive-check-mentions-all-done))
     ("Read"
      ("n" "next mention" hive-part-next)
      ("p" "previous mention" hive-part-previous)
      ("h" "show or hide those done" hive-check-mentions-toggle-history)
      ("+" "more mentions" hive-check-mentions-more)
      ("s" "those of a session" hive-check-mentions-of)
      ("g" menu-list-refresh revert-buffer))))
  "The keys in the buffer of mentions, as the rows of their menu are.
See `hive-keys-map'.")

(defvar hive-check-mentions-mode-map
  (hive-keys-map 'hive-check-mentions-mode hive-mentions-keys "RET" #'hive-check-mentions-reply)
  "Keymap of `hive-check-mentions-mode'.")

(define-derived-mode hive-check-mentions-mode special-mode "Hive-Mentions"
  "Major mode of the buffer that shows mentions in full.
\\<hive-check-mentions-mode-map>\\[hive-keys] is a menu of its keys.

With a prefix argument, \\[hive-check-mentions-done] and \\[hive-check-mentions-all-done] ask what was done.  A reply marks a
mention done.
\\{hive-check-mentions-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-mentions--fetch)
  (setq header-line-format '(:eval (hive-mentions--header)))
  (hive-rpc-while-shown hive-ages-pause #'hive-mentions--print)
  (add-hook 'hive-mentions-changed-functions #'hive-mentions--changed))

;;;; Fetching

(defun hive-mentions--fetch (&optional more)
  "Fetch the mentions and print them; with MORE, the next page of them.
Without MORE, as many pages are fetched as were shown."
  (hive-rpc-fetch
   'mention/list
   `( :limit ,(if more hive-mentions--page
                (let ((pages (ceiling (length hive-mentions--mentions) hive-mentions--page)))
                  (min hive-mentions--most (* hive-mentions--page (max 1 pages)))))
      ,@(when hive-mentions--session (list :session hive-mentions--session))
      ,@(unless hive-mentions--history (list :status "unprocessed"))
      ,@(when more (list :cursor hive-mentions--cursor)))
   :then (lambda (page)
           (setq hive-mentions--mentions (append (and more hive-mentions--mentions)
                                                 (append (plist-get page :mentions) nil))
                 hive-mentions--nothing (hive-words "No open mentions.")
                 hive-mentions--cursor (plist-get page :next_cursor)
                 hive-mentions--addressee (plist-get page :session_id)
                 hive-mentions--summary (plist-get page :summary))
           (hive-mentions--print)
           (hive-wrap-heed (point-min) (point-max))
           (force-mode-line-update))
   :failure "Hive could not fetch the mentions: %s"
   :problem (lambda (sentence err)
              ;; A session that does not exist has no buffer.
              (if (and (eq (plist-get err :name) 'session_not_found)
                       (not hive-mentions--addressee))
                  (kill-buffer)
                (setq hive-mentions--nothing sentence)
                (hive-mentions--print)))))

(defun hive-mentions--changed (mention)
  "Fetch again in buffers that may show MENTION, once for several of them."
  (dolist (buffer (hive-buffers 'hive-check-mentions-mode))
    (when (equal (buffer-local-value 'hive-mentions--addressee buffer) (plist-get mention :session_id))
      (hive-rpc-once hive-mentions--together #'hive-call-in buffer #'hive-mentions--fetch))))

;;;; Commands

(defun hive-mentions--demand ()
  "Return the mention at point, or signal a `user-error'."
  (or (get-text-property (point) 'hive-mention)
      (hive-fail "There is no mention here")))

(defun hive-mentions-read-note (mention)
  "With a prefix argument, read a note about MENTION, nil for all, and return it."
  (when current-prefix-arg
    (hive-read-note (hive-words "Note (what was done): ") (or (plist-get mention :mention_id) "mentions"))))

(defun hive-check-mentions-done (&optional note)
  "Mark the mention at point done, and go to the next.
With a prefix argument, ask for a NOTE about what was done."
  (interactive (list (hive-mentions-read-note (hive-mentions--demand))))
  (let ((mention (hive-mentions--demand)))
    (unless (hive-mentions-waiting-p mention)
      (if (equal "expired" (plist-get mention :status))
          (hive-fail "This mention has expired")
        (hive-fail "Already marked done")))
    (hive-mentions-process (list (plist-get mention :mention_id))
                           :session hive-mentions--session :note note)
    (hive-text-part-go)))

(defun hive-check-mentions-all-done (&optional note)
  "Mark all mentions done, including those not shown.
With a prefix argument, ask for a NOTE about what was done."
  (interactive (list (hive-mentions-read-note nil)))
  (let ((count (or (plist-get hive-mentions--summary :unprocessed) 0)))
    (when (zerop count) (hive-fail "There are no open mentions"))
    (when (y-or-n-p (hive-words "%s: mark all %d done? " (hive-mentions--whose) count))
      (hive-mentions-process nil :all t :session hive-mentions--session :note note))))

(defun hive-check-mentions-reply (mention)
  "Reply to MENTION, the one at point, in the shared buffer of its project.
A draft of something else that is there goes to the kill ring."
  (interactive (list (hive-mentions--demand)))
  (hive-shared-open-for mention)
  (hive-shared-begin-reply mention t))

(defun hive-check-mentions-reply-with-template ()
  "Reply to the mention at point with a template, or with what you type.
The templates are those of `hive-reply-templates' for mentions.  The
reply is posted at once, which marks the mention done if it is
yours."
  (interactive)
  (let* ((mention (hive-mentions--demand))
         (templates (hive-template-messages (plist-get mention :project)))
         (line (hive-words "Reply to %s: " (hive-text-author mention 30))))
    (hive-read-with-draft nil
      (lambda ()
        (let ((text (hive-read-noted (lambda () (hive-read-template line templates hive-read-typed)))))
          ;; Check first: with an address in front, the text is never blank.
          (hive-post-check text)
          (hive-post-send (concat (hive-post-address mention) text)
                          :place (hive-place-from mention)
                          :reply-to (plist-get mention :message_id))
          'answered))
      (concat (plist-get mention :message_id) "-reply"))
    (hive-post-say-queued)))

(defun hive-check-mentions-toggle-history ()
  "Show or hide done and expired mentions."
  (interactive)
  (setq hive-mentions--history (not hive-mentions--history))
  (hive-mentions--fetch))

(defun hive-check-mentions-more ()
  "Show the next page."
  (interactive)
  (unless hive-mentions--cursor (hive-fail "There are no more mentions"))
  (hive-mentions--fetch t))

(defun hive-mentions--read-handle ()
  "Ask whose mentions to show: return a handle, or nil for the human's."
  (let ((name (completing-read (hive-words "Mentions of (empty for yours): ")
                               (hive-read-session-table (hive-model-sessions)))))
    (unless (member (downcase name) '("" "human"))
      (or (plist-get (hive-model-session-of (hive-model-sessions) name) :handle) name))))

(defun hive-check-mentions-of (session)
  "Show the mentions of SESSION, a handle; if nil, of the human."
  (interactive (list (hive-mentions--read-handle)))
  (pop-to-buffer (hive-check-mentions-buffer session))
  (hive-mentions--fetch))

(defun hive-check-mentions-buffer (session)
  "Return the buffer for the mentions of SESSION, a handle; if nil, of the human."
  (let ((buffer (hive-buffer (format "*hive-mentions: %s*" (if session (hive-text-line session 60) "Human"))
                             #'hive-check-mentions-mode)))
    (with-current-buffer buffer
      (setq hive-mentions--session session)
      (hive-mentions--print))
    buffer))

;;;###autoload
(defun hive-check-mentions (&optional choose)
  "Show your open mentions.
With a prefix argument CHOOSE, choose whose mentions to see; you can
also mark the mentions of a session done.
\\<hive-check-mentions-mode-map>
\\[hive-check-mentions-done] marks one done, \\[hive-check-mentions-reply] replies to it, \\[hive-check-mentions-toggle-history] shows the history."
  (interactive "P")
  (hive-sidecar-demand)
  (hive-check-mentions-of (when choose (hive-mentions--read-handle))))

(provide 'hive-mentions)
;;; hive-mentions.el ends here
