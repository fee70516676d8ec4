;;; hive-respond.el --- Answering, cancelling and snoozing  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-respond' answers a pending question in the minibuffer (hive-read.el).
;; Every answer goes through the outbox (hive-outbox.el), so it is on disk
;; before you read "queued".  The other ways to answer use the functions here;
;; so do the commands that cancel and snooze.

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
(require 'subr-x)

(declare-function hive-batch-answer "hive-batch")
(declare-function hive-compose-note-id "hive-compose")

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
        (digest (and (hive-permission-allows-p prompt answer) (hive-display-digest prompt)))
        (store (plist-get hive-sidecar-info :store_id)))
    `( :ask_id ,(plist-get prompt :ask_id)
       :decision ,(hive-text-sendable (plist-get answer :decision))
       ,@(when selected (list :selected selected))
       ,@(when comment (list :comment (hive-text-sendable comment)))
       ,@(when digest (list :displayed_digest digest))
       :by ,(hive-human-name)
       :response_id ,(hive-rpc-new-id)
       ,@(when store (list :store_id store)))))

;; One of two things guards against a key pressed by mistake, never both: the
;; answer is delayed, or it is confirmed.

(defcustom hive-undo-seconds 3
  "For how many seconds an answer can be taken back before it is sent.
A number applies to answers that allow an agent something; other answers
are then sent at once.  An alist gives the seconds for answers that allow
something, for those that refuse a permission, and for answers to
questions.  With 0, an answer that allows something is sent at once, but
a single key does not suffice: Emacs asks first.  The agent notices
nothing of an answer that is taken back with \\[hive-undo]."
  :type '(choice (number :tag "Seconds for answers that allow something")
                 (alist :key-type (choice (const allow) (const refuse) (const answer))
                        :value-type number))
  :group 'hive)

(defconst hive-respond--margin 5
  "Seconds between the end of the delay and the time limit of a question.")

(defun hive-respond-undo-delay (prompt answer)
  "Return for how many seconds ANSWER to PROMPT is delayed, or nil.
An answer is not delayed if another human is about to answer, and it is
sent before the question expires."
  (let* ((kind (cond ((not (hive-permission-p prompt)) 'answer)
                     ((hive-permission-allows-p prompt answer) 'allow)
                     (t 'refuse)))
         (wanted (if (numberp hive-undo-seconds)
                     (if (eq kind 'allow) hive-undo-seconds 0)
                   (or (alist-get kind hive-undo-seconds) 0)))
         (expires (hive-text-seconds (plist-get prompt :expires_at)))
         (seconds (if expires (min wanted (- expires (hive-now) hive-respond--margin)) wanted)))
    (and (> seconds 0)
         (hive-prompt-pending-p prompt)
         (not (hive-human-claimer (or (hive-model-prompt (plist-get prompt :ask_id)) prompt)))
         seconds)))

(defun hive-respond-confirmed-p (prompt answer)
  "Return non-nil if ANSWER to PROMPT must be confirmed before it is given.
It is if it may allow something and is not delayed.  Signal a
`user-error' if it may allow what was not displayed in full."
  (when (hive-permission-allows-p prompt answer)
    (hive-permission-demand prompt answer)
    (not (hive-respond-undo-delay prompt answer))))

