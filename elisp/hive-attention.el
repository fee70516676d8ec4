;;; hive-attention.el --- When to be told, and how  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What you wish of desktop notifications is kept in the store, for your
;; seat (this machine and user), so that it binds every process there: each
;; Emacs, and the agents' own when none runs.  Options that are nil leave
;; what stands in the store alone.  The mode line counts in any case.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)

(defgroup hive-attention nil
  "When Hive tells you of questions, and how."
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

;;;; What the sidecar is told

(defun hive-attention--flag (value)
  "Return VALUE, t or `no', as JSON has it."
  (if (eq value 'no) :json-false t))

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
    ,@(when hive-sound (list :sound (hive-attention--flag hive-sound)))))

(defun hive-attention-send ()
  "Tell the sidecar what the options say, if it is there."
  (let ((preferences (hive-attention--preferences)))
    (when (and preferences (hive-sidecar-connected-p))
      (hive-attention--tell preferences))))

(defun hive-attention--tell (preferences &optional then)
  "Send PREFERENCES; call THEN with what stands afterwards."
  (hive-rpc-request
   'desk/preferences preferences
   :success (lambda (result)
              (when then (funcall then (plist-get result :preferences))))
   :error (lambda (err)
            (hive-notify-say "Hive did not take the preference: %s"
                             (hive-text-line (plist-get err :text) 200)))))

(add-hook 'hive-connected-hook #'hive-attention-send)

;;;; Do not disturb

(defvar hive-attention--quiet-since nil "When do-not-disturb began, or nil.")
(defvar hive-attention--quiet-timer nil "The timer of its end, or nil.")

;;;###autoload
(defun hive-do-not-disturb (&optional minutes)
  "Let only critical questions pop up, until this is called again.
With a prefix argument, for that many MINUTES.  What arrived
meanwhile is told of in one line at the end."
  (interactive "P")
  (if (and hive-attention--quiet-since (null minutes))
      (hive-attention--tell (list :do_not_disturb :json-false)
                            (lambda (_) (hive-attention--digest)))
    (let ((until (and minutes
                      (format-time-string
                       "%Y-%m-%dT%H:%M:%S.%3NZ"
                       (time-add nil (* 60 (prefix-numeric-value minutes))) t))))
      (hive-attention--tell (list :do_not_disturb (or until t))
                            (lambda (_) (hive-attention--begin minutes))))))

(defun hive-attention--begin (minutes)
  "Note that it is quiet now, for MINUTES or until told otherwise."
  (setq hive-attention--quiet-since (hive-text-now))
  (when hive-attention--quiet-timer (cancel-timer hive-attention--quiet-timer))
  (setq hive-attention--quiet-timer
        (and minutes
             (run-at-time (* 60 (prefix-numeric-value minutes)) nil #'hive-attention--digest)))
  (hive-notify-say "Do not disturb: only critical questions pop up%s"
                   (if minutes (format " for %d minutes" (prefix-numeric-value minutes)) "")))

(defun hive-attention--digest ()
  "Say what arrived while it was quiet."
  (when hive-attention--quiet-timer (cancel-timer hive-attention--quiet-timer))
  (setq hive-attention--quiet-timer nil)
  (when hive-attention--quiet-since
    (let* ((since hive-attention--quiet-since)
           (waiting (cl-count-if (lambda (prompt)
                                   (string< since (plist-get prompt :created_at)))
                                 (hive-prompts-mine))))
      (setq hive-attention--quiet-since nil)
      (hive-notify-say (if (> waiting 0)
                           "Meanwhile %d question%s arrived that still wait%s"
                         "Nothing arrived meanwhile that still waits")
                       waiting (if (= waiting 1) "" "s") (if (= waiting 1) "s" "")))))

;;;; Projects

;;;###autoload
(defun hive-mute-project (project)
  "Let no question of PROJECT pop up, or let them again.
Critical ones do in any case."
  (interactive
   (list (completing-read "Mute or unmute project: "
                          (delete-dups (mapcar (lambda (prompt)
                                                 (hive-text-line (plist-get prompt :project)))
                                               (hive-prompts))))))
  (hive-attention--tell
   nil
   (lambda (now)
     (let* ((muted (append (plist-get now :muted_projects) nil))
            (was (member project muted)))
       (hive-attention--tell
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
