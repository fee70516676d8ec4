;;; hive-respond.el --- Answering, correcting, cancelling and snoozing  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-respond' answers a pending question in the minibuffer, and
;; `hive-amend' corrects a recent answer.  Every answer goes through the
;; outbox, so it is on disk before you read "queued".  The other ways to
;; answer use the functions here; so do the commands that cancel and snooze.

;;; Code:

(require 'cl-lib)
(require 'hive-display)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-text)
(require 'seq)
(require 'subr-x)

;;;; Seen and claimed

(defun hive-respond-seen (prompt)
  "Record, asynchronously, that the human opened PROMPT."
  (unless (plist-get prompt :seen_at)
    (hive-rpc-request 'prompt/seen (list :ask_id (plist-get prompt :ask_id)))))

(defun hive-respond-claim (prompt)
  "Show other humans, asynchronously, that this one is answering PROMPT."
  (hive-respond-seen prompt)
  (when (hive-prompt-pending-p prompt)
    (hive-rpc-request 'prompt/claim (list :ask_id (plist-get prompt :ask_id)
                                          :by (hive-human-name)))))

(defun hive-respond-release (prompt)
  "Release PROMPT, which the human left without an answer."
  (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
    (when (and now (hive-prompt-unanswered-p now))
      (hive-rpc-request 'prompt/release (list :ask_id (plist-get prompt :ask_id))))))

;;;; Sending an answer

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
  "Return the request parameters for ANSWER to PROMPT.
ANSWER is a plist of :decision, :selected and :comment.  Signal a
`user-error' if it may allow something that was not displayed in full."
  (hive-permission-demand prompt answer)
  (let ((selected (plist-get answer :selected))
        (comment (plist-get answer :comment))
        (digest (and (hive-permission-grant-p prompt answer) (hive-display-digest prompt)))
        (store (plist-get hive-sidecar-info :store_id)))
    `( :ask_id ,(plist-get prompt :ask_id)
       :decision ,(hive-text-sendable (plist-get answer :decision))
       ,@(when selected (list :selected selected))
       ,@(when comment (list :comment (hive-text-sendable comment)))
       ,@(when digest (list :displayed_digest digest))
       :by ,(hive-human-name)
       :response_id ,(hive-rpc-new-id)
       ,@(when store (list :store_id store)))))

(defun hive-respond-send (prompt answer)
  "Put ANSWER to PROMPT into the outbox and report that.
ANSWER is a plist of :decision, :selected and :comment."
  (let ((ask-id (plist-get prompt :ask_id)) (text (hive-respond-text answer)))
    (hive-outbox-add ask-id "hivemind-response" (hive-respond-params prompt answer) text)
    (hive-respond--say-queued prompt text)))

(defun hive-respond--say-queued (prompt text)
  "Report that an answer to PROMPT is queued.
PROMPT is as it was when it was opened.  If it was settled while the
human typed, report that, and put TEXT into the kill ring."
  (let ((fate (hive-respond-meanwhile prompt)))
    (cond ((not (hive-prompt-pending-p prompt))
           (hive-say 'late-answer-queued))
          ((null fate) (hive-say 'answer-queued))
          (t
           (unless (string-empty-p text) (kill-new text))
           (if (hive-respond-lost-p prompt)
               (hive-say 'answer-queued-lost fate)
             (hive-say 'answer-queued-closed fate))))))

;;;; What happened to a question

(defun hive-respond-meanwhile (prompt)
  "Return how PROMPT was settled since it was opened, in words, or nil."
  (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
    (when (and now (hive-prompt-pending-p prompt) (not (hive-prompt-pending-p now)))
      (hive-respond-fate now))))

(defun hive-respond-lost-p (prompt)
  "Return non-nil if PROMPT has an answer by now, so that no other is accepted."
  (equal "responded" (plist-get (hive-model-prompt (plist-get prompt :ask_id)) :status)))

(defun hive-respond-still (prompt)
  "Return the current state of PROMPT, as a clause.
PROMPT is as it was when it was opened."
  (let ((fate (hive-respond-meanwhile prompt)))
    (cond (fate (hive-words 'already-closed fate))
          ((hive-prompt-pending-p prompt) (hive-words 'still-pending))
          (t (hive-words 'stays-closed (hive-respond-fate prompt))))))

(defun hive-respond-open (prompt)
  "Return the current state of PROMPT, so that it can be answered.
Signal a `user-error' if it is already answered."
  (let* ((known (hive-model-prompt (plist-get prompt :ask_id)))
         ;; A list of settled questions may show more than the model has.
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
     ((and (hive-prompt-pending-p now) known (not (hive-prompt-unanswered-p known)))
      (hive-fail 'answer-unstored question))
     (t now))))

(defun hive-respond-fate (prompt)
  "Return how PROMPT was settled, in words."
  (pcase (plist-get prompt :status)
    ("responded" (hive-words 'fate-answered (hive-text-by prompt 40)))
    ("expired" (hive-words 'fate-expired))
    ("cancelled" (hive-words 'fate-cancelled))
    (_ (hive-words 'fate-closed))))

(defun hive-respond--acked (entry result)
  "Report what happened to the answer in ENTRY, with RESULT."
  (let ((agent (hive-text-line (plist-get result :agent) 40))
        (decision (hive-text-line (plist-get result :decision) 60)))
    (cond
     ((not (equal (hive-entry-method entry) "hivemind-response"))) ; not an answer
     ((hive-rpc-true-p result :accepted)
      (hive-announce 'answered agent decision))
     ((hive-rpc-true-p result :late)
      (hive-announce 'answered-late agent))
     (t
      (hive-announce 'answered-second agent (hive-text-by result 40)
                     decision)))))

(add-hook 'hive-outbox-acked-functions #'hive-respond--acked)

;;;; Commands

;;;###autoload
(defun hive-answer-prompt (prompt &optional comment)
  "Answer PROMPT, a plist of the model, in the minibuffer.
With options: complete one, or several where the agent allows
several; otherwise type your answer.  With COMMENT, ask for a
comment too.  \\<minibuffer-local-map>\\[abort-recursive-edit] quits without an answer.
A question that is already answered is refused; one that is expired or
cancelled gets a late answer."
  (setq prompt (hive-respond-open prompt))
  (hive-respond-claim prompt)
  (unwind-protect
      (let ((answer (hive-read-answer prompt)))
        (when (hive-respond-empty-p answer)
          (hive-fail 'no-answer (hive-respond-still prompt)))
        (when comment
          (setq answer (plist-put answer :comment
                                  ;; Free text beside chosen options is a comment already.
                                  (read-string (hive-words 'which-comment) (plist-get answer :comment)))))
        (hive-respond-send prompt answer))
    (hive-respond-release prompt)))

;;;###autoload
(defun hive-respond (&optional comment)
  "Answer a question of an agent.
If several are pending, choose one first; the most urgent and oldest
is the default, and snoozed ones are left out.  With a prefix argument
COMMENT, add a comment.  Your answer is on disk before Emacs says so,
and reaches the agent even if Emacs or the sidecar crashes."
  (interactive "P")
  (let ((prompts (cl-remove-if #'hive-prompt-snoozed-p (hive-prompts-mine))))
    (cond
     ((null prompts)
      (hive-sidecar-demand)
      (hive-say 'none-pending (hive-respond-others)))
     ((null (cdr prompts)) (hive-answer-prompt (car prompts) comment))
     (t (hive-answer-prompt (hive-read-prompt prompts) comment)))))

(defun hive-respond-others ()
  "Return the counts of questions not offered, as the end of a sentence."
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

;;;; Snoozing

;; A snoozed question is not counted, offered or announced until its time has
;; come; then it returns as if it had just arrived.  Its agent keeps waiting.
;; Snoozing it again un-snoozes it.

(defcustom hive-snooze-minutes 30
  "For how many minutes \\`s' snoozes a question.
The same key un-snoozes one that is snoozed."
  :type 'natnum
  :group 'hive)

(defun hive-snooze-prompt (prompt &optional minutes)
  "Snooze PROMPT for MINUTES, by default `hive-snooze-minutes'.
It returns by itself; its agent keeps waiting.  If it is snoozed
already, un-snooze it, or with MINUTES, snooze it for that long.
Return non-nil if it is snoozed."
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

(defvar hive-respond--timer nil "The timer of the next end of a snooze, or nil.")
(defvar hive-respond--next nil "The time of that end, in the format of the sidecar.")

(defun hive-respond--plan ()
  "Set the timer for the snooze that ends first."
  (let (next)
    (maphash (lambda (_ prompt)
               (let ((until (plist-get prompt :snoozed_until)))
                 (when (or (null next) (string< until next)) (setq next until))))
             hive-model-snoozed)
    (unless (equal next hive-respond--next)
      (when hive-respond--timer (cancel-timer hive-respond--timer))
      (setq hive-respond--next next
            hive-respond--timer
            (and next (run-at-time (max 0 (- (hive-text-seconds next) (float-time)))
                                   nil #'hive-respond--wake))))))

(defun hive-respond--wake ()
  "Un-snooze the questions whose time has come."
  (setq hive-respond--timer nil
        hive-respond--next nil)
  (let (back)
    (maphash (lambda (id prompt)
               (unless (hive-prompt-snoozed-p prompt) (push (cons id prompt) back)))
             hive-model-snoozed)
    (pcase-dolist (`(,id . ,prompt) back)
      (remhash id hive-model-snoozed)
      (run-hook-with-args 'hive-arrived-functions prompt)))
  (hive-changed))

(add-hook 'hive-changed-hook #'hive-respond--plan)

;;;; Correcting an answer

;; Your own answer, including a late one, can be corrected until it has been
;; delivered to its agent.  Like an answer, a correction goes through the
;; outbox: it is on disk before Emacs reports anything, and one that is
;; rejected is kept.

(defconst hive-respond--amend-shown 30 "How many recent answers are offered.")

(defun hive-respond--amend-standing (prompt)
  "Return the current answer to PROMPT, or nil.
It is a plist with :decision, :comment and :by; it may be late."
  (if (equal (plist-get prompt :status) "responded") prompt
    (plist-get prompt :late_response)))

(defun hive-respond--amend-mine-p (prompt)
  "Return non-nil if the human gave the current answer to PROMPT."
  (let ((standing (hive-respond--amend-standing prompt)))
    (and standing (equal (plist-get standing :by) (hive-human-name)))))

(defun hive-respond--amend-line (prompt)
  "Return the completion candidate for PROMPT."
  (format "%s: %s → %s%s"
          (hive-text-agent prompt 24)
          (hive-text-line (plist-get prompt :question) 60)
          (hive-text-line (plist-get (hive-respond--amend-standing prompt) :decision) 40)
          (cond ((plist-get prompt :handed_at) (hive-words 'amend-handed))
                ((plist-get prompt :late_response) (hive-words 'amend-late))
                (t ""))))

(defun hive-respond--amend-choose (answered)
  "Let the human choose one of the questions ANSWERED."
  (let* ((alist (hive-read-candidates answered #'hive-respond--amend-line))
         (line (completing-read (hive-words 'which-correct) (mapcar #'car alist) nil t)))
    (cdr (assoc line alist))))

(defun hive-respond--amend-former-comment (prompt)
  "Return the comment of the last answer to PROMPT, or nil.
A correction that is not stored yet is newer than the stored answer."
  (let ((unsent (cl-find-if (lambda (entry)
                              (and (equal (hive-entry-method entry) "prompt/amend")
                                   (equal (hive-entry-ask-id entry)
                                          (plist-get prompt :ask_id))))
                            (hive-outbox-entries 'pending) :from-end t)))
    (plist-get (if unsent (hive-entry-params unsent) (hive-respond--amend-standing prompt))
               :comment)))

(defun hive-respond--amend-read (prompt ask)
  "Read a new answer to PROMPT, and a comment if there was one or if ASK.
The former comment can be kept, edited or deleted; what was typed
in addition to an option is appended to it."
  (let* ((lead (hive-words 'correct-answer-to (hive-text-line (plist-get prompt :agent) 30)))
         (answer (hive-read-answer (append (list :lead lead) prompt)))
         (former (hive-respond--amend-former-comment prompt)))
    (when (hive-respond-empty-p answer)
      (hive-fail 'amend-nothing))
    (when (or former ask)
      (let ((comment (read-string (hive-words 'amend-comment)
                                  (string-join (delq nil (list former (plist-get answer :comment)))
                                               "\n"))))
        (setq answer (plist-put answer :comment
                                (unless (string-blank-p comment) comment)))))
    answer))

(defun hive-respond--amend-correct (prompt ask)
  "Read a new answer to PROMPT and send it; with ASK, ask for a comment too."
  (when (plist-get prompt :handed_at)
    (hive-fail 'amend-too-late (hive-text-line (plist-get prompt :agent) 40)
               (hive-text-age (plist-get prompt :handed_at))))
  (let ((answer (hive-respond--amend-read prompt ask)))
    (hive-outbox-add (plist-get prompt :ask_id) "prompt/amend"
                     (hive-respond-params prompt answer) (hive-respond-text answer))
    (hive-say 'amend-queued)))

(defun hive-respond--amend-acked (entry result)
  "Report that the correction in ENTRY was stored, with RESULT."
  (when (equal (hive-entry-method entry) "prompt/amend")
    (hive-announce 'amended
                   (hive-text-line (plist-get (hive-respond--amend-standing (plist-get result :prompt))
                                              :decision)
                                   60))))

(defun hive-respond--amend-rejected (entry)
  "Report why the correction in ENTRY was rejected; put it into the kill ring."
  (when (equal (hive-entry-method entry) "prompt/amend")
    (kill-new (hive-respond-text (hive-entry-params entry)))
    (hive-announce 'amend-rejected (hive-text-line (hive-entry-text entry) 200))))

(add-hook 'hive-outbox-acked-functions #'hive-respond--amend-acked)
(add-hook 'hive-outbox-rejected-functions #'hive-respond--amend-rejected)

;;;###autoload
(defun hive-amend (&optional comment)
  "Correct one of your answers that its agent has not received yet.
The event log keeps both answers.  You choose among your recent
answers that this Emacs knows, including late ones.  You can edit a
comment; with a prefix argument COMMENT, you can also add one.  The
correction is on disk before Emacs says so; one that comes too late
is kept, with the reason."
  (interactive "P")
  (let ((mine (cl-remove-if-not #'hive-respond--amend-mine-p (hive-prompts-settled))))
    (unless mine (hive-fail 'amend-none))
    (hive-respond--amend-correct (hive-respond--amend-choose (seq-take mine hive-respond--amend-shown)) comment)))

(provide 'hive-respond)
;;; hive-respond.el ends here