(defun hive-respond-confirm (prompt answer)
  "Let the human confirm ANSWER to PROMPT, if it must be; signal if they do not."
  (when (and (hive-respond-confirmed-p prompt answer)
             (not (y-or-n-p (hive-words "This is a PERMISSION.  Answer \"%s\"? "
                                        (hive-text-line (plist-get answer :decision) 60)))))
    (hive-fail 'no-answer (hive-respond-still prompt))))

(defvar hive-respond-delayed-hook nil "Run when an answer was given that is delayed before it is sent.")

(defun hive-respond-send (prompt answer)
  "Put ANSWER to PROMPT into the outbox and report that.
ANSWER is a plist of :decision, :selected and :comment."
  (let ((ask-id (plist-get prompt :ask_id)) (text (hive-respond-text answer))
        (delay (hive-respond-undo-delay prompt answer)))
    (hive-outbox-add ask-id "hivemind-response" (hive-respond-params prompt answer) text nil delay)
    (if delay (run-hooks 'hive-respond-delayed-hook)
      (hive-respond--say-queued prompt text))))

(defun hive-respond--say-queued (prompt text)
  "Report that an answer to PROMPT is queued.
PROMPT is as it was when it was opened.  If it was settled while the
human typed, report that, and put TEXT into the kill ring."
  (let ((fate (hive-respond-settled-since prompt)))
    (cond ((not (hive-prompt-pending-p prompt))
           (hive-say "Late answer queued"))
          ((null fate) (hive-say "Answer queued"))
          (t
           (unless (string-empty-p text) (kill-new text))
           (if (hive-respond-lost-p prompt)
               (hive-say
                "This question is already %s, so your answer will not count; it is still sent, and its text is in the kill ring"
                fate)
             (hive-say
              "This question is already %s; your answer will be stored as late.  Its text is in the kill ring"
              fate))))))

;;;; The fate of a question

(defun hive-respond-settled-since (prompt)
  "Return what happened to PROMPT since it was opened, in words, or nil.
It was settled, or left to the terminal of its agent."
  (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
    (when (hive-prompt-pending-p prompt)
      (cond ((null now)
             ;; A new connection has fetched what is pending, without it.
             (when (and (hive-sidecar-connected-p) (hive-model-complete-p)) (hive-respond-fate nil)))
            ((or (not (hive-prompt-pending-p now)) (hive-prompt-in-terminal-p now))
             (hive-respond-fate now))))))

(defun hive-respond-lost-p (prompt)
  "Return non-nil if PROMPT takes no answer from here any more."
  (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
    (or (equal "responded" (plist-get now :status)) (hive-prompt-in-terminal-p now))))

(defun hive-respond-still (prompt)
  "Return the current state of PROMPT, as a clause.
PROMPT is as it was when it was opened."
  (let ((fate (hive-respond-settled-since prompt)))
    (cond (fate (hive-words "the question is already %s" fate))
          ((hive-prompt-pending-p prompt) (hive-words "still pending"))
          (t (hive-words "the question stays %s" (hive-respond-fate prompt))))))

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
      (hive-fail "%s already answered \"%s\": %s" (hive-text-line by 40) question decision))
     ((and answer (plist-get now :handed_at))
      (hive-fail
       "You answered \"%s\": %s; this answer was already delivered to %s, so send a message instead"
       question decision
       (hive-text-title now 40)))
     (answer
      (hive-fail "You already answered \"%s\": %s; M-x hive-amend corrects it" question decision))
     ((hive-prompt-in-terminal-p now)
      (hive-fail "\"%s\" waits in the terminal of %s; answer it there (j in the list goes to it)"
                 question (hive-text-title now 40)))
     ((and (hive-prompt-pending-p now) known (not (hive-prompt-unanswered-p known)))
      (hive-fail
       "Your answer to \"%s\" is not stored yet; once it is, M-x hive-amend corrects it" question))
     (t now))))

