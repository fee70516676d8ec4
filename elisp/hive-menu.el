;;; hive-menu.el --- A menu of everything Hive does  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `M-x hive' is a menu for people who do not know the commands yet;
;; `hive-prefix-map' has the same keys for those who do:
;;
;;   (global-set-key (kbd "C-c h") hive-prefix-map)

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'transient)

(declare-function hive-respond "hive-respond")
(declare-function hive-next "hive-next")
(declare-function hive-list "hive-list")
(declare-function hive-amend "hive-respond")
(declare-function hive-shared "hive-shared")
(declare-function hive-check-mentions "hive-mentions")
(declare-function hive-sessions "hive-sessions")
(declare-function hive-outreach "hive-outreach")
(declare-function hive-notices "hive-notify")
(declare-function hive-history "hive-history")
(declare-function hive-interrupt "hive-interrupt")
(declare-function hive-interrupt-all "hive-interrupt")
(declare-function hive-attention "hive-attention")
(declare-function hive-do-not-disturb "hive-attention")
(declare-function hive-doctor "hive-doctor")
(declare-function hive-mode "hive-mode")
(declare-function hive-install-sidecar "hive-doctor")
(declare-function hive-manual "hive-mode")
(defvar hive-mode)

(eval-and-compile
  (defconst hive-menu--rows
    ;; Two rows, since one row would be wider than a terminal.
    '(((menu-answer
        ("r" menu-respond hive-respond)
        ("n" menu-next hive-next)
        ("l" menu-list hive-list)
        ("a" menu-amend hive-amend))
       (menu-talk
        ("s" menu-shared hive-shared)
        ("@" menu-mentions hive-check-mentions)
        ("S" menu-sessions hive-sessions))
       (menu-look
        ("o" menu-outreach hive-outreach)
        ("N" menu-notices hive-notices)
        ("h" menu-history hive-history)))
      ((menu-stop
        ("i" menu-interrupt hive-interrupt)
        ("I" menu-interrupt-all hive-interrupt-all))
       (menu-notifications
        ("q" menu-do-not-disturb hive-do-not-disturb)
        ("p" menu-preferences hive-attention))
       (menu-hive
        ("d" menu-doctor hive-doctor)
        ("M" menu-manual hive-manual)
        ("X" menu-install hive-install-sidecar)
        ("O" menu-on-off hive-mode))))
    "The rows of the menu.
A row has groups, a group a title and commands, each with its key and
its label.  Titles and labels are names in `hive-messages'."))

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

(defun hive-menu--state ()
  "Return the title of the menu."
  (if (bound-and-true-p hive-mode) (hive-words 'menu-title) (hive-words 'menu-title-off)))

(defmacro hive-menu--define (name docstring)
  "Define NAME, a transient prefix with DOCSTRING, from `hive-menu--rows'."
  (cl-flet ((group (group)
              (vconcat (list (hive-words (car group)))
                       (mapcar (pcase-lambda (`(,key ,label ,command))
                                 (list key (hive-words label) command))
                               (cdr group)))))
    (let ((rows (mapcar (lambda (row) (mapcar #'group row)) hive-menu--rows)))
      `(transient-define-prefix ,name ()
         ,docstring
         [:description hive-menu--state ,@(car rows)]
         ,@(mapcar #'vconcat (cdr rows))))))

;;;###autoload (autoload 'hive "hive-menu" nil t)
(hive-menu--define hive "Answer your coding agents.")

(provide 'hive-menu)
;;; hive-menu.el ends here
