;;; hive-model.el --- The questions and sessions that Emacs knows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The prompts and the living sessions that the sidecar has sent, as plists
;; (`:ask_id', `:question' …).  This is a copy; the store is the source of
;; truth.  Each connection replaces the copy with a new snapshot.
;;
;; The pending prompts are kept in the order that the sidecar decides: those
;; that block their agent first, then the most urgent.  Each prompt carries
;; its place as a text, `:order_key'; everything that shows questions uses it.
;;
;; One hook, `hive-changed-hook', updates the mode line, the list and everything
;; else that shows the model; many changes in a row run it once.  Another one,
;; `hive-arrived-functions', announces a question that is new: hive-notify.el.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-rpc)
(require 'hive-text)

;;;; A prompt

(defun hive-prompt-pending-p (prompt)
  "Return non-nil if PROMPT is pending."
  (equal (plist-get prompt :status) "pending"))

(defun hive-prompt-sound-p (prompt)
  "Return non-nil if the id and the times of PROMPT are valid.
The model relies on these fields only."
  (and (stringp (plist-get prompt :ask_id))
       (cl-loop for key in '(:created_at :snoozed_until :blocked_since :terminal_since :order_key)
                for value = (plist-get prompt key)
                always (or (null value) (stringp value)))))

;; ISO 8601 in UTC with milliseconds: times compare as strings.
(defun hive-prompt-snoozed-p (prompt)
  "Return non-nil if PROMPT is snoozed."
  (let ((until (plist-get prompt :snoozed_until)))
    (and until (string< (hive-text-now) until))))

(defun hive-prompt-rank (prompt)
  "Return the urgency of PROMPT: 0 critical, 1 normal, 2 low."
  (pcase (plist-get prompt :urgency) ("critical" 0) ("low" 2) (_ 1)))

(defun hive-prompt-blocked-p (prompt)
  "Return non-nil if the agent of PROMPT does nothing until it is answered."
  (and (plist-get prompt :blocked_since) (hive-prompt-pending-p prompt)))

(defun hive-prompt-in-terminal-p (prompt)
  "Return non-nil if PROMPT can only be answered in the terminal of its agent."
  (and (plist-get prompt :terminal_since) (hive-prompt-pending-p prompt)))

(defun hive-prompt-ended-p (prompt)
  "Return non-nil if PROMPT is pending though the session of its agent has ended."
  (and (hive-rpc-true-p prompt :orphaned) (hive-prompt-pending-p prompt)))

(defun hive-prompt-waits (prompt)
  "Return how long PROMPT has waited, in words: its age, or how long it blocks."
  (if (hive-prompt-blocked-p prompt)
      (hive-words (if (hive-prompt-in-terminal-p prompt)
                      "waiting in its terminal for %s"
                    "blocked for %s")
                  (hive-text-long-age (plist-get prompt :blocked_since)))
    (hive-text-age (plist-get prompt :created_at))))

(defun hive-prompt-before-p (a b)
  "Return non-nil if prompt A comes before prompt B."
  (string< (or (plist-get a :order_key) "") (or (plist-get b :order_key) "")))

(defvar-local hive-prompt-at-point-function nil
  "Function that returns the prompt at point in this buffer, or nil.")

(defun hive-prompt-at-point ()
  "Return the prompt at point in this buffer, or nil."
  (and hive-prompt-at-point-function (funcall hive-prompt-at-point-function)))

;;;; The pending prompts, in order

(defvar hive-model--ordered nil "The pending prompts, in order.")
(defvar hive-model--fresh nil "Pending prompts that are not in `hive-model--ordered' yet.")
(defvar hive-model-snoozed (make-hash-table :test #'equal)
  "The snoozed pending prompts, by id.")
(defvar hive-model--others (make-hash-table :test #'equal)
  "The pending prompts for other humans, by id.")
(defvar hive-model--ended (make-hash-table :test #'equal)
  "The pending prompts of sessions that have ended, by id.")

(defun hive-model-clear ()
  "Remove all pending questions."
  (setq hive-model--ordered nil
        hive-model--fresh nil)
  (clrhash hive-model-snoozed)
  (clrhash hive-model--others)
  (clrhash hive-model--ended))

(defun hive-model-enter (prompt)
  "Add PROMPT to the pending questions."
  (push prompt hive-model--fresh)
  (unless (hive-human-mine-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-model--others))
  (when (hive-prompt-ended-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-model--ended))
  (when (hive-prompt-snoozed-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-model-snoozed)))

(defun hive-model-remove (prompt)
  "Remove PROMPT from the pending questions."
  (remhash (plist-get prompt :ask_id) hive-model-snoozed)
  (remhash (plist-get prompt :ask_id) hive-model--others)
  (remhash (plist-get prompt :ask_id) hive-model--ended)
  (setq hive-model--ordered (delq prompt hive-model--ordered)
        hive-model--fresh (delq prompt hive-model--fresh)))

(defun hive-prompts ()
  "Return the pending questions of all humans, in order.
The list is shared: do not modify it."
  (when hive-model--fresh
    (if (cdr hive-model--fresh)
        (setq hive-model--ordered
              (cl-merge 'list hive-model--ordered
                        (hive-model--sorted (nreverse hive-model--fresh))
                        #'hive-prompt-before-p))
      (hive-model--insert (car hive-model--fresh)))
    (setq hive-model--fresh nil))
  hive-model--ordered)

(defun hive-model--sorted (list)
  "Sort LIST destructively and return it.
A snapshot is sorted already; checking that is cheaper than sorting."
  (if (cl-loop for (a b) on list
               never (and b (hive-prompt-before-p b a)))
      list
    (sort list #'hive-prompt-before-p)))

(defun hive-model--insert (prompt)
  "Insert PROMPT in its place among the pending questions.
This makes no garbage: sorting or copying thousands of prompts for
each arrival would cause noticeable garbage collection."
  (let* ((head (cons nil hive-model--ordered))
         (cell head))
    (while (and (cdr cell) (not (hive-prompt-before-p prompt (cadr cell))))
      (setq cell (cdr cell)))
    (setcdr cell (cons prompt (cdr cell)))
    (setq hive-model--ordered (cdr head))))

(defun hive-prompts-awake ()
  "Return the number of pending questions for the human that count.
Those that are snoozed do not, nor those of sessions that have ended."
  (let ((count (- (length (hive-prompts)) (hash-table-count hive-model--others))))
    (maphash (lambda (id prompt)
               (when (and (hive-prompt-snoozed-p prompt) (not (gethash id hive-model--others))
                          (not (gethash id hive-model--ended)))
                 (setq count (1- count))))
             hive-model-snoozed)
    (- count (length (hive-prompts-ended)))))

(defun hive-prompts-ended ()
  "Return the pending questions for the human whose sessions have ended."
  (let (ended)
    (maphash (lambda (id prompt) (unless (gethash id hive-model--others) (push prompt ended)))
             hive-model--ended)
    ended))

(defun hive-model--counts-p (prompt)
  "Return non-nil if PROMPT counts.
It is for the human, not snoozed, and of a session that lives."
  (not (or (hive-prompt-snoozed-p prompt)
           (gethash (plist-get prompt :ask_id) hive-model--others)
           (gethash (plist-get prompt :ask_id) hive-model--ended))))

(defun hive-prompts-blocked ()
  "Return how many of the questions that count block an agent.
They come first, so the others are not looked at."
  (cl-loop for prompt in (hive-prompts)
           while (hive-prompt-blocked-p prompt)
           count (hive-model--counts-p prompt)))

(defun hive-prompts-rank ()
  "Return the rank of the most urgent question that counts, or nil if none does.
Among those that block, and among the others, the most urgent is first."
  (when-let* ((first (hive-prompts-first)))
    (let ((other (and (hive-prompt-blocked-p first)
                      (cl-find-if (lambda (prompt)
                                    (and (not (hive-prompt-blocked-p prompt))
                                         (hive-model--counts-p prompt)))
                                  (hive-prompts)))))
      (min (hive-prompt-rank first) (if other (hive-prompt-rank other) 2)))))

(defun hive-prompts-first ()
  "Return the human's first pending prompt that counts, or nil."
  (cl-find-if #'hive-model--counts-p (hive-prompts)))

(defun hive-prompts-mine ()
  "Return the pending questions for the human, in order.
The list may be shared: do not modify it."
  (if (zerop (hash-table-count hive-model--others))
      (hive-prompts)
    (cl-remove-if (lambda (prompt) (gethash (plist-get prompt :ask_id) hive-model--others))
                  (hive-prompts))))

(defun hive-prompts-offered ()
  "Return the questions that the human can answer now, a new list in order.
Those of sessions that have ended come last."
  (let ((offered (cl-remove-if (lambda (prompt)
                                 (or (hive-prompt-snoozed-p prompt) (hive-prompt-in-terminal-p prompt)))
                               (hive-prompts-mine))))
    (if (zerop (hash-table-count hive-model--ended)) offered
      (append (cl-remove-if #'hive-prompt-ended-p offered)
              (cl-remove-if-not #'hive-prompt-ended-p offered)))))

;; The sidecar says which pending questions ask for the same thing.

(defun hive-prompts-alike (prompt others)
  "Return a list of PROMPT and those of OTHERS that are like it."
  (let ((alike (plist-get prompt :alike)))
    (cons prompt (and alike
                      (cl-remove-if-not (lambda (other)
                                          (and (not (eq other prompt))
                                               (equal alike (plist-get other :alike))))
                                        others)))))

(defun hive-prompts-alike-p (batch)
  "Return non-nil if all questions of BATCH, a list, are alike."
  (and-let* ((alike (plist-get (car batch) :alike)))
    (cl-every (lambda (prompt) (equal alike (plist-get prompt :alike))) (cdr batch))))

;;;; Hooks

(defvar hive-changed-hook nil
  "Run soon after anything changed that Emacs shows.
Several changes run it once.  It runs from a timer:
functions on it must not select windows, move point or read input.")

(defvar hive-arrived-functions nil
  "Called with each prompt that is newly pending for the human.
Prompts of a snapshot that were known before are not new.")

(defun hive-changed ()
  "Run `hive-changed-hook' soon, once."
  (hive-rpc-once 0 #'hive-model--run-changed))

(defun hive-model--run-changed ()
  "Run `hive-changed-hook'; a failing function does not stop the others."
  (save-match-data
    (hive-rpc-run-hook 'hive-changed-hook)))

;;;; The known prompts

(defconst hive-model--settled-kept 200
  "How many settled prompts are remembered, to report their outcome.")

(defvar hive-model--prompts (make-hash-table :test #'equal)
  "The known prompts, by id.")
(defvar hive-model--settled nil "Ids of remembered settled prompts, newest first.")
(defvar hive-model--answered (make-hash-table :test #'equal)
  "Ids of prompts that were answered here; the answers are not stored yet.")

(defun hive-model-prompt (id)
  "Return the prompt with ID, a plist, or nil if it is not known."
  (gethash id hive-model--prompts))

(defun hive-model-forget ()
  "Forget everything, as Hive is turned off."
  (clrhash hive-model--prompts)
  (clrhash hive-model--answered)
  (setq hive-model--settled nil)
  (hive-model-clear)
  (hive-changed))

(defun hive-prompt-unanswered-p (prompt)
  "Return non-nil if PROMPT is pending and was not answered here.
Its answer may not be stored yet."
  (and (hive-prompt-pending-p prompt)
       (not (gethash (plist-get prompt :ask_id) hive-model--answered))))

(defun hive-model-set-answered (ask-id answered)
  "Note that the prompt ASK-ID was ANSWERED here, or was not after all."
  (let ((prompt (hive-model-prompt ask-id)))
    (hive-model-remove prompt)
    (if answered
        (puthash ask-id t hive-model--answered)
      (remhash ask-id hive-model--answered)
      (when (and prompt (hive-prompt-pending-p prompt))
        (hive-model-enter prompt)))
    (hive-changed)))

(defun hive-model-put-prompt (prompt)
  "Remember PROMPT from the sidecar; return non-nil if it is newly pending.
A settled prompt stays settled (invariant 2): news that it is pending
came too late and is dropped.  So is a prompt with invalid fields,
which would break the order of the others."
  (if (hive-prompt-sound-p prompt)
      (hive-model--put prompt)
    (hive-rpc-log "ignored an invalid prompt: %S" (plist-get prompt :ask_id))
    nil))

(defun hive-model--put (prompt)
  "Remember PROMPT; return non-nil if it is newly pending."
  (let* ((id (plist-get prompt :ask_id))
         (known (hive-model-prompt id))
         (was-pending (and known (hive-prompt-pending-p known)))
         (pending (hive-prompt-pending-p prompt))
         (waiting (and pending (not (gethash id hive-model--answered)))))
    (unless (and pending known (not was-pending))
      (puthash id prompt hive-model--prompts)
      (hive-changed)
      (when known (hive-model-remove known))
      (when waiting (hive-model-enter prompt))
      (unless pending
        (remhash id hive-model--answered)
        (when (or was-pending (not known)) (hive-model--remember-settled id)))
      (and waiting (hive-model--news-p prompt known)))))

(defun hive-model--news-p (prompt known)
  "Return non-nil if PROMPT is news to the human; KNOWN is its former state.
A prompt for somebody else is news once it is for everybody."
  (and (hive-human-mine-p prompt)
       (not (and known (hive-human-mine-p known)))))

(defun hive-model--remember-settled (id)
  "Remember the settled prompt ID, and forget the oldest one."
  (push id hive-model--settled)
  ;; Cut in place: a copy for each settlement would be garbage.
  (let ((last (nthcdr (1- hive-model--settled-kept) hive-model--settled)))
    (dolist (old (cdr last)) (remhash old hive-model--prompts))
    (when last (setcdr last nil))))

(defun hive-prompts-settled (&optional limit)
  "Return the remembered settled questions, newest first, at most LIMIT."
  (cl-loop for id in hive-model--settled
           repeat (or limit hive-model--settled-kept)
           for prompt = (hive-model-prompt id)
           when prompt collect prompt))

;;;; Replacing the model by a snapshot

(defun hive-model-replace (snapshot &optional arrived)
  "Replace the model by SNAPSHOT, a list of all pending questions.
ARRIVED are the prompts that arrived while the snapshot was made, oldest
first; they are applied again on top.  Settled prompts stay known."
  (let* ((old hive-model--prompts)
         (new (make-hash-table :test #'equal :size (+ 100 (length snapshot)))))
    (dolist (id hive-model--settled)
      (when (gethash id old) (puthash id (gethash id old) new)))
    (setq hive-model--prompts new)
    (hive-model-clear)
    (hive-changed)
    (dolist (prompt snapshot) (hive-model--replace-one prompt old))
    (dolist (prompt arrived) (hive-model--replace-one prompt old))))

(defun hive-model--replace-one (prompt old)
  "Take PROMPT of a snapshot; OLD is the former table of questions."
  (let ((known (gethash (plist-get prompt :ask_id) old)))
    ;; An unchanged prompt stays the same object: it was valid before, and
    ;; a list that shows it need not print it again.
    (when (and (if (equal prompt known)
                   (hive-model--put known)
                 (hive-model-put-prompt prompt))
               (hive-model--news-p prompt known))
      (hive-rpc-run-hook 'hive-arrived-functions prompt))))

;;;; Receiving prompts

;; Emacs fetches a snapshot of all pending prompts each time it connects, and
;; when the sidecar has lost its place in the event log.  Prompts that arrive
;; during the fetch are applied on top of it.

(defun hive-model-outdate ()
  "Fetch the snapshot again that is being fetched, if one is.
The store has changed since, and the news of that may come later."
  (hive-rpc-arrive 'prompt/list 'outdated))

(defun hive-model--receive (prompt)
  "Take PROMPT, from a notification."
  (hive-rpc-arrive 'prompt/list prompt)
  (when (hive-model-put-prompt prompt)
    (hive-rpc-run-hook 'hive-arrived-functions prompt)))

(cl-defmethod hive-rpc-handle ((_method (eql 'hivemind-ask)) prompt)
  "Take PROMPT, a new question."
  (hive-model--receive prompt))

(cl-defmethod hive-rpc-handle ((_method (eql 'prompt/changed)) prompt)
  "Take PROMPT, a question that changed."
  (hive-model--receive prompt))

;;;; Fetching a snapshot

(defconst hive-model--first-delay 2 "Seconds until a failed fetch is retried.")
(defconst hive-model--longest-delay 60 "The longest time between two attempts, in seconds.")

(defvar hive-model--retry-timer nil "The timer of the next attempt, or nil.")
(defvar hive-model--delay hive-model--first-delay "Seconds until the next attempt, if this one fails.")

(defun hive-model--again ()
  "Fetch again after a delay, and after a longer one the next time."
  (hive-set-timer 'hive-model--retry-timer hive-model--delay #'hive-model-refresh)
  (setq hive-model--delay (min hive-model--longest-delay (* 2 hive-model--delay))))

(defun hive-model-refresh (&optional cursor pages)
  "Fetch all pending questions, page by page, then replace the model by them.
The next page is at CURSOR; PAGES are those before it, the last one first."
  (hive-set-timer 'hive-model--retry-timer)
  (hive-rpc-fetch
   'prompt/list `(:status "pending" :limit 500 ,@(when cursor (list :cursor cursor)))
   :for nil
   :arrived (and cursor hive-rpc-arrived)
   :then
   (lambda (result)
     (let ((pages (cons (plist-get result :prompts) pages))
           (next (plist-get result :next_cursor)))
       (if next (hive-model-refresh next pages)
         (setq hive-model--delay hive-model--first-delay)
         (if (memq 'outdated hive-rpc-arrived) (hive-model-refresh)
           (hive-model-replace (apply #'append (mapcar (lambda (page) (append page nil))
                                                       (nreverse pages)))
                               hive-rpc-arrived)))))
   :problem
   (lambda (_sentence err)
     (unless (eq (plist-get err :name) 'disconnected)
       (hive-rpc-log "no snapshot: %S" err)
       (hive-model--again)))))

(cl-defmethod hive-rpc-handle ((_method (eql 'desk/resync)) _params)
  "Fetch a snapshot, as the sidecar lost its place in the event log.
Turns may have ended unnoticed, so fetch the sessions too."
  (hive-model-refresh)
  (hive-model-refresh-sessions))

(defun hive-model-stop ()
  "Give up the fetch, as Hive is turned off."
  (hive-set-timer 'hive-model--retry-timer)
  (hive-rpc-forget-fetch 'prompt/list)
  (setq hive-model--delay hive-model--first-delay))

(defun hive-model-complete-p ()
  "Return non-nil unless a fetch is under way or planned."
  (not (or (hive-rpc-fetching 'prompt/list) hive-model--retry-timer)))

;;;; The living sessions

(defvar hive-model--sessions (make-hash-table :test #'equal)
  "The living sessions, by id.")

(defvar hive-model-sessions-changed-hook nil
  "Run when a session started, changed or ended.")

(defvar hive-model-sessions-listed-functions nil
  "Called with a new list of the living sessions.
Each is a plist with its current :turn.")

(defconst hive-model--most 1000 "How many sessions are remembered.")

(defun hive-model-sessions ()
  "Return the living sessions, as plists, sorted by title."
  (let (sessions)
    (maphash (lambda (_id session) (push session sessions)) hive-model--sessions)
    (sort sessions (lambda (a b) (string-collate-lessp (hive-text-title a) (hive-text-title b) nil t)))))

(defun hive-model-map-sessions (function)
  "Call FUNCTION with each living session, in any order."
  (maphash (lambda (_id session) (funcall function session)) hive-model--sessions))

(defun hive-model-session-of (agents text)
  "Return the one of AGENTS, plists, whose title or handle is TEXT."
  (cl-find text agents
           :test (lambda (text agent)
                   (member text (list (hive-text-title agent) (plist-get agent :handle)
                                      (plist-get agent :agent))))))

(defun hive-model-session (session-id)
  "Return the living session with SESSION-ID, or nil."
  (gethash session-id hive-model--sessions))

(defun hive-model--remember-session (session)
  "Remember SESSION, or forget it if it has ended."
  (let ((id (plist-get session :session_id)))
    (cond ((equal (plist-get session :state) "ended")
           (remhash id hive-model--sessions)
           (remhash id hive-text-titles))
          ((or (gethash id hive-model--sessions)
               (< (hash-table-count hive-model--sessions) hive-model--most))
           (puthash id (hive-model--with-mentions session (gethash id hive-model--sessions))
                    hive-model--sessions)
           (puthash id (plist-get session :title) hive-text-titles)))))

(defun hive-model--with-mentions (session before)
  "Return SESSION with the number of its open mentions that it had BEFORE.
Only lists of sessions contain that number."
  (if (or (null before) (plist-member session :unprocessed_mentions)) session
    (append session (list :unprocessed_mentions (plist-get before :unprocessed_mentions)))))

(defun hive-model-take-session-news (function news)
  "Call FUNCTION with NEWS of a session or of its turn, from a notification.
During a fetch, call it again on top of the list, which may be older."
  (hive-rpc-arrive 'session/list (cons function news))
  (funcall function news))

(defun hive-model-refresh-sessions ()
  "Fetch the living sessions.  A newer fetch ends this one."
  (hive-rpc-fetch
   'session/list (list :state "alive" :limit hive-model--most)
   :for nil
   :then #'hive-model--list-sessions
   :problem (lambda (_sentence err) (hive-rpc-again err #'hive-model-refresh-sessions))))

(defun hive-model--list-sessions (result)
  "Take RESULT, a list of the sessions, and on top of it what arrived since."
  (let ((sessions (append (plist-get result :sessions) nil)))
    ;; A list that was cut short says nothing of the sessions it lacks.
    (unless (hive-rpc-true-p result :more)
      (clrhash hive-model--sessions)
      (clrhash hive-text-titles))
    (mapc #'hive-model--remember-session sessions)
    (hive-rpc-run-hook 'hive-model-sessions-listed-functions sessions)
    (pcase-dolist (`(,function . ,news) hive-rpc-arrived) (funcall function news))
    (hive-rpc-run-hook 'hive-model-sessions-changed-hook)))

(cl-defmethod hive-rpc-handle ((_method (eql 'session/changed)) session)
  "Take SESSION, which changed.  A new title is also that of its questions."
  (let ((title (gethash (plist-get session :session_id) hive-text-titles)))
    (hive-model-take-session-news #'hive-model--remember-session session)
    (hive-rpc-run-hook 'hive-model-sessions-changed-hook)
    (unless (member title (list nil (plist-get session :title))) (hive-changed))))

(add-hook 'hive-connected-hook #'hive-model-refresh-sessions)
(hive-forget-when-off 'hive-model--sessions 'hive-text-titles)

;;;; Handles: names, completion, abbreviations

(defun hive-model-title-name (session)
  "Return the title of SESSION as a mention spells it: as one word."
  (replace-regexp-in-string "[-_]+\\'" ""
                            (replace-regexp-in-string "[^[:alnum:]_-]+" "-" (hive-text-title session))))

(defun hive-model-known-handles (&optional project-dir)
  "Return what can be mentioned, without the @: titles, handles, roles, All, Human.
Sessions of PROJECT-DIR come first; those that take no mentions are
left out."
  (let* ((sessions (cl-remove-if-not (lambda (session) (hive-rpc-true-p session :shared))
                                     (hive-model-sessions)))
         (near (hive-filter :project_dir project-dir sessions))
         (all (append near (cl-set-difference sessions near))))
    (delete-dups
     (append (cl-mapcan (lambda (session)
                          (list (hive-model-title-name session)
                                (hive-text-line (plist-get session :handle))))
                        all)
             (mapcar #'hive-text-line
                     (cl-mapcan (lambda (session) (append (plist-get session :roles) nil)) all))
             (list "All" "Human")))))

(defun hive-model-session-named (name)
  "Return the session that a mention of NAME means: its handle or its title."
  (let ((sessions (hive-model-sessions)))
    (or (hive-find :handle name sessions)
        (cl-find name sessions :test #'cl-equalp :key #'hive-model-title-name))))

(defun hive-model--annotation (name)
  "Return the annotation of the candidate NAME."
  (let ((session (hive-model-session-named name)))
    (cond (session (format "  %s  %s  %s"
                           (if (equal name (plist-get session :handle)) (hive-text-title session 36)
                             (hive-text-line (plist-get session :handle) 24))
                           (hive-text-line (plist-get session :project) 24)
                           (hive-text-line (plist-get session :state) 8)))
          ((equal name "All") (hive-words "  everyone here"))
          ((equal name "Human") (hive-words "  you"))
          (t (hive-words "  role")))))

(defun hive-model-handle-table (&optional project-dir)
  "Return a completion table of what can be mentioned, ignoring case.
Sessions of PROJECT-DIR come first."
  (lambda (string predicate action)
    (hive-text-complete)
    (if (eq action 'metadata)
        '(metadata (category . hive-handle)
                   (annotation-function . hive-model--annotation)
                   (display-sort-function . identity)
                   (cycle-sort-function . identity))
      (let ((completion-ignore-case t))
        (complete-with-action action (hive-model-known-handles project-dir)
                              string predicate)))))

(defun hive-model-agents (things)
  "Return one of THINGS for each agent: questions, entries or sessions.
THINGS without an agent are left out."
  (cl-remove-duplicates (cl-remove-if-not #'hive-model-handle things)
                        :key #'hive-model-handle :test #'equal :from-end t))

(defun hive-model-handle (thing)
  "Return the handle of the agent of THING, or nil."
  (or (plist-get thing :agent) (plist-get thing :handle)))

(defun hive-model-title-of (handle things width)
  "Return the title of the agent with HANDLE among THINGS and living sessions.
It is at most WIDTH columns wide; of an unknown agent, it is the handle."
  (let ((thing (cl-find handle (append things (hive-model-sessions))
                        :key #'hive-model-handle :test #'equal)))
    (if thing (hive-text-title thing width) (hive-text-line handle width))))

(defun hive-model-expand-handle (typed things)
  "Return the handle of the agent of THINGS whose name begins with TYPED.
That is its title or its handle, in any case.  If no agent has such a name,
return TYPED; if several have, signal a `user-error' that names them."
  (let* ((typed (string-remove-prefix "@" (string-trim typed)))
         (agents (unless (string-empty-p typed) (hive-model-agents things)))
         (called (lambda (test)
                   (cl-remove-if-not
                    (lambda (thing)
                      (cl-some (lambda (name) (funcall test typed name))
                               (list (hive-text-line (hive-model-handle thing)) (hive-text-title thing))))
                    agents)))
         (found (or (funcall called #'cl-equalp)
                    (funcall called (lambda (start name) (string-prefix-p start name t))))))
    (when (cdr found)
      (hive-fail "\"%s\" matches several names: %s" (hive-text-line typed 40)
                 (mapconcat (lambda (thing) (hive-text-title thing 40)) found ", ")))
    (if found (hive-model-handle (car found)) typed)))

(defvar-local hive-model-project-dir nil
  "The project whose sessions are offered first in this buffer.")

(defun hive-model-complete-handle ()
  "Complete the handle after an @ at point; for `completion-at-point-functions'."
  (save-excursion
    (skip-chars-forward "[:alnum:]_-")
    (let ((end (point)))
      (skip-chars-backward "[:alnum:]_-")
      (when (and (eq (char-before) ?@)
                 (not (and (> (1- (point)) (point-min))
                           (string-match-p "[[:alnum:]./@]"
                                           (string (char-before (1- (point))))))))
        (list (point) end (hive-model-handle-table hive-model-project-dir)
              :exclusive 'no
              ;; The next word that is typed is no part of the handle.
              :exit-function (lambda (_ status)
                               (when (and (eq status 'finished) (not (looking-at-p "[[:space:][:punct:]]")))
                                 (insert " "))))))))

(provide 'hive-model)
;;; hive-model.el ends here
