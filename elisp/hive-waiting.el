;;; hive-waiting.el --- What waits for an answer, in order  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The prompts that wait, the most urgent first, then the oldest; and which
;; of them were put away, or are for other humans.  hive-model.el says what
;; enters and leaves; whoever shows what waits asks here.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-text)

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

(defvar hive-waiting--ordered nil "The prompts that wait, in order.")
(defvar hive-waiting--fresh nil "Prompts that wait and are not yet put in order.")
(defvar hive-waiting-snoozed (make-hash-table :test #'equal)
  "What waits and was put away, by id.")
(defvar hive-waiting--others (make-hash-table :test #'equal)
  "What waits for other humans, by id.")

(defun hive-waiting-clear ()
  "Let nothing wait."
  (setq hive-waiting--ordered nil
        hive-waiting--fresh nil)
  (clrhash hive-waiting-snoozed)
  (clrhash hive-waiting--others))

(defun hive-waiting-enter (prompt)
  "Let PROMPT be among what waits."
  (push prompt hive-waiting--fresh)
  (unless (hive-human-mine-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-waiting--others))
  (when (hive-prompt-snoozed-p prompt)
    (puthash (plist-get prompt :ask_id) prompt hive-waiting-snoozed)))

(defun hive-waiting-withdraw (prompt)
  "Take PROMPT out of what waits."
  (remhash (plist-get prompt :ask_id) hive-waiting-snoozed)
  (remhash (plist-get prompt :ask_id) hive-waiting--others)
  (setq hive-waiting--ordered (delq prompt hive-waiting--ordered)
        hive-waiting--fresh (delq prompt hive-waiting--fresh)))

(defun hive-prompts ()
  "Return what waits for any human, most urgent first, then oldest.
The list is shared: do not modify it."
  (when hive-waiting--fresh
    (if (cdr hive-waiting--fresh)
        (setq hive-waiting--ordered
              (cl-merge 'list hive-waiting--ordered
                        (hive-waiting--sorted (nreverse hive-waiting--fresh))
                        #'hive-prompt-before-p))
      (hive-waiting--insert (car hive-waiting--fresh)))
    (setq hive-waiting--fresh nil))
  hive-waiting--ordered)

(defun hive-waiting--sorted (list)
  "Put LIST, which may be modified, in order and return it.
A snapshot comes in order; to see that is cheaper than to sort it."
  (if (cl-loop for (a b) on list
               never (and b (hive-prompt-before-p b a)))
      list
    (sort list #'hive-prompt-before-p)))

(defun hive-waiting--insert (prompt)
  "Put PROMPT into its place among what waits.
That makes no garbage: sorting or copying thousands for each
arrival would be felt when it is collected."
  (let* ((head (cons nil hive-waiting--ordered))
         (cell head))
    (while (and (cdr cell) (not (hive-prompt-before-p prompt (cadr cell))))
      (setq cell (cdr cell)))
    (setcdr cell (cons prompt (cdr cell)))
    (setq hive-waiting--ordered (cdr head))))

(defun hive-prompts-awake ()
  "Return how many wait for the human and were not put away."
  (let ((count (- (length (hive-prompts)) (hash-table-count hive-waiting--others))))
    (maphash (lambda (id prompt)
               (when (and (hive-prompt-snoozed-p prompt) (not (gethash id hive-waiting--others)))
                 (setq count (1- count))))
             hive-waiting-snoozed)
    count))

(defun hive-prompts-first ()
  "Return the human's most urgent prompt that was not put away, or nil."
  (cl-find-if-not (lambda (prompt)
                    (or (hive-prompt-snoozed-p prompt)
                        (gethash (plist-get prompt :ask_id) hive-waiting--others)))
                  (hive-prompts)))

(defun hive-prompts-mine ()
  "Return what waits for the human and not for others, in order.
The list may be shared: do not modify it."
  (if (zerop (hash-table-count hive-waiting--others))
      (hive-prompts)
    (cl-remove-if (lambda (prompt) (gethash (plist-get prompt :ask_id) hive-waiting--others))
                  (hive-prompts))))

(provide 'hive-waiting)
;;; hive-waiting.el ends here
