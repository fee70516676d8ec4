;;; hive-list.el --- The status buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive' shows what needs you and what your agents do, in one table that
;; follows the model, in sections that can be folded.  `hive-list' shows only the
;; pending questions in that buffer, `hive-sessions' only the agents; other keys
;; show the questions that were answered, answered late, expired or cancelled.
;; Filters narrow what is shown.  A command acts on the questions in the region,
;; or else the marked ones, or else the one at point; on the line of an agent, on
;; all its questions.  Point stays on its line in every window.

;;; Code:

(require 'cl-lib)
(require 'hive-amend)
(require 'hive-batch)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-list-view)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-next)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-rules)
(require 'hive-sessions)
(require 'hive-terminal)
(require 'hive-text)
(require 'subr-x)
(require 'tabulated-list)

;;;; Commands for views, filters and pages

(defun hive-list--renew ()
  "Update this page, fetching it if need be, and all of its ages if it is short."
  (cond ((not (hive-list-live-p)) (hive-list-fetch #'hive-list--update))
        ;; This takes 12 ms for 100 lines, and 76 ms for 500.
        ((length< hive-list--lines 100) (hive-list--refresh))
        (t (hive-list--update))))

(defun hive-list--go (view filter)
  "Show VIEW with FILTER."
  (hive-list-view-set view filter)
  (clrhash hive-list--marks)
  (hive-list--print)
  (hive-list--to-first)
  (when (hive-list-agents-p) (hive-list--fetch-agents))
  (unless (hive-list-live-p) (hive-list--renew)))

(defun hive-list--fetch-agents ()
  "Fetch all agents.
Notifications report only the beginning and the end of their turns."
  (when (hive-sidecar-connected-p)
    (hive-model-refresh-sessions)
    (hive-sessions-fetch-ended)))

(defun hive-list-choose-view ()
  "Show the view whose number was pressed."
  (interactive)
  (hive-list--go (car (nth (- last-command-event ?0) hive-list-views)) hive-list--filter))

(defun hive-list--filter-by (key value)
  "Show only questions with VALUE for KEY; with an empty VALUE, all."
  (hive-list--go hive-list--view (hive-with hive-list--filter key value)))

(defun hive-list--known (key)
  "Return the distinct values of KEY in the shown and the pending questions."
  (hive-values key (append hive-list--shown (hive-prompts))))

(defun hive-list-filter-agent (agent)
  "Show only the questions from AGENT; if empty, from all agents.
AGENT is a title or a handle; the beginning is enough."
  (interactive (list (hive-read-agent "Questions from agent: " (append hive-list--shown (hive-prompts)))))
  (hive-list--filter-by
   :agent (hive-model-expand-handle agent (append hive-list--shown (hive-prompts)))))

(defun hive-list-filter-project (project)
  "Show only the questions from PROJECT; if empty, from all projects."
  (interactive (list (completing-read
                      (hive-words "Questions from project: ") (hive-list--known :project))))
  (hive-list--filter-by :project project))

(defun hive-list-filter-kind (kind)
  "Show only the questions of KIND; if empty, of all kinds."
  (interactive (list (completing-read
                      (hive-words "Kind: ") '("question" "permission") nil t)))
  (hive-list--filter-by :kind kind))

(defun hive-list-filter-text (text)
  "Show only the questions that contain TEXT; if empty, all."
  (interactive (list (read-string (hive-words "Questions containing: "))))
  (hive-list--filter-by :query text))

(defun hive-list-filter-for (name)
  "Show only the questions for NAME, a human or a team; if empty, all."
  (interactive (list (completing-read (hive-words "Questions for: ")
                                      (append (hive-list--known :to)
                                              (list (hive-human-name))))))
  (hive-list--filter-by :to name))

(defun hive-list-filter-none ()
  "Remove all filters."
  (interactive)
  (hive-list--go hive-list--view nil))

(defun hive-list-next-page (&optional back)
  "Show the next page, or if BACK, the one before."
  (interactive)
  (unless (hive-list-page-turn (not back))
    (hive-fail (if back "This is the first page" "This is the last page")))
  (goto-char (point-min))
  (if (hive-list-live-p) (hive-list--print) (hive-list--renew))
  (hive-list--to-first))

(defun hive-list--to-first ()
  "Go to the first question, or if none is shown, to the first line."
  (goto-char (point-min))
  (while (hive-list--section-at) (forward-line 1))
  (when (eobp) (goto-char (point-min))))

(defun hive-list-previous-page ()
  "Show the previous page."
  (interactive)
  (hive-list-next-page t))

;;;; The mode

(defconst hive-list-name "*hive*" "The name of the status buffer.")

(defconst hive-list--pause 0.5
  "Seconds between two updates that need a search or a fetch.")

(defconst hive-list-keys
  ;; Together they fit into 80 columns, and into 24 lines below one other window.
  '((("Questions"
      ("RET" menu-list-show hive-list-show)
      ("a" menu-list-answer hive-list-answer)
      ("s" menu-list-snooze hive-list-snooze)
      ("c" menu-list-cancel hive-list-cancel)
      ("C" "cancel ended ones" hive-cancel-ended)
      ("A" menu-list-always hive-list-always))
     ("Agents"
      ("i" menu-prompt-stop hive-list-interrupt)
      ("j" "its terminal" hive-list-visit-terminal)
      ("w" "write to it" hive-session-mention)
      ("o" menu-shared hive-session-shared)
      ("M" "its mentions" hive-session-mentions)
      ("d" "its project" hive-session-visit)
      ("e" "configure it" hive-session-configure))
     ("Show"
      ("0" "status" hive-list-choose-view)
      ("1" "pending" hive-list-choose-view)
      ("2" menu-view-answered hive-list-choose-view)
      ("3" menu-view-late hive-list-choose-view)
      ("4" menu-view-expired hive-list-choose-view)
      ("5" menu-view-cancelled hive-list-choose-view)
      ("6" menu-sessions hive-list-choose-view))
     ("Page"
      (">" "next page" hive-list-next-page)
      ("<" "previous page" hive-list-previous-page)
      ("g" menu-list-refresh hive-list-refresh)
      ("h" "everything else" hive-menu)))
    (("Marks"
      ("m" "mark" hive-list-mark)
      ("u" "unmark, or take back" hive-list-undo)
      ("U" "unmark all" hive-list-unmark-all)
      ("t" "toggle marks" hive-list-toggle-marks)
      ("% m" "mark by regexp" hive-list-mark-regexp)
      ("=" "mark what is alike" hive-list-mark-alike))
     ("Sections"
      ("TAB" "fold" hive-list-fold)
      ("<backtab>" "fold all" hive-list-fold-all)
      ("M-n" "next section" hive-list-next-section)
      ("M-p" "previous section" hive-list-previous-section)
      ("G" "other sections" hive-list-regroup)
      ("F" "preview while moving" hive-list-follow))
     ("Filter"
      ("/ a" "by agent" hive-list-filter-agent)
      ("/ p" "by project" hive-list-filter-project)
      ("/ k" "by kind" hive-list-filter-kind)
      ("/ f" "by recipient" hive-list-filter-for)
      ("/ t" "by text" hive-list-filter-text)
      ("/ /" "remove filters" hive-list-filter-none))))
  "The keys of the status buffer, as the rows of its menu are.
See `hive-keys-map'.")

(defvar hive-list-mode-map
  (hive-keys-map 'hive-list-mode hive-list-keys "q" #'hive-list-quit)
  "Keymap of `hive-list-mode'.")

(defvar-local hive-list--fetches nil "Functions that the next update calls to fetch something.")

(defvar-local hive-list--previewed nil "The id of the question that was previewed last.")
(defvar hive-list--preview nil "The buffer that is open only as a preview, or nil.")
(defvar hive-list--preview-window nil "The window that was made for the preview, or nil.")
(defvar hive-list--preview-timer nil "The timer of the next preview, or nil.")

(autoload 'hive-menu "hive-menu" "Show the keys of everything that Hive does." t)

(define-derived-mode hive-list-mode tabulated-list-mode "Hive"
  "Major mode of the status buffer: questions, agents and shared buffers.
\\<hive-list-mode-map>\\[hive-keys] is a menu of its keys, \\[hive-menu] one of all that Hive does.

Commands act on the questions in the active region, or else the marked
ones, or else the one at point; on the line of an agent, on its
questions, and on the heading of a section, on the whole section.
While an answer is delayed, \\[hive-list-undo] takes it back (see `hive-undo-seconds');
otherwise it unmarks.  \\[hive-list-quit] leaves the buffer, and removes its filters.
The buffer updates itself.
\\{hive-list-mode-map}"
  :interactive nil
  (hive-text-set-up nil t)
  (setq hive-list--marks (make-hash-table :test #'equal)
        tabulated-list-padding 1
        tabulated-list-sort-key nil
        tabulated-list-printer #'hive-list--print-row
        tabulated-list-entries #'hive-list--entries
        hive-text-part-property 'tabulated-list-id
        hive-prompt-at-point-function #'hive-list--prompt-at-point
        hive-amend-key "\\[hive-list-undo]")
  (hive-list--set-format)
  (add-hook 'window-buffer-change-functions #'hive-list--appeared nil t)
  (add-hook 'window-size-change-functions #'hive-list--resized nil t)
  (add-hook 'kill-buffer-hook #'hive-list--end-preview nil t)
  (add-hook 'deactivate-mark-hook #'hive-list--free nil t)
  (add-hook 'isearch-mode-end-hook #'hive-list--free nil t)
  (hive-rpc-while-shown 30 #'hive-list--tick))

;;;; Following the model

(defun hive-list--wait-p ()
  "Return non-nil if this buffer must not change now: hidden, or in use.
A search continues from the number of a position."
  (or (not (get-buffer-window nil t)) (hive-text-in-use-p)))

(defun hive-list--changed ()
  "Update the buffer, or if that must wait, note that it is stale."
  (hive-in-buffer hive-list-name
    (cond ((hive-list--wait-p) (setq hive-list--stale t))
          ;; A search or a fetch covers many changes.
          ((or hive-list--filter (not (hive-list-live-p))) (hive-list--later))
          (t (hive-list--update)
             ;; The lines that stayed have the ages of when they were printed.
             (hive-list--later)))))

(defun hive-list--later (&optional fetch)
  "Update the buffer soon; call FETCH then, if it is not nil."
  (when fetch (cl-pushnew fetch hive-list--fetches))
  (hive-rpc-once hive-list--pause #'hive-call-in (current-buffer) #'hive-list--catch-up))

(defun hive-list--agents-changed (&optional fetch)
  "Update the buffer soon if agents are in it; call FETCH then, if it is not nil."
  (hive-in-buffer hive-list-name
    (when (hive-list-agents-p)
      (if (get-buffer-window nil t) (hive-list--later fetch)
        (setq hive-list--stale t)))))

(defun hive-list--turn-changed (_turn)
  "Update the buffer soon, as a turn changed."
  (hive-list--agents-changed))

(defun hive-list--session-changed ()
  "Update the buffer soon, as a session changed; it may have ended."
  (hive-list--agents-changed #'hive-sessions-fetch-ended))

(defun hive-list--mention-changed (mention)
  "Update the buffer soon, as MENTION changed.
How many mentions a session has is only in the list of sessions."
  (unless (equal hive-mentions-human (plist-get mention :session_id))
    (hive-list--agents-changed #'hive-model-refresh-sessions)))

(add-hook 'hive-changed-hook #'hive-list--changed)
(add-hook 'hive-sidecar-state-hook #'hive-list--changed)
(add-hook 'hive-model-sessions-changed-hook #'hive-list--session-changed)
(add-hook 'hive-turns-changed-functions #'hive-list--turn-changed)
(add-hook 'hive-mentions-changed-functions #'hive-list--mention-changed)

(defun hive-list--catch-up ()
  "Update the buffer, and fetch what has changed."
  (when (hive-sidecar-connected-p)
    (mapc #'hive-rpc-guarded (prog1 hive-list--fetches (setq hive-list--fetches nil))))
  (if (hive-list--wait-p) (setq hive-list--stale t)
    (hive-rpc-guarded #'hive-list--renew)))

(defun hive-list--free ()
  "Update the buffer, if it has waited for the end of a region or a search."
  (when hive-list--stale (hive-list--later)))

(defun hive-list--resized (window)
  "Fit the columns to WINDOW, if the list is in it."
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (derived-mode-p 'hive-list-mode)
        (hive-rpc-guarded #'hive-list--fit)))))

(defun hive-list--appeared (window)
  "Update the list when WINDOW begins to show it."
  (hive-list--resized window)
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (and (derived-mode-p 'hive-list-mode) hive-list--stale)
        (hive-rpc-guarded #'hive-list--refresh)
        (when (hive-list-agents-p)
          (hive-list--later #'hive-list--fetch-agents))))))

(defun hive-list--tick ()
  "Update the ages, and what agents do."
  (hive-list--refresh)
  (when (and (hive-list-agents-p) (hive-turns-running))
    (hive-list--later #'hive-model-refresh-sessions)))

;;;; Commands

(declare-function hive-project-list "hive-integrations")

;;;###autoload
(defun hive ()
  "Show what needs you, and what your agents do and have done.
\\<hive-list-mode-map>\\[hive-list-show] opens what is at point, \\[hive-list-answer] answers it, \\[hive-list-fold] folds a section;
\\[hive-keys] is a menu of all keys."
  (interactive)
  (pop-to-buffer (hive-list-buffer 'status)))

;;;###autoload
(defun hive-list (&optional project)
  "Show only the questions of `hive': those that wait for you, and settled ones.
With a prefix argument, list only those of the project that you are in
\(see `hive-project-list'), which is PROJECT.
\\<hive-list-mode-map>\\[hive-list-show] shows one, \\[hive-list-answer] answers it; \\[hive-keys] is a menu of all keys."
  (interactive "P")
  (if project (hive-project-list)
    (pop-to-buffer (hive-list-buffer))))

;;;###autoload
(defun hive-sessions ()
  "Show only the agents of `hive': who they are and what they do.
\\<hive-list-mode-map>\\[hive-session-mention] sends one a message, \\[hive-list-answer] answers its questions,
\\[hive-session-configure] configures it, \\[hive-list-interrupt] interrupts it."
  (interactive)
  (pop-to-buffer (hive-list-buffer 'agents)))

(defun hive-list-buffer (&optional view)
  "Return the status buffer, up to date, with VIEW.
Without it, that is the view of questions that was shown last."
  (let ((buffer (hive-buffer hive-list-name #'hive-list-mode)))
    (with-current-buffer buffer
      (let ((new (= (point-min) (point-max)))
            (view (or view (if (hive-list-agents-p) 'waiting hive-list--view))))
        (if (not (eq view hive-list--view)) (hive-list--go view hive-list--filter)
          (hive-list--print)
          (when new (hive-list--to-first)))))
    buffer))

(defun hive-list-state ()
  "Return the view of the list, for `hive-list-restore'."
  (list :view hive-list--view :filter hive-list--filter :group hive-list-group))

(defun hive-list-restore (state)
  "Show STATE, a plist of :view, :filter and :group; each may be missing."
  (when (plist-member state :group)
    (setq-local hive-list-group (plist-get state :group)))
  (hive-list--go (or (plist-get state :view) 'waiting) (plist-get state :filter)))

(defun hive-list-index ()
  "Return the index of the list for imenu: its sections, each with its questions."
  (save-excursion
    (goto-char (point-min))
    (let (index section)
      (while (not (eobp))
        (let ((entry (cons (string-trim (if (hive-list--section-at) (buffer-substring-no-properties
                                                                     (+ 2 (point)) (line-end-position))
                                          (aref (tabulated-list-get-entry)
                                                (1- (length tabulated-list-format)))))
                           (copy-marker (point)))))
          (cond ((hive-list--section-at)
                 (setq section (list (car entry)))
                 (push section index))
                (section (nconc section (list entry)))
                (t (push entry index))))
        (forward-line 1))
      (nreverse index))))

(defun hive-list--prompt-at-point ()
  "Return the prompt at point, or nil."
  (hive-find :ask_id (tabulated-list-get-id) hive-list--shown))

(defun hive-list-quit ()
  "Leave the buffer, and remove its filters.
What showed settled questions shows the pending ones again."
  (interactive)
  (hive-list--end-preview)
  (hive-list-view-set (if (hive-list-live-p) hive-list--view 'waiting) nil)
  (clrhash hive-list--marks)
  (setq hive-list--stale t)
  (quit-window))

(defun hive-list--prompt ()
  "Return the prompt at point."
  (or (hive-list--prompt-at-point) (hive-fail 'list-none-here)))

(defun hive-list--region ()
  "Return the questions in the active region; of a folded section, all."
  (let ((end (region-end)) prompts)
    (save-excursion
      (goto-char (region-beginning))
      (forward-line 0)
      (while (< (point) end)
        (let ((id (tabulated-list-get-id)) (section (hive-list--section-at)))
          (cond ((null section) (push (list id) prompts))
                ((member (car section) hive-list--folded)
                 (push (mapcar (lambda (prompt) (plist-get prompt :ask_id))
                               (hive-list--members (car section)))
                       prompts))))
        (forward-line 1)))
    (let ((ids (apply #'append prompts)))
      (cl-remove-if-not (lambda (prompt) (member (plist-get prompt :ask_id) ids))
                        hive-list--shown))))

(defun hive-list-at-point ()
  "Return the question at point; for an agent or a heading, all its questions.
The value is a list, which is empty if there is none."
  (let ((section (hive-list--section-at)) (row (hive-sessions-row-at-point))
        (id (tabulated-list-get-id)))
    (cond (section (hive-list--members (car section)))
          (row (let ((session-id (hive-row-session-id row)))
                 (and session-id (hive-filter :session_id session-id (hive-prompts)))))
          (t (hive-filter :ask_id id hive-list--shown)))))

(defun hive-list-selected ()
  "Return the questions that a command acts on, in order.
They are those in the active region, or else the marked ones, or else
those of `hive-list-at-point'.  Signal a `user-error' if there are none."
  ;; A copy, as the lists that these are from change when something arrives.
  (copy-sequence
   (or (if (use-region-p) (hive-list--region) (hive-list--marked))
       (hive-list-at-point)
       (let ((session (and (hive-sessions-row-at-point) (hive-sessions-at-point))))
         (if session (hive-fail "%s has no pending questions" (hive-text-title session 60))
           (hive-fail 'list-none-here))))))

(defun hive-list--row ()
  "Return the row at point, or nil if a command acts on something else."
  (and (not (use-region-p)) (null (hive-list--marked)) (hive-sessions-row-at-point)))

(defun hive-list--agents ()
  "Return the agents that a command acts on: conses of a session id and a name.
That is the one whose line point is on, or else those that ask what
`hive-list-selected' returns."
  (let ((row (hive-list--row)))
    (mapcar (lambda (thing) (cons (plist-get thing :session_id) (hive-text-title thing)))
            (if (and row (hive-row-session-id row))
                (list (hive-row-thing row))
              (cl-remove-duplicates (hive-list-selected) :test #'equal :from-end t
                                    :key (lambda (prompt) (plist-get prompt :session_id)))))))

(defun hive-list--done ()
  "Unmark everything and end the region, as a command has used them."
  (deactivate-mark)
  (hive-list-unmark-all))

(defun hive-list-show ()
  "Open what is at point; on a heading, fold its section.
A question is shown in full.  For an agent, open the directory of its
project, and for a message, its shared buffer."
  (interactive)
  (let ((row (hive-sessions-row-at-point)))
    (cond ((hive-list--section-at) (hive-list-fold))
          (row (hive-sessions-set-read (hive-row-session-id row))
               (hive-row-open row))
          (t (let ((prompt (hive-list--prompt)))
               ;; From now on this window is the human's, and no preview.
               (setq hive-list--preview nil)
               (hive-prompt-show prompt))))))

(defun hive-list-answer ()
  "Answer the question or the mention of you at point, or decide about a loop.
In the view of `hive', the keys are those of `hive-next'; elsewhere, and
with a prefix argument, you answer in the minibuffer.  The prefix
argument also asks for a comment.  Several are those in
the region, the marked ones, those of an agent, or those of a section."
  (interactive)
  (let* ((row (hive-list--row)) (kind (and row (car (hive-row-id row))))
         (prompts (unless (memq kind '(loop mention)) (hive-list-selected)))
         (prompt (car prompts)) (list (current-buffer)))
    (cond ((eq kind 'mention) (hive-check-mentions-reply (hive-row-thing row)))
          ((eq kind 'loop) (hive-row-open row))
          ((cdr prompts) (hive-batch-answer prompts))
          ((and (hive-list-agents-p) (not current-prefix-arg) (hive-next-can-p prompt))
           (hive-next-one prompt))
          (t (hive-answer-prompt prompt current-prefix-arg)))
    ;; A key may have left for another buffer.
    (hive-call-in list #'hive-list--done)))

(defun hive-list-cancel ()
  "Cancel the question at point, or several: their agents get no answer."
  (interactive)
  (when (hive-cancel-confirmed (hive-list-selected)) (hive-list--done)))

(defun hive-list-snooze (&optional minutes)
  "Snooze the question at point, or several; with a prefix argument for MINUTES.
Without one, questions that are all snoozed already are un-snoozed."
  (interactive "P")
  (let* ((prompts (hive-list-selected))
         (minutes (and minutes (prefix-numeric-value minutes)))
         (awake (cl-remove-if #'hive-prompt-snoozed-p prompts)))
    (if (or (null (cdr prompts)) (and (null awake) (null minutes)))
        (dolist (prompt prompts) (hive-snooze-prompt prompt minutes))
      (let ((prompts (if minutes prompts awake)) (minutes (or minutes hive-snooze-minutes)))
        (dolist (prompt prompts) (hive-snooze-prompt prompt minutes))
        (hive-say 'snoozed (hive-count (length prompts) "question")
                  (hive-count minutes "minute"))))
    (hive-list--done)))

(defun hive-list-visit-terminal ()
  "Go to the terminal of the agent at point, in this Emacs or outside of it.
If there are several agents, show all terminals and go to the first."
  (interactive)
  (pcase-dolist (`(,session-id . ,name) (hive-list--agents))
    (hive-sessions-set-read session-id)
    (hive-terminal-visit session-id name)))

(defun hive-list-always ()
  "Show the rule that would allow what the permission at point asks for."
  (interactive)
  (hive-rule-for (car (hive-list-selected))))

(defun hive-list-interrupt ()
  "Ask the agent at point to stop, or the agents of several questions.
With a prefix argument, ask for a note that they read."
  (interactive)
  (let ((agents (hive-list--agents)))
    (when (hive-interrupt-confirmed
           agents (and current-prefix-arg
                       (hive-read-note (hive-words "Reason (RET for none): ") (caar agents))))
      (hive-list--done))))

(defun hive-list-refresh ()
  "Show the list as it is now, and fetch the questions from the sidecar."
  (interactive)
  (hive-list--refresh)
  (when (hive-sidecar-connected-p)
    (when (hive-list-agents-p) (hive-list--fetch-agents))
    (if (hive-list-live-p) (hive-model-refresh) (hive-list--renew))))

;;;; Commands for marks

(defun hive-list--set-marks (questions marked)
  "Mark QUESTIONS, or unless MARKED, unmark them."
  (dolist (prompt questions)
    (let ((id (plist-get prompt :ask_id)))
      (if marked (puthash id t hive-list--marks) (remhash id hive-list--marks))))
  (hive-list--show-marks))

(defun hive-list--show-marks ()
  "Show which questions are marked, and how many, in the mode line."
  (save-excursion
    (goto-char (point-min))
    (while (not (eobp))
      (unless (or (hive-list--section-at)
                  (eq (eq ?> (char-after))
                      (and (gethash (tabulated-list-get-id) hive-list--marks) t)))
        (tabulated-list-put-tag
         (if (eq ?> (char-after)) " " (propertize ">" 'face 'hive-list-marked))))
      (forward-line 1)))
  ;; A heading is marked if all of its section is.
  (hive-list--update t))

(defun hive-list--set-mark (marked)
  "Mark what is in the region or at point, or unless MARKED, unmark it.
Then go to the next line."
  (let ((region (use-region-p)))
    (hive-list--set-marks (or (if region (hive-list--region) (hive-list-at-point))
                              (hive-fail 'list-none-here))
                          marked)
    (if region (deactivate-mark) (forward-line 1))))

(defun hive-list-mark ()
  "Mark the question at point or those in the region, and go to the next."
  (interactive)
  (hive-list--set-mark t))

(defun hive-list-undo ()
  "Take back the answer that is delayed; if none is, unmark.
That unmarks the question at point or those in the region, and goes to
the next."
  (interactive)
  (let ((delayed (hive-amend-delayed)))
    (if delayed (hive-amend-take-back delayed) (hive-list--set-mark nil))))

(defun hive-list-unmark-all ()
  "Unmark all questions."
  (interactive)
  (unless (zerop (hash-table-count hive-list--marks))
    (clrhash hive-list--marks)
    (hive-list--show-marks)))

(defun hive-list-toggle-marks ()
  "Mark the questions of this page that are not marked, and unmark the others."
  (interactive)
  (let ((marked (cl-remove-if-not #'hive-list--marked-p hive-list--shown))
        (others (cl-remove-if #'hive-list--marked-p hive-list--shown)))
    (hive-list--set-marks marked nil)
    (hive-list--set-marks others t)))

(defun hive-list-mark-alike ()
  "Mark the question at point and those of this page that are like it.
One decision may answer all of them."
  (interactive)
  (let ((alike (hive-prompts-alike (hive-list--prompt) hive-list--shown)))
    (hive-list--set-marks alike t)
    (hive-say "Marked %d alike; a answers them together" (length alike))))

(defun hive-list-mark-regexp (regexp)
  "Mark the questions of this page whose agent, project or text matches REGEXP."
  (interactive (list (read-regexp
                      (hive-words "Mark questions matching (regexp): "))))
  (let ((matching (cl-remove-if-not
                   (lambda (prompt)
                     (cl-some (lambda (key)
                                (let ((text (plist-get prompt key)))
                                  (and (stringp text) (string-match-p regexp text))))
                              '(:question :agent :project)))
                   hive-list--shown)))
    (unless matching (hive-fail "No question matches"))
    (hive-list--set-marks matching t)))

;;;; Commands for sections

(defun hive-list--section-here ()
  "Return the key of the section at point, in a list."
  (unless (hive-list--sections-p) (hive-fail 'list-no-section))
  (or (hive-list--section-at)
      (list (hive-list--key (or (hive-sessions-row-at-point) (hive-list--prompt))))))

(defun hive-list-fold ()
  "Fold the section at point, or unfold it."
  (interactive)
  (pcase-let ((`(,key) (hive-list--section-here)))
    (setq hive-list--folded
          (if (member key hive-list--folded) (remove key hive-list--folded)
            (cons key hive-list--folded)))
    (goto-char (hive-list--position (list 'section key)))
    (hive-list--update t)))

(defun hive-list-fold-all ()
  "Fold all sections; if all are folded, unfold them."
  (interactive)
  (let* ((here (hive-list--section-here))
         (keys (mapcar #'hive-list-section-key
                       (cl-remove-if-not #'hive-list-section-p hive-list--lines)))
         (open (cl-some (lambda (key) (not (member key hive-list--folded))) keys)))
    (setq hive-list--folded (and open keys))
    (when open (goto-char (hive-list--position (cons 'section here))))
    (hive-list--update t)))

(defun hive-list-next-section (&optional back)
  "Go to the heading of the next section, or if BACK, of this or the previous one."
  (interactive)
  (unless (hive-list--sections-p) (hive-fail 'list-no-section))
  (let ((start (point)) (step (if back -1 1)))
    (while (and (zerop (forward-line step)) (not (eobp)) (not (hive-list--section-at))))
    (unless (and (hive-list--section-at) (/= (line-beginning-position)
                                             (save-excursion (goto-char start)
                                                             (line-beginning-position))))
      (goto-char start)
      (hive-fail (if back "This is the first section" "This is the last section")))))

(defun hive-list-previous-section ()
  "Go to the heading of this section, or of the previous one."
  (interactive)
  (hive-list-next-section t))

(defun hive-list-regroup ()
  "Make sections by project, by agent, or none, in turn, and sort as usual.
A view with agents always has the same sections."
  (interactive)
  (when (and (hive-list-agents-p) (null tabulated-list-sort-key))
    (hive-fail "This view always has the same sections; G after S removes the order"))
  (setq-local hive-list-group
              (cond (tabulated-list-sort-key hive-list-group)
                    ((eq hive-list-group 'project) 'agent)
                    ((eq hive-list-group 'agent) nil)
                    (t 'project)))
  (setq tabulated-list-sort-key nil
        hive-list--folded '(ended))
  (hive-list--print)
  (unless (hive-list-agents-p)
    (hive-say (pcase hive-list-group
                ('project "Sections are projects") ('agent "Sections are agents")
                (_ "No sections")))))

;;;; Preview

;; Only a command of the human in the list shows a question: no arrival does.

(defconst hive-list--preview-delay 0.1
  "How many seconds point stays on a question before it is shown.")

(define-minor-mode hive-list-follow
  "Show the question at point in another window while you move in the list.
Its window is never selected."
  :lighter " Follow"
  :interactive (hive-list-mode)
  :group 'hive
  (if (not hive-list-follow)
      (progn (remove-hook 'post-command-hook #'hive-list--moved t)
             (hive-list--end-preview))
    (add-hook 'post-command-hook #'hive-list--moved nil t)
    (setq hive-list--previewed nil)
    (hive-list--moved)))

(defun hive-list--moved ()
  "Show the question at point soon, if the human went to another one."
  (let ((id (tabulated-list-get-id)))
    (when (and (stringp id) (not (equal id hive-list--previewed))
               (eq (current-buffer) (window-buffer)))
      (setq hive-list--previewed id)
      (when hive-list--preview-timer (cancel-timer hive-list--preview-timer))
      (setq hive-list--preview-timer
            (run-with-idle-timer hive-list--preview-delay nil #'hive-list--show-preview
                                 (current-buffer) id)))))

(defun hive-list--show-preview (list id)
  "Show the question ID in another window, if point in LIST is still on it."
  (setq hive-list--preview-timer nil)
  (when (and (eq list (window-buffer)) (not (active-minibuffer-window)))
    (with-current-buffer list
      (let ((prompt (hive-find :ask_id id hive-list--shown)))
        (when (and prompt hive-list-follow (equal id (tabulated-list-get-id)))
          (hive-rpc-guarded (lambda () (hive-list--display-preview prompt))))))))

(defun hive-list--display-preview (prompt)
  "Show PROMPT in another window, in place of the one that was previewed."
  (let* ((buffers (buffer-list)) (windows (window-list)) (old hive-list--preview)
         (buffer (hive-prompt-buffer prompt))
         (window (if (window-live-p hive-list--preview-window)
                     (progn (set-window-buffer hive-list--preview-window buffer)
                            hive-list--preview-window)
                   (display-buffer buffer '(nil (inhibit-same-window . t))))))
    (unless (or (memq window windows) (window-live-p hive-list--preview-window))
      (setq hive-list--preview-window window))
    (setq hive-list--preview (cond ((eq buffer old) old)
                                   ((not (memq buffer buffers)) buffer)))
    (when (and (buffer-live-p old) (not (eq buffer old)) (not (get-buffer-window old t)))
      (kill-buffer old))))

(defun hive-list--end-preview ()
  "Close the preview, and the window that was made for it."
  (when hive-list--preview-timer (cancel-timer hive-list--preview-timer))
  (when (and (window-live-p hive-list--preview-window)
             (eq (window-buffer hive-list--preview-window) hive-list--preview))
    (delete-window hive-list--preview-window))
  (when (buffer-live-p hive-list--preview) (kill-buffer hive-list--preview))
  (setq hive-list--preview-timer nil
        hive-list--preview-window nil
        hive-list--preview nil))

(provide 'hive-list)
;;; hive-list.el ends here
