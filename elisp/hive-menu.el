;;; hive-menu.el --- A menu of everything Hive does  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `M-x hive' is the way in for somebody who does not know the commands;
;; `hive-prefix-map' has the same keys for somebody who does:
;;
;;   (global-set-key (kbd "C-c h") hive-prefix-map)

;;; Code:

(require 'transient)

(declare-function hive-mode "hive-mode")
(declare-function hive-respond "hive-respond")
(declare-function hive-next "hive-next")
(declare-function hive-list "hive-list")
(declare-function hive-amend "hive-amend")
(declare-function hive-doctor "hive-doctor")
(declare-function hive-attention "hive-attention")
(defvar hive-mode)

;;;###autoload (autoload 'hive-prefix-map "hive-menu" nil t 'keymap)
(defvar hive-prefix-map
  (let ((map (make-sparse-keymap)))
    (define-key map "r" #'hive-respond)
    (define-key map "n" #'hive-next)
    (define-key map "l" #'hive-list)
    (define-key map "a" #'hive-amend)
    (define-key map "d" #'hive-doctor)
    (define-key map "p" #'hive-attention)
    (define-key map "m" #'hive)
    map)
  "Keys of Hive, for a prefix of your own.")
(fset 'hive-prefix-map hive-prefix-map)

(defun hive-menu--state ()
  "Return what stands at the top of the menu."
  (if (bound-and-true-p hive-mode) "Hive" "Hive (off: o turns it on)"))

;;;###autoload (autoload 'hive "hive-menu" nil t)
(transient-define-prefix hive ()
  "Answer your coding agents."
  [:description hive-menu--state
   ["Answer"
    ("r" "respond to one" hive-respond)
    ("n" "one after the other" hive-next)
    ("a" "correct an answer" hive-amend)]
   ["Look"
    ("l" "list of questions" hive-list)]
   ["Hive"
    ("p" "when to be told" hive-attention)
    ("d" "doctor" hive-doctor)
    ("o" "on or off" hive-mode)]])

(provide 'hive-menu)
;;; hive-menu.el ends here
