;;; hive-menu.el --- Menus, and a keymap for a prefix key  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; ? is a menu of the keys of the buffer that you are in, and h in the status
;; buffer (`hive') one of all that Hive does.  They say what is pending.
;; `hive-prefix-map' has the keys of h everywhere:
;;
;;   (global-set-key (kbd "C-c h") hive-prefix-map)

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'transient)
;; The menus have the keys of these buffers.
(eval-when-compile
  (require 'hive-batch)
  (require 'hive-history)
  (require 'hive-list)
  (require 'hive-mentions)
  (require 'hive-outreach)
  (require 'hive-prompt)
  (require 'hive-rules)
  (require 'hive-stats))

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
    "The rows of the menu of everything, see `hive-keys-map'."))

;;;###autoload (autoload 'hive-prefix-map "hive-menu" nil t 'keymap)
(defvar hive-prefix-map
  (hive-keys-map nil hive-menu--rows "m" #'hive)
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

(eval-and-compile
  (defun hive-menu--groups (rows mode)
    "Return the groups of a menu of ROWS, as `transient-define-prefix' takes them.
They are shown in MODE, or if that is nil, in every mode.
Each menu has a key that scrolls it, for windows that do not show all of
it, and q quits it.  Both are in the first row, in its shortest group."
    (cl-flet ((group (group)
                (vconcat (list (hive-words (car group)))
                         (mapcar (pcase-lambda (`(,key ,label ,command))
                                   (list key (hive-words label) command))
                                 (cdr group)))))
      (let* ((rows (mapcar (lambda (row) (mapcar #'group row)) rows))
             (shortest (cl-reduce (lambda (a b) (if (<= (length b) (length a)) b a)) (car rows)))
             (where (and mode (list :if-mode mode))))
        (setcar (memq shortest (car rows))
                (vconcat shortest `(("C-v" ,(hive-words "scroll this menu") transient-scroll-up)
                                    ("q" ,(hive-words "quit this menu") transient-quit-one))))
        (cons (vconcat where '(:description hive-menu--state) (car rows))
              (mapcar (lambda (row) (vconcat where row)) (cdr rows)))))))

(defmacro hive-menu--define (name docstring &rest menus)
  "Define NAME, a transient prefix with DOCSTRING, from MENUS.
Each of these is a list of a constant with rows, and of the mode in
which they are shown, if it is not every one."
  `(transient-define-prefix ,name ()
     ,docstring
     ,@(cl-loop for (rows mode) in menus append (hive-menu--groups (symbol-value rows) mode))))

(hive-menu--define hive-menu "Show the keys of everything that Hive does." (hive-menu--rows))
(hive-menu--define hive-keys "Show the keys of this buffer."
  (hive-batch-keys hive-batch-mode)
  (hive-history-keys hive-history-mode)
  (hive-list-keys hive-list-mode)
  (hive-mentions-keys hive-check-mentions-mode)
  (hive-outreach-keys hive-outreach-mode)
  (hive-prompt-keys hive-prompt-mode)
  (hive-rule-keys hive-rule-mode)
  (hive-rules-keys hive-rules-mode)
  (hive-stats-keys hive-stats-mode))
;; M-x completes them only where they are useful.
(function-put 'hive-menu 'command-modes '(hive-list-mode))
(function-put 'hive-keys 'completion-predicate #'ignore)

(defun hive-menu-add (rows mode)
  "Let the menu of ? show ROWS in MODE, which belongs to an extension."
  (dolist (group (hive-menu--groups rows mode))
    (transient-append-suffix 'hive-keys '(-1) group)))

(provide 'hive-menu)
;;; hive-menu.el ends here
