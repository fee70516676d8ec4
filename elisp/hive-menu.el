;;; hive-menu.el --- Menus, and a keymap for a prefix key  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors

;;; Commentary:

;; In the status buffer (`hive') ? is a menu of its keys, and h one of all that
;; Hive does; ? in the buffer of a question is a menu of that one.  They say what
;; is pending.  `hive-prefix-map' has the keys of h everywhere:
;;
;;   (global-set-key (kbd "C-c h") hive-prefix-map)

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'transient)

(declare-function hive "hive-list")
(declare-function hive-prompts-awake "hive-model")
(declare-function hive-prompts-blocked "hive-model")
(declare-function hive-quiet-text "hive-attention")
(defvar hive-mode)
(defvar hive-loops)

(eval-and-compile
  (defconst hive-menu--rows
    ;; Two rows, since one row would be wider than a terminal.
    '(((menu-answer
        ("n" "answer one by one" hive-next)
        ("r" "answer a question" hive-respond)
        ("l" "list of questions" hive-list)
        ("a" "correct an answer" hive-amend)
        ("u" "undo the last answer" hive-undo))
       ("Talk"
        ("s" menu-shared hive-shared)
        ("@" "mentions of you" hive-check-mentions)
        ("S" menu-sessions hive-sessions))
       ("View"
        ("o" "cards, pings, reports" hive-outreach)
        ("N" "notices" hive-notices)
        ("h" "history" hive-history)
        ("R" "rules" hive-rules)
        ("L" "statistics" hive-stats)))
      (("Stop"
        ("i" "interrupt one" hive-interrupt)
        ("I" "interrupt all" hive-interrupt-all))
       ("Notifications"
        ("z" "do not disturb" hive-do-not-disturb)
        ("p" "settings" hive-settings))
       ("Hive"
        ("d" "doctor" hive-doctor)
        ("M" "manual" hive-manual)
        ("X" "install the sidecar" hive-install-sidecar)
        ("T" "agents elsewhere" hive-token-for-directory)
        ("P" "phones" hive-phone-list)
        ("O" "turn on or off" hive-mode))))
    "The rows of the menu of everything.
A row has groups, a group a title and commands, each with its key and
its label.  Titles and labels are as for `hive-words'."))

;;;###autoload (autoload 'hive-prefix-map "hive-menu" nil t 'keymap)
(defvar hive-prefix-map
  (let ((map (make-sparse-keymap)))
    (dolist (row hive-menu--rows)
      (pcase-dolist (`(,_title . ,commands) row)
        (pcase-dolist (`(,key ,_label ,command) commands)
          (define-key map key command))))
    (define-key map "m" #'hive)
    map)
  "Keymap of Hive's commands, for a prefix key of your choice.")
(fset 'hive-prefix-map hive-prefix-map)

;;;; which-key

(declare-function which-key-add-keymap-based-replacements "ext:which-key")

(with-eval-after-load 'which-key
  ;; Old versions of which-key do not have it.
  (when (fboundp 'which-key-add-keymap-based-replacements)
    (dolist (row hive-menu--rows)
      (pcase-dolist (`(,_title . ,commands) row)
        (pcase-dolist (`(,key ,label ,command) commands)
          (which-key-add-keymap-based-replacements hive-prefix-map
            key (cons (hive-words label) command)))))))

;;;; The menu of the status buffer

(eval-and-compile
  (defconst hive-menu--list-rows
    ;; Together they fit into 80 columns, and into 24 lines below one other window.
    '((("Questions"
        ("RET" menu-list-show hive-list-show)
        ("a" menu-list-answer hive-list-answer)
        ("s" menu-list-snooze hive-list-snooze)
        ("c" menu-list-cancel hive-list-cancel)
        ("C" "cancel ended ones" hive-list-cancel-ended)
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
    "The rows of the menu of the status buffer, as in `hive-menu--rows'.")

  (defconst hive-menu--prompt-rows
    '(((menu-answer
        ("a" menu-list-answer hive-prompt-answer)
        ("e" "answer in a buffer" hive-prompt-compose)
        ("+" "option and words" hive-prompt-choose-with-words)
        ("u" "take back or correct" hive-undo)
        ("A" menu-list-always hive-prompt-always)
        ("s" menu-list-snooze hive-prompt-snooze)
        ("c" menu-list-cancel hive-prompt-cancel))
       ("Read"
        ("n" "next hunk or question" hive-prompt-next)
        ("p" "previous hunk or question" hive-prompt-previous)
        ("N" "next question" hive-prompt-next-question)
        ("P" "previous question" hive-prompt-previous-question)
        ("E" "compare in Ediff" hive-diff-ediff)
        ("TAB" "fold, or next button" hive-prompt-tab)
        ("g" menu-list-refresh revert-buffer))
       ("Agent"
        ("i" menu-prompt-stop hive-prompt-interrupt)
        ("j" menu-list-terminal hive-prompt-visit-terminal))))
    "The rows of the menu of one question, as in `hive-menu--rows'."))

;;;; Defining the menus

(defun hive-menu--state ()
  "Return the title of a menu: what is pending, and what is stopped or quiet."
  (if (not (bound-and-true-p hive-mode)) (hive-words "Hive (off; O turns it on)")
    (let ((waiting (hive-prompts-awake)) (blocked (hive-prompts-blocked))
          (loops (length hive-loops)))
      (concat (hive-words "Hive: %d pending" waiting)
              (if (> blocked 0) (hive-words ", %d of them blocking" blocked) "")
              (let ((quiet (hive-quiet-text))) (if quiet (concat "; " quiet) ""))
              (if (> loops 0) (hive-words "; %s stopped" (hive-count loops "loop")) "")))))

(defmacro hive-menu--define (name docstring rows)
  "Define NAME, a transient prefix with DOCSTRING, from ROWS.
Each menu has a key that scrolls it, for windows that do not show all of
it, and q quits it.  Both are in the first row, in its shortest group."
  (cl-flet ((group (group)
              (vconcat (list (hive-words (car group)))
                       (mapcar (pcase-lambda (`(,key ,label ,command))
                                 (list key (hive-words label) command))
                               (cdr group)))))
    (let* ((rows (mapcar (lambda (row) (mapcar #'group row)) rows))
           (shortest (cl-reduce (lambda (a b) (if (<= (length b) (length a)) b a)) (car rows))))
      (setcar (memq shortest (car rows))
              (vconcat shortest `(("C-v" ,(hive-words "scroll this menu") transient-scroll-up)
                                  ("q" ,(hive-words "quit this menu") transient-quit-one))))
      `(transient-define-prefix ,name ()
         ,docstring
         [:description hive-menu--state ,@(car rows)] ,@(mapcar #'vconcat (cdr rows))))))

(defmacro hive-menu--define-all ()
  "Define the menus."
  `(progn
     (hive-menu--define hive-menu "All that Hive does." ,hive-menu--rows)
     (hive-menu--define hive-list-menu "The keys of the status buffer."
                        ,hive-menu--list-rows)
     (hive-menu--define hive-prompt-menu "The keys in the buffer of a question."
                        ,hive-menu--prompt-rows)))

(hive-menu--define-all)
;; M-x completes them only where they are of use.
(dolist (menu '(hive-menu hive-list-menu)) (function-put menu 'command-modes '(hive-list-mode)))
(function-put 'hive-prompt-menu 'command-modes '(hive-prompt-mode))

(provide 'hive-menu)
;;; hive-menu.el ends here
