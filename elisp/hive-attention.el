;;; hive-attention.el --- When and how you are notified  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The settings that say when and how you are notified, and how agents are held
;; and woken.  They are stored, for your seat or for all seats.
;;
;; Do-not-disturb and quiet hours suppress all but critical questions, and end
;; with a line that counts what arrived.

;;; Code:

(require 'cl-lib)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-names)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; Settings

;; Settings are stored for your seat (this machine and user), or for all seats,
;; so they hold for every process there: each Emacs, and the agents' own
;; processes when no Emacs runs.  `hive config' shows and sets them in a shell.

(defgroup hive-attention nil
  "When and how Hive notifies you of questions."
  :link '(custom-manual "(hive)Desktop notifications")
  :group 'hive)

(defun hive-attention--set (option value)
  "Set OPTION to VALUE and send the settings to the sidecar."
  (set-default option value)
  (hive-attention-send))

(defun hive-attention--type ()
  "Return the customization type of the option `hive-settings'."
  `(set
    ,@(mapcar
       (pcase-lambda (`(,key ,_scope ,text ,kind ,words ,unit))
         `(cons :tag ,(symbol-name key) :doc ,text
                (const :format "" ,key)
                (choice ,@(mapcar (lambda (word) (list 'const word)) words)
                        ,@(pcase kind
                            ('yes-no '((const :tag "Yes" t) (const :tag "No" nil)))
                            ('whole-number '((natnum)))
                            ('word-or-number `((natnum :tag ,unit)))
                            ((or 'hours 'command) '((const :tag "None" nil) (string)))))))
       hive-attention-settings)))

(defcustom hive-settings nil
  "The settings that this Emacs writes to the store when it connects.
An alist, such as ((gate . remind) (quiet_hours . \"22:00-07:30\")).
`M-x hive-settings' shows those that have no command of their own, with
what they mean, and changes one.  What is not in the alist stays as it
is stored.

popup_permissions and notify_command permit something: they are not
stored, and apply while this Emacs is connected."
  :type (hive-attention--type)
  :initialize #'custom-initialize-default
  :set #'hive-attention--set)

(defvar hive-attention--current nil "The settings that the sidecar last sent, as a plist.")

(defun hive-attention-setting (key)
  "Return the current value of the setting KEY, a keyword, or nil."
  (plist-get hive-attention--current key))

(defun hive-attention--muted (key)
  "Return what is muted according to the setting KEY, a list.
Those of :muted_projects are names or directories, those of
:muted_agents handles."
  (append (hive-attention-setting key) nil))

;;;; Sending the preferences

(defun hive-attention--value (kind value)
  "Return VALUE, that of a setting of KIND, as a request parameter."
  (pcase kind
    ('yes-no (or value :json-false))
    ('hours (pcase (and value (split-string value "-" t "[ \t]+"))
              (`(,from ,to) (list :from from :to to))
              (_ value)))
    (_ (if (and value (symbolp value)) (symbol-name value) value))))

(defun hive-attention--parameters (settings)
  "Return SETTINGS, an alist as `hive-settings' is, as request parameters."
  (let (seat everywhere)
    (pcase-dolist (`(,key . ,value) settings)
      (pcase-let* ((`(,scope ,_text ,kind . ,_) (alist-get key hive-attention-settings))
                   (parameter (list (intern (format ":%s" key)) (hive-attention--value kind value))))
        ;; The sidecar refuses a name that it does not know, with a sentence.
        (if (eq scope 'everywhere)
            (setq everywhere (append everywhere parameter))
          (setq seat (append seat parameter)))))
    (append seat (when everywhere (list :outreach everywhere)))))

(defun hive-attention-send ()
  "Send `hive-settings' to the sidecar, if it is connected.
It replies with all current settings, including stored ones."
  (when (hive-sidecar-connected-p)
    (hive-attention-tell (hive-attention--parameters hive-settings))))

