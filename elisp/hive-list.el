;;; hive-list.el --- All questions, and what became of them  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A live table of what waits, and with another key each of what was
;; answered, answered late, expired and cancelled.  It follows the model;
;; point stays on its question, in every window that shows the list.

;;; Code:

(require 'cl-lib)
(require 'hive-feed)
(require 'hive-interrupt)
(require 'hive-list-browse)
(require 'hive-list-mark)
(require 'hive-list-table)
(require 'hive-list-view)
(require 'hive-model)
(require 'hive-prompt)
(require 'hive-respond)
(require 'hive-sidecar)
(require 'hive-snooze)
(require 'hive-terminal)
(require 'hive-text)
(require 'hive-work)
(require 'tabulated-list)

(defconst hive-list-name "*hive*" "The name of the list's buffer.")

(defconst hive-list--pause 0.5
  "Seconds between two looks at what must be searched or fetched to be shown.")

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

(defvar-local hive-list--timer nil "The timer that keeps the ages true.")
(defvar-local hive-list--soon nil "The timer of the next look, or nil.")

(define-derived-mode hive-list-mode tabulated-list-mode "Hive"
  "Major mode of the list of questions.
\\<hive-list-mode-map>1 to 5 show what waits, was answered, was answered late, expired
and was cancelled.  \\[hive-list-show] shows all of a question, \\[hive-list-answer] answers it,
\\[hive-list-cancel] cancels it, \\[hive-list-snooze] puts it away, \\[hive-list-visit-terminal] goes to the terminal of
its agent, \\[hive-list-interrupt] interrupts that.  \\[hive-list-mark] marks, \\[hive-list-unmark] and \\[hive-list-unmark-all] unmark; \\[hive-list-answer] then answers
all that are marked with one decision.  \\[hive-list-filter-agent], \\[hive-list-filter-project], \\[hive-list-filter-kind],
\\[hive-list-filter-for] and \\[hive-list-filter-text] filter, \\[hive-list-filter-none] shows all again; \\[hive-list-next-page] and \\[hive-list-previous-page]
turn pages.  The list follows what happens by itself.
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
  "What tells that the list may have changed.")

(defun hive-list--changed ()
  "Show what changed, or note that it did while out of sight."
  (let ((buffer (get-buffer hive-list-name)))
    (if (not buffer)
        (dolist (hook hive-list--hooks) (remove-hook hook #'hive-list--changed))
      (with-current-buffer buffer
        (cond ((not (get-buffer-window buffer t)) (setq hive-list--stale t))
              ;; What takes a search or a fetch is done for many changes at once.
              ((or hive-list--filter (not (eq hive-list--view 'waiting)))
               (unless hive-list--soon
                 (setq hive-list--soon
                       (run-at-time hive-list--pause nil #'hive-list--look buffer))))
              (t (hive-list--update)))))))

(defun hive-list--look (buffer)
  "Bring BUFFER up to date, for many events at once."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq hive-list--soon nil)
      (hive-work-guarded #'hive-list--renew))))

(defun hive-list--resized (window)
  "Show the columns for which WINDOW has room, if the list is in it."
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (derived-mode-p 'hive-list-mode)
        (hive-work-guarded #'hive-list--fit)))))

(defun hive-list--appeared (window)
  "Bring the list up to date when WINDOW comes to show it."
  (hive-list--resized window)
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (and (derived-mode-p 'hive-list-mode) hive-list--stale)
        (hive-list--print)))))

(defun hive-list--tick (buffer)
  "Keep the ages in BUFFER true while somebody sees them."
  (when (and (buffer-live-p buffer) (get-buffer-window buffer t))
    (hive-work-guarded (lambda () (with-current-buffer buffer (hive-list--print))))))

(defun hive-list--end ()
  "Stop what follows the model: the buffer is being killed."
  (when hive-list--timer (cancel-timer hive-list--timer))
  (when hive-list--soon (cancel-timer hive-list--soon)))

;;;; Commands

;;;###autoload
(defun hive-list ()
  "List the questions that wait for you, and what became of others.
\\<hive-list-mode-map>\\[hive-list-show] shows one, \\[hive-list-answer] answers it; \\[describe-mode] tells all keys."
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
        (user-error "There is no question on this line"))))

(defun hive-list-show ()
  "Show all of the question at point."
  (interactive nil hive-list-mode)
  (hive-prompt-show (hive-list--prompt)))

(defun hive-list-answer ()
  "Answer the questions that are marked with one decision, or the one at point."
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
    (when (y-or-n-p (format "Cancel the question of %s? "
                            (hive-text-line (plist-get prompt :agent) 40)))
      (hive-cancel-prompt prompt))))

(defun hive-list-snooze (&optional minutes)
  "Put the question at point away, with a prefix argument for MINUTES.
One that is away already comes back, if there is no prefix argument."
  (interactive "P" hive-list-mode)
  (hive-snooze-prompt (hive-list--prompt) (and minutes (prefix-numeric-value minutes))))

(defun hive-list-visit-terminal ()
  "Go to the terminal of the agent that asks, if this Emacs has it."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (hive-terminal-visit (plist-get prompt :session_id) (plist-get prompt :agent))))

(defun hive-list-interrupt ()
  "Ask the agent of the question at point to stop what it does."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (format "Interrupt %s? " (hive-text-line (plist-get prompt :agent) 40)))
      (hive-interrupt-session (plist-get prompt :session_id) (plist-get prompt :agent)))))

(defun hive-list-refresh ()
  "Print the list anew and ask the sidecar for what there is."
  (interactive nil hive-list-mode)
  (hive-list--print)
  (when (hive-sidecar-connected-p)
    (if (eq hive-list--view 'waiting)
        (hive-feed-refresh)
      (hive-list--renew))))

;;;; Marks

(defun hive-list--set-mark (marked)
  "Let the question at point be MARKED or not, and go to the next."
  (let ((id (plist-get (hive-list--prompt) :ask_id)))
    (if marked (puthash id t hive-list--marks) (remhash id hive-list--marks))
    (tabulated-list-put-tag (if marked (propertize ">" 'face 'hive-list-marked) " ") t)
    (hive-list--count)))

(defun hive-list-mark ()
  "Mark the question at point, to be answered together with others."
  (interactive nil hive-list-mode)
  (hive-list--set-mark t))

(defun hive-list-unmark ()
  "Take the mark from the question at point."
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
