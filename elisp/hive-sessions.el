;;; hive-sessions.el --- The agents, and what can be done with them  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The rows of sessions and of shared buffers in the status buffer (hive-list):
;; who works, who is idle or has ended, what is unread.  Also the commands to
;; write to an agent, to open its mentions, its shared buffer and its project,
;; and to configure it.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-shared)
(require 'hive-shared-compose)
(require 'hive-text)
(require 'tabulated-list)

;;;; Sessions that the human has not looked at

;; A turn that ended while Emacs knew it is unread until the human goes to its
;; agent, or until the agent's next turn.

(defvar hive-sessions--watched (make-hash-table :test #'equal)
  "The turns that were seen running, by session id.")
(defvar hive-sessions--unread (make-hash-table :test #'equal)
  "The ids of the sessions whose last turn the human has not looked at.")

(defun hive-sessions--turn-changed (turn)
  "Note whether TURN is running, or has ended and is unread."
  (let ((session (plist-get turn :session_id)) (id (plist-get turn :turn_id)))
    (cond ((equal "in_progress" (plist-get turn :state))
           (puthash session id hive-sessions--watched)
           (remhash session hive-sessions--unread))
          ((equal id (gethash session hive-sessions--watched))
           (remhash session hive-sessions--watched)
           (puthash session t hive-sessions--unread)))))

(defun hive-sessions-set-read (session-id)
  "Note that the human has looked at the session SESSION-ID."
  (when (gethash session-id hive-sessions--unread)
    (remhash session-id hive-sessions--unread)
    (hive-changed)))

(add-hook 'hive-turns-changed-functions #'hive-sessions--turn-changed)

;;;; The sessions that have ended

(defconst hive-sessions--most-ended 100 "How many sessions that have ended are shown.")

(defvar hive-sessions--ended nil "The sessions that ended last.")
(defvar hive-sessions-more nil "Non-nil if more sessions have ended than were fetched.")

(defun hive-sessions-fetch-ended ()
  "Fetch the sessions that have ended."
  (when (hive-sidecar-connected-p)
    (hive-rpc-request
     'session/list (list :state "ended" :limit hive-sessions--most-ended)
     :success (lambda (result)
                (setq hive-sessions--ended (hive-sessions--known (append (plist-get result :sessions) nil))
                      hive-sessions-more (hive-rpc-true-p result :more))
                (hive-changed)))))

(defun hive-sessions--known (sessions)
  "Return SESSIONS; one that is as it was before is the same object."
  (let ((before (make-hash-table :test #'equal)))
    (dolist (session hive-sessions--ended)
      (puthash (plist-get session :session_id) session before))
    (mapcar (lambda (session)
              (let ((known (gethash (plist-get session :session_id) before)))
                (if (equal known session) known session)))
            sessions)))

;;;; Rows

(defface hive-sessions-active '((t :inherit hive-success))
  "A session that works." :group 'hive-faces)

(defface hive-sessions-ended '((t :inherit hive-shadow))
  "A session that has ended." :group 'hive-faces)

(cl-defstruct (hive-row (:constructor hive-row-make) (:copier nil))
  "A line of the status buffer that is not a question.
ID is a cons of its kind (session, loop, mention, held, room) and an id.
THING is the session, the loop, the mention or the last unread message.  The other slots
say what else the line shows; ORDER is its place in its SECTION.  TITLE
is that of the author of a message."
  id section order thing turn (questions 0) blocking (mentions 0) unread title)

(defvar hive-sessions--rows (make-hash-table :test #'equal)
  "The rows as they were shown last, by id; those of sessions by the session's id.
A row that still says the same stays the same object, so that its line
is not printed again.")

(defvar hive-sessions--made nil "Non-nil if a row has changed since the last list of rows.")
(defvar hive-sessions--last nil
  "The inputs of the last list of rows, and that list.
A list of the number of living sessions, those that have ended, and the
rows of the shared buffers, which may be nil.")

(defconst hive-sessions--most-rows 4000 "How many rows are remembered.")

(defun hive-sessions--remember (key row)
  "Remember ROW by KEY, and return it.
If it stays where it was in the last list of rows, take it into that."
  (let* ((old (gethash key hive-sessions--rows))
         (cell (and old
                    (eq (hive-row-section old) (hive-row-section row))
                    (equal (hive-row-order old) (hive-row-order row))
                    (memq old (cdddr hive-sessions--last)))))
    (if cell (setcar cell row) (setq hive-sessions--made t)))
  (when (> (hash-table-count hive-sessions--rows) hive-sessions--most-rows)
    (clrhash hive-sessions--rows))
  (puthash key row hive-sessions--rows))

;; With each question that arrives, all of this is computed again.  So it must
;; not leave garbage: the table and its entries are used again.

(defvar hive-sessions--asks (make-hash-table :test #'equal)
  "The pending questions of each session, by its id.
A value is a cons of their number and the first one that blocks.")

(defun hive-sessions--count-questions ()
  "Count the pending questions of each session."
  (maphash (lambda (_id entry) (setcar entry 0) (setcdr entry nil)) hive-sessions--asks)
  (dolist (prompt (hive-prompts))
    (let* ((id (plist-get prompt :session_id))
           (entry (or (gethash id hive-sessions--asks)
                      (puthash id (list 0) hive-sessions--asks))))
      (cl-incf (car entry))
      (when (and (null (cdr entry)) (hive-prompt-blocked-p prompt))
        (setcdr entry prompt)))))

(defun hive-sessions--row (session)
  "Return the row of SESSION."
  (let* ((id (plist-get session :session_id))
         (ended (equal "ended" (plist-get session :state)))
         (turn (if ended (plist-get session :turn) (hive-turns-newest id)))
         ;; News of a turn comes without its session.
         (place (if ended session (or turn session)))
         (section (pcase (plist-get place :section) ("working" 'working) ("ended" 'ended) (_ 'idle)))
         (asks (gethash id hive-sessions--asks))
         (questions (or (car asks) 0))
         (unread (and (gethash id hive-sessions--unread) t))
         (old (gethash id hive-sessions--rows)))
    (if (and old
             (eq session (hive-row-thing old)) (eq turn (hive-row-turn old))
             (eq section (hive-row-section old)) (eql questions (hive-row-questions old))
             (eq (cdr asks) (hive-row-blocking old)) (eq unread (hive-row-unread old)))
        old
      (hive-sessions--remember
       id
       (hive-row-make
        :id (cons 'session id) :section section :order (or (plist-get place :order_key) "")
        :thing session :turn turn :questions questions :blocking (cdr asks)
        :mentions (or (plist-get session :unprocessed_mentions) 0) :unread unread)))))

(defun hive-sessions--room-row (id order thing &optional number)
  "Return the row with ID and ORDER of THING, which is about a shared buffer.
NUMBER says how many mentions or messages there are."
  (let ((old (gethash id hive-sessions--rows))
        ;; The title may become known later, or change.
        (title (and (memq (car id) '(mention room)) (hive-text-author-title thing))))
    (if (and old (eq thing (hive-row-thing old)) (eql number (hive-row-unread old))
             (equal title (hive-row-title old)))
        old
      (hive-sessions--remember
       id (hive-row-make :id id :section (if (memq (car id) '(loop mention)) 'needs 'room)
                         :order order :thing thing :unread number :title title)))))

(defun hive-sessions--room-rows ()
  "Return the rows of the shared buffers: loops, mentions, and what is unread."
  (let (rows)
    (dolist (loop hive-loops)
      (push (hive-sessions--room-row (cons 'loop (list (plist-get loop :first_session_id)
                                                       (plist-get loop :second_session_id)))
                                     "" loop)
            rows))
    (maphash (lambda (project-dir unread)
               (push (hive-sessions--room-row (cons 'room project-dir) "2" (cadr unread) (car unread))
                     rows))
             hive-shared-unread)
    (hive-model-map-sessions
     (lambda (session)
       (let ((count (or (plist-get session :unprocessed_mentions) 0)))
         (when (> count 0)
           (push (hive-sessions--room-row (cons 'held (plist-get session :session_id))
                                          "1" session count)
                 rows)))))
    (dolist (mention (hive-mentions-open) rows)
      (push (hive-sessions--room-row (cons 'mention (plist-get mention :message_id)) "0" mention)
            rows))))

(defun hive-sessions--sorted (rows)
  "Sort ROWS by their order."
  (sort rows (lambda (a b) (string< (hive-row-order a) (hive-row-order b)))))

(defun hive-sessions-rows (rooms)
  "Return all rows, in order; those of the shared buffers only if ROOMS is non-nil.
The sidecar says in which section a session is, and where.  The list is
used again: do not modify it."
  (setq hive-sessions--made nil)
  (hive-sessions--count-questions)
  (let ((living 0) (room-rows (and rooms (hive-sessions--room-rows))))
    (hive-model-map-sessions (lambda (session)
                               (cl-incf living)
                               (hive-sessions--row session)))
    (dolist (session hive-sessions--ended)
      (unless (hive-model-session (plist-get session :session_id)) (hive-sessions--row session)))
    (pcase-let ((`(,last-living ,last-ended ,last-room-rows . ,rows) hive-sessions--last))
      (if (and (not hive-sessions--made) (eql living last-living)
               (eq hive-sessions--ended last-ended)
               (equal (mapcar #'hive-row-id room-rows) (mapcar #'hive-row-id last-room-rows)))
          rows
        (cdddr (setq hive-sessions--last
                     `(,living ,hive-sessions--ended ,room-rows
                       . ,(hive-sessions--ordered room-rows))))))))

(defun hive-sessions--ordered (room-rows)
  "Return the rows of all sessions and ROOM-ROWS in their order."
  (let (working idle ended)
    (hive-model-map-sessions
     (lambda (session)
       (let ((row (hive-sessions--row session)))
         (if (eq 'working (hive-row-section row)) (push row working) (push row idle)))))
    (dolist (session hive-sessions--ended)
      ;; It may have been resumed since.
      (unless (hive-model-session (plist-get session :session_id))
        (push (hive-sessions--row session) ended)))
    (nconc (hive-sessions--sorted working)
           (hive-sessions--sorted idle)
           (hive-sessions--sorted (copy-sequence room-rows))
           (hive-sessions--sorted ended))))

(hive-forget-when-off 'hive-sessions--ended 'hive-sessions-more 'hive-sessions--last
                      'hive-sessions--rows 'hive-sessions--asks 'hive-sessions--watched
                      'hive-sessions--unread)

;;;; The text of a row

(defun hive-row-session-id (row)
  "Return the id of the session that ROW is about, or nil."
  (and (memq (car (hive-row-id row)) '(session held)) (cdr (hive-row-id row))))

(defun hive-row-unread-p (row)
  "Return non-nil if the human has not looked at what ROW is about."
  (and (hive-row-unread row) (not (eq 'held (car (hive-row-id row))))))

(defun hive-row-sign (row)
  "Return the first column of ROW, one character."
  (if (hive-row-unread-p row) (propertize (hive-mark "•") 'face 'hive-warning) " "))

(defun hive-row-face (row)
  "Return the face of the name in ROW."
  (pcase (hive-row-section row)
    ('working 'hive-sessions-active) ('ended 'hive-sessions-ended)
    (_ (if (hive-row-unread-p row) 'bold 'default))))

(defun hive-row-name (row)
  "Return who ROW is about."
  (let ((thing (hive-row-thing row)))
    (propertize (pcase (car (hive-row-id row))
                  ('loop (hive-loop-text thing))
                  ((or 'mention 'room) (hive-text-author thing 40))
                  (_ (hive-text-title thing 40)))
                'face (hive-row-face row))))

(defun hive-row-field (row key width)
  "Return the field KEY of what ROW is about, at most WIDTH columns wide."
  (hive-text-line (plist-get (hive-row-thing row) key) width))

(defun hive-row-age (row)
  "Return how long ROW has been as it is, in a few characters."
  (let ((turn (hive-row-turn row)) (thing (hive-row-thing row)))
    (hive-text-age (pcase (hive-row-section row)
                     ('working (plist-get turn :started_at))
                     ('ended (plist-get thing :ended_at))
                     ('idle (or (plist-get turn :ended_at) (plist-get thing :last_seen_at)))
                     (_ (or (plist-get thing :at) (plist-get thing :created_at)
                            (plist-get thing :last_seen_at)))))))

(defun hive-sessions--doing (row)
  "Return what the session of ROW does, or how its last turn ended."
  (let ((turn (hive-row-turn row)) (prompt (hive-row-blocking row)))
    (cond (prompt (hive-words "%s: %s" (hive-prompt-waits prompt)
                              (hive-text-line (plist-get prompt :question) 80)))
          ((null turn) "")
          ((plist-get turn :tool) (hive-turns-doing turn))
          ;; Since when is in a column of its own.
          ((eq 'working (hive-row-section row)) (hive-words "running"))
          ;; Its last words say how it ended, unless it was stopped.
          ((and (equal "completed" (plist-get turn :state)) (hive-sessions--said row)) "")
          (t (hive-text-line (plist-get turn :sentence) 80)))))

(defun hive-sessions--said (row)
  "Return what the agent of ROW said last, in a line, or nil.
While the agent works, it is the end of the text, then the first line."
  (let ((said (hive-turns-said (hive-row-session-id row))))
    (pcase (and said (hive-row-section row))
      ('working (hive-turns-said-line (hive-row-session-id row) 100))
      ('idle (hive-text-line (car (split-string said "\n" t "[ \t]+")) 200)))))

(defun hive-row-text (row)
  "Return the last column of ROW."
  (let ((thing (hive-row-thing row)) (mentions (hive-row-mentions row)))
    (pcase (car (hive-row-id row))
      ('loop
       (hive-words "keep replying to each other (%s); RET decides"
                   (hive-text-line (plist-get thing :reason) 80)))
      ('mention (hive-words "mentions you: %s" (hive-text-line (plist-get thing :body) 200)))
      ('held (hive-words "has %s" (hive-count (hive-row-unread row) "open mention")))
      ('room (hive-words "%s; the last: %s" (hive-count (hive-row-unread row) "unread message")
                         (hive-text-line (plist-get thing :body) 200)))
      (_ (string-join
          (delq nil
                (list (unless (hive-rpc-true-p thing :shared) (hive-words "[not shared] "))
                      (let ((doing (hive-sessions--doing row)))
                        (unless (string-empty-p doing) doing))
                      (when-let* ((said (hive-sessions--said row)))
                        (propertize said 'face 'hive-shadow))
                      (hive-sessions--count (hive-row-questions row) "question")
                      (hive-sessions--count mentions "mention")))
          "  ")))))

(defun hive-sessions--count (number noun)
  "Return NUMBER and NOUN as a warning, or nil for 0."
  (when (> number 0) (propertize (hive-count number noun) 'face 'hive-warning)))

;;;; Choosing a session

(defun hive-sessions--which ()
  "Return the session that point is about, or let the human choose one."
  (if (derived-mode-p 'hive-list-mode)
      (or (hive-sessions-at-point) (hive-fail "There is no session on this line"))
    (let* ((sessions (or (hive-model-sessions) (hive-sidecar-demand)
                         (hive-fail 'no-agents)))
           (name (completing-read (hive-words "Session: ") (hive-read-session-table sessions) nil t)))
      (or (hive-model-session-of sessions name)
          (hive-fail "No session chosen")))))

(defun hive-sessions-row-at-point ()
  "Return the row at point, or nil if a question, a heading or nothing is there."
  (let ((id (tabulated-list-get-id)))
    (and (consp id) (not (eq 'section (car id))) (gethash (if (eq 'session (car id)) (cdr id) id) hive-sessions--rows))))

(defun hive-sessions-at-point ()
  "Return the session of the row at point, or the one that asks the question there."
  (let ((row (hive-sessions-row-at-point)))
    (if row (and (hive-row-session-id row) (hive-row-thing row))
      (hive-model-session (plist-get (hive-prompt-at-point) :session_id)))))

;;;; Commands: going to its project

(defun hive-session-visit (session)
  "Visit the project of SESSION."
  (declare (modes hive-list-mode))
  (interactive (list (hive-sessions--which)))
  (let* ((project-dir (or (plist-get session :project_dir) ""))
         (directory (replace-regexp-in-string "/\\.git/?\\'" "/" project-dir)))
    (unless (and (file-name-absolute-p directory) (file-directory-p directory))
      (hive-fail "There is no directory %s on this machine" (hive-text-line directory)))
    (dired directory)))

(defun hive-session-shared (session)
  "Open the shared buffer of the project of SESSION."
  (declare (modes hive-list-mode))
  (interactive (list (hive-sessions--which)))
  (hive-shared-open-for session))

;;;; Commands: talking

(defun hive-session-mention (session body &optional urgent)
  "Post BODY to SESSION, as a mention in the shared buffer of its project.
This wakes an idle agent.  With a prefix argument, it is URGENT: it
holds an agent whose mentions only remind, too."
  (declare (modes hive-list-mode))
  (interactive
   (let ((session (hive-sessions--which)))
     (list session
           (hive-post-read (hive-words (if current-prefix-arg "Urgent message to @%s: " 'tell)
                                       (hive-text-title session 60))
                           (hive-place-from session) (plist-get session :handle))
           current-prefix-arg)))
  (hive-post-check body)
  (hive-post-send (format "@%s %s" (plist-get session :handle) body)
                  :place (hive-place-from session)
                  :priority (and urgent "urgent"))
  (hive-post-say-queued))

(defun hive-session-mentions (session)
  "Show the mentions of SESSION."
  (declare (modes hive-list-mode))
  (interactive (list (hive-sessions--which)))
  (hive-check-mentions-of (plist-get session :handle)))

;;;; Commands: configuring

(defconst hive-sessions--settings
  '(("name" :name "Name it (empty: as its client or its project does): ")
    ("shared" :shared "May other agents mention it? " "yes" "no")
    ("roles" :roles "Its roles, such as reviewer: ")
    ("gate" :gate "What open mentions do to it: " "strict" "block" "remind" "off" "default")
    ("room" :room "How it notices messages that do not mention it: " "off" "count" "text" "default")
    ("source" :source "How it runs: " "main" "bg" "fork" "detected")
    ("ping" :allow_ping "May it ping you? " "yes" "no" "default")
    ("reports" :report_policy "When it must report: "
     "on_ping" "always" "freely" "remind" "blocked" "default"))
  "The settings: name, field, sentence that asks, and values.")

(defun hive-sessions--value (setting)
  "Read a value for SETTING; return it as a request parameter."
  (pcase-let ((`(,_name ,field ,what . ,values) setting))
    (pcase field
      (:roles (vconcat (split-string (read-string (hive-words what)) "[ ,]+" t)))
      (:name (let ((name (string-trim (read-string (hive-words what)))))
               (unless (string-empty-p name) (hive-text-sendable name))))
      (_ (pcase (completing-read (hive-words what) values nil t)
           ("yes" t) ("no" :json-false)
           ((or "default" "detected") nil)
           ("" (hive-fail 'nothing-chosen))
           (value value))))))

(defun hive-session-configure (session setting value)
  "Set SETTING of SESSION to VALUE, a request parameter.
Its `name' is what people see.
A session with `shared' off gets no @All and no mentions by agents,
but still your mentions by name.  `gate' is what its open
mentions hold, `room' how it notices other messages."
  (declare (modes hive-list-mode))
  (interactive
   (let* ((session (hive-sessions--which))
          (name (completing-read
                 (hive-words "Change which setting of %s: " (hive-text-title session 60))
                 (mapcar #'car hive-sessions--settings) nil t))
          (setting (or (assoc name hive-sessions--settings)
                       (hive-fail 'nothing-chosen))))
     (list session setting (hive-sessions--value setting))))
  (let ((handle (hive-text-title session 60)))
    (hive-rpc-request
     'session/configure (list :session_id (plist-get session :session_id)
                              :by (hive-human-name)
                              (nth 1 setting) value)
     :success (lambda (_) (hive-announce "Changed the setting %s of %s" (car setting) handle))
     :error (hive-announcing "Hive could not change the setting: %s"))))

;;;; Opening a row

(defun hive-row-open (row)
  "Show what ROW is about: the project, the mentions or the shared buffer.
For a loop, let the human decide."
  (let ((thing (hive-row-thing row)))
    (pcase (car (hive-row-id row))
      ('loop (hive-loop-decide thing))
      ('session (hive-session-visit thing))
      ('held (hive-session-mentions thing))
      (_ (hive-shared-open-for thing)))))

(provide 'hive-sessions)
;;; hive-sessions.el ends here
