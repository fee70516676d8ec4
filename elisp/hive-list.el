;;; hive-list.el --- The list of questions  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-list' shows the pending questions in a table that follows the model;
;; other keys show those that were answered, answered late, expired or
;; cancelled.  Filters narrow the list, and marked questions are answered
;; with one decision.  Point stays on its question in every window.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-list-view)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)
(require 'tabulated-list)

;;;; Commands for views, filters and pages

(defun hive-list--renew ()
  "Update this page, fetching it if need be."
  (if (eq hive-list--view 'waiting)
      (hive-list--update)
    (hive-list-fetch #'hive-list--update)))

(defun hive-list--go (view filter)
  "Show VIEW with FILTER."
  (hive-list-view-set view filter)
  (setq tabulated-list-format (hive-list--format))
  (tabulated-list-init-header)
  (clrhash hive-list--marks)
  (hive-list--print)
  (goto-char (point-min))
  (unless (eq view 'waiting) (hive-list--renew)))

(defun hive-list-choose-view ()
  "Show the view whose number was pressed."
  (interactive nil hive-list-mode)
  (hive-list--go (car (nth (- last-command-event ?1) hive-list-views)) hive-list--filter))

(defun hive-list--filter-by (key value)
  "Show only questions with VALUE for KEY; with an empty VALUE, all."
  (let ((filter (copy-sequence hive-list--filter)))
    (cl-remf filter key)
    (hive-list--go hive-list--view
                   (if (string-empty-p value) filter
                     (append filter (list key (hive-text-sendable value)))))))

(defun hive-list--known (key)
  "Return the distinct values of KEY in the shown and the pending questions."
  (let ((seen (make-hash-table :test #'equal)) values)
    (dolist (prompts (list hive-list--shown (hive-prompts)))
      (dolist (prompt prompts)
        (let ((value (plist-get prompt key)))
          (unless (gethash value seen)
            (puthash value t seen)
            (push value values)))))
    (nreverse values)))

(defun hive-list-filter-agent (agent)
  "Show only the questions from AGENT; if empty, from all agents.
The beginning of a name is enough."
  (interactive (list (completing-read (hive-words 'which-agent) (hive-list--known :agent)))
               hive-list-mode)
  (hive-list--filter-by :agent (hive-model-expand-handles agent (hive-list--known :agent))))

(defun hive-list-filter-project (project)
  "Show only the questions from PROJECT; if empty, from all projects."
  (interactive (list (completing-read (hive-words 'which-project) (hive-list--known :project)))
               hive-list-mode)
  (hive-list--filter-by :project project))

(defun hive-list-filter-kind (kind)
  "Show only the questions of KIND; if empty, of all kinds."
  (interactive (list (completing-read (hive-words 'which-kind) '("question" "permission") nil t)) hive-list-mode)
  (hive-list--filter-by :kind kind))

(defun hive-list-filter-text (text)
  "Show only the questions that contain TEXT; if empty, all."
  (interactive (list (read-string (hive-words 'which-text))) hive-list-mode)
  (hive-list--filter-by :query text))

(defun hive-list-filter-for (name)
  "Show only the questions for NAME, a human or a team; if empty, all."
  (interactive (list (completing-read (hive-words 'which-recipient)
                                      (append (delq nil (hive-list--known :to))
                                              (list (hive-human-name)))))
               hive-list-mode)
  (hive-list--filter-by :to name))

(defun hive-list-filter-none ()
  "Remove all filters."
  (interactive nil hive-list-mode)
  (hive-list--go hive-list--view nil))

(defun hive-list--turn (forward)
  "Turn the page, to the next if FORWARD."
  (unless (hive-list-page-turn forward)
    (hive-fail (if forward 'last-page 'first-page)))
  (goto-char (point-min))
  (if (eq hive-list--view 'waiting) (hive-list--print) (hive-list--renew))
  (goto-char (point-min)))

(defun hive-list-next-page ()
  "Show the next page."
  (interactive nil hive-list-mode)
  (hive-list--turn t))

(defun hive-list-previous-page ()
  "Show the previous page."
  (interactive nil hive-list-mode)
  (hive-list--turn nil))

;;;; Answering the marked questions

;; Marked questions are answered with one decision.  The choices are the
;; options that all of them have, and free text if all of them allow it.  Each
;; question gets an answer of its own.

(defun hive-list--labels (prompt)
  "Return the labels of the options of PROMPT."
  (mapcar (lambda (option) (plist-get option :label)) (plist-get prompt :options)))

(defun hive-list-mark-common (questions)
  "Return one question in place of all QUESTIONS, for `hive-read-answer'.
Signal a `user-error' if no answer would fit them all."
  (let* ((first (car questions))
         (common (cl-remove-if-not
                  (lambda (option)
                    (cl-every (lambda (prompt)
                                (member (plist-get option :label) (hive-list--labels prompt)))
                              questions))
                  (append (plist-get first :options) nil)))
         (free (cl-every (lambda (prompt) (hive-rpc-true-p prompt :allow_free_text)) questions)))
    (unless (or common free)
      (hive-fail 'batch-nothing-common))
    (list :ask_id (plist-get first :ask_id)
          :lead (hive-list--lead questions)
          :question (mapconcat (lambda (prompt)
                                 (concat (hive-text-agent prompt 20) ": "
                                         (hive-text-line (plist-get prompt :question) 60)))
                               questions " · ")
          :options (vconcat common)
          :multi_select :json-false
          :allow_free_text (if free t :json-false))))

(defun hive-list--lead (questions)
  "Return the beginning of the minibuffer prompt for QUESTIONS."
  (let ((permissions (cl-count-if #'hive-permission-p questions)))
    (hive-words 'batch-lead (hive-count (length questions) "question")
                (if (> permissions 0)
                    (propertize (hive-words 'batch-permissions
                                            (hive-count permissions "PERMISSION" "PERMISSIONS"))
                                'face 'warning)
                  ""))))

(defun hive-list--confirm (questions decision)
  "Let the human confirm DECISION if it may permit something of QUESTIONS."
  (let ((permissions (cl-count-if (lambda (prompt) (hive-permission-confirmed-p prompt decision))
                                  questions)))
    (unless (or (zerop permissions)
                (y-or-n-p (hive-words 'batch-permissions? (hive-count permissions "permission")
                                      (hive-text-line decision 60))))
      (hive-fail 'still-all-pending))))

(defun hive-list-mark-answer (questions)
  "Read one decision, and answer QUESTIONS with it.
A decision that may grant a permission is confirmed first."
  (setq questions (mapcar #'hive-respond-open questions))
  (mapc #'hive-respond-seen questions)
  (let ((answer (hive-read-answer (hive-list-mark-common questions))))
    (when (hive-respond-empty-p answer)
      (hive-fail 'still-all-pending))
    (hive-list--confirm questions (plist-get answer :decision))
    (dolist (prompt questions)
      (let ((decision (plist-get answer :decision)))
        (hive-respond-send prompt
                           (if (member decision (hive-list--labels prompt))
                               (list :decision decision :selected (vector decision))
                             (list :decision decision)))))
    (hive-say 'answers-queued (length questions))))

;;;; The mode

(defconst hive-list-name "*hive*" "The name of the list's buffer.")

(defconst hive-list--pause 0.5
  "Seconds between two updates that need a search or a fetch.")

(defvar hive-list-mode-map
  (let ((map (make-sparse-keymap)) (filters (make-sparse-keymap)))
    (define-key map (kbd "RET") #'hive-list-show)
    (define-key map "a" #'hive-list-answer)
    (define-key map "c" #'hive-list-cancel)
    (define-key map "s" #'hive-list-snooze)
    (define-key map "i" #'hive-list-interrupt)
    (define-key map "j" #'hive-list-visit-terminal)
    (define-key map "m" #'hive-list-mark)
    (define-key map "u" #'hive-list-unmark)
    (define-key map "U" #'hive-list-unmark-all)
    (define-key map "g" #'hive-list-refresh)
    (define-key map ">" #'hive-list-next-page)
    (define-key map "<" #'hive-list-previous-page)
    (dotimes (n (length hive-list-views))
      (define-key map (number-to-string (1+ n)) #'hive-list-choose-view))
    (define-key filters "a" #'hive-list-filter-agent)
    (define-key filters "p" #'hive-list-filter-project)
    (define-key filters "k" #'hive-list-filter-kind)
    (define-key filters "f" #'hive-list-filter-for)
    (define-key filters "t" #'hive-list-filter-text)
    (define-key filters "/" #'hive-list-filter-none)
    (define-key map "/" filters)
    map)
  "Keymap of `hive-list-mode'.")

(defvar-local hive-list--timer nil "The timer that updates the ages.")
(defvar-local hive-list--soon nil "The timer of the next update, or nil.")

(define-derived-mode hive-list-mode tabulated-list-mode "Hive"
  "Major mode of the list of questions.
\\<hive-list-mode-map>1 to 5 show the pending, answered, late, expired and cancelled ones.
\\[hive-list-show] shows a question in full, \\[hive-list-answer] answers it, \\[hive-list-cancel] cancels it,
\\[hive-list-snooze] snoozes it; \\[hive-list-visit-terminal] goes to its agent's terminal, \\[hive-list-interrupt] interrupts
the agent.  \\[hive-list-mark] marks, \\[hive-list-unmark] and \\[hive-list-unmark-all] unmark; with marks, \\[hive-list-answer] answers all
marked questions with one decision.  \\[hive-list-filter-agent], \\[hive-list-filter-project], \\[hive-list-filter-kind], \\[hive-list-filter-for] and
\\[hive-list-filter-text] filter, \\[hive-list-filter-none] removes the filters; \\[hive-list-next-page] and \\[hive-list-previous-page] turn pages.
The list updates itself.
\\{hive-list-mode-map}"
  (setq hive-list--marks (make-hash-table :test #'equal)
        tabulated-list-format (hive-list--format)
        tabulated-list-padding 1
        tabulated-list-sort-key nil
        tabulated-list-printer #'hive-list--print-row
        tabulated-list-entries (lambda () (mapcar #'hive-list--row (hive-list--wanted)))
        ;; Right-to-left text in one column must not move the others.
        bidi-paragraph-direction 'left-to-right)
  (setq truncate-lines t)
  (tabulated-list-init-header)
  (add-hook 'window-buffer-change-functions #'hive-list--appeared nil t)
  (add-hook 'window-size-change-functions #'hive-list--resized nil t)
  (add-hook 'kill-buffer-hook #'hive-list--end nil t)
  (setq hive-list--timer (run-at-time 30 30 #'hive-list--tick (current-buffer))))

;;;; Following the model

(defconst hive-list--hooks '(hive-changed-hook hive-sidecar-state-hook)
  "The hooks that run when the list may have changed.")

(defun hive-list--changed ()
  "Update the list, or if it is out of sight, note that it is stale."
  (let ((buffer (get-buffer hive-list-name)))
    (if (not buffer)
        (dolist (hook hive-list--hooks) (remove-hook hook #'hive-list--changed))
      (with-current-buffer buffer
        (cond ((not (get-buffer-window buffer t)) (setq hive-list--stale t))
              ;; A search or a fetch covers many changes.
              ((or hive-list--filter (not (eq hive-list--view 'waiting)))
               (unless hive-list--soon
                 (setq hive-list--soon
                       (run-at-time hive-list--pause nil #'hive-list--look buffer))))
              (t (hive-list--update)))))))

(defun hive-list--look (buffer)
  "Update the list in BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq hive-list--soon nil)
      (hive-rpc-guarded #'hive-list--renew))))

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
        (hive-list--print)))))

(defun hive-list--tick (buffer)
  "Update the ages in BUFFER while it is in a window."
  (when (and (buffer-live-p buffer) (get-buffer-window buffer t))
    (hive-rpc-guarded (lambda () (with-current-buffer buffer (hive-list--print))))))

(defun hive-list--end ()
  "Cancel the timers, as the buffer is being killed."
  (when hive-list--timer (cancel-timer hive-list--timer))
  (when hive-list--soon (cancel-timer hive-list--soon)))

;;;; Commands

;;;###autoload
(defun hive-list ()
  "List the questions that wait for you, and those that were settled.
\\<hive-list-mode-map>\\[hive-list-show] shows one, \\[hive-list-answer] answers it; \\[describe-mode] lists all keys."
  (interactive)
  (pop-to-buffer (hive-list-buffer)))

(defun hive-list-buffer ()
  "Return the buffer of the list, up to date."
  (let ((buffer (get-buffer-create hive-list-name)))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-list-mode) (hive-list-mode))
      (dolist (hook hive-list--hooks) (add-hook hook #'hive-list--changed))
      (hive-list--print))
    buffer))

(defun hive-list--prompt ()
  "Return the prompt at point."
  (let ((id (tabulated-list-get-id)))
    (or (cl-find id hive-list--shown :test #'equal
                 :key (lambda (prompt) (plist-get prompt :ask_id)))
        (hive-fail 'list-none-here))))

(defun hive-list-show ()
  "Show the question at point in full."
  (interactive nil hive-list-mode)
  (hive-prompt-show (hive-list--prompt)))

(defun hive-list-answer ()
  "Answer all marked questions with one decision, or the one at point."
  (interactive nil hive-list-mode)
  (let ((marked (cl-remove-if-not (lambda (prompt)
                                    (gethash (plist-get prompt :ask_id) hive-list--marks))
                                  hive-list--shown)))
    (if (null marked)
        (hive-answer-prompt (hive-list--prompt) current-prefix-arg)
      (hive-list-mark-answer marked)
      (hive-list-unmark-all))))

(defun hive-list-cancel ()
  "Cancel the question at point: its agent gets no answer."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (hive-words 'cancel-of? (hive-text-line (plist-get prompt :agent) 40)))
      (hive-cancel-prompt prompt))))

(defun hive-list-snooze (&optional minutes)
  "Snooze the question at point, with a prefix argument for MINUTES.
Without one, a question that is snoozed already is un-snoozed."
  (interactive "P" hive-list-mode)
  (hive-snooze-prompt (hive-list--prompt) (and minutes (prefix-numeric-value minutes))))

(defun hive-list-visit-terminal ()
  "Go to the terminal of the agent at point, if it is in this Emacs."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (hive-terminal-visit (plist-get prompt :session_id) (plist-get prompt :agent))))

(defun hive-list-interrupt ()
  "Ask the agent of the question at point to stop."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (hive-words 'interrupt? (hive-text-line (plist-get prompt :agent) 40)))
      (hive-interrupt-session (plist-get prompt :session_id) (plist-get prompt :agent)))))

(defun hive-list-refresh ()
  "Print the list again and fetch the questions from the sidecar."
  (interactive nil hive-list-mode)
  (hive-list--print)
  (when (hive-sidecar-connected-p)
    (if (eq hive-list--view 'waiting)
        (hive-model-refresh)
      (hive-list--renew))))

;;;; Commands for marks

(defun hive-list--set-mark (marked)
  "Mark the question at point, or unless MARKED, unmark it; go to the next."
  (let ((id (plist-get (hive-list--prompt) :ask_id)))
    (if marked (puthash id t hive-list--marks) (remhash id hive-list--marks))
    (tabulated-list-put-tag (if marked (propertize ">" 'face 'hive-list-marked) " ") t)
    (hive-list--count)))

(defun hive-list-mark ()
  "Mark the question at point, and go to the next."
  (interactive nil hive-list-mode)
  (hive-list--set-mark t))

(defun hive-list-unmark ()
  "Unmark the question at point, and go to the next."
  (interactive nil hive-list-mode)
  (hive-list--set-mark nil))

(defun hive-list-unmark-all ()
  "Unmark all questions."
  (interactive nil hive-list-mode)
  (clrhash hive-list--marks)
  (save-excursion (tabulated-list-clear-all-tags))
  (hive-list--count))

(provide 'hive-list)
;;; hive-list.el ends here