(defun hive-attention-tell (preferences &optional then)
  "Send PREFERENCES; call THEN with the preferences that result."
  (hive-rpc-request
   'desk/preferences preferences
   :success (lambda (result)
              (let ((now (plist-get result :preferences)))
                (hive-rpc-guarded #'hive-attention--apply now)
                (when then (funcall then now))))
   :error (hive-announcing "Hive could not save the preference: %s")))

(add-hook 'hive-connected-hook #'hive-attention-send)

(cl-defmethod hive-rpc-handle ((_method (eql 'desk/preferences_changed)) params)
  "Take the preferences in PARAMS, which a shell or another Emacs changed."
  (hive-attention--apply (plist-get params :preferences)))

;;;; Muting projects and agents

;; Nothing from a muted project or agent pops up, and the echo area announces
;; only critical items.  The mode line and the lists show everything.

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
          (hive-announce (if was "Popups of %s are on again" "Popups of %s are off")
                         (if (eq field :muted_agents) (hive-model-title-of name (hive-prompts) 60)
                           (hive-text-line name 60)))))))))

(defun hive-attention--mutable ()
  "Return the agents and projects that are known or muted, as an alist.
Its keys are what to show, its values arguments of `hive-mute-popups'."
  (let* ((things (append (hive-prompts) (hive-model-sessions)
                         (mapcar (lambda (handle) (list :agent handle)) (hive-attention--muted :muted_agents))))
         (agents (hive-read-candidates (hive-model-agents things) #'hive-text-title))
         (projects (delete-dups (append (hive-values :project things)
                                        (hive-attention--muted :muted_projects)))))
    (append
     (mapcar (lambda (agent) (list (car agent) :muted_agents (hive-model-handle (cdr agent)))) agents)
     (mapcar (lambda (project)
               (list (hive-words 'filter-project (hive-text-line project 60)) :muted_projects project))
             projects))))

(defun hive-attention--mute-annotation (arguments)
  "Return what ARGUMENTS of `hive-mute-popups' are about, and whether it is muted."
  (pcase-let ((`(,field ,name) arguments))
    (concat (if (eq field :muted_agents) (concat "  " (hive-text-line name 24)) "")
            (if (member name (hive-attention--muted field)) (hive-words "  off") ""))))

(defun hive-attention--read-mute ()
  "Let the human choose an agent or a project.
Return the arguments of `hive-mute-popups'.
A typed name with an @, or one that is a handle, is an agent; another
one that is not offered is a project."
  (let* ((alist (hive-attention--mutable))
         (name (string-trim
                (completing-read (hive-words "Turn popups off or on for: ")
                                 (hive-read-table alist 'hive-session
                                                  #'hive-attention--mute-annotation))))
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
:muted_agents, with a handle as NAME, or :muted_projects.  This
does not affect what two agents write to each other; you can mute a pair
that keeps replying in `hive-notices' and `hive'."
  (interactive (hive-attention--read-mute))
  (hive-attention--toggle field name))

;;;; Changing a setting

(defun hive-attention--shown (key scope)
  "Return the current value of the setting KEY of SCOPE, as a person types it."
  (let* ((field (intern (format ":%s" key)))
         (value (if (eq scope 'everywhere)
                    (plist-get (hive-attention-setting :outreach) field)
                  (hive-attention-setting field))))
    (pcase value
      ('t "yes")
      (:json-false "no")
      ((or 'nil :null "") "none")
      (`(:from ,from :to ,to) (concat from "-" to))
      (_ (format "%s" value)))))

(defun hive-attention--setting-annotation (setting)
  "Return the value of SETTING and what it means, in columns."
  (pcase-let ((`(,key ,scope ,text . ,_) setting))
    (concat (make-string (max 1 (- 16 (string-width (symbol-name key)))) ?\s)
            (propertize (format "%-12s " (hive-attention--shown key scope))
                        'face 'completions-common-part)
            text)))

(defconst hive-attention--hours
  (let ((time "\\(?:[01][0-9]\\|2[0-3]\\):[0-5][0-9]")) (format "\\`%s *- *%s\\'" time time))
  "A regexp that matches quiet hours.")

(defun hive-attention--parsed (kind words given)
  "Return a list of the value that GIVEN is for a setting of KIND and WORDS.
Return nil if the setting does not take it."
  (pcase kind
    ((guard (member given (mapcar #'symbol-name words))) (list (intern given)))
    ('yes-no (cdr (assoc given '(("yes" t) ("no" nil)))))
    ('hours (cond ((equal given "none") (list nil))
                  ((string-match-p hive-attention--hours given) (list given))))
    ((or 'whole-number 'word-or-number)
     (and (string-match-p "\\`[0-9]+\\'" given) (list (string-to-number given))))))

(defun hive-attention--takes (kind words unit)
  "Return what a setting of KIND takes: WORDS, or a number of UNIT."
  (let ((words (mapconcat #'symbol-name words ", ")))
    (pcase kind
      ('yes-no (hive-words "yes or no"))
      ('hours (hive-words "two times of day, such as 22:00-07:30, or none"))
      ('whole-number (hive-words "a whole number"))
      ('word-or-number (hive-words "%s, or a whole number of %s" words unit))
      (_ (hive-words "one of %s" words)))))

(defun hive-attention--read-value (key)
  "Read a value for the setting KEY; return it as in `hive-settings', or `default'."
  (pcase-let* ((`(,scope ,_text ,kind ,words ,unit) (alist-get key hive-attention-settings))
               (offered (append (mapcar #'symbol-name words)
                                (pcase kind ('yes-no '("yes" "no")) ('hours '("none")))
                                '("default")))
               (given (string-trim
                       (completing-read
                        (hive-words "%s%s (now %s): " key (if unit (concat " in " unit) "")
                                    (hive-attention--shown key scope))
                        offered))))
    (cond ((equal given "") (hive-fail 'nothing-chosen))
          ((equal given "default") 'default)
          (t (car (or (hive-attention--parsed kind words given)
                      (hive-fail "%s takes %s, not \"%s\"" key
                                 (hive-attention--takes kind words unit)
                                 (hive-text-line given 40))))))))

;;;###autoload
(defun hive-settings (key value)
  "Show the settings with their values, and store the VALUE of one, KEY.
The value `default' restores its default.  A setting that is in the
option `hive-settings' is set again when Emacs next connects."
  (interactive
   (let* ((stored (cl-remove 'connection hive-attention-settings :key #'cadr))
          (name (completing-read (hive-words "Setting: ")
                                 (hive-read-table (mapcar (lambda (setting) (cons (symbol-name (car setting)) setting))
                                                          stored)
                                                  'hive-setting #'hive-attention--setting-annotation)
                                 nil t)))
     (when (string-empty-p name) (hive-fail 'nothing-chosen))
     (list (intern name) (hive-attention--read-value (intern name)))))
  (let* ((scope (car (alist-get key hive-attention-settings)))
         (parameters (if (eq value 'default)
                         (let ((parameter (list (intern (format ":%s" key)) nil)))
                           (if (eq scope 'everywhere) (list :outreach parameter) parameter))
                       (hive-attention--parameters (list (cons key value))))))
    (hive-attention-tell
     parameters
     (lambda (_)
       (hive-announce "%s: %s%s" key (hive-attention--shown key scope)
                      (if (assq key hive-settings)
                          (hive-words ". Your option hive-settings has it, too, and sets it again when Emacs next connects")
                        ""))))))

;;;; Do not disturb

;; While do-not-disturb is on, and in quiet hours, the sidecar pops up only
;; critical questions, and only a few an hour.  Emacs applies the same rules to
;; the echo area, also for muted projects and agents.  At the end, one line
;; counts the questions and mentions that arrived and are still open, and the
;; pings and cards.

(defvar hive-attention--broke nil
  "The ids of the critical items that were announced in quiet times.")

(defvar hive-attention--outreach nil
  "The pings and cards that arrived in quiet times.")

(cl-defmethod hive-rpc-handle :after ((_method (eql 'outreach/received)) item)
  "Remember ITEM for the end of a quiet time."
  (when (and (hive-quiet-text)
             (member (plist-get item :kind) '("ping" "card"))
             (not (equal (plist-get item :status) "suppressed")))
    (push item hive-attention--outreach)))

(defun hive-attention--arrived (since)
  "Return what arrived after the time SINCE: questions, mentions, pings and cards.
The questions and mentions among them are still open."
  (cl-remove-if-not (lambda (item) (string< since (plist-get item :created_at)))
                    (append (hive-prompts-mine) (hive-mentions-open) hive-attention--outreach)))

(defun hive-attention--critical-p (item)
  "Return non-nil if ITEM is critical."
  ;; A question has an urgency, a mention a priority; a ping or card is critical
  ;; or is not.
  (or (equal (plist-get item :urgency) "critical")
      (equal (plist-get item :priority) "urgent")
      (hive-rpc-true-p item :critical)))

(defun hive-attention--id (item)
  "Return the id of ITEM."
  (or (plist-get item :ask_id) (plist-get item :outreach_id) (plist-get item :mention_id)))

(defun hive-attention--count (items)
  "Return in words how many of ITEMS are questions, and so on."
  (string-join
   (cl-loop for noun in '("question" "mention" "ping" "card")
            for count = (cl-count noun items :test #'equal
                                  :key (lambda (item)
                                         (cond ((plist-get item :outreach_id) (plist-get item :kind))
                                               ((plist-get item :mention_id) "mention")
                                               (t "question"))))
            when (> count 0) collect (hive-count count noun))
   ", "))

(defun hive-attention--say-arrived (arrived hours)
  "Report how much ARRIVED in a quiet time.
If HOURS is non-nil, it was the quiet hours, otherwise do-not-disturb.
Name how many of them are critical and were not announced."
  (let ((silent (cl-count-if (lambda (item)
                               (and (hive-attention--critical-p item)
                                    (not (member (hive-attention--id item) hive-attention--broke))))
                             arrived)))
    (setq hive-attention--broke nil)
    (hive-announce (if hours
                       "Quiet hours are over; %s arrived%s"
                     "Do not disturb is off; %s arrived%s")
                   (hive-attention--count arrived)
                   (if (> silent 0)
                       (hive-words "; %d of them are critical and were not announced"
                                   silent) ""))))

(defvar hive-attention--since nil "When do-not-disturb began, or nil.")
(defvar hive-attention--end-timer nil "The timer of its end, or nil.")

;;;###autoload
(defun hive-do-not-disturb (&optional minutes)
  "Turn do-not-disturb on or off; while it is on, suppress notifications.
Only critical questions, and only a few an hour, then pop up or are
announced in the echo area; a `z' in the mode line shows that.  With a
prefix argument, it ends by itself after that many MINUTES.  At the
end, one line counts what arrived."
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
         (hive-announce "Do not disturb is on%s; only a few critical questions are announced"
                        (if minutes (hive-words " for %s" (hive-count minutes "minute")) "")))))))

(defun hive-attention--begin (until)
  "Note that do-not-disturb is on, UNTIL a time, or if nil without end.
If it is on already, this may be another end of it."
  (unless hive-attention--since
    (setq hive-attention--since (hive-text-now))
    (hive-changed))
  (hive-set-timer 'hive-attention--end-timer
                  (and until (max 0 (- (hive-text-seconds until) (hive-now))))
                  #'hive-attention--end))

(defun hive-attention--end ()
  "Note that do-not-disturb is off, and report what arrived."
  (hive-set-timer 'hive-attention--end-timer)
  (when hive-attention--since
    (let ((arrived (hive-attention--arrived hive-attention--since)))
      (setq hive-attention--since nil)
      (hive-attention--forget)
      (hive-changed)
      (if arrived
          (hive-attention--say-arrived arrived nil)
        (hive-announce "Do not disturb is off; nothing new")))))

(defun hive-attention--forget ()
  "Forget the pings and cards of a quiet time that is over."
  (unless (hive-quiet-text) (setq hive-attention--outreach nil)))

;;;; Quiet hours

(defvar hive-attention--times nil
  "The quiet hours that are on or come next, as the sidecar says, or nil.
A plist of :begins_at and :ends_at.")
(defvar hive-attention--hours-timer nil "The timer of the end of the next quiet hours, or nil.")
(defvar hive-attention--begin-timer nil "The timer of their beginning, or nil.")

(defun hive-attention--plan (times)
  "Set the timers for the quiet hours at TIMES, or cancel them."
  (let ((begin (hive-text-seconds (plist-get times :begins_at)))
        (end (hive-text-seconds (plist-get times :ends_at)))
        (now (hive-now)))
    (setq hive-attention--times (and begin end times))
    (hive-set-timer 'hive-attention--hours-timer
                    ;; The store's clock may be behind: one second later the hours are over.
                    (and hive-attention--times (max 0 (- (1+ end) now)))
                    #'hive-attention--hours-end (plist-get times :begins_at))
    (hive-set-timer 'hive-attention--begin-timer
                    (and hive-attention--times (> begin now) (- begin now))
                    #'hive-changed))
  (hive-changed))

(defun hive-attention--hours-end (begin)
  "Report what arrived in the quiet hours since BEGIN; ask for the next ones."
  (setq hive-attention--times nil)
  (let ((arrived (hive-attention--arrived begin)))
    ;; Nobody asked, so do not report that nothing arrived.
    (when arrived (hive-attention--say-arrived arrived t)))
  (hive-attention--forget)
  (hive-changed)
  (when (hive-sidecar-connected-p) (hive-attention-tell nil)))

(defun hive-attention--hours-p ()
  "Return non-nil during quiet hours."
  (and hive-attention--times
       (<= (hive-text-seconds (plist-get hive-attention--times :begins_at))
           (hive-now)
           (hive-text-seconds (plist-get hive-attention--times :ends_at)))))

;;;; Suppressing announcements

(defun hive-quiet-text ()
  "Return why notifications are suppressed, in words, or nil if they are not."
  (cond (hive-attention--since
         (hive-words "Do not disturb is on; M-x hive-do-not-disturb turns it off"))
        ((hive-attention--hours-p)
         (hive-words "Quiet hours until %s"
                     (hive-text-local (plist-get hive-attention--times :ends_at) "%H:%M")))))

(defun hive-attention--suppressed-p (item)
  "Return non-nil if ITEM, a plist, is suppressed."
  (if (hive-attention--critical-p item)
      (and (hive-quiet-text) (not (hive-attention--break-quiet-p item)))
    (or (hive-quiet-text)
        (cl-intersection (list (plist-get item :project) (plist-get item :project_dir))
                         (hive-attention--muted :muted_projects) :test #'equal)
        (let ((handle (or (plist-get item :agent) (plist-get item :from_handle))))
          (and (stringp handle) (member-ignore-case handle (hive-attention--muted :muted_agents)))))))

(defconst hive-attention--criticals 3
  "How many critical items an hour are announced in quiet times.
The sidecar lets as many popups through.")
(defvar hive-attention--credits nil
  "How many more may be announced, and since when: (CREDITS . TIME), or nil.
Credits come back evenly, as those for popups do in the sidecar.")

(defun hive-attention--break-quiet-p (item)
  "Return non-nil if ITEM, which is critical, may be announced in a quiet time.
An item takes one credit, however often this function is called for it."
  (let* ((id (hive-attention--id item))
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

(add-hook 'hive-notify-suppressed-functions #'hive-attention--suppressed-p)

(defun hive-attention--apply (preferences)
  "Apply the current PREFERENCES, which may be older than this Emacs."
  (setq hive-attention--current preferences)
  (hive-attention--plan (plist-get preferences :quiet_times))
  (let* ((until (plist-get preferences :do_not_disturb))
         (quiet (or (eq until t) (and (stringp until) (string< (hive-text-now) until)))))
    ;; Perhaps another Emacs has ended it, or set another end.
    (if quiet (hive-attention--begin (and (stringp until) until)) (hive-attention--end))))

(provide 'hive-attention)
;;; hive-attention.el ends here
