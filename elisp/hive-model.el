;;; hive-model.el --- What the desk knows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The state of the desk: the prompts that the sidecar told, as the plists
;; it sent (`:ask_id', `:question' …).  It is a window on the store, never
;; the truth: each connect replaces it by a fresh snapshot.  What brings them
;; is in hive-feed.el, what waits, in order, in hive-waiting.el.
;;
;; One hook, `hive-changed-hook', feeds the mode line, the list and whatever
;; else shows the state; many changes in a row run it once.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-rpc)
(require 'hive-text)

;;;; What waits for an answer, in order

;; The prompts that wait, the most urgent first, then the oldest; and which
;; of them were put away, or are for other humans.  hive-model.el says what
;; enters and leaves; whoever shows what waits asks here.

;;;; One prompt

(defun hive-prompt-pending-p (prompt)
  "Return non-nil while PROMPT waits for an answer."
  (equal (plist-get prompt :status) "pending"))

(defun hive-prompt-sound-p (prompt)
  "Return non-nil unless PROMPT has no id, or a time that is none.
By the other fields nothing is put in order."
  (let ((created (plist-get prompt :created_at))
        (snoozed (plist-get prompt :snoozed_until)))
    (and (stringp (plist-get prompt :ask_id))
         (or (null created) (stringp created))
         (or (null snoozed) (stringp snoozed)))))

;; ISO 8601 in UTC with milliseconds: times compare as strings.
(defun hive-prompt-snoozed-p (prompt)
  "Return non-nil while PROMPT was put away by the human."
  (let ((until (plist-get prompt :snoozed_until)))
    (and until (string< (hive-text-now) until))))

(defun hive-prompt-rank (prompt)
  "Return how urgent PROMPT is: 0 critical, 1 normal, 2 low."
  (pcase (plist-get prompt :urgency) ("critical" 0) ("low" 2) (_ 1)))

(defun hive-prompt-before-p (a b)
  "Return non-nil if prompt A should be looked at before prompt B.
The most urgent first, then the oldest."
  (let ((rank-a (hive-prompt-rank a)) (rank-b (hive-prompt-rank b)))
    (if (= rank-a rank-b)
        (string< (or (plist-get a :created_at) "") (or (plist-get b :created_at) ""))
      (< rank-a rank-b))))

;;;; Those that wait

(defvar hive-model--ordered nil "The prompts that wait, in order.")
(defvar hive-model--fresh nil "Prompts that wait and are not yet put in order.")
(defvar hive-waiting-snoozed (make-hash-table :test #'equal)
  "What waits and was put away, by id.")
(defvar hive-model--others (make-hash-table :test #'equal)
  "What waits for other humans, by id.")

(defun hive-waiting-clear ()
  "Let nothing wait."
  (setq hive-model--ordered nil
        hive-model--fresh nil)
  (clrhash hive-waiting-snoozed)
  (clrhash hive-model--others))

(defun hive-waiting-enter (prompt)
  "Let PROMPT be among what waits."
  (push prompt hive-model--fresh)
  (unless (hive-human-mine-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-model--others))
  (when (hive-prompt-snoozed-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-waiting-snoozed)))

(defun hive-waiting-withdraw (prompt)
  "Take PROMPT out of what waits."
  (remhash (plist-get prompt :ask_id) hive-waiting-snoozed)
  (remhash (plist-get prompt :ask_id) hive-model--others)
  (setq hive-model--ordered (delq prompt hive-model--ordered)
        hive-model--fresh (delq prompt hive-model--fresh)))

(defun hive-prompts ()
  "Return what waits for any human, most urgent first, then oldest.
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
  "Put LIST, which may be modified, in order and return it.
A snapshot comes in order; to see that is cheaper than to sort it."
  (if (cl-loop for (a b) on list
               never (and b (hive-prompt-before-p b a)))
      list
    (sort list #'hive-prompt-before-p)))

(defun hive-model--insert (prompt)
  "Put PROMPT into its place among what waits.
That makes no garbage: sorting or copying thousands for each
arrival would be felt when it is collected."
  (let* ((head (cons nil hive-model--ordered))
         (cell head))
    (while (and (cdr cell) (not (hive-prompt-before-p prompt (cadr cell))))
      (setq cell (cdr cell)))
    (setcdr cell (cons prompt (cdr cell)))
    (setq hive-model--ordered (cdr head))))

(defun hive-prompts-awake ()
  "Return how many wait for the human and were not put away."
  (let ((count (- (length (hive-prompts)) (hash-table-count hive-model--others))))
    (maphash (lambda (id prompt)
               (when (and (hive-prompt-snoozed-p prompt) (not (gethash id hive-model--others)))
                 (setq count (1- count))))
             hive-waiting-snoozed)
    count))

(defun hive-prompts-first ()
  "Return the human's most urgent prompt that was not put away, or nil."
  (cl-find-if-not (lambda (prompt)
                    (or (hive-prompt-snoozed-p prompt)
                        (gethash (plist-get prompt :ask_id) hive-model--others)))
                  (hive-prompts)))

(defun hive-prompts-mine ()
  "Return what waits for the human and not for others, in order.
The list may be shared: do not modify it."
  (if (zerop (hash-table-count hive-model--others))
      (hive-prompts)
    (cl-remove-if (lambda (prompt) (gethash (plist-get prompt :ask_id) hive-model--others))
                  (hive-prompts))))

;;;; What the desk knows

(defvar hive-changed-hook nil
  "Run soon after anything changed that the desk shows.
Changes that come together run it once.  It runs from a timer:
functions on it must not select windows, move point or read input.")

(defvar hive-arrived-functions nil
  "Called with each prompt that newly waits for the human.
Prompts of a snapshot that were known before are not new.")

;;;; Saying that something changed

(defvar hive-model--timer nil "The timer that will run `hive-changed-hook'.")

(defun hive-changed ()
  "Arrange for `hive-changed-hook' to be run soon, once."
  (unless hive-model--timer
    (setq hive-model--timer (run-at-time 0 nil #'hive-model--run-changed))))

(defun hive-model--run-changed ()
  "Run `hive-changed-hook'; a function that fails stops no other."
  (setq hive-model--timer nil)
  (save-match-data
    (run-hook-wrapped 'hive-changed-hook
                      (lambda (function) (hive-work-guarded function) nil))))

;;;; What is known

(defconst hive-model--settled-kept 200
  "How many settled prompts are remembered, to say what became of them.")

(defvar hive-model--prompts (make-hash-table :test #'equal)
  "The prompts that are known, by id.")
(defvar hive-model--settled nil "Ids of remembered settled prompts, newest first.")
(defvar hive-model--answered (make-hash-table :test #'equal)
  "Ids of prompts that were answered here; the answers are on their way.")

(defun hive-model-prompt (id)
  "Return the prompt with ID, a plist, or nil when it is not known."
  (gethash id hive-model--prompts))

(defun hive-model-forget ()
  "Forget everything: Hive is turned off."
  (clrhash hive-model--prompts)
  (clrhash hive-model--answered)
  (setq hive-model--settled nil)
  (hive-waiting-clear)
  (hive-changed))

(defun hive-prompt-waiting-p (prompt)
  "Return non-nil while PROMPT waits for the human.
It no longer does when the answer is only on its way."
  (and (hive-prompt-pending-p prompt)
       (not (gethash (plist-get prompt :ask_id) hive-model--answered))))

(defun hive-model-set-answered (ask-id answered)
  "Note that the prompt ASK-ID was ANSWERED here, or after all not."
  (let ((prompt (hive-model-prompt ask-id)))
    (hive-waiting-withdraw prompt)
    (if answered
        (puthash ask-id t hive-model--answered)
      (remhash ask-id hive-model--answered)
      (when (and prompt (hive-prompt-pending-p prompt))
        (hive-waiting-enter prompt)))
    (hive-changed)))

(defun hive-model-put-prompt (prompt)
  "Remember PROMPT as the sidecar told it; return non-nil if it newly waits.
What is settled stays settled (invariant 2): news of a pending
prompt that was overtaken by its settlement is dropped.  So is
what could not be put in order: it would keep all others from it."
  (if (hive-prompt-sound-p prompt)
      (hive-model--put prompt)
    (hive-work-log "a prompt of another shape was left out: %S" (plist-get prompt :ask_id))
    nil))

(defun hive-model--put (prompt)
  "Remember PROMPT; return non-nil if it newly waits."
  (let* ((id (plist-get prompt :ask_id))
         (known (hive-model-prompt id))
         (was-pending (and known (hive-prompt-pending-p known)))
         (pending (hive-prompt-pending-p prompt))
         (waiting (and pending (not (gethash id hive-model--answered)))))
    (unless (and pending known (not was-pending))
      (puthash id prompt hive-model--prompts)
      (hive-changed)
      (when known (hive-waiting-withdraw known))
      (when waiting (hive-waiting-enter prompt))
      (unless pending
        (remhash id hive-model--answered)
        (when (or was-pending (not known)) (hive-model--remember-settled id)))
      (and waiting (hive-model--news-p prompt known)))))

(defun hive-model--news-p (prompt known)
  "Return non-nil if PROMPT is news to the human, given what was KNOWN of it.
What was another's is news when everybody is asked."
  (and (hive-human-mine-p prompt)
       (not (and known (hive-human-mine-p known)))))

(defun hive-model--remember-settled (id)
  "Keep the settled prompt ID for a while, and forget the oldest such."
  (push id hive-model--settled)
  ;; Cut in place: a copy for each settlement would be collected, and felt.
  (let ((last (nthcdr (1- hive-model--settled-kept) hive-model--settled)))
    (dolist (old (cdr last)) (remhash old hive-model--prompts))
    (when last (setcdr last nil))))

(defun hive-prompts-settled (&optional limit)
  "Return what is remembered as settled, newest first, at most LIMIT."
  (cl-loop for id in hive-model--settled
           repeat (or limit hive-model--settled-kept)
           for prompt = (hive-model-prompt id)
           when prompt collect prompt))

;;;; A snapshot of all that waits

(defun hive-model-replace (snapshot &optional told)
  "Let SNAPSHOT, a list of all that waits, replace what is known.
TOLD is what the sidecar told while the snapshot was made, oldest
first; it is applied again on top.  Settled prompts stay known."
  (let* ((old hive-model--prompts)
         (new (make-hash-table :test #'equal :size (+ 100 (length snapshot)))))
    (dolist (id hive-model--settled)
      (when (gethash id old) (puthash id (gethash id old) new)))
    (setq hive-model--prompts new)
    (hive-waiting-clear)
    (hive-changed)
    (dolist (prompt snapshot) (hive-model--replace-one prompt old))
    (dolist (prompt told) (hive-model--replace-one prompt old))))

(defun hive-model--replace-one (prompt old)
  "Take PROMPT of a snapshot; OLD is the table of what was known before."
  (let ((known (gethash (plist-get prompt :ask_id) old)))
    ;; What did not change stays the same object: a list that shows it
    ;; need not print it again, and it was found sound before.
    (when (and (if (equal prompt known)
                   (hive-model--put known)
                 (hive-model-put-prompt prompt))
               (hive-model--news-p prompt known))
      (run-hook-with-args 'hive-arrived-functions prompt))))

;;;; How the questions reach the desk

;; What the sidecar tells of prompts goes into the model.  Each connect, and
;; each time the sidecar lost its place in the log, fetches a snapshot of all
;; that waits; what is told while it is fetched is applied on top of it.

;;;; What is told

(defvar hive-model--meanwhile nil
  "While a snapshot is fetched, a cons whose cdr is what was told meanwhile.")

(defun hive-model--told (prompt)
  "Take PROMPT, which the sidecar told of its own accord."
  (when hive-model--meanwhile
    (push prompt (cdr hive-model--meanwhile)))
  (when (hive-model-put-prompt prompt)
    (run-hook-with-args 'hive-arrived-functions prompt)))

(cl-defmethod hive-rpc-notify ((_method (eql 'hivemind-ask)) prompt)
  "Take PROMPT, a new question."
  (hive-model--told prompt))

(cl-defmethod hive-rpc-notify ((_method (eql 'prompt/changed)) prompt)
  "Take PROMPT, a question with which something happened."
  (hive-model--told prompt))

;;;; Snapshot

(defconst hive-model--first-delay 2 "Seconds after which a snapshot that failed is tried again.")
(defconst hive-model--longest-delay 60 "Seconds between two attempts at most.")

(defvar hive-model--retry-timer nil "The timer of the next attempt, or nil.")
(defvar hive-model--delay hive-model--first-delay "Seconds until it, where this one fails.")

(defun hive-model--cancel ()
  "Plan no further attempt."
  (when hive-model--retry-timer (cancel-timer hive-model--retry-timer))
  (setq hive-model--retry-timer nil))

(defun hive-model--again ()
  "Fetch anew after a while, and after a longer one the next time."
  (let ((delay hive-model--delay))
    (setq hive-model--delay (min hive-model--longest-delay (* 2 delay))
          hive-model--retry-timer (run-at-time delay nil #'hive-feed-refresh))))

(defun hive-feed-refresh ()
  "Fetch all that waits, page by page, then replace what is known by it."
  (hive-model--cancel)
  (let ((meanwhile (list 'told)))
    (setq hive-model--meanwhile meanwhile)
    (hive-model--fetch nil nil meanwhile)))

(defun hive-model--fetch (cursor pages meanwhile)
  "Fetch the page at CURSOR and add it to PAGES.
MEANWHILE collects what is told until the last page is here; a
newer refresh has another one, and this one then gives up."
  (hive-rpc-request
   'prompt/list `( :status "pending" :limit 500
                   ,@(when cursor (list :cursor cursor)))
   :timeout 30
   :success
   (lambda (result)
     (when (eq meanwhile hive-model--meanwhile)
       (let ((pages (cons (plist-get result :prompts) pages))
             (next (plist-get result :next_cursor)))
         (if next
             (hive-model--fetch next pages meanwhile)
           (setq hive-model--meanwhile nil
                 hive-model--delay hive-model--first-delay)
           (hive-model-replace (apply #'append (mapcar (lambda (page) (append page nil))
                                                       (nreverse pages)))
                               (reverse (cdr meanwhile)))))))
   :error
   (lambda (err)
     (when (eq meanwhile hive-model--meanwhile)
       (setq hive-model--meanwhile nil)
       (unless (eq (plist-get err :name) 'disconnected)
         (hive-work-log "no snapshot: %S" err)
         (hive-model--again))))))

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/resync)) _params)
  "Fetch everything anew: the sidecar lost its place in the log."
  (hive-feed-refresh))

(defun hive-feed-stop ()
  "Give up the snapshot that is on its way: Hive is turned off."
  (hive-model--cancel)
  (setq hive-model--meanwhile nil
        hive-model--delay hive-model--first-delay))

(defun hive-feed-complete-p ()
  "Return non-nil unless a snapshot is on its way, or still to come."
  (not (or hive-model--meanwhile hive-model--retry-timer)))

;;;; Who is here, and what they are called

;; The living sessions, as the sidecar tells them, and the completion of
;; their handles after an @.

(defvar hive-model--sessions (make-hash-table :test #'equal)
  "The sessions that live, by their ids.")

(defvar hive-handles-changed-hook nil
  "Run when a session came, changed or went.")

(defvar hive-handles-listed-functions nil
  "Called with the sessions that live, as the sidecar lists them anew.
They are plists, each with the :turn that it is in.")

(defconst hive-model--most 1000 "How many sessions are known at most.")

;;;; Who is here

(defun hive-handles-sessions ()
  "Return the sessions that live, as plists, by their handles."
  (let (sessions)
    (maphash (lambda (_id session) (push session sessions)) hive-model--sessions)
    (sort sessions (lambda (a b) (string< (plist-get a :handle) (plist-get b :handle))))))

(defun hive-handles-session (session-id)
  "Return the living session with SESSION-ID, or nil."
  (gethash session-id hive-model--sessions))

(defun hive-model--take (session)
  "Remember SESSION as it now is."
  (let ((id (plist-get session :session_id)))
    (cond ((equal (plist-get session :state) "ended")
           (remhash id hive-model--sessions))
          ((or (gethash id hive-model--sessions)
               (< (hash-table-count hive-model--sessions) hive-model--most))
           (puthash id session hive-model--sessions)))))

(defun hive-handles-refresh ()
  "Ask the sidecar who is here."
  (hive-rpc-request
   'session/list (list :state "alive" :limit hive-model--most)
   :success (lambda (result)
              (let ((sessions (append (plist-get result :sessions) nil)))
                ;; Of whom a cut list is silent, nothing new is known.
                (unless (hive-rpc-true-p result :more) (clrhash hive-model--sessions))
                (mapc #'hive-model--take sessions)
                (run-hook-with-args 'hive-handles-listed-functions sessions)
                (run-hooks 'hive-handles-changed-hook)))
   :error (lambda (err) (hive-work-log "no sessions: %S" err))))

(cl-defmethod hive-rpc-notify ((_method (eql 'session/changed)) session)
  "Take SESSION, with which something happened."
  (hive-model--take session)
  (run-hooks 'hive-handles-changed-hook))

(defun hive-model--sidecar ()
  "Forget everybody when Hive is turned off."
  (when (eq hive-sidecar-state 'off)
    (clrhash hive-model--sessions)))

(add-hook 'hive-connected-hook #'hive-handles-refresh)
(add-hook 'hive-sidecar-state-hook #'hive-model--sidecar)

;;;; Names

(defun hive-handles-names (&optional project-dir)
  "Return what can be mentioned, without the @: handles, roles, All, Human.
Sessions of PROJECT-DIR come first; those that take no mentions do
not come at all."
  (let* ((sessions (cl-remove-if-not (lambda (session) (hive-rpc-true-p session :shared))
                                     (hive-handles-sessions)))
         (near (cl-remove-if-not (lambda (session)
                                   (equal project-dir (plist-get session :project_dir)))
                                 sessions))
         (all (append near (cl-set-difference sessions near))))
    (delete-dups
     (append (mapcar (lambda (session) (hive-text-line (plist-get session :handle))) all)
             (mapcar #'hive-text-line
                     (cl-mapcan (lambda (session) (append (plist-get session :roles) nil)) all))
             (list "All" "Human")))))

(defun hive-model--annotation (name)
  "Return what is said of NAME beside it in a list of candidates."
  (let ((session (cl-find name (hive-handles-sessions) :test #'equal
                          :key (lambda (session) (plist-get session :handle)))))
    (cond (session (format "  %s  %s" (hive-text-line (plist-get session :project) 24)
                           (hive-text-line (plist-get session :state) 8)))
          ((equal name "All") "  everyone here")
          ((equal name "Human") "  you")
          (t "  role"))))

(defun hive-handles-table (&optional project-dir)
  "Return a completion table of what can be mentioned, whatever its case.
Sessions of PROJECT-DIR come first."
  (lambda (string predicate action)
    (if (eq action 'metadata)
        '(metadata (category . hive-handle)
                   (annotation-function . hive-model--annotation)
                   (display-sort-function . identity)
                   (cycle-sort-function . identity))
      (let ((completion-ignore-case t))
        (complete-with-action action (hive-handles-names project-dir)
                              string predicate)))))

;;;; What was typed

(defun hive-handles-expand (typed names)
  "Return which of NAMES is meant by TYPED, the first letters of one.
Case does not matter.  What begins none of them is returned as it
is; several are a `user-error' that names them."
  (let* ((typed (string-remove-prefix "@" typed))
         (found (unless (string-empty-p typed)
                  (cl-remove-if-not (lambda (name) (string-prefix-p typed name t))
                                    (cl-remove-duplicates (remq nil names) :test #'equal))))
         (same (cl-find typed found :test #'cl-equalp)))
    (cond (same)
          ((cdr found)
           (hive-fail 'handle-ambiguous (hive-text-line typed 40)
                      (mapconcat (lambda (name) (hive-text-line name 40)) found ", ")))
          (t (or (car found) typed)))))

;;;; Completion in text

(defvar-local hive-handles-project-dir nil
  "The project whose sessions are offered first in this buffer.")

(defun hive-handles-complete ()
  "Complete the handle after an @ at point; for `completion-at-point-functions'."
  (save-excursion
    (skip-chars-forward "[:alnum:]_-")
    (let ((end (point)))
      (skip-chars-backward "[:alnum:]_-")
      (when (and (eq (char-before) ?@)
                 (not (and (> (1- (point)) (point-min))
                           (string-match-p "[[:alnum:]./@]"
                                           (string (char-before (1- (point))))))))
        (list (point) end (hive-handles-table hive-handles-project-dir)
              :exclusive 'no)))))

(provide 'hive-model)
;;; hive-model.el ends here