(defun hive-respond-fate (prompt)
  "Return how PROMPT was settled, or that it was left to its terminal, in words."
  (pcase (plist-get prompt :status)
    ((guard (hive-prompt-in-terminal-p prompt)) (hive-words "left to its terminal"))
    ("responded" (hive-words "answered by %s" (hive-text-by prompt 40)))
    ("expired" (hive-words 'fate-expired))
    ((guard (equal "answered_elsewhere" (plist-get prompt :cancel_reason))) (hive-words "answered elsewhere"))
    ("cancelled" (hive-words 'fate-cancelled))
    (_ (hive-words "closed"))))

(defun hive-respond--stored (entry result)
  "Take RESULT of the answer in ENTRY: note it in the model, and report it."
  (when (equal (hive-outbox-entry-method entry) "hivemind-response")
    (when (hive-rpc-true-p result :accepted) (hive-respond--settled entry result))
    (unless (hive-outbox-entry-report entry) (hive-respond--report entry result))))

(add-hook 'hive-outbox-stored-functions #'hive-respond--stored)

(defun hive-respond--settled (entry result)
  "Note in the model that the answer in ENTRY settled its question, with RESULT.
The notification comes a moment later; `hive-amend' may be quicker."
  (let ((prompt (hive-model-prompt (hive-outbox-entry-ask-id entry)))
        (params (hive-outbox-entry-params entry)))
    (when (and prompt (hive-prompt-pending-p prompt))
      (hive-model-put-prompt
       (append (list :status "responded" :decision (plist-get result :decision)
                     :selected (plist-get params :selected) :comment (plist-get params :comment)
                     :by (plist-get result :by) :via (plist-get result :via)
                     :attested (plist-get result :attested)
                     :responded_at (plist-get result :responded_at))
               prompt)))))

(defun hive-respond--report (entry result)
  "Report RESULT, what happened to the answer in ENTRY."
  (let ((agent (hive-text-title result 40))
        (decision (hive-text-line (plist-get result :decision) 60)))
    (cond
     ((hive-rpc-true-p result :accepted)
      (hive-notify-answered (hive-words 'answered agent decision)))
     ((hive-rpc-true-p result :late)
      (hive-announce (if (hive-permission-of-client-p (hive-model-prompt (hive-outbox-entry-ask-id entry)))
                         "Your answer to %s came too late: its client no longer asks, so it decides nothing"
                       "Your answer to %s came late; it is stored, and the agent will see it")
                     agent))
     (t
      (hive-announce
       "Your answer to %s was not accepted; %s answered first: %s" agent (hive-text-by result 40)
       decision)))))

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
      (hive-read-with-draft prompt
        (lambda ()
          (let ((answer (hive-read-answer prompt)))
            (when (hive-respond-empty-p answer)
              (hive-fail 'no-answer (hive-respond-still prompt)))
            (if comment (hive-respond--comment prompt answer)
              (hive-respond-send prompt answer)
              'answered))))
    (hive-respond-release prompt)))

(defun hive-respond--comment (prompt answer)
  "Read a comment on ANSWER, and answer PROMPT with both.
A half-typed comment is a draft with the options of ANSWER.  Without
options, the answer itself is that draft, and the comment another one."
  (let ((chosen (append (plist-get answer :selected) nil)))
    (hive-read-with-draft (and chosen prompt)
      (lambda ()
        (let ((words (hive-read-words (hive-words "Comment: ")
                                      ;; Free text with chosen options is a comment already.
                                      (or (plist-get answer :comment) hive-read-typed))))
          (hive-respond-send prompt (plist-put answer :comment words))
          'answered))
      (if chosen (plist-get prompt :ask_id) (hive-compose-note-id (plist-get prompt :ask_id)))
      chosen)))

;;;###autoload
(defun hive-respond (&optional comment)
  "Answer a question of an agent.
If several are pending, choose one first; the most urgent and oldest
is the default, and snoozed ones are left out.  Questions that are
alike are also offered together.  With a prefix argument COMMENT, add
a comment to the answer to a single one.  Your answer is on disk before
Emacs says so, and reaches the agent even if Emacs or the sidecar crashes."
  (interactive "P")
  (let ((prompts (hive-prompts-offered)))
    (cond
     ((null prompts)
      (hive-sidecar-demand)
      (hive-say 'none-pending (hive-respond-others)))
     ((null (cdr prompts)) (hive-answer-prompt (car prompts) comment))
     (t (let ((chosen (hive-read-prompt prompts)))
          (if (plist-get chosen :batch)
              (hive-batch-answer (plist-get chosen :batch))
            (hive-answer-prompt chosen comment)))))))

(defun hive-respond-others ()
  "Return the counts of questions not offered, as the end of a sentence."
  (let* ((mine (hive-prompts-mine))
         (others (- (length (hive-prompts)) (length mine)))
         (away (cl-count-if #'hive-prompt-snoozed-p mine))
         (elsewhere (cl-count-if (lambda (prompt)
                                   (and (hive-prompt-in-terminal-p prompt)
                                        (not (hive-prompt-snoozed-p prompt))))
                                 mine))
         (parts (delq nil (list (and (> away 0) (hive-words "%d snoozed" away))
                                (and (> elsewhere 0)
                                     (hive-words "%d in the terminals of their agents"
                                                 elsewhere))
                                (and (> others 0) (hive-words "%d for others" others))))))
    (if parts
        (hive-words " for you now (%s; M-x hive-list shows them)" (string-join parts ", ")) "")))

(defun hive-cancel-confirmed (questions)
  "Cancel QUESTIONS once the human has confirmed it.
Return non-nil if they did."
  (when (y-or-n-p (if (cdr questions)
                      (hive-words "Cancel %s? " (hive-count (length questions) "question"))
                    (hive-words "Cancel %s's question? " (hive-text-title (car questions) 40))))
    (mapc #'hive-cancel-prompt questions)
    t))

(defun hive-cancel-prompt (prompt)
  "Cancel PROMPT, a plist of the model: its agent gets no answer."
  (let ((agent (hive-text-title prompt 40)))
    (hive-rpc-request
     'prompt/cancel (list :ask_id (plist-get prompt :ask_id) :by (hive-human-name))
     :success (lambda (result)
                (if (hive-rpc-true-p result :accepted)
                    (hive-announce 'cancelled agent)
                  (hive-announce "Not cancelled: %s's question is already %s" agent
                                 (hive-respond-fate (plist-get result :prompt)))))
     :error (hive-announcing 'cancel-failed))))

(defun hive-cancel-ended ()
  "Cancel the questions of sessions that have ended, and return them.
Nobody waits for their answers."
  (declare (modes hive-list-mode))
  (interactive)
  (let* ((ended (or (hive-prompts-ended)
                    (hive-fail "No pending question belongs to a session that has ended")))
         (left (length ended)) (done 0)
         (known (lambda (cancelled)
                  (setq left (1- left) done (+ done cancelled))
                  (when (zerop left)
                    (hive-announce
                     "Cancelled %s of sessions that have ended" (hive-count done "question"))))))
    (dolist (prompt ended)
      (hive-rpc-request
       'prompt/cancel (list :ask_id (plist-get prompt :ask_id) :by (hive-human-name))
       :success (lambda (result) (funcall known (if (hive-rpc-true-p result :accepted) 1 0)))
       :error (lambda (err)
                (funcall (hive-announcing 'cancel-failed) err)
                (funcall known 0))))
    ended))

;;;; Snoozing

;; A snoozed question is not counted, offered or announced until its time has
;; come; then it returns as if it had just arrived.  Its agent keeps waiting.
;; Snoozing it again un-snoozes it.

(defcustom hive-snooze-minutes 30
  "For how many minutes the key s snoozes a question.
The same key un-snoozes one that is snoozed."
  :type 'natnum
  :group 'hive)

(defun hive-snooze-prompt (prompt &optional minutes)
  "Snooze PROMPT for MINUTES, by default `hive-snooze-minutes'.
It returns by itself; its agent keeps waiting.  If it is snoozed
already, un-snooze it, or with MINUTES, snooze it for that long.
Return non-nil if it is snoozed."
  (when (and minutes (< minutes 1))
    (hive-fail "Nothing was snoozed: a question is snoozed for one minute or more"))
  (hive-sidecar-demand)
  (let* ((id (plist-get prompt :ask_id))
         (back (and (null minutes)
                    (hive-prompt-snoozed-p (or (hive-model-prompt id) prompt))))
         (minutes (or minutes hive-snooze-minutes)))
    (hive-rpc-request
     'prompt/snooze (list :ask_id id
                          :until (unless back (hive-text-before (* -60 minutes))))
     :error (hive-announcing (if back
                                 "Hive could not un-snooze the question: %s"
                               "Hive could not snooze the question: %s")))
    (let ((agent (hive-text-title prompt 40)))
      (if back (hive-say "Un-snoozed %s" agent)
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
      (setq hive-respond--next next)
      (hive-set-timer 'hive-respond--timer
                      (and next (max 0 (- (hive-text-seconds next) (hive-now))))
                      #'hive-respond--wake))))

(defun hive-respond--wake ()
  "Un-snooze the questions whose time has come."
  (setq hive-respond--next nil)
  (let (back)
    (maphash (lambda (id prompt)
               (unless (hive-prompt-snoozed-p prompt) (push (cons id prompt) back)))
             hive-model-snoozed)
    (pcase-dolist (`(,id . ,prompt) back)
      (remhash id hive-model-snoozed)
      (when (hive-human-mine-p prompt)
        (hive-rpc-run-hook 'hive-arrived-functions prompt))))
  (hive-changed))

(add-hook 'hive-changed-hook #'hive-respond--plan)

(provide 'hive-respond)
;;; hive-respond.el ends here
