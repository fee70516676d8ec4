;;; hive-notify.el --- Telling the human, without disturbing  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What arrives may change the mode line and say a line in the echo area,
;; and nothing else (design, invariant 7).  And the line waits: it is said
;; when the human is between two commands, never over a minibuffer, an
;; incremental search, a question being asked or a half-typed key sequence.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-outbox)
(require 'hive-rpc)
(require 'hive-text)

;;;; Telling the human, without disturbing

(defcustom hive-notify-echo t
  "Whether a line in the echo area tells of new questions.
The mode line counts them in any case.  Of what is not critical
none tells while you are not to be disturbed, in your quiet hours,
and from projects that you muted."
  :type 'boolean
  :group 'hive)

;; Who knows what is quiet or muted stands above this file.
(defvar hive-notify-held-functions nil
  "Called with what an agent sent, a plist; non-nil means: do not tell of it.
It is counted and listed all the same.")

(defun hive-notify-held-p (item)
  "Return non-nil if nothing is to be said of ITEM, a plist, when it arrives."
  (run-hook-with-args-until-success 'hive-notify-held-functions item))

(defvar hive-notify--arrived nil "Prompts that were not yet told of, newest first.")
(defvar hive-notify--lines nil "Other lines that wait to be said, oldest first.")
(defvar hive-notify--timer nil "The timer that will say them, or nil.")

(defvar hive-notify--spoke 0 "When something was last said.")
(defvar hive-notify--said nil "What was last said.")

(defconst hive-notify--patience 0.3
  "Seconds between two looks whether a busy human is free.")

(defconst hive-notify--breath 1
  "Seconds for which a line is left alone by news of arrivals.
Those that come meanwhile are told of together.  As long what the
last command said is left alone by every line.")

(defun hive-notify-busy-p ()
  "Return non-nil if the human is in the middle of something.
A line in the echo area would cover what they look at or type."
  (or (active-minibuffer-window)
      (bound-and-true-p isearch-mode)
      ;; A command runs: perhaps one that reads keys of its own, such as
      ;; `query-replace', `describe-key' or `quoted-insert'.
      this-command
      cursor-in-echo-area
      executing-kbd-macro
      ;; A prefix such as C-x or C-u was typed.
      prefix-arg
      (> (length (this-command-keys-vector)) 0)
      (input-pending-p)))

(defun hive-notify--unread-p ()
  "Return non-nil while the last command's own message was hardly read."
  (and (current-message)
       (not (equal (current-message) hive-notify--said))
       (< (float-time (or (current-idle-time) 0)) hive-notify--breath)))

(defun hive-notify-say (format &rest args)
  "Say a line made from FORMAT and ARGS once the human is free.
Lines that nobody asked for go through here, all of them."
  (setq hive-notify--lines
        (nconc hive-notify--lines (list (apply #'format format args))))
  (hive-notify--soon 0))

(defun hive-notify--soon (delay)
  "Look in DELAY seconds whether the human is free."
  (when hive-notify--timer (cancel-timer hive-notify--timer))
  (setq hive-notify--timer (run-at-time delay nil #'hive-notify--speak)))

(defun hive-notify--speak ()
  "Say what waits, or look again later when the human is busy."
  (setq hive-notify--timer nil)
  (let ((breath (- (+ hive-notify--spoke hive-notify--breath) (float-time))))
    (cond ((not (or hive-notify--arrived hive-notify--lines)))
          ((or (hive-notify-busy-p) (hive-notify--unread-p))
           (hive-notify--soon hive-notify--patience))
          (hive-notify--lines
           (while hive-notify--lines
             (hive-notify--utter (pop hive-notify--lines)))
           (when hive-notify--arrived
             (hive-notify--soon hive-notify--breath)))
          ((> breath 0) (hive-notify--soon breath))
          (t (let ((line (hive-notify--arrival)))
               (setq hive-notify--arrived nil)
               (when line (hive-notify--utter line)))))))

(defun hive-notify--utter (line)
  "Say LINE now."
  (setq hive-notify--spoke (float-time)
        hive-notify--said line)
  (message "%s" line))

;;;; What is said

(defun hive-notify--arrived (prompt)
  "Tell of PROMPT, which newly waits."
  (when (and hive-notify-echo (not (hive-notify-held-p prompt)))
    (push prompt hive-notify--arrived)
    (unless hive-notify--timer (hive-notify--soon 0))))

(defun hive-notify--arrival ()
  "Return a line about the questions that arrived, or nil.
Those that were settled or answered meanwhile are not worth a word."
  (let* ((fresh (cl-remove-if-not
                 (lambda (prompt)
                   (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
                     (and now (hive-prompt-waiting-p now))))
                 (reverse hive-notify--arrived)))
         (first (car (sort (copy-sequence fresh) #'hive-prompt-before-p)))
         (others (1- (length fresh))))
    (when first
      (concat (hive-text-agent first 40) " asks: "
              (hive-text-line (plist-get first :question)
                              (max 20 (- (frame-width) 50)))
              (if (> others 0) (format " (and %d more)" others) "")
              (substitute-command-keys "  \\[hive-respond]")))))

(defun hive-notify--sidecar ()
  "Tell once of a sidecar that cannot be started."
  (when (eq hive-sidecar-state 'failed)
    (hive-notify-say "Hive: %s" hive-sidecar-problem)))

(defun hive-notify--rejected (entry)
  "Tell that the answer in ENTRY cannot be stored."
  ;; Of what is no answer, its own capability tells.
  (when (equal (hive-entry-method entry) "hivemind-response")
    (hive-notify-say "Hive: your answer to %s was not taken: %s  (M-x hive-doctor shows it)"
                     (hive-entry-ask-id entry)
                     (hive-text-line (hive-entry-text entry) 200))))

(defun hive-notify-start ()
  "Begin to tell of what happens."
  (add-hook 'hive-arrived-functions #'hive-notify--arrived)
  (add-hook 'hive-sidecar-state-hook #'hive-notify--sidecar)
  (add-hook 'hive-outbox-rejected-functions #'hive-notify--rejected))

(defun hive-notify-stop ()
  "Say no more, and forget what was to be said."
  (remove-hook 'hive-arrived-functions #'hive-notify--arrived)
  (remove-hook 'hive-sidecar-state-hook #'hive-notify--sidecar)
  (remove-hook 'hive-outbox-rejected-functions #'hive-notify--rejected)
  (when hive-notify--timer (cancel-timer hive-notify--timer))
  (setq hive-notify--timer nil
        hive-notify--arrived nil
        hive-notify--lines nil))

;;;; When to be told, and how

;; What you wish of desktop notifications is kept in the store, for your
;; seat (this machine and user), so that it binds every process there: each
;; Emacs, and the agents' own when none runs.  An option that is not nil is
;; written to the store when Emacs connects and when you change it; one that
;; is nil leaves what is stored alone.  `hive config' shows and sets most of
;; it from a shell.  The mode line counts in any case.

(defgroup hive-attention nil
  "When Hive tells you of questions, and how."
  :link '(custom-manual "(hive)Desktop notifications")
  :group 'hive)

;;;; Options

(defun hive-notify--set (option value)
  "Set OPTION to VALUE and tell the sidecar."
  (set-default option value)
  (hive-attention-send))

(defcustom hive-notify-when nil
  "When a new question pops up on the desktop.
Critical questions pop up unless you say never."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "Always" always)
                 (const :tag "While Emacs has not the focus" unfocused)
                 (const :tag "Never" never))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-quiet-hours nil
  "The time of day in which only critical questions pop up.
A cons of two times, such as (\"22:00\" . \"07:30\")."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "None" none)
                 (cons (string :tag "From") (string :tag "To")))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-popup-permissions nil
  "Whether a popup may answer a permission with a button.
Off unless you turn it on: a click is quickly done."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "Yes" t) (const :tag "No" no))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-notify-command nil
  "A shell command that gets each notification as JSON on its standard input."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "None" none) string)
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-sound nil
  "Whether a popup makes a sound."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "Yes" t) (const :tag "No" no))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-notify-held nil
  "When a line tells you that an agent is held by a mention.
`never', `at-once', or after so many seconds, such as 60.  The line
names the agent, who mentioned it and since when; several agents
share one line.  `hive-notices' shows it again.  You are told in any
case when an agent goes on without processing its mentions.

Nothing is said while you are not to be disturbed, in your quiet
hours, nor of projects that you muted."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "Never" never)
                 (const :tag "At once" at-once)
                 (natnum :tag "After so many seconds" :value 60))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-permission-rules nil
  "What agents may do, or may not, without asking you.
A list of rules, each a plist: :decision is \"allow\" or \"deny\",
:tool the name of a tool, and :input, :project, :source, :machine,
:name and :note may be left out.  A `*' in :tool, :input and :machine
stands for any characters.  One rule that denies wins over all that
allow.  :machine, \"token:NAME\", is for agents that come over HTTP;
without it a rule that allows is for agents of this machine only,
one that denies for all.

    (setq hive-permission-rules
          \='((:decision \"allow\" :tool \"Bash\" :input \"npm test *\")
            (:decision \"deny\" :tool \"Bash\" :input \"*git push*\"
             :note \"I push myself.\")))

They answer permissions only, never a question, and each use stands
in the log."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "None" none)
                 (repeat (plist :options ((:decision (choice (const "allow") (const "deny")))
                                          (:tool string) (:input string) (:project string)
                                          (:source (choice (const "main") (const "bg")
                                                           (const "fork")))
                                          (:machine string)
                                          (:name string) (:note string)))))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

;;;; What background agents may show

;; These hold at every seat of the store; `hive config' shows them all.

(defconst hive-notify--stored '(const :tag "As it is kept in the store" nil)
  "The choice of an option that leaves what is stored alone.")

(defconst hive-notify--yes-no
  `(choice ,hive-notify--stored (const :tag "Yes" t) (const :tag "No" no))
  "The type of an option that is a yes or a no.")

(defconst hive-notify--number
  `(choice ,hive-notify--stored natnum)
  "The type of an option that is a whole number.")

(defconst hive-notify--wait
  `(choice ,hive-notify--stored (const usual) (const on) (const off)
           (natnum :tag "Seconds"))
  "The type of an option that says how long a dialog waits at a desk.")

(defcustom hive-allow-ping nil
  "Whether background agents may show you pings and cards."
  :type hive-notify--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-report-policy nil
  "When background agents owe a report before they stop.
With `on_ping' they owe one after they showed you something, with
`always' after every turn.  With `freely' and `remind' none is held
back for one; with `blocked' they send none."
  :type `(choice ,hive-notify--stored
                 (const on_ping) (const always) (const freely) (const remind) (const blocked))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-outputs-per-turn nil
  "How many pings and cards a background agent may show in one turn.
0 is no limit."
  :type hive-notify--number
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-mind-busy nil
  "Whether pings and cards are refused while you are busy.
You are busy in quiet hours, while you are not to be disturbed, and
shortly after you opened a question that you have not answered.
Unless this is t they arrive, and in quiet times nothing announces
them."
  :type hive-notify--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-budget-capacity nil
  "How many pings and cards all background agents may show at once.
One more comes back every `hive-budget-refill-minutes'."
  :type hive-notify--number
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-budget-refill-minutes nil
  "After how many minutes background agents may show one more."
  :type hive-notify--number
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-hold-for-mentions nil
  "Whether an agent is kept from stopping while it has urgent mentions."
  :type hive-notify--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-hold-for-answers nil
  "Whether an agent is kept from stopping while it has unread answers."
  :type hive-notify--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

;;;; How agents are held, asked for and woken

;; These hold for the agents that you run on this machine.

(defcustom hive-gate nil
  "What unprocessed mentions do to the tool calls of an agent.
With `block' no tool is called until they are processed, with
`remind' only urgent ones hold, with `off' none does and none wakes
an idle agent."
  :type `(choice ,hive-notify--stored (const block) (const remind) (const off))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-stop-guard nil
  "Whether an agent is kept from stopping while it owes something.
It may owe unread answers, urgent mentions, or a report."
  :type hive-notify--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-permission-wait nil
  "How long a permission waits at a desk before its terminal asks.
A number is seconds.  With `usual' it is 590 seconds for Claude Code,
and permissions of Codex do not wait at all."
  :type hive-notify--wait
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-question-wait nil
  "How long a question of an agent's own dialog waits at a desk.
As with `hive-permission-wait'."
  :type hive-notify--wait
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-wake nil
  "For how many hours answers and mentions wake an agent that idles.
With `off' they never do."
  :type `(choice ,hive-notify--stored (const off) (natnum :tag "Hours"))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defconst hive-notify--agents
  '((hive-gate . :gate)
    (hive-stop-guard . :stop_guard)
    (hive-permission-wait . :permission_wait)
    (hive-question-wait . :question_wait)
    (hive-wake . :wake))
  "The options about how agents are held and woken, and their fields.")

(defconst hive-notify--outreach
  '((hive-allow-ping . :allow_ping)
    (hive-report-policy . :report_policy)
    (hive-outputs-per-turn . :outputs_per_turn)
    (hive-mind-busy . :mind_busy)
    (hive-budget-capacity . :budget_capacity)
    (hive-budget-refill-minutes . :budget_refill_minutes)
    (hive-hold-for-mentions . :hold_for_mentions)
    (hive-hold-for-answers . :hold_for_answers))
  "The options about what background agents may show, and their fields.")

(defvar hive-attention-functions nil
  "Called with the preferences that stand, whenever the sidecar tells them.")

;;;; What the sidecar is told

(defun hive-notify--flag (value)
  "Return VALUE, t or `no', as JSON has it."
  (if (eq value 'no) :json-false t))

(defun hive-notify--fields (options)
  "Return what OPTIONS say, an alist of options and fields, as JSON has it."
  (cl-loop for (option . field) in options
           for value = (symbol-value option)
           when value
           append (list field (cond ((memq value '(t no)) (hive-notify--flag value))
                                    ((symbolp value) (symbol-name value))
                                    (t value)))))

(defun hive-notify--preferences ()
  "Return the preferences that the options name, as the wire wants them."
  `(,@(when hive-notify-when (list :notify_when (symbol-name hive-notify-when)))
    ,@(pcase hive-quiet-hours
        ('none (list :quiet_hours nil))
        (`(,from . ,to) (list :quiet_hours (list :from from :to to))))
    ,@(when hive-popup-permissions
        (list :popup_permissions (hive-notify--flag hive-popup-permissions)))
    ,@(pcase hive-notify-command
        ('none (list :notify_command nil))
        ((pred stringp) (list :notify_command hive-notify-command)))
    ,@(pcase hive-permission-rules
        ('none (list :permission_rules nil))
        ((pred consp) (list :permission_rules (vconcat hive-permission-rules))))
    ,@(pcase hive-notify-held
        ('never (list :notify_held "never"))
        ('at-once (list :notify_held 0))
        ((pred natnump) (list :notify_held hive-notify-held)))
    ,@(when hive-sound (list :sound (hive-notify--flag hive-sound)))
    ,@(hive-notify--fields hive-notify--agents)
    ,@(let ((outreach (hive-notify--fields hive-notify--outreach)))
        (when outreach (list :outreach outreach)))))

(defun hive-attention-send ()
  "Tell the sidecar what the options say, if it is there.
It tells in turn what stands, the rest being from the store."
  (when (hive-sidecar-connected-p)
    (hive-attention-tell (hive-notify--preferences))))

(defun hive-attention-tell (preferences &optional then)
  "Send PREFERENCES; call THEN with what stands afterwards."
  (hive-rpc-request
   'desk/preferences preferences
   :success (lambda (result)
              (let ((now (plist-get result :preferences)))
                (run-hook-with-args 'hive-attention-functions now)
                (when then (funcall then now))))
   :error (lambda (err)
            (hive-notify-say "Hive did not take the preference: %s"
                             (hive-text-line (plist-get err :text) 200)))))

(add-hook 'hive-connected-hook #'hive-attention-send)

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/preferences_changed)) params)
  "Take the preferences in PARAMS, which a shell or another Emacs has set."
  (run-hook-with-args 'hive-attention-functions (plist-get params :preferences)))

;;;; Projects

;;;###autoload
(defun hive-mute-project (project)
  "Let no question of PROJECT pop up, or let them again.
The echo area then tells of its critical ones only."
  (interactive
   (list (completing-read "Mute or unmute project: "
                          (delete-dups (mapcar (lambda (prompt)
                                                 (hive-text-line (plist-get prompt :project)))
                                               (hive-prompts))))))
  (hive-attention-tell
   nil
   (lambda (now)
     (let* ((muted (append (plist-get now :muted_projects) nil))
            (was (member project muted)))
       (hive-attention-tell
        (list :muted_projects
              (vconcat (if was (remove project muted) (append muted (list project)))))
        (lambda (_)
          (hive-notify-say "%s: %s" (hive-text-line project 60)
                           (if was "pops up again" "does not pop up"))))))))

;;;###autoload
(defun hive-attention ()
  "Customize when you are told of questions, and how."
  (interactive)
  (customize-group 'hive-attention))

;;;; Quiet times, and what arrived meanwhile

;; While you are not to be disturbed, and in your quiet hours, only critical
;; questions pop up: the sidecar sees to that.  Here the echo area is held to
;; the same, also for projects that were muted; and at the end one line tells
;; of what arrived meanwhile and still waits.

;;;; What arrived meanwhile

(defun hive-quiet--arrived (since)
  "Return how many questions wait that arrived after SINCE, as the wire writes it."
  (cl-count-if (lambda (prompt) (string< since (plist-get prompt :created_at)))
               (hive-prompts-mine)))

(defun hive-notify--say (count)
  "Say that COUNT questions arrived meanwhile."
  (hive-notify-say "Meanwhile %d question%s arrived that still wait%s"
                   count (if (= count 1) "" "s") (if (= count 1) "s" "")))

;;;; Do not disturb

(defvar hive-notify--since nil "When do-not-disturb began, or nil.")
(defvar hive-quiet--timer nil "The timer of its end, or nil.")

;;;###autoload
(defun hive-do-not-disturb (&optional minutes)
  "Let only critical questions be told of, until this is called again.
No other pops up or is told of in the echo area; a `z' in the mode
line shows that.  With a prefix argument, for that many MINUTES.  What arrived
meanwhile is told of in one line at the end."
  (interactive "P")
  (if (and hive-notify--since (null minutes))
      (hive-attention-tell (list :do_not_disturb :json-false)
                            (lambda (_) (hive-notify--end)))
    (let* ((minutes (and minutes (prefix-numeric-value minutes)))
           (until (and minutes (hive-text-before (* -60 minutes)))))
      (hive-attention-tell
       (list :do_not_disturb (or until t))
       (lambda (_)
         (hive-notify--begin until)
         (hive-notify-say "Do not disturb: only critical questions pop up%s"
                          (if minutes (format " for %d minutes" minutes) "")))))))

(defun hive-notify--begin (until)
  "Note that it is quiet now, UNTIL a time of the wire or nil for no end."
  (setq hive-notify--since (hive-text-now))
  (hive-changed)
  (when hive-quiet--timer (cancel-timer hive-quiet--timer))
  (setq hive-quiet--timer
        (and until
             (run-at-time (max 0 (- (hive-text-seconds until) (float-time)))
                          nil #'hive-notify--end))))

(defun hive-notify--end ()
  "Say what arrived while it was quiet."
  (when hive-quiet--timer (cancel-timer hive-quiet--timer))
  (setq hive-quiet--timer nil)
  (when hive-notify--since
    (let ((count (hive-quiet--arrived hive-notify--since)))
      (setq hive-notify--since nil)
      (hive-changed)
      (if (> count 0)
          (hive-notify--say count)
        (hive-notify-say "Nothing arrived meanwhile that still waits")))))

;;;; Quiet hours

(defvar hive-notify--times nil "The quiet hours that stand, a plist of :from and :to, or nil.")
(defvar hive-notify--hours-timer nil "The timer of the end of the next quiet hours, or nil.")
(defvar hive-notify--begin-timer nil "The timer of their begin, or nil.")

(defun hive-notify--at (clock day)
  "Return the moment of CLOCK, such as \"07:30\", DAY days from today."
  (let ((today (decode-time)))
    (float-time
     (encode-time (list 0 (string-to-number (substring clock 3)) (string-to-number clock)
                        (+ day (nth 3 today)) (nth 4 today) (nth 5 today) nil -1 nil)))))

(defun hive-notify--hours (from to)
  "Return begin and end of the quiet hours FROM a clock TO a clock that end next."
  (let* ((now (float-time))
         (end (cl-find-if (lambda (moment) (> moment (1+ now)))
                          (list (hive-notify--at to 0) (hive-notify--at to 1))))
         (begin (cl-find-if (lambda (moment) (< moment end))
                            (list (hive-notify--at from 1) (hive-notify--at from 0)
                                  (hive-notify--at from -1)))))
    (cons begin end)))

(defun hive-notify--plan (hours)
  "Wait for the end of the quiet HOURS, a plist of :from and :to, or nil for none."
  (dolist (timer (list hive-notify--hours-timer hive-notify--begin-timer))
    (when timer (cancel-timer timer)))
  (setq hive-notify--times hours
        hive-notify--hours-timer nil
        hive-notify--begin-timer nil)
  (when hours
    (pcase-let ((`(,begin . ,end)
                 (hive-notify--hours (plist-get hours :from) (plist-get hours :to)))
                (now (float-time)))
      (setq hive-notify--hours-timer
            (run-at-time (- end now) nil #'hive-notify--hours-end hours
                         (hive-text-before (- now begin))))
      (when (> begin now)
        (setq hive-notify--begin-timer (run-at-time (- begin now) nil #'hive-changed)))))
  (hive-changed))

(defun hive-notify--hours-end (hours begin)
  "Say what arrived in the quiet HOURS since BEGIN; wait for the next ones."
  (setq hive-notify--hours-timer nil)
  (let ((count (hive-quiet--arrived begin)))
    ;; Nobody asked: that nothing came is not worth a word.
    (when (> count 0) (hive-notify--say count)))
  (hive-notify--plan hours))

(defun hive-notify--hours-p ()
  "Return non-nil in the quiet hours."
  (and hive-notify--times
       (<= (car (hive-notify--hours (plist-get hive-notify--times :from)
                                   (plist-get hive-notify--times :to)))
           (float-time))))

;;;; What is held back

(defvar hive-notify--muted nil "The projects that are muted: names, or their directories.")

(defun hive-quiet-text ()
  "Return why it is quiet and how that ends, in words, or nil when it is not."
  (cond (hive-notify--since "Do not disturb: M-x hive-do-not-disturb ends it")
        ((hive-notify--hours-p)
         (format "Quiet hours until %s" (hive-text-line (plist-get hive-notify--times :to) 10)))))

(defun hive-notify--held-p (item)
  "Return non-nil if nobody is to be told of ITEM, a plist, when it arrives."
  ;; A question has an urgency; a ping or card is critical or is not.
  (and (not (equal (plist-get item :urgency) "critical"))
       (not (hive-rpc-true-p item :critical))
       (or (hive-quiet-text)
           (member (plist-get item :project) hive-notify--muted)
           (member (plist-get item :project_dir) hive-notify--muted))))

(add-hook 'hive-notify-held-functions #'hive-notify--held-p)

;;;; What stands

(defun hive-notify--take (preferences)
  "Heed the PREFERENCES that stand, perhaps since before this Emacs started."
  (hive-notify--plan (plist-get preferences :quiet_hours))
  (setq hive-notify--muted (append (plist-get preferences :muted_projects) nil))
  (let* ((until (plist-get preferences :do_not_disturb))
         (quiet (or (eq until t) (and (stringp until) (string< (hive-text-now) until)))))
    (cond ((and quiet (null hive-notify--since))
           (hive-notify--begin (and (stringp until) until)))
          ;; Perhaps another Emacs has ended it.
          ((not quiet) (hive-notify--end)))))

(add-hook 'hive-attention-functions #'hive-notify--take)

;;;; What the human should know, to be read again

;; A guard gave up, a loop was stopped, an agent ended and owed a report: such
;; notices are said in one line, and can be read again here; what was told
;; before this Emacs started comes from the store.  An answer that could not
;; be taken is one of them, with everything that was sent.

(defconst hive-notify--kept 200 "How many notices are kept.")
(defconst hive-notify--name "*hive notices*" "The name of their buffer.")

(defvar hive-notify--list nil "The notices, newest first.")

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/notice)) notice)
  "Say NOTICE and keep it."
  (hive-notify--keep (cons notice hive-notify--list))
  (unless (hive-notify--said-p notice)
    (hive-notify-say "Hive: %s" (hive-text-line (plist-get notice :text) 300))))

(defun hive-notify--said-p (notice)
  "Return non-nil if the human knows of NOTICE already.
That an answer of this Emacs was refused, its outbox has said."
  (and (equal "unread_answer" (plist-get notice :notice))
       (eq t (plist-get notice :sender_told))
       (equal (plist-get notice :from) (plist-get hive-sidecar-info :desk_id))))

(defun hive-notify--keep (notices)
  "Keep NOTICES, newest first, as far as there is room."
  (let ((last (nthcdr (1- hive-notify--kept) notices)))
    (when last (setcdr last nil)))
  (setq hive-notify--list notices)
  (hive-work-guarded #'hive-notify--show))

(defun hive-notify--fetch ()
  "Fetch what the store knows of earlier notices."
  (hive-rpc-request
   'notice/list (list :limit hive-notify--kept)
   :success
   (lambda (result)
     (let* ((stored (append (plist-get result :notices) nil))
            (newest (or (plist-get (car stored) :notice_id) -1)))
       ;; What was told while the answer was on its way is newer than it.
       (hive-notify--keep
        (append (cl-remove-if-not (lambda (notice) (> (or (plist-get notice :notice_id) -1) newest))
                                  hive-notify--list)
                stored))))
   :error (lambda (err) (hive-work-log "no earlier notices: %S" err))))

(add-hook 'hive-connected-hook #'hive-notify--fetch)

(defun hive-notify--show ()
  "Print the notices into their buffer, if there is one."
  (let ((buffer (get-buffer hive-notify--name)))
    (when buffer
      (with-current-buffer buffer
        (let ((inhibit-read-only t) (place (point)))
          (erase-buffer)
          (unless hive-notify--list (insert "Nothing was said so far.\n"))
          (dolist (notice hive-notify--list)
            (insert (propertize (concat (hive-text-age (plist-get notice :at)) " ago  ")
                                'face 'shadow)
                    (propertize (hive-text-inert (plist-get notice :text))
                                'face (and (equal "error" (plist-get notice :severity))
                                           'error))
                    "\n")
            (when (stringp (plist-get notice :sent))
              (insert (propertize "Sent:" 'face 'shadow) " "
                      (hive-text-inert (plist-get notice :sent)) "\n")))
          (hive-wrap-heed (point-min) (point-max))
          (goto-char (min place (point-max))))))))

;;;###autoload
(defun hive-notices ()
  "Read again what Hive told you: guards that gave up, reports that are owed."
  (interactive)
  (with-current-buffer (get-buffer-create hive-notify--name)
    (unless (derived-mode-p 'special-mode)
      (special-mode)
      (visual-line-mode)
      (setq bidi-paragraph-direction 'left-to-right)
      (setq-local revert-buffer-function (lambda (&rest _) (hive-notify--show))))
    (hive-notify--show)
    (goto-char (point-min)))
  (pop-to-buffer hive-notify--name))

(provide 'hive-notify)
;;; hive-notify.el ends here
