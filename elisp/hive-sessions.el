;;; hive-sessions.el --- The list of agents  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors

;;; Commentary:

;; `hive-sessions' lists the sessions: who they are, where they run, what they
;; do and what they wait for, with keys to talk to them, answer, configure and
;; interrupt them.  It updates itself while it is visible.
;;
;; The commands also work outside the list; there they ask for a session.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-shared)
(require 'hive-shared-compose)
(require 'hive-text)
(require 'tabulated-list)

;;;; Choosing a session

(defun hive-sessions--which ()
  "Return the session at point in the list, or let the human choose one."
  (if (derived-mode-p 'hive-sessions-mode)
      (hive-sessions-at-point)
    (let* ((sessions (or (hive-model-sessions) (hive-sidecar-demand)
                         (hive-fail 'no-agents)))
           (name (completing-read (hive-words 'which-session)
                                  (hive-read-or-handle
                                   (hive-read-table (mapcar #'hive-text-title sessions)
                                                    'hive-session #'hive-read-session-affix)
                                   (mapcar (lambda (session) (plist-get session :handle)) sessions))
                                  nil t)))
      (or (hive-model-session-of sessions name)
          (hive-fail 'no-session-chosen)))))

(defun hive-sessions--title (session)
  "Return the title of SESSION for display."
  (hive-text-title session 60))

(defun hive-sessions--place (session)
  "Return the place of SESSION."
  (list :confirmed t
        :project (plist-get session :project)
        :project_dir (plist-get session :project_dir)))

;;;; Commands: going to its project

(defun hive-session-visit (session)
  "Visit the project of SESSION."
  (declare (modes hive-sessions-mode))
  (interactive (list (hive-sessions--which)))
  (let* ((project-dir (or (plist-get session :project_dir) ""))
         (directory (replace-regexp-in-string "/\\.git/?\\'" "/" project-dir)))
    (unless (and (file-name-absolute-p directory) (file-directory-p directory))
      (hive-fail 'no-directory (hive-text-line directory)))
    (dired directory)))

(defun hive-session-shared (session)
  "Open the shared buffer of the project of SESSION."
  (declare (modes hive-sessions-mode))
  (interactive (list (hive-sessions--which)))
  (hive-shared-display (hive-shared-buffer (hive-sessions--place session))
                       hive-shared-position))

;;;; Commands: talking

(defun hive-session-mention (session body)
  "Post BODY to SESSION, as a mention in the shared buffer of its project."
  (declare (modes hive-sessions-mode))
  (interactive
   (let ((session (hive-sessions--which)))
     (list session (hive-post-read (hive-words 'tell (hive-sessions--title session))
                                   (hive-sessions--place session)))))
  (hive-post-check body)
  (hive-post-send (format "@%s %s" (plist-get session :handle) body)
                  :place (hive-sessions--place session))
  (hive-post-say-queued))

(defun hive-session-answer (session)
  "Answer a pending question of SESSION."
  (declare (modes hive-sessions-mode))
  (interactive (list (hive-sessions--which)))
  (let ((prompts (cl-remove-if-not
                  (lambda (prompt)
                    (equal (plist-get prompt :session_id) (plist-get session :session_id)))
                  (hive-prompts))))
    (unless prompts (hive-fail 'session-none-pending (hive-sessions--title session)))
    (hive-answer-prompt (if (cdr prompts) (hive-read-prompt prompts) (car prompts)))))

(defun hive-session-mentions (session)
  "Show the mentions of SESSION."
  (declare (modes hive-sessions-mode))
  (interactive (list (hive-sessions--which)))
  (hive-check-mentions-of (plist-get session :handle)))

;;;; Commands: configuring and interrupting

(defconst hive-sessions--settings
  '(("name" :name setting-name)
    ("shared" :shared setting-shared "yes" "no")
    ("roles" :roles setting-roles)
    ("gate" :gate setting-gate "block" "remind" "off" "default")
    ("source" :source setting-source "main" "bg" "fork" "detected")
    ("ping" :allow_ping setting-ping "yes" "no" "default")
    ("reports" :report_policy setting-reports
     "on_ping" "always" "freely" "remind" "blocked" "default"))
  "The settings: name, field, sentence that asks, and values.")

(defun hive-sessions--value (setting)
  "Read a value for SETTING; return it as a request parameter."
  (pcase-let ((`(,_name ,field ,what . ,values) setting))
    (pcase field
      (:roles (vconcat (split-string (read-string (hive-words what)) "[ ,]+" t)))
      (:name (let ((name (string-trim (read-string (hive-words what)))))
               (unless (string-empty-p name) (hive-text-sendable name))))
      (_ (pcase (completing-read (hive-words what) values nil t)
           ("yes" t) ("no" :json-false)
           ((or "default" "detected") nil)
           ("" (hive-fail 'nothing-chosen))
           (value value))))))

