;;; hive-notify.el --- Notifications and when to show them  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; An arrival may change the mode line and show a line in the echo area, and
;; nothing else (design, invariant 7).  The line waits until the human is
;; between two commands: it never covers a minibuffer, an incremental search,
;; a question or an unfinished key sequence.
;;
;; The options say when you are notified, and how; they are stored for your
;; seat.  Do-not-disturb and quiet hours hold back all but critical questions,
;; and end with a line that counts what arrived.  `hive-notices' lists what
;; Hive reported.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-outbox)
(require 'hive-rpc)
(require 'hive-text)

;;;; Lines in the echo area

(defcustom hive-notify-echo t
  "Whether the echo area announces new questions.
The mode line counts them in any case.  Only critical ones are
announced while do-not-disturb is on, in quiet hours, and from muted
projects."
  :type 'boolean
  :group 'hive)

(defvar hive-notify-held-functions nil
  "Called with what an agent sent, a plist; non-nil means do not announce it.
It is counted and listed all the same.")

(defun hive-notify-held-p (item)
  "Return non-nil if ITEM, a plist, must not be announced."
  (run-hook-with-args-until-success 'hive-notify-held-functions item))

(defvar hive-notify--arrived nil "Questions to be announced, newest first.")
(defvar hive-notify--lines nil "Other lines to be shown, oldest first.")
(defvar hive-notify--timer nil "The timer that will show them, or nil.")

(defvar hive-notify--spoke 0 "When a line was last shown.")
(defvar hive-notify--said nil "The line that was last shown.")

(defconst hive-notify--patience 0.3
  "Seconds between two checks whether a busy human is free.")

(defconst hive-notify--breath 1
  "Seconds for which announcements of arrivals leave a line alone.
Arrivals in that time are announced together.  For the same time,
every line leaves alone the message of the last command.")

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
  "Return non-nil if the last command's message is still too new to replace."
  (and (current-message)
       (not (equal (current-message) hive-notify--said))
       (< (float-time (or (current-idle-time) 0)) hive-notify--breath)))

(defun hive-notify-say (format &rest args)
  "Show a line made from FORMAT and ARGS once the human is free.
Every line that is not the result of the human's own command goes
through here."
  (setq hive-notify--lines
        (nconc hive-notify--lines (list (apply #'format format args))))
  (hive-notify--soon 0))

(defun hive-announce (key &rest args)
  "Show the sentence KEY of `hive-messages', filled in with ARGS.
