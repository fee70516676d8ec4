;;; hive-interrupt.el --- Interrupting agents  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-interrupt' asks an agent to stop its current turn.  The request is
;; stored first and stays in force until the turn ends.  The result is
;; reported when it is known, even if the sidecar restarts in the meantime.
;; Emacs never waits for it.
;;
;; It also keeps track of the running turns.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-terminal)
(require 'hive-text)
(require 'subr-x)

;;;; Running turns

;; The newest turn of each session, as the sidecar reports them: so the
;; commands can offer the running agents without asking the sidecar first.

(defvar hive-interrupt--newest (make-hash-table :test #'equal)
  "The newest turn of each session, running or ended, by session id.")

(defvar hive-turns-changed-functions nil
  "Called with each turn that changed.")

(defvar hive-interrupt--ended (make-hash-table :test #'equal)
  "The turns that have ended, by id; older news of them is ignored.")

(defconst hive-interrupt--most 1000 "How many turns are remembered.")

(defun hive-turns-running ()
  "Return every running turn, the oldest first."
  (sort (hive-filter :state "in_progress" (hash-table-values hive-interrupt--newest))
        #'hive-interrupt--before-p))

(defun hive-interrupt--before-p (a b)
  "Return non-nil if the turn A began before the turn B."
  (string< (or (plist-get a :started_at) "") (or (plist-get b :started_at) "")))

(defun hive-turns-newest (session-id)
  "Return the newest turn of SESSION-ID, running or ended, or nil."
  (gethash session-id hive-interrupt--newest))

(defun hive-turns-doing (turn)
  "Return in a few words what TURN is doing, and for how long."
  (let ((tool (plist-get turn :tool)))
    (if tool
        (hive-words
         "%s for %s" (hive-text-line tool 40) (hive-text-age (plist-get turn :tool_since)))
      (hive-words "running for %s" (hive-text-age (plist-get turn :started_at))))))

(defun hive-turns-said (session-id)
  "Return what the agent of SESSION-ID said last in its newest turn, or nil.
It is text of the agent, whole, and not inert."
  (let ((said (plist-get (hive-turns-newest session-id) :last_words)))
    (unless (string-empty-p (or said "")) said)))

(defun hive-turns-said-line (session-id width)
  "Return the end of what the agent of SESSION-ID said last, or nil.
It is one line, at most WIDTH columns wide."
  (let* ((said (hive-turns-said session-id))
         (line (and said (hive-text-line said)))
         (begin (and line (- (length line) width))))
    (when line
      (hive-words "It said: %s"
                  (if (< begin 1) line (concat (hive-mark "…") (substring line (1+ begin))))))))

(defun hive-interrupt--remember (turn)
  "Remember TURN if it is the newest one of its session, and run the hook."
  (let* ((session (plist-get turn :session_id)) (id (plist-get turn :turn_id))
         (running (equal (plist-get turn :state) "in_progress"))
         (newest (gethash session hive-interrupt--newest)))
    (unless running
      (when (>= (hash-table-count hive-interrupt--ended) hive-interrupt--most)
        (clrhash hive-interrupt--ended))
      (puthash id t hive-interrupt--ended))
    ;; News of a turn may come after its end, or after a later turn has begun.
    (unless (or (and running (gethash id hive-interrupt--ended))
                (if newest (hive-interrupt--before-p turn newest)
                  (>= (hash-table-count hive-interrupt--newest) hive-interrupt--most)))
      (puthash session turn hive-interrupt--newest))
    (hive-rpc-run-hook 'hive-turns-changed-functions turn)))

(cl-defmethod hive-rpc-handle ((_method (eql 'turn/changed)) turn)
  "Handle TURN, which changed."
  (hive-model-take-session-news #'hive-interrupt--remember turn))

(defun hive-interrupt--remember-listed (sessions)
  "Remember each turn in SESSIONS, a new list by the sidecar.
A list that was cut short lacks the sessions that were silent longest."
  (clrhash hive-interrupt--newest)
  (dolist (session sessions)
    (when-let* ((turn (plist-get session :turn)))
      (hive-interrupt--remember
       (append turn (list :agent (plist-get session :handle)
                          :agent_title (plist-get session :title)
                          :project (plist-get session :project)))))))

(add-hook 'hive-model-sessions-listed-functions #'hive-interrupt--remember-listed)
(hive-forget-when-off 'hive-interrupt--newest 'hive-interrupt--ended)

;;;; Reporting the result

(defconst hive-interrupt--seconds 60
  "After how many seconds Hive reports that an agent has not stopped yet.")

(defvar hive-interrupt--requests (make-hash-table :test #'equal)
  "The agent that each request asked to stop, by the id of the request.
The value is t once the result of the request has been reported.")

(defun hive-interrupt--report (id sentence &optional err)
  "Report SENTENCE, the result of the request ID, or ERR, its error, once."
  (let ((agent (gethash id hive-interrupt--requests))
        (text (hive-text-line (or sentence (plist-get err :text)) 200)))
    (when (stringp agent)
      (puthash id t hive-interrupt--requests)
      (cond (sentence (hive-announce 'interrupt-result (hive-text-line agent 40) text))
            ;; This error names the agent itself.
            ((eq 'no_turn (plist-get err :name)) (hive-announce 'from-sidecar text))
            (t (hive-announce "Hive could not interrupt %s: %s" (hive-text-line agent 40) text))))))

(defun hive-interrupt--turn (turn)
  "Report the results of the requests to stop TURN.
They may arrive before the reply to the request itself, or after a
restart of the sidecar."
  (cl-loop for request across (vconcat (plist-get turn :interrupts))
           for id = (plist-get request :interrupt_id)
           for state = (plist-get request :state)
           do (cond
               ((equal state "pending")
                ;; This human asked before Emacs restarted.
                (when (and (equal (plist-get request :by) (hive-human-name))
                           (equal (plist-get request :via) "emacs")
                           (not (gethash id hive-interrupt--requests)))
                  (puthash id (hive-text-title turn) hive-interrupt--requests)))
               (t (hive-interrupt--report id (plist-get request :sentence))))))

(add-hook 'hive-turns-changed-functions #'hive-interrupt--turn)

;;;; Interrupting one agent

(defun hive-interrupt--params (note)
  "Return the parameters that each request to stop has, with NOTE, if any."
  `( :timeout_ms ,(* 1000 hive-interrupt--seconds) :by ,(hive-human-name)
     ,@(unless (string-blank-p (or note "")) (list :note (hive-text-sendable note)))))

(defun hive-interrupt-session (session-id agent &optional note)
  "Ask the session SESSION-ID, called AGENT, to stop, with a NOTE.
The result is reported when it is known."
  (hive-sidecar-demand)
  (let ((id (concat "int-" (hive-rpc-new-id))))
    (puthash id agent hive-interrupt--requests)
    (hive-rpc-request
     'turn/interrupt
     (append (list :session_id session-id :interrupt_id id) (hive-interrupt--params note))
     :timeout (+ 30 hive-interrupt--seconds)
     :success (lambda (outcome)
                (if (equal (plist-get outcome :outcome) "unconfirmed")
                    (when (stringp (gethash id hive-interrupt--requests))
                      (hive-announce 'interrupt-result (hive-text-line agent 40)
                                     (hive-text-line (plist-get outcome :sentence) 200)))
                  (hive-interrupt--report id (plist-get outcome :sentence))))
     :error (lambda (err)
              ;; If the sidecar stopped, it had stored the request: the next
              ;; sidecar reports the result.
              (unless (memq (plist-get err :name) '(disconnected timeout))
                (hive-interrupt--report id nil err))))
    (hive-say "Asked %s to stop…" (hive-text-line agent 40))))

(defun hive-interrupt-idle-p (session-id)
  "Return non-nil if the session SESSION-ID is known to run nothing."
  (and (hive-model-session session-id)
       (not (equal "in_progress" (plist-get (hive-turns-newest session-id) :state)))))

(defun hive-interrupt-confirmed (agents &optional note)
  "Ask AGENTS to stop, with a NOTE, once the human has confirmed it.
AGENTS are conses of a session id and a name.  Those that run nothing
are left out; if none runs anything, signal a `user-error'.  Return
non-nil if the human confirmed."
  (hive-sidecar-demand)
  (let ((running (cl-remove-if (lambda (agent) (hive-interrupt-idle-p (car agent))) agents))
        (name (lambda (agent) (hive-text-line (cdr agent) 40))))
    (cond (running)
          ((cdr agents)
           (hive-fail "These %d agents are idle; nothing to interrupt" (length agents)))
          (t (hive-fail "%s is idle; nothing to interrupt" (funcall name (car agents)))))
    (when (y-or-n-p (if (cdr running) (hive-words "Interrupt %d agents? " (length running))
                      (hive-words "Interrupt %s? " (funcall name (car running)))))
      (pcase-dolist (`(,session-id . ,agent) running)
        (hive-interrupt-session session-id agent note))
      (when (cdr running) (hive-say "Asked %d agents to stop…" (length running)))
      t)))

(defun hive-interrupt-asker (prompt)
  "Ask the agent of PROMPT to stop, once the human has confirmed it."
  (hive-interrupt-confirmed (list (cons (plist-get prompt :session_id) (hive-text-title prompt)))))

(defun hive-interrupt--pending (turn)
  "Return the ids of the pending requests to stop TURN."
  (cl-loop for request across (vconcat (plist-get turn :interrupts))
           when (equal (plist-get request :state) "pending")
           collect (plist-get request :interrupt_id)))

(declare-function tabulated-list-get-id "tabulated-list")

(defun hive-interrupt--session-here ()
  "Return the id of the session that the current buffer is about, or nil.
That is the one at point in a list, the asker of the question that the
buffer shows, or the agent whose terminal or buffer it is."
  (or (plist-get (hive-prompt-at-point) :session_id)
      (pcase (and (derived-mode-p 'hive-list-mode) (tabulated-list-get-id))
        (`(,(or 'session 'held) . ,id) id))
      (hive-interrupt--session-of-buffer)))

(defun hive-interrupt--session-of-buffer ()
  "Return the id of the session whose terminal or buffer is current, or nil."
  (when (or (hive-terminal-buffers) hive-agent-buffer-functions)
    (cl-loop for session in (hive-model-sessions)
             for id = (plist-get session :session_id)
             when (eq (current-buffer)
                      (or (run-hook-with-args-until-success 'hive-agent-buffer-functions id)
                          (and (equal (plist-get session :machine) (system-name))
                               (hive-terminal-buffer (plist-get session :pid)))))
             return id)))

(defun hive-interrupt--annotation (turn)
  "Return the text after the title of the agent of TURN, for completion."
  (concat "  " (hive-text-line (plist-get turn :project) 24)
          "  " (hive-turns-doing turn)
          "  " (hive-text-line (plist-get turn :agent) 24)
          (if (hive-interrupt--pending turn) (hive-words "  asked to stop") "")))

(defun hive-interrupt--read (prompt among none)
  "Let the human choose a turn AMONG some and return it.
PROMPT and NONE are sentences, as for `hive-words': what to ask, and
the error when there are none.  The default is the turn of the agent
whose buffer or question is current, or the only one."
  (hive-sidecar-demand)
  (let* ((alist (mapcar (lambda (turn) (cons (hive-text-title turn 60) turn)) among))
         (here (hive-interrupt--session-here))
         (current (car (or (rassoc (hive-find :session_id here among) alist)
                           (unless (cdr alist) (car alist))))))
    (unless alist (hive-fail none))
    (let ((name (completing-read
                 (format-prompt (hive-words prompt) current)
                 (hive-read-or-handle
                  (hive-read-table alist 'hive-turn #'hive-interrupt--annotation)
                  (mapcar (lambda (turn) (plist-get turn :agent)) among))
                 nil t nil nil current)))
      (or (cdr (assoc name alist))
          (hive-model-session-of among name)
          (hive-fail "No agent was chosen: type or choose the title of one")))))

;;;###autoload
(defun hive-interrupt (turn note)
  "Ask the agent of TURN to stop, with a NOTE for it.
You choose among the running agents; each is shown with what it is
doing and for how long.  Hive reports when the agent has stopped, or
that it had already finished.  With a prefix argument, withdraw a
request instead: you choose among the agents that were asked and have
not stopped."
  (interactive
   (if current-prefix-arg
       (list (hive-interrupt--read "Withdraw the interrupt for"
                                   (cl-remove-if-not #'hive-interrupt--pending (hive-turns-running))
                                   "No interrupt is pending")
             'withdraw)
     (let ((turn (hive-interrupt--read "Interrupt" (hive-turns-running) 'interrupt-none)))
       (list turn (hive-read-note (hive-words "Reason for %s (RET for none): "
                                              (hive-text-title turn 40))
                                  (plist-get turn :session_id))))))
  (if (eq note 'withdraw) (hive-interrupt-withdraw turn)
    (hive-interrupt-session (plist-get turn :session_id) (hive-text-title turn) note)))

;;;; Interrupting all agents

(defun hive-interrupt--summary (outcomes)
  "Return a one-line summary of OUTCOMES, one per agent."
  (let ((rest (cl-remove "aborted" outcomes :test #'equal
                         :key (lambda (one) (plist-get one :outcome)))))
    (if (null outcomes)
        (hive-words "No agent was running")
      (hive-words "%d of %d agents stopped%s"
                  (- (length outcomes) (length rest)) (length outcomes)
                  (mapconcat (lambda (one)
                               (concat "; "
                                       (hive-words 'interrupt-result
                                                   (hive-text-line (or (plist-get one :called) (plist-get one :handle)) 40)
                                                   (hive-text-line (plist-get one :sentence) 100))))
                             rest "")))))

(defun hive-interrupt--all-question ()
  "Return the question to confirm before all agents are interrupted."
  (let ((turns (hive-turns-running)))
    (pcase (length turns)
      (0 (hive-fail 'interrupt-none))
      (1 (hive-words "Interrupt the one running agent (%s)? " (hive-text-title (car turns) 40)))
      (count (hive-words "Interrupt all %d running agents? " count)))))

;;;###autoload
(defun hive-interrupt-all (&optional note)
  "Ask every running agent to stop, after one confirmation.
With a prefix argument, ask for a NOTE that they all read.  One line
reports the results."
  (interactive (list (when current-prefix-arg
                       (hive-read-note (hive-words "Reason for all (RET for none): ") "all"))))
  (hive-sidecar-demand)
  (when (y-or-n-p (hive-interrupt--all-question))
    (hive-rpc-request
     'turn/interrupt_all (hive-interrupt--params note)
     :timeout (+ 30 hive-interrupt--seconds)
     :success (lambda (result)
                (hive-notify-say "%s" (hive-interrupt--summary
                                       (append (plist-get result :outcomes) nil))))
     :error (hive-announcing "Hive could not interrupt all agents: %s"))
    (hive-say "Asked all running agents to stop…")))

;;;; Withdrawing a request

(defun hive-interrupt-withdraw (turn)
  "Withdraw the request that the agent of TURN stop."
  (hive-sidecar-demand)
  (let* ((agent (hive-text-title turn 40))
         ;; This command reports the outcome of these.
         (mine (cl-remove-if-not (lambda (id) (stringp (gethash id hive-interrupt--requests)))
                                 (hive-interrupt--pending turn)))
         (mark (lambda (value) (dolist (id mine) (puthash id value hive-interrupt--requests)))))
    (funcall mark t)
    (hive-rpc-request
     'turn/cancel_interrupt (list :session_id (plist-get turn :session_id)
                                  :by (hive-human-name))
     :success (lambda (result)
                (if (seq-empty-p (plist-get result :withdrawn))
                    (hive-announce "There is no pending interrupt for %s" agent)
                  (hive-announce "Withdrew the interrupt for %s" agent)))
     :error (lambda (err)
              (funcall mark (hive-text-title turn))
              (funcall (hive-announcing "Hive could not withdraw the interrupt: %s") err)))))

(provide 'hive-interrupt)
;;; hive-interrupt.el ends here
