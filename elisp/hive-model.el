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
(require 'hive-waiting)
(require 'hive-work)

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

(provide 'hive-model)
;;; hive-model.el ends here
