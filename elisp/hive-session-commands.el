;;; hive-session-commands.el --- What can be done with a session  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The commands of the list of sessions, which also work anywhere else: there
;; they ask for a session first.

;;; Code:

(require 'cl-lib)
(require 'hive-check-mentions)
(require 'hive-handles)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-notify)
(require 'hive-post)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-shared)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-waiting)

(defvar hive-session-at-point-function #'ignore
  "Returns the session of the row at point in `hive-sessions-mode'.")

(defun hive-session--which ()
  "Return the session at point in the list, or let the human choose one."
  (if (derived-mode-p 'hive-sessions-mode)
      (funcall hive-session-at-point-function)
    (let* ((sessions (or (hive-handles-sessions) (hive-sidecar-demand)
                         (user-error "No agent is here")))
           (handle (completing-read "Session: "
                                    (mapcar (lambda (session) (plist-get session :handle))
                                            sessions)
                                    nil t)))
      (or (cl-find handle sessions :test #'equal
                   :key (lambda (session) (plist-get session :handle)))
          (user-error "No session was named")))))

(defun hive-session--handle (session)
  "Return the handle of SESSION, to be shown."
  (hive-text-line (plist-get session :handle) 60))

(defun hive-session--place (session)
  "Return the place of SESSION."
  (list :confirmed t
        :project (plist-get session :project)
        :project_dir (plist-get session :project_dir)))

;;;; Going there

(defun hive-session-visit (session)
  "Visit the project of SESSION."
  (interactive (list (hive-session--which)))
  (let* ((project-dir (or (plist-get session :project_dir) ""))
         (directory (replace-regexp-in-string "/\\.git/?\\'" "/" project-dir)))
    (unless (and (file-name-absolute-p directory) (file-directory-p directory))
      (user-error "There is no directory %s here" (hive-text-line directory)))
    (dired directory)))

(defun hive-session-shared (session)
  "Open the shared buffer of the project of SESSION."
  (interactive (list (hive-session--which)))
  (hive-shared-display (hive-shared-buffer (hive-session--place session))
                       hive-shared-position))

;;;; Talking

(defun hive-session-mention (session body)
  "Mention SESSION in the shared buffer of its project, and tell it BODY."
  (interactive
   (let ((session (hive-session--which)))
     (list session (hive-post-read (format "Tell @%s: " (hive-session--handle session))
                                    (hive-session--place session)))))
  (hive-post-check body)
  (hive-post-send (format "@%s %s" (plist-get session :handle) body)
                  :place (hive-session--place session))
  (hive-post-say-queued))

(defun hive-session-answer (session)
  "Answer the questions of SESSION that wait."
  (interactive (list (hive-session--which)))
  (let ((prompts (cl-remove-if-not
                  (lambda (prompt)
                    (equal (plist-get prompt :session_id) (plist-get session :session_id)))
                  (hive-prompts))))
    (unless prompts (user-error "%s waits for nothing" (hive-session--handle session)))
    (hive-answer-prompt (if (cdr prompts) (hive-read-prompt prompts) (car prompts)))))

(defun hive-session-mentions (session)
  "Show what others said to SESSION."
  (interactive (list (hive-session--which)))
  (hive-check-mentions-of (plist-get session :handle)))

;;;; Configuring

(defconst hive-session--settings
  '(("shared" :shared "Takes mentions" "yes" "no")
    ("roles" :roles "Roles, e.g. reviewer")
    ("gate" :gate "What its mentions do to its tool calls" "block" "remind" "off" "default")
    ("source" :source "Where it runs" "main" "bg" "fork" "as it tells")
    ("ping" :allow_ping "May ping you" "yes" "no" "default")
    ("reports" :report_policy "When it may report"
     "on_ping" "always" "freely" "remind" "blocked" "default"))
  "What can be set: its name, its field, what it is, and its values.")

(defun hive-session--value (setting)
  "Read a value for SETTING; return what the sidecar wants."
  (pcase-let ((`(,_name ,field ,what . ,values) setting))
    (if (eq field :roles)
        (vconcat (split-string (read-string (concat what ": ")) "[ ,]+" t))
      (pcase (completing-read (concat what ": ") values nil t)
        ("yes" t) ("no" :json-false)
        ((or "default" "as it tells") nil)
        ("" (user-error "Nothing was chosen"))
        (value value)))))

(defun hive-session-configure (session setting value)
  "Set SETTING of SESSION to VALUE, as the wire has it.
Off is `shared' for a session that no @All and no mention by an
agent reaches; yours, by its name, still do.
`gate' is what unprocessed mentions do to its tool calls."
  (interactive
   (let* ((session (hive-session--which))
          (name (completing-read (format "Set of %s: " (hive-session--handle session))
                                 (mapcar #'car hive-session--settings) nil t))
          (setting (or (assoc name hive-session--settings)
                       (user-error "Nothing was chosen"))))
     (list session setting (hive-session--value setting))))
  (let ((handle (hive-session--handle session)))
    (hive-rpc-request
     'session/configure (list :session_id (plist-get session :session_id)
                              :by (hive-human-name)
                              (nth 1 setting) value)
     :success (lambda (_) (hive-notify-say "%s: %s is set" handle (car setting)))
     :error (lambda (err)
              (hive-notify-say "Hive could not set that: %s"
                               (hive-text-line (plist-get err :text) 200))))))

;;;; Interrupting

(defun hive-session-interrupt (session &optional note)
  "Interrupt what SESSION is doing, and say what came of it.
With a prefix argument, ask for a NOTE that the agent reads."
  (interactive
   (let ((session (hive-session--which)))
     (list session (when current-prefix-arg (read-string "Why: ")))))
  (when (or (not (called-interactively-p 'any))
            (y-or-n-p (format "Interrupt %s? " (hive-session--handle session))))
    (hive-interrupt-session (plist-get session :session_id) (plist-get session :handle) note)))

(provide 'hive-session-commands)
;;; hive-session-commands.el ends here
