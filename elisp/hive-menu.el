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

(require 'transient)

(declare-function hive-respond "hive-respond")
(declare-function hive-next "hive-next")
(declare-function hive-list "hive-list")
(declare-function hive-amend "hive-amend")
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

;;;###autoload (autoload 'hive-prefix-map "hive-menu" nil t 'keymap)
(defvar hive-prefix-map
  (let ((map (make-sparse-keymap)))
    (define-key map "r" #'hive-respond)
    (define-key map "n" #'hive-next)
    (define-key map "l" #'hive-list)
    (define-key map "a" #'hive-amend)
    (define-key map "s" #'hive-shared)
    (define-key map "@" #'hive-check-mentions)
    (define-key map "S" #'hive-sessions)
    (define-key map "o" #'hive-outreach)
    (define-key map "N" #'hive-notices)
    (define-key map "h" #'hive-history)
    (define-key map "i" #'hive-interrupt)
    (define-key map "I" #'hive-interrupt-all)
    (define-key map "p" #'hive-attention)
    (define-key map "q" #'hive-do-not-disturb)
    (define-key map "d" #'hive-doctor)
    (define-key map "M" #'hive-manual)
    (define-key map "m" #'hive)
    map)
  "Keymap of Hive's commands, for a prefix key of your choice.")
(fset 'hive-prefix-map hive-prefix-map)

(defun hive-menu--state ()
  "Return the title of the menu."
  (if (bound-and-true-p hive-mode) "Hive" "Hive (off: O turns it on)"))

;;;###autoload (autoload 'hive "hive-menu" nil t)
(transient-define-prefix hive ()
  "Answer your coding agents."
  [:description hive-menu--state
   ["Answer"
    ("r" "answer a question" hive-respond)
    ("n" "answer one by one" hive-next)
    ("l" "list of questions" hive-list)
    ("a" "correct an answer" hive-amend)]
   ["Talk"
    ("s" "shared buffer" hive-shared)
    ("@" "mentions of you" hive-check-mentions)
    ("S" "sessions" hive-sessions)]
   ["Look"
    ("o" "cards, pings, reports" hive-outreach)
    ("N" "notices" hive-notices)
    ("h" "history" hive-history)]]
  ;; Two rows, since one row would be wider than a terminal.
  [["Stop"
    ("i" "interrupt one" hive-interrupt)
    ("I" "interrupt all" hive-interrupt-all)]
   ["Notifications"
    ("q" "do not disturb" hive-do-not-disturb)
    ("p" "preferences" hive-attention)]
   ["Hive"
    ("d" "doctor" hive-doctor)
    ("M" "manual" hive-manual)
    ("X" "install the sidecar" hive-install-sidecar)
    ("O" "on or off" hive-mode)]])

(provide 'hive-menu)
;;; hive-menu.el ends here
