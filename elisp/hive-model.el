;;; hive-model.el --- What the desk knows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The state of the desk: the things that the sidecar told, by kind and id,
;; as the plists it sent (`:ask_id', `:question' …).  It is a window on the
;; store, never the truth: each connect replaces it by a fresh snapshot.
;;
;; One hook, `hive-changed-hook', feeds the mode line, the list and whatever
;; else shows the state; many changes in a row run it once.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-rpc)
(require 'hive-text)
(require 'hive-work)

(defvar hive-changed-hook nil
  "Run soon after anything changed that the desk shows.
Changes that come together run it once.  It runs from a timer:
functions on it must not select windows, move point or read input.")

(defvar hive-arrived-functions nil
  "Called with each prompt that newly waits for the human.
Prompts of a snapshot that were known before are not new.")

;;;; Things by kind and id

(defconst hive-model--kinds '((prompt . :ask_id))
  "The kinds of things that are kept, each with the key of its id.")

(defconst hive-model--settled-kept 200
  "How many settled prompts are remembered, to say what became of them.")

(defvar hive-model--tables nil "Alist of kind to hash table of id to plist.")
(defvar hive-model--settled nil "Ids of remembered settled prompts, newest first.")
(defvar hive-model--waiting nil "The prompts that wait, in order.")
(defvar hive-model--fresh nil "Prompts that wait and are not yet put in order.")
(defvar hive-model--snoozed (make-hash-table :test #'equal)
  "What waits and was put away, by id.")
(defvar hive-model--others (make-hash-table :test #'equal)
  "What waits for other humans, by id.")
(defvar hive-model--answered (make-hash-table :test #'equal)
  "Ids of prompts that were answered here; the answers are on their way.")
(defvar hive-model--told-meanwhile nil
  "While a snapshot is fetched, a cons whose cdr is what was told meanwhile.")
(defvar hive-model--timer nil "The timer that will run `hive-changed-hook'.")

(defun hive-model--table (kind)
  "Return the hash table of the things of KIND."
  (or (alist-get kind hive-model--tables)
      (setf (alist-get kind hive-model--tables) (make-hash-table :test #'equal))))

(defun hive-model-get (kind id)
  "Return the thing of KIND with ID, a plist, or nil when it is not known."
  (gethash id (hive-model--table kind)))

(defun hive-model-put (kind thing)
  "Remember THING, a plist of KIND; return what was known of it before."
  (let* ((table (hive-model--table kind))
         (id (plist-get thing (alist-get kind hive-model--kinds)))
         (before (gethash id table)))
    (puthash id thing table)
    (hive-changed)
    before))

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

(defun hive-model-forget ()
  "Forget everything: Hive is turned off."
  (setq hive-model--tables nil
        hive-model--settled nil
        hive-model--waiting nil
        hive-model--fresh nil
        hive-model--told-meanwhile nil) ; a snapshot on its way is unwanted
  (clrhash hive-model--answered)
  (clrhash hive-model--snoozed)
  (clrhash hive-model--others)
  (hive-changed))

;;;; Prompts

(defun hive-prompt-pending-p (prompt)
  "Return non-nil while PROMPT waits for an answer."
  (equal (plist-get prompt :status) "pending"))

(defun hive-prompt-waiting-p (prompt)
  "Return non-nil while PROMPT waits for the human.
It no longer does when the answer is only on its way."
  (and (hive-prompt-pending-p prompt)
       (not (gethash (plist-get prompt :ask_id) hive-model--answered))))

;; ISO 8601 in UTC with milliseconds: times compare as strings.
(defun hive-prompt-snoozed-p (prompt)
  "Return non-nil while PROMPT was put away by the human."
  (let ((until (plist-get prompt :snoozed_until)))
    (and until (string< (hive-text-now) until))))

(defun hive-model-set-answered (ask-id answered)
  "Note that the prompt ASK-ID was ANSWERED here, or after all not."
  (let ((prompt (hive-model-get 'prompt ask-id)))
    (hive-model--withdraw prompt)
    (if answered
        (puthash ask-id t hive-model--answered)
      (remhash ask-id hive-model--answered)
      (when (and prompt (hive-prompt-pending-p prompt))
        (hive-model--enter prompt)))
    (hive-changed)))

(defun hive-model--enter (prompt)
  "Let PROMPT be among what waits."
  (push prompt hive-model--fresh)
  (unless (hive-human-mine-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-model--others))
  (when (hive-prompt-snoozed-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-model--snoozed)))

(defun hive-model--withdraw (prompt)
  "Take PROMPT out of what waits."
  (remhash (plist-get prompt :ask_id) hive-model--snoozed)
  (remhash (plist-get prompt :ask_id) hive-model--others)
  (setq hive-model--waiting (delq prompt hive-model--waiting)
        hive-model--fresh (delq prompt hive-model--fresh)))

(defun hive-prompt-flag (prompt key)
  "Return KEY of PROMPT as Lisp has it: nil for false."
  (not (memq (plist-get prompt key) '(nil :json-false))))

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

(defun hive-prompts ()
  "Return what waits for any human, most urgent first, then oldest.
The list is shared: do not modify it."
  (when hive-model--fresh
    (if (cdr hive-model--fresh)
        (setq hive-model--waiting
              (cl-merge 'list hive-model--waiting
                        (hive-model--sorted (nreverse hive-model--fresh))
                        #'hive-prompt-before-p))
      (hive-model--insert (car hive-model--fresh)))
    (setq hive-model--fresh nil))
  hive-model--waiting)

(defun hive-model--sorted (list)
  "Put LIST, which may be modified, in order and return it.
A snapshot comes in order; to see that is cheaper than to sort it."
  (if (cl-loop for (a b) on list
               never (and b (hive-prompt-before-p b a)))
      list
    (sort list #'hive-prompt-before-p)))

(defun hive-prompts-awake ()
  "Return how many wait for the human and were not put away."
  (let ((count (- (length (hive-prompts)) (hash-table-count hive-model--others))))
    (maphash (lambda (id prompt)
               (when (and (hive-prompt-snoozed-p prompt) (not (gethash id hive-model--others)))
                 (setq count (1- count))))
             hive-model--snoozed)
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

(defun hive-model--insert (prompt)
  "Put PROMPT into its place among what waits.
That makes no garbage: sorting or copying thousands for each
arrival would be felt when it is collected."
  (let* ((head (cons nil hive-model--waiting))
         (cell head))
    (while (and (cdr cell) (not (hive-prompt-before-p prompt (cadr cell))))
      (setq cell (cdr cell)))
    (setcdr cell (cons prompt (cdr cell)))
    (setq hive-model--waiting (cdr head))))

(defun hive-model-put-prompt (prompt)
  "Remember PROMPT as the sidecar told it; return non-nil if it newly waits.
What is settled stays settled (invariant 2): news of a pending
prompt that was overtaken by its settlement is dropped."
  (let* ((id (plist-get prompt :ask_id))
         (known (hive-model-get 'prompt id))
         (was-pending (and known (hive-prompt-pending-p known)))
         (pending (hive-prompt-pending-p prompt))
         (waiting (and pending (not (gethash id hive-model--answered)))))
    (unless (and pending known (not was-pending))
      (hive-model-put 'prompt prompt)
      (when known (hive-model--withdraw known))
      (when waiting (hive-model--enter prompt))
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
    (dolist (old (cdr last)) (remhash old (hive-model--table 'prompt)))
    (when last (setcdr last nil))))

(defun hive-prompts-settled (&optional limit)
  "Return what is remembered as settled, newest first, at most LIMIT."
  (cl-loop for id in hive-model--settled
           repeat (or limit hive-model--settled-kept)
           for prompt = (hive-model-get 'prompt id)
           when prompt collect prompt))

(defun hive-model--told (prompt)
  "Take PROMPT, which the sidecar told of its own accord."
  (when hive-model--told-meanwhile
    (push prompt (cdr hive-model--told-meanwhile)))
  (when (hive-model-put-prompt prompt)
    (run-hook-with-args 'hive-arrived-functions prompt)))

(cl-defmethod hive-rpc-notify ((_method (eql 'hivemind-ask)) prompt)
  "Take PROMPT, a new question."
  (hive-model--told prompt))

(cl-defmethod hive-rpc-notify ((_method (eql 'prompt/changed)) prompt)
  "Take PROMPT, a question with which something happened."
  (hive-model--told prompt))

;;;; Snapshot

(defun hive-model-refresh ()
  "Fetch all that waits, page by page, then replace what is known by it."
  (let ((meanwhile (list 'told)))
    (setq hive-model--told-meanwhile meanwhile)
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
     (when (eq meanwhile hive-model--told-meanwhile)
       (let ((pages (cons (plist-get result :prompts) pages))
             (next (plist-get result :next_cursor)))
         (if next
             (hive-model--fetch next pages meanwhile)
           (setq hive-model--told-meanwhile nil)
           (hive-model-replace (apply #'append (mapcar (lambda (page) (append page nil))
                                                       (nreverse pages)))
                               (reverse (cdr meanwhile)))))))
   :error
   (lambda (err)
     (when (eq meanwhile hive-model--told-meanwhile)
       (setq hive-model--told-meanwhile nil)
       (unless (eq (plist-get err :name) 'disconnected)
         (hive-work-log "no snapshot: %S" err)
         (run-at-time 2 nil #'hive-model-refresh))))))

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/resync)) _params)
  "Fetch everything anew: the sidecar lost its place in the log."
  (hive-model-refresh))

(defun hive-model-replace (snapshot &optional told)
  "Let SNAPSHOT, a list of all that waits, replace what is known.
TOLD is what the sidecar told while the snapshot was made, oldest
first; it is applied again on top.  Settled prompts stay known."
  (let* ((old (hive-model--table 'prompt))
         (new (make-hash-table :test #'equal :size (+ 100 (length snapshot)))))
    (dolist (id hive-model--settled)
      (when (gethash id old) (puthash id (gethash id old) new)))
    (setf (alist-get 'prompt hive-model--tables) new
          hive-model--waiting nil
          hive-model--fresh nil)
    (clrhash hive-model--snoozed)
    (clrhash hive-model--others)
    (hive-changed)
    (dolist (prompt snapshot) (hive-model--replace-one prompt old))
    (dolist (prompt told) (hive-model--replace-one prompt old))))

(defun hive-model--replace-one (prompt old)
  "Take PROMPT of a snapshot; OLD is the table of what was known before."
  (let ((known (gethash (plist-get prompt :ask_id) old)))
    ;; What did not change stays the same object: a list that shows it
    ;; need not print it again.
    (when (and (hive-model-put-prompt (if (equal prompt known) known prompt))
               (hive-model--news-p prompt known))
      (run-hook-with-args 'hive-arrived-functions prompt))))

(provide 'hive-model)
;;; hive-model.el ends here