Like `hive-notify-say', wait until the human is free."
  (declare (compiler-macro hive-messages-check))
  (hive-notify-say "%s" (apply #'hive-words key args)))

(defun hive-notify--soon (delay)
  "Check in DELAY seconds whether the human is free."
  (when hive-notify--timer (cancel-timer hive-notify--timer))
  (setq hive-notify--timer (run-at-time delay nil #'hive-notify--speak)))

(defun hive-notify--speak ()
  "Show the lines, or check again later if the human is busy."
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
  "Show LINE now."
  (setq hive-notify--spoke (float-time)
        hive-notify--said line)
  (message "%s" line))

;;;; Announcing questions and problems

(defun hive-notify--arrived (prompt)
  "Announce PROMPT, which is newly pending."
  (when (and hive-notify-echo (not (hive-notify-held-p prompt)))
    (push prompt hive-notify--arrived)
    (unless hive-notify--timer (hive-notify--soon 0))))

(defun hive-notify--arrival ()
  "Return a line about the questions that arrived, or nil.
Leave out those that are already settled or answered."
  (let* ((fresh (cl-remove-if-not
                 (lambda (prompt)
                   (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
                     (and now (hive-prompt-waiting-p now))))
                 (reverse hive-notify--arrived)))
         (first (car (sort (copy-sequence fresh) #'hive-prompt-before-p)))
         (others (1- (length fresh))))
    (when first
      (hive-words 'asks (hive-text-agent first 40)
                  (hive-text-line (plist-get first :question) (max 20 (- (frame-width) 50)))
                  (if (> others 0) (hive-words 'and-more others) "")
                  (substitute-command-keys "  \\[hive-respond]")))))

(defun hive-notify--sidecar ()
  "Report a sidecar that cannot be started."
  (when (eq hive-sidecar-state 'failed)
    (hive-announce 'from-sidecar hive-sidecar-problem)))

(defun hive-notify--rejected (entry)
  "Report that the answer in ENTRY was rejected."
  ;; Corrections and messages report this themselves.
  (when (equal (hive-entry-method entry) "hivemind-response")
    (hive-announce 'answer-rejected (hive-entry-ask-id entry)
                   (hive-text-line (hive-entry-text entry) 200))))

(defun hive-notify-start ()
  "Start announcing."
  (add-hook 'hive-arrived-functions #'hive-notify--arrived)
  (add-hook 'hive-sidecar-state-hook #'hive-notify--sidecar)
  (add-hook 'hive-outbox-rejected-functions #'hive-notify--rejected))

(defun hive-notify-stop ()
  "Stop announcing, and drop the lines that were not shown."
  (remove-hook 'hive-arrived-functions #'hive-notify--arrived)
  (remove-hook 'hive-sidecar-state-hook #'hive-notify--sidecar)
  (remove-hook 'hive-outbox-rejected-functions #'hive-notify--rejected)
  (when hive-notify--timer (cancel-timer hive-notify--timer))
  (setq hive-notify--timer nil
        hive-notify--arrived nil
        hive-notify--lines nil))

;;;; Options: notifications

;; These preferences are stored for your seat (this machine and user), so they
;; hold for every process there: each Emacs, and the agents' own processes when
;; no Emacs runs.  An option that is not nil is written to the store when Emacs
;; connects and when you change it; nil leaves the stored value alone.  In a
;; shell, `hive config' shows and sets most of them.

(defgroup hive-attention nil
  "When and how Hive notifies you of questions."
  :link '(custom-manual "(hive)Desktop notifications")
  :group 'hive)

(defun hive-notify--set (option value)
  "Set OPTION to VALUE and send the preferences to the sidecar."
  (set-default option value)
  (hive-attention-send))

(defcustom hive-notify-when nil
  "When a new question pops up on the desktop.
Critical questions pop up unless you say never."
  :type '(choice (const :tag "As stored" nil)
                 (const :tag "Always" always)
                 (const :tag "While Emacs does not have the focus" unfocused)
                 (const :tag "Never" never))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-quiet-hours nil
  "The time of day in which only critical questions pop up.
A cons of two times, such as (\"22:00\" . \"07:30\")."
  :type '(choice (const :tag "As stored" nil)
                 (const :tag "None" none)
                 (cons (string :tag "From") (string :tag "To")))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-popup-permissions nil
  "Whether the buttons of a popup may answer a permission.
Off by default, since it is easy to click by mistake.  Holds while
this Emacs is connected; nil leaves it to your file trust.json."
  :type '(choice (const :tag "As stored" nil)
                 (const :tag "Yes" t) (const :tag "No" no))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-notify-command nil
  "A shell command that gets each notification as JSON on its standard input.
Holds while this Emacs is connected; nil leaves it to your file
trust.json."
  :type '(choice (const :tag "As stored" nil)
                 (const :tag "None" none) string)
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-sound nil
  "Whether a popup makes a sound."
  :type '(choice (const :tag "As stored" nil)
                 (const :tag "Yes" t) (const :tag "No" no))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-notify-held nil
  "When you are notified that a mention holds an agent.
`never', `at-once', or after so many seconds, such as 60.  The line
names the agent, who mentioned it and since when; several agents
share one line.  `hive-notices' shows it again.  You are notified in
any case if an agent continues without processing its mentions.

There is no line while do-not-disturb is on, in quiet hours, and for
muted projects."
  :type '(choice (const :tag "As stored" nil)
                 (const :tag "Never" never)
                 (const :tag "At once" at-once)
                 (natnum :tag "After so many seconds" :value 60))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

;;;; Options: background agents

;; These hold for all seats of the store; `hive config' shows them all.

(defconst hive-notify--stored '(const :tag "As stored" nil)
  "The choice that leaves the stored value alone.")

