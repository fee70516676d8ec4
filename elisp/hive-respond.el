;;; hive-respond.el --- Answering agents from the minibuffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-respond' picks a question that waits and answers it.  Every answer
;; goes through the outbox, so it is on the disk before you read "queued".

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; Answering agents from the minibuffer

;;;; Answering

(defun hive-respond-seen (prompt)
  "Record that the human opened PROMPT; nobody waits for that."
  (unless (plist-get prompt :seen_at)
    (hive-rpc-request 'prompt/seen (list :ask_id (plist-get prompt :ask_id)))))

(defun hive-respond-claim (prompt)
  "Let others see that the human is at PROMPT; nobody waits for that."
  (hive-respond-seen prompt)
  (when (hive-prompt-pending-p prompt)
    (hive-rpc-request 'prompt/claim (list :ask_id (plist-get prompt :ask_id)
                                          :by (hive-human-name)))))

(defun hive-respond-release (prompt)
  "Let others have PROMPT: the human has left it without an answer."
  (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
    (when (and now (hive-prompt-waiting-p now))
      (hive-rpc-request 'prompt/release (list :ask_id (plist-get prompt :ask_id))))))

(defun hive-respond-empty-p (answer)
  "Return non-nil when ANSWER is empty."
  (and (not (plist-get answer :selected))
       (string-blank-p (plist-get answer :decision))))

(defun hive-respond-text (answer)
  "Return the text of ANSWER: what was chosen or typed, then the comment.
ANSWER is a plist of :decision, :selected and :comment."
  (let ((selected (append (plist-get answer :selected) nil))
        (comment (plist-get answer :comment)))
    (string-trim (concat (if selected (string-join selected ", ") (plist-get answer :decision))
                         (if comment (concat "\n" comment) "")))))

(defun hive-respond-params (prompt answer)
  "Return the params of the request by which ANSWER is given to PROMPT.
ANSWER is a plist of :decision, :selected and :comment."
  (let ((selected (plist-get answer :selected))
        (comment (plist-get answer :comment))
        (store (plist-get hive-sidecar-info :store_id)))
    `( :ask_id ,(plist-get prompt :ask_id)
       :decision ,(hive-text-sendable (plist-get answer :decision))
       ,@(when selected (list :selected selected))
       ,@(when comment (list :comment (hive-text-sendable comment)))
       :by ,(hive-human-name)
       :response_id ,(hive-rpc-new-id)
       ,@(when store (list :store_id store)))))

(defun hive-respond-send (prompt answer)
  "Put ANSWER to PROMPT into the outbox and say so.
ANSWER is a plist of :decision, :selected and :comment."
  (let ((ask-id (plist-get prompt :ask_id)) (text (hive-respond-text answer)))
    (hive-outbox-add ask-id "hivemind-response" (hive-respond-params prompt answer) text)
    (hive-respond--say-queued prompt text)))

(defun hive-respond--say-queued (prompt text)
  "Say that an answer to PROMPT, as it was when it was opened, is on its way.
When the question was settled while the human typed, say that
instead, and keep TEXT in the kill ring."
  (let ((fate (hive-respond-meanwhile prompt)))
    (cond ((not (hive-prompt-pending-p prompt))
           (hive-say 'late-answer-queued))
          ((null fate) (hive-say 'answer-queued))
          (t
           (unless (string-empty-p text) (kill-new text))
           (hive-say 'answer-queued-closed fate)))))

;;;; What became of a question

(defun hive-respond-meanwhile (prompt)
  "Return what became of PROMPT since it was opened, in words, or nil."
  (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
    (when (and now (hive-prompt-pending-p prompt) (not (hive-prompt-pending-p now)))
      (hive-respond-fate now))))

(defun hive-respond-still (prompt)
  "Return how PROMPT, as it was when it was opened, stands now, as a clause."
  (let ((fate (hive-respond-meanwhile prompt)))
    (cond (fate (hive-words 'already-closed fate))
          ((hive-prompt-pending-p prompt) (hive-words 'still-pending))
          (t (hive-words 'stays-closed (hive-respond-fate prompt))))))

(defun hive-respond-open (prompt)
  "Return PROMPT as it is known now, so that it can be answered.
Signal a `user-error' when it has an answer, which no other replaces."
  (let* ((known (hive-model-prompt (plist-get prompt :ask_id)))
         ;; A list of what is settled may show more than is remembered.
         (now (if (and known (or (hive-prompt-pending-p prompt)
                                 (not (hive-prompt-pending-p known))))
                  known
                prompt))
         (answer (if (equal (plist-get now :status) "responded") now
                   (plist-get now :late_response)))
         (by (plist-get answer :by))
         (question (hive-text-line (plist-get now :question) 60))
         (decision (hive-text-line (plist-get answer :decision) 40)))
    (cond
     ((and answer (not (equal by (hive-human-name))))
      (hive-fail 'answered-by-other (hive-text-line by 40) question decision))
     ((and answer (plist-get now :handed_at))
      (hive-fail 'answered-handed question decision
                 (hive-text-line (plist-get now :agent) 40)))
     (answer
      (hive-fail 'answered-amendable question decision))
     ((and (hive-prompt-pending-p now) known (not (hive-prompt-waiting-p known)))
      (hive-fail 'answer-unstored question))
     (t now))))

(defun hive-respond-fate (prompt)
  "Return what became of PROMPT, in words."
  (pcase (plist-get prompt :status)
    ("responded" (hive-words 'fate-answered (hive-text-line (plist-get prompt :by) 40)))
    ("expired" (hive-words 'fate-expired))
    ("cancelled" (hive-words 'fate-cancelled))
    (_ (hive-words 'fate-closed))))

(defun hive-respond--acked (entry result)
  "Say what became of the answer in ENTRY, according to RESULT."
  (let ((agent (hive-text-line (plist-get result :agent) 40))
        (decision (hive-text-line (plist-get result :decision) 60)))
    (cond
     ((not (equal (hive-entry-method entry) "hivemind-response"))) ; no answer
     ((hive-rpc-true-p result :accepted)
      (hive-announce 'answered agent decision))
     ((hive-rpc-true-p result :late)
      (hive-announce 'answered-late agent agent))
     (t
      (hive-announce 'answered-second agent (hive-text-line (plist-get result :by) 40)
                     decision)))))

(add-hook 'hive-outbox-acked-functions #'hive-respond--acked)

;;;###autoload
(defun hive-answer-prompt (prompt &optional comment)
  "Answer PROMPT, a plist of the model, in the minibuffer.
With options: complete one, or several where the agent allows
several; otherwise type your answer.  With COMMENT, ask for a
comment too.  \\<minibuffer-local-map>\\[abort-recursive-edit] leaves the question as it is.
What has an answer is refused; what is past its time or cancelled
is answered late."
  (setq prompt (hive-respond-open prompt))
  (hive-respond-claim prompt)
  (unwind-protect
      (let ((answer (hive-read-answer prompt)))
        (when (hive-respond-empty-p answer)
          (hive-fail 'no-answer (hive-respond-still prompt)))
        (when comment
          (setq answer (plist-put answer :comment
                                  ;; Words beside chosen options are one already.
                                  (read-string (hive-words 'which-comment) (plist-get answer :comment)))))
        (hive-respond-send prompt answer))
    (hive-respond-release prompt)))

;;;###autoload
(defun hive-respond (&optional comment)
  "Answer a question of an agent.
When several wait, choose one first: the most urgent and oldest is
the default; what you put away is not among them.  With a prefix
argument COMMENT, add a comment.  Your answer is on the disk before
Emacs says so, and reaches the agent even if Emacs or the sidecar
dies."
  (interactive "P")
  (let ((prompts (cl-remove-if #'hive-prompt-snoozed-p (hive-prompts-mine))))
    (cond
     ((null prompts)
      (hive-sidecar-demand)
      (hive-say 'none-pending (hive-respond-others)))
     ((null (cdr prompts)) (hive-answer-prompt (car prompts) comment))
     (t (hive-answer-prompt (hive-read-prompt prompts) comment)))))

(defun hive-respond-others ()
  "Return how many wait that were not offered, as the end of a sentence."
  (let* ((mine (hive-prompts-mine))
         (others (- (length (hive-prompts)) (length mine)))
         (away (cl-count-if #'hive-prompt-snoozed-p mine))
         (parts (delq nil (list (and (> away 0) (hive-words 'count-snoozed away))
                                (and (> others 0) (hive-words 'count-for-others others))))))
    (if parts (hive-words 'others-pending (string-join parts ", ")) "")))

(defun hive-cancel-prompt (prompt)
  "Cancel PROMPT, a plist of the model: its agent gets no answer."
  (let ((agent (hive-text-line (plist-get prompt :agent) 40)))
    (hive-rpc-request
     'prompt/cancel (list :ask_id (plist-get prompt :ask_id) :by (hive-human-name))
     :success (lambda (result)
                (if (hive-rpc-true-p result :accepted)
                    (hive-announce 'cancelled agent)
                  (hive-announce 'cancel-late agent
                                 (hive-respond-fate (plist-get result :prompt)))))
     :error (lambda (err)
              (hive-announce 'cancel-failed (hive-text-line (plist-get err :text) 200))))))

;;;; Questions put away for a while

;; A question that was put away is not counted, not offered and not told of
;; until its time has come; then it comes back by itself, as if it had just
;; arrived.  Its agent goes on waiting all the while.  Putting away what is
;; away already brings it back at once.

(defcustom hive-snooze-minutes 30
  "For how many minutes \\`s' puts a question away.
The same key on one that is away brings it back."
  :type 'natnum
  :group 'hive)

(defun hive-snooze-prompt (prompt &optional minutes)
  "Put PROMPT away for MINUTES, by default `hive-snooze-minutes'.
It comes back by itself; its agent goes on waiting.  One that is
away already comes back now, unless MINUTES are given: it then
stays away for so long.  Return non-nil if it is put away."
  (hive-sidecar-demand)
  (let* ((id (plist-get prompt :ask_id))
         (back (and (null minutes)
                    (hive-prompt-snoozed-p (or (hive-model-prompt id) prompt))))
         (minutes (or minutes hive-snooze-minutes)))
    (hive-rpc-request
     'prompt/snooze (list :ask_id id
                          :until (unless back (hive-text-before (* -60 minutes))))
     :error (lambda (err)
              (hive-announce (if back 'unsnooze-failed 'snooze-failed)
                             (hive-text-line (plist-get err :text) 200))))
    (let ((agent (hive-text-line (plist-get prompt :agent) 40)))
      (if back (hive-say 'unsnoozed agent)
        (hive-say 'snoozed agent (hive-count minutes "minute"))))
    (not back)))

(defvar hive-respond--timer nil "The timer of the next return, or nil.")
(defvar hive-respond--next nil "When that is, as the wire writes it.")

(defun hive-respond--plan ()
  "Wait for the question that comes back first."
  (let (next)
    (maphash (lambda (_ prompt)
               (let ((until (plist-get prompt :snoozed_until)))
                 (when (or (null next) (string< until next)) (setq next until))))
             hive-waiting-snoozed)
    (unless (equal next hive-respond--next)
      (when hive-respond--timer (cancel-timer hive-respond--timer))
      (setq hive-respond--next next
            hive-respond--timer
            (and next (run-at-time (max 0 (- (hive-text-seconds next) (float-time)))
                                   nil #'hive-respond--wake))))))

(defun hive-respond--wake ()
  "Let the questions come back whose time has come."
  (setq hive-respond--timer nil
        hive-respond--next nil)
  (let (back)
    (maphash (lambda (id prompt)
               (unless (hive-prompt-snoozed-p prompt) (push (cons id prompt) back)))
             hive-waiting-snoozed)
    (pcase-dolist (`(,id . ,prompt) back)
      (remhash id hive-waiting-snoozed)
      (run-hook-with-args 'hive-arrived-functions prompt)))
  (hive-changed))

(add-hook 'hive-changed-hook #'hive-respond--plan)

(provide 'hive-respond)
;;; hive-respond.el ends here
