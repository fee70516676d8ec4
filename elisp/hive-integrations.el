;;; hive-integrations.el --- Hive and the rest of your Emacs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Hive's buffers in bookmarks, in a saved desktop, in imenu and in context
;; menus; `next-error' over the hunks of a diff; `repeat-mode' in shared
;; buffers; the questions of a project of project.el; and what Evil and Embark
;; need to know.  Each package is set up when it is loaded, and none of them
;; has to be installed.
;;
;; Other places: the table of questions for completion is in hive-read, the
;; names for which-key are in hive-menu, the indicator for the tab bar and the
;; header line is in hive-mode-line.

;;; Code:

(require 'cl-lib)
(require 'hive-batch)
(require 'hive-diff)
(require 'hive-doctor)
(require 'hive-history)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-list)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-outreach)
(require 'hive-phone)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-rules)
(require 'hive-shared)
(require 'hive-stats)
(require 'hive-terminal)
(require 'hive-text)
(require 'subr-x)

;;;; The view of a buffer, so that it can be opened again

(defun hive-view-here ()
  "Return the view in this buffer, for `hive-view-open', or nil.
The value can be printed and read."
  (pcase major-mode
    ('hive-list-mode (cons 'list (hive-list-state)))
    ('hive-prompt-mode (list 'question (plist-get (hive-prompt-shown) :ask_id)))
    ('hive-history-mode (cons 'history (hive-history-state)))
    ('hive-shared-mode (list 'shared hive-shared-place hive-shared-thread))
    ('hive-outreach-mode '(command hive-outreach))
    ('hive-check-mentions-mode '(command hive-check-mentions))))

(defvar hive-integrations--waiting nil
  "Buffers that were opened while the sidecar was not connected.")

(defun hive-view-open (view)
  "Return a buffer with VIEW, a value of `hive-view-here'.
What it lists arrives later, at the latest once the sidecar is connected."
  (let ((buffer (save-window-excursion (hive-integrations--open view) (current-buffer))))
    (cond ((not (hive-sidecar-connected-p)) (push buffer hive-integrations--waiting))
          ;; The others are fetched when they are made.
          ((memq (car view) '(history command)) (with-current-buffer buffer (revert-buffer))))
    buffer))

(defun hive-integrations--open (view)
  "Make a buffer with VIEW the current one."
  (pcase view
    (`(list . ,state) (hive-list) (hive-list-restore state))
    (`(question ,id)
     (set-buffer (hive-prompt-buffer (or (hive-model-prompt id) (list :ask_id id)))))
    (`(history . ,search) (hive-history-restore search))
    (`(shared ,place ,thread) (set-buffer (hive-shared-buffer place thread)))
    ;; A file may hold any name; only these are known.
    ('(command hive-outreach) (set-buffer (hive-outreach-buffer)))
    ('(command hive-check-mentions) (set-buffer (hive-check-mentions-buffer nil)))
    (_ (hive-fail "That is not a Hive buffer"))))

(defun hive-integrations--connected ()
  "Fetch the contents of buffers that were opened before the connection."
  (dolist (buffer (prog1 hive-integrations--waiting (setq hive-integrations--waiting nil)))
    (hive-call-in buffer #'hive-rpc-guarded #'revert-buffer)))

(add-hook 'hive-connected-hook #'hive-integrations--connected)

;;;; Bookmarks

(defvar bookmark-make-record-function)

(defun hive-integrations--bookmark ()
  "Return a bookmark of this buffer."
  `(,(string-trim (buffer-name) "\\*" "\\*")
    (hive-view . ,(hive-view-here))
    (handler . hive-bookmark-jump)))

;;;###autoload
(defun hive-bookmark-jump (bookmark)
  "Show what BOOKMARK, of a buffer of Hive, is about."
  (set-buffer (hive-view-open (alist-get 'hive-view (cdr bookmark)))))

;;;; Saved desktops

(defvar desktop-buffer-mode-handlers)
(defvar desktop-save-buffer)

(defconst hive-integrations--modes
  '(hive-list-mode hive-prompt-mode hive-history-mode hive-shared-mode hive-outreach-mode
    hive-check-mentions-mode)
  "The modes whose buffers can be opened again.")

(defun hive-integrations--desktop (_directory)
  "Return what a saved desktop needs of this buffer."
  (hive-view-here))

;;;###autoload
(defun hive-desktop-restore (_file _name view)
  "Open VIEW, which a saved desktop has of a buffer of Hive."
  (and view (hive-view-open view)))

;; The autoload makes it known before Hive is loaded.
;;;###autoload
(with-eval-after-load 'desktop
  (dolist (mode '(hive-list-mode hive-prompt-mode hive-history-mode hive-shared-mode
                  hive-outreach-mode hive-check-mentions-mode))
    (add-to-list 'desktop-buffer-mode-handlers (cons mode 'hive-desktop-restore))))

;;;; Imenu

(defconst hive-integrations--headings
  '(hive-prompt-heading hive-shared-heading hive-shared-human-heading
    hive-shared-unverified-heading)
  "The faces of lines that imenu lists.")

(defun hive-integrations--imenu ()
  "Return the index of this buffer for imenu: sections and questions, or headings."
  (if (derived-mode-p 'hive-list-mode) (hive-list-index)
    (save-excursion
      (goto-char (point-min))
      (let (index)
        (while (not (eobp))
          (let ((face (get-text-property (point) 'face)))
            (when (cl-intersection (ensure-list face) hive-integrations--headings)
              (push (cons (string-trim (buffer-substring-no-properties (point) (line-end-position)))
                          (copy-marker (point)))
                    index)))
          (forward-line 1))
        (nreverse index)))))

;;;; next-error

(defun hive-integrations--next-error (count reset)
  "Go to the hunk that is COUNT further, and visit its line.
With RESET, count from the beginning.  For `next-error-function'."
  (when reset (goto-char (point-min)))
  (dotimes (_ (abs count))
    (unless (hive-diff-next (< count 0)) (hive-fail "There are no more hunks")))
  (when-let* ((window (get-buffer-window)))
    (set-window-point window (point)))
  (hive-diff-visit))

;;;; Context menus

(defun hive-integrations--context-menu (menu click)
  "Add to MENU what can be done with the question at CLICK."
  (let ((commands (pcase major-mode
                    ('hive-list-mode
                     '((menu-list-show . hive-list-show) (menu-list-answer . hive-list-answer)
                       (menu-list-snooze . hive-list-snooze) (menu-list-cancel . hive-list-cancel)
                       ("interrupt the agent" . hive-list-interrupt)
                       (menu-list-terminal . hive-list-visit-terminal)))
                    ('hive-prompt-mode
                     '((menu-list-answer . hive-prompt-answer) (menu-list-snooze . hive-prompt-snooze)
                       (menu-list-cancel . hive-prompt-cancel))))))
    (when commands
      (define-key-after menu [hive-separator] menu-bar-separator)
      (pcase-dolist (`(,label . ,command) commands)
        (define-key-after menu (vector command)
          (list 'menu-item (upcase-initials (hive-words label))
                (lambda ()
                  (interactive)
                  (mouse-set-point click)
                  (call-interactively command))))))
    menu))

;;;; Setting up a buffer

(defun hive-integrations--set-up ()
  "Make this buffer of Hive known to the packages above."
  (setq-local bookmark-make-record-function #'hive-integrations--bookmark
              desktop-save-buffer #'hive-integrations--desktop
              imenu-create-index-function #'hive-integrations--imenu)
  (when (derived-mode-p 'hive-prompt-mode)
    (setq-local next-error-function #'hive-integrations--next-error))
  (add-hook 'context-menu-functions #'hive-integrations--context-menu nil t))

(dolist (mode hive-integrations--modes)
  (add-hook (intern (format "%s-hook" mode)) #'hive-integrations--set-up))

;;;; repeat-mode

(defvar hive-shared-repeat-map
  (hive-keymap "n" #'hive-shared-next-mention
               "p" #'hive-shared-previous-mention
               "b" #'hive-shared-page-back
               "f" #'hive-shared-page-forward)
  "Keys that repeat the last motion in a shared buffer, in `repeat-mode'.")

(map-keymap (lambda (_key command) (put command 'repeat-map 'hive-shared-repeat-map))
            hive-shared-repeat-map)

;;;; project.el

(declare-function project-root "project")

;;;###autoload
(defun hive-project-list ()
  "List the questions of the project that you are in.
Without a project, ask for one, as the commands of project.el do.
You can add it to `project-switch-commands' and `project-prefix-map';
\\[universal-argument] \\[hive-list] does the same."
  (interactive)
  (let ((place (hive-place-of (project-root (project-current t)))))
    (hive-list)
    (hive-list-restore (list :filter (list :project (plist-get place :project))))))
;; It is for the menu of project.el.
;;;###autoload
(put 'hive-project-list 'completion-predicate #'ignore)

;;;; Embark

(defvar embark-keymap-alist)
(defvar embark-target-finders)
(defvar embark-general-map)

(defun hive-question-show (line)
  "Show the question of LINE, a candidate of completion, in full."
  (hive-prompt-show (hive-read-question-of line)))

(defun hive-question-answer (line)
  "Answer the question of LINE, a candidate of completion."
  (hive-answer-prompt (hive-read-question-of line)))

(defun hive-question-snooze (line)
  "Snooze the question of LINE, a candidate of completion, or un-snooze it."
  (hive-snooze-prompt (hive-read-question-of line)))

(defun hive-question-cancel (line)
  "Cancel the question of LINE, a candidate of completion."
  (hive-cancel-confirmed (list (hive-read-question-of line))))

(defun hive-question-interrupt (line)
  "Ask the agent of the question of LINE, a candidate of completion, to stop."
  (hive-interrupt-asker (hive-read-question-of line)))

(defun hive-question-terminal (line)
  "Go to the terminal of the agent of LINE, a candidate of completion."
  (hive-terminal-visit-asker (hive-read-question-of line)))

(defvar hive-question-map
  (hive-keymap "RET" #'hive-question-show
               "a" #'hive-question-answer
               "s" #'hive-question-snooze
               "c" #'hive-question-cancel
               "i" #'hive-question-interrupt
               "j" #'hive-question-terminal)
  "Actions of Embark on a question.")

(defun hive-integrations--embark-target ()
  "Return the question at point as a target of Embark, or nil."
  (when-let* ((prompt (pcase major-mode
                        ('hive-list-mode (and (null (cdr (hive-list-at-point)))
                                              (car (hive-list-at-point))))
                        ('hive-prompt-mode (hive-prompt-shown)))))
    `(hive-question ,(hive-read-question-line prompt)
                    ,(line-beginning-position) . ,(line-end-position))))

(with-eval-after-load 'embark
  (set-keymap-parent hive-question-map embark-general-map)
  (add-to-list 'embark-keymap-alist '(hive-question . hive-question-map))
  (add-to-list 'embark-target-finders #'hive-integrations--embark-target))

;;;; Evil

(declare-function evil-set-initial-state "ext:evil-core")
(declare-function evil-make-overriding-map "ext:evil-core")
(declare-function evil-define-key* "ext:evil-core")
(declare-function evil-normalize-keymaps "ext:evil-core")

(defconst hive-integrations--motion
  '(hive-list-mode hive-prompt-mode hive-history-mode hive-outreach-mode hive-check-mentions-mode
    hive-rules-mode hive-rule-mode hive-phone-mode hive-phone-list-mode hive-stats-mode
    hive-batch-mode hive-doctor-mode)
  "The modes that are in motion state.")

(defun hive-integrations--evil ()
  "Put the buffers of Hive in motion state, with their own keys.
Only j and k still move; commands on them are on J and K."
  (dolist (mode hive-integrations--motion)
    (let ((map (symbol-value (intern (format "%s-map" mode)))))
      (evil-set-initial-state mode 'motion)
      (evil-make-overriding-map map 'motion)
      (evil-define-key* 'motion map "j" #'next-line "k" #'previous-line)
      (dolist (key '("j" "k"))
        (let ((command (lookup-key map key)))
          (when (and (commandp command) (not (memq command '(next-line previous-line))))
            (evil-define-key* 'motion map (upcase key) command)))))
    (add-hook (intern (format "%s-hook" mode)) #'evil-normalize-keymaps)))

(with-eval-after-load 'evil (hive-integrations--evil))

(provide 'hive-integrations)
;;; hive-integrations.el ends here