(defconst hive-notify--yes-no
  `(choice ,hive-notify--stored (const :tag "Yes" t) (const :tag "No" no))
  "The type of a boolean option.")

(defconst hive-notify--number
  `(choice ,hive-notify--stored natnum)
  "The type of an option that is a natural number.")

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
  "When background agents must send a report before they stop.
With `on_ping', after they have shown you something; with `always',
after every turn.  With `freely' and `remind', they are never held
for a report; with `blocked', they send none."
  :type `(choice ,hive-notify--stored
                 (const on_ping) (const always) (const freely) (const remind) (const blocked))
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-outputs-per-turn nil
  "How many pings and cards a background agent may show in one turn.
0 means no limit."
  :type hive-notify--number
  :initialize #'custom-initialize-default
  :set #'hive-notify--set)

(defcustom hive-mind-busy nil
  "Whether pings and cards are refused while you are busy.
You are busy in quiet hours, while do-not-disturb is on, and shortly
after you opened a question that you have not answered.  Unless this
is t they arrive, but are not announced in quiet times."
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
  "Called with the current preferences whenever the sidecar sends them.")

;;;; Sending the preferences

(defun hive-notify--flag (value)
  "Return VALUE, t or `no', as a JSON boolean."
  (if (eq value 'no) :json-false t))

(defun hive-notify--fields (options)
  "Return OPTIONS, an alist of options and fields, as request parameters."
  (cl-loop for (option . field) in options
           for value = (symbol-value option)
           when value
           append (list field (cond ((memq value '(t no)) (hive-notify--flag value))
                                    ((symbolp value) (symbol-name value))
                                    (t value)))))

(defun hive-notify--preferences ()
  "Return the options that are set, as request parameters."
  `(,@(when hive-notify-when (list :notify_when (symbol-name hive-notify-when)))
    ,@(pcase hive-quiet-hours
        ('none (list :quiet_hours nil))
        (`(,from . ,to) (list :quiet_hours (list :from from :to to))))
    ,@(when hive-popup-permissions
        (list :popup_permissions (hive-notify--flag hive-popup-permissions)))
    ,@(pcase hive-notify-command
        ('none (list :notify_command nil))
        ((pred stringp) (list :notify_command hive-notify-command)))
    ,@(pcase hive-notify-held
        ('never (list :notify_held "never"))
        ('at-once (list :notify_held 0))
        ((pred natnump) (list :notify_held hive-notify-held)))
    ,@(when hive-sound (list :sound (hive-notify--flag hive-sound)))
    ,@(hive-notify--fields hive-notify--agents)
    ,@(let ((outreach (hive-notify--fields hive-notify--outreach)))
        (when outreach (list :outreach outreach)))))

(defun hive-attention-send ()
  "Send the options that are set to the sidecar, if it is connected.
It replies with all current preferences, including stored ones."
  (when (hive-sidecar-connected-p)
    (hive-attention-tell (hive-notify--preferences))))

(defun hive-attention-tell (preferences &optional then)
  "Send PREFERENCES; call THEN with the preferences that result."
  (hive-rpc-request
   'desk/preferences preferences
   :success (lambda (result)
              (let ((now (plist-get result :preferences)))
                (run-hook-with-args 'hive-attention-functions now)
                (when then (funcall then now))))
   :error (lambda (err)
            (hive-announce 'preference-refused (hive-text-line (plist-get err :text) 200)))))

(add-hook 'hive-connected-hook #'hive-attention-send)

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/preferences_changed)) params)
  "Take the preferences in PARAMS, which a shell or another Emacs changed."
  (run-hook-with-args 'hive-attention-functions (plist-get params :preferences)))

;;;; Muting projects

;;;###autoload
(defun hive-mute-project (project)
  "Mute or unmute PROJECT.
The questions of a muted project do not pop up, and the echo area
announces only critical ones."
  (interactive
   (list (completing-read (hive-words 'which-mute)
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
          (hive-announce (if was 'unmuted 'muted) (hive-text-line project 60))))))))

;;;###autoload
(defun hive-attention ()
  "Customize when and how you are notified of questions."
  (interactive)
  (customize-group 'hive-attention))

;;;; Do not disturb

;; While do-not-disturb is on, and in quiet hours, the sidecar pops up only
;; critical questions.  Emacs applies the same rule to the echo area, also for
;; muted projects.  At the end, one line counts the questions that arrived and
;; are still pending.

(defun hive-notify--count-since (since)
  "Return the number of pending questions that arrived after the time SINCE."
  (cl-count-if (lambda (prompt) (string< since (plist-get prompt :created_at)))
               (hive-prompts-mine)))

(defun hive-notify--say-arrived (count)
  "Report that COUNT questions arrived in a quiet time."
  (hive-announce 'quiet-arrived (hive-count count "question")))

(defvar hive-notify--since nil "When do-not-disturb began, or nil.")
(defvar hive-notify--end-timer nil "The timer of its end, or nil.")

;;;###autoload
(defun hive-do-not-disturb (&optional minutes)
  "Turn do-not-disturb on or off; while it is on, hold back notifications.
Only critical questions pop up or are announced in the echo area; a
`z' in the mode line shows that.  With a prefix argument, it ends by
itself after that many MINUTES.  At the end, one line counts the
questions that arrived."
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
         (hive-announce 'quiet-begins
                        (if minutes (hive-words 'quiet-for (hive-count minutes "minute")) "")))))))

(defun hive-notify--begin (until)
  "Note that do-not-disturb is on, UNTIL a time, or if nil without end."
  (setq hive-notify--since (hive-text-now))
  (hive-changed)
  (when hive-notify--end-timer (cancel-timer hive-notify--end-timer))
  (setq hive-notify--end-timer
        (and until
             (run-at-time (max 0 (- (hive-text-seconds until) (float-time)))
                          nil #'hive-notify--end))))

(defun hive-notify--end ()
  "Note that do-not-disturb is off, and report what arrived."
  (when hive-notify--end-timer (cancel-timer hive-notify--end-timer))
  (setq hive-notify--end-timer nil)
  (when hive-notify--since
    (let ((count (hive-notify--count-since hive-notify--since)))
      (setq hive-notify--since nil)
      (hive-changed)
      (if (> count 0)
          (hive-notify--say-arrived count)
        (hive-announce 'quiet-nothing-new)))))

;;;; Quiet hours

(defvar hive-notify--times nil "The quiet hours, a plist of :from and :to, or nil.")
(defvar hive-notify--hours-timer nil "The timer of the end of the next quiet hours, or nil.")
(defvar hive-notify--begin-timer nil "The timer of their beginning, or nil.")

(defun hive-notify--at (clock day)
  "Return the moment of CLOCK, such as \"07:30\", DAY days from today."
  (let ((today (decode-time)))
    (float-time
     (encode-time (list 0 (string-to-number (substring clock 3)) (string-to-number clock)
                        (+ day (nth 3 today)) (nth 4 today) (nth 5 today) nil -1 nil)))))

(defun hive-notify--hours (from to)
  "Return beginning and end of the next quiet hours, FROM a time TO a time."
  (let* ((now (float-time))
         (end (cl-find-if (lambda (moment) (> moment (1+ now)))
                          (list (hive-notify--at to 0) (hive-notify--at to 1))))
         (begin (cl-find-if (lambda (moment) (< moment end))
                            (list (hive-notify--at from 1) (hive-notify--at from 0)
                                  (hive-notify--at from -1)))))
    (cons begin end)))

(defun hive-notify--clock-p (text)
  "Return non-nil if TEXT is a time of day such as \"07:30\"."
  (and (stringp text) (string-match-p "\\`[0-2][0-9]:[0-5][0-9]\\'" text)))

(defun hive-notify--plan (hours)
  "Set the timers for the quiet HOURS, a plist of :from and :to, or nil.
Anything that is not two times of day means no quiet hours."
  (dolist (timer (list hive-notify--hours-timer hive-notify--begin-timer))
    (when timer (cancel-timer timer)))
  (unless (and (hive-notify--clock-p (plist-get hours :from))
               (hive-notify--clock-p (plist-get hours :to)))
    (setq hours nil))
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
  "Report what arrived in the quiet HOURS since BEGIN; plan the next ones."
  (setq hive-notify--hours-timer nil)
  (let ((count (hive-notify--count-since begin)))
    ;; Nobody asked, so do not report that nothing arrived.
    (when (> count 0) (hive-notify--say-arrived count)))
  (hive-notify--plan hours))

(defun hive-notify--hours-p ()
  "Return non-nil during quiet hours."
  (and hive-notify--times
       (<= (car (hive-notify--hours (plist-get hive-notify--times :from)
                                   (plist-get hive-notify--times :to)))
           (float-time))))

;;;; What is held back

(defvar hive-notify--muted nil "The muted projects: names, or their directories.")

(defun hive-quiet-text ()
  "Return why notifications are held back, in words, or nil if they are not."
  (cond (hive-notify--since (hive-words 'quiet-help))
        ((hive-notify--hours-p)
         (hive-words 'quiet-until (hive-text-line (plist-get hive-notify--times :to) 10)))))

(defun hive-notify--held-p (item)
  "Return non-nil if ITEM, a plist, is held back."
  ;; A question has an urgency; a ping or card is critical or is not.
  (and (not (equal (plist-get item :urgency) "critical"))
       (not (hive-rpc-true-p item :critical))
       (or (hive-quiet-text)
           (member (plist-get item :project) hive-notify--muted)
           (member (plist-get item :project_dir) hive-notify--muted))))

(add-hook 'hive-notify-held-functions #'hive-notify--held-p)

(defun hive-notify--take (preferences)
  "Apply the current PREFERENCES, which may be older than this Emacs."
  (hive-notify--plan (plist-get preferences :quiet_hours))
  (setq hive-notify--muted (append (plist-get preferences :muted_projects) nil))
  (let* ((until (plist-get preferences :do_not_disturb))
         (quiet (or (eq until t) (and (stringp until) (string< (hive-text-now) until)))))
    (cond ((and quiet (null hive-notify--since))
           (hive-notify--begin (and (stringp until) until)))
          ;; Perhaps another Emacs has ended it.
          ((not quiet) (hive-notify--end)))))

(add-hook 'hive-attention-functions #'hive-notify--take)

;;;; Notices

;; A guard gave up, a loop was stopped, an agent ended without its report: a
;; notice is shown in one line and can be read again here.  Earlier notices
;; come from the store.  An answer that could not be stored is a notice too,
;; with everything that was sent.

(defconst hive-notify--kept 200 "How many notices are kept.")
(defconst hive-notify--name "*hive notices*" "The name of their buffer.")

(defvar hive-notify--list nil "The notices, newest first.")

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/notice)) notice)
  "Show NOTICE and keep it."
  (hive-notify--keep (cons notice hive-notify--list))
  (unless (hive-notify--said-p notice)
    (hive-announce 'from-sidecar (hive-text-line (plist-get notice :text) 300))))

(defun hive-notify--said-p (notice)
  "Return non-nil if the human already knows NOTICE.
If an answer from this Emacs was rejected, its outbox has reported it."
  (and (equal "unread_answer" (plist-get notice :notice))
       (eq t (plist-get notice :sender_told))
       (equal (plist-get notice :from) (plist-get hive-sidecar-info :desk_id))))

(defun hive-notify--keep (notices)
  "Keep the newest of NOTICES, newest first."
  (let ((last (nthcdr (1- hive-notify--kept) notices)))
    (when last (setcdr last nil)))
  (setq hive-notify--list notices)
  (hive-work-guarded #'hive-notify--show))

(defun hive-notify--fetch ()
  "Fetch earlier notices from the store."
  (hive-rpc-request
   'notice/list (list :limit hive-notify--kept)
   :success
   (lambda (result)
     (let* ((stored (append (plist-get result :notices) nil))
            (newest (or (plist-get (car stored) :notice_id) -1)))
       ;; Notices that arrived during the fetch are newer than it.
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
          (unless hive-notify--list (insert (hive-words 'no-notices) "\n"))
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
  "List what Hive reported: guards that gave up, missing reports and more."
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
