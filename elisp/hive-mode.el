;;; hive-mode.el --- Answer your coding agents when it suits you  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;; Author: The Hive contributors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, processes, convenience

;; Permission is hereby granted, free of charge, to any person obtaining a
;; copy of this software and associated documentation files (the
;; "Software"), to deal in the Software without restriction, including
;; without limitation the rights to use, copy, modify, merge, publish,
;; distribute, sublicense, and/or sell copies of the Software, and to permit
;; persons to whom the Software is furnished to do so, subject to the
;; following conditions: the above copyright notice and this permission
;; notice shall be included in all copies or substantial portions of the
;; Software.  The Software is provided "as is", without warranty of any kind.

;;; Commentary:

;; Coding agents need you now and then: for a choice, a permission, or a fact
;; that nobody wrote down.  With Hive they ask and keep working, and you
;; answer when it suits you:
;;
;;   M-x hive-mode      start Hive; the mode line counts pending questions
;;   M-x hive           see what needs you and what your agents do, and answer
;;   M-x hive-next      answer the questions one by one, with single keys
;;   M-x hive-respond   answer a question in the minibuffer
;;   M-x hive-shared    open the buffer in which agents and you talk
;;   M-x hive-doctor    find out what is wrong, and what to do about it
;;
;; Nothing that arrives opens a minibuffer, moves point, selects a window or
;; interrupts a command, and Hive never loses an answer.

;;; Code:

(require 'hive-amend)
(require 'hive-attention)
(require 'hive-doctor)
(require 'hive-editors)
(require 'hive-history)
(require 'hive-integrations)
(require 'hive-interrupt)
(require 'hive-list)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-mode-line)
(require 'hive-model)
(require 'hive-next)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-outreach)
(require 'hive-phone)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-rules)
(require 'hive-seat)
(require 'hive-sessions)
(require 'hive-shared)
(require 'hive-stats)
(require 'hive-token)
(require 'info)

;;;; The manual in Info

;; The npm package and Emacs packages contain the manual, next to these files.
;; In a clone, `npm run build' makes it.

;; So that the menu of C-h i lists it.
(add-to-list 'Info-additional-directory-list hive-program-directory)

;;;###autoload
(defun hive-manual ()
  "Read the manual of Hive in Info."
  (interactive)
  (if (file-exists-p (expand-file-name "hive.info" hive-program-directory))
      (info (format "(%s)" (expand-file-name "hive.info" hive-program-directory)))
    (hive-fail "There is no manual yet; run `npm run build' in %s"
               (abbreviate-file-name (file-name-directory
                                      (directory-file-name hive-program-directory))))))

;;;; The keymap

;; For those who load this file without the package's autoloads.
(autoload 'hive-prefix-map "hive-menu" "Keys of Hive." t 'keymap)

;;;; Options

(defgroup hive nil
  "Human in the loop for coding agents."
  :group 'tools
  :link '(custom-manual "(hive)Hive in Emacs")
  :prefix "hive-")

(defgroup hive-faces nil
  "How Hive looks."
  :group 'hive)

;;;; Focus

(defvar hive-mode--focused 'unknown
  "The focus as last sent to the sidecar: t, nil, or `unknown'.")

(defun hive-mode--focus ()
  "Tell the sidecar when Emacs gains or loses the focus.
The desk that has the focus shows desktop notifications first."
  (let* ((states (mapcar #'frame-focus-state (frame-list)))
         (focused (cond ((memq t states) t)
                        ((memq nil states) nil)
                        (t 'unknown))))  ; a terminal that does not report it
    (unless (or (eq focused hive-mode--focused) (eq focused 'unknown))
      (setq hive-mode--focused focused)
      (when (hive-sidecar-connected-p)
        (hive-rpc-request 'desk/focus
                          (list :focused (if focused t :json-false)))))))

;;;; The mode

(defun hive-mode--connected ()
  "Synchronize after a handshake: focus, outbox and questions."
  (setq hive-mode--focused 'unknown)
  (hive-mode--focus)
  ;; If the outbox cannot be read, the questions arrive all the same.
  (hive-rpc-guarded #'hive-outbox-connected)
  (hive-model-refresh))

(defconst hive-mode--hooks
  '((hive-sidecar-state-hook . hive-changed)
    (hive-connected-hook . hive-mode--connected)
    (kill-emacs-hook . hive-sidecar-goodbye)
    (kill-emacs-hook . hive-outbox-tidy)
    ;; This runs before the two above.
    (kill-emacs-hook . hive-outbox-send-delayed))
  "The hooks that the mode adds to, and its functions.")

(defun hive-mode--enable ()
  "Start everything, without waiting for the sidecar."
  (add-hook 'hive-changed-hook #'hive-mode-line-update)
  (pcase-dolist (`(,hook . ,function) hive-mode--hooks) (add-hook hook function))
  (add-function :after after-focus-change-function #'hive-mode--focus)
  (hive-mode-line-install)
  (hive-rpc-guarded #'hive-outbox-open)
  (hive-sidecar-start)
  (hive-editors-start))

(defun hive-mode--disable ()
  "Stop everything.  Answers that are not stored yet stay on disk."
  (hive-outbox-send-delayed)
  (hive-editors-stop)
  (hive-sidecar-stop)
  (hive-notify-stop)
  (hive-outbox-close)
  (hive-model-stop)
  (hive-model-forget)
  (pcase-dolist (`(,hook . ,function) hive-mode--hooks) (remove-hook hook function))
  (remove-function after-focus-change-function #'hive-mode--focus)
  (hive-mode-line-remove))

;;;###autoload
(define-minor-mode hive-mode
  "Answer your coding agents from Emacs.
While this global mode is on, Emacs runs the Hive sidecar, the mode
line counts the pending questions, and \\[hive-next] answers
them.  Whatever arrives, your keys, point and windows stay yours."
  :global t
  :group 'hive
  (if hive-mode (hive-mode--enable) (hive-mode--disable)))

(defun hive-mode-unload-function ()
  "Turn Hive off, which `unload-feature' does not do by itself."
  (hive-mode -1)
  (setq Info-additional-directory-list
        (delete hive-program-directory Info-additional-directory-list))
  nil)

(provide 'hive-mode)
;;; hive-mode.el ends here
