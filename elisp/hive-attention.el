;;; hive-attention.el --- When to be told, and how  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What you wish of desktop notifications is kept in the store, for your
;; seat (this machine and user), so that it binds every process there: each
;; Emacs, and the agents' own when none runs.  An option that is not nil is
;; written to the store when Emacs connects and when you change it; one that
;; is nil leaves what is stored alone.  `hive config' shows and sets most of
;; it from a shell.  The mode line counts in any case.

;;; Code:

(require 'cl-lib)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-waiting)

(defgroup hive-attention nil
  "When Hive tells you of questions, and how."
  :link '(custom-manual "(hive)Desktop notifications")
  :group 'hive)

;;;; Options

(defun hive-attention--set (option value)
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
  :set #'hive-attention--set)

(defcustom hive-quiet-hours nil
  "The time of day in which only critical questions pop up.
A cons of two times, such as (\"22:00\" . \"07:30\")."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "None" none)
                 (cons (string :tag "From") (string :tag "To")))
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-popup-permissions nil
  "Whether a popup may answer a permission with a button.
Off unless you turn it on: a click is quickly done."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "Yes" t) (const :tag "No" no))
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-notify-command nil
  "A shell command that gets each notification as JSON on its standard input."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "None" none) string)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-sound nil
  "Whether a popup makes a sound."
  :type '(choice (const :tag "As it is kept in the store" nil)
                 (const :tag "Yes" t) (const :tag "No" no))
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

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
  :set #'hive-attention--set)

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
  :set #'hive-attention--set)

;;;; What background agents may show

;; These hold at every seat of the store; `hive config' shows them all.

(defconst hive-attention--stored '(const :tag "As it is kept in the store" nil)
  "The choice of an option that leaves what is stored alone.")

(defconst hive-attention--yes-no
  `(choice ,hive-attention--stored (const :tag "Yes" t) (const :tag "No" no))
  "The type of an option that is a yes or a no.")

(defconst hive-attention--number
  `(choice ,hive-attention--stored natnum)
  "The type of an option that is a whole number.")

(defcustom hive-allow-ping nil
  "Whether background agents may show you pings and cards."
  :type hive-attention--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-report-policy nil
  "When background agents owe a report before they stop.
With `on_ping' they owe one after they showed you something, with
`always' after every turn.  With `freely' and `remind' none is held
back for one; with `blocked' they send none."
  :type `(choice ,hive-attention--stored
                 (const on_ping) (const always) (const freely) (const remind) (const blocked))
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-outputs-per-turn nil
  "How many pings and cards a background agent may show in one turn.
0 is no limit."
  :type hive-attention--number
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-mind-busy nil
  "Whether pings and cards are refused while you are busy.
You are busy in quiet hours, while you are not to be disturbed, and
shortly after you opened a question that you have not answered.
Unless this is t they arrive, and in quiet times nothing announces
them."
  :type hive-attention--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-budget-capacity nil
  "How many pings and cards all background agents may show at once.
One more comes back every `hive-budget-refill-minutes'."
  :type hive-attention--number
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-budget-refill-minutes nil
  "After how many minutes background agents may show one more."
  :type hive-attention--number
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-hold-for-mentions nil
  "Whether an agent is kept from stopping while it has urgent mentions."
  :type hive-attention--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defcustom hive-hold-for-answers nil
  "Whether an agent is kept from stopping while it has unread answers."
  :type hive-attention--yes-no
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defconst hive-attention--outreach
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

(defun hive-attention--flag (value)
  "Return VALUE, t or `no', as JSON has it."
  (if (eq value 'no) :json-false t))

(defun hive-attention--outreach ()
  "Return what the options in `hive-attention--outreach' say, as JSON has it."
  (cl-loop for (option . field) in hive-attention--outreach
           for value = (symbol-value option)
           when value
           append (list field (cond ((memq value '(t no)) (hive-attention--flag value))
                                    ((symbolp value) (symbol-name value))
                                    (t value)))))

(defun hive-attention--preferences ()
  "Return the preferences that the options name, as the wire wants them."
  `(,@(when hive-notify-when (list :notify_when (symbol-name hive-notify-when)))
    ,@(pcase hive-quiet-hours
        ('none (list :quiet_hours nil))
        (`(,from . ,to) (list :quiet_hours (list :from from :to to))))
    ,@(when hive-popup-permissions
        (list :popup_permissions (hive-attention--flag hive-popup-permissions)))
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
    ,@(when hive-sound (list :sound (hive-attention--flag hive-sound)))
    ,@(let ((outreach (hive-attention--outreach)))
        (when outreach (list :outreach outreach)))))

(defun hive-attention-send ()
  "Tell the sidecar what the options say, if it is there.
It tells in turn what stands, the rest being from the store."
  (when (hive-sidecar-connected-p)
    (hive-attention-tell (hive-attention--preferences))))

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

(provide 'hive-attention)
;;; hive-attention.el ends here