(defun hive-session-configure (session setting value)
  "Set SETTING of SESSION to VALUE, a request parameter.
Its `name' is what you see it by.
A session with `shared' off gets no @All and no mentions by agents,
but still your mentions by name.  `gate' is what open mentions
do to its tool calls."
  (declare (modes hive-sessions-mode))
  (interactive
   (let* ((session (hive-sessions--which))
          (name (completing-read (hive-words 'which-setting (hive-sessions--title session))
                                 (mapcar #'car hive-sessions--settings) nil t))
          (setting (or (assoc name hive-sessions--settings)
                       (hive-fail 'nothing-chosen))))
     (list session setting (hive-sessions--value setting))))
  (let ((handle (hive-sessions--title session)))
    (hive-rpc-request
     'session/configure (list :session_id (plist-get session :session_id)
                              :by (hive-human-name)
                              (nth 1 setting) value)
     :success (lambda (_) (hive-announce 'setting-saved (car setting) handle))
     :error (lambda (err)
              (hive-announce 'setting-failed (hive-text-line (plist-get err :text) 200))))))

(defun hive-session-interrupt (session &optional note)
  "Interrupt SESSION, and report the result.
With a prefix argument, ask for a NOTE that the agent reads."
  (declare (modes hive-sessions-mode))
  (interactive
   (let ((session (hive-sessions--which)))
     (list session (when current-prefix-arg (read-string (hive-words 'session-why))))))
  (hive-interrupt-confirmed (list (cons (plist-get session :session_id) (hive-text-title session))) note))

;;;; The mode

(defconst hive-sessions--name "*hive-sessions*" "The name of the list's buffer.")
(defconst hive-sessions--rows 500 "The largest number of rows.")
(defconst hive-sessions--debounce 0.5 "Changes within so many seconds are shown together.")

(defface hive-sessions-active '((t :inherit hive-success))
  "A session that is active."
  :group 'hive)

(defface hive-sessions-ended '((t :inherit hive-shadow))
  "A session that has ended."
  :group 'hive)

(defvar hive-sessions-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'hive-session-visit)
    (define-key map (kbd "m") #'hive-session-mention)
    (define-key map (kbd "s") #'hive-session-shared)
    (define-key map (kbd "a") #'hive-session-answer)
    (define-key map (kbd "M") #'hive-session-mentions)
    (define-key map (kbd "c") #'hive-session-configure)
    (define-key map (kbd "i") #'hive-session-interrupt)
    (define-key map (kbd "e") #'hive-sessions-toggle-ended)
    map)
  "Keymap of `hive-sessions-mode'.")

(define-derived-mode hive-sessions-mode tabulated-list-mode "Hive-Sessions"
  "Major mode of the list of sessions.
\\<hive-sessions-mode-map>\\[hive-session-mention] sends a session a message, \\[hive-session-answer] answers its questions,
\\[hive-session-mentions] shows its mentions, \\[hive-session-shared] opens its shared buffer, \\[hive-session-visit] visits its
project.  \\[hive-session-configure] configures it, \\[hive-session-interrupt] interrupts it.
\\[hive-sessions-toggle-ended] also shows the sessions that have ended.
\\{hive-sessions-mode-map}"
  :interactive nil
  (hive-text-guard-files)
  (setq tabulated-list-format (vector (list (hive-words 'column-title) 24 t)
                                      (list (hive-words 'column-handle) 14 t)
                                      (list (hive-words 'column-client) 12 t)
                                      (list (hive-words 'column-source) 6 t)
                                      (list (hive-words 'column-state) 7 t)
                                      (list (hive-words 'column-project) 14 t)
                                      (list (hive-words 'column-branch) 12 t)
                                      (list (hive-words 'column-questions) 9
                                            #'hive-sessions--by-number :right-align t)
                                      (list (hive-words 'column-mentions) 8
                                            #'hive-sessions--by-number :right-align t)
                                      (list (hive-words 'column-seen) 5 nil :right-align t)
                                      (list (hive-words 'column-doing) 0 t))
        tabulated-list-padding 1
        tabulated-list-sort-key nil
        tabulated-list-entries #'hive-sessions--entries
        ;; Right-to-left text in one column must not move the others.
        bidi-paragraph-direction 'left-to-right)
  (setq truncate-lines t)
  (setq-local revert-buffer-function (lambda (&rest _) (hive-sessions-refresh)))
  (tabulated-list-init-header)
  (add-hook 'window-buffer-change-functions #'hive-sessions--window-shown nil t))

;;;; Rows

(defvar hive-sessions--list nil "The fetched sessions, newest first.")
(defvar hive-sessions--more nil "Non-nil if there are more sessions than were fetched.")
(defvar hive-sessions--ended nil "Non-nil to also show sessions that have ended.")

(defun hive-sessions--by-number (a b)
  "Return non-nil if row A has a smaller number than B in the sort column."
  (let ((column (cl-position (car tabulated-list-sort-key) tabulated-list-format
                             :key #'car :test #'equal)))
    (cl-flet ((number (row) (string-to-number (aref (cadr row) column))))
      (< (number a) (number b)))))

(defun hive-sessions--doing (session)
  "Return what SESSION does, in words."
  (let ((turn (plist-get session :turn))
        (prompt (hive-prompts-blocking (plist-get session :session_id))))
    (cond (prompt (hive-words 'session-blocked (hive-prompt-waits prompt)
                              (hive-text-line (plist-get prompt :question) 80)))
          ((null turn) "")
          ((equal "in_progress" (plist-get turn :state)) (hive-turns-doing turn))
          (t (hive-text-line (plist-get turn :sentence) 80)))))

(defun hive-sessions--count (number)
  "Return the cell for NUMBER, empty for 0."
  (cond ((not (and (numberp number) (> number 0))) "")
        (t (propertize (number-to-string number) 'face 'hive-warning))))

(defun hive-sessions--question-counts ()
  "Return a hash table of the number of pending questions by session id."
  (let ((counts (make-hash-table :test #'equal)))
    (dolist (prompt (hive-prompts) counts)
      (cl-incf (gethash (plist-get prompt :session_id) counts 0)))))

(defun hive-sessions--row (session questions)
  "Return the row of SESSION; QUESTIONS is from `hive-sessions--question-counts'."
  (let* ((state (hive-text-line (plist-get session :state) 7))
         (face (pcase state ("active" 'hive-sessions-active) ("ended" 'hive-sessions-ended)
                      (_ 'default))))
    (cl-flet ((cell (key width) (hive-text-line (plist-get session key) width)))
      (list (plist-get session :session_id)
            (vector (propertize (hive-text-title session 40) 'face face)
                    (cell :handle 40)
                    (cell :client 20) (cell :source 6)
                    (propertize state 'face face)
                    (cell :project 30) (cell :branch 30)
                    (hive-sessions--count (gethash (plist-get session :session_id) questions))
                    (hive-sessions--count (plist-get session :unprocessed_mentions))
                    (hive-text-age (plist-get session :last_seen_at))
                    (concat (if (hive-rpc-true-p session :shared) "" (hive-words 'session-not-shared))
                            (hive-sessions--doing session)))))))

(defun hive-sessions--entries ()
  "Return the rows, in the order of the sidecar."
  (let ((questions (hive-sessions--question-counts)))
    (mapcar (lambda (session) (hive-sessions--row session questions))
            (seq-take hive-sessions--list hive-sessions--rows))))

(defun hive-sessions-at-point ()
  "Return the session at point."
  (or (cl-find (tabulated-list-get-id) hive-sessions--list :test #'equal
               :key (lambda (session) (plist-get session :session_id)))
      (hive-fail 'no-session-here)))

;;;; Updating

(defvar hive-sessions--timer nil "The timer of the next fetch, or nil.")
(defvar hive-sessions--stale nil "Non-nil if something changed while the list was not visible.")

(defun hive-sessions--print ()
  "Print the list; each window stays on its session."
  (let ((places (mapcar (lambda (window)
                          (cons window (tabulated-list-get-id (window-point window))))
                        (get-buffer-window-list nil nil t)))
        (inhibit-modification-hooks t))
    (setq mode-line-process
          (when hive-sessions--more
            (hive-words 'sessions-more (length hive-sessions--list))))
    (tabulated-list-print t)
    (hive-text-say-empty (unless hive-sessions--list
                           (or (hive-sidecar-absence) (hive-words 'no-agents))))
    (pcase-dolist (`(,window . ,id) places)
      (let ((pos (and id (not (eq window (selected-window)))
                      (hive-sessions--position id))))
        (when pos (set-window-point window pos))))))

(defun hive-sessions--position (id)
  "Return where the row of the session ID begins, or nil."
  (let ((pos (point-min)))
    (while (and pos (not (equal id (get-text-property pos 'tabulated-list-id))))
      (setq pos (next-single-property-change pos 'tabulated-list-id)))
    pos))

(defun hive-sessions-refresh ()
  "Fetch the sessions and print the list."
  (interactive nil hive-sessions-mode)
  (setq hive-sessions--stale nil)
  (when (hive-sidecar-connected-p)
    (hive-rpc-request
     'session/list (list :state (if hive-sessions--ended "all" "alive")
                         :limit hive-sessions--rows)
     :success (lambda (result)
                (setq hive-sessions--list (append (plist-get result :sessions) nil)
                      hive-sessions--more (hive-rpc-true-p result :more))
                (let ((buffer (get-buffer hive-sessions--name)))
                  (when buffer
                    (with-current-buffer buffer (hive-sessions--print)))))
     :error (lambda (err) (hive-rpc-log "no sessions: %S" err)))))

(defun hive-sessions--changed (&rest _)
  "Update the list soon."
  (cond ((null (get-buffer hive-sessions--name)) (hive-sessions--unfollow))
        ((not hive-sessions--timer)
         (setq hive-sessions--timer
               (hive-later hive-sessions--debounce #'hive-sessions--refresh)))))

(defun hive-sessions--refresh ()
  "Fetch the sessions if the list is visible; otherwise mark it stale."
  (setq hive-sessions--timer nil)
  (if (get-buffer-window hive-sessions--name t)
      (hive-rpc-guarded #'hive-sessions-refresh)
    (setq hive-sessions--stale t)))

(defun hive-sessions--window-shown (window)
  "Update the list when WINDOW begins to show it."
  (when (and hive-sessions--stale (window-live-p window)
             (equal hive-sessions--name (buffer-name (window-buffer window))))
    (hive-sessions-refresh)))

(defconst hive-sessions--hooks
  '(hive-model-sessions-changed-hook hive-mentions-changed-functions hive-changed-hook)
  "The hooks that run when a row may have changed.")

(defun hive-sessions--follow ()
  "Start updating the list."
  (dolist (hook hive-sessions--hooks) (add-hook hook #'hive-sessions--changed)))

(defun hive-sessions--unfollow ()
  "Stop updating the list."
  (dolist (hook hive-sessions--hooks) (remove-hook hook #'hive-sessions--changed)))

(cl-defmethod hive-rpc-handle :extra "hive-sessions" ((_method (eql 'turn/changed)) _turn)
  "Update the list, as a turn changed."
  (hive-sessions--changed)
  (cl-call-next-method))

;;;; Commands

(defun hive-sessions-toggle-ended ()
  "Show or hide the sessions that have ended."
  (interactive nil hive-sessions-mode)
  (setq hive-sessions--ended (not hive-sessions--ended))
  (hive-sessions-refresh))

;;;###autoload
(defun hive-sessions ()
  "List the agents: who they are, what they do and what they wait for.
\\<hive-sessions-mode-map>\\[hive-session-mention] sends one a message, \\[hive-session-answer] answers its questions,
\\[hive-session-configure] configures it, \\[hive-session-interrupt] interrupts it."
  (interactive)
  (unless hive-sessions--list (hive-sidecar-demand))
  (pop-to-buffer (hive-sessions-buffer))
  (hive-sessions-refresh))

(defun hive-sessions-buffer ()
  "Return the buffer of the list, with the sessions that are known by now."
  (let ((buffer (get-buffer-create hive-sessions--name)))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-sessions-mode) (hive-sessions-mode))
      (hive-sessions--follow)
      (hive-sessions--print))
    buffer))

(provide 'hive-sessions)
;;; hive-sessions.el ends here
