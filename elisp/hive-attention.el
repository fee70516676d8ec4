;;; hive-attention.el --- When and how you are notified  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors

;;; Commentary:

;; The options that say when and how you are notified, and how agents are held
;; and woken.  They are stored as settings of your seat, or of all seats.
;;
;; Do-not-disturb and quiet hours suppress all but critical questions, and end
;; with a line that counts what arrived.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-names)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

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

(defun hive-attention--set (option value)
  "Set OPTION to VALUE and send the preferences to the sidecar."
  (set-default option value)
  (hive-attention-send))

(defun hive-attention--type (option)
  "Return the customization type of OPTION, from `hive-attention-settings'."
  (pcase-let ((`(,_field ,_scope ,kind ,words ,unit)
               (alist-get option hive-attention-settings)))
    `(choice (const :tag "As stored" nil)
             ,@(mapcar (lambda (word)
                         (list 'const :tag
                               (capitalize (string-replace "_" " " (symbol-name word))) word))
                       words)
             ,@(pcase kind
                 ('yes-no '((const :tag "Yes" t) (const :tag "No" no)))
                 ('whole-number '(natnum))
                 ('word-or-number `((natnum :tag ,(capitalize unit))))
                 ('hours '((const :tag "None" none)
                           (cons (string :tag "From") (string :tag "To"))))
                 ('command '((const :tag "None" none) string))))))

(defcustom hive-notify-when nil
  "When a new question pops up on the desktop.
With `unfocused', which is the default, only while no Emacs of yours
has the focus; the one that has it announces in the echo area, see
`hive-notify-echo'.  With `urgent', only what is critical."
  :type (hive-attention--type 'hive-notify-when)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-quiet-hours nil
  "The time of day in which only critical questions pop up.
A cons of two times, such as (\"22:00\" . \"07:30\")."
  :type (hive-attention--type 'hive-quiet-hours)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-quiet-criticals nil
  "How many critical questions an hour break do-not-disturb and quiet hours.
So many may come at once; then one more after each part of an hour.
The others arrive silently.  0 lets none through.  The same number
holds for popups and for the echo area."
  :type (hive-attention--type 'hive-quiet-criticals)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-popup-permissions nil
  "Whether the buttons of a popup may answer a permission.
Off by default, since it is easy to click by mistake.  Holds while
this Emacs is connected; nil leaves it to your file trust.json."
  :type (hive-attention--type 'hive-popup-permissions)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-notify-command nil
  "A shell command that gets each notification as JSON on its standard input.
Holds while this Emacs is connected; nil leaves it to your file
trust.json."
  :type (hive-attention--type 'hive-notify-command)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-sound nil
  "Whether a popup makes a sound."
  :type (hive-attention--type 'hive-sound)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-notify-held nil
  "When you are notified that a mention holds an agent.
`never', `at-once', or after so many seconds, such as 60.  The line
names the agent, who mentioned it and since when; several agents
share one line.  `hive-notices' shows it again.  You are notified in
any case if an agent continues without processing its mentions.

There is no line while do-not-disturb is on, in quiet hours, and for
muted projects and agents."
  :type '(choice (const :tag "As stored" nil)
                 (const :tag "Never" never)
                 (const :tag "At once" at-once)
                 (natnum :tag "After so many seconds" :value 60))
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

;;;; Options: background agents

;; These hold for all seats of the store; `hive config' shows them all.

(defcustom hive-allow-ping nil
  "Whether background agents may show you pings and cards."
  :type (hive-attention--type 'hive-allow-ping)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-report-policy nil
  "When background agents must send a report before they stop.
With `on_ping', after they have shown you something; with `always',
after every turn.  With `freely' and `remind', they are never held
for a report; with `blocked', they send none."
  :type (hive-attention--type 'hive-report-policy)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-outputs-per-turn nil
  "How many pings and cards a background agent may show in one turn.
0 means no limit."
  :type (hive-attention--type 'hive-outputs-per-turn)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-mind-busy nil
  "Whether pings and cards are refused while you are busy.
You are busy in quiet hours, while do-not-disturb is on, and shortly
after you opened a question that you have not answered.  Unless this
is t they arrive, but are not announced in quiet times."
  :type (hive-attention--type 'hive-mind-busy)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-budget-capacity nil
  "How many pings and cards all background agents may show at once.
One more comes back every `hive-budget-refill-minutes'."
  :type (hive-attention--type 'hive-budget-capacity)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-budget-refill-minutes nil
  "After how many minutes background agents may show one more."
  :type (hive-attention--type 'hive-budget-refill-minutes)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-hold-for-mentions nil
  "Whether an agent is kept from stopping while it has urgent mentions."
  :type (hive-attention--type 'hive-hold-for-mentions)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-hold-for-answers nil
  "Whether an agent is kept from stopping while it has unread answers."
  :type (hive-attention--type 'hive-hold-for-answers)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

;;;; How agents are held, asked for and woken

;; These hold for the agents that you run on this machine.

(defcustom hive-gate nil
  "What open mentions do to the tool calls of an agent.
With `block' no tool is called until they are done, with
`remind' only urgent ones hold, with `off' none does and none wakes
an idle agent."
  :type (hive-attention--type 'hive-gate)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-stop-guard nil
  "Whether an agent is kept from stopping while it owes something.
It may owe unread answers, urgent mentions, or a report."
  :type (hive-attention--type 'hive-stop-guard)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-permission-wait nil
  "How long a permission can be answered at a desk.
After that it waits in its terminal.  A number is seconds.  With
`usual' it is a day for Claude Code, and a permission of Codex does
not wait.  With `on' it does, for 20 seconds at most; with `off' none
waits."
  :type (hive-attention--type 'hive-permission-wait)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-question-wait nil
  "How long a question of an agent's own dialog waits at a desk.
As with `hive-permission-wait'."
  :type (hive-attention--type 'hive-question-wait)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-wake nil
  "For how many hours answers and mentions wake an agent that idles.
With `off' they never do."
  :type (hive-attention--type 'hive-wake)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defvar hive-attention--muted nil "The muted projects: names, or their directories.")
(defvar hive-attention--muted-agents nil "The handles of the muted agents.")

(defvar hive-attention-functions nil
  "Called with the current preferences whenever the sidecar sends them.")

;;;; Sending the preferences

(defun hive-attention--value (value)
  "Return VALUE, that of an option which is set, as a request parameter."
  (pcase value
    ('t t)
    ('no :json-false)
    ('none nil)
    ('at-once 0)
    ((pred symbolp) (symbol-name value))
    (`(,from . ,to) (list :from from :to to))
    (_ value)))

(defun hive-attention--preferences ()
  "Return the options that are set, as request parameters."
  (let (seat everywhere)
    (pcase-dolist (`(,option ,field ,scope . ,_) (reverse hive-attention-settings))
      (when-let ((value (symbol-value option)))
        (let ((parameter (list field (hive-attention--value value))))
          (if (eq scope 'everywhere)
              (setq everywhere (append parameter everywhere))
            (setq seat (append parameter seat))))))
    (append seat (when everywhere (list :outreach everywhere)))))

(defun hive-attention-send ()
  "Send the options that are set to the sidecar, if it is connected.
It replies with all current preferences, including stored ones."
  (when (hive-sidecar-connected-p)
    (hive-attention-tell (hive-attention--preferences))))

(defun hive-attention-tell (preferences &optional then)
  "Send PREFERENCES; call THEN with the preferences that result."
  (hive-rpc-request
   'desk/preferences preferences
   :success (lambda (result)
              (let ((now (plist-get result :preferences)))
                (hive-rpc-run-hook 'hive-attention-functions now)
                (when then (funcall then now))))
   :error (lambda (err)
            (hive-announce 'preference-refused (hive-text-line (plist-get err :text) 200)))))

(add-hook 'hive-connected-hook #'hive-attention-send)

(cl-defmethod hive-rpc-handle ((_method (eql 'desk/preferences_changed)) params)
  "Take the preferences in PARAMS, which a shell or another Emacs changed."
  (hive-rpc-run-hook 'hive-attention-functions (plist-get params :preferences)))

;;;; Muting projects and agents

;; Nothing of what is muted pops up, and the echo area announces only what is
;; critical.  The mode line and the lists show all of it.

(defun hive-attention--toggle (field name)
  "Add NAME to the muted ones that the preference FIELD names, or remove it."
  (when (string-empty-p name) (hive-fail 'nothing-chosen))
  (hive-attention-tell
   nil
   (lambda (now)
     (let* ((muted (append (plist-get now field) nil))
            (was (member name muted)))
       (hive-attention-tell
        (list field (vconcat (if was (remove name muted) (append muted (list name)))))
        (lambda (_)
          (hive-announce (if was 'unmuted 'muted)
                         (if (eq field :muted_agents) (hive-model-title-of name (hive-prompts) 60)
                           (hive-text-line name 60)))))))))

(defun hive-attention--mutable ()
  "Return the agents and projects that are known or muted, as an alist.
Its keys are what to show, its values arguments of `hive-mute-popups'."
  (let* ((things (append (hive-prompts) (hive-model-sessions)
                         (mapcar (lambda (handle) (list :agent handle)) hive-attention--muted-agents)))
         (agents (hive-read-candidates (hive-model-agents things) #'hive-text-title))
         (projects (delete-dups (append (delq nil (mapcar (lambda (thing) (plist-get thing :project))
                                                          things))
                                        (copy-sequence hive-attention--muted)))))
    (append
     (mapcar (lambda (agent) (list (car agent) :muted_agents (hive-model-handle (cdr agent)))) agents)
     (mapcar (lambda (project)
               (list (hive-words 'filter-project (hive-text-line project 60)) :muted_projects project))
             projects))))

(defun hive-attention--mute-affix (lines alist)
  "Annotate LINES, keys of ALIST: the handle of an agent, and whether it is muted."
  (mapcar (lambda (line)
            (pcase-let ((`(,field ,name) (cdr (assoc line alist))))
              (list line ""
                    (propertize
                     (concat (if (eq field :muted_agents) (concat "  " (hive-text-line name 24)) "")
                             (if (member name (if (eq field :muted_agents) hive-attention--muted-agents
                                                hive-attention--muted))
                                 (hive-words 'mute-is-muted)
                               ""))
                     'face 'completions-annotations))))
          lines))

(defun hive-attention--read-mute ()
  "Let the human choose an agent or a project.
Return the arguments of `hive-mute-popups'.
A typed name with an @, or one that is a handle, is an agent; another
one that is not offered is a project."
  (let* ((alist (hive-attention--mutable))
         (name (string-trim
                (completing-read (hive-words 'which-mute)
                                 (hive-read-table (mapcar #'car alist) 'hive-session
                                                  (lambda (lines) (hive-attention--mute-affix lines alist))))))
         (handle (string-remove-prefix "@" name)))
    (cond ((cdr (assoc name alist)))
          ((or (string-prefix-p "@" name)
               (cl-find handle alist :test (lambda (handle entry) (equal (cdr entry) (list :muted_agents handle)))))
           (list :muted_agents handle))
          (t (list :muted_projects name)))))

;;;###autoload
(defun hive-mute-popups (field name)
  "Turn the popups of an agent or a project off, or on again.
Their questions do not pop up then, and the echo area announces only
critical ones.  A subagent is an agent of its own.  FIELD is
:muted_agents, with a handle as NAME, or :muted_projects.  What two
agents write to each other is not affected: a pair that keeps replying
is muted where that is announced, in `hive-notices' and `hive'."
  (interactive (hive-attention--read-mute))
  (hive-attention--toggle field name))

;;;###autoload
(defun hive-attention ()
  "Customize when and how you are notified of questions."
  (interactive nil hive-list-mode)
  (customize-group 'hive-attention))

;;;; Do not disturb

;; While do-not-disturb is on, and in quiet hours, the sidecar pops up only
;; critical questions, and only a few an hour.  Emacs applies the same rules to
;; the echo area, also for muted projects and agents.  At the end, one line
;; counts the questions that arrived and are still pending.

(defvar hive-attention--broke nil
  "The ids of the critical items that were announced in quiet times.")

(defun hive-attention--arrived (since)
  "Return the pending questions that arrived after the time SINCE."
  (cl-remove-if-not (lambda (prompt) (string< since (plist-get prompt :created_at)))
                    (hive-prompts-mine)))

(defun hive-attention--say-arrived (arrived hours)
  "Report the number of questions that ARRIVED in a quiet time.
If HOURS is non-nil, it was the quiet hours, otherwise do-not-disturb.
Name how many of them are critical and were not announced."
  (let ((silent (cl-count-if (lambda (prompt)
                               (and (equal "critical" (plist-get prompt :urgency))
                                    (not (member (plist-get prompt :ask_id) hive-attention--broke))))
                             arrived)))
    (setq hive-attention--broke nil)
    (hive-announce (if hours 'quiet-hours-arrived 'quiet-arrived)
                   (hive-count (length arrived) "question")
                   (if (> silent 0) (hive-words 'quiet-silent silent) ""))))

(defvar hive-attention--since nil "When do-not-disturb began, or nil.")
(defvar hive-attention--end-timer nil "The timer of its end, or nil.")

;;;###autoload
(defun hive-do-not-disturb (&optional minutes)
  "Turn do-not-disturb on or off; while it is on, suppress notifications.
Only critical questions pop up or are announced in the echo area, and
only a few an hour (`hive-quiet-criticals'); a `z' in the mode line
shows that.  With a prefix argument, it ends by
itself after that many MINUTES.  At the end, one line counts the
questions that arrived."
  (interactive "P")
  (if (and hive-attention--since (null minutes))
      (hive-attention-tell (list :do_not_disturb :json-false)
                           (lambda (_) (hive-attention--end)))
    (let* ((minutes (and minutes (prefix-numeric-value minutes)))
           (until (and minutes (hive-text-before (* -60 minutes)))))
      (hive-attention-tell
       (list :do_not_disturb (or until t))
       (lambda (_)
         (hive-attention--begin until)
         (hive-announce 'quiet-begins
                        (if minutes (hive-words 'quiet-for (hive-count minutes "minute")) "")))))))

(defun hive-attention--begin (until)
  "Note that do-not-disturb is on, UNTIL a time, or if nil without end."
  (setq hive-attention--since (hive-text-now))
  (hive-changed)
  (when hive-attention--end-timer (cancel-timer hive-attention--end-timer))
  (setq hive-attention--end-timer
        (and until
             (hive-later (max 0 (- (hive-text-seconds until) (hive-now)))
                         #'hive-attention--end))))

(defun hive-attention--end ()
  "Note that do-not-disturb is off, and report what arrived."
  (when hive-attention--end-timer (cancel-timer hive-attention--end-timer))
  (setq hive-attention--end-timer nil)
  (when hive-attention--since
    (let ((arrived (hive-attention--arrived hive-attention--since)))
      (setq hive-attention--since nil)
      (hive-changed)
      (if arrived
          (hive-attention--say-arrived arrived nil)
        (hive-announce 'quiet-nothing-new)))))

;;;; Quiet hours

(defvar hive-attention--times nil
  "The quiet hours that are on or come next, as the sidecar says, or nil.
A plist of :begins_at and :ends_at.")
(defvar hive-attention--hours-timer nil "The timer of the end of the next quiet hours, or nil.")
(defvar hive-attention--begin-timer nil "The timer of their beginning, or nil.")

(defun hive-attention--plan (times)
  "Set the timers for the quiet hours at TIMES, or cancel them."
  (dolist (timer (list hive-attention--hours-timer hive-attention--begin-timer))
    (when timer (cancel-timer timer)))
  (setq hive-attention--hours-timer nil
        hive-attention--begin-timer nil)
  (let ((begin (hive-text-seconds (plist-get times :begins_at)))
        (end (hive-text-seconds (plist-get times :ends_at)))
        (now (hive-now)))
    (setq hive-attention--times (and begin end times))
    (when hive-attention--times
      ;; The store's clock may be behind: one second later the hours are over.
      (setq hive-attention--hours-timer
            (hive-later (max 0 (- (1+ end) now)) #'hive-attention--hours-end
                        (plist-get times :begins_at)))
      (when (> begin now)
        (setq hive-attention--begin-timer (hive-later (- begin now) #'hive-changed)))))
  (hive-changed))

(defun hive-attention--hours-end (begin)
  "Report what arrived in the quiet hours since BEGIN; ask for the next ones."
  (setq hive-attention--hours-timer nil
        hive-attention--times nil)
  (let ((arrived (hive-attention--arrived begin)))
    ;; Nobody asked, so do not report that nothing arrived.
    (when arrived (hive-attention--say-arrived arrived t)))
  (hive-changed)
  (when (hive-sidecar-connected-p) (hive-attention-tell nil)))

(defun hive-attention--hours-p ()
  "Return non-nil during quiet hours."
  (and hive-attention--times
       (<= (hive-text-seconds (plist-get hive-attention--times :begins_at))
           (hive-now)
           (hive-text-seconds (plist-get hive-attention--times :ends_at)))))

;;;; What is suppressed

(defun hive-quiet-text ()
  "Return why notifications are suppressed, in words, or nil if they are not."
  (cond (hive-attention--since (hive-words 'quiet-help))
        ((hive-attention--hours-p)
         (hive-words 'quiet-until
                     (format-time-string
                      "%H:%M" (hive-text-seconds (plist-get hive-attention--times :ends_at)))))))

(defun hive-attention--suppressed-p (item)
  "Return non-nil if ITEM, a plist, is suppressed."
  ;; A question has an urgency; a ping or card is critical or is not.
  (if (or (equal (plist-get item :urgency) "critical")
          (hive-rpc-true-p item :critical))
      (and (hive-quiet-text) (not (hive-attention--break-quiet-p item)))
    (or (hive-quiet-text)
        (member (plist-get item :project) hive-attention--muted)
        (member (plist-get item :project_dir) hive-attention--muted)
        (hive-attention--muted-agent-p (or (plist-get item :agent) (plist-get item :from_handle))))))

(defvar hive-attention--criticals 3
  "How many critical items an hour are announced in quiet times.")
(defvar hive-attention--credits nil
  "How many more may be announced, and since when: (CREDITS . TIME), or nil.
Credits come back evenly, as those for popups do in the sidecar.")

(defun hive-attention--break-quiet-p (item)
  "Return non-nil if ITEM, which is critical, may be announced in a quiet time.
An item takes one credit, however often this is asked about it."
  (let* ((id (or (plist-get item :ask_id) (plist-get item :outreach_id)))
         (now (hive-now))
         (limit hive-attention--criticals)
         (credits (if hive-attention--credits
                      (min limit (+ (car hive-attention--credits)
                                    (/ (* limit (- now (cdr hive-attention--credits))) 3600.0)))
                    limit)))
    (cond ((member id hive-attention--broke))
          ((>= credits 1)
           (setq hive-attention--credits (cons (1- credits) now))
           (push id hive-attention--broke)))))

(defun hive-attention--muted-agent-p (handle)
  "Return non-nil if HANDLE, in any case, is that of a muted agent."
  (and (stringp handle) (member-ignore-case handle hive-attention--muted-agents)))

(add-hook 'hive-notify-suppressed-functions #'hive-attention--suppressed-p)

(defun hive-attention--apply (preferences)
  "Apply the current PREFERENCES, which may be older than this Emacs."
  (hive-attention--plan (plist-get preferences :quiet_times))
  (setq hive-attention--criticals (or (plist-get preferences :quiet_criticals) 3))
  (setq hive-attention--muted (append (plist-get preferences :muted_projects) nil)
        hive-attention--muted-agents (append (plist-get preferences :muted_agents) nil))
  (let* ((until (plist-get preferences :do_not_disturb))
         (quiet (or (eq until t) (and (stringp until) (string< (hive-text-now) until)))))
    (cond ((and quiet (null hive-attention--since))
           (hive-attention--begin (and (stringp until) until)))
          ;; Perhaps another Emacs has ended it.
          ((not quiet) (hive-attention--end)))))

(add-hook 'hive-attention-functions #'hive-attention--apply)

(provide 'hive-attention)
;;; hive-attention.el ends here
